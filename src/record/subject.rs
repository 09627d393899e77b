//! What an event is about.

use crate::event::*;
use crate::ids::{CellId, ConversationId, ExecutionId, KernelSessionId, ThreadId, ToolCallId, TurnId};

impl Event {
    /// The cell that the event is about.
    pub fn cell_id(&self) -> Option<&CellId> {
        match self {
            Event::CellInserted(event) => Some(&event.cell_id),
            Event::CellSourceEdited(event) => Some(&event.cell_id),
            Event::CellMoved(event) => Some(&event.cell_id),
            Event::CellTypeChanged(event) => Some(&event.cell_id),
            Event::CellDeleted(event) => Some(&event.cell_id),
            Event::CellRestored(event) => Some(&event.cell_id),
            Event::CellMetadataSet(event) => Some(&event.cell_id),
            Event::CellAttachmentsSet(event) => Some(&event.cell_id),
            Event::CellFlagsSet(event) => Some(&event.cell_id),
            Event::CellOutputsCleared(event) => Some(&event.cell_id),
            // It is undone with the edit of the cell that it follows.
            Event::ThreadMoved(event) => Some(&event.cell_id),
            _ => None,
        }
    }
}

impl Event {
    /// The thread that the event is about.
    pub fn thread_id(&self) -> Option<&ThreadId> {
        match self {
            Event::ThreadStarted(event) => Some(&event.thread_id),
            Event::ThreadMoved(event) => Some(&event.thread_id),
            Event::ThreadResolved(event) => Some(&event.thread_id),
            Event::ThreadReopened(event) => Some(&event.thread_id),
            Event::CommentPosted(event) => Some(&event.thread_id),
            Event::CommentEdited(event) => Some(&event.thread_id),
            Event::CommentDeleted(event) => Some(&event.thread_id),
            _ => None,
        }
    }

    /// The execution that the event is about.
    pub fn execution_id(&self) -> Option<&ExecutionId> {
        match self {
            Event::ExecutionRequested(event) => Some(&event.execution_id),
            Event::ExecutionAssigned(event) => Some(&event.execution_id),
            Event::ExecutionStarted(event) => Some(&event.execution_id),
            Event::ExecutionOutputAppended(event) => Some(&event.execution_id),
            Event::ExecutionOutputUpdated(event) => Some(&event.execution_id),
            Event::ExecutionOutputsCleared(event) => Some(&event.execution_id),
            Event::ExecutionInputRequested(event) => Some(&event.execution_id),
            Event::ExecutionInputAnswered(event) => Some(&event.execution_id),
            Event::ExecutionCompleted(event) => Some(&event.execution_id),
            Event::ExecutionCancelRequested(event) => Some(&event.execution_id),
            Event::ExecutionBlocked(event) => Some(&event.execution_id),
            Event::ExecutionCancelled(event) => Some(&event.execution_id),
            Event::ExecutionLost(event) => Some(&event.execution_id),
            Event::ExecutionOutputRecovered(event) => Some(&event.execution_id),
            Event::ExecutionOutputsMoved(event) => Some(&event.execution_id),
            _ => None,
        }
    }

    /// What the store indexes the event by: its cell, thread, execution, tool call, turn, conversation or kernel session; `None` for
    /// the notebook as a whole.
    pub fn subject(&self) -> Option<&str> {
        if let Some(id) = self.execution_id() {
            return Some(id.as_str());
        }
        if let Some(id) = self.cell_id() {
            return Some(id.as_str());
        }
        if let Some(id) = self.thread_id() {
            return Some(id.as_str());
        }
        if let Some(id) = self.tool_call_id() {
            return Some(id.as_str());
        }
        if let Some(id) = self.turn_id() {
            return Some(id.as_str());
        }
        if let Some(id) = self.conversation_id() {
            return Some(id.as_str());
        }
        self.kernel_session_id().map(KernelSessionId::as_str)
    }
}

impl Event {
    /// The kernel session that the event is about, where it is about no execution.
    pub fn kernel_session_id(&self) -> Option<&KernelSessionId> {
        match self {
            Event::KernelLaunchRequested(event) => Some(&event.kernel_session),
            Event::KernelLaunchClaimed(event) => Some(&event.kernel_session),
            Event::KernelSessionStarted(event) => Some(&event.kernel_session),
            Event::KernelLaunchFailed(event) => Some(&event.kernel_session),
            Event::KernelInterruptRequested(event) => Some(&event.kernel_session),
            Event::KernelRestartRequested(event) => Some(&event.kernel_session),
            Event::KernelShutdownRequested(event) => Some(&event.kernel_session),
            Event::KernelSessionEnded(event) => Some(&event.kernel_session),
            Event::KernelFunctionsRegistered(event) => Some(&event.kernel_session),
            _ => None,
        }
    }
}

impl Event {
    /// The turn whose progress the event is. Messages and tool calls are not: they name their turn themselves.
    pub fn turn_id(&self) -> Option<&TurnId> {
        match self {
            Event::TurnStarted(TurnStarted { turn_id, .. })
            | Event::TurnModelCallStarted(TurnModelCallStarted { turn_id, .. })
            | Event::TurnModelCallFinished(TurnModelCallFinished { turn_id, .. })
            | Event::TurnFinished(TurnFinished { turn_id, .. })
            | Event::TurnCancelled(TurnCancelled { turn_id })
            | Event::TurnFailed(TurnFailed { turn_id, .. }) => Some(turn_id),
            _ => None,
        }
    }

    /// The conversation that the event is about. Events of a turn carry the turn's id as their correlation.
    pub fn conversation_id(&self) -> Option<&ConversationId> {
        match self {
            Event::ConversationStarted(ConversationStarted { conversation_id, .. })
            | Event::MessagePosted(MessagePosted { conversation_id, .. })
            | Event::MessageFlagged(MessageFlagged { conversation_id, .. })
            | Event::TurnStarted(TurnStarted { conversation_id, .. }) => Some(conversation_id),
            _ => None,
        }
    }
}

impl Event {
    /// The tool call that the event is about.
    pub fn tool_call_id(&self) -> Option<&ToolCallId> {
        match self {
            Event::ToolCallRequested(ToolCallRequested { call_id, .. })
            | Event::ToolCallConfirmed(ToolCallConfirmed { call_id, .. })
            | Event::ToolCallDenied(ToolCallDenied { call_id, .. })
            | Event::ToolCallWithdrawn(ToolCallWithdrawn { call_id, .. })
            | Event::ToolCallVoided(ToolCallVoided { call_id, .. })
            | Event::ToolCallExpired(ToolCallExpired { call_id })
            | Event::ToolCallStarted(ToolCallStarted { call_id, .. })
            | Event::ToolCallExecuted(ToolCallExecuted { call_id, .. }) => Some(call_id),
            _ => None,
        }
    }
}
