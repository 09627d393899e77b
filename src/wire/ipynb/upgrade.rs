//! Upgrades nbformat 1, 2 and 3 to nbformat 4, as Python's `nbformat.convert` does.

use super::json::{self, Json, Map};
use super::output::{self, plain_text};
use super::{ImportNotices, NoticeCode};

/// Line ends in the text lists of an old major version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lines {
    /// nbformat 2: without line ends.
    Bare,
    /// nbformat 3: without line ends unless the first line has one.
    Either,
}

impl Lines {
    fn join(self, value: &mut Json) {
        if let Json::Array(items) = value
            && items.iter().all(Json::is_string)
        {
            let parts: Vec<&str> = items.iter().filter_map(Json::as_str).collect();
            let ended = parts.first().is_some_and(|first| first.ends_with(['\n', '\r']));
            *value = Json::String(parts.join(if self == Self::Either && ended { "" } else { "\n" }));
        }
    }
}

/// Turns nbformat 1's list of cells, or the worksheets of 2 and 3, into cells of nbformat 4. Returns the notebook's name.
pub fn notebook(root: &mut Map, major: u32, notices: &mut ImportNotices) -> Option<String> {
    notices.add(NoticeCode::Upgraded);
    for transient in ["orig_nbformat", "orig_nbformat_minor"] {
        root.remove(transient);
    }
    let mut cells = take_worksheets(root, notices);
    cells.extend(super::draft::take_list(root, "cells").unwrap_or_default());
    let lines = if major < 3 { Lines::Bare } else { Lines::Either };
    for (index, value) in cells.iter_mut().enumerate() {
        notices.cell = Some(index);
        if let Json::Object(cell) = value {
            upgrade_cell(cell, lines, notices);
        }
    }
    notices.cell = None;
    root.insert("cells".to_owned(), Json::Array(cells));
    take_name(root)
}

fn take_name(root: &mut Map) -> Option<String> {
    let Some(Json::Object(metadata)) = root.get_mut("metadata") else {
        return None;
    };
    metadata.remove("signature");
    match metadata.remove("name") {
        Some(Json::String(name)) => Some(name),
        Some(other) => {
            root.insert("name".to_owned(), other);
            None
        }
        None => None,
    }
}

/// Takes the cells of all worksheets in order. Other content of worksheets stays, unless it is empty.
fn take_worksheets(root: &mut Map, notices: &mut ImportNotices) -> Vec<Json> {
    let Some(mut sheets) = super::draft::take_list(root, "worksheets") else {
        return Vec::new();
    };
    let mut cells = Vec::new();
    for sheet in &mut sheets {
        if let Json::Object(sheet) = sheet {
            cells.extend(super::draft::take_list(sheet, "cells").unwrap_or_default());
            sheet.retain(|_, value| !value.is_empty());
        }
    }
    if sheets.len() > 1 {
        notices.add(NoticeCode::WorksheetsFlattened);
    }
    if sheets.iter().any(|sheet| !sheet.is_empty()) {
        root.insert("worksheets".to_owned(), Json::Array(sheets));
    }
    cells
}

fn upgrade_cell(cell: &mut Map, lines: Lines, notices: &mut ImportNotices) {
    cell.remove("trusted");
    cell.entry("metadata".to_owned()).or_insert_with(Json::empty_object);
    for key in ["source", "input", "code", "text", "rendered"] {
        if let Some(text) = cell.get_mut(key) {
            lines.join(text);
        }
    }
    match cell.get("cell_type").and_then(Json::as_str) {
        Some("code") => upgrade_code(cell, lines, notices),
        Some("text") => {
            cell.insert("cell_type".to_owned(), Json::text("markdown"));
            rename_keeping(cell, "text", "source");
        }
        _ => {}
    }
}

