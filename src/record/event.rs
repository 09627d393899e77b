//! Events: permanent facts, in the past tense. The envelope has `type` and `schema`; the payloads are in the files of
//! `event/`.
//!
//! Never change the meaning of a field. A new shape is a new `schema` number of that type, with an upcaster in
//! `upcast.rs` and a golden file in `protocol/golden/events/`. `protocol/versions.md` lists changes that need no new
//! number.
//!
//! The subject of an event is the id by which the store indexes it and finds it again.

mod assistants;
mod executions;
mod notebook;
mod schedules;

use crate::cause::{BLOCKED, sentence};
use crate::ids::{CellId, ConversationId, ExecutionId, KernelSessionId, ScheduleId, ThreadId, ToolCallId, TurnId};
use crate::json::RawJson;
use crate::upcast::{self, DecodeError};

pub use self::assistants::*;
pub use self::executions::*;
pub use self::notebook::*;
pub use self::schedules::*;

macro_rules! events {
    ($($(#[$doc:meta])* $group:ident [ $($name:ident),* $(,)? ])*) => {
        $($(
            impl From<$name> for Event {
                fn from(payload: $name) -> Event { Event::$name(payload) }
            }
        )*)*

        /// Part of the document that an event changes.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum EventGroup { $($(#[$doc])* $group),* }

        /// Typed event of version 1.
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub enum Event {
            $($(
                #[doc = concat!("Its payload is [`", stringify!($name), "`].")]
                $name($name)
            ),*),*
        }

        impl Event {
            /// The names of all types, in the order of this file.
            pub const TYPES: &'static [&'static str] = &[$($(stringify!($name)),*),*];

            /// Name of the type, as in the envelope.
            pub fn event_type(&self) -> &'static str {
                match self { $($(Event::$name(_) => stringify!($name)),*),* }
            }

            /// Part of the document that the event changes.
            pub fn group(&self) -> EventGroup {
                match self { $($(Event::$name(_) => EventGroup::$group),*),* }
            }

            /// Newest schema of the type, which this build writes.
            pub fn schema(&self) -> u16 { upcast::newest_schema(self.event_type()) }

            /// The payload's JSON text: the bytes that are hashed and stored.
            pub fn payload(&self) -> Result<RawJson, serde_json::Error> {
                match self { $($(Event::$name(payload) => RawJson::of(payload)),*),* }
            }

            /// Types a payload of any schema that its type has had.
            pub fn decode(event_type: &str, schema: u16, payload: &str) -> Result<Event, DecodeError> {
                let payload = upcast::to_newest(event_type, schema, payload)?;
                let event = match event_type {
                    $($(stringify!($name) => serde_json::from_str(&payload).map(Event::$name),)*)*
                    _ => return Err(DecodeError::Unknown { event_type: event_type.to_owned(), schema }),
                };
                event.map_err(|error| DecodeError::malformed(event_type, schema, &error))
            }

            /// JSON Schemas of all payloads, by type.
            pub fn schemas(generator: &mut schemars::SchemaGenerator) -> Vec<(&'static str, schemars::Schema)> {
                vec![$($((stringify!($name), generator.subschema_for::<$name>())),*),*]
            }
        }
    };
}

events! {
    /// The notebook as a whole: title, metadata, access, policy.
    Notebook [
        NotebookCreated,
        NotebookRenamed,
        NotebookMetadataSet,
        NotebookArchived,
        NotebookUnarchived,
        NotebookVersionNamed,
        NotebookRestored,
        ContentRedacted,
        NotebookErased,
        AccessGranted,
        AccessRevoked,
        NotebookPolicyChanged,
        NotebookReactivitySet,
        NotebookKernelSettingsSet,
        UndoSkipped,
    ]
    /// Cells: text, type, place, marks.
    Cells [
        CellInserted,
        CellSourceEdited,
        CellMoved,
        CellTypeChanged,
        CellDeleted,
        CellRestored,
        CellMetadataSet,
        CellAttachmentsSet,
        CellFlagsSet,
        CellOutputsCleared,
    ]
    /// Comments: threads, and the comments in them.
    Comments [
        ThreadStarted,
        ThreadMoved,
        ThreadResolved,
        ThreadReopened,
        CommentPosted,
        CommentEdited,
        CommentDeleted,
    ]
    /// Runs: from the request to the end.
    Executions [
        ExecutionRequested,
        ExecutionAssigned,
        ExecutionStarted,
        ExecutionOutputAppended,
        ExecutionOutputUpdated,
        ExecutionOutputsCleared,
        ExecutionInputRequested,
        ExecutionInputAnswered,
        ExecutionEffectRefused,
        ExecutionCompleted,
        ExecutionCancelRequested,
        ExecutionCancelled,
        ExecutionBlocked,
        ExecutionLost,
        ExecutionOutputRecovered,
        ExecutionOutputsMoved,
    ]
    /// Kernel sessions, and the functions that they register.
    Kernels [
        KernelLaunchRequested,
        KernelLaunchClaimed,
        KernelSessionStarted,
        KernelLaunchFailed,
        KernelInterruptRequested,
        KernelRestartRequested,
        KernelShutdownRequested,
        KernelSessionEnded,
        KernelFunctionsRegistered,
        KernelFunctionsForgotten,
    ]
    /// Conversations with assistants: messages and turns.
    Conversations [
        ConversationStarted,
        ConversationClosed,
        MessagePosted,
        MessageFlagged,
        TurnStarted,
        TurnModelCallStarted,
        TurnModelCallFinished,
        TurnFinished,
        TurnCancelled,
        TurnFailed,
    ]
    /// Tool calls of assistants, decisions on them, and grants.
    ToolCalls [
        ToolCallRequested,
        ToolCallConfirmed,
        ToolCallDenied,
        ToolCallWithdrawn,
        ToolCallVoided,
        ToolCallExpired,
        ToolCallStarted,
        ToolCallExecuted,
        GrantIssued,
        GrantRevoked,
        GrantExpired,
    ]
    /// Schedules, and their runs.
    Schedules [
        ScheduleSet,
        ScheduleRemoved,
        ScheduledRunStarted,
        ScheduledRunEnded,
    ]
}

