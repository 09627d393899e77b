//! One output: conversion between the form in memory and the form that the schema allows in a file.

use super::json::{Json, Map};
use super::schema::{is_execution_count, is_json_mime, is_mime_part, is_multiline, is_split_mime, is_string_list};

/// A field that the schema requires of an output type; no output type has optional fields.
struct Field {
    key: &'static str,
    fits: fn(&Json) -> bool,
    /// Returns the nearest value that fits, for a missing field (null) or one that does not fit.
    nearest: fn(&Json) -> Json,
}

const TYPE: Field = Field { key: "output_type", fits: Json::is_string, nearest: as_string };
const DATA: Field = Field { key: "data", fits: is_bundle, nearest: fitting_parts };
const METADATA: Field = Field { key: "metadata", fits: Json::is_object, nearest: |_| Json::empty_object() };
const COUNT: Field = Field { key: "execution_count", fits: is_execution_count, nearest: |_| Json::Null };
const NAME: Field = Field { key: "name", fits: Json::is_string, nearest: |_| Json::text("stdout") };
const TEXT: Field = Field { key: "text", fits: is_multiline, nearest: as_string };
const ENAME: Field = Field { key: "ename", fits: Json::is_string, nearest: as_string };
const EVALUE: Field = Field { key: "evalue", fits: Json::is_string, nearest: as_string };
const TRACEBACK: Field = Field { key: "traceback", fits: is_string_list, nearest: as_lines };

fn fields(output: &Map) -> &'static [Field] {
    match output.get("output_type").and_then(Json::as_str) {
        Some("display_data") => &[TYPE, DATA, METADATA],
        Some("execute_result") => &[TYPE, DATA, METADATA, COUNT],
        Some("stream") => &[TYPE, NAME, TEXT],
        Some("error") => &[TYPE, ENAME, EVALUE, TRACEBACK],
        _ => &[],
    }
}

fn has_bundle(output: &Map) -> bool {
    matches!(output.get("output_type").and_then(Json::as_str), Some("display_data" | "execute_result"))
}

fn is_bundle(value: &Json) -> bool {
    value.as_object().is_some_and(|parts| parts.iter().all(is_mime_part))
}

fn fitting_parts(value: &Json) -> Json {
    let parts = value.as_object().cloned().unwrap_or_default();
    Json::Object(parts.into_iter().filter(|(mime, part)| is_mime_part((mime, part))).collect())
}

/// Returns any value as text: lists are joined, other values are printed as JSON.
pub fn plain_text(value: &Json) -> String {
    match value {
        Json::Null => String::new(),
        Json::String(text) => text.clone(),
        Json::Array(items) => items.iter().map(plain_text).collect(),
        other => other.compact(),
    }
}

fn as_string(value: &Json) -> Json {
    Json::String(plain_text(value))
}

fn as_lines(value: &Json) -> Json {
    match value {
        Json::Null => Json::Array(Vec::new()),
        Json::Array(items) => Json::Array(items.iter().map(as_string).collect()),
        other => Json::Array(vec![as_string(other)]),
    }
}

/// Joins a list of lines, if it is one.
pub fn join(value: &mut Json) {
    if is_string_list(value) {
        *value = as_string(value);
    }
}

/// Joins the text parts of a MIME bundle.
pub fn join_bundle(value: &mut Json) {
    let Json::Object(parts) = value else { return };
    parts.iter_mut().filter(|(mime, _)| !is_json_mime(mime)).for_each(|(_, part)| join(part));
}

/// Splits the text parts of a MIME bundle that nbformat splits.
pub fn split_bundle(value: &mut Json) {
    let Json::Object(parts) = value else { return };
    parts.iter_mut().filter(|(mime, _)| is_split_mime(mime)).for_each(|(_, part)| split(part));
}

fn split(value: &mut Json) {
    if let Json::String(text) = value {
        *value = lines(text);
    }
}

/// Splits like Python's `str.splitlines(True)`.
pub fn split_lines(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let end = rest.find(is_line_end).map_or(rest.len(), |at| match rest[at..].starts_with("\r\n") {
            true => at + 2,
            false => rest.ceil_char_boundary(at + 1),
        });
        let (line, after) = rest.split_at(end);
        rest = after;
        (!line.is_empty()).then_some(line)
    })
}

