//! Validations shared by slices: sizes, characters, archived notebooks.

use crate::context::{Context, History, Limits};
use crate::values::decision::{Rejection, RejectionCode, Result};
use crate::values::details::{LimitName, RejectionDetails};
use notarium_record::{
    Cell, CellDeleted, CellId, Document, Erasure, Event, KernelSession, KernelSessionId, Millis, RawObject,
};

/// Limit of a reason for an erasure.
const MAX_REASON_CHARACTERS: usize = 1_000;

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

/// Refuses everything in an erased notebook.
pub(crate) fn check_not_erased(notebook: &Document) -> Result<()> {
    notebook.erased.as_ref().map_or(Ok(()), |erasure| Err(erased(erasure)))
}

/// Refusal: the notebook was erased. The sentence says when and why, the details also by whom.
pub fn erased(erasure: &Erasure) -> Rejection {
    let Erasure { by, at, reason, version, .. } = erasure;
    let message =
        format!("the notebook was erased on {} by {}, with its versions 1 to {version}: {reason}", day(*at), by.key());
    RejectionCode::Erased.because(message).with(RejectionDetails::Erased { erasure: Box::new(erasure.clone()) })
}

/// Date of a time in UTC, as in `2026-11-29`.
pub fn day(at: Millis) -> String {
    // Days since 0000-03-01: years that begin in March have the leap day at their end.
    let days = at / 86_400_000 + 719_468;
    let of_era = days % 146_097;
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * of_year + 2) / 153;
    let (day, month) = (of_year - (153 * from_march + 2) / 5 + 1, (from_march + 2) % 12 + 1);
    let year = days / 146_097 * 400 + year_of_era + u64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}")
}

pub(crate) fn checked_reason(reason: &str) -> Result<String> {
    let reason = reason.trim();
    let is_fitting = !reason.is_empty() && reason.chars().count() <= MAX_REASON_CHARACTERS;
    RejectionCode::InvalidValue
        .when(!is_fitting, || format!("a reason has 1 to {MAX_REASON_CHARACTERS} characters: say why"))?;
    let is_odd = reason.chars().any(|character| character.is_control() && character != '\n');
    RejectionCode::InvalidValue.when(is_odd, || "a reason has no control characters")?;
    Ok(reason.to_owned())
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
