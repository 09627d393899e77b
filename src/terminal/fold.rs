//! Folds a stream that comes in pieces.

use crate::escape::{self, Part};
use crate::screen::TerminalScreen;
use crate::style::Style;
use crate::write::Reader;

/// Longest run of characters that is written to the screen before its size is checked, in bytes.
const MAX_STEP_BYTES: usize = 4_096;

/// Size of the screen that is kept. Text above it cannot change any more.
#[derive(Debug, Clone, Copy)]
pub struct FoldLimits {
    pub max_rows: usize,
    pub max_cells: usize,
}

impl FoldLimits {
    /// For a stream on its way: little memory for each run.
    pub const WRITER: Self = Self { max_rows: 200, max_cells: 16_384 };
    /// For a text that is read. More than a writer has, so that whatever a writer folded can be read.
    pub const READER: Self = Self { max_rows: 2_000, max_cells: 262_144 };
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    Folding,
    /// In a line that is too long: the text stays as it came up to the line's end.
    LongLine,
    /// After a sequence with an unknown effect: the text stays as it came.
    Stopped,
}

/// Takes the text of a stream, and gives it back in pieces that show the same.
#[derive(Debug)]
pub struct StreamFold {
    limits: FoldLimits,
    mode: Mode,
    screen: TerminalScreen,
    reader: Reader,
    /// Text for the reader.
    settled: String,
    /// Text behind all others, which is not on the screen yet, and its bytes that the reader has.
    pending: String,
    pending_sent: usize,
    /// The beginning of a sequence, and its bytes that the reader has.
    unfinished: String,
    unfinished_sent: usize,
    /// Bytes written to the screen since its size was measured.
    unmeasured: usize,
    /// There was input since the last piece.
    is_touched: bool,
}

impl Default for StreamFold {
    fn default() -> Self {
        Self::new(FoldLimits::WRITER)
    }
}

impl StreamFold {
    pub fn new(limits: FoldLimits) -> Self {
        Self {
            limits,
            mode: Mode::Folding,
            screen: TerminalScreen::new(limits.max_rows),
            reader: Reader::new(),
            settled: String::new(),
            pending: String::new(),
            pending_sent: 0,
            unfinished: String::new(),
            unfinished_sent: 0,
            unmeasured: 0,
            is_touched: false,
        }
    }

    /// About the bytes that the next piece has.
    pub fn len(&self) -> usize {
        let changed = self.screen.rows.iter().filter(|row| row.changed_from.is_some());
        let waiting = self.settled.len() + self.pending.len() - self.pending_sent + self.unfinished.len()
            - self.unfinished_sent
            + changed.map(|row| row.cells.len()).sum::<usize>();
        waiting.max(usize::from(self.is_touched))
    }

    /// True if there is nothing for a piece.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes that are kept between pieces, for tests of the limits.
    #[doc(hidden)]
    pub fn held_bytes(&self) -> usize {
        self.settled.len() + self.pending.len() + self.unfinished.len() + self.screen.cells() + self.screen.rows.len()
    }

    /// Adds text that a program wrote.
    pub fn push(&mut self, text: &str) {
        if self.unfinished.is_empty() || text.is_empty() {
            return self.push_parts(text);
        }
        let mut whole = std::mem::take(&mut self.unfinished);
        whole.push_str(text);
        self.push_parts(&whole);
    }

    fn push_parts(&mut self, mut text: &str) {
        while !text.is_empty() {
            let taken = match self.mode {
                Mode::Folding => self.push_part(text),
                Mode::LongLine => self.pass_part(text),
                Mode::Stopped => self.pass(text),
            };
            text = &text[taken..];
        }
    }

