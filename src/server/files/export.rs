//! From a notebook's state to a file.

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;
use notarium_core::{BlobPart, Cell, CellFlags, CellId, CellType, Execution, Notebook, RawObject};
use notarium_wire::ipynb::{Document, DocumentCell, Object};
use serde_json::value::RawValue;

use super::parts;

/// The blobs that the shown outputs name, each once: what [`document`] wants in its `blobs`.
pub fn named_blobs(notebook: &Notebook) -> Vec<&BlobPart> {
    let mut seen = BTreeSet::new();
    let shown = notebook.order.iter().filter_map(|cell_id| notebook.latest_execution(cell_id));
    let named = shown.flat_map(|(_, execution)| &execution.outputs).flat_map(|output| &output.blobs);
    named.filter(|part| seen.insert(part.sha256.as_str())).collect()
}

/// The notebook as a file holds it; `blobs` are bytes by lower-case hex of their SHA-256.
pub fn document(notebook: &Notebook, blobs: &BTreeMap<String, Bytes>) -> Document {
    let cells = notebook.ordered_cells().map(|(cell_id, cell)| {
        let latest = notebook.latest_execution(cell_id).map(|(_, execution)| &**execution);
        document_cell(cell_id, cell, latest, blobs)
    });
    Document {
        metadata: object(&notebook.metadata),
        nbformat_original: (4, 5),
        extra: Object::new(),
        cells: cells.collect(),
    }
}

fn document_cell(
    cell_id: &CellId,
    cell: &Cell,
    latest: Option<&Execution>,
    blobs: &BTreeMap<String, Bytes>,
) -> DocumentCell {
    let content = &cell.content;
    let outputs = latest.map(|execution| execution.outputs.iter().map(|output| parts::join(output, blobs)).collect());
    let count = latest.and_then(|execution| execution.execution_count);
    DocumentCell {
        id: cell_id.to_string(),
        cell_type: type_name(content.cell_type).to_owned(),
        source: content.source.clone(),
        metadata: object(&content.metadata),
        attachments: content.attachments.as_ref().map(object),
        execution_count: count.and_then(|count| i64::try_from(count).ok()),
        outputs: outputs.unwrap_or_default(),
        flags: flags(&content.flags),
        extra: Object::new(),
    }
}

fn type_name(cell_type: CellType) -> &'static str {
    match cell_type {
        CellType::Code => "code",
        CellType::Markdown => "markdown",
        CellType::Raw => "raw",
        CellType::Sql => "sql",
        CellType::Prompt => "prompt",
    }
}

/// The flags that are on; their names in JSON are those of the file.
fn flags(flags: &CellFlags) -> Object {
    let text = serde_json::to_string(flags).unwrap_or_default();
    serde_json::from_str(&text).unwrap_or_default()
}

fn object(raw: &RawObject) -> BTreeMap<String, Box<RawValue>> {
    serde_json::from_str(raw.get()).unwrap_or_default()
}
