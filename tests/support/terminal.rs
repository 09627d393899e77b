//! The built program at a terminal, and its output there.

use std::process::Stdio;

use tokio::process::Command;

use super::PATIENCE;

/// Returns the program at a terminal: text written to standard input is typed there, standard output is the screen.
pub fn at_terminal(arguments: &[&str]) -> Command {
    const TERMINAL: &str = "import os, pty, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))";
    let mut process = Command::new("python3");
    process.args(["-c", TERMINAL, env!("CARGO_BIN_EXE_notarium")]).args(arguments).env_clear();
    process.env("PATH", std::env::var_os("PATH").unwrap_or_default()).env("NO_COLOR", "1").env("TZ", "UTC");
    process.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit()).kill_on_drop(true);
    process
}

/// Output of a program, read up to a text, independent of lines.
pub struct Words<R> {
    reader: R,
    pub seen: String,
}

impl<R: tokio::io::AsyncRead + Unpin> Words<R> {
    pub fn of(reader: R) -> Self {
        Self { reader, seen: String::new() }
    }

    /// Reads until the text arrives, and returns everything up to it.
    pub async fn until(&mut self, text: &str) -> String {
        let reading = async {
            while !self.seen.contains(text) {
                let mut bytes = [0; 4096];
                let read = tokio::io::AsyncReadExt::read(&mut self.reader, &mut bytes).await.unwrap_or(0);
                assert!(read > 0, "'{text}' never came: {}", self.seen);
                self.seen.push_str(&String::from_utf8_lossy(&bytes[..read]));
            }
        };
        tokio::time::timeout(PATIENCE, reading).await.unwrap_or_else(|_| panic!("'{text}' never came"));
        let end = self.seen.find(text).map_or(0, |start| start + text.len());
        self.seen.drain(..end).collect()
    }
}
