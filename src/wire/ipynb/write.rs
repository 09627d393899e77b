//! A [`Document`] as the text of a valid nbformat 4.5 file.

use std::collections::BTreeSet;

use super::Document;
use super::draft::{CellDraft, JUPYTER_FLAGS, NotebookDraft};
use super::json::{Json, Map};
use super::notice::Notices;
use super::output;
use super::schema::{self, Base};

/// Writes the document as nbformat 4.5, in the style of Python's `nbformat.write`, newline at the end included.
///
/// Total: whatever the schema has no place for goes to `metadata.notarium` of its cell or of the notebook, and an id that is
/// invalid or used twice is replaced by one made from the cell's index. A value that nests deeper than [`super::MAX_DEPTH`],
/// which no import lets in, is written as a string of its JSON.
pub fn write(document: &Document) -> String {
    let mut notices = Notices::default();
    let mut notebook = NotebookDraft::from_document(document);
    notebook.settle(&mut notices);
    let ids = unique_ids(document);
    let cells = document.cells.iter().zip(ids).map(|(cell, id)| {
        let mut draft = CellDraft::from_cell(cell);
        draft.settle(&mut notices);
        draft.id = id;
        Json::Object(cell_object(draft))
    });
    let cells = Json::Array(cells.collect());
    let number = |text: &str| Json::Number(text.to_owned());
    let entries = [
        ("cells", cells),
        ("metadata", Json::Object(notebook_metadata(notebook))),
        ("nbformat", number("4")),
        ("nbformat_minor", number("5")),
    ];
    let mut text = Json::Object(entries.map(|(key, value)| (key.to_owned(), value)).into()).pretty();
    text.push('\n');
    text
}

/// The first cell with a valid id keeps it.
fn unique_ids(document: &Document) -> Vec<String> {
    let valid = document.cells.iter().map(|cell| cell.id.as_str()).filter(|id| schema::is_cell_id(id));
    let taken: BTreeSet<&str> = valid.collect();
    let mut used = BTreeSet::new();
    let mut ids = Vec::with_capacity(document.cells.len());
    for (index, cell) in document.cells.iter().enumerate() {
        let keep = schema::is_cell_id(&cell.id) && used.insert(cell.id.as_str());
        ids.push(if keep { cell.id.clone() } else { index_id(index, &taken) });
    }
    ids
}

/// An id made from the cell's index: always the same, and not taken.
pub fn index_id(index: usize, taken: &BTreeSet<&str>) -> String {
    let plain = format!("cell-{index}");
    let mut numbered = (0..=taken.len()).map(|number| format!("cell-{index}-{number}"));
    if !taken.contains(plain.as_str()) {
        return plain;
    }
    numbered.find(|id| !taken.contains(id.as_str())).unwrap_or(plain)
}

fn notebook_metadata(mut notebook: NotebookDraft) -> Map {
    let odd = take_odd(&mut notebook.metadata, schema::notebook_entry_fits);
    let mut aside = Map::new();
    put(&mut aside, "metadata", odd);
    put(&mut aside, "extra", notebook.extra);
    add_aside(&mut notebook.metadata, aside);
    notebook.metadata
}

fn cell_object(mut cell: CellDraft) -> Map {
    let base = cell.base();
    let mut aside = Map::new();
    if cell.cell_type != base.name() {
        aside.insert("cell_type".to_owned(), Json::text(&cell.cell_type));
    }
    let mut object = Map::new();
    let mut set = |key: &str, value| object.insert(key.to_owned(), value);
    set("id", Json::String(cell.id));
    set("cell_type", Json::text(base.name()));
    set("source", output::lines(&cell.source));
    let count = cell.execution_count.map_or(Json::Null, |count| Json::Number(count.to_string()));
    if base == Base::Code {
        set("execution_count", count);
        set("outputs", outputs(&cell.outputs, &mut aside));
    } else {
        outputs_aside(cell.outputs, count, &mut aside);
    }
    match cell.attachments {
        Some(files) if base != Base::Code && schema::are_attachments(&files) => {
            set("attachments", attachments(files));
        }
        Some(files) => {
            aside.insert("attachments".to_owned(), Json::Object(files));
        }
        None => {}
    }
    let odd = take_odd(&mut cell.metadata, |key, value| schema::cell_entry_fits(base, key, value));
    put(&mut aside, "flags", other_flags(cell.flags, &odd, &mut cell.metadata));
    put(&mut aside, "metadata", odd);
    put(&mut aside, "extra", cell.extra);
    add_aside(&mut cell.metadata, aside);
    set("metadata", Json::Object(cell.metadata));
    object
}

/// The outputs as a file may hold them; what does not fit goes aside as patches.
fn outputs(outputs: &[Json], aside: &mut Map) -> Json {
    let mut patches = Vec::new();
    let mut written = Vec::with_capacity(outputs.len());
    for (index, value) in outputs.iter().filter_map(Json::as_object).enumerate() {
        let (mut fitted, patch) = output::fit(value);
        if let Some(mut patch) = patch {
            patch.insert("index".to_owned(), Json::Number(index.to_string()));
            patch.insert("digest".to_owned(), Json::String(output::digest(&fitted)));
            patches.push(Json::Object(patch));
        }
        output::split_output(&mut fitted);
        written.push(Json::Object(fitted));
    }
    if !patches.is_empty() {
        aside.insert("output_patches".to_owned(), Json::Array(patches));
    }
    Json::Array(written)
}

fn outputs_aside(outputs: Vec<Json>, count: Json, aside: &mut Map) {
    if !outputs.is_empty() {
        aside.insert("outputs".to_owned(), Json::Array(outputs));
    }
    if count != Json::Null {
        aside.insert("execution_count".to_owned(), count);
    }
}

fn attachments(mut files: Map) -> Json {
    files.values_mut().for_each(output::split_bundle);
    Json::Object(files)
}

/// Moves the flags that JupyterLab knows to `metadata.jupyter` and returns the others.
fn other_flags(mut flags: Map, odd: &Map, metadata: &mut Map) -> Map {
    for flag in JUPYTER_FLAGS {
        if flags.get(flag) != Some(&Json::Bool(true)) || odd.contains_key("jupyter") {
            continue;
        }
        let jupyter = metadata.entry("jupyter".to_owned()).or_insert_with(Json::empty_object);
        if let Json::Object(jupyter) = jupyter {
            jupyter.insert(flag.to_owned(), Json::Bool(true));
            flags.remove(flag);
        }
    }
    flags
}

/// Takes out the entries that would make the file invalid.
fn take_odd(metadata: &mut Map, fits: impl Fn(&str, &Json) -> bool) -> Map {
    metadata.extract_if(.., |key, value| !fits(key, value)).collect()
}

fn put(aside: &mut Map, key: &str, map: Map) {
    if !map.is_empty() {
        aside.insert(key.to_owned(), Json::Object(map));
    }
}

fn add_aside(metadata: &mut Map, aside: Map) {
    if aside.is_empty() {
        return;
    }
    let ours = metadata.entry("notarium".to_owned()).or_insert_with(Json::empty_object);
    if let Json::Object(ours) = ours {
        ours.extend(aside);
    }
}