    /// Folds the first part; returns its length.
    fn push_part(&mut self, text: &str) -> usize {
        if !self.pending.is_empty() || self.screen.is_at_end() {
            let plain = self.append(text);
            if plain > 0 {
                return plain;
            }
        }
        let (part, mut bytes) = escape::next(text);
        match part {
            Part::Unfinished => return self.wait(text),
            Part::Dropped if self.unfinished_sent == 0 => return bytes,
            _ => {}
        }
        self.place_pending();
        if self.mode != Mode::Folding {
            return 0;
        }
        let applied = match part {
            Part::Text(text) => {
                bytes = text.floor_char_boundary(MAX_STEP_BYTES);
                self.screen.apply(&Part::Text(&text[..bytes]))
            }
            _ => self.screen.apply(&part),
        };
        self.is_touched = true;
        if applied.is_err() {
            return self.stop(text);
        }
        if self.unfinished_sent > 0 {
            self.settled.push_str(&text[std::mem::take(&mut self.unfinished_sent)..bytes]);
            self.reader.has_followed(&mut self.screen);
        }
        self.unmeasured += bytes;
        self.forget();
        bytes
    }

    /// Appends text behind all others as it came, if the first part allows it; returns its length.
    fn append(&mut self, text: &str) -> usize {
        let plain = escape::plain_bytes(text);
        let (kept, taken) = match &text.as_bytes()[plain..] {
            _ if plain > 0 => (&text[..plain], plain),
            [b'\r', b'\n', ..] => ("\n", 2),
            _ => match escape::next(text) {
                (Part::Csi(_, b'm') | Part::Kept, bytes) => (&text[..bytes], bytes),
                _ => return 0,
            },
        };
        self.is_touched = true;
        self.pending.push_str(kept);
        if self.unfinished_sent > 0 {
            self.settled.push_str(&kept[std::mem::take(&mut self.unfinished_sent)..]);
            self.pending_sent = self.pending.len();
        }
        if self.pending.len() > 2 * self.limits.max_cells {
            self.settle_beginning();
        }
        taken
    }

    /// Gives the reader all pending lines but the last ones, and forgets the rows.
    fn settle_beginning(&mut self) {
        self.flush();
        let most = self.pending.len() - self.limits.max_cells;
        let cut = self.pending.as_bytes()[most..].iter().position(|byte| *byte == b'\n').map(|at| most + at + 1);
        let cut = cut.unwrap_or_else(|| {
            self.mode = Mode::LongLine;
            self.pending.len()
        });
        let gone = &self.pending[..cut];
        self.settled.push_str(gone.get(self.pending_sent..).unwrap_or_default());
        let style = style_after(gone, self.screen.cursor.style);
        let rows = self.screen.rows.len() - 1 + gone.bytes().filter(|byte| *byte == b'\n').count();
        self.restart(rows, style);
        self.pending.drain(..cut);
        self.pending_sent = self.pending_sent.saturating_sub(cut);
    }

    fn restart(&mut self, rows_above: usize, style: Style) {
        self.screen.restart(rows_above, style);
        self.reader.has_followed(&mut self.screen);
    }

    /// Puts the pending text on the screen.
    fn place_pending(&mut self) {
        let pending = std::mem::take(&mut self.pending);
        let sent = std::mem::take(&mut self.pending_sent);
        self.unmeasured += pending.len();
        let (sent, rest) = pending.split_at(sent);
        if !sent.is_empty() {
            self.screen.append(sent);
            self.reader.has_followed(&mut self.screen);
        }
        self.screen.append(rest);
        self.forget();
    }

    /// Keeps the screen within its limits: writes the first rows out and forgets them.
    fn forget(&mut self) {
        let mut rows = self.screen.rows.len();
        if rows <= self.limits.max_rows && self.unmeasured < self.limits.max_cells / 4 {
            return;
        }
        self.unmeasured = 0;
        let mut cells = self.screen.cells();
        while (rows > self.limits.max_rows || cells > self.limits.max_cells) && self.screen.cursor.row > 0 {
            self.reader.write_row(&mut self.screen, 0, &mut self.settled);
            self.reader.move_down(1, &mut self.settled);
            rows -= 1;
            cells = cells.saturating_sub(self.screen.rows[0].cells.len());
            self.screen.forget_first();
            self.reader.forget_first();
        }
        if cells > self.limits.max_cells {
            self.flush();
            let style = self.screen.cursor.style;
            if self.screen.rows.len() > 1 {
                self.mode = Mode::Stopped;
            } else {
                self.restart(0, style);
                self.mode = Mode::LongLine;
            }
        }
    }

