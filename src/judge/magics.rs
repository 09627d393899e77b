//! IPython's own syntax: magics of lines and cells, `!commands`.

use ruff_python_ast::IpyEscapeKind;

use crate::python::Source;
use crate::{DangerRule, Findings, line_magics, sql};

/// Judges a whole cell: what IPython does to its text first (blank lines, indentation, prompts), then its first line decides.
pub(crate) fn check_cell(code: &str, source: &Source, findings: &mut Findings) {
    let (first_line, text) = after_blank_lines(code);
    let text = plain(text);
    if let Some(after) = text.strip_prefix("%%") {
        let (head, body) = after.split_once('\n').unwrap_or((after, ""));
        return check_cell_magic(head, body, first_line, source, findings);
    }
    source.check(&text, first_line, findings);
}

/// The text without leading indentation and copied prompts, as IPython reads it. The number of lines stays.
pub(crate) fn plain(code: &str) -> String {
    let indent = code.len() - code.trim_start_matches([' ', '\t']).len();
    let prefix = &code[..indent];
    let has_prompts = code[indent..].starts_with(">>>") || code[indent..].starts_with("In [");
    let lines = code.split('\n').map(|line| {
        let line = line.strip_prefix(prefix).unwrap_or(line);
        if has_prompts { without_prompt(line) } else { line }
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn without_prompt(line: &str) -> &str {
    for prompt in [">>> ", "... ", ">>>", "..."] {
        if let Some(rest) = line.strip_prefix(prompt) {
            return rest;
        }
    }
    let is_ipython = line.starts_with("In [") || line.trim_start().starts_with("...");
    line.split_once("]: ").or_else(|| line.split_once("...: ")).filter(|_| is_ipython).map_or(line, |(_, rest)| rest)
}

pub(crate) fn after_blank_lines(code: &str) -> (u32, &str) {
    let (mut line, mut rest) = (1, code);
    while let Some((head, tail)) = rest.split_once('\n') {
        if !head.trim().is_empty() {
            break;
        }
        (line, rest) = (line + 1, tail);
    }
    (line, rest)
}

/// Whether the magic that a cell begins with runs the rest as Python in the notebook's own names.
pub(crate) fn has_python_body(text: &str) -> bool {
    let name = text.trim_start_matches('%').split_whitespace().next().unwrap_or_default();
    matches!(name, "time" | "capture" | "prun" | "debug" | "memit")
}

/// One escape: a `!command`, a `%magic`, a `,call`. `%%` inside a cell that does not begin with it is no cell magic, but is
/// judged as one.
pub(crate) fn check_escape(kind: IpyEscapeKind, value: &str, line: u32, source: &Source, findings: &mut Findings) {
    match kind {
        IpyEscapeKind::Shell | IpyEscapeKind::ShCap => {
            findings.add(DangerRule::ShellCommand, &format!("!{value}"), line)
        }
        IpyEscapeKind::Magic => line_magics::check(value, line, source, findings),
        IpyEscapeKind::Magic2 => check_cell_magic(value, "", line, source, findings),
        // `,f a b`, `;f a b` and `/f a` become calls, of a magic too.
        IpyEscapeKind::Quote | IpyEscapeKind::Quote2 | IpyEscapeKind::Paren => {
            findings.add(DangerRule::DynamicCode, value, line)
        }
        IpyEscapeKind::Help | IpyEscapeKind::Help2 => check_help(value, line, source, findings),
    }
}

/// `%ls?` asks about a magic. Where what stands before the `?` is no name, IPython runs the magic.
fn check_help(value: &str, line: u32, source: &Source, findings: &mut Findings) {
    if value.starts_with('%') && !value.ends_with(|found: char| found.is_alphanumeric() || matches!(found, '_' | '*')) {
        line_magics::check(value, line, source, findings);
    }
    line_magics::check_fields(value, line, source, findings);
}

fn check_cell_magic(head: &str, body: &str, line: u32, source: &Source, findings: &mut Findings) {
    let name = head.split_whitespace().next().unwrap_or_default();
    let rest = head.trim_start()[name.len()..].trim();
    let mut add = |rule| findings.add(rule, &format!("%%{name}"), line);
    match name {
        "bash" | "sh" | "zsh" | "script" | "cmd" | "system" | "sx" | "powershell" | "!" => {
            add(DangerRule::ShellCommand)
        }
        "writefile" | "file" => add(DangerRule::WritesFile),
        "js" | "javascript" => add(DangerRule::BrowserScript),
        "html" | "HTML" | "svg" | "SVG" => {
            if body.contains("<script") {
                add(DangerRule::BrowserScript);
            }
        }
        "markdown" | "latex" => {}
        // Its code runs around every later cell.
        "code_wrap" => add(DangerRule::DynamicCode),
        "time" | "timeit" | "prun" | "capture" | "debug" | "memit" | "mprun" | "lprun" => {
            if name != "capture" {
                line_magics::check_profile(name, rest, line, findings);
                source.check_inside(line_magics::without_options(rest), line, findings);
            }
            match body.trim_start().starts_with("%%") {
                true => source.check_inside(body, line + 1, findings),
                false => source.check(body, line + 1, findings),
            }
        }
        name if line_magics::is_sql(name) => {
            sql::check_in_line(rest, line, findings);
            sql::check(body, line + 1, findings);
        }
        // What its body is written in, nobody knows.
        _ => add(DangerRule::OtherProgram),
    }
    if !matches!(name, "timeit" | "prun" | "debug") {
        line_magics::check_fields(rest, line, source, findings);
    }
}