/// Table of events by the id that they carry, with its field.
macro_rules! about {
    ($($(#[$doc:meta])* $about:ident: $id:ident in $field:ident of [$($name:ident),* $(,)?])*) => {
        impl Event {
            $(
                $(#[$doc])*
                pub fn $about(&self) -> Option<&$id> {
                    match self {
                        $(Event::$name(event) => Some(&event.$field),)*
                        _ => None,
                    }
                }
            )*
        }
    };
}

about! {
    /// The cell that the event changes. (`ThreadMoved` is undone with the edit of the cell that it follows.)
    cell_id: CellId in cell_id of [
        CellInserted, CellSourceEdited, CellMoved, CellTypeChanged, CellDeleted, CellRestored,
        CellMetadataSet, CellAttachmentsSet, CellFlagsSet, CellOutputsCleared,
        ThreadMoved,
    ]

    /// The thread that the event is about.
    thread_id: ThreadId in thread_id of [
        ThreadStarted, ThreadMoved, ThreadResolved, ThreadReopened, CommentPosted, CommentEdited, CommentDeleted,
    ]

    /// The execution that the event is about.
    execution_id: ExecutionId in execution_id of [
        ExecutionRequested, ExecutionAssigned, ExecutionStarted,
        ExecutionOutputAppended, ExecutionOutputUpdated, ExecutionOutputsCleared,
        ExecutionInputRequested, ExecutionInputAnswered, ExecutionEffectRefused,
        ExecutionCompleted, ExecutionCancelRequested, ExecutionBlocked, ExecutionCancelled, ExecutionLost,
        ExecutionOutputRecovered, ExecutionOutputsMoved,
    ]

    /// The kernel session that the event is about, where it is about no execution.
    kernel_session_id: KernelSessionId in kernel_session of [
        KernelLaunchRequested, KernelLaunchClaimed, KernelSessionStarted, KernelLaunchFailed,
        KernelInterruptRequested, KernelRestartRequested, KernelShutdownRequested, KernelSessionEnded,
        KernelFunctionsRegistered,
    ]

    /// The turn whose progress the event is. Messages and tool calls are not among these events: they name their turn
    /// themselves.
    turn_id: TurnId in turn_id of [
        TurnStarted, TurnModelCallStarted, TurnModelCallFinished, TurnFinished, TurnCancelled, TurnFailed,
    ]

    /// The conversation that the event is about. Events of a turn carry the turn's id as their correlation.
    conversation_id: ConversationId in conversation_id of [
        ConversationStarted, MessagePosted, MessageFlagged, TurnStarted,
    ]

    /// The tool call that the event is about.
    tool_call_id: ToolCallId in call_id of [
        ToolCallRequested, ToolCallConfirmed, ToolCallDenied, ToolCallWithdrawn, ToolCallVoided, ToolCallExpired,
        ToolCallStarted, ToolCallExecuted,
    ]

    /// The schedule that the event is about.
    schedule_id: ScheduleId in schedule_id of [
        ScheduleSet, ScheduleRemoved, ScheduledRunStarted, ScheduledRunEnded,
    ]
}

impl Event {
    /// Id by which the store indexes the event: its cell, thread, execution, tool call, turn, conversation, kernel
    /// session or schedule. `None` for the notebook as a whole.
    pub fn subject(&self) -> Option<&str> {
        let of_run = self.execution_id().map(ExecutionId::as_str);
        of_run
            .or_else(|| self.cell_id().map(CellId::as_str))
            .or_else(|| self.thread_id().map(ThreadId::as_str))
            .or_else(|| self.tool_call_id().map(ToolCallId::as_str))
            .or_else(|| self.turn_id().map(TurnId::as_str))
            .or_else(|| self.conversation_id().map(ConversationId::as_str))
            .or_else(|| self.kernel_session_id().map(KernelSessionId::as_str))
            .or_else(|| self.schedule_id().map(ScheduleId::as_str))
    }
}

macro_rules! ends {
    ($($name:ident),* $(,)?) => {$(
        impl $name {
            /// Sentence for people about the end.
            pub fn sentence(&self) -> String {
                sentence(&self.cause, self.detail.as_deref())
            }
        }
    )*};
}

ends! {
    ExecutionCancelled, ExecutionLost, KernelLaunchFailed, KernelSessionEnded, LostKernel, TurnFailed, ToolCallWithdrawn, ToolCallVoided,
}

impl ExecutionBlocked {
    /// Sentence for people about the block.
    pub fn sentence(&self) -> String {
        BLOCKED.to_owned()
    }
}

impl TurnModelCallFinished {
    /// Sentence for people about a failed model call; `None`: it was answered.
    pub fn sentence(&self) -> Option<String> {
        self.failure.as_ref().map(|cause| sentence(cause, self.detail.as_deref()))
    }
}
