//! The answer to a command: a decision (events, and what the sender learns with the ack), or a rejection (a code for
//! programs, and a sentence for people that says what to do).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use notarium_record::{
    Actor, CellId, CommentId, ContentRemoval, CorrelationId, Event, EventId, ExecutionId, KernelSessionId, ThreadId,
    ToolCallId, TurnId, Version,
};

use crate::values::details::{RejectionDetails, if_known};

/// One decided event, and the group that it undoes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decided {
    /// The event; [`crate::notebook::seal`] adds the envelope.
    pub event: Event,
    /// Actor of the event if it is not the sender: a partial answer of a stopped turn has the assistant as its actor.
    pub actor: Option<Actor>,
    /// Correlation id of the undone group. Absent for all but undo and redo.
    pub undoes: Option<CorrelationId>,
    /// Replaces the command's own: each step of an undo is its own group.
    pub correlation_id: Option<CorrelationId>,
    /// Number of places back to the event of the same command that led to this one. `None`: the cause of the command
    /// counts, if any.
    pub led_by: Option<usize>,
    /// Cause of the batch part to which the event belongs. `None`: the cause of the command counts.
    pub caused_by: Option<EventId>,
}

impl<E: Into<Event>> From<E> for Decided {
    fn from(event: E) -> Self {
        Self { event: event.into(), actor: None, undoes: None, correlation_id: None, led_by: None, caused_by: None }
    }
}

/// Information for the sender in the ack: ids that the server chose, and notices about effects that are incomplete.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Outcome {
    /// Cells that the command made or restored, in the order of its parts.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub cells: Vec<CellId>,
    /// Executions that the command requested, in the order of its parts.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub executions: Vec<ExecutionId>,
    /// The session that the command launched, or in which its run is queued.
    pub kernel_session: Option<KernelSessionId>,
    /// The thread that the command began, or in which it replied.
    pub thread: Option<ThreadId>,
    /// The comment that the command posted.
    pub comment: Option<CommentId>,
    /// The turn that the command started.
    pub turn: Option<TurnId>,
    /// The tool call that the command requested or decided on.
    pub tool_call: Option<ToolCallId>,
    /// Sentences for people, for example about parts of an undo that other edits had overwritten.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notices: Vec<String>,
}

impl Outcome {
    /// Returns true if there is nothing to report; messages then omit the field.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    pub(crate) fn absorb(&mut self, part: Outcome) {
        self.cells.extend(part.cells);
        self.executions.extend(part.executions);
        self.kernel_session = part.kernel_session.or(self.kernel_session.take());
        self.thread = part.thread.or(self.thread.take());
        self.comment = part.comment.or(self.comment.take());
        self.turn = part.turn.or(self.turn.take());
        self.tool_call = part.tool_call.or(self.tool_call.take());
        self.notices.extend(part.notices);
    }
}

/// An accepted command. Without events: the state is already as requested.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Decision {
    /// Events to record in this order, in one append.
    pub events: Vec<Decided>,
    /// Information that the sender gets with the ack.
    pub outcome: Outcome,
    /// Content that a redaction removes.
    pub removal: ContentRemoval,
}

impl Decision {
    pub(crate) fn one(event: impl Into<Event>) -> Self {
        Self::of([event.into().into()])
    }

    pub(crate) fn with(events: Vec<Decided>, outcome: Outcome) -> Self {
        Self { events, outcome, ..Self::default() }
    }

    pub(crate) fn nothing() -> Self {
        Self::default()
    }

    /// The event, or none if the state is already as the event says.
    pub(crate) fn unless(is_so: bool, event: impl Into<Event>) -> Self {
        if is_so { Self::nothing() } else { Self::one(event) }
    }

    /// Events without an outcome for the sender.
    pub(crate) fn of(events: impl IntoIterator<Item = Decided>) -> Self {
        Self { events: events.into_iter().collect(), ..Self::default() }
    }

    /// Sets the first event as the cause of the others, unless another of these events is.
    pub(crate) fn led_by_first(mut self) -> Self {
        for (places, decided) in self.events.iter_mut().enumerate().skip(1) {
            decided.led_by.get_or_insert(places);
        }
        self
    }
}

// --- rejection ---

