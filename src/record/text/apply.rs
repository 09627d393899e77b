//! Applies a change to a text.

use std::ops::Range;

use super::{ChangeSet, TextError, byte_offset, utf16_len};

/// Number of edits up to which each moves the tail of the text. With more, a rebuilt text is cheaper.
const MAX_EDITS_IN_PLACE: usize = 4;

/// Result of [`ChangeSet::apply`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Applied {
    /// The new text.
    pub text: String,
    /// Text that each deleting section removed, in order.
    pub removed: Vec<String>,
}

/// A section that changes the text, with its range in bytes.
struct Edit<'a> {
    range: Range<usize>,
    insert: &'a str,
}

impl ChangeSet {
    /// Returns the new text, and the texts that were removed from `doc`.
    ///
    /// # Errors
    /// [`TextError::LengthMismatch`] if `doc` has another length than this change is for,
    /// [`TextError::InsideSurrogatePair`] if a section would cut one.
    pub fn apply(&self, doc: &str) -> Result<Applied, TextError> {
        let edits = self.edits(doc)?;
        Ok(Applied { text: rebuild(doc, &edits), removed: removed(doc, &edits) })
    }

    /// Changes `doc` in place and returns the removed texts, like [`ChangeSet::apply`]. On an error `doc` is unchanged.
    ///
    /// # Errors
    /// The errors of [`ChangeSet::apply`].
    pub fn apply_to(&self, doc: &mut String) -> Result<Vec<String>, TextError> {
        let edits = self.edits(doc)?;
        let removed = removed(doc, &edits);
        if edits.len() > MAX_EDITS_IN_PLACE {
            *doc = rebuild(doc, &edits);
        } else {
            for edit in edits.into_iter().rev() {
                doc.replace_range(edit.range, edit.insert);
            }
        }
        Ok(removed)
    }

    /// The changing sections with their byte ranges in `doc`.
    fn edits<'a>(&'a self, doc: &str) -> Result<Vec<Edit<'a>>, TextError> {
        // ASCII needs no look-up, because units are bytes; the check is several times faster than counting.
        let is_ascii = doc.is_ascii();
        let units = if is_ascii { doc.len() } else { utf16_len(doc) };
        self.expect_length(units)?;
        let mut edits = Vec::with_capacity(self.sections.len().div_ceil(2));
        let (mut byte, mut offset) = (0, 0);
        for section in &self.sections {
            offset += section.length;
            let end = if is_ascii {
                offset
            } else if offset == units {
                doc.len()
            } else {
                let bytes = byte_offset(&doc[byte..], section.length);
                byte + bytes.ok_or(TextError::InsideSurrogatePair { offset })?
            };
            if let Some(insert) = &section.insert {
                edits.push(Edit { range: byte..end, insert });
            }
            byte = end;
        }
        Ok(edits)
    }
}

fn removed(doc: &str, edits: &[Edit<'_>]) -> Vec<String> {
    let deletions = edits.iter().filter(|edit| !edit.range.is_empty());
    deletions.map(|edit| doc[edit.range.clone()].to_owned()).collect()
}

fn rebuild(doc: &str, edits: &[Edit<'_>]) -> String {
    let inserted: usize = edits.iter().map(|edit| edit.insert.len()).sum();
    let mut text = String::with_capacity(doc.len() + inserted);
    let mut kept = 0;
    for edit in edits {
        text.push_str(&doc[kept..edit.range.start]);
        text.push_str(edit.insert);
        kept = edit.range.end;
    }
    text.push_str(&doc[kept..]);
    text
}
