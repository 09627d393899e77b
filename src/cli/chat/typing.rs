//! What is typed while an answer comes in.

use tokio::sync::mpsc;

/// Lines of standard input, read one by one as they are asked for: between two a password can be asked for.
#[derive(Default)]
pub struct Typing {
    reader: Option<(mpsc::Sender<()>, mpsc::Receiver<String>)>,
    /// A line is being read that nobody has taken.
    is_reading: bool,
}

impl Typing {
    /// The next line that is typed; `None`: no more. What is typed ahead waits. Cancel safe.
    pub async fn line(&mut self) -> Option<String> {
        let (wanted, lines) = self.reader.get_or_insert_with(reader);
        if !self.is_reading {
            wanted.try_send(()).ok()?;
            self.is_reading = true;
        }
        let line = lines.recv().await;
        self.is_reading = false;
        line
    }
}

/// A thread of its own: the program does not wait for a line that nobody types.
fn reader() -> (mpsc::Sender<()>, mpsc::Receiver<String>) {
    let (wanted, mut asked) = mpsc::channel(1);
    let (sender, lines) = mpsc::channel(1);
    std::thread::spawn(move || {
        while asked.blocking_recv().is_some() {
            let Some(Ok(line)) = std::io::stdin().lines().next() else { return };
            if sender.blocking_send(line).is_err() {
                return;
            }
        }
    });
    (wanted, lines)
}