    /// Writes what changed on the screen.
    fn flush(&mut self) {
        if !self.reader.has_all(&self.screen) {
            self.reader.write_changes(&mut self.screen, &mut self.settled);
            self.reader.follow(&self.screen, &mut self.settled);
        }
    }

    fn wait(&mut self, text: &str) -> usize {
        text.clone_into(&mut self.unfinished);
        self.is_touched = true;
        text.len()
    }

    /// Passes on all text from here as it came.
    fn stop(&mut self, text: &str) -> usize {
        self.flush();
        self.mode = Mode::Stopped;
        self.pass(text)
    }

    fn pass(&mut self, text: &str) -> usize {
        self.settled.push_str(&text[std::mem::take(&mut self.unfinished_sent)..]);
        text.len()
    }

    /// Passes on one part of a line that is too long; folds again from its end.
    fn pass_part(&mut self, text: &str) -> usize {
        let (part, bytes) = escape::next(text);
        match part {
            Part::Unfinished => return self.wait(text),
            Part::Csi(parameters, b'm') => self.screen.cursor.style.apply(parameters),
            Part::Text(_) | Part::Kept | Part::Dropped => {}
            Part::Control(b'\n') => {
                self.mode = Mode::Folding;
                self.restart(1, self.screen.cursor.style);
            }
            Part::Control(_) => {}
            _ => {
                self.mode = Mode::Stopped;
                return 0;
            }
        }
        self.pass(&text[..bytes])
    }

    /// Takes the piece. Text pushed later continues it.
    pub fn take(&mut self) -> String {
        if self.mode == Mode::Folding {
            self.flush();
        }
        let mut text = std::mem::take(&mut self.settled);
        text.push_str(&self.pending[self.pending_sent..]);
        text.push_str(&self.unfinished[self.unfinished_sent..]);
        self.pending_sent = self.pending.len();
        self.unfinished_sent = self.unfinished.len();
        if text.is_empty() && self.is_touched && self.mode == Mode::Folding {
            // Invisible, but it still separates the text before and after it on another stream.
            self.reader.cursor.column = usize::MAX;
            self.reader.follow(&self.screen, &mut text);
        }
        self.is_touched = false;
        text
    }

    /// Takes all text as it is at the end: no moves of the cursor, unless text follows that is not folded.
    pub fn finish(mut self) -> String {
        if self.mode != Mode::Folding {
            return self.take();
        }
        if !self.reader.has_all(&self.screen) {
            self.place_pending();
        }
        if self.pending.is_empty() && self.mode == Mode::Folding {
            let was_followed = self.reader.has_all(&self.screen);
            self.screen.rows.iter_mut().filter(|row| row.changed_from.is_some()).for_each(crate::row::ScreenRow::trim);
            self.reader.write_changes(&mut self.screen, &mut self.settled);
            self.reader.move_down(self.screen.cursor.row, &mut self.settled);
            if !was_followed {
                self.reader.dress(Style::default(), &mut self.settled);
            }
            return self.settled + &self.unfinished;
        }
        self.flush();
        self.settled + &self.pending + &self.unfinished
    }

    /// Characters and styles of the rows; `None` if a part of the text is not folded.
    pub(crate) fn cells(mut self) -> Option<Vec<Vec<(String, Style)>>> {
        self.place_pending();
        if self.mode != Mode::Folding || self.screen.forgotten > 0 {
            return None;
        }
        let cell = |cell: &crate::row::ScreenCell| {
            let mut text = String::new();
            cell.write_to(&mut text);
            (text, cell.style)
        };
        Some(self.screen.rows.iter().map(|row| row.cells.iter().map(cell).collect()).collect())
    }
}

fn style_after(text: &str, mut style: Style) -> Style {
    let mut rest = text;
    while let Some(at) = rest.find('\u{1b}') {
        let (part, bytes) = escape::next(&rest[at..]);
        if let Part::Csi(parameters, b'm') = part {
            style.apply(parameters);
        }
        rest = &rest[at + bytes..];
    }
    style
}
