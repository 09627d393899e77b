//! What several slices refuse alike: sizes and characters of what a command brings, and writing where nothing is written.

use crate::limits::Limits;
use crate::rejection::{RejectionCode, Result};
use notarium_record::{Document, RawObject};

/// Trims, and refuses what no list or file system could show.
pub(crate) fn checked_title(limits: &Limits, title: &str) -> Result<String> {
    let title = title.trim();
    RejectionCode::InvalidValue.when(title.is_empty(), || "a name has at least one visible character")?;
    RejectionCode::LimitExceeded.when(title.chars().count() > limits.max_title_characters, || {
        format!("a name has at most {} characters: shorten it", limits.max_title_characters)
    })?;
    let is_odd = title.chars().any(char::is_control);
    RejectionCode::InvalidValue.when(is_odd, || "a name has no control characters or line breaks")?;
    Ok(title.to_owned())
}

pub(crate) fn check_metadata(limits: &Limits, metadata: &RawObject) -> Result<()> {
    RejectionCode::LimitExceeded.when(metadata.get().len() > limits.max_metadata_bytes, || {
        format!("metadata has at most {} bytes: put large data elsewhere", limits.max_metadata_bytes)
    })
}

/// An archived notebook is read, exported and forked, not changed or run.
pub(crate) fn check_not_archived(notebook: &Document) -> Result<()> {
    RejectionCode::NotebookArchived.when(notebook.archived, || "the notebook is archived: unarchive it first")
}

pub(crate) fn check_source(limits: &Limits, source: &str) -> Result<()> {
    RejectionCode::LimitExceeded.when(source.len() > limits.max_source_bytes, || {
        format!("a cell's source has at most {} bytes: split the cell", limits.max_source_bytes)
    })?;
    RejectionCode::InvalidValue
        .when(source.contains('\r'), || "a source has line breaks \\n only: replace \\r\\n and \\r")
}

pub(crate) fn check_attachments(limits: &Limits, attachments: Option<&RawObject>) -> Result<()> {
    let bytes = attachments.map_or(0, |object| object.get().len());
    RejectionCode::LimitExceeded.when(bytes > limits.max_attachments_bytes, || {
        format!("attachments of a cell have at most {} bytes: link large files", limits.max_attachments_bytes)
    })
}
