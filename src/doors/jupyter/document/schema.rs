//! Reads cells of Jupyter's shared document (schema 2.0.0 of `jupyter_ydoc`).

use serde_json::{Map as JsonMap, Value};
use yrs::{Array, GetString, Map, MapRef, Out, ReadTxn};

use crate::document::values::to_json;

/// A cell as a client has written it.
#[derive(Debug, Clone, PartialEq)]
pub struct WrittenCell {
    pub id: String,
    pub cell_type: String,
    pub source: String,
    pub metadata: JsonMap<String, Value>,
    pub attachments: Option<JsonMap<String, Value>>,
    /// Number of outputs; 0 for cells that have none.
    pub outputs: u32,
}

/// Id of a cell, if it has one.
pub fn id_of<T: ReadTxn>(cell: &MapRef, transaction: &T) -> Option<String> {
    match cell.get(transaction, "id")? {
        Out::Any(yrs::Any::String(id)) => Some(id.as_ref().to_owned()),
        _ => None,
    }
}

/// Reads a cell; `None` if it does not have the shape of one.
pub fn read_cell<T: ReadTxn>(cell: &MapRef, transaction: &T) -> Option<WrittenCell> {
    let text = |key: &str| match cell.get(transaction, key)? {
        Out::YText(text) => Some(text.get_string(transaction)),
        Out::Any(yrs::Any::String(text)) => Some(text.as_ref().to_owned()),
        _ => None,
    };
    let object = |key: &str| match cell.get(transaction, key).map(|value| to_json(&value, transaction)) {
        Some(Value::Object(map)) => Some(map),
        _ => None,
    };
    let outputs = match cell.get(transaction, "outputs") {
        Some(Out::YArray(outputs)) => outputs.len(transaction),
        Some(Out::Any(yrs::Any::Array(outputs))) => u32::try_from(outputs.len()).unwrap_or(u32::MAX),
        _ => 0,
    };
    Some(WrittenCell {
        id: id_of(cell, transaction)?,
        cell_type: text("cell_type")?,
        source: text("source")?,
        metadata: object("metadata").unwrap_or_default(),
        attachments: object("attachments").filter(|files| !files.is_empty()),
        outputs,
    })
}
