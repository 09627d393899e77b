//! nbformat's outputs of two runs: streams as one text each, the others one by one.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value};

use crate::pictures::{self, PictureComparison};
use crate::{OutputComparison, tables, text};

/// MIME types of Notarium's own page, which repeat what others of the same output show.
const OWN_TYPES: &str = "application/vnd.notarium.";
/// The MIME type of a widget: its content is an id.
const WIDGET: &str = "application/vnd.jupyter.widget-view+json";
/// Streams, with their names for people.
const STREAMS: [(&str, &str); 2] = [("stdout", "standard output"), ("stderr", "standard error")];

pub fn compare(recorded: &[Value], replayed: &[Value], comparison: &mut OutputComparison) {
    for (name, place) in STREAMS {
        comparison.texts(place, &stream(recorded, name), &stream(replayed, name));
    }
    let others = |outputs: &'_ [Value]| outputs.iter().filter(|output| !is_stream(output)).cloned().collect::<Vec<_>>();
    let (ours, theirs) = (others(recorded), others(replayed));
    for (at, pair) in ours.iter().zip(&theirs).enumerate() {
        one(&format!("output {}", at + 1), pair, comparison);
    }
    if ours.len() != theirs.len() {
        let first = ours.len().min(theirs.len());
        let named = |outputs: &[Value]| outputs.get(first).map_or_else(|| "(nothing)".to_owned(), kind);
        comparison.differ(format!("output {}", first + 1), named(&ours), named(&theirs));
    }
}

fn is_stream(output: &Value) -> bool {
    output["output_type"] == "stream"
}

/// All text of a stream, as a terminal shows it at the end.
fn stream(outputs: &[Value], name: &str) -> String {
    let its = outputs.iter().filter(|output| is_stream(output) && output["name"] == name);
    let text: String = its.map(|output| joined(&output["text"])).collect();
    notarium_terminal::folded_plain(&text)
}

/// nbformat's text: one, or a list of lines.
fn joined(text: &Value) -> String {
    match text {
        Value::String(text) => text.clone(),
        Value::Array(lines) => lines.iter().filter_map(Value::as_str).collect(),
        _ => String::new(),
    }
}

/// An output in a few words.
fn kind(output: &Value) -> String {
    match output["output_type"].as_str() {
        Some("error") => format!("an error: {}", joined(&output["ename"])),
        _ => {
            let types: Vec<&str> =
                data(output).map(|data| data.keys().map(String::as_str).collect()).unwrap_or_default();
            format!("an output: {}", types.join(", "))
        }
    }
}

fn data(output: &Value) -> Option<&Map<String, Value>> {
    output["data"].as_object()
}

fn one(place: &str, (recorded, replayed): (&Value, &Value), comparison: &mut OutputComparison) {
    let is_error = |output: &Value| output["output_type"] == "error";
    if is_error(recorded) != is_error(replayed) {
        return comparison.differ(place, kind(recorded), kind(replayed));
    }
    if is_error(recorded) {
        let (ename, evalue) = (|output: &Value| joined(&output["ename"]), |output: &Value| joined(&output["evalue"]));
        comparison.texts("type of the error", &ename(recorded), &ename(replayed));
        return comparison.texts("message of the error", &evalue(recorded), &evalue(replayed));
    }
    let none = Map::new();
    let (ours, theirs) = (data(recorded).unwrap_or(&none), data(replayed).unwrap_or(&none));
    let types = ours.keys().chain(theirs.keys().filter(|mime| !ours.contains_key(*mime)));
    for mime in types.filter(|mime| !mime.starts_with(OWN_TYPES)) {
        let place = format!("{place}, {mime}");
        match (ours.get(mime), theirs.get(mime)) {
            (Some(ours), Some(theirs)) => content(&place, mime, ours, theirs, comparison),
            (ours, theirs) => {
                let there = |value: Option<&Value>| if value.is_some() { "there" } else { "missing" };
                comparison.differ(place, there(ours), there(theirs));
            }
        }
    }
}

fn content(place: &str, mime: &str, recorded: &Value, replayed: &Value, comparison: &mut OutputComparison) {
    if recorded == replayed || mime == WIDGET {
        return;
    }
    let (ours, theirs) = (joined(recorded), joined(replayed));
    match mime {
        "image/png" => picture(place, &ours, &theirs, comparison),
        "text/html" => html(place, &ours, &theirs, comparison),
        _ if recorded.is_object() || replayed.is_object() => {
            comparison.texts(place, &recorded.to_string(), &replayed.to_string());
        }
        _ if mime.starts_with("image/") && mime != "image/svg+xml" => {
            let size = |text: &str| format!("a picture of {} bytes", text.len() / 4 * 3);
            comparison.differ(place, size(&ours), size(&theirs));
        }
        _ => comparison.texts(place, &ours, &theirs),
    }
}

fn picture(place: &str, recorded: &str, replayed: &str, comparison: &mut OutputComparison) {
    let bytes = |text: &str| {
        let packed: String = text.split_ascii_whitespace().collect();
        STANDARD.decode(packed).unwrap_or_default()
    };
    match pictures::compare(&bytes(recorded), &bytes(replayed)) {
        PictureComparison::Same => {}
        PictureComparison::Sizes(sizes) => {
            let [ours, theirs] = sizes.map(|(width, height)| format!("{width} × {height} pixels"));
            comparison.differ(place, ours, theirs);
        }
        PictureComparison::Pixels(share) => {
            comparison.differ(place, "a picture", format!("{share:.1} % of its pixels are others"));
        }
        PictureComparison::Undecodable(error) => {
            comparison.differ(place, "a picture", format!("other bytes, which cannot be compared by pixel: {error}"));
        }
    }
}

fn html(place: &str, recorded: &str, replayed: &str, comparison: &mut OutputComparison) {
    let (Some(ours), Some(theirs)) = (tables::read(recorded), tables::read(replayed)) else {
        return comparison.texts(place, recorded, replayed);
    };
    comparison.texts(&format!("{place}, beside the table"), &ours.beside, &theirs.beside);
    if ours.tables.len() != theirs.tables.len() {
        let count = |tables: &[tables::HtmlTable]| format!("{} tables", tables.len());
        return comparison.differ(place, count(&ours.tables), count(&theirs.tables));
    }
    for (ours, theirs) in ours.tables.iter().zip(&theirs.tables) {
        table(place, ours, theirs, comparison);
    }
}

fn table(place: &str, recorded: &tables::HtmlTable, replayed: &tables::HtmlTable, comparison: &mut OutputComparison) {
    if recorded.len() != replayed.len() {
        let count = |table: &tables::HtmlTable| format!("{} rows", table.len());
        comparison.differ(place, count(recorded), count(replayed));
    }
    for (row, (ours, theirs)) in recorded.iter().zip(replayed).enumerate() {
        if ours.len() != theirs.len() {
            let count = |row: &[String]| format!("{} columns", row.len());
            comparison.differ(format!("{place}, row {}", row + 1), count(ours), count(theirs));
        }
        for (column, (ours, theirs)) in ours.iter().zip(theirs).enumerate().filter(|(_, (ours, theirs))| ours != theirs)
        {
            let (normal, again) = (text::normalised(ours), text::normalised(theirs));
            if normal.text == again.text {
                comparison.apart_from.extend(normal.noise);
            } else {
                comparison.differ(format!("{place}, row {}, column {}", row + 1, column + 1), &**ours, &**theirs);
            }
        }
    }
}
