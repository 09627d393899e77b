//! Input from people or from pipes, and signals to end.

use std::io::{self, IsTerminal, Write};
use std::path::Path;

use rustix::termios::{self, LocalModes, OptionalActions, Termios};
use tokio::io::AsyncReadExt;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::mpsc;

use crate::cli::Failure;

/// True if standard input is a terminal.
pub fn is_terminal() -> bool {
    io::stdin().is_terminal()
}

/// Asks for a line and returns it without its line break; `None` at the end of the input. A secret is not echoed.
pub fn read_line(prompt: &str, is_secret: bool) -> io::Result<Option<String>> {
    // Begun before the prompt, so that a fast answer is neither shown nor lost.
    let unseen = (is_secret && is_terminal()).then(Unseen::begin).transpose()?;
    // Ignored: without a standard error the prompt cannot be shown.
    let _ = io::stderr().write_all(prompt.as_bytes());
    let mut line = String::new();
    let read = io::stdin().read_line(&mut line);
    if unseen.is_some() {
        let _ = io::stderr().write_all(b"\n");
    }
    Ok((read? > 0).then(|| line.trim_end_matches(['\n', '\r']).to_owned()))
}

/// Turns off the terminal's echo until it is dropped.
struct Unseen(Termios);

impl Unseen {
    fn begin() -> io::Result<Self> {
        let shown = termios::tcgetattr(io::stdin())?;
        let mut unseen = shown.clone();
        unseen.local_modes.remove(LocalModes::ECHO);
        // Not `Flush`, which discards input that was typed already.
        termios::tcsetattr(io::stdin(), OptionalActions::Now, &unseen)?;
        Ok(Self(shown))
    }
}

impl Drop for Unseen {
    fn drop(&mut self) {
        let _ = termios::tcsetattr(io::stdin(), OptionalActions::Now, &self.0);
    }
}

/// Like [`read_line`], beside other tasks, trimmed; empty at the end of the input.
pub async fn ask(prompt: &str, is_secret: bool) -> Result<String, Failure> {
    let prompt = prompt.to_owned();
    let asking = tokio::task::spawn_blocking(move || read_line(&prompt, is_secret));
    let line = asking.await.map_err(|error| Failure::failed(error.to_string()))?;
    let line = line.map_err(|error| Failure::unreadable(Path::new("-"), &error))?;
    Ok(line.unwrap_or_default().trim().to_owned())
}

/// Asks a yes-or-no question; anything else than a yes is a no.
pub async fn agrees(question: &str) -> Result<bool, Failure> {
    let answer = ask(&format!("{question} [y/N] "), false).await?;
    Ok(matches!(answer.to_ascii_lowercase().as_str(), "y" | "yes"))
}

/// The name of a file, to send it.
pub fn file_name(file: &Path) -> Result<&str, Failure> {
    let unnamed = || Failure::usage(format!("{} has no name that can be sent: rename it", file.display()));
    file.file_name().and_then(|name| name.to_str()).ok_or_else(unnamed)
}

/// The content of a file, or of standard input for `-`.
pub async fn bytes(file: &Path) -> Result<Vec<u8>, Failure> {
    let read = match file == Path::new("-") {
        true => {
            let mut content = Vec::new();
            tokio::io::stdin().read_to_end(&mut content).await.map(|_| content)
        }
        false => tokio::fs::read(file).await,
    };
    read.map_err(|error| Failure::unreadable(file, &error))
}

/// Like [`bytes`], as UTF-8 text.
pub async fn text(file: &Path) -> Result<String, Failure> {
    let no_text = |error| Failure::unreadable(file, &io::Error::new(io::ErrorKind::InvalidData, error));
    String::from_utf8(bytes(file).await?).map_err(no_text)
}

/// Lines of standard input, each read only on request: so a password can be asked for in between.
#[derive(Default)]
pub struct Typing {
    reader: Option<(mpsc::Sender<()>, mpsc::Receiver<String>)>,
    /// A line was requested from the reader and not taken yet.
    is_reading: bool,
}

impl Typing {
    /// The next line; `None` at the end. Lines typed ahead wait. Cancel safe.
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

/// Reads on a separate thread, so that the program can exit while a read is pending.
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

/// Waits for Ctrl-C or SIGTERM.
pub async fn stopped() {
    Stop::listen().asked().await;
}

/// Listens for Ctrl-C from its creation on, so that none is missed during other waits.
pub struct Interrupts(Option<Signal>);

impl Interrupts {
    pub fn listen() -> Self {
        Self(signal(SignalKind::interrupt()).ok())
    }

    /// Waits for the next one, or returns for one that came since the last. Cancel safe.
    pub async fn next(&mut self) {
        heard(&mut self.0).await;
    }
}

/// Listens for Ctrl-C and SIGTERM from its creation on, so that none is missed during other waits.
pub struct Stop([Option<Signal>; 2]);

impl Stop {
    pub fn listen() -> Self {
        Self([SignalKind::interrupt(), SignalKind::terminate()].map(|kind| signal(kind).ok()))
    }

    /// Waits for the next signal, or returns for an earlier one. Cancel safe.
    pub async fn asked(&mut self) {
        let [interrupt, terminate] = &mut self.0;
        tokio::select! {
            () = heard(interrupt) => {}
            () = heard(terminate) => {}
        }
    }
}

/// Keeps SIGHUP, by which a service is asked to read its files anew, from ending it. At a terminal it means that the terminal is gone.
pub fn ignore_hangups() -> Option<Signal> {
    if is_terminal() { None } else { signal(SignalKind::hangup()).ok() }
}

async fn heard(signal: &mut Option<Signal>) {
    match signal {
        Some(signal) => _ = signal.recv().await,
        // Without a handler, the system's default action ends the process.
        None => std::future::pending().await,
    }
}
