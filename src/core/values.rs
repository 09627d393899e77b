//! Values of which commands consist: places, flags, targets, reports.

pub(crate) mod code_names;
pub(crate) mod decision;
pub(crate) mod details;
pub(crate) mod edges;
pub(crate) mod erasure;
pub(crate) mod kernel_commands;
pub(crate) mod links;
pub mod mask;
pub(crate) mod next_input;
pub(crate) mod order;
pub(crate) mod schedules;

pub use next_input::{NextInput, RefusalReport};
use std::fmt;

use schemars::JsonSchema;
use serde::de::{DeserializeOwned, Error};
use serde::{Deserialize, Deserializer, Serialize};

use notarium_record::text::{ChangeSet, TextRange};
use notarium_record::{
    Attachment, CellFlags, CellId, CellReply, CellType, CommentId, ConversationId, CorrelationId, EndCause,
    ExecutionId, ExecutionOutcome, KernelSessionId, MessageId, Millis, MovedOutputs, Output, RawObject, StopReason,
    ThreadId, TokenId, ToolCallId, TurnFailure, TurnId, UserId, Version,
};

/// A place for a cell, in page order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Place {
    /// Above all other cells.
    Start,
    /// Below all other cells.
    End,
    /// Directly above this live cell.
    Before(CellId),
    /// Directly below this live cell.
    After(CellId),
}

/// Flags of a cell to change. Absent flags stay as they are.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct CellFlagChanges {
    /// Always in the assistant's context.
    pub pinned: Option<bool>,
    /// Never in the assistant's context.
    pub skipped: Option<bool>,
    /// Only the outputs are shown.
    pub source_hidden: Option<bool>,
    /// Only the source is shown.
    pub outputs_hidden: Option<bool>,
    /// For a heading: the cells below it, up to the next heading, are not shown.
    pub heading_collapsed: Option<bool>,
    /// A flag for exporters. Notarium stores it and does not use it.
    pub exported: Option<bool>,
    /// Number of a bookmark, 1 to 9. 0 removes the bookmark.
    pub bookmark: Option<u8>,
}

impl From<CellFlags> for CellFlagChanges {
    /// Returns the changes that give a cell without flags these.
    fn from(flags: CellFlags) -> Self {
        let on = |flag: bool| flag.then_some(true);
        Self {
            pinned: on(flags.pinned),
            skipped: on(flags.skipped),
            source_hidden: on(flags.source_hidden),
            outputs_hidden: on(flags.outputs_hidden),
            heading_collapsed: on(flags.heading_collapsed),
            exported: on(flags.exported),
            bookmark: flags.bookmark,
        }
    }
}

/// A restoration: cells, their order and the notebook's metadata become as they were. Title, runs, outputs, replies, comments, access and
/// conversations stay, newer cells go to the trash, and one undo takes it back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RestoreNotebook {
    /// A version from 1 to the notebook's present one (`version_in_future` otherwise).
    pub version: Version,
}

/// A change of a cell's text, made at a version that may be older than the notebook's.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EditSource {
    /// A live cell (`cell_deleted` for one in the trash).
    pub cell_id: CellId,
    /// The version of the notebook at which the change was made. `base_too_old`: the server no longer has the edits since.
    pub base: Version,
    /// The change of the text as it was at `base`.
    pub change: ChangeSet,
    /// Id of the sender's group that the editor undoes with this change; it is recorded as that group's undo. A group
    /// of another actor, or one that touches other cells: an ordinary edit.
    pub undoes: Option<CorrelationId>,
    /// Id of the sender's undo that the editor takes back with this change. If that id has nothing to redo: an ordinary edit.
    pub redoes: Option<CorrelationId>,
}

/// A cell, or a range of its text.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CommentPlace {
    /// A live cell (`cell_deleted` for one in the trash).
    pub cell_id: CellId,
    /// `[start, end]` in the cell's source, in UTF-16 code units; not empty for a new thread. Absent: the whole cell.
    pub range: Option<TextRange>,
    /// The version of the notebook to whose text the range refers; later edits move the range. Absent: the server's present text.
    pub base: Option<Version>,
}

