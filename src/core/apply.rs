//! From a recorded event to the next state. This file dispatches; the slices compute.

use crate::envelope::Recorded;
use crate::event::Event;
use crate::notebook::Notebook;
use crate::{access, cells, conversations, executions, grants, kernels, lifecycle, tool_calls, undo};

/// Folds one event in. Total: it cannot fail. An event that was applied already (its version is not later) changes nothing.
pub fn apply(notebook: &mut Notebook, recorded: &Recorded) {
    let envelope = &recorded.envelope;
    if envelope.version <= notebook.version {
        return;
    }
    notebook.version = envelope.version;
    notebook.updated_at = envelope.recorded_at;
    apply_event(notebook, recorded);
    undo::apply(notebook, recorded);
}

fn apply_event(notebook: &mut Notebook, recorded: &Recorded) {
    match &recorded.event {
        Event::NotebookCreated(event) => lifecycle::apply_created(notebook, recorded, event),
        Event::NotebookForked(_) | Event::UndoSkipped(_) => {}
        Event::NotebookRenamed(event) => lifecycle::apply_renamed(notebook, event),
        Event::NotebookMetadataSet(event) => lifecycle::apply_metadata(notebook, event),
        Event::NotebookArchived(_) => notebook.archived = true,
        Event::NotebookUnarchived(_) => notebook.archived = false,
        Event::VersionNamed(event) => lifecycle::apply_named(notebook, event),
        Event::AccessGranted(event) => access::apply_granted(notebook, event),
        Event::AccessRevoked(event) => access::apply_revoked(notebook, event),
        Event::CellInserted(_)
        | Event::CellSourceEdited(_)
        | Event::CellMoved(_)
        | Event::CellTypeChanged(_)
        | Event::CellDeleted(_)
        | Event::CellRestored(_)
        | Event::CellMetadataSet(_)
        | Event::CellAttachmentsSet(_)
        | Event::CellFlagsSet(_)
        | Event::CellOutputsCleared(_) => cells::apply(notebook, recorded),
        Event::ExecutionRequested(_)
        | Event::ExecutionAssigned(_)
        | Event::ExecutionStarted(_)
        | Event::OutputAppended(_)
        | Event::OutputUpdated(_)
        | Event::OutputsCleared(_)
        | Event::InputRequested(_)
        | Event::InputAnswered(_)
        | Event::ExecutionCompleted(_)
        | Event::ExecutionCancelled(_)
        | Event::ExecutionLost(_)
        | Event::OutputRecovered(_) => executions::apply(notebook, recorded),
        Event::KernelLaunchRequested(_)
        | Event::KernelLaunchClaimed(_)
        | Event::KernelSessionStarted(_)
        | Event::KernelLaunchFailed(_)
        | Event::InterruptRequested(_)
        | Event::RestartRequested(_)
        | Event::ShutdownRequested(_)
        | Event::FunctionsRegistered(_)
        | Event::KernelSessionEnded(_) => kernels::apply(notebook, recorded),
        Event::PolicyChanged(_)
        | Event::ConversationStarted(_)
        | Event::MessagePosted(_)
        | Event::MessageFlagged(_)
        | Event::TurnStarted(_)
        | Event::ModelCallStarted(_)
        | Event::ModelCallFinished(_)
        | Event::TurnFinished(_)
        | Event::TurnCancelled(_)
        | Event::TurnFailed(_) => conversations::apply(notebook, recorded),
        Event::ToolCallRequested(_)
        | Event::ToolCallConfirmed(_)
        | Event::ToolCallDenied(_)
        | Event::ToolCallWithdrawn(_)
        | Event::ToolCallVoided(_)
        | Event::ToolCallExpired(_)
        | Event::ToolCallStarted(_)
        | Event::ToolCallExecuted(_) => tool_calls::apply(notebook, recorded),
        Event::GrantIssued(_) | Event::GrantRevoked(_) => grants::apply(notebook, recorded),
    }
}
