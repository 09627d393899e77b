//! What people type, or a program pipes in.

use std::io::{self, IsTerminal, Write};
use std::path::Path;

use tokio::io::AsyncReadExt;

use super::Failure;

/// Whether there is somebody at a terminal.
pub fn is_terminal() -> bool {
    io::stdin().is_terminal()
}

/// Asks for a line and waits for it, without its line break; `None` at the end of the input. A secret is not shown as it is typed.
pub fn read_line(prompt: &str, is_secret: bool) -> io::Result<Option<String>> {
    // Without a standard error there is nobody to ask.
    let _ = io::stderr().write_all(prompt.as_bytes());
    if is_secret && is_terminal() {
        return console::Term::stderr().read_secure_line().map(Some);
    }
    let mut line = String::new();
    let read = io::stdin().read_line(&mut line)?;
    Ok((read > 0).then(|| line.trim_end_matches(['\n', '\r']).to_owned()))
}

/// As [`read_line`], beside other tasks, without the blanks around it; empty at the end of the input.
pub async fn ask(prompt: &'static str, is_secret: bool) -> Result<String, Failure> {
    let asking = tokio::task::spawn_blocking(move || read_line(prompt, is_secret));
    let line = asking.await.map_err(|error| Failure::failed(error.to_string()))?;
    let line = line.map_err(|error| Failure::unreadable(Path::new("-"), &error))?;
    Ok(line.unwrap_or_default().trim().to_owned())
}

/// What a file holds, or standard input where its name is `-`.
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

/// As [`bytes`], as text.
pub async fn text(file: &Path) -> Result<String, Failure> {
    let no_text = |error| Failure::unreadable(file, &io::Error::new(io::ErrorKind::InvalidData, error));
    String::from_utf8(bytes(file).await?).map_err(no_text)
}
