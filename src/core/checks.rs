//! What several slices refuse alike: sizes and characters of what a command brings, and writing where nothing is written.

use crate::limits::Limits;
use crate::rejection::{Rejection, RejectionCode};
use notarium_record::{Document, RawObject};

/// Trims, and refuses what no list or file system could show.
pub(crate) fn checked_title(limits: &Limits, title: &str) -> Result<String, Rejection> {
    let title = title.trim();
    if title.is_empty() {
        return Err(Rejection::new(RejectionCode::InvalidValue, "a name has at least one visible character"));
    }
    if title.chars().count() > limits.max_title_characters {
        let message = format!("a name has at most {} characters: shorten it", limits.max_title_characters);
        return Err(Rejection::new(RejectionCode::LimitExceeded, message));
    }
    if title.chars().any(char::is_control) {
        return Err(Rejection::new(RejectionCode::InvalidValue, "a name has no control characters or line breaks"));
    }
    Ok(title.to_owned())
}

pub(crate) fn check_metadata(limits: &Limits, metadata: &RawObject) -> Result<(), Rejection> {
    if metadata.get().len() > limits.max_metadata_bytes {
        let message = format!("metadata has at most {} bytes: put large data elsewhere", limits.max_metadata_bytes);
        return Err(Rejection::new(RejectionCode::LimitExceeded, message));
    }
    Ok(())
}

/// An archived notebook is read, exported and forked, not changed or run.
pub(crate) fn check_not_archived(notebook: &Document) -> Result<(), Rejection> {
    if notebook.archived {
        return Err(Rejection::new(RejectionCode::NotebookArchived, "the notebook is archived: unarchive it first"));
    }
    Ok(())
}

pub(crate) fn check_source(limits: &Limits, source: &str) -> Result<(), Rejection> {
    if source.len() > limits.max_source_bytes {
        let message = format!("a cell's source has at most {} bytes: split the cell", limits.max_source_bytes);
        return Err(Rejection::new(RejectionCode::LimitExceeded, message));
    }
    if source.contains('\r') {
        let message = "a source has line breaks \\n only: replace \\r\\n and \\r";
        return Err(Rejection::new(RejectionCode::InvalidValue, message));
    }
    Ok(())
}

pub(crate) fn check_attachments(limits: &Limits, attachments: Option<&RawObject>) -> Result<(), Rejection> {
    if attachments.is_some_and(|object| object.get().len() > limits.max_attachments_bytes) {
        let message =
            format!("attachments of a cell have at most {} bytes: link large files", limits.max_attachments_bytes);
        return Err(Rejection::new(RejectionCode::LimitExceeded, message));
    }
    Ok(())
}
