//! Text and tables of outputs: joins lines, removes terminal codes, cuts; recognises data frames of pandas and polars.

use std::borrow::Cow;

use serde_json::Value;
use serde_json::value::RawValue;

/// Most characters (Unicode scalar values) of a text in a preview.
pub const MAX_PREVIEW_CHARACTERS: usize = 500;
const MARK: &str = "…[truncated]";

/// The first 500 characters, and a mark if there were more.
pub fn truncated(text: &str) -> Cow<'_, str> {
    cut(text, MAX_PREVIEW_CHARACTERS)
}

/// The first `most` characters, and a mark if there were more.
pub(super) fn cut(text: &str, most: usize) -> Cow<'_, str> {
    match text.char_indices().nth(most) {
        Some((end, _)) => Cow::Owned(format!("{}{MARK}", &text[..end])),
        None => Cow::Borrowed(text),
    }
}

/// Joins a JSON string, or the array of lines that nbformat also allows; returns other JSON unchanged.
pub(super) fn joined(raw: &RawValue) -> String {
    match serde_json::from_str(raw.get()) {
        Ok(Value::String(text)) => text,
        Ok(Value::Array(lines)) if lines.iter().all(Value::is_string) => {
            lines.iter().filter_map(Value::as_str).collect()
        }
        _ => raw.get().to_owned(),
    }
}

pub(super) fn of_blob(bytes: &[u8], json: bool) -> String {
    let text = String::from_utf8_lossy(bytes);
    match json.then(|| serde_json::from_str::<Box<RawValue>>(&text)) {
        Some(Ok(raw)) => joined(&raw),
        _ => text.into_owned(),
    }
}

/// The final text on a terminal: no codes, and only the last state of overwritten lines.
pub(super) fn as_shown(text: &str) -> String {
    notarium_terminal::folded_plain(text)
}

/// Removes ANSI escape sequences (ECMA-48: CSI, OSC and the two-character ones).
pub fn without_escapes(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('\u{1b}') {
        shown.push_str(before);
        rest = after_escape(after);
    }
    shown.push_str(rest);
    shown
}

fn after_escape(after: &str) -> &str {
    let end_of = |found: Option<(usize, &str)>| found.map_or("", |(at, mark)| &after[at + mark.len()..]);
    match after.as_bytes().first() {
        Some(b'[') => {
            end_of(after[1..].char_indices().find(|(_, c)| ('@'..='~').contains(c)).map(|(at, _)| (at + 1, "x")))
        }
        Some(b']') => end_of(after.match_indices(['\u{7}', '\u{1b}']).next()).trim_start_matches('\\'),
        Some(byte) if byte.is_ascii() => &after[1..],
        _ => after,
    }
}

/// The words of a page: without tags, scripts and styles, blanks folded.
pub(super) fn words_of_html(html: &str) -> String {
    let html = without_element(&without_element(html, "script"), "style");
    let mut words = String::new();
    for piece in html.split('<') {
        words.push_str(piece.split_once('>').map_or(piece, |(_, text)| text));
        words.push(' ');
    }
    unescaped(&words).split_whitespace().collect::<Vec<_>>().join(" ")
}

fn without_element(html: &str, name: &str) -> String {
    let (open, close) = (format!("<{name}"), format!("</{name}>"));
    let mut kept = String::with_capacity(html.len());
    let mut rest = html;
    while let Some((before, inside)) = rest.split_once(open.as_str()) {
        kept.push_str(before);
        rest = inside.split_once(close.as_str()).map_or("", |(_, after)| after);
    }
    kept.push_str(rest);
    kept
}

/// Decodes the entities that pandas writes.
fn unescaped(html: &str) -> String {
    if !html.contains('&') {
        return html.to_owned();
    }
    let plain = html.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&#39;", "'");
    plain.replace("&nbsp;", " ").replace("&times;", "×").replace("&amp;", "&")
}

