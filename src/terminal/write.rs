//! Writes the rows that changed, and the moves to them, as text that brings a reader's terminal to the same screen.

use std::fmt::Write;

use crate::screen::{Cursor, TerminalScreen};

/// A reader's terminal: the place after the text that was written for it.
#[derive(Debug, Default)]
pub struct Reader {
    pub cursor: Cursor,
    /// Number of rows that the reader has of those that are kept.
    pub rows: usize,
}

impl Reader {
    pub fn new() -> Self {
        Self { cursor: Cursor::default(), rows: 1 }
    }

    pub fn has_all(&self, screen: &TerminalScreen) -> bool {
        self.cursor == screen.cursor && screen.rows.iter().all(|row| row.changed_from.is_none())
    }

    /// Notes that the reader has got the text unchanged.
    pub fn has_followed(&mut self, screen: &mut TerminalScreen) {
        screen.rows.iter_mut().for_each(crate::row::ScreenRow::mark_sent);
        *self = Self { cursor: screen.cursor, rows: screen.rows.len() };
    }

    /// Notes that the first row is forgotten. The reader must be below it.
    pub fn forget_first(&mut self) {
        self.rows -= 1;
        self.cursor.row -= 1;
    }

    pub fn write_changes(&mut self, screen: &mut TerminalScreen, out: &mut String) {
        for at in 0..screen.rows.len() {
            self.write_row(screen, at, out);
        }
    }

    /// Writes a row if it changed.
    pub fn write_row(&mut self, screen: &mut TerminalScreen, at: usize, out: &mut String) {
        let row = &mut screen.rows[at];
        let Some(changed) = row.changed_from else { return };
        if at != screen.cursor.row {
            row.trim();
        }
        if row.cells.is_empty() && row.sent == Default::default() && row.rest == Default::default() {
            return row.mark_sent();
        }
        let is_here = |column: usize| self.cursor.row == at && self.cursor.column == column;
        if let Some(original) = row.original.take_if(|original| original.column == 0 || is_here(original.column)) {
            self.move_to(at, original.column, out);
            self.dress(original.before, out);
            out.push_str(&original.text);
            self.cursor = Cursor { row: at, column: original.end, style: original.after };
            return row.mark_sent();
        }
        let from = if changed >= row.sent.0 && is_here(changed) { changed } else { 0 };
        self.move_to(at, from, out);
        for cell in &row.cells[from.min(row.cells.len())..] {
            self.dress(cell.style, out);
            cell.write_to(out);
        }
        self.cursor.column = from.max(row.cells.len());
        if row.cells.len() < row.sent.0 || row.rest != row.sent.1 {
            self.dress(row.rest, out);
            out.push_str("\x1b[K");
        }
        row.mark_sent();
        self.dress(screen.cursor.style, out);
    }

    pub fn dress(&mut self, style: crate::style::Style, out: &mut String) {
        style.write_change(self.cursor.style, out);
        self.cursor.style = style;
    }

    /// Moves down to a row, without a column.
    pub fn move_down(&mut self, row: usize, out: &mut String) {
        while self.cursor.row < row {
            out.push('\n');
            self.cursor.row += 1;
            self.cursor.column = 0;
        }
        self.rows = self.rows.max(row + 1);
    }

    pub fn move_to(&mut self, row: usize, column: usize, out: &mut String) {
        self.move_down(row, out);
        if self.cursor.row > row {
            _ = write!(out, "\x1b[{}A", self.cursor.row - row);
            self.cursor.row = row;
        }
        if self.cursor.column == column {
            return;
        }
        if self.cursor.column > 0 {
            out.push('\r');
        }
        if column > 0 {
            _ = write!(out, "\x1b[{column}C");
        }
        self.cursor.column = column;
    }

    /// Moves to the screen's cursor.
    pub fn follow(&mut self, screen: &TerminalScreen, out: &mut String) {
        self.move_to(screen.cursor.row, screen.cursor.column, out);
        self.dress(screen.cursor.style, out);
    }
}
