//! Applies events of executions. The document has the unfinished ones, and those that a live cell shows.

use std::sync::Arc;

use crate::document::Document;
use crate::envelope::Recorded;
use crate::event::{Event, ExecutionRequested};
use crate::ids::ExecutionId;
use crate::output::Output;
use crate::state::Execution;

pub(crate) fn apply(document: &mut Document, recorded: &Recorded) {
    match &recorded.event {
        Event::ExecutionRequested(event) => begin(document, recorded, event),
        Event::ExecutionOutputUpdated(event) => {
            update_display(document, &event.display_id, &event.output);
            advance(document, &event.execution_id, recorded);
        }
        event => {
            if let Some(id) = event.execution_id() {
                advance(document, id, recorded);
                forget_unshown(document, id);
            }
        }
    }
}

fn begin(document: &mut Document, recorded: &Recorded, event: &ExecutionRequested) {
    let execution = Arc::new(Execution::begin(recorded, event));
    document.executions.insert(event.execution_id.clone(), execution);
    let Some(cell_id) = event.subject.cell_id().filter(|id| document.cells.contains_key(*id)) else { return };
    if let Some(previous) = document.latest.insert(cell_id.clone(), event.execution_id.clone()) {
        forget_unshown(document, &previous);
    }
}

fn advance(document: &mut Document, id: &ExecutionId, recorded: &Recorded) {
    if let Some(execution) = document.executions.get_mut(id) {
        Arc::make_mut(execution).advance(recorded);
    }
}

fn update_display(document: &mut Document, display_id: &str, output: &Output) {
    let shows = |execution: &Execution| execution.outputs.iter().any(|shown| shown.is_display(display_id));
    for execution in document.executions.values_mut().filter(|execution| shows(execution)) {
        Arc::make_mut(execution).update_display(display_id, output);
    }
}

/// Removes an execution that has ended and that no live cell shows.
pub(crate) fn forget_unshown(document: &mut Document, id: &ExecutionId) {
    let Some(execution) = document.executions.get(id) else { return };
    let is_shown = execution.subject.cell_id().and_then(|cell_id| document.latest.get(cell_id)) == Some(id);
    if execution.status.is_finished() && !is_shown {
        document.executions.remove(id);
    }
}
