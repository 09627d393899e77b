//! Reads the bytes of an `.ipynb` file into a [`Document`].

use std::collections::BTreeSet;

use super::draft::{CellDraft, NotebookDraft, take_list, take_object, to_object};
use super::json::{self, Json, Map, ParseFailure};
use super::output::{is_line_end, plain_text, split_lines};
use super::schema::{self, Base};
use super::upgrade::{self, Lines};
use super::{Document, FileLimits, ImportNotices, Imported, IpynbError, MAX_DEPTH, NoticeCode};

/// Maximum number of levels that wrap a value in a file, including `metadata.notarium`.
const WRAPPING_DEPTH: usize = 16;

/// Reads a notebook file of nbformat 1 to 4.
///
/// `new_id` supplies the id of each cell whose id is missing, invalid or already used. If its result is no better, the id is made from the
/// cell's index.
///
/// # Errors
/// Returns an [`IpynbError`] when the file is no notebook, is broken beyond repair, or exceeds a limit.
pub fn read(bytes: &[u8], limits: &FileLimits, new_id: &mut dyn FnMut() -> String) -> Result<Imported, IpynbError> {
    let mut notices = ImportNotices::default();
    let mut root = parse(decode(bytes, limits, &mut notices)?, &mut notices)?;
    let (major, minor) = take_version(&mut root, &mut notices)?;
    let name = if major < 4 { upgrade::notebook(&mut root, major, &mut notices) } else { None };
    let cells = take_cells(&mut root, limits)?;
    let notebook = parse_notebook(root, &mut notices);
    let mut drafts = parse_cells(cells, &mut notices);
    give_ids(&mut drafts, minor >= 5, new_id, &mut notices);
    let depth = drafts.iter().map(CellDraft::depth).chain([notebook.depth()]).max().unwrap_or(0);
    if depth > MAX_DEPTH {
        return Err(IpynbError::TooDeep { max_depth: MAX_DEPTH });
    }
    let title = notebook.metadata.get("title").and_then(Json::as_str).map(str::to_owned).or(name);
    let document = Document {
        metadata: to_object(&notebook.metadata),
        nbformat_original: (major, minor),
        extra: to_object(&notebook.extra),
        // One by one, so that no two forms of all cells are in memory together.
        cells: drafts.into_iter().map(|draft| draft.with_values(Json::to_raw)).collect(),
    };
    let title = title.filter(|title| !title.trim().is_empty());
    Ok(Imported { document, title, notices: notices.into_list() })
}

fn decode<'a>(bytes: &'a [u8], limits: &FileLimits, notices: &mut ImportNotices) -> Result<&'a str, IpynbError> {
    if bytes.len() > limits.max_bytes {
        return Err(IpynbError::TooLarge { bytes: bytes.len(), max_bytes: limits.max_bytes });
    }
    let text = std::str::from_utf8(bytes).map_err(|error| IpynbError::NotUtf8 { offset: error.valid_up_to() })?;
    let plain = text.strip_prefix('\u{feff}').unwrap_or(text);
    notices.add_many(NoticeCode::ByteOrderMark, usize::from(plain.len() < text.len()), "");
    match plain.trim_start().chars().next() {
        None => Err(IpynbError::Empty),
        Some('<') => Err(IpynbError::NotANotebook { reason: "it is a web page; download the raw file instead" }),
        Some(_) => Ok(plain),
    }
}

fn parse(text: &str, notices: &mut ImportNotices) -> Result<Map, IpynbError> {
    let (value, repairs) = json::parse(text, MAX_DEPTH + WRAPPING_DEPTH).map_err(|failure| refuse(text, &failure))?;
    notices.add_many(NoticeCode::LoneSurrogate, repairs.lone_surrogates, "");
    notices.add_many(NoticeCode::NotFinite, repairs.not_finite, "");
    notices.add_many(NoticeCode::DuplicateKey, repairs.duplicate_keys, "");
    match value {
        Json::Object(root) => Ok(root),
        _ => Err(IpynbError::NotANotebook { reason: "it is not an object" }),
    }
}

