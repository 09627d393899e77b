//! Events: permanent facts, in the past tense. The envelope has `type` and `schema`; the payloads are in the files of
//! `event/`.
//!
//! Never change the meaning of a field. A new shape is a new `schema` number of that type, with an upcaster in
//! `upcast.rs` and a golden file in `protocol/golden/events/`. `protocol/versions.md` lists changes that need no new
//! number.

mod assistants;
mod cells;
mod comments;
mod executions;
mod kernels;
mod notebook;
mod tool_calls;

pub use self::assistants::*;
pub use self::cells::*;
pub use self::comments::*;
pub use self::executions::*;
pub use self::kernels::*;
pub use self::notebook::*;
pub use self::tool_calls::*;

use crate::json::RawJson;
use crate::upcast::{self, DecodeError};

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
        AccessGranted,
        AccessRevoked,
        NotebookPolicyChanged,
        NotebookReactivitySet,
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
}
