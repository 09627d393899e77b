//! The rows of a terminal and its cursor. Rows above the first one may be unknown.

use std::collections::VecDeque;

use unicode_width::UnicodeWidthChar;

use crate::COLUMNS;
use crate::escape::{self, Part};
use crate::row::{Original, ScreenRow};
use crate::style::Style;

/// Error: the effect depends on something that is not known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unknown;

/// Place and style of the next character.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Cursor {
    /// Index in the rows that are kept.
    pub row: usize,
    pub column: usize,
    pub style: Style,
}

#[derive(Debug)]
pub struct TerminalScreen {
    pub rows: VecDeque<ScreenRow>,
    /// Rows above the first one, which were forgotten.
    pub forgotten: usize,
    pub cursor: Cursor,
    max_rows: usize,
}

impl TerminalScreen {
    pub fn new(max_rows: usize) -> Self {
        Self { rows: [ScreenRow::default()].into(), forgotten: 0, cursor: Cursor::default(), max_rows }
    }

    /// Forgets all rows and begins a new one below them.
    pub fn restart(&mut self, rows_above: usize, style: Style) {
        self.forgotten += rows_above;
        self.rows.clear();
        self.rows.push_back(ScreenRow::default());
        self.cursor = Cursor { style, ..Cursor::default() };
    }

    /// Forgets the first row. The cursor must be below it.
    pub fn forget_first(&mut self) {
        self.rows.pop_front();
        self.forgotten += 1;
        self.cursor.row -= 1;
    }

    pub fn cells(&self) -> usize {
        self.rows.iter().map(|row| row.cells.len()).sum()
    }

    /// True if the next character comes behind all others.
    pub fn is_at_end(&self) -> bool {
        self.cursor.row + 1 == self.rows.len() && self.cursor.column >= self.row().cells.len()
    }

    fn row(&self) -> &ScreenRow {
        &self.rows[self.cursor.row]
    }

    fn row_mut(&mut self) -> &mut ScreenRow {
        &mut self.rows[self.cursor.row]
    }

    /// Carries out a part of the text.
    pub fn apply(&mut self, part: &Part) -> Result<(), Unknown> {
        match part {
            Part::Text(text) => self.write(text),
            Part::Control(control) => self.control(*control),
            Part::Csi(parameters, b'm') => self.cursor.style.apply(parameters),
            Part::Csi(parameters, last) => return self.sequence(parameters, *last),
            Part::Kept | Part::Dropped => {}
            Part::Unknown | Part::Unfinished => return Err(Unknown),
        }
        Ok(())
    }

    /// Appends text behind all others, and keeps it as it came as long as its rows do not change.
    pub fn append(&mut self, text: &str) {
        for line in text.split_inclusive('\n') {
            let (written, before) = (line.strip_suffix('\n').unwrap_or(line), self.cursor);
            let is_unchanged = self.row().changed_from.is_none();
            let mut rest = written;
            while !rest.is_empty() {
                let (part, bytes) = escape::next(rest);
                _ = self.apply(&part);
                rest = &rest[bytes..];
            }
            let Cursor { column, style, .. } = self.cursor;
            let row = self.row_mut();
            if is_unchanged && row.changed_from.is_some() {
                let (text, before, start) = (written.to_owned(), before.style, before.column);
                row.original = Some(Original { column: start, text, before, after: style, end: column });
            }
            if line.len() > written.len() {
                self.control(b'\n');
            }
        }
    }

    fn write(&mut self, text: &str) {
        let Cursor { mut column, style, .. } = self.cursor;
        let row = self.row_mut();
        for character in text.chars() {
            match character.width().unwrap_or(0) {
                0 => row.mark(column, character),
                width => {
                    row.put(column, character, width, style);
                    column += width;
                }
            }
        }
        self.cursor.column = column;
    }

    fn control(&mut self, control: u8) {
        match control {
            b'\n' => {
                self.cursor.column = 0;
                self.cursor.row += 1;
                if self.cursor.row == self.rows.len() {
                    self.rows.push_back(ScreenRow::default());
                }
            }
            b'\r' => self.cursor.column = 0,
            b'\t' => self.cursor.column = self.cursor.column / 8 * 8 + 8,
            _ => self.cursor.column = self.cursor.column.saturating_sub(1),
        }
    }

    fn sequence(&mut self, parameters: &str, last: u8) -> Result<(), Unknown> {
        let mut numbers = parameters.split(';').map(|one| one.parse::<u16>().map(usize::from).unwrap_or(0));
        let (first, second) = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
        let count = first.max(1);
        let Cursor { column, style, .. } = self.cursor;
        match last {
            b'A' => self.up(count)?,
            b'B' => self.down(count)?,
            b'C' => self.move_to_column(column + count),
            b'D' => self.cursor.column = column.saturating_sub(count),
            b'E' | b'F' => {
                if last == b'E' {
                    self.down(count)?
                } else {
                    self.up(count)?
                }
                self.cursor.column = 0;
            }
            b'G' => self.move_to_column(count - 1),
            b'H' | b'f' => {
                self.move_to_row(count - 1)?;
                self.cursor.column = 0;
                self.move_to_column(second.max(1) - 1);
            }
            b'd' => self.move_to_row(count - 1)?,
            b'K' => self.erase_in_row(first)?,
            b'J' => self.erase_rows(first)?,
            b'X' => self.row_mut().erase(column, Some(column + count.min(COLUMNS)), style.erased()),
            b'P' => self.row_mut().delete(column, count),
            b'@' => self.row_mut().insert(column, count.min(COLUMNS)),
            _ => return Err(Unknown),
        }
        Ok(())
    }

    fn move_to_column(&mut self, column: usize) {
        self.cursor.column = column.min((COLUMNS - 1).max(self.cursor.column));
    }

    fn up(&mut self, count: usize) -> Result<(), Unknown> {
        match self.cursor.row.checked_sub(count) {
            Some(row) => self.cursor.row = row,
            None if self.forgotten == 0 => self.cursor.row = 0,
            None => return Err(Unknown),
        }
        Ok(())
    }

    fn down(&mut self, count: usize) -> Result<(), Unknown> {
        self.move_to_row(self.forgotten + self.cursor.row + count)
    }

    /// Moves to a row, counted from the first of all.
    fn move_to_row(&mut self, row: usize) -> Result<(), Unknown> {
        let row = row.checked_sub(self.forgotten).filter(|row| *row < self.max_rows).ok_or(Unknown)?;
        while self.rows.len() <= row {
            self.rows.push_back(ScreenRow::default());
        }
        self.cursor.row = row;
        Ok(())
    }

    fn erase_in_row(&mut self, kind: usize) -> Result<(), Unknown> {
        let Cursor { column, style, .. } = self.cursor;
        let (from, until) = match kind {
            0 => (column, None),
            1 => (0, Some(column + 1)),
            2 => (0, None),
            _ => return Err(Unknown),
        };
        self.row_mut().erase(from, until, style.erased());
        Ok(())
    }

    fn erase_rows(&mut self, kind: usize) -> Result<(), Unknown> {
        let at = self.cursor.row;
        let rows = match kind {
            0 => at + 1..self.rows.len(),
            1..=3 if self.forgotten > 0 => return Err(Unknown),
            1 => 0..at,
            2 | 3 => 0..self.rows.len(),
            _ => return Err(Unknown),
        };
        let style = self.cursor.style.erased();
        self.rows.range_mut(rows).for_each(|row| row.erase(0, None, style));
        if kind < 2 { self.erase_in_row(kind) } else { Ok(()) }
    }
}
