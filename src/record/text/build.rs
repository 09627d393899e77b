//! Builder and cursor for the sections of a change: CodeMirror's `addSection` and `SectionIter`.

use super::{ChangeSet, MAX_SECTIONS, MAX_TEXT_UNITS, Section, TextError, byte_offset};

/// Collects sections in CodeMirror's normal form: no empty section, no two neighbours that are both kept, both
/// deletions or both insertions.
#[derive(Debug, Default)]
pub(super) struct Builder {
    sections: Vec<Section>,
}

impl Builder {
    pub(super) fn keep(&mut self, length: usize) {
        if length == 0 {
            return;
        }
        match self.sections.last_mut() {
            Some(last) if last.insert.is_none() => last.length += length,
            _ => self.push(length, None, 0),
        }
    }

    pub(super) fn replace(&mut self, length: usize, text: &str, text_length: usize) {
        self.replace_joined(length, text, text_length, false);
    }

    /// Replaces like `replace`. With `join` it always extends the last section, which must then be a change.
    pub(super) fn replace_joined(&mut self, length: usize, text: &str, text_length: usize, join: bool) {
        if length == 0 && text.is_empty() {
            return;
        }
        if let Some(last) = self.sections.last_mut()
            && let Some(insert) = &mut last.insert
        {
            let both_delete = text.is_empty() && insert.is_empty();
            let both_insert = length == 0 && last.length == 0;
            if both_delete || both_insert || join {
                last.length += length;
                insert.push_str(text);
                last.insert_length += text_length;
                return;
            }
        }
        self.push(length, Some(text.to_owned()), text_length);
    }

    /// Adds a section unless it is empty, and never joins it with its neighbour.
    pub(super) fn push(&mut self, length: usize, insert: Option<String>, insert_length: usize) {
        if length > 0 || insert_length > 0 {
            self.sections.push(Section { length, insert, insert_length });
        }
    }

    pub(super) fn section_count(&self) -> usize {
        self.sections.len()
    }

    /// # Errors
    /// The result exceeds the limits of JSON that is read.
    pub(super) fn finish(self) -> Result<ChangeSet, TextError> {
        let change = self.finish_unchecked();
        if change.sections.len() > MAX_SECTIONS {
            return Err(TextError::TooManySections { max: MAX_SECTIONS });
        }
        if change.length_before().max(change.length_after()) > MAX_TEXT_UNITS {
            return Err(TextError::TooLong { max_units: MAX_TEXT_UNITS });
        }
        Ok(change)
    }

    pub(super) fn finish_unchecked(self) -> ChangeSet {
        ChangeSet { sections: self.sections }
    }
}

/// A place in a change: the current section, without the part that was consumed.
pub(super) struct ChangeCursor<'a> {
    sections: &'a [Section],
    index: usize,
    /// Remaining units of the old text that the section covers.
    pub(super) length: usize,
    /// Remaining units of the section's insertion; only [`ChangeCursor::take_insert`] consumes them.
    pub(super) insert_length: usize,
    /// Part of the section was consumed.
    pub(super) started: bool,
    insert_byte: usize,
}

impl<'a> ChangeCursor<'a> {
    pub(super) fn new(change: &'a ChangeSet) -> Self {
        let mut cursor =
            Self { sections: &change.sections, index: 0, length: 0, insert_length: 0, started: false, insert_byte: 0 };
        cursor.load();
        cursor
    }

    fn load(&mut self) {
        let section = self.sections.get(self.index);
        self.length = section.map_or(0, |section| section.length);
        self.insert_length = section.map_or(0, |section| section.insert_length);
        self.started = false;
        self.insert_byte = 0;
    }

    /// Index of the current section.
    pub(super) fn index(&self) -> usize {
        self.index
    }

    pub(super) fn is_done(&self) -> bool {
        self.index >= self.sections.len()
    }

    pub(super) fn is_keep(&self) -> bool {
        self.sections.get(self.index).is_some_and(|section| section.insert.is_none())
    }

    pub(super) fn is_change(&self) -> bool {
        self.sections.get(self.index).is_some_and(|section| section.insert.is_some())
    }

    /// Whole text that the section inserts.
    pub(super) fn text(&self) -> &'a str {
        self.sections.get(self.index).and_then(|section| section.insert.as_deref()).unwrap_or_default()
    }

    pub(super) fn next(&mut self) {
        self.index += 1;
        self.load();
    }

    /// Consumes `length` units of the old text. Advances to the next section if none are left, also for `length` 0.
    pub(super) fn advance(&mut self, length: usize) {
        if length >= self.length {
            self.next();
        } else {
            self.length -= length;
            self.started |= length > 0;
        }
    }

    /// Returns the next `length` units of the section's insertion without consuming them. `None`: they end inside a
    /// surrogate pair.
    pub(super) fn insert_piece(&self, length: usize) -> Option<&'a str> {
        let rest = &self.text()[self.insert_byte..];
        let end = if length >= self.insert_length { rest.len() } else { byte_offset(rest, length)? };
        Some(&rest[..end])
    }

    /// Consumes `length` units (`bytes` bytes) of the section's insertion.
    pub(super) fn take_insert(&mut self, bytes: usize, length: usize) {
        if length >= self.insert_length {
            self.next();
        } else {
            self.insert_length -= length;
            self.insert_byte += bytes;
            self.started |= length > 0;
        }
    }
}
