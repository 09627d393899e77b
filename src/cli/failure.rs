//! How a command fails: one sentence that says what to do, and an exit code.

use std::fmt;
use std::io::{self, ErrorKind};
use std::path::Path;
use std::process::ExitCode;

use notarium_agent::connection::{CommandError, ConnectError};
use notarium_wire::rest::Problem;
use reqwest::StatusCode;

use super::print;

/// Why a command did not do what was asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    pub kind: FailureKind,
    pub message: String,
    /// What the server refused a request with, as in `conflict`.
    pub refusal: Option<(StatusCode, String)>,
}

/// The exit code of a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailureKind {
    /// 0: nobody reads the output any more, which is no failure.
    ReaderGone = 0,
    /// 1: a run, a check or a request failed.
    Failed = 1,
    /// 2: the command line is wrong.
    Usage = 2,
    /// 3: no connection, or the server does not accept the token.
    Connection = 3,
    /// 130, as shells have it: Ctrl-C (or SIGTERM) ended what was asked for.
    Interrupted = 130,
}

impl Failure {
    pub fn new(kind: FailureKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), refusal: None }
    }

    pub fn failed(message: impl Into<String>) -> Self {
        Self::new(FailureKind::Failed, message)
    }

    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(FailureKind::Usage, message)
    }

    pub fn connection(message: impl Into<String>) -> Self {
        Self::new(FailureKind::Connection, message)
    }

    pub fn interrupted(message: impl Into<String>) -> Self {
        Self::new(FailureKind::Interrupted, message)
    }

    /// The server says no.
    pub fn refused(status: StatusCode, problem: Problem) -> Self {
        let is_unknown = status == StatusCode::UNAUTHORIZED;
        let kind = if is_unknown { FailureKind::Connection } else { FailureKind::Failed };
        Self { refusal: Some((status, problem.code)), ..Self::new(kind, problem.detail) }
    }

    /// The server's answer is not what this program knows.
    pub fn not_understood(error: serde_json::Error) -> Self {
        Self::failed(format!("the server's answer is not understood ({error}): is this program as new as it?"))
    }

    pub fn is_not_found(&self) -> bool {
        self.refusal.as_ref().is_some_and(|(status, _)| *status == StatusCode::NOT_FOUND)
    }

    /// Whether the server refused a request with this code.
    pub fn has_code(&self, code: &str) -> bool {
        self.refusal.as_ref().is_some_and(|(_, refused)| refused == code)
    }

    /// A file that was named cannot be read.
    pub fn unreadable(file: &Path, error: &io::Error) -> Self {
        let name = if file == Path::new("-") { "standard input".into() } else { file.to_string_lossy() };
        Self::usage(format!("{name} cannot be read: {}", spoken(error)))
    }

    /// A file cannot be written.
    pub fn unwritable(file: &Path, error: &io::Error) -> Self {
        let reason = match error.kind() {
            ErrorKind::NotFound | ErrorKind::NotADirectory => "its folder does not exist".to_owned(),
            _ => spoken(error),
        };
        Self::failed(format!("{} cannot be written: {reason}", file.display()))
    }

    /// Nobody reads the output any more: the program ends, and says nothing.
    pub fn reader_gone() -> Self {
        Self::new(FailureKind::ReaderGone, "")
    }

    /// Says it on standard error.
    pub fn report(&self) -> ExitCode {
        if self.kind != FailureKind::ReaderGone {
            // Messages may quote foreign text.
            print::note(format!("notarium: {}", print::clean_block(&self.message)));
        }
        ExitCode::from(self.kind as u8)
    }
}

/// What a file is not, in words; the system's where there are no better ones.
fn spoken(error: &io::Error) -> String {
    match error.kind() {
        ErrorKind::NotFound | ErrorKind::NotADirectory => "there is no such file".to_owned(),
        ErrorKind::IsADirectory => "it is a folder: name a file".to_owned(),
        ErrorKind::PermissionDenied => "this user may not".to_owned(),
        _ => error.to_string(),
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.message)
    }
}

impl From<ConnectError> for Failure {
    fn from(error: ConnectError) -> Self {
        Self::connection(error.to_string())
    }
}

impl From<CommandError> for Failure {
    fn from(error: CommandError) -> Self {
        match error {
            CommandError::Rejected(reject) => Self::failed(reject.message),
            CommandError::Connection(error) => error.into(),
        }
    }
}

impl From<anyhow::Error> for Failure {
    fn from(error: anyhow::Error) -> Self {
        Self::failed(format!("{error:#}"))
    }
}
