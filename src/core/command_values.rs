//! Values of which commands consist: places, flags, targets, reports.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use notarium_record::text::{ChangeSet, TextRange};
use notarium_record::{
    Attachment, CellId, CellReply, CellType, CommentId, ConversationId, CorrelationId, EndCause, ExecutionId,
    ExecutionOutcome, KernelSessionId, MessageId, Millis, MovedOutputs, Output, RawObject, StopReason, ThreadId,
    TokenId, ToolCallId, TurnFailure, TurnId, UserId, Version,
};

/// Where a cell goes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Place {
    /// Above all others.
    Start,
    /// Below all others.
    End,
    /// Directly above this live cell.
    Before(CellId),
    /// Directly below this live cell.
    After(CellId),
}

/// Flags to change; absent ones stay.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct CellFlagChanges {
    /// Always in the assistant's context.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pinned: Option<bool>,
    /// Never in the assistant's context.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skipped: Option<bool>,
    /// Only the outputs are shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source_hidden: Option<bool>,
    /// Only the source is shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outputs_hidden: Option<bool>,
    /// Of a heading: the cells below it, up to the next heading, are not shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub heading_collapsed: Option<bool>,
    /// A mark for exporters; Notarium itself keeps it and does nothing with it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exported: Option<bool>,
    /// 1 to 9; 0 removes it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bookmark: Option<u8>,
}

/// A change of a cell's text by somebody who may be behind.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EditSource {
    /// A live cell (`cell_deleted` for one in the trash).
    pub cell_id: CellId,
    /// The notebook's version that the sender has applied. `base_too_old` where over 10,000 edits of the cell came since.
    pub base: Version,
    /// Over the text as it was at `base`.
    pub change: ChangeSet,
    /// The sender's group in this cell that the sender's editor takes back with this change. Recorded as that group's undo.
    /// An ordinary edit where the group is another's, or touches more than this cell.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub undoes: Option<CorrelationId>,
    /// The sender's undo that the sender's editor takes back with this change. An ordinary edit where there is nothing to
    /// redo under that id.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub redoes: Option<CorrelationId>,
}

/// A cell, or a range of its text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CommentPlace {
    /// A live cell (`cell_deleted` for one in the trash).
    pub cell_id: CellId,
    /// `[start, end]` in the cell's source, in UTF-16 code units; of a new thread not empty. Absent: the whole cell.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub range: Option<TextRange>,
    /// The notebook's version whose text the range is of; it moves with later edits. Absent: the text as the server has it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub base: Option<Version>,
}

/// Where a comment goes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum CommentTarget {
    /// It begins a thread there. A notebook holds at most 2,000, with 10,000 comments and 8 MiB of text together.
    Cell(CommentPlace),
    /// It is a reply, also where the thread is resolved. A thread holds at most 500 comments.
    Thread {
        /// Named by ThreadStarted.
        thread_id: ThreadId,
    },
}

/// What `AddComment` says, and where.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AddComment {
    /// A new thread, or one that there is.
    pub target: CommentTarget,
    /// Markdown, 1 to 10,000 characters. Blanks at its ends go.
    pub text: String,
    /// The accounts that it names, at most 50 (`unknown_subject`, `subject_ended`). A mention gives nobody a right.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub mentions: Vec<UserId>,
}

/// What `EditComment` makes of a comment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EditComment {
    /// Named by ThreadStarted.
    pub thread_id: ThreadId,
    /// One of the sender's own (`forbidden` otherwise).
    pub comment_id: CommentId,
    /// As in `AddComment`.
    pub text: String,
    /// All that it names from then on; those that it named already may have left.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub mentions: Vec<UserId>,
}

/// What an agent reports of one execution.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum ExecutionReport {
    /// The kernel has begun with it.
    Started {},
    /// New outputs, after those reported before.
    Output {
        /// In order. At most 4 MiB in one report; a part above 8 KiB is uploaded as a blob first.
        outputs: Vec<Output>,
    },
    /// New content for every output with this `display_id`.
    UpdateDisplay {
        /// As the kernel chose it.
        display_id: String,
        /// Replaces the whole content.
        output: Output,
    },
    /// The outputs so far are to go.
    Clear {
        /// True: not now, but when the next output comes.
        wait: bool,
    },
    /// The code asks for a line of text.
    InputRequest {
        /// What it asks, as it is to be shown.
        prompt: String,
        /// The answer is to be hidden while it is typed, and is not recorded.
        password: bool,
    },
    /// It has ended with a result.
    Completed {
        /// How it ended.
        outcome: ExecutionOutcome,
        /// The number in `In [3]:`; absent where the kernel gave none.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        execution_count: Option<u64>,
        /// A sentence for people about the outputs: that some were cut off, for instance.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        notice: Option<String>,
    },
    /// The agent did not run it, or knows that it ended without a result.
    Lost {
        /// Why.
        cause: EndCause,
        /// More about it, in a sentence.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        detail: Option<String>,
    },
}