/// The place of a new comment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum CommentTarget {
    /// The comment begins a thread at this place. A notebook has at most 2,000 threads, with 10,000 comments and 8 MiB
    /// of text together.
    Cell(CommentPlace),
    /// The comment is a reply in this thread, resolved or not. A thread has at most 500 comments.
    Thread {
        /// Named by ThreadStarted.
        thread_id: ThreadId,
    },
}

/// A new comment, and its place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AddComment {
    /// The place of a new thread, or an existing thread.
    pub target: CommentTarget,
    /// Markdown, 1 to 10,000 characters. Blanks at both ends are removed.
    pub text: String,
    /// Accounts that the comment mentions, at most 50 active ones (`unknown_subject` or `subject_ended` otherwise). A
    /// mention gives no right.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub mentions: Vec<UserId>,
}

/// The new text and mentions of a comment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EditComment {
    /// Named by ThreadStarted.
    pub thread_id: ThreadId,
    /// A comment of the sender (`forbidden` otherwise).
    pub comment_id: CommentId,
    /// The whole new text: Markdown, 1 to 10,000 characters. Blanks at both ends are removed.
    pub text: String,
    /// All accounts that the comment then mentions, at most 50. Accounts that it mentioned before need not be active.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub mentions: Vec<UserId>,
}

/// One step of an execution, as its runtime agent reports it.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum ExecutionReport {
    /// The kernel has begun the execution.
    Started {},
    /// New outputs, appended to those reported before.
    Output {
        /// The outputs in order, at most 4 MiB in one report. Upload a part above 8 KiB as a blob first.
        outputs: Vec<Output>,
    },
    /// New content for every output of the notebook with this `display_id`.
    UpdateDisplay {
        /// The id that the kernel has chosen.
        display_id: String,
        /// The output whose content replaces the present one.
        output: Output,
    },
    /// The outputs of the execution are cleared.
    Clear {
        /// True: they are cleared when the next output comes. False: now.
        wait: bool,
    },
    /// The code requests a line of input.
    InputRequest {
        /// The question, as shown to people.
        prompt: String,
        /// True: hide the answer while it is typed. It is not recorded.
        password: bool,
    },
    /// The execution has ended with a result.
    Completed {
        /// The result: ok, or the kind of failure.
        outcome: ExecutionOutcome,
        /// The number in `In [3]:`. Absent: the kernel gave none.
        execution_count: Option<u64>,
        /// A sentence for people about the outputs, for example that some were cut off.
        notice: Option<String>,
    },
    /// The agent did not begin the execution, which is held, because its code could change what the kernel holds open. The
    /// run is cancelled.
    HoldsOpen {
        /// The open files, mappings and connections, for people; at most 2,000 characters together are kept.
        open: Vec<String>,
    },
    /// The agent did not run the execution, or it ended without a result.
    Lost {
        /// The cause.
        cause: EndCause,
        /// More about the cause, in a sentence for people.
        detail: Option<String>,
    },
}

/// A new cell, and its place.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct InsertCell {
    /// The id that the client chooses, to show the cell before the ack. Absent: the server chooses one.
    pub cell_id: Option<CellId>,
    /// The cell's type. `ChangeCellType` changes it later.
    pub cell_type: CellType,
    /// The cell's source, at most 1 MiB, with `\n` line breaks only.
    #[serde(default)]
    pub source: String,
    /// The cell's place. Absent: at the end.
    #[serde(default = "end")]
    pub place: Place,
    /// The cell's metadata, as in nbformat; at most 1 MiB.
    #[serde(default)]
    pub metadata: RawObject,
    /// File name to MIME bundle, as in nbformat; at most 16 MiB.
    pub attachments: Option<RawObject>,
    /// Flags that are set from the start.
    #[serde(default)]
    pub flags: CellFlagChanges,
    /// The reply of a prompt cell that comes from a file or another notebook. Absent: none.
    pub reply: Option<Box<CellReply>>,
}

impl InsertCell {
    /// A cell without metadata, attachments, flags and reply. The server chooses its id.
    pub fn new(cell_type: CellType, source: String, place: Place) -> Self {
        let (metadata, flags) = (RawObject::default(), CellFlagChanges::default());
        Self { cell_id: None, cell_type, source, place, metadata, attachments: None, flags, reply: None }
    }
}

