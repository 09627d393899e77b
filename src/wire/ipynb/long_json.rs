//! A long JSON value of an output, written piece by piece as it stands in the file: nobody needs to hold all of it.

/// The value with the line breaks of a file. Its keys keep their order, its numbers and strings their spelling.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LongJson {
    /// Of the line that the value begins on.
    indent: usize,
    depth: usize,
    in_string: bool,
    /// The last character was a backslash in a string.
    is_escaped: bool,
    /// A list or an object has begun, and nothing stands in it yet.
    is_opened: bool,
}

impl LongJson {
    /// `before`: what stands before the value in its file.
    pub(super) fn after(before: &str) -> Self {
        let line = before.rsplit('\n').next().unwrap_or_default();
        let indent = line.len() - line.trim_start_matches(' ').len();
        Self { indent, depth: 0, in_string: false, is_escaped: false, is_opened: false }
    }

    /// Writes the next piece of the value, which must be JSON.
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
