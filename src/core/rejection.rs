//! Rejections: a code for programs, and a sentence for people that says what to do.

use notarium_record::Version;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The kinds of refusal. `snake_case` on the wire; each maps to one HTTP status.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RejectionCode {
    /// The role or the token's scopes do not allow it. 403
    Forbidden,
    /// No such notebook, or it is not for this actor's eyes. 404
    UnknownNotebook,
    /// The notebook exists already. 409
    NotebookExists,
    /// The notebook is archived: unarchive it first. 409
    NotebookArchived,
    /// `expected_version`, a cell's version or a base does not match. 409
    Conflict,
    /// A base version that is not reached yet. 400
    VersionInFuture,
    /// A base version before what is kept: take a snapshot, offer the text as a conflict copy. 409
    BaseTooOld,
    /// No such thread of comments, or its comments were deleted. 404
    UnknownThread,
    /// No such comment in the thread, or it was deleted. 404
    UnknownComment,
    /// No such cell, ever. 404
    UnknownCell,
    /// The cell is in the trash: restore it first. 410
    CellDeleted,
    /// The cell is not in the trash: nothing to restore. 409
    CellNotDeleted,
    /// A cell of that id exists or existed. 409
    CellExists,
    /// A cell cannot stand before or after itself. 400
    InvalidPlace,
    /// The change does not fit the text. 400
    InvalidChange,
    /// Only code cells run, and the kernel's tools only in Python kernels. 400
    NotRunnable,
    /// In a reactive notebook cells read from each other in a circle; the message names it. 409
    DependencyCycle,
    /// No such execution, or it is over and out of the state. 404
    UnknownExecution,
    /// The execution is not in a state for this. 409
    ExecutionState,
    /// No such kernel session. 404
    UnknownKernelSession,
    /// The kernel session is not in a state for this. 409
    KernelState,
    /// Another agent was first. 409
    AlreadyClaimed,
    /// The writer's kernel session is over: its fence is stale. 409
    StaleFence,
    /// A report is missing before this one: send from `expected_seq` on. 409
    ReportGap,
    /// The run, or its runtime agent in an hour, has written all that the server records: report its end. 413
    OutputLimit,
    /// No question is open. 409
    NoInputRequested,
    /// Nothing to undo or redo. 409
    NothingToUndo,
    /// The same command id with another body. 409
    CommandIdReused,
    /// A limit was reached; the message names it. 413
    LimitExceeded,
    /// The value is not allowed; the message says why. 400
    InvalidValue,
    /// No such tool. 404
    UnknownTool,
    /// The tool does not take these arguments; the message names what is missing, unknown or wrong. 400
    InvalidArguments,
    /// No such message in a conversation of that id. 404
    UnknownMessage,
    /// No conversation of that id has begun in this notebook. 404
    UnknownConversation,
    /// No such turn in this notebook. 404
    UnknownTurn,
    /// No such tool call. 404
    UnknownToolCall,
    /// The tool call is not in a state for this: decided, started, over. 409
    ToolCallState,
    /// The turn is not in a state for this. 409
    TurnState,
    /// Too many calls in a short time; the message says how long to wait. 429
    RateLimited,
    /// Access must keep at least one owner. 409
    LastOwner,
    /// No account, share link, workspace or runtime agent of that id: nobody would have the right. 404
    UnknownSubject,
    /// The account is deactivated, the link or token is revoked or has expired: nobody could use the right. 409
    SubjectEnded,
    /// A newer server wrote this notebook: update this one, which serves it read-only until then. 409
    ReadOnly,
    /// The server could not store it; nothing was changed. 503
    Unavailable,
}

impl RejectionCode {
    /// Makes a rejection from a sentence that says what to do.
    pub(crate) fn because(self, message: impl Into<String>) -> Rejection {
        Rejection::new(self, message)
    }

    /// Rejects if `is_so`; the sentence is made only then.
    pub(crate) fn when<M: Into<String>>(self, is_so: bool, message: impl FnOnce() -> M) -> Result<()> {
        if is_so { Err(self.because(message())) } else { Ok(()) }
    }
}

/// Result of a decision, or of a part of it.
pub(crate) type Result<T, E = Rejection> = std::result::Result<T, E>;

/// A refused command. Nothing was changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize, Deserialize, JsonSchema)]
#[error("{message}")]
pub struct Rejection {
    /// For programs.
    pub code: RejectionCode,
    /// One sentence that says what to do.
    pub message: String,
    /// Version that the sender expected, for `conflict` and similar codes.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub expected_version: Option<Version>,
    /// Actual version, for `conflict` and similar codes.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub actual_version: Option<Version>,
    /// Number that the execution's next report must have, for `report_gap`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub expected_seq: Option<u64>,
    /// Number of the refused command in its batch, from 1.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub part: Option<usize>,
}

impl Rejection {
    /// A rejection without versions. `message` is one sentence that says what to do.
    pub fn new(code: RejectionCode, message: impl Into<String>) -> Self {
        let message = message.into();
        Self { code, message, expected_version: None, actual_version: None, expected_seq: None, part: None }
    }

    /// A `conflict` that names both versions.
    pub fn conflict(what: &str, expected: Version, actual: Version) -> Self {
        let message =
            format!("{what} is at version {actual}, not {expected}: read it again and decide on what it is now");
        Self {
            expected_version: Some(expected),
            actual_version: Some(actual),
            ..Self::new(RejectionCode::Conflict, message)
        }
    }
}