/// A request for a run: its code and its kernel.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RequestExecution {
    /// The id that the client chooses. Absent: the server chooses one.
    pub execution_id: Option<ExecutionId>,
    /// The code to run: a cell, other code, or a function.
    pub target: ExecutionTarget,
    /// The kernel for the run. Absent: the notebook's oldest kernel, or a new one if there is none.
    pub kernel_session: Option<KernelSessionId>,
    /// Running time in milliseconds after which the kernel is interrupted; above 0. Absent: no limit.
    pub timeout_ms: Option<Millis>,
    /// True: if another run of the same batch does not succeed while this one is queued, this one is blocked.
    #[serde(default)]
    pub stop_on_error: bool,
    /// The effects that the person allows. Absent: in a kernel that ran an assistant's code, those to which the code's text
    /// can lead; else all. `forbidden` unless a person sends it.
    pub effects: Option<RequestedEffects>,
}

/// Effects that a person allows to a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RequestedEffects {
    /// All effects that the kernel's sandbox leaves to it.
    Free,
}

impl RequestExecution {
    /// A run on the notebook's kernel, without a timeout, which goes on if others fail. The server chooses its id.
    pub fn new(target: ExecutionTarget) -> Self {
        let (execution_id, kernel_session, timeout_ms, effects) = (None, None, None, None);
        Self { execution_id, target, kernel_session, timeout_ms, stop_on_error: false, effects }
    }
}

/// A message to an assistant, which begins a turn. A conversation that does not exist is created.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StartTurn {
    /// The conversation to continue, or the id of a new one.
    pub conversation_id: ConversationId,
    /// The id that the client chooses. Absent: the server chooses one.
    pub turn_id: Option<TurnId>,
    /// The message. Absent for a prompt cell, whose source is the message.
    pub text: Option<String>,
    /// A prompt cell: its source is the message, and the cell shows the reply.
    pub cell_id: Option<CellId>,
    /// The model: `PROVIDER`, `PROVIDER/MODEL`, or a model of the first provider. Absent: the server's default.
    pub model: Option<String>,
    /// At most 8 pictures and files, uploaded as blobs of this notebook. Pictures (PNG, JPEG, GIF, WebP) have at most
    /// 3,750,000 bytes, text files at most 256 KiB.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub attachments: Vec<Attachment>,
}

/// A request of an assistant to call a tool. Assistants cannot send the commands of people.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RequestToolCall {
    /// The id that the sender chooses. Absent: the server chooses one.
    pub call_id: Option<ToolCallId>,
    /// The turn of the call. Absent for outside assistants, which have no turns.
    pub turn_id: Option<TurnId>,
    /// The name of a built-in tool or of a registered function (`unknown_tool` otherwise).
    pub function: String,
    /// Arguments that fit the tool's schema. Unknown and missing ones are refused with `invalid_arguments`.
    #[serde(default)]
    pub arguments: RawObject,
    /// A call of the same conversation that must end first, with any result. An ended call has no effect.
    pub after: Option<ToolCallId>,
    /// Title of the conversation if it begins with this call, for outside assistants.
    pub conversation_title: Option<String>,
    /// Id of the token that the outside assistant's client has used. For a call in a turn, the turn's token counts instead.
    pub token: Option<TokenId>,
}

/// A credential or account that has ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Revoked {
    /// A token or session, by its id.
    Token(TokenId),
    /// A person's account, with all turns and calls in that person's name.
    User(UserId),
}

/// The end of a turn, as the reactor reports it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum TurnEnd {
    /// The model has finished or had to stop, for this reason.
    Finished(StopReason),
    /// The turn failed without a complete answer.
    Failed {
        /// The cause.
        cause: TurnFailure,
        /// More about the cause, in a sentence for people.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        detail: Option<String>,
    },
}

