//! Changes of a cell's source, as CodeMirror 6 ChangeSets.
//!
//! A [`ChangeSet`] covers a whole text as a list of sections. Its JSON is CodeMirror's: `n` keeps n units, `[n]`
//! deletes n units, `[n, "line", …]` replaces n units by the lines joined with `\n`. Every length and offset in this
//! module counts **UTF-16 code units** unless it says bytes.
//!
//! Compose and map are ports of `@codemirror/state` and give the same sections, not only the same text. The sections
//! decide where a later concurrent insertion goes: a replica that merged more of them would diverge from the editors.
//!
//! Invariants: no input panics; no function splits a surrogate pair; a failed call changes nothing; all results of
//! [`ChangeSet::compose`] and [`ChangeSet::map`] can be written to the log and read back. A change never holds `\r`:
//! JSON with one is refused. Callers that build changes from foreign text call [`check_source`] or
//! [`normalise_line_breaks`] first.
//!
//! This module must never look at a clock: [`diff`] bounds its work by size, so that it gives the same answer
//! everywhere.

mod build;
mod combine;
mod diff;
mod json;
mod range;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::ops::Range;

use crate::text::build::Builder;

pub use self::diff::diff;
pub use self::range::TextRange;

/// Sections that a change may have, at most, as JSON or as a result of compose and map.
pub const MAX_SECTIONS: usize = 10_000;

/// Longest text in UTF-16 units from which a change may start or to which it may lead. Sums of two still fit 32 bits.
pub const MAX_TEXT_UNITS: usize = i32::MAX as usize;

/// Reason why a change was refused. Nothing was changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TextError {
    /// The change is for a text of another length.
    #[error(
        "the change is for a text of {expected} UTF-16 units but this one has {actual}: fetch the current source and rebase the change on it"
    )]
    LengthMismatch {
        /// Length for which the change is, in UTF-16 code units.
        expected: usize,
        /// Length of the text, in UTF-16 code units.
        actual: usize,
    },
    /// A section begins or ends between the two halves of a surrogate pair.
    #[error("offset {offset} is inside a surrogate pair: move it to the start or the end of the character")]
    InsideSurrogatePair {
        /// Offset in UTF-16 code units, from 0.
        offset: usize,
    },
    /// An offset is after the end, or a range ends before it starts.
    #[error("range {start}..{end} does not fit a text of {length} UTF-16 units")]
    OutOfBounds {
        /// The first unit, from 0.
        start: usize,
        /// The unit after the last.
        end: usize,
        /// Length of the text, in UTF-16 code units.
        length: usize,
    },
    /// More sections than allowed.
    #[error("the change has more than {max} sections: send it in several smaller changes")]
    TooManySections {
        /// The limit.
        max: usize,
    },
    /// The text before or after the change is longer than allowed.
    #[error("the text would have more than {max_units} UTF-16 units: shorten it or split the cell")]
    TooLong {
        /// The limit, in UTF-16 code units.
        max_units: usize,
    },
    /// The text contains `\r`; sources have `\n` only.
    #[error("the text contains a carriage return: use \\n alone for line breaks")]
    CarriageReturn,
    /// A line of an insertion contains a line break.
    #[error("a line of an insertion contains \\n: send every line as a string of its own")]
    LineBreakInLine,
    /// A length that is negative, fractional or not representable.
    #[error("{found} is not a length: send an integer of at least 0")]
    BadLength {
        /// The length as in the JSON.
        found: String,
    },
}

/// One section of a change: `length` units of the old text, and their replacement.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Section {
    length: usize,
    /// `None` keeps the units. `Some` replaces them: a deletion when empty, an insertion when `length` is 0.
    insert: Option<String>,
    /// UTF-16 length of `insert`; 0 for a kept section.
    insert_length: usize,
}

impl Section {
    fn length_after(&self) -> usize {
        if self.insert.is_some() { self.insert_length } else { self.length }
    }
}

/// A change from one text to another. Changes that this module makes are in CodeMirror's normal form. Changes that were
/// read keep the sections that were sent (without empty ones): a change must map alike here and in the editor that made
/// it.
///
/// ```
/// # use notarium_record::text::ChangeSet;
/// let change: ChangeSet = serde_json::from_str(r#"[6,[5,"notebook"]]"#)?;
/// assert_eq!(change.apply("hello world")?.text, "hello notebook");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangeSet {
    sections: Vec<Section>,
}

impl ChangeSet {
    /// Approximate memory of the change, in bytes.
    pub fn memory_bytes(&self) -> usize {
        let inserted: usize = self.sections.iter().filter_map(|section| section.insert.as_ref()).map(String::len).sum();
        size_of::<Self>() + self.sections.len() * size_of::<Section>() + inserted
    }

    /// The change that keeps all `length` units.
    pub fn identity(length: usize) -> Self {
        let mut builder = Builder::default();
        builder.keep(length);
        builder.finish_unchecked()
    }

    /// Inserts `text` at offset `at` of a text of `length` units.
    ///
    /// # Errors
    /// The errors of [`ChangeSet::replace`].
    pub fn insert(length: usize, at: usize, text: &str) -> Result<Self, TextError> {
        Self::replace(length, at..at, text)
    }

