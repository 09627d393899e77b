//! Prints to standard output: lines, tables, JSON, diffs, results of commands, times, sizes. Text of notebooks never reaches the terminal as a control
//! sequence, except colours where they are enabled.

use std::fmt::Display;
use std::io::Write;
use std::time::Duration;

use console::{Alignment, colors_enabled, measure_text_width, pad_str};
use indicatif::{ProgressBar, ProgressStyle};
use notarium_core::Millis;
use notarium_report::words::is_unsafe;
use notarium_wire::rest::Answer;
use serde::Serialize;

/// Styles text if standard output shows colours: it is a terminal, and the user has not disabled them
/// (<https://no-color.org>).
pub use console::style;
pub use notarium_report::words::{clean, clock, count, duration, short, time};

use crate::cli::{Ended, Failure};

/// Widest column of a table, in characters.
const MAX_COLUMN_WIDTH: usize = 60;

/// Prints a line. If the reader has closed the pipe (`notarium log | head`), the program ends without an error.
pub fn line(text: impl Display) -> Ended {
    raw(&format!("{text}\n"))
}

/// Prints text unchanged.
pub fn raw(text: &str) -> Ended {
    bytes(text.as_bytes())
}

/// Prints bytes and flushes.
pub fn bytes(bytes: &[u8]) -> Ended {
    let mut output = std::io::stdout().lock();
    output.write_all(bytes).and_then(|()| output.flush()).map_err(|error| match error.kind() {
        std::io::ErrorKind::BrokenPipe => Failure::reader_gone(),
        _ => Failure::failed(format!("standard output cannot be written: {error}")),
    })
}

/// Prints a line of a server, which continues even if the output was closed.
pub fn announce(text: impl Display) {
    let _ = bytes(format!("{text}\n").as_bytes());
}

/// Prints a remark for people on standard error.
pub fn note(text: impl Display) {
    // Ignored: without a standard error, no person reads it.
    let _ = writeln!(std::io::stderr(), "{text}");
}

/// Like [`note`], as the result of a command.
pub fn noted(text: impl Display) -> Ended {
    note(text);
    Ok(())
}

/// A progress line on standard error, if that is a terminal.
pub fn progress(bar: ProgressBar, template: &str) -> ProgressBar {
    bar.with_style(ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar()))
}

/// Like [`progress`], for an unknown length.
pub fn spinner() -> ProgressBar {
    let bar = progress(ProgressBar::new_spinner(), "{spinner} {msg} ({elapsed})");
    bar.enable_steady_tick(Duration::from_millis(120));
    bar
}

/// Prints the lines of a text, each after a margin.
pub fn block(margin: &str, text: &str) -> Ended {
    text.lines().try_for_each(|text| line(format!("{margin}{text}")))
}

/// Prints a value as indented JSON.
pub fn json(value: &impl Serialize) -> Ended {
    line(serde_json::to_string_pretty(value).map_err(unprintable)?)
}

/// Prints a value as JSON on one line.
pub fn json_line(value: &impl Serialize) -> Ended {
    line(serde_json::to_string(value).map_err(unprintable)?)
}

/// Prints a created item as JSON, or only its secret on standard output, so that a script can read it.
pub fn secret(made: &impl Serialize, secret: &str, as_json: bool, remark: &str) -> Ended {
    if as_json {
        return json(made);
    }
    note(remark);
    line(secret)
}

fn unprintable(error: serde_json::Error) -> Failure {
    Failure::failed(format!("this cannot be shown as JSON: {error}"))
}

// --- text of other people ---

/// Untrusted text of several lines. Colours stay if they are enabled; every other control sequence is removed.
pub fn clean_block(text: &str) -> String {
    clean_block_for(text, colors_enabled())
}

fn clean_block_for(text: &str, keeps_colours: bool) -> String {
    let mut cleaned = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(character) = rest.chars().next() {
        let (sequence, is_colour) = escape_sequence(rest);
        if sequence > 0 {
            if is_colour && keeps_colours {
                cleaned.push_str(&rest[..sequence]);
            }
            rest = &rest[sequence..];
            continue;
        }
        if matches!(character, '\n' | '\t') || !is_unsafe(character) {
            cleaned.push(character);
        }
        rest = &rest[character.len_utf8()..];
    }
    cleaned
}

/// Untrusted text for a decision, with nothing hidden: colours and controls are shown as marks.
pub fn shown_whole(text: &str) -> String {
    let mark = |character| if character == '\x1b' { '␛' } else { '\u{fffd}' };
    let shown =
        |character| if matches!(character, '\n' | '\t') || !is_unsafe(character) { character } else { mark(character) };
    text.chars().map(shown).collect()
}