fn refuse(text: &str, failure: &ParseFailure) -> IpynbError {
    let ParseFailure::Syntax { at, reason } = *failure else {
        return IpynbError::TooDeep { max_depth: MAX_DEPTH };
    };
    let before = text.get(..at).unwrap_or(text);
    let line = before.bytes().filter(|byte| *byte == b'\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    IpynbError::NotJson { line, column, reason }
}

/// Returns the version that the file states, or the one that its shape suggests.
fn take_version(root: &mut Map, notices: &mut ImportNotices) -> Result<(u32, u32), IpynbError> {
    let said = root.remove("nbformat").as_ref().and_then(as_version);
    let minor = take_minor(root);
    if let Some(version) = said.filter(|major| !(1..=4).contains(major)) {
        return Err(IpynbError::UnsupportedVersion { version: version.to_string() });
    }
    let major = shape(root, said)?;
    if said != Some(major) || (major == 4 && minor.is_none()) {
        notices.add(NoticeCode::VersionGuessed);
    }
    if major == 4 && minor.is_some_and(|minor| minor > 5) {
        notices.add(NoticeCode::NewerMinor);
    }
    Ok((major, minor.unwrap_or(0)))
}

fn take_minor(root: &mut Map) -> Option<u32> {
    as_version(&root.remove("nbformat_minor")?)
}

/// Parses a version number; some programs write it as a string.
fn as_version(value: &Json) -> Option<u32> {
    let number = value.as_integer().or_else(|| value.as_str()?.trim().parse().ok())?;
    u32::try_from(number).ok()
}

/// Returns the major version to read the file as: the stated one unless its shape contradicts.
fn shape(root: &Map, said: Option<u32>) -> Result<u32, IpynbError> {
    let has_list = |key| matches!(root.get(key), Some(Json::Array(_)));
    match said {
        Some(4) if has_list("cells") => Ok(4),
        Some(old @ (2 | 3)) if has_list("worksheets") => Ok(old),
        Some(1) if has_list("cells") => Ok(1),
        _ if has_list("cells") => Ok(guess_major(root)),
        _ if has_list("worksheets") => Ok(3),
        // Files of these versions have cells in worksheets, and this notebook has none.
        Some(old @ (2 | 3)) if root.get("worksheets").is_none() => Ok(old),
        None => {
            Err(IpynbError::NotANotebook { reason: "it has neither a format version (nbformat) nor a list of cells" })
        }
        Some(_) => Err(IpynbError::NotANotebook { reason: "it has no list of cells" }),
    }
}

fn guess_major(root: &Map) -> u32 {
    let Some(Json::Array(cells)) = root.get("cells") else {
        return 4;
    };
    let any = |key| cells.iter().filter_map(Json::as_object).any(|cell| cell.contains_key(key));
    match (any("source"), any("input"), any("code") || any("text")) {
        (false, true, _) => 3,
        (false, false, true) => 1,
        _ => 4,
    }
}

fn take_cells(root: &mut Map, limits: &FileLimits) -> Result<Vec<Json>, IpynbError> {
    let cells = take_list(root, "cells").unwrap_or_default();
    if cells.len() > limits.max_cells {
        return Err(IpynbError::TooManyCells { cells: cells.len(), max_cells: limits.max_cells });
    }
    Ok(cells)
}

fn parse_notebook(mut root: Map, notices: &mut ImportNotices) -> NotebookDraft {
    let metadata = take_metadata(&mut root, NoticeCode::NotebookMetadata, notices);
    for key in root.keys() {
        notices.add_with(NoticeCode::UnknownNotebookKey, key);
    }
    let mut notebook = NotebookDraft { metadata, extra: root };
    notebook.settle(notices);
    notebook
}

/// Takes the metadata if it is an object; another value stays in the map, to be put aside.
fn take_metadata(map: &mut Map, code: NoticeCode, notices: &mut ImportNotices) -> Map {
    if let Some(metadata) = take_object(map, "metadata") {
        return metadata;
    }
    notices.add(code);
    if map.get("metadata") == Some(&Json::Null) {
        map.remove("metadata");
    }
    Map::new()
}

fn parse_cells(cells: Vec<Json>, notices: &mut ImportNotices) -> Vec<CellDraft> {
    let mut drafts = Vec::with_capacity(cells.len());
    for (index, value) in cells.into_iter().enumerate() {
        notices.cell = Some(index);
        let mut draft = match value {
            Json::Object(cell) => parse_cell(cell, notices),
            other => wrap_cell(other, notices),
        };
        draft.settle(notices);
        drafts.push(draft);
    }
    notices.cell = None;
    drafts
}

fn wrap_cell(value: Json, notices: &mut ImportNotices) -> CellDraft {
    notices.add(NoticeCode::CellNotAnObject);
    CellDraft { cell_type: "raw".to_owned(), extra: Map::from([("cell".to_owned(), value)]), ..CellDraft::default() }
}

fn parse_cell(mut cell: Map, notices: &mut ImportNotices) -> CellDraft {
    let mut draft = CellDraft {
        id: take_id(&mut cell),
        metadata: take_metadata(&mut cell, NoticeCode::CellMetadata, notices),
        source: take_source(&mut cell, notices),
        ..CellDraft::default()
    };
    draft.cell_type = take_type(&mut cell, &mut draft.source, notices);
    draft.attachments = take_attachments(&mut cell, notices);
    if draft.base() == Base::Code {
        draft.execution_count = take_count(&mut cell, notices);
        draft.outputs = take_outputs(&mut cell, notices);
    } else {
        drop_empty(&mut cell, notices);
    }
    for key in cell.keys() {
        notices.add_with(NoticeCode::UnknownCellKey, key);
    }
    draft.extra = cell;
    draft
}

/// Takes the id if it is valid, else returns an empty string; an invalid id stays in the map, to be put aside.
fn take_id(cell: &mut Map) -> String {
    match cell.remove("id") {
        Some(Json::String(id)) if schema::is_cell_id(&id) => id,
        None | Some(Json::Null) => String::new(),
        Some(other) => {
            cell.insert("id".to_owned(), other);
            String::new()
        }
    }
}

fn take_source(cell: &mut Map, notices: &mut ImportNotices) -> String {
    let Some(source) = cell.remove("source") else {
        notices.add(NoticeCode::Source);
        return String::new();
    };
    let text = plain_text(&source);
    if !schema::is_multiline(&source) {
        notices.add(NoticeCode::Source);
        if source != Json::Null {
            cell.insert("source".to_owned(), source);
        }
    }
    text
}

/// Takes the cell type. A type that nbformat 4 does not have stays in the map unless it was converted.
fn take_type(cell: &mut Map, source: &mut String, notices: &mut ImportNotices) -> String {
    let said = cell.remove("cell_type");
    let name = said.as_ref().and_then(Json::as_str).unwrap_or_default();
    let converted = match name {
        "code" | "markdown" | "raw" => return name.to_owned(),
        "heading" => {
            *source = heading(cell, source);
            "markdown"
        }
        "html" => "markdown",
        "plaintext" => "raw",
        "" if cell.contains_key("outputs") => "code",
        _ => "raw",
    };
    notices.add_with(NoticeCode::CellType, name);
    if let Some(said) = said.filter(|said| !matches!(said.as_str(), Some("heading" | "html" | "plaintext"))) {
        cell.insert("cell_type".to_owned(), said);
    }
    converted.to_owned()
}

fn heading(cell: &mut Map, source: &str) -> String {
    let level = cell.remove("level").and_then(|level| level.as_integer()).unwrap_or(1).clamp(0, 64);
    let hashes = "#".repeat(usize::try_from(level).unwrap_or(1));
    let lines: Vec<&str> = split_lines(source).map(|line| line.trim_end_matches(is_line_end)).collect();
    format!("{hashes} {}", lines.join(" "))
}

fn take_attachments(cell: &mut Map, notices: &mut ImportNotices) -> Option<Map> {
    let attachments = take_object(cell, "attachments");
    if attachments.is_none() && cell.contains_key("attachments") {
        notices.add(NoticeCode::Attachments);
        if cell.get("attachments") == Some(&Json::Null) {
            cell.remove("attachments");
        }
    }
    attachments
}

fn take_count(cell: &mut Map, notices: &mut ImportNotices) -> Option<i64> {
    let value = cell.remove("execution_count")?;
    let count = value.as_integer().filter(|count| *count >= 0);
    if count.is_none() && value != Json::Null {
        notices.add(NoticeCode::ExecutionCount);
        cell.insert("execution_count".to_owned(), value);
    }
    count
}

fn take_outputs(cell: &mut Map, notices: &mut ImportNotices) -> Vec<Json> {
    let Some(mut outputs) = take_list(cell, "outputs") else {
        notices.add(NoticeCode::OutputsMissing);
        if cell.get("outputs") == Some(&Json::Null) {
            cell.remove("outputs");
        }
        return Vec::new();
    };
    for value in &mut outputs {
        check_output(value, notices);
    }
    outputs
}

fn check_output(value: &mut Json, notices: &mut ImportNotices) {
    let Json::Object(output) = value else { return };
    match output.get("output_type").and_then(Json::as_str) {
        Some("pyout" | "pyerr") => {
            upgrade::upgrade_output(output, Lines::Either, notices);
            notices.add(NoticeCode::OutputUpgraded);
        }
        Some("display_data" | "execute_result" | "stream" | "error") => {}
        other => notices.add_with(NoticeCode::UnknownOutput, other.unwrap_or("no output_type")),
    }
}

/// Drops empty fields of code cells from other cells; nothing is lost.
fn drop_empty(cell: &mut Map, notices: &mut ImportNotices) {
    for key in ["outputs", "execution_count"] {
        if cell.get(key).is_some_and(Json::is_empty) {
            cell.remove(key);
            notices.add(NoticeCode::EmptyFieldDropped);
        }
    }
}

fn give_ids(drafts: &mut [CellDraft], expected: bool, new_id: &mut dyn FnMut() -> String, notices: &mut ImportNotices) {
    let mut seen = BTreeSet::new();
    let lacking: Vec<bool> = drafts.iter().map(|draft| draft.id.is_empty() || !seen.insert(draft.id.clone())).collect();
    for (index, draft) in drafts.iter_mut().enumerate().filter(|(index, _)| lacking[*index]) {
        notices.cell = Some(index);
        if expected || !draft.id.is_empty() || draft.extra.contains_key("id") {
            notices.add(NoticeCode::CellId);
        }
        draft.id = fresh_id(index, &seen, new_id);
        seen.insert(draft.id.clone());
    }
    notices.cell = None;
}

fn fresh_id(index: usize, seen: &BTreeSet<String>, new_id: &mut dyn FnMut() -> String) -> String {
    let id = new_id();
    if schema::is_cell_id(&id) && !seen.contains(&id) {
        return id;
    }
    super::write::index_id(index, &seen.iter().map(String::as_str).collect())
}