    /// Replaces the whole text of `length` units by `text`.
    ///
    /// # Errors
    /// The errors of [`ChangeSet::replace`].
    pub fn replace_all(length: usize, text: &str) -> Result<Self, TextError> {
        Self::replace(length, 0..length, text)
    }

    /// Replaces `range` of a text of `length` units by `text`, as `ChangeSet.of` does for one change.
    ///
    /// # Errors
    /// [`TextError::OutOfBounds`], [`TextError::TooLong`], or [`TextError::CarriageReturn`].
    pub fn replace(length: usize, range: Range<usize>, text: &str) -> Result<Self, TextError> {
        if range.start > range.end || range.end > length {
            return Err(TextError::OutOfBounds { start: range.start, end: range.end, length });
        }
        check_source(text)?;
        let mut builder = Builder::default();
        builder.keep(range.start);
        builder.replace(range.end - range.start, text, utf16_len(text));
        builder.keep(length - range.end);
        builder.finish()
    }

    /// Makes a change from lengths of the old text and their replacements: `None` keeps, `Some` replaces.
    ///
    /// # Errors
    /// [`TextError::TooManySections`] or [`TextError::TooLong`].
    pub fn from_sections(sections: impl IntoIterator<Item = (usize, Option<String>)>) -> Result<Self, TextError> {
        let mut builder = Builder::default();
        for (length, insert) in sections {
            match insert {
                None => builder.keep(length),
                Some(text) => builder.replace(length, &text, utf16_len(&text)),
            }
        }
        builder.finish()
    }

    /// The sections, as [`ChangeSet::from_sections`] takes them.
    pub fn sections(&self) -> impl Iterator<Item = (usize, Option<&str>)> {
        self.sections.iter().map(|section| (section.length, section.insert.as_deref()))
    }

    /// Length in UTF-16 units of the text that this change starts from.
    pub fn length_before(&self) -> usize {
        self.sections.iter().map(|section| section.length).sum()
    }

    /// Length in UTF-16 units of the text that this change leads to.
    pub fn length_after(&self) -> usize {
        self.sections.iter().map(Section::length_after).sum()
    }

    /// Returns true if nothing is inserted or deleted.
    pub fn is_identity(&self) -> bool {
        self.sections.iter().all(|section| section.insert.is_none())
    }

    /// Returns true for an identity in normal form only. Compose and map take short cuts exactly here.
    fn is_plain_identity(&self) -> bool {
        self.sections.len() < 2 && self.is_identity()
    }

    fn expect_length(&self, actual: usize) -> Result<(), TextError> {
        let expected = self.length_before();
        if expected == actual { Ok(()) } else { Err(TextError::LengthMismatch { expected, actual }) }
    }
}

/// Length of `text` in UTF-16 code units.
pub fn utf16_len(text: &str) -> usize {
    str_indices::utf16::count(text)
}

/// Checks that `text` may become (part of) a cell's source.
///
/// # Errors
/// [`TextError::CarriageReturn`].
pub fn check_source(text: &str) -> Result<(), TextError> {
    if text.contains('\r') { Err(TextError::CarriageReturn) } else { Ok(()) }
}

/// Turns CRLF and lone CR into `\n`; borrows if there are none.
pub fn normalise_line_breaks(text: &str) -> Cow<'_, str> {
    if text.contains('\r') { Cow::Owned(text.replace("\r\n", "\n").replace('\r', "\n")) } else { Cow::Borrowed(text) }
}

/// Cuts `text` after `units` and returns the rest, which is empty if the text is no longer than that.
///
/// # Errors
/// [`TextError::InsideSurrogatePair`].
pub fn split_at_unit(text: &mut String, units: usize) -> Result<String, TextError> {
    if units >= utf16_len(text) {
        return Ok(String::new());
    }
    let byte = byte_offset(text, units).ok_or(TextError::InsideSurrogatePair { offset: units })?;
    Ok(text.split_off(byte))
}

/// Byte offset of the UTF-16 offset `units` in `text`; `None` if it is inside a surrogate pair.
/// Needs `units <= utf16_len(text)`.
fn byte_offset(text: &str, units: usize) -> Option<usize> {
    let byte = str_indices::utf16::to_byte_idx(text, units);
    // The library rounds down inside a pair. So only before a four-byte character is it unclear whether the offset was
    // inside.
    let before_pair = text.as_bytes().get(byte).is_some_and(|lead| *lead >= 0xF0);
    (!before_pair || utf16_len(&text[..byte]) == units).then_some(byte)
}

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
struct ByteEdit<'a> {
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
    fn edits<'a>(&'a self, doc: &str) -> Result<Vec<ByteEdit<'a>>, TextError> {
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
                edits.push(ByteEdit { range: byte..end, insert });
            }
            byte = end;
        }
        Ok(edits)
    }
}

fn removed(doc: &str, edits: &[ByteEdit<'_>]) -> Vec<String> {
    let deletions = edits.iter().filter(|edit| !edit.range.is_empty());
    deletions.map(|edit| doc[edit.range.clone()].to_owned()).collect()
}

fn rebuild(doc: &str, edits: &[ByteEdit<'_>]) -> String {
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
