//! The text of one stream piece, with carriage return and backspace applied as in Jupyter front ends.
//!
//! `\r` moves to the start of the line, `\b` one character back (never over a line break), written characters
//! overwrite, `\n` appends a new line. A piece may begin in the middle of a line that was already sent. Control characters that
//! need that line stay in the text, so that the concatenated pieces always render like the input.

/// Accumulates stream text and returns it in pieces.
#[derive(Debug, Default)]
pub struct StreamText {
    /// Text that later input of this piece cannot change any more, or (without `open`) an untouched last line.
    settled: String,
    /// The last line, once a control character has made it editable.
    open: Option<OpenLine>,
    /// Byte offset in `settled` at which its last line begins.
    line_start: usize,
    /// The piece began in a line of which an earlier piece holds the beginning, and is still in that line.
    continues: bool,
}

#[derive(Debug, Default)]
struct OpenLine {
    cells: Vec<char>,
    cursor: usize,
    bytes: usize,
}

impl OpenLine {
    fn from_text(text: &str) -> Self {
        let cells: Vec<char> = text.chars().collect();
        Self { cursor: cells.len(), cells, bytes: text.len() }
    }

    fn write(&mut self, text: &str) {
        for character in text.chars() {
            self.bytes += character.len_utf8();
            match self.cells.get_mut(self.cursor) {
                Some(cell) => self.bytes -= std::mem::replace(cell, character).len_utf8(),
                None => self.cells.push(character),
            }
            self.cursor += 1;
        }
    }

    /// Appends the line. If its cursor is not at the end, repeats its beginning, which moves the reader's cursor there.
    fn append_to(&self, text: &mut String, keep_cursor: bool) {
        text.extend(&self.cells);
        if keep_cursor && self.cursor < self.cells.len() {
            text.push('\r');
            text.extend(&self.cells[..self.cursor]);
        }
    }
}

impl StreamText {
    /// Bytes held now.
    pub fn len(&self) -> usize {
        self.settled.len() + self.open.as_ref().map_or(0, |line| line.bytes)
    }

    /// True if no text is held.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Adds text that the kernel wrote.
    pub fn push(&mut self, mut text: &str) {
        while let Some(at) = text.find(['\r', '\u{8}']) {
            self.push_plain(&text[..at]);
            self.control(text.as_bytes()[at]);
            text = &text[at + 1..];
        }
        self.push_plain(text);
    }

    /// Takes the piece. Text pushed later continues its last line.
    pub fn take(&mut self) -> String {
        let mut text = std::mem::take(&mut self.settled);
        if let Some(line) = self.open.take() {
            line.append_to(&mut text, true);
            if text.is_empty() {
                // Invisible, but it still separates the text before and after it on another stream.
                text.push('\r');
            }
        }
        self.line_start = 0;
        self.continues = if text.is_empty() { self.continues } else { !text.ends_with('\n') };
        text
    }

    fn push_plain(&mut self, text: &str) {
        let Some(line) = &mut self.open else {
            return self.append(text);
        };
        let Some(at) = text.find('\n') else {
            return line.write(text);
        };
        line.write(&text[..at]);
        self.settle();
        self.append(&text[at..]);
    }

    fn append(&mut self, text: &str) {
        if let Some(at) = text.rfind('\n') {
            self.line_start = self.settled.len() + at + 1;
            self.continues = false;
        }
        self.settled.push_str(text);
    }

    fn settle(&mut self) {
        if let Some(line) = self.open.take() {
            line.append_to(&mut self.settled, false);
        }
    }

    fn control(&mut self, control: u8) {
        if self.open.is_none() && !self.open_line(control) {
            return;
        }
        if let Some(line) = &mut self.open {
            line.cursor = if control == b'\r' { 0 } else { line.cursor.saturating_sub(1) };
        }
    }

    /// Makes the last line editable; in a continued line only for `\r`, while a `\b` stays in the text.
    fn open_line(&mut self, control: u8) -> bool {
        if !self.continues {
            self.open = Some(OpenLine::from_text(&self.settled[self.line_start..]));
            self.settled.truncate(self.line_start);
            return true;
        }
        self.settled.push(char::from(control));
        self.line_start = self.settled.len();
        if control == b'\r' {
            self.open = Some(OpenLine::default());
        }
        false
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The text as a reader sees it: every `\r` and `\b` carried out.
    pub fn render(text: &str) -> String {
        let mut stream = StreamText::default();
        stream.push(text);
        let mut rendered = std::mem::take(&mut stream.settled);
        if let Some(line) = stream.open {
            line.append_to(&mut rendered, false);
        }
        rendered
    }

    /// The rules in their plainest form, over one buffer of characters.
    fn oracle(text: &str) -> String {
        let (mut cells, mut cursor) = (Vec::<char>::new(), 0);
        for character in text.chars() {
            match character {
                '\n' => {
                    cells.push('\n');
                    cursor = cells.len();
                }
                '\r' => cursor = cells[..cursor].iter().rposition(|c| *c == '\n').map_or(0, |at| at + 1),
                '\u{8}' if cursor > 0 && cells[cursor - 1] != '\n' => cursor -= 1,
                '\u{8}' => {}
                _ if cursor < cells.len() => {
                    cells[cursor] = character;
                    cursor += 1;
                }
                _ => {
                    cells.push(character);
                    cursor += 1;
                }
            }
        }
        cells.into_iter().collect()
    }

    #[test]
    fn progress_lines_collapse() {
        let mut stream = StreamText::default();
        for percent in 0..=100 {
            stream.push(&format!("\r{percent}%"));
        }
        assert_eq!(stream.take(), "100%");
        stream.push("\r7\r8");
        assert_eq!(stream.take(), "\r8");
    }

    #[test]
    fn known_renderings() {
        for (text, shown) in [
            ("abc\rX", "Xbc"),
            ("abc\r\ndef\r\n", "abc\ndef\n"),
            ("ab\u{8}c", "ac"),
            ("a\n\u{8}b", "a\nb"),
            ("é\rœu", "œu"),
            ("long line\rshort\n", "shortline\n"),
        ] {
            assert_eq!(render(text), shown, "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn pieces_render_like_the_whole(parts in prop::collection::vec("[abé\n\r\u{8}]{0,12}", 0..12), take in prop::collection::vec(any::<bool>(), 12)) {
            let whole = parts.concat();
            let (mut stream, mut sent) = (StreamText::default(), String::new());
            for (part, take) in parts.iter().zip(take) {
                stream.push(part);
                if take {
                    sent.push_str(&stream.take());
                }
            }
            sent.push_str(&stream.take());
            prop_assert_eq!(render(&whole), oracle(&whole));
            prop_assert_eq!(oracle(&sent), oracle(&whole));
        }

        #[test]
        fn length_is_what_is_held(text in "[abé\n\r\u{8}]{0,40}") {
            let mut stream = StreamText::default();
            stream.push(&text);
            let (held, line) = (stream.len(), stream.open.as_ref().map_or(0, |l| l.cells[..l.cursor.min(l.cells.len())].iter().map(|c| c.len_utf8()).sum::<usize>() + 1));
            let taken = stream.take().len();
            prop_assert!(taken == held || taken == held + line);
        }
    }
}
