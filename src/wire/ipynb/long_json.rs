//! Prints a long JSON value of an output in pieces, in the style of the file, so that it is never in memory as a whole.

/// Printer that adds the line breaks of a file. Keys keep their order, numbers and strings their spelling.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LongJson {
    /// Indent of the line on which the value begins.
    indent: usize,
    depth: usize,
    in_string: bool,
    /// True if the last character was a backslash in a string.
    is_escaped: bool,
    /// True if a list or an object was just opened and is empty so far.
    is_opened: bool,
}

impl LongJson {
    /// Starts a value; `before` is the text before it in the file.
    pub(super) fn after(before: &str) -> Self {
        let line = before.rsplit('\n').next().unwrap_or_default();
        let indent = line.len() - line.trim_start_matches(' ').len();
        Self { indent, depth: 0, in_string: false, is_escaped: false, is_opened: false }
    }

    /// Prints the next piece of the value, which must be JSON.
    pub fn push(&mut self, text: &str, out: &mut String) {
        for character in text.chars() {
            if self.in_string {
                out.push(character);
                self.in_string = self.is_escaped || character != '"';
                self.is_escaped = !self.is_escaped && character == '\\';
            } else if !character.is_ascii_whitespace() {
                self.token(character, out);
            }
        }
    }

    fn token(&mut self, character: char, out: &mut String) {
        let was_opened = std::mem::take(&mut self.is_opened);
        if let '}' | ']' = character {
            self.depth = self.depth.saturating_sub(1);
            if !was_opened {
                self.new_line(out);
            }
            return out.push(character);
        }
        if was_opened {
            self.new_line(out);
        }
        out.push(character);
        match character {
            '{' | '[' => (self.depth, self.is_opened) = (self.depth + 1, true),
            ',' => self.new_line(out),
            ':' => out.push(' '),
            '"' => self.in_string = true,
            _ => {}
        }
    }

    fn new_line(&self, out: &mut String) {
        out.push('\n');
        out.extend(std::iter::repeat_n(' ', self.indent + self.depth));
    }
}
