//! Restores a notebook: its cells, their order and the notebook's metadata become as they were at an earlier version.
//! The title, runs, outputs, replies, comments, access and conversations stay.
//!
//! `NotebookRestored` says which version; the ordinary events after it make the change. All of them are one undo group.

use std::sync::Arc;

use crate::cells::{self, edited};
use crate::checks::find_deleted;
use crate::command::Command;
use crate::context::Context;
use crate::notebook::{Notebook, provisional};
use crate::reactive::removal_after;
use crate::values::decision::{Decided, Decision, Rejection, RejectionCode, Result};
use crate::values::details::LimitName;
use notarium_record::text;
use notarium_record::{
    Cell, CellAttachmentsSet, CellContent, CellFlagsSet, CellId, CellMetadataSet, CellMoved, CellRestored,
    CellTypeChanged, Document, HistoryQuery, NotebookMetadataSet, NotebookRestored, Version,
};

/// The version whose state [`crate::decide`] needs as [`Context::past`]. A restoration in a batch is refused.
pub fn required_past(command: &Command) -> Option<Version> {
    match command {
        Command::RestoreNotebook(command) => Some(command.version),
        _ => None,
    }
}

/// Queries the deletions of the cells that return from the trash.
pub(crate) fn required_history(notebook: &Document, context: &Context) -> Vec<HistoryQuery> {
    let Some(past) = &context.past else { return Vec::new() };
    let returning = past.order.iter().filter(|cell_id| !notebook.cells.contains_key(*cell_id));
    returning.map(|cell_id| HistoryQuery::DeletedCell { cell_id: cell_id.clone() }).collect()
}

pub(crate) fn decide(notebook: &Notebook, context: &mut Context, version: Version) -> Result<Decision> {
    RejectionCode::VersionInFuture.when(version == 0 || version > notebook.version, || {
        format!("version {version} does not exist: the notebook is at {}", notebook.version)
    })?;
    let past = context.past.take().filter(|past| past.version == version);
    let past = past.ok_or_else(|| RejectionCode::InvalidValue.because(ALONE))?;
    let limit = context.limits.max_cells;
    LimitName::Cells.when(past.cells.len() > limit, limit, || {
        format!("version {version} has more cells than a notebook may hold now ({limit})")
    })?;
    let mut restoration = Restoration { scratch: notebook.clone(), decision: Decision::nothing() };
    restoration.push(context, NotebookRestored { version }.into());
    restoration.take_away(context, &past);
    restoration.bring_back(context, &past)?;
    for (cell_id, cell) in past.ordered_cells() {
        restoration.restore_cell(context, cell_id, &cell.content)?;
    }
    restoration.restore_metadata(context, &past);
    // The mark alone would say that something happened.
    let is_so = restoration.decision.events.len() == 1;
    Ok(if is_so { Decision::nothing() } else { restoration.decision })
}

const ALONE: &str = "RestoreNotebook is no part of a batch: send it as a command of its own";

/// Events decided so far, and the state that they lead to.
struct Restoration {
    scratch: Notebook,
    decision: Decision,
}

impl Restoration {
    fn push(&mut self, context: &Context, decided: Decided) {
        self.scratch.apply(&provisional(&self.scratch, context, &decided));
        self.decision.events.push(decided);
    }

    /// Deletes the cells that the past does not have.
    fn take_away(&mut self, context: &mut Context, past: &Document) {
        let later = self.scratch.order.iter().filter(|cell_id| !past.cells.contains_key(*cell_id));
        for cell_id in later.cloned().collect::<Vec<_>>() {
            let Some(cell) = self.scratch.cells.get(&cell_id) else { continue };
            let mut events = cells::deletion(&self.scratch, &cell_id, cell);
            events.extend(removal_after(&self.scratch, context, &cell_id));
            events.into_iter().for_each(|decided| self.push(context, decided));
        }
    }

    /// Takes cells out of the trash, with the outputs and replies that they showed at last.
    fn bring_back(&mut self, context: &Context, past: &Document) -> Result<()> {
        for (cell_id, cell) in past.ordered_cells() {
            if self.scratch.cells.contains_key(cell_id) {
                continue;
            }
            let deleted = find_deleted(&context.history, cell_id).ok_or_else(|| not_found(cell_id))?;
            let execution = deleted.latest_execution.as_ref().and_then(|id| context.history.executions.get(id));
            let execution = execution.map(|replayed| replayed.execution.clone());
            let restored = cells::restoration(&self.scratch, cell_id, deleted, execution);
            // All cells get the keys that they had, which differ from each other.
            let content = CellContent { order_key: cell.content.order_key.clone(), ..restored.cell };
            self.push(context, CellRestored { cell: content, ..restored }.into());
            self.decision.outcome.cells.push(cell_id.clone());
        }
        Ok(())
    }

    fn restore_cell(&mut self, context: &Context, cell_id: &CellId, past: &CellContent) -> Result<()> {
        let Some(cell) = self.scratch.cells.get(cell_id).cloned() else { return Err(not_found(cell_id)) };
        let texts = edited(context, cell_id.clone(), &cell, text::diff(&cell.content.source, &past.source))?;
        for decided in properties(cell_id, &cell, past).into_iter().chain(texts.events) {
            self.push(context, decided);
        }
        Ok(())
    }

    fn restore_metadata(&mut self, context: &Context, past: &Document) {
        let previous = self.scratch.metadata.clone();
        if previous != past.metadata {
            self.push(context, NotebookMetadataSet { metadata: past.metadata.clone(), previous }.into());
        }
    }
}

fn not_found(cell_id: &CellId) -> Rejection {
    let message = format!("nothing was changed: the deletion of cell {cell_id} cannot be read: send it again");
    RejectionCode::Unavailable.because(message)
}

/// Events that make all of a cell but its text as it was.
fn properties(cell_id: &CellId, cell: &Arc<Cell>, past: &CellContent) -> Vec<Decided> {
    let (now, cell_id) = (cell.content.clone(), || cell_id.clone());
    let mut events = Vec::new();
    if now.cell_type != past.cell_type {
        events.push(CellTypeChanged { cell_id: cell_id(), cell_type: past.cell_type, previous: now.cell_type }.into());
    }
    if now.order_key != past.order_key {
        events
            .push(CellMoved { cell_id: cell_id(), order_key: past.order_key.clone(), previous: now.order_key }.into());
    }
    if now.metadata != past.metadata {
        let metadata = past.metadata.clone();
        events.push(CellMetadataSet { cell_id: cell_id(), metadata, previous: now.metadata }.into());
    }
    if now.attachments != past.attachments {
        let attachments = past.attachments.clone();
        events.push(CellAttachmentsSet { cell_id: cell_id(), attachments, previous: now.attachments }.into());
    }
    if now.flags != past.flags {
        events.push(CellFlagsSet { cell_id: cell_id(), flags: past.flags, previous: now.flags }.into());
    }
    events
}
