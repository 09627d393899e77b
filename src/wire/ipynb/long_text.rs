//! Prints a long text of an output in pieces, in the style of the file, so that it is never in memory as a whole.

use super::json::print_escaped;
use super::output::{is_line_end, split_lines};

/// Placeholder in an output for the long value with this number.
pub fn long_mark(number: usize) -> String {
    format!("\u{e000}long value {number} of this output\u{e000}")
}

/// Printer of a text: one string, or one string per line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LongText {
    /// Text between two lines. `None`: the text is printed as one string.
    between: Option<String>,
    has_begun: bool,
    /// True while the current string has no closing quote.
    is_open: bool,
    /// True if the text so far ends with `\r`: the next character decides if the line ends there.
    is_undecided: bool,
}

impl LongText {
    /// Starts a text; `before` is the text before it in the file.
    pub(super) fn after(before: &str) -> Self {
        let blank = before.len() - before.trim_end_matches([' ', '\n']).len();
        let (line, indent) = before.split_at(before.len() - blank);
        let between = line.ends_with('[').then(|| format!(",{indent}"));
        Self { between, has_begun: false, is_open: false, is_undecided: false }
    }

    /// Prints the next piece of the text.
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

    /// Ends the text after the last piece.
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
