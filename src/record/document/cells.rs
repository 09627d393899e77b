//! Applies events of cells: content, order, and the execution that each cell shows.

use std::sync::Arc;

use crate::cell::CellContent;
use crate::document::Document;
use crate::envelope::Recorded;
use crate::event::{CellMoved, CellRestored, CellSourceEdited, Event};
use crate::ids::{CellId, Version};
use crate::reply::CellReply;
use crate::state::{Cell, Execution, Reply};

use crate::apply::comments;
use crate::apply::executions::forget_unshown;

pub(crate) fn apply(document: &mut Document, recorded: &Recorded) {
    let version = recorded.envelope.version;
    match &recorded.event {
        Event::CellInserted(event) => insert(document, &event.cell_id, &event.cell, event.reply.as_ref(), version),
        Event::CellRestored(event) => restore(document, event, version),
        Event::CellDeleted(event) => remove(document, &event.cell_id),
        Event::CellMoved(event) => apply_moved(document, event, version),
        Event::CellSourceEdited(event) => edit(document, event, version),
        Event::CellTypeChanged(event) => change(document, &event.cell_id, |cell| {
            cell.content.cell_type = event.cell_type;
            cell.cell_version = version;
        }),
        Event::CellMetadataSet(event) => {
            change(document, &event.cell_id, |cell| cell.content.metadata = event.metadata.clone());
        }
        Event::CellAttachmentsSet(event) => {
            change(document, &event.cell_id, |cell| cell.content.attachments.clone_from(&event.attachments));
        }
        Event::CellFlagsSet(event) => change(document, &event.cell_id, |cell| cell.content.flags = event.flags),
        Event::CellOutputsCleared(event) => {
            document.latest.remove(&event.cell_id);
            forget_unshown(document, &event.execution_id);
        }
        _ => {}
    }
}

fn change(document: &mut Document, cell_id: &CellId, with: impl FnOnce(&mut Cell)) {
    if let Some(cell) = document.cells.get_mut(cell_id) {
        with(Arc::make_mut(cell));
    }
}

/// Applies an edit. `decide` makes only changes that fit; otherwise the text and the ranges in it stay as they are.
fn edit(document: &mut Document, event: &CellSourceEdited, version: Version) {
    let Some(cell) = document.cells.get_mut(&event.cell_id) else { return };
    let cell = Arc::make_mut(cell);
    if event.change.apply_to(&mut cell.content.source).is_ok() {
        cell.source_version = version;
        cell.cell_version = version;
        comments::follow(document, &event.cell_id, &event.change);
    }
}

fn insert(
    document: &mut Document,
    cell_id: &CellId,
    content: &CellContent,
    reply: Option<&CellReply>,
    version: Version,
) {
    remove(document, cell_id);
    let reply = reply.map(|reply| Arc::new(Reply::from(reply)));
    let cell = Cell { content: content.clone(), reply, cell_version: version, source_version: version };
    document.cells.insert(cell_id.clone(), Arc::new(cell));
    place(document, cell_id);
}

/// Puts a cell of `cells` into `order`, by order key, then id.
fn place(document: &mut Document, cell_id: &CellId) {
    let Some(cell) = document.cells.get(cell_id) else { return };
    let index = document.place_of(&cell.content.order_key, cell_id);
    document.order.insert(index, cell_id.clone());
}

fn restore(document: &mut Document, event: &CellRestored, version: Version) {
    insert(document, &event.cell_id, &event.cell, event.reply.as_ref(), version);
    let Some(id) = &event.latest_execution else { return };
    document.latest.insert(event.cell_id.clone(), id.clone());
    if let Some(past) = &event.execution {
        document.executions.entry(id.clone()).or_insert_with(|| Arc::new(Execution::from((**past).clone())));
    }
}

fn remove(document: &mut Document, cell_id: &CellId) {
    take_out_of_order(document, cell_id);
    if document.cells.remove(cell_id).is_none() {
        return;
    }
    if let Some(execution_id) = document.latest.remove(cell_id) {
        forget_unshown(document, &execution_id);
    }
}

fn apply_moved(document: &mut Document, event: &CellMoved, version: Version) {
    take_out_of_order(document, &event.cell_id);
    change(document, &event.cell_id, |cell| {
        cell.content.order_key = event.order_key.clone();
        cell.cell_version = version;
    });
    place(document, &event.cell_id);
}

/// Call while the cell still has the key by which `order` has it.
fn take_out_of_order(document: &mut Document, cell_id: &CellId) {
    if let Some(index) = document.position(cell_id) {
        document.order.remove(index);
    }
}
