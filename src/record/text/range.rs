//! Ranges of a text that move with it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ChangeSet, TextError, byte_offset, utf16_len};

/// A range of a text: `[start, end]` in JSON, in UTF-16 code units. Empty if its text was deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(from = "[usize; 2]", into = "[usize; 2]")]
#[schemars(with = "[usize; 2]")]
pub struct TextRange {
    /// The first unit, from 0.
    pub start: usize,
    /// The unit after the last.
    pub end: usize,
}

impl From<[usize; 2]> for TextRange {
    fn from([start, end]: [usize; 2]) -> Self {
        Self { start, end }
    }
}

impl From<TextRange> for [usize; 2] {
    fn from(range: TextRange) -> Self {
        [range.start, range.end]
    }
}

impl TextRange {
    /// Returns true if the range holds no text.
    pub fn is_empty(self) -> bool {
        self.end <= self.start
    }

    /// Maps the range over a change. Text that is inserted at its edges stays outside, and an empty range stays empty.
    pub fn map(self, change: &ChangeSet) -> Self {
        let start = change.map_position(self.start, true);
        Self { start, end: change.map_position(self.end, false).max(start) }
    }

    /// Text of the range.
    ///
    /// # Errors
    /// [`TextError::OutOfBounds`] or [`TextError::InsideSurrogatePair`].
    pub fn of(self, text: &str) -> Result<&str, TextError> {
        let (Self { start, end }, length) = (self, utf16_len(text));
        if start > end || end > length {
            return Err(TextError::OutOfBounds { start, end, length });
        }
        let byte = |offset| byte_offset(text, offset).ok_or(TextError::InsideSurrogatePair { offset });
        Ok(&text[byte(start)?..byte(end)?])
    }
}

impl ChangeSet {
    /// Maps an offset of the old text to the new one, as CodeMirror's `mapPos`. Text that is inserted at the offset
    /// comes before it with `after`, else behind it. An offset inside a replaced text moves to that side of the
    /// replacement. An offset after the end of the old text moves to the end of the new one.
    pub fn map_position(&self, offset: usize, after: bool) -> usize {
        let (mut old, mut new) = (0, 0);
        for section in &self.sections {
            let end = old + section.length;
            if section.insert.is_none() && end > offset {
                return new + (offset - old);
            }
            let is_inside = end > offset || (end == offset && !after && section.length == 0);
            if section.insert.is_some() && is_inside {
                return if offset == old || !after { new } else { new + section.insert_length };
            }
            new += section.length_after();
            old = end;
        }
        new
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mapped(range: [usize; 2], change: &str) -> [usize; 2] {
        TextRange::from(range).map(&serde_json::from_str(change).expect("a change")).into()
    }

    #[test]
    fn a_range_moves_with_its_text() {
        for (range, change, expected) in [
            ([2, 5], r#"[[0,"xy"],8]"#, [4, 7]),
            ([2, 5], r#"[2,[0,"xy"],6]"#, [4, 7]),
            ([2, 5], r#"[3,[0,"xy"],5]"#, [2, 7]),
            ([2, 5], r#"[5,[0,"xy"],3]"#, [2, 5]),
            ([2, 5], "[[1],7]", [1, 4]),
            ([2, 5], "[1,[2],5]", [1, 3]),
            ([2, 5], "[4,[2],2]", [2, 4]),
            ([2, 5], r#"[2,[3,"z"],3]"#, [2, 3]),
            ([2, 5], r#"[1,[2,"z"],5]"#, [2, 4]),
            ([2, 5], r#"[4,[2,"z"],2]"#, [2, 4]),
        ] {
            assert_eq!(mapped(range, change), expected, "{range:?} over {change}");
        }
    }

    #[test]
    fn a_range_whose_text_goes_is_empty_and_stays_so() {
        for (range, change, expected) in [
            ([2, 5], "[2,[3],3]", [2, 2]),
            ([2, 5], "[1,[5],2]", [1, 1]),
            ([2, 5], r#"[1,[5,"q"],2]"#, [2, 2]),
            ([2, 5], r#"[[8,"all new"]]"#, [7, 7]),
            ([2, 2], r#"[2,[0,"back"],3]"#, [6, 6]),
            ([9, 9], r#"[5,[0,"more"]]"#, [9, 9]),
        ] {
            assert_eq!(mapped(range, change), expected, "{range:?} over {change}");
        }
    }

    #[test]
    fn a_range_of_a_text_is_its_units() {
        let of = |start, end| TextRange { start, end }.of("a😀b");
        assert_eq!((of(0, 1), of(1, 3), of(3, 4), of(4, 4)), (Ok("a"), Ok("😀"), Ok("b"), Ok("")));
        assert_eq!(of(0, 2), Err(TextError::InsideSurrogatePair { offset: 2 }));
        for (start, end) in [(0, 5), (3, 2)] {
            assert_eq!(of(start, end), Err(TextError::OutOfBounds { start, end, length: 4 }));
        }
    }
}