/// Code of a rejection, in `snake_case`. Each code maps to one HTTP status, given after the sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RejectionCode {
    /// The role or the token's scopes do not allow it. 403
    Forbidden,
    /// No such notebook, or the actor may not read it. 404
    UnknownNotebook,
    /// The notebook exists already. 409
    NotebookExists,
    /// The notebook is archived: unarchive it first. 409
    NotebookArchived,
    /// The notebook was erased: nothing of it is left, and its id is not used again. 410
    Erased,
    /// `expected_version`, a cell's version, a range or a hash does not match. 409
    Conflict,
    /// The notebook has not reached this version. 400
    VersionInFuture,
    /// The server no longer has the edits since the base: subscribe again with the cell as unconfirmed, and send the mapped
    /// change under a new id. 409
    BaseTooOld,
    /// No such thread of comments, or its comments were deleted. 404
    UnknownThread,
    /// No such comment in the thread, or it was deleted. 404
    UnknownComment,
    /// No cell of this id exists or has existed. 404
    UnknownCell,
    /// The cell is in the trash: restore it first. 410
    CellDeleted,
    /// The cell is not in the trash: nothing to restore. 409
    CellNotDeleted,
    /// A cell of this id exists or has existed. 409
    CellExists,
    /// A cell cannot be placed before or after itself. 400
    InvalidPlace,
    /// The change does not fit the text. 400
    InvalidChange,
    /// Only code and SQL cells run, and only prompt cells ask. SQL and the kernel's tools need a Python kernel. 400
    NotRunnable,
    /// Cells of a reactive notebook read from each other in a cycle; the message names it. 409
    DependencyCycle,
    /// No such execution, or it has ended and left the state. 404
    UnknownExecution,
    /// The execution is not in a state for this. 409
    ExecutionState,
    /// No such kernel session. 404
    UnknownKernelSession,
    /// The kernel session is not in a state for this. 409
    KernelState,
    /// The launch, tool call or model call is claimed already. 409
    AlreadyClaimed,
    /// The launch names another runtime agent, or labels that this one lacks. 409
    AgentNotWanted,
    /// The writer's kernel session is over: its fence is stale. 409
    StaleFence,
    /// A report is missing before this one: send from `expected_seq` on. 409
    ReportGap,
    /// The run, or its runtime agent within an hour, has reached its output quota: report the run's end. 413
    OutputLimit,
    /// The run has no open request for input. 409
    NoInputRequested,
    /// Nothing to undo or redo. 409
    NothingToUndo,
    /// The content is not in the record, or was redacted before. 409
    NothingToRedact,
    /// The command id was used with another body. 409
    CommandIdReused,
    /// A limit was reached; the message names it. 413
    LimitExceeded,
    /// The value is not allowed; the message says why. 400
    InvalidValue,
    /// No such tool. 404
    UnknownTool,
    /// The tool does not take these arguments; the message names what is missing, unknown or wrong. 400
    InvalidArguments,
    /// No such message in a conversation of this id. 404
    UnknownMessage,
    /// No conversation of this id has begun in this notebook. 404
    UnknownConversation,
    /// No such turn in this notebook. 404
    UnknownTurn,
    /// No such tool call. 404
    UnknownToolCall,
    /// The tool call is not in a state for this: decided, started, over. 409
    ToolCallState,
    /// The turn is not in a state for this. 409
    TurnState,
    /// No such schedule. 404
    UnknownSchedule,
    /// The schedule is not in a state for this: a run of it is under way, or it is stopped. 409
    ScheduleState,
    /// Too many calls in a short time; the message says how long to wait. 429
    RateLimited,
    /// The notebook must keep at least one owner. 409
    LastOwner,
    /// No account, share link, workspace or runtime agent has this id. 404
    UnknownSubject,
    /// The account is deactivated, or the link or token is revoked or has expired. 409
    SubjectEnded,
    /// A newer server has written this notebook: update this server, which serves it read-only until then. 409
    ReadOnly,
    /// The server could not store the command. Nothing was changed, unless the message says that this is not known. 503
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
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize, Deserialize, JsonSchema)]
#[error("{message}")]
pub struct Rejection {
    /// Code for programs; `protocol/README.md`, section 8, lists all.
    pub code: RejectionCode,
    /// One sentence that says what to do.
    pub message: String,
    /// Expected version in the command, of the notebook or of a cell; only for `conflict`.
    pub expected_version: Option<Version>,
    /// Actual version of the same thing; only for `conflict`.
    pub actual_version: Option<Version>,
    /// Required number of the execution's next report; only for `report_gap`.
    pub expected_seq: Option<u64>,
    /// Number of the refused command in a `Batch`, from 1.
    pub part: Option<usize>,
    /// Facts of the refusal. Absent: `code` says all. A kind that is unknown counts as absent.
    #[serde(deserialize_with = "if_known", default)]
    pub details: Option<Box<RejectionDetails>>,
}

impl Rejection {
    /// A rejection without versions. `message` is one sentence that says what to do.
    pub fn new(code: RejectionCode, message: impl Into<String>) -> Self {
        let message = message.into();
        Self {
            code,
            message,
            expected_version: None,
            actual_version: None,
            expected_seq: None,
            part: None,
            details: None,
        }
    }

    /// Adds the facts of the refusal.
    pub fn with(self, details: RejectionDetails) -> Self {
        Self { details: Some(Box::new(details)), ..self }
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

/// The word on the wire of a value that is one word there.
pub fn wire_word(value: &impl Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(word)) => word,
        _ => "?".to_owned(),
    }
}

/// Like [`wire_word`], as people read it: `confirm edit`, not `confirm_edit`.
pub fn word(value: &impl Serialize) -> String {
    wire_word(value).replace('_', " ")
}