/// Describes the table of a page; `None` if the page is no data frame.
pub(super) fn table_of_html(html: &str) -> Option<String> {
    let start = html.find("class=\"dataframe").or_else(|| html.find("class='dataframe"))?;
    let table = &html[start..];
    let columns = header(table);
    let body = table.split_once("<tbody").map_or("", |(_, body)| body);
    let shown = body.split("</tbody>").next().unwrap_or_default().matches("<tr").count();
    let shape = stated_shape(&html.replace("&times;", "×")).unwrap_or((shown, columns.len()));
    Some(described(shape, &columns))
}

/// The column names in the first row of the head, without the corner above the index.
fn header(table: &str) -> Vec<String> {
    let head = table.split_once("<thead").map_or("", |(_, rest)| rest).split("</thead>").next().unwrap_or_default();
    let row = head.split("</tr>").next().unwrap_or_default();
    let cells = row.split("<th").skip(1).filter(|cell| !cell.starts_with("ead"));
    let names =
        cells.filter_map(|cell| cell.split_once('>')).map(|(_, text)| text.split('<').next().unwrap_or_default());
    let mut names: Vec<String> = names.map(|name| unescaped(name).trim().to_owned()).collect();
    if names.first().is_some_and(String::is_empty) {
        names.remove(0);
    }
    names
}

/// `100 rows × 5 columns` (pandas) or `shape: (100, 5)` (polars).
fn stated_shape(text: &str) -> Option<(usize, usize)> {
    let polars = text
        .rsplit_once("shape: (")
        .and_then(|(_, rest)| rest.split_once(')'))
        .and_then(|(inside, _)| inside.split_once(','));
    let pandas = text.rsplit_once(" columns").and_then(|(before, _)| {
        let before = before.trim_end_matches(|c: char| c.is_ascii_digit() || c == '_').len();
        let (rows, times) = text[..before].rsplit_once(" rows ")?;
        let columns = text[before..].split(' ').next()?;
        let rows = rows.rsplit(|c: char| !c.is_ascii_digit()).next()?;
        matches!(times.trim(), "×" | "x").then_some((rows, columns))
    });
    let number = |text: &str| text.trim().replace('_', "").parse().ok();
    polars.or(pandas).and_then(|(rows, columns)| Some((number(rows)?, number(columns)?)))
}

fn described((rows, width): (usize, usize), columns: &[String]) -> String {
    let words = format!("[DataFrame: {rows} rows x {width} cols]");
    let names = columns.iter().map(|name| if name == "..." { "…" } else { name }).collect::<Vec<_>>().join(", ");
    if names.is_empty() { words } else { format!("{words} columns: {}", truncated(&names)) }
}

/// Describes a frame or a series in pandas' plain text; `None` if it is not certainly one.
pub(super) fn table_of_text(text: &str) -> Option<String> {
    let last = text.trim_end().lines().next_back()?.trim();
    let is_frame = last.starts_with('[') && last.ends_with("columns]") || text.starts_with("shape: (");
    if is_frame {
        let columns = if text.starts_with("shape: (") { Vec::new() } else { column_line(text) };
        return stated_shape(text).map(|shape| described(shape, &columns));
    }
    let is_series =
        last.rsplit(", ").next().is_some_and(|part| part.starts_with("dtype: ")) && text.trim_end().contains('\n');
    is_series.then(|| series(text, last))
}

/// The column names above a frame. Two blanks separate columns, so a name with two blanks counts as two.
fn column_line(text: &str) -> Vec<String> {
    let line = text.lines().next().unwrap_or_default().trim_end_matches('\\');
    let names = line.split("  ").map(str::trim).filter(|name| !name.is_empty());
    names.map(str::to_owned).collect()
}

/// The last line reads `Name: price, Length: 100, dtype: int64`, where the first two may be absent.
fn series(text: &str, last: &str) -> String {
    let field = |name: &str| last.split(", ").find_map(|part| part.strip_prefix(name));
    let shown = text.trim_end().lines().count() - 1;
    let length = field("Length: ").and_then(|length| length.parse().ok()).unwrap_or(shown);
    let name = field("Name: ").map(|name| format!(" {name}")).unwrap_or_default();
    format!("[Series{name}: {length} values, dtype {}]", field("dtype: ").unwrap_or("object"))
}
