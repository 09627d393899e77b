//! Failures of commands: a sentence with advice, and an exit code.

use std::fmt;
use std::io::{self, ErrorKind};
use std::path::Path;
use std::process::ExitCode;

use notarium_agent::connection::{CommandError, ConnectError};
use notarium_core::{Erasure, RejectionDetails};
use notarium_wire::rest::Problem;
use reqwest::StatusCode;

use crate::cli::terminal::print;

/// Failure of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    pub kind: FailureKind,
    pub message: String,
    /// Status and code of the server's refusal, for example `conflict`.
    pub refusal: Option<(StatusCode, String)>,
    /// Facts of the refusal of an erased notebook.
    pub erased: Option<Box<Erasure>>,
}

/// The exit code of a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailureKind {
    /// 0: the reader of the output has closed it, which is no failure.
    ReaderGone = 0,
    /// 1: a run, a check or a request failed.
    Failed = 1,
    /// 2: the command line is wrong.
    Usage = 2,
    /// 3: no connection, or the server does not accept the token.
    Connection = 3,
    /// 130, as in shells: Ctrl-C (or SIGTERM) ended the command.
    Interrupted = 130,
}

impl Failure {
    pub fn new(kind: FailureKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), refusal: None, erased: None }
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

    /// A refusal of the server.
    pub fn refused(status: StatusCode, problem: Problem) -> Self {
        let is_unknown = status == StatusCode::UNAUTHORIZED;
        let kind = if is_unknown { FailureKind::Connection } else { FailureKind::Failed };
        let erased = problem.details.and_then(|details| match *details {
            RejectionDetails::Erased { erasure } => Some(erasure),
            _ => None,
        });
        // The operator finds the reason in the server's log under this id.
        let id = problem.error_id.map(|id| format!(" (error id {id})")).unwrap_or_default();
        let lines = problem.lines.unwrap_or_default().into_iter();
        let lines: String = lines.map(|wrong| format!("\n  line {}: {}", wrong.line, wrong.message)).collect();
        let message = format!("{}{id}{lines}", problem.detail);
        Self { refusal: Some((status, problem.code)), erased, ..Self::new(kind, message) }
    }

    /// The server's response has an unknown form.
    pub fn not_understood(error: serde_json::Error) -> Self {
        Self::failed(format!("the server's answer is not understood ({error}): is this program as new as it?"))
    }

    pub fn is_not_found(&self) -> bool {
        self.refusal.as_ref().is_some_and(|(status, _)| *status == StatusCode::NOT_FOUND)
    }

    /// True if the server refused a request with this code.
    pub fn has_code(&self, code: &str) -> bool {
        self.refusal.as_ref().is_some_and(|(_, refused)| refused == code)
    }

    /// A named file cannot be read.
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

    /// The reader of the output has closed it: the program ends without a message.
    pub fn reader_gone() -> Self {
        Self::new(FailureKind::ReaderGone, "")
    }

    /// Prints the message on standard error, and returns the exit code.
    pub fn report(&self) -> ExitCode {
        if self.kind != FailureKind::ReaderGone {
            // Messages may quote text of other people.
            print::note(format!("notarium: {}", print::clean_block(&self.message)));
        }
        ExitCode::from(self.kind as u8)
    }
}

/// The error in words; the system's words if there are no better ones.
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
            CommandError::Rejected(reject) => Self::failed(reject.rejection.message),
            CommandError::Connection(error) => error.into(),
        }
    }
}

impl From<anyhow::Error> for Failure {
    fn from(error: anyhow::Error) -> Self {
        Self::failed(format!("{error:#}"))
    }
}