/// What `InsertCell` makes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct InsertCell {
    /// Named by the client when it shows the cell before the ack; else by the server.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub cell_id: Option<CellId>,
    /// May be changed later.
    pub cell_type: CellType,
    /// At most 1 MiB, with `\n` line breaks only.
    #[serde(default)]
    pub source: String,
    /// Absent: at the end.
    #[serde(default = "end")]
    pub place: Place,
    /// As in nbformat; at most 1 MiB.
    #[serde(default)]
    pub metadata: RawObject,
    /// File name to MIME bundle, as in nbformat; at most 16 MiB.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub attachments: Option<RawObject>,
    /// Those that are set from the start.
    #[serde(default)]
    pub flags: CellFlagChanges,
    /// Of a prompt cell that comes with the reply that a file or another notebook has of it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub reply: Option<Box<CellReply>>,
}

/// What `RequestExecution` runs, and where.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RequestExecution {
    /// Chosen by the client, or by the server.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub execution_id: Option<ExecutionId>,
    /// A cell, or code of no cell.
    pub target: ExecutionTarget,
    /// Absent: the notebook's first kernel; one is launched where there is none.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub kernel_session: Option<KernelSessionId>,
    /// The kernel is interrupted after so many milliseconds of running; absent: never.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub timeout_ms: Option<Millis>,
    /// When this run fails, those of the same batch behind it are blocked.
    #[serde(default)]
    pub stop_on_error: bool,
}

/// Says something to an assistant and begins its turn. A conversation that does not exist begins.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StartTurn {
    /// The conversation to go on in, or the id of a new one.
    pub conversation_id: ConversationId,
    /// Chosen by the client, or by the server.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub turn_id: Option<TurnId>,
    /// What is asked; absent for a prompt cell, whose source it is.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub text: Option<String>,
    /// A prompt cell: its source is what is asked, and it shows the reply.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub cell_id: Option<CellId>,
    /// `NAME`, `NAME/MODEL`, or a model of the first provider; absent: the server's default.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub model: Option<String>,
    /// Pictures and files that go with it, at most 8: blobs that were uploaded for this notebook. Pictures (PNG, JPEG, GIF, WebP) of
    /// at most 3,750,000 bytes, text of at most 256 KiB.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub attachments: Vec<Attachment>,
}

/// The only way in which an assistant acts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RequestToolCall {
    /// Chosen by the sender, or by the server.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub call_id: Option<ToolCallId>,
    /// The turn that it is part of; absent for outside assistants, which have none.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub turn_id: Option<TurnId>,
    /// A built-in tool, or a function that a user has registered (`unknown_tool` otherwise).
    pub function: String,
    /// By the tool's schema; unknown and missing ones are refused with `invalid_arguments`.
    #[serde(default)]
    pub arguments: RawObject,
    /// Not before that call of the same conversation has ended, however it ends. One that has ended holds nothing back.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub after: Option<ToolCallId>,
    /// What a conversation is called that begins with this call: an outside assistant's, which nobody speaks to here.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub conversation_title: Option<String>,
    /// The token that the outside assistant's client has shown to the server, by its id. Of a call in a turn it is the turn's.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub token: Option<TokenId>,
}

/// What holds no more.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Revoked {
    /// A token or session, by its id.
    Token(TokenId),
    /// A person's account, with all that was asked for in that person's name.
    User(UserId),
}

/// How the reactor ends a turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum TurnEnd {
    /// The model has said what it had to say, or had to stop.
    Finished(StopReason),
    /// No answer could be had.
    Failed {
        /// Why.
        cause: TurnFailure,
        /// More about it, in a sentence.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        detail: Option<String>,
    },
}

/// What to execute. A request for a cell names it and never carries code.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum ExecutionTarget {
    /// A cell's source, as the server has it then.
    Cell {
        /// A live code cell (`not_runnable` otherwise).
        cell_id: CellId,
        /// Refuse with `conflict` unless the cell is at this version.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        cell_version: Option<Version>,
    },
    /// Code that belongs to no cell: `purpose` says in words what for.
    Scratch {
        /// In the kernel's language, at most 1 MiB.
        source: String,
        /// In a few words, for people; at most 255 characters.
        purpose: String,
    },
    /// A function that a kernel has registered, on that kernel: the run's code is the call.
    Function {
        /// By which it is registered.
        name: String,
        /// As its schema says (`invalid_arguments` otherwise).
        arguments: RawObject,
        /// A function that is registered as destructive is called only if this is true: somebody has seen what is called with what.
        #[serde(skip_serializing_if = "std::ops::Not::not", default)]
        confirmed: bool,
    },
}

fn end() -> Place {
    Place::End
}

/// What becomes of a message in the assistant's context; what is absent stays.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FlagMessage {
    /// The message's conversation.
    pub conversation_id: ConversationId,
    /// One that was posted (`unknown_message` otherwise). At most 500 of a conversation have a flag.
    pub message_id: MessageId,
    /// Always in the assistant's context. Not together with `skipped`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub pinned: Option<bool>,
    /// Never in the assistant's context.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub skipped: Option<bool>,
}

/// Large values of a run's outputs that leave the state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MoveOutputs {
    /// One that has ended, and that a cell shows.
    pub execution_id: ExecutionId,
    /// As it was when the outputs were read: no others have come since.
    pub output_seq: u64,
    /// In the order of the outputs, none over another.
    pub moved: Vec<MovedOutputs>,
}
