//! Builds the command that copies a notebook's state into a new notebook. Pure.

use std::sync::Arc;

use notarium_core::{
    BlobPart, Cell, CellFlagChanges, CellFlags, CellId, CellReply, CellType, Command, Document, Execution, ForkOrigin,
    InsertCell, Place, RawObject, Reactivity,
};

use crate::notebooks::files::export;
use crate::rooms::metadata::without_template_mark;

/// `CreateNotebook`, then every cell with its shown outputs.
pub fn command(source: &Document, title: String, with_outputs: bool) -> Command {
    let forked_from = Some(ForkOrigin { notebook: source.notebook_id.clone(), version: source.version });
    let mut commands =
        vec![Command::CreateNotebook { title, metadata: without_template_mark(&source.metadata), forked_from }];
    for (cell_id, cell) in source.ordered_cells() {
        commands.push(insert(cell_id, cell, with_outputs));
        let latest =
            source.latest_execution(cell_id).filter(|(_, execution)| with_outputs && execution.status.is_finished());
        commands.extend(latest.map(|(_, execution)| record(cell_id, execution)));
    }
    if source.reactivity != Reactivity::Off {
        commands.push(Command::SetReactivity { reactivity: source.reactivity });
    }
    Command::Batch { commands }
}

/// Blobs that the new notebook will name.
pub fn copied_blobs(source: &Document, with_outputs: bool) -> Vec<BlobPart> {
    if !with_outputs {
        return Vec::new();
    }
    export::named_blobs(source, &source.order).into_iter().cloned().collect()
}

/// The notebook with executions without outputs and prompts without replies.
pub fn without_outputs(notebook: &Document) -> Document {
    let mut notebook = notebook.clone();
    for execution in notebook.executions.values_mut().filter(|execution| !execution.outputs.is_empty()) {
        Arc::make_mut(execution).outputs.clear();
    }
    for cell in notebook.cells.values_mut().filter(|cell| cell.reply.is_some()) {
        Arc::make_mut(cell).reply = None;
    }
    notebook
}

/// Command that inserts an empty code cell.
pub fn empty_cell() -> Command {
    Command::InsertCell(InsertCell {
        cell_id: None,
        cell_type: CellType::Code,
        source: String::new(),
        place: Place::End,
        metadata: RawObject::default(),
        attachments: None,
        flags: CellFlagChanges::default(),
        reply: None,
    })
}

fn insert(cell_id: &CellId, cell: &Cell, with_reply: bool) -> Command {
    let content = &cell.content;
    Command::InsertCell(InsertCell {
        cell_id: Some(cell_id.clone()),
        cell_type: content.cell_type,
        source: content.source.clone(),
        place: Place::End,
        metadata: content.metadata.clone(),
        attachments: content.attachments.clone(),
        flags: changes(&content.flags),
        reply: cell.reply.as_deref().filter(|_| with_reply).map(|reply| Box::new(CellReply::from(reply).closed())),
    })
}

fn changes(flags: &CellFlags) -> CellFlagChanges {
    let on = |flag: bool| flag.then_some(true);
    CellFlagChanges {
        pinned: on(flags.pinned),
        skipped: on(flags.skipped),
        source_hidden: on(flags.source_hidden),
        outputs_hidden: on(flags.outputs_hidden),
        heading_collapsed: on(flags.heading_collapsed),
        exported: on(flags.exported),
        bookmark: flags.bookmark,
    }
}

fn record(cell_id: &CellId, execution: &Execution) -> Command {
    Command::RecordExecution {
        cell_id: cell_id.clone(),
        outputs: execution.outputs.clone(),
        execution_count: execution.execution_count,
    }
}
