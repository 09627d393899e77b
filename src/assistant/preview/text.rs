//! Text of outputs: joins lines, removes terminal codes, cuts.

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
    let text = without_escapes(text);
    if !text.contains('\r') {
        return text;
    }
    let last_state = |line: &str| line.trim_end_matches('\r').rsplit('\r').next().unwrap_or_default().to_owned();
    text.split('\n').map(last_state).collect::<Vec<_>>().join("\n")
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
pub(super) fn unescaped(html: &str) -> String {
    if !html.contains('&') {
        return html.to_owned();
    }
    let plain = html.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&#39;", "'");
    plain.replace("&nbsp;", " ").replace("&times;", "×").replace("&amp;", "&")
}