/// Splits into a JSON list of lines.
pub fn lines(text: &str) -> Json {
    Json::Array(split_lines(text).map(Json::text).collect())
}

pub fn is_line_end(character: char) -> bool {
    matches!(character, '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{1c}'..='\u{1e}' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// Joins what files split, as nbformat does on reading.
pub fn join_output(output: &mut Map) {
    if output.get("output_type").is_none_or(Json::is_empty) {
        return;
    }
    let key = if has_bundle(output) { "data" } else { "text" };
    match output.get_mut(key) {
        Some(data) if key == "data" => join_bundle(data),
        Some(text) => join(text),
        None => {}
    }
}

pub fn split_output(output: &mut Map) {
    let key = if has_bundle(output) { "data" } else { "text" };
    let known = !fields(output).is_empty();
    match output.get_mut(key) {
        Some(data) if key == "data" => split_bundle(data),
        Some(text) if known => split(text),
        _ => {}
    }
}

/// Fills in missing required fields; returns true if there were any.
pub fn complete(output: &mut Map) -> bool {
    let before = output.len();
    for field in fields(output) {
        output.entry(field.key.to_owned()).or_insert_with(|| (field.nearest)(&Json::Null));
    }
    output.len() > before
}

/// Drops an empty `metadata` where the output type has none, which is frequent in real files. Returns true if it did.
pub fn drop_empty_metadata(output: &mut Map) -> bool {
    let has_none = !fields(output).is_empty() && !has_bundle(output);
    let empty = output.get("metadata").is_some_and(|metadata| *metadata == Json::empty_object());
    has_none && empty && output.remove("metadata").is_some()
}

/// Returns the output as a file may hold it, and the patch from which [`mend`] restores the original. No patch: the output fits.
pub fn fit(output: &Map) -> (Map, Option<Map>) {
    let fields = fields(output);
    if fields.is_empty() {
        return (stand_in(), Some(Map::from([("output".to_owned(), Json::Object(output.clone()))])));
    }
    let nearest = |field: &Field| {
        let value = output.get(field.key).unwrap_or(&Json::Null);
        let fits = output.contains_key(field.key) && (field.fits)(value);
        (field.key.to_owned(), if fits { value.clone() } else { (field.nearest)(value) })
    };
    let written: Map = fields.iter().map(nearest).collect();
    let patch = difference(output, &written);
    (written, (!patch.is_empty()).then_some(patch))
}

/// Placeholder in a file for an output whose type nbformat does not know.
fn stand_in() -> Map {
    let mut output = Map::from([("output_type".to_owned(), Json::text("display_data"))]);
    complete(&mut output);
    output
}

fn difference(output: &Map, written: &Map) -> Map {
    let mut patch = Map::new();
    let mut set: Map = output.iter().filter(|(key, value)| written.get(*key) != Some(value)).map(owned).collect();
    if let (Some(Json::Object(parts)), Some(Json::Object(kept))) = (set.get("data"), written.get("data")) {
        let parts = parts.iter().filter(|(mime, _)| !kept.contains_key(*mime)).map(owned).collect();
        patch.insert("data".to_owned(), Json::Object(parts));
        set.remove("data");
    }
    if !set.is_empty() {
        patch.insert("set".to_owned(), Json::Object(set));
    }
    patch
}

fn owned((key, value): (&String, &Json)) -> (String, Json) {
    (key.clone(), value.clone())
}

/// Undoes [`fit`].
pub fn mend(written: &mut Map, patch: Map) {
    for (key, value) in patch {
        match (key.as_str(), value) {
            ("output", Json::Object(original)) => *written = original,
            ("set", Json::Object(set)) => written.extend(set),
            ("data", Json::Object(parts)) => {
                if let Some(Json::Object(data)) = written.get_mut("data") {
                    data.extend(parts);
                }
            }
            _ => {}
        }
    }
}

/// Digest that shows if an output was changed since it was written (FNV-1a, 64 bits; not safe against forgery, which would gain nothing).
pub fn digest(output: &Map) -> String {
    let text = Json::Object(output.clone()).compact();
    let sum = text
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |sum, byte| (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    format!("{sum:016x}")
}
