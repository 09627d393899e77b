//! What people see on standard output: lines, tables, JSON, times, sizes. Nothing that comes from a notebook reaches the
//! terminal as a control sequence, but for colours where colours are wanted.

use std::io::{IsTerminal, Write};

use notarium_core::Millis;
use serde::Serialize;

use super::{Ended, Failure};

/// Longest cell of a table, in columns.
const MAX_COLUMN_WIDTH: usize = 60;

/// Writes a line. A reader that went away (`notarium log | head`) ends the program without complaint.
pub fn line(text: impl AsRef<str>) -> Ended {
    raw(&format!("{}\n", text.as_ref()))
}

/// Writes text as it is.
pub fn raw(text: &str) -> Ended {
    bytes(text.as_bytes())
}

/// Writes bytes and hands them on at once.
pub fn bytes(bytes: &[u8]) -> Ended {
    let mut output = std::io::stdout().lock();
    output.write_all(bytes).and_then(|()| output.flush()).map_err(|error| match error.kind() {
        std::io::ErrorKind::BrokenPipe => Failure::reader_gone(),
        _ => Failure::failed(format!("standard output cannot be written: {error}")),
    })
}

/// A remark for people, on standard error.
pub fn note(text: impl AsRef<str>) {
    // Without a standard error there is nobody to tell.
    let _ = writeln!(std::io::stderr(), "{}", text.as_ref());
}

/// A value as JSON, with line breaks.
pub fn json(value: &impl Serialize) -> Ended {
    line(serde_json::to_string_pretty(value).map_err(unprintable)?)
}

/// A value as JSON on one line.
pub fn json_line(value: &impl Serialize) -> Ended {
    line(serde_json::to_string(value).map_err(unprintable)?)
}

fn unprintable(error: serde_json::Error) -> Failure {
    Failure::failed(format!("this cannot be shown as JSON: {error}"))
}

// --- colours ---

/// Whether standard output shows colours: a terminal, and the user has not said no (<https://no-color.org>).
pub fn has_colours() -> bool {
    let refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    !refused && std::io::stdout().is_terminal()
}

/// How a word stands out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    Bold,
    Dim,
    Red,
    Green,
    Yellow,
    Cyan,
}

/// The text in a style, where colours are shown.
pub fn styled(text: impl AsRef<str>, style: Style) -> String {
    let text = text.as_ref();
    if !has_colours() {
        return text.to_owned();
    }
    let code = match style {
        Style::Bold => 1,
        Style::Dim => 2,
        Style::Red => 31,
        Style::Green => 32,
        Style::Yellow => 33,
        Style::Cyan => 36,
    };
    format!("\x1b[{code}m{text}\x1b[0m")
}

/// One line of foreign text: every control character becomes a blank.
pub fn clean(text: &str) -> String {
    text.chars().map(|character| if is_unsafe(character) { ' ' } else { character }).collect()
}

