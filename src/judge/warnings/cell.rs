//! A cell as Python: the magics that IPython takes away are taken away here too, line for line.

use super::magics;
use crate::findings::{Findings, LineNumbers};
use crate::ipython::{after_blank_lines, has_python_body, plain, without_options};
use crate::python::{self, MAX_CHECKED_BYTES};
use crate::rules::DangerRule::{SqlUnknown, TooLong, TooNested};
use crate::sql;

/// CellText magics in cell magics.
const MAX_CELL_MAGICS: usize = 3;

/// Python of a cell, with as many lines as the cell has, and the warnings of its other parts.
#[derive(Default)]
pub(super) struct CellText {
    pub(super) text: String,
    pub(super) findings: Findings,
}

impl CellText {
    pub(super) fn read(code: &str) -> Self {
        let mut cell = Self::default();
        match code.len() > MAX_CHECKED_BYTES {
            true => cell.findings.add(TooLong, "This code", 1),
            false => cell.text = cell.python_inside(code, 1, 0),
        }
        cell
    }

    /// Python of a text that begins in this line.
    fn python_inside(&mut self, code: &str, start: u32, depth: usize) -> String {
        if depth > MAX_CELL_MAGICS {
            self.findings.add(TooNested, "%%", start);
            return String::new();
        }
        if let Some(body) = sql::sql_body(code) {
            // A person sees the body alone: its first line is the first.
            let lines = LineNumbers::of(body, start);
            sql::judge(body).iter().for_each(|(rule, words, at)| self.findings.add(*rule, words, lines.at(*at)));
            return String::new();
        }
        let (first, text) = after_blank_lines(code);
        let text = plain(text.trim_end());
        let line = start + first - 1;
        let blank = "\n".repeat(usize::try_from(first - 1).unwrap_or(0));
        let Some(after) = text.strip_prefix("%%") else {
            self.add_automagic(&text, line);
            return blank + &with_timed_code(&text);
        };
        let (head, body) = after.split_once('\n').unwrap_or((after, ""));
        let (name, rest) = head.trim().split_once(char::is_whitespace).unwrap_or((head.trim(), ""));
        self.cell_magic(name, rest.trim(), body, line);
        if !has_python_body(&text) && name != "timeit" {
            return String::new();
        }
        let setup = if matches!(name, "capture") { "" } else { without_options(rest) };
        let body = self.python_inside(body, line + 1, depth + 1);
        format!("{blank}{setup}\n{body}\n")
    }

    fn cell_magic(&mut self, name: &str, rest: &str, body: &str, line: u32) {
        if name.starts_with("notarium_sql") {
            self.findings.add(SqlUnknown, &format!("%%{name}"), line);
        }
        for (rule, words, below) in magics::of_cell(name, rest, body) {
            self.findings.add(rule, &words, line.saturating_add(below));
        }
    }

    /// A cell of one line that begins with a magic's name: IPython runs `reset -f` as `%reset -f`.
    fn add_automagic(&mut self, text: &str, line: u32) {
        if text.contains('\n') || !is_automagic(text) {
            return;
        }
        for (rule, words) in magics::of_line(text.trim()) {
            self.findings.add(rule, &words, line);
        }
    }
}

/// Checks that the first word is followed by words and not by an operator. `reset -f` and `rm -f` are valid Python as well.
fn is_automagic(line: &str) -> bool {
    let line = line.trim_start();
    let end = line.find(|found: char| !found.is_alphanumeric() && found != '_').unwrap_or(line.len());
    let rest = &line[end..];
    let is_path = rest.starts_with(" /") && !rest.starts_with(" / ");
    let operators = ['=', '(', '.', '[', ',', '+', '*', '/', '%', '<', '>', '!', '&', '|', '^', ':'];
    is_path || !rest.trim_start().starts_with(operators)
}

/// Replaces `%time f(x)` by `f(x)`.
fn with_timed_code(text: &str) -> String {
    let lines = text.split('\n').map(|line| {
        let code = line.trim_start();
        let indent = &line[..line.len() - code.len()];
        let Some((name, rest)) = code.strip_prefix('%').and_then(|magic| magic.split_once(' ')) else {
            return line.to_owned();
        };
        match matches!(name, "time" | "timeit" | "prun").then(|| without_options(rest).trim()) {
            // A string that is open at the end of the line would swallow the lines below.
            Some(code) if code.is_empty() || python::is_valid(code) => format!("{indent}{code}"),
            _ => line.to_owned(),
        }
    });
    lines.collect::<Vec<_>>().join("\n")
}
