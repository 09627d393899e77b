//! Validations shared by slices: sizes, characters, archived notebooks.

use crate::context::{Context, History, Limits};
use crate::values::decision::{RejectionCode, Result};
use crate::values::details::LimitName;
use notarium_record::{Cell, CellDeleted, CellId, Document, Event, KernelSession, KernelSessionId, RawObject};

/// Trims a title; refuses an empty or long one, and control characters.
pub(crate) fn checked_title(limits: &Limits, title: &str) -> Result<String> {
    let title = title.trim();
    RejectionCode::InvalidValue.when(title.is_empty(), || "a name has at least one visible character")?;
    LimitName::Title.when(title.chars().count() > limits.max_title_characters, limits.max_title_characters, || {
        format!("a name has at most {} characters: shorten it", limits.max_title_characters)
    })?;
    let is_odd = title.chars().any(char::is_control);
    RejectionCode::InvalidValue.when(is_odd, || "a name has no control characters or line breaks")?;
    Ok(title.to_owned())
}

pub(crate) fn check_metadata(limits: &Limits, metadata: &RawObject) -> Result<()> {
    LimitName::Metadata.when(metadata.get().len() > limits.max_metadata_bytes, limits.max_metadata_bytes, || {
        format!("metadata has at most {} bytes: put large data elsewhere", limits.max_metadata_bytes)
    })
}

/// Refuses to change or run an archived notebook; it can only be read, exported and forked.
pub(crate) fn check_not_archived(notebook: &Document) -> Result<()> {
    RejectionCode::NotebookArchived.when(notebook.archived, || "the notebook is archived: unarchive it first")
}

pub(crate) fn check_source(limits: &Limits, source: &str) -> Result<()> {
    LimitName::Source.when(source.len() > limits.max_source_bytes, limits.max_source_bytes, || {
        format!("a cell's source has at most {} bytes: split the cell", limits.max_source_bytes)
    })?;
    RejectionCode::InvalidValue
        .when(source.contains('\r'), || "a source has line breaks \\n only: replace \\r\\n and \\r")
}

pub(crate) fn check_attachments(limits: &Limits, attachments: Option<&RawObject>) -> Result<()> {
    let bytes = attachments.map_or(0, |object| object.get().len());
    LimitName::Attachments.when(bytes > limits.max_attachments_bytes, limits.max_attachments_bytes, || {
        format!("attachments of a cell have at most {} bytes: link large files", limits.max_attachments_bytes)
    })
}

/// Returns the live cell. The refusal distinguishes a deleted cell from one that never existed.
pub(crate) fn live_cell<'a>(notebook: &'a Document, context: &Context, cell_id: &CellId) -> Result<&'a Cell> {
    if let Some(cell) = notebook.cells.get(cell_id) {
        return Ok(cell);
    }
    Err(match find_deleted(&context.history, cell_id) {
        Some(_) => RejectionCode::CellDeleted.because(format!("cell {cell_id} is in the trash: restore it first")),
        None => RejectionCode::UnknownCell.because(format!("no cell {cell_id} in this notebook: check the id")),
    })
}

pub(crate) fn find_deleted<'a>(history: &'a History, cell_id: &CellId) -> Option<&'a CellDeleted> {
    history.events.iter().rev().find_map(|recorded| match &recorded.event {
        Event::CellDeleted(event) if event.cell_id == *cell_id => Some(event),
        _ => None,
    })
}

pub(crate) fn kernel_session<'a>(notebook: &'a Document, id: &KernelSessionId) -> Result<&'a KernelSession> {
    let unknown = || format!("no kernel session {id} in this notebook: it has ended, or never was");
    notebook.kernels.get(id).ok_or_else(|| RejectionCode::UnknownKernelSession.because(unknown()))
}
