//! Long values of a file, printed in pieces, so that they are never in memory as a whole. A string that marks each of them is printed
//! first, with its cell.

use super::output::{is_line_end, split_lines};

/// Strings that stand for the long values of a file.
#[derive(Debug, Clone)]
pub struct LongMarks {
    /// Text before the number of a mark, which no value of the file contains.
    start: String,
}

/// Text after the number of a mark.
const MARK_END: char = ';';

impl LongMarks {
    /// Makes marks; `unique` is text that no value of the file contains, for example a random id. It needs no escapes in JSON.
    pub fn new(unique: &str) -> Self {
        Self { start: format!("long value {unique}:") }
    }

    /// Returns the string that stands for the value with this number.
    pub fn mark(&self, number: usize) -> String {
        format!("{}{number}{MARK_END}", self.start)
    }

    /// Splits printed text at its marks: the text before the first, and each long value in the order of the file.
    pub fn split<'a>(&self, text: &'a str) -> (&'a str, Vec<LongValue>) {
        let start = format!("\"{}", self.start);
        let mut parts = text.split(&start);
        let first = parts.next().unwrap_or_default();
        let mut before = first;
        let value = |part: &'a str| {
            let (number, after) = part.split_once(MARK_END)?;
            let after = after.strip_prefix('"')?;
            let before = std::mem::replace(&mut before, after);
            Some(LongValue::new(number.parse().ok()?, before, after))
        };
        (first, parts.filter_map(value).collect())
    }
}

/// A long value: printed as text, or as JSON.
#[derive(Debug)]
pub struct LongValue {
    /// Number of its mark.
    pub number: usize,
    text: TextPrinter,
    json: JsonPrinter,
    is_json: bool,
    /// Text between this value and the next, or the end of the cell.
    after: String,
}

impl LongValue {
    fn new(number: usize, before: &str, after: &str) -> Self {
        let (text, json) = (TextPrinter::after(before), JsonPrinter::after(before));
        Self { number, text, json, is_json: false, after: after.to_owned() }
    }

    /// Chooses between JSON and text; call it before the first piece.
    pub fn set_json(&mut self, is_json: bool) {
        self.is_json = is_json;
    }

    /// Prints the next piece of the value.
    pub fn push(&mut self, piece: &str, out: &mut String) {
        if self.is_json { self.json.push(piece, out) } else { self.text.push(piece, out) }
    }

    /// Ends the value after its last piece, and prints the text up to the next one.
    pub fn end(mut self, out: &mut String) {
        if !self.is_json {
            self.text.end(out);
        }
        out.push_str(&self.after);
    }
}

/// Printer of a text: one string, or one string per line.
#[derive(Debug)]
struct TextPrinter {
    /// Quote before the first character; empty after it.
    quote: &'static str,
    /// Text between two lines. `None`: the text is printed as one string.
    between: Option<String>,
    /// Last character so far.
    last: Option<char>,
}

impl TextPrinter {
    /// Starts a text; `before` is the text before it in the file.
    fn after(before: &str) -> Self {
        let line = before.trim_end_matches([' ', '\n']);
        let between = line.ends_with('[').then(|| format!("\",{}\"", &before[line.len()..]));
        Self { quote: "\"", between, last: None }
    }

    /// Prints the next piece of the text.
    fn push(&mut self, text: &str, out: &mut String) {
        out.push_str(std::mem::take(&mut self.quote));
        let Some(between) = &self.between else { return print_escaped(out, text) };
        for line in split_lines(text) {
            // `\r\n` is one line end, also if the text is cut between its two characters.
            let is_cut = self.last == Some('\r') && line.starts_with('\n');
            if self.last.is_some_and(is_line_end) && !is_cut {
                out.push_str(between);
            }
            print_escaped(out, line);
            self.last = line.chars().last();
        }
    }

    /// Ends the text after the last piece.
    fn end(&mut self, out: &mut String) {
        out.push_str(std::mem::take(&mut self.quote));
        out.push('"');
    }
}

/// Printer that adds the line breaks of a file. Keys keep their order, numbers and strings their spelling.
#[derive(Debug)]
struct JsonPrinter {
    /// Indent of the line on which the value begins.
    indent: usize,
    depth: usize,
    in_string: bool,
    /// True if the last character was a backslash in a string.
    is_escaped: bool,
    /// True if a list or an object was just opened and is empty so far.
    is_opened: bool,
}

impl JsonPrinter {
    /// Starts a value; `before` is the text before it in the file.
    fn after(before: &str) -> Self {
        let line = before.rsplit('\n').next().unwrap_or_default();
        let indent = line.len() - line.trim_start_matches(' ').len();
        Self { indent, depth: 0, in_string: false, is_escaped: false, is_opened: false }
    }

    /// Prints the next piece of the value, which must be JSON.
    fn push(&mut self, text: &str, out: &mut String) {
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

/// Prints a part of a string, escaped.
fn print_escaped(out: &mut String, text: &str) {
    // Cannot fail: text is JSON in quotes.
    let quoted = serde_json::to_string(text).unwrap_or_default();
    out.push_str(quoted.get(1..quoted.len().saturating_sub(1)).unwrap_or_default());
}
