//! A long text of an output, written piece by piece as it stands in the file: nobody needs to hold all of it.

use super::json::print_escaped;
use super::output::{is_line_end, split_lines};

/// Stands in an output where a long value belongs: the first, the second …
pub fn long_mark(number: usize) -> String {
    format!("\u{e000}long value {number} of this output\u{e000}")
}

/// The text as the file has it: one string, or a string for each line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LongText {
    /// What stands between two lines. `None`: the text is one string.
    between: Option<String>,
    has_begun: bool,
    /// The string that is written has not ended.
    is_open: bool,
    /// It ends with `\r`: whether that ends the line, the next character says.
    is_undecided: bool,
}

impl LongText {
    /// `before`: what stands before the text in its file.
    pub(super) fn after(before: &str) -> Self {
        let blank = before.len() - before.trim_end_matches([' ', '\n']).len();
        let (line, indent) = before.split_at(before.len() - blank);
        let between = line.ends_with('[').then(|| format!(",{indent}"));
        Self { between, has_begun: false, is_open: false, is_undecided: false }
    }

    /// Writes the next piece of the text.
    pub fn push(&mut self, text: &str, out: &mut String) {
        if text.is_empty() {
            return;
        }
        if self.between.is_some() {
            return self.push_lines(text, out);
        }
        self.open(out);
        print_escaped(out, text);
    }

    /// After the last piece.
    pub fn end(&mut self, out: &mut String) {
        if !self.has_begun {
            self.open(out);
        }
        self.close(out);
    }

    fn push_lines(&mut self, text: &str, out: &mut String) {
        if std::mem::take(&mut self.is_undecided) && !text.starts_with('\n') {
            self.close(out);
        }
        let mut lines = split_lines(text).peekable();
        while let Some(line) = lines.next() {
            self.open(out);
            print_escaped(out, line);
            self.is_undecided = line.ends_with('\r') && lines.peek().is_none();
            if line.ends_with(is_line_end) && !self.is_undecided {
                self.close(out);
            }
        }
    }

    fn open(&mut self, out: &mut String) {
        if std::mem::replace(&mut self.is_open, true) {
            return;
        }
        if std::mem::replace(&mut self.has_begun, true) {
            out.push_str(self.between.as_deref().unwrap_or_default());
        }
        out.push('"');
    }

    fn close(&mut self, out: &mut String) {
        if std::mem::take(&mut self.is_open) {
            out.push('"');
        }
    }
}