/// Foreign text of several lines. Colours stay where they are shown; every other control sequence goes.
pub fn clean_block(text: &str) -> String {
    clean_block_for(text, has_colours())
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

/// Text of others of which nothing may be hidden, for who is to decide on it: also colours and controls are shown, as marks.
pub fn shown_whole(text: &str) -> String {
    let mark = |character| if character == '\x1b' { '␛' } else { '\u{fffd}' };
    let shown =
        |character| if matches!(character, '\n' | '\t') || !is_unsafe(character) { character } else { mark(character) };
    text.chars().map(shown).collect()
}

/// Controls, and the marks that turn the direction of what follows.
fn is_unsafe(character: char) -> bool {
    character.is_control() || matches!(character, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Bytes of the control sequence (`ESC [ … letter`) at the start, and whether it sets colours; 0 where there is none.
fn escape_sequence(text: &str) -> (usize, bool) {
    let Some(rest) = text.strip_prefix("\x1b[") else { return (0, false) };
    let parameters = rest.bytes().take_while(|byte| (0x20..0x40).contains(byte)).count();
    match rest.as_bytes().get(parameters) {
        Some(last) if (0x40..0x7f).contains(last) => (2 + parameters + 1, *last == b'm'),
        _ => (2, false),
    }
}

// --- tables ---

/// Rows under headings, as wide as they need to be.
#[derive(Debug)]
pub struct Table {
    headings: Vec<&'static str>,
    rows: Vec<Vec<String>>,
}

impl Table {
    pub fn new(headings: &[&'static str]) -> Self {
        Self { headings: headings.to_vec(), rows: Vec::new() }
    }

    /// One row, with as many cells as there are headings.
    pub fn row(&mut self, cells: Vec<String>) {
        self.rows.push(cells.iter().map(|cell| shorten(&clean(cell), MAX_COLUMN_WIDTH)).collect());
    }

    /// Writes it; `empty` where there are no rows.
    pub fn print(&self, empty: &str) -> Ended {
        if self.rows.is_empty() {
            note(empty);
            return Ok(());
        }
        let widths = self.widths();
        let headings: Vec<String> = self.headings.iter().map(|heading| heading.to_uppercase()).collect();
        line(styled(padded(&headings, &widths), Style::Dim))?;
        self.rows.iter().try_for_each(|row| line(padded(row, &widths)))
    }

    fn widths(&self) -> Vec<usize> {
        let width_of = |index: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(index)).map(|cell| width(cell));
            cells.chain([self.headings[index].len()]).max().unwrap_or(0)
        };
        (0..self.headings.len()).map(width_of).collect()
    }
}

fn padded(cells: &[String], widths: &[usize]) -> String {
    let fill = |(cell, wanted): (&String, &usize)| format!("{cell}{}", " ".repeat(wanted.saturating_sub(width(cell))));
    let line: Vec<String> = cells.iter().zip(widths).map(fill).collect();
    line.join("  ").trim_end().to_owned()
}

/// Columns that a text takes on a terminal.
fn width(text: &str) -> usize {
    console::measure_text_width(text)
}

/// At most so many columns; what is cut off is marked.
pub fn shorten(text: &str, columns: usize) -> String {
    console::truncate_str(text, columns, "…").into_owned()
}

// --- words ---

/// A time in the local zone: `2026-11-22T01:24:15+01:00`.
pub fn time(at: Millis) -> String {
    local(at).map_or_else(|| format!("{at} ms"), |time| time.format("%Y-%m-%dT%H:%M:%S%:z").to_string())
}

/// The time of day for people who watch: `01:24:15`.
pub fn clock(at: Millis) -> String {
    local(at).map_or_else(|| format!("{at} ms"), |time| time.format("%H:%M:%S").to_string())
}

fn local(at: Millis) -> Option<chrono::DateTime<chrono::Local>> {
    let utc = chrono::DateTime::<chrono::Utc>::from_timestamp_millis(i64::try_from(at).ok()?)?;
    Some(utc.with_timezone(&chrono::Local))
}

/// A time, or a dash.
pub fn optional_time(at: Option<Millis>) -> String {
    at.map_or_else(|| "–".to_owned(), time)
}

/// `0.42 s`, `3 min 5 s`.
pub fn duration(milliseconds: Millis) -> String {
    match milliseconds {
        0..10_000 => format!("{}.{:02} s", milliseconds / 1000, milliseconds % 1000 / 10),
        10_000..60_000 => format!("{} s", milliseconds / 1000),
        _ => format!("{} min {} s", milliseconds / 60_000, milliseconds % 60_000 / 1000),
    }
}

/// `812 bytes`, `12 KiB`, `3.4 MiB`.
pub fn size(bytes: u64) -> String {
    match bytes {
        0..1024 => format!("{bytes} bytes"),
        1024..1_048_576 => format!("{} KiB", bytes / 1024),
        _ => format!("{}.{} MiB", bytes >> 20, ((bytes & 0xf_ffff) * 10) >> 20),
    }
}

/// `1 cell`, `3 cells`.
pub fn count(number: usize, word: &str) -> String {
    if number == 1 { format!("1 {word}") } else { format!("{number} {word}s") }
}

/// The start of a long id, for people; enough to tell those of one notebook apart.
pub fn short(id: &str) -> &str {
    // ULIDs begin with their time: the end tells them apart.
    if id.len() > 12 { &id[id.len() - 6..] } else { id }
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
        let cells = |row: &[&str]| row.iter().map(|cell| (*cell).to_owned()).collect::<Vec<_>>();
        let widths = [4, 1];
        assert_eq!(padded(&cells(&["日本", "x"]), &widths), "日本  x");
        assert_eq!(padded(&cells(&["ab", "x"]), &widths), "ab    x");
    }

    #[test]
    fn sizes_and_durations_are_words() {
        assert_eq!(size(1_572_864), "1.5 MiB");
        assert_eq!(duration(420), "0.42 s");
        assert_eq!(duration(185_000), "3 min 5 s");
        assert_eq!(count(1, "cell"), "1 cell");
    }
}