/// The code of a run. A request for a cell names the cell and carries no code.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum ExecutionTarget {
    /// A cell's source, as the server has it when it decides.
    Cell {
        /// A live code or SQL cell (`not_runnable` otherwise).
        cell_id: CellId,
        /// Refuse with `conflict` unless the cell is at this version.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        cell_version: Option<Version>,
    },
    /// Code that belongs to no cell.
    Scratch {
        /// Code in the kernel's language, at most 1 MiB.
        source: String,
        /// The purpose of the run, for people; 1 to 255 characters on one line.
        purpose: String,
    },
    /// A call of a registered function, on the kernel that has it. The run's code is the call.
    Function {
        /// The function's name.
        name: String,
        /// Arguments that fit the function's schema (`invalid_arguments` otherwise).
        arguments: RawObject,
        /// True: a person has seen the function and its arguments. Required for functions that are registered as destructive.
        #[serde(skip_serializing_if = "std::ops::Not::not", default)]
        confirmed: bool,
    },
}

fn end() -> Place {
    Place::End
}

/// Flags of a message for the assistant's context. Absent flags stay as they are.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FlagMessage {
    /// The message's conversation.
    pub conversation_id: ConversationId,
    /// A posted message (`unknown_message` otherwise). At most 500 messages of a conversation have flags.
    pub message_id: MessageId,
    /// Always in the assistant's context. Not together with `skipped`.
    pub pinned: Option<bool>,
    /// Never in the assistant's context.
    pub skipped: Option<bool>,
}

/// Large values of a run's outputs that leave the state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MoveOutputs {
    /// An execution that has ended and that a cell shows.
    pub execution_id: ExecutionId,
    /// The execution's `output_seq` when the outputs were read (`execution_state` if it is higher now).
    pub output_seq: u64,
    /// The replacements, in the order of the outputs, without overlaps.
    pub moved: Vec<MovedOutputs>,
}

/// A value without unknown fields at any depth. Readers of the record ignore unknown fields; a client's message with
/// one is refused. Otherwise the client would believe that the field had an effect.
#[derive(Debug, Clone, Copy)]
pub struct Closed<T>(pub T);

impl<'de, T: DeserializeOwned> Deserialize<'de> for Closed<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut unknown: Option<String> = None;
        let note = |path: serde_ignored::Path<'_>| _ = unknown.get_or_insert_with(|| path.to_string());
        let value = serde_ignored::deserialize(deserializer, note)?;
        match unknown {
            Some(path) => Err(D::Error::custom(format_args!("unknown field `{path}`"))),
            None => Ok(Self(value)),
        }
    }
}

// --- tool calls ---

/// Change of a call's target since the request, which makes the call void. As text: the sentence that the record has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum TargetChange {
    /// The cell was deleted.
    CellDeleted {
        /// The cell, which is in the trash.
        cell_id: CellId,
    },
    /// The cell has changed.
    CellChanged {
        /// The cell.
        cell_id: CellId,
        /// The cell's present `cell_version`.
        cell_version: Version,
        /// The cell's `cell_version` at the request.
        requested_version: Version,
    },
    /// Code or SQL cells were changed, moved, added or deleted.
    CodeChanged,
    /// The kernel has ended.
    KernelGone {
        /// The kernel's session.
        kernel_session: KernelSessionId,
    },
    /// The function was registered again.
    FunctionChanged {
        /// The function's name.
        name: String,
    },
    /// The function is not available any more.
    FunctionGone {
        /// The function's name.
        name: String,
        /// The reason, in a sentence for people.
        detail: String,
    },
    /// The server does not know this kind of target, so it cannot check the target.
    UnknownTarget {
        /// The target's kind.
        target: String,
    },
}

impl fmt::Display for TargetChange {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::CellDeleted { cell_id } => write!(f, "cell {cell_id} is in the trash"),
            Self::CellChanged { cell_id, cell_version, requested_version } => {
                write!(f, "cell {cell_id} is at version {cell_version}, not {requested_version}")
            }
            Self::CodeChanged => f.write_str("the notebook's code cells are not those that it was asked for"),
            Self::KernelGone { kernel_session } => write!(f, "kernel session {kernel_session} is over"),
            Self::FunctionChanged { name } => write!(f, "{name} was registered anew, and is not what it was"),
            Self::FunctionGone { detail, .. } => f.write_str(detail),
            Self::UnknownTarget { target } => {
                write!(f, "this server cannot tell whether a target of the kind '{target}' has changed")
            }
        }
    }
}