fn upgrade_code(cell: &mut Map, lines: Lines, notices: &mut ImportNotices) {
    if cell.get("language").is_some_and(|language| language.as_str() == Some("python")) {
        cell.remove("language");
    }
    if cell.contains_key("code") {
        // nbformat 2 sets this on the cells of nbformat 1.
        cell.entry("collapsed".to_owned()).or_insert(Json::Bool(false));
    }
    rename_keeping(cell, "code", "source");
    rename_keeping(cell, "input", "source");
    cell.entry("source".to_owned()).or_insert_with(|| Json::text(""));
    rename_keeping(cell, "prompt_number", "execution_count");
    if let (Some(collapsed), Some(Json::Object(metadata))) = (cell.get("collapsed").cloned(), cell.get_mut("metadata"))
    {
        metadata.insert("collapsed".to_owned(), collapsed);
        cell.remove("collapsed");
    }
    if let Some(Json::Array(outputs)) = cell.get_mut("outputs") {
        for value in outputs {
            if let Json::Object(output) = value {
                upgrade_output(output, lines, notices);
            }
        }
    }
}

fn rename(map: &mut Map, from: &str, to: &str) {
    if let Some(value) = map.remove(from) {
        map.insert(to.to_owned(), value);
    }
}

/// Renames a key. A displaced value stays, under the old name.
fn rename_keeping(map: &mut Map, from: &str, to: &str) {
    let Some(value) = map.remove(from) else { return };
    if let Some(displaced) = map.insert(to.to_owned(), value) {
        map.insert(from.to_owned(), displaced);
    }
}

const MIME_TYPES: [(&str, &str); 8] = [
    ("text", "text/plain"),
    ("html", "text/html"),
    ("svg", "image/svg+xml"),
    ("png", "image/png"),
    ("jpeg", "image/jpeg"),
    ("latex", "text/latex"),
    ("json", "application/json"),
    ("javascript", "application/javascript"),
];

/// Converts an output of nbformat 3 to nbformat 4.
pub fn upgrade_output(output: &mut Map, lines: Lines, notices: &mut ImportNotices) {
    for key in ["text", "html", "svg", "latex", "javascript", "json"] {
        if let Some(text) = output.get_mut(key) {
            lines.join(text);
        }
    }
    let output_type = output.get("output_type").and_then(Json::as_str).unwrap_or_default().to_owned();
    let rename_type = |output: &mut Map, to: &str| output.insert("output_type".to_owned(), Json::text(to));
    match output_type.as_str() {
        "pyout" => {
            rename_type(output, "execute_result");
            let count = output.remove("prompt_number").unwrap_or(Json::Null);
            output.insert("execution_count".to_owned(), count);
            gather_data(output, notices);
        }
        "display_data" => gather_data(output, notices),
        "pyerr" => {
            rename_type(output, "error");
        }
        "stream" => {
            let name = output.remove("stream").unwrap_or_else(|| Json::text("stdout"));
            output.insert("name".to_owned(), name);
        }
        _ => {}
    }
}

/// Moves everything but the known fields into `data`, under full MIME types.
fn gather_data(output: &mut Map, notices: &mut ImportNotices) {
    let own = ["output_type", "execution_count", "metadata"];
    let mut data: Map = output.extract_if(.., |key, _| !own.contains(&key.as_str())).collect();
    name_mime_types(&mut data);
    if let Some(value) = data.get_mut("application/json") {
        parse_json(value, notices);
    }
    let mut data = Json::Object(data);
    output::join_bundle(&mut data);
    output.insert("data".to_owned(), data);
    let metadata = output.entry("metadata".to_owned()).or_insert_with(Json::empty_object);
    if let Json::Object(metadata) = metadata {
        name_mime_types(metadata);
    }
}

fn name_mime_types(map: &mut Map) {
    for (alias, mime) in MIME_TYPES {
        rename(map, alias, mime);
    }
}

/// Parses JSON that nbformat 3 holds as text. Text that is not JSON stays, which nbformat 4 allows too.
fn parse_json(value: &mut Json, notices: &mut ImportNotices) {
    match json::parse(&plain_text(value), super::MAX_DEPTH) {
        Ok((parsed, _)) if value.is_string() => *value = parsed,
        Err(_) => notices.add_with(NoticeCode::UnknownOutput, "application/json is not JSON"),
        Ok(_) => {}
    }
}
