//! One line of the screen.

use crate::style::Style;

/// Most bytes of marks (accents, joined emoji) behind a character.
const MAX_MARK_BYTES: usize = 64;

/// One column. A wide character has a second one behind it, without a character.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScreenCell {
    /// `None`: the second half of a wide character.
    pub character: Option<char>,
    /// Characters without a width that follow.
    #[expect(clippy::box_collection, reason = "most cells have none: they stay small")]
    pub marks: Option<Box<String>>,
    pub style: Style,
}

impl ScreenCell {
    pub fn new(character: char, style: Style) -> Self {
        Self { character: Some(character), marks: None, style }
    }

    pub fn blank(style: Style) -> Self {
        Self::new(' ', style)
    }

    pub fn write_to(&self, out: &mut String) {
        out.extend(self.character);
        if let Some(marks) = &self.marks {
            out.push_str(marks);
        }
    }
}

/// Text of a row as it came, from a column to the end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Original {
    pub column: usize,
    pub text: String,
    /// Style before and after it, and the column after it.
    pub before: Style,
    pub after: Style,
    pub end: usize,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ScreenRow {
    pub cells: Vec<ScreenCell>,
    /// Style of the columns behind the cells.
    pub rest: Style,
    /// First column that changed since the row was written out.
    pub changed_from: Option<usize>,
    /// Number of columns that the reader has, and the style behind them.
    pub sent: (usize, Style),
    /// All that changed since then, if it is still as it came.
    pub original: Option<Original>,
}

impl ScreenRow {
    pub fn touch(&mut self, column: usize) {
        self.changed_from = Some(self.changed_from.map_or(column, |at| at.min(column)));
        self.original = None;
    }

    /// Removes plain blanks at the end.
    pub fn trim(&mut self) {
        let blank = ScreenCell::blank(Style::default());
        let end = self.cells.iter().rposition(|cell| *cell != blank).map_or(0, |at| at + 1);
        if self.rest == Style::default() && self.original.is_none() {
            self.cells.truncate(end);
        }
    }

    pub fn mark_sent(&mut self) {
        self.changed_from = None;
        self.original = None;
        self.sent = (self.cells.len(), self.rest);
    }

    /// Fills the row up to a column, so that it can be written there.
    pub fn extend_to(&mut self, column: usize) {
        if self.cells.len() < column {
            self.touch(self.cells.len());
            self.cells.resize(column, ScreenCell::blank(self.rest));
        }
    }

    /// Puts a blank in place of the half of a wide character whose other half is overwritten.
    pub fn split_wide(&mut self, column: usize) {
        if self.cells.get(column).is_some_and(|cell| cell.character.is_none()) {
            for half in [column - 1, column] {
                self.cells[half] = ScreenCell::blank(self.cells[half].style);
            }
            self.touch(column - 1);
        }
    }

    pub fn put(&mut self, column: usize, character: char, width: usize, style: Style) {
        self.extend_to(column);
        if column < self.cells.len() {
            self.split_wide(column);
            self.split_wide(column + width);
        }
        self.touch(column);
        let mut cell = ScreenCell::new(character, style);
        for at in column..column + width {
            match self.cells.get_mut(at) {
                Some(place) => *place = cell,
                None => self.cells.push(cell),
            }
            cell = ScreenCell { character: None, marks: None, style };
        }
    }

    /// Adds a character without a width to the one before the column.
    pub fn mark(&mut self, column: usize, mark: char) {
        let Some(before) = column.checked_sub(1).filter(|at| *at < self.cells.len()) else { return };
        let at = if self.cells[before].character.is_none() { before - 1 } else { before };
        let marks = self.cells[at].marks.get_or_insert_default();
        if marks.len() < MAX_MARK_BYTES {
            marks.push(mark);
            self.touch(at);
        }
    }

    /// Erases columns; `None` as the end means all behind.
    pub fn erase(&mut self, from: usize, until: Option<usize>, style: Style) {
        match until.filter(|until| *until < self.cells.len() || style != self.rest) {
            Some(until) => {
                self.extend_to(until);
                self.split_wide(from);
                self.split_wide(until);
                self.cells[from..until].fill(ScreenCell::blank(style));
            }
            None => {
                if from < self.cells.len() {
                    self.split_wide(from);
                    self.cells.truncate(from);
                }
                if style != self.rest {
                    self.extend_to(from);
                    self.rest = style;
                }
            }
        }
        self.touch(from.min(self.cells.len()));
    }

    /// Removes columns; the rest of the row moves to the left.
    pub fn delete(&mut self, from: usize, count: usize) {
        if from < self.cells.len() {
            let until = from.saturating_add(count).min(self.cells.len());
            self.split_wide(from);
            self.split_wide(until);
            self.cells.drain(from..until);
            self.touch(from);
        }
    }

    /// Inserts blank columns; the rest of the row moves to the right.
    pub fn insert(&mut self, at: usize, count: usize) {
        if at < self.cells.len() {
            self.split_wide(at);
            let blanks = std::iter::repeat_n(ScreenCell::blank(Style::default()), count);
            self.cells.splice(at..at, blanks);
            self.touch(at);
        }
    }
}
