//! Subject of an event: the id by which the store indexes it and finds it again.

use crate::event::Event;
use crate::ids::{CellId, ConversationId, ExecutionId, KernelSessionId, ThreadId, ToolCallId, TurnId};

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
        ExecutionInputRequested, ExecutionInputAnswered,
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
}

impl Event {
    /// Id by which the store indexes the event: its cell, thread, execution, tool call, turn, conversation or kernel
    /// session. `None` for the notebook as a whole.
    pub fn subject(&self) -> Option<&str> {
        let of_run = self.execution_id().map(ExecutionId::as_str);
        of_run
            .or_else(|| self.cell_id().map(CellId::as_str))
            .or_else(|| self.thread_id().map(ThreadId::as_str))
            .or_else(|| self.tool_call_id().map(ToolCallId::as_str))
            .or_else(|| self.turn_id().map(TurnId::as_str))
            .or_else(|| self.conversation_id().map(ConversationId::as_str))
            .or_else(|| self.kernel_session_id().map(KernelSessionId::as_str))
    }
}
