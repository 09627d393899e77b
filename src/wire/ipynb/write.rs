//! Writes a [`Document`] as the text of a valid nbformat 4.5 file.

use std::collections::BTreeSet;

use serde_json::value::RawValue;

use super::draft::{CellDraft, JUPYTER_FLAGS, NotebookDraft};
use super::json::{Json, Map};
use super::schema::{self, Base};
use super::{Document, DocumentCell, ImportNotices, output};

const OUTPUT_PATCHES: &str = "output_patches";

/// Writes the document as nbformat 4.5, in the style of Python's `nbformat.write`, newline at the end included.
///
/// Total: content without a place in the schema goes to `metadata.notarium` of its cell or of the notebook. An id that is invalid or used
/// twice is replaced by one made from the cell's index. A value that nests deeper than [`super::MAX_DEPTH`], which no import accepts, is
/// written as a string of its JSON.
pub fn write(document: &Document) -> String {
    let pieces = Pieces::new(document.cells.iter().map(|cell| cell.id.as_str()));
    let cells = document.cells.iter().enumerate().map(|(index, cell)| pieces.cell(index, cell));
    cells.chain([pieces.end(document)]).collect()
}

/// Writes a file cell by cell, so that it is never in memory as a whole. The texts of [`Pieces::cell`] for each cell in order, then
/// [`Pieces::end`], are the result of [`write()`].
#[derive(Debug)]
pub struct Pieces {
    /// Cell ids of the file.
    ids: Vec<String>,
}

impl Pieces {
    /// Prepares the file; `ids` are those of all cells, as the document has them.
    pub fn new<'a>(ids: impl Iterator<Item = &'a str>) -> Self {
        Self { ids: unique_ids(&ids.collect::<Vec<_>>()) }
    }

    /// Returns the text of one cell, with the separator before it.
    pub fn cell(&self, index: usize, cell: &DocumentCell) -> String {
        let mut draft = CellDraft::of(cell);
        draft.settle(&mut ImportNotices::default());
        draft.id = self.ids.get(index).cloned().unwrap_or_default();
        let mut text = if index == 0 { "{\n \"cells\": [\n  " } else { ",\n  " }.to_owned();
        Json::Object(cell_object(draft)).print(&mut text, 2);
        text
    }

    /// Returns the text after the last cell; the document's cells are not read.
    pub fn end(&self, document: &Document) -> String {
        let mut notebook = NotebookDraft::from_document(document);
        notebook.settle(&mut ImportNotices::default());
        let before = if self.ids.is_empty() { "{\n \"cells\": []" } else { "\n ]" };
        let mut text = format!("{before},\n \"metadata\": ");
        Json::Object(notebook_metadata(notebook)).print(&mut text, 1);
        text.push_str(",\n \"nbformat\": 4,\n \"nbformat_minor\": 5\n}\n");
        text
    }
}

/// Returns true if the output is in a file as it is, without a patch that restores a part of it.
pub fn fits(output: &RawValue) -> bool {
    let mut draft = CellDraft { outputs: vec![Json::from_raw(output)], ..CellDraft::default() };
    draft.settle_outputs(&mut ImportNotices::default());
    draft.outputs.first().and_then(Json::as_object).is_some_and(|output| output::fit(output).1.is_none())
}

/// Returns true if `metadata.notarium` of the cell holds outputs, or patches of outputs.
pub fn mends_outputs(cell: &DocumentCell) -> bool {
    let own = cell.metadata.get("notarium").map(|own| Json::from_raw(own));
    own.is_some_and(|own| {
        own.as_object().is_none_or(|own| own.contains_key("outputs") || own.contains_key(OUTPUT_PATCHES))
    })
}

/// Makes ids unique; the first cell with a valid id keeps it.
fn unique_ids(given: &[&str]) -> Vec<String> {
    let taken: BTreeSet<&str> = given.iter().copied().filter(|id| schema::is_cell_id(id)).collect();
    let mut used = BTreeSet::new();
    let mut ids = Vec::with_capacity(given.len());
    for (index, id) in given.iter().copied().enumerate() {
        let keep = schema::is_cell_id(id) && used.insert(id);
        ids.push(if keep { id.to_owned() } else { index_id(index, &taken) });
    }
    ids
}

/// Returns an id made from the cell's index: deterministic, and not taken.
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

/// Returns the outputs as a file may hold them; patches for the others go to `aside`.
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
        aside.insert(OUTPUT_PATCHES.to_owned(), Json::Array(patches));
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

/// Removes and returns the entries that would make the file invalid.
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
