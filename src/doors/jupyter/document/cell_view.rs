//! Cells of a notebook as Jupyter's shared document shows them.

use std::collections::BTreeMap;

use notarium_core::{BlobPart, Cell, CellId, CellType, Document, Execution, ExecutionStatus, Output};
use serde_json::{Map as JsonMap, Value, json};

use crate::document::values::{normalised, object};

/// Key of Notarium's mark in a cell's metadata, as in exported files.
pub const MARK: &str = "notarium";
/// Key that JupyterLab writes when it opens or saves a notebook. It says nothing about the notebook.
pub const TRUSTED: &str = "trusted";

/// Text of blobs by their SHA-256, as far as they have been fetched.
pub type BlobTexts = BTreeMap<String, String>;

/// A cell as Jupyter's document shows it.
#[derive(Debug, Clone, PartialEq)]
pub struct JupyterCell {
    pub id: String,
    pub cell_type: &'static str,
    pub source: String,
    pub metadata: JsonMap<String, Value>,
    pub attachments: Option<JsonMap<String, Value>>,
    pub execution_count: Option<u64>,
    pub is_running: bool,
    pub outputs: Vec<Value>,
}

impl JupyterCell {
    /// The live cell with that id.
    pub fn of(document: &Document, id: &CellId, blobs: &BlobTexts) -> Option<Self> {
        let cell = document.cells.get(id)?;
        let execution = document.latest_execution(id).map(|(_, execution)| execution.as_ref());
        Some(Self {
            id: id.as_str().to_owned(),
            cell_type: jupyter_type(cell.content.cell_type),
            source: cell.content.source.clone(),
            metadata: metadata_of(cell),
            attachments: cell.content.attachments.as_ref().map(|files| object(files.get())),
            execution_count: execution.and_then(|execution| execution.execution_count),
            is_running: execution.is_some_and(|execution| !execution.status.is_finished()),
            outputs: execution.map(|execution| outputs_of(execution, blobs)).unwrap_or_default(),
        })
    }

    pub fn is_code(&self) -> bool {
        self.cell_type == "code"
    }

    /// Value of `execution_state`.
    pub fn state(&self) -> &'static str {
        if self.is_running { "running" } else { "idle" }
    }
}

/// Jupyter's type of a cell: SQL is code, a prompt is Markdown, as in files.
pub fn jupyter_type(cell_type: CellType) -> &'static str {
    match cell_type {
        CellType::Code | CellType::Sql => "code",
        CellType::Markdown | CellType::Prompt => "markdown",
        CellType::Raw => "raw",
    }
}

/// Type of a cell that a client writes: Jupyter's type, unless the mark in the metadata names one of ours that fits.
pub fn own_type(jupyter: &str, metadata: &JsonMap<String, Value>) -> Option<CellType> {
    let marked = metadata.get(MARK).and_then(|mark| mark.get("cell_type")).and_then(Value::as_str);
    match (jupyter, marked) {
        ("code", Some("sql")) => Some(CellType::Sql),
        ("code", _) => Some(CellType::Code),
        ("markdown", Some("prompt")) => Some(CellType::Prompt),
        ("markdown", _) => Some(CellType::Markdown),
        ("raw", _) => Some(CellType::Raw),
        _ => None,
    }
}

fn metadata_of(cell: &Cell) -> JsonMap<String, Value> {
    let mut metadata = object(cell.content.metadata.get());
    let mark = match cell.content.cell_type {
        CellType::Sql => "sql",
        CellType::Prompt => "prompt",
        _ => return metadata,
    };
    metadata.insert(MARK.to_owned(), json!({"cell_type": mark}));
    metadata
}

/// Metadata without entries that are no content: what JupyterLab writes at each save, and our mark.
pub fn content_of(metadata: &JsonMap<String, Value>) -> JsonMap<String, Value> {
    let mut content: Vec<_> = metadata
        .iter()
        .filter(|(key, _)| *key != TRUSTED && *key != MARK)
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect();
    content.sort_by(|left, right| left.0.cmp(&right.0));
    content.into_iter().collect()
}

/// Outputs that a run shows, as nbformat has them, and a sentence if the run was lost or cancelled.
pub fn outputs_of(execution: &Execution, blobs: &BlobTexts) -> Vec<Value> {
    let mut outputs: Vec<Value> = execution.outputs.iter().map(|output| normalised(&filled(output, blobs))).collect();
    if execution.status == ExecutionStatus::Lost {
        let text = execution.notice.clone().unwrap_or_else(|| "The run was lost with its kernel.\n".to_owned());
        outputs.push(json!({"name": "stderr", "output_type": "stream", "text": text}));
    }
    outputs
}

/// An output with the values of its blobs.
pub fn filled(output: &Output, blobs: &BlobTexts) -> Value {
    let mut content: Value = serde_json::from_str(output.content.get()).unwrap_or(Value::Null);
    output.blobs.iter().for_each(|part| fill_in(&mut content, part, blobs));
    content
}

/// Puts the value of a blob in its place. A blob that was not fetched leaves a sentence.
fn fill_in(content: &mut Value, part: &BlobPart, blobs: &BlobTexts) {
    let value = match blobs.get(&part.sha256) {
        Some(text) if part.json => serde_json::from_str(text).unwrap_or(Value::Null),
        Some(text) => Value::String(text.clone()),
        None => Value::String(format!("[{} bytes: open the notebook in Notarium to see them]", part.size_bytes)),
    };
    let Some((parent, key)) = part.pointer.rsplit_once('/') else { return };
    let key = key.replace("~1", "/").replace("~0", "~");
    match content.pointer_mut(parent) {
        Some(Value::Object(map)) => _ = map.insert(key, value),
        Some(Value::Array(items)) => {
            if let Some(item) = key.parse().ok().and_then(|index: usize| items.get_mut(index)) {
                *item = value;
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(value: Value) -> JsonMap<String, Value> {
        value.as_object().cloned().unwrap_or_default()
    }

    #[test]
    fn sql_and_prompts_keep_their_type() {
        let marked = map(json!({"notarium": {"cell_type": "sql"}, "tags": ["a"], "trusted": true}));
        assert_eq!(own_type("code", &marked), Some(CellType::Sql));
        assert_eq!(own_type("markdown", &marked), Some(CellType::Markdown), "the mark does not fit");
        assert_eq!(own_type("heading", &marked), None);
        assert_eq!(content_of(&marked), map(json!({"tags": ["a"]})));
    }

    #[test]
    fn a_blob_is_put_where_it_was() {
        let part = |pointer: &str, json| BlobPart {
            pointer: pointer.to_owned(),
            sha256: "h".to_owned(),
            size_bytes: 9000,
            json,
        };
        let mut content = json!({"data": {}});
        let blobs = BlobTexts::from([("h".to_owned(), "[1]".to_owned())]);
        fill_in(&mut content, &part("/data/image~1png", false), &blobs);
        fill_in(&mut content, &part("/data/application~1json", true), &blobs);
        fill_in(&mut content, &part("/text", false), &BlobTexts::new());
        assert_eq!(content["data"], json!({"image/png": "[1]", "application/json": [1]}));
        assert!(content["text"].as_str().unwrap().contains("9000 bytes"));
    }
}