/// Length in bytes of the control sequence (`ESC [ … letter`) at the start, and whether it sets colours; 0 if there is none.
fn escape_sequence(text: &str) -> (usize, bool) {
    let Some(rest) = text.strip_prefix("\x1b[") else { return (0, false) };
    let parameters = rest.bytes().take_while(|byte| (0x20..0x40).contains(byte)).count();
    match rest.as_bytes().get(parameters) {
        Some(last) if (0x40..0x7f).contains(last) => (2 + parameters + 1, *last == b'm'),
        _ => (2, false),
    }
}

// --- tables ---

/// Prints a list as JSON, or as a table with a row per item, as wide as needed; prints `empty` if there are none.
pub async fn list<T: Serialize, const N: usize>(
    items: &[T],
    as_json: bool,
    empty: &str,
    headings: [&str; N],
    mut row: impl AsyncFnMut(&T) -> [String; N],
) -> Ended {
    if as_json {
        return json(&items);
    }
    if items.is_empty() {
        note(empty);
        return Ok(());
    }
    let mut rows = Vec::with_capacity(items.len() + 1);
    for item in items {
        rows.push(row(item).await.map(|cell| shorten(&clean(&cell), MAX_COLUMN_WIDTH)));
    }
    rows.insert(0, headings.map(str::to_uppercase));
    let mut lines = columns(&rows).into_iter();
    lines.next().map_or(Ok(()), |headings| line(style(headings).dim()))?;
    lines.try_for_each(line)
}

/// Rows as lines, each column as wide as needed.
pub fn columns<R: AsRef<[String]>>(rows: &[R]) -> Vec<String> {
    let mut widths = Vec::new();
    for row in rows {
        widths.resize(row.as_ref().len().max(widths.len()), 0);
        for (width, cell) in widths.iter_mut().zip(row.as_ref()) {
            *width = measure_text_width(cell).max(*width);
        }
    }
    rows.iter().map(|row| padded(row.as_ref(), &widths)).collect()
}

fn padded(cells: &[String], widths: &[usize]) -> String {
    let cells = cells.iter().zip(widths).map(|(cell, width)| pad_str(cell, *width, Alignment::Left, None));
    cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
}

/// At most `columns` columns; a cut is marked.
pub fn shorten(text: &str, columns: usize) -> String {
    console::truncate_str(text, columns, "…").into_owned()
}

// --- times and sizes ---

/// A time, or a dash.
pub fn optional_time(at: Option<Millis>) -> String {
    at.map_or_else(|| "–".to_owned(), time)
}

/// `812 B`, `12.50 KiB`.
pub fn size(bytes: u64) -> String {
    indicatif::BinaryBytes(bytes).to_string()
}

// --- diffs, and results of commands ---

/// A unified diff for the terminal.
pub fn coloured(diff: &str) -> String {
    let line = |line: &str| {
        let text = style(clean(line));
        let text = match line.bytes().next() {
            Some(b'+') => text.green(),
            Some(b'-') => text.red(),
            Some(b'@') => text.dim(),
            _ => text,
        };
        format!("{text}\n")
    };
    diff.lines().map(line).collect()
}

/// Prints the result of a command for people.
pub fn report(answer: &Answer) -> Ended {
    for notice in &answer.outcome.notices {
        note(format!("note: {}", clean(notice)));
    }
    noted(format!("done: version {}", answer.version))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_sequences_never_reach_the_terminal() {
        assert_eq!(clean("a\x1b]0;title\x07b\nc"), "a ]0;title b c");
        assert_eq!(
            clean_block_for("\x1b[31mred\x1b[0m\x1b[2J\n\x1b]0;x\x07end\r", true),
            "\x1b[31mred\x1b[0m\n]0;xend"
        );
        assert_eq!(clean_block_for("\x1b[31mred\x1b[0m", false), "red");
        assert_eq!(clean("\u{202e}txt.exe"), " txt.exe");
    }

    #[test]
    fn nothing_is_hidden_from_who_is_to_decide() {
        assert_eq!(shown_whole("\x1b[8mrm\x1b[0m\r\n\t\u{202e}x"), "␛[8mrm␛[0m\u{fffd}\n\t\u{fffd}x");
    }

    #[test]
    fn a_cut_sequence_does_not_panic() {
        for text in ["\x1b", "\x1b[", "\x1b[3", "\x1b[3é", "\x1b[é"] {
            clean_block_for(text, true);
        }
    }

    #[test]
    fn columns_line_up_whatever_the_script() {
        let row = |cells: [&str; 2]| padded(&cells.map(str::to_owned), &[4, 1]);
        assert_eq!(row(["日本", "x"]), "日本  x");
        assert_eq!(row(["ab", "x"]), "ab    x");
    }

    #[test]
    fn sizes_are_words() {
        assert_eq!(size(1_572_864), "1.50 MiB");
    }
}
