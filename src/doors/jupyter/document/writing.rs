//! Writes the record into the Y document: only differences, so that cursors and other people's text stay where they are.

use std::collections::{BTreeMap, BTreeSet};

use notarium_core::text::diff;
use serde_json::{Map as JsonMap, Value};
use yrs::{
    Any, Array, ArrayPrelim, ArrayRef, GetString, In, Map, MapPrelim, MapRef, Number, Out, ReadTxn, Text, TextPrelim,
    TextRef, TransactionMut,
};

use crate::document::cell_view::{JupyterCell, content_of};
use crate::document::order::kept_in_order;
use crate::document::projection::{Projection, Touched};
use crate::document::schema::id_of;
use crate::document::values::{object, to_any, to_json};

/// Makes the touched parts equal to the record.
pub fn write(projection: &Projection, transaction: &mut TransactionMut<'_>, touched: &Touched) {
    if touched.meta {
        write_meta(projection, transaction);
    }
    if touched.structure {
        write_order(projection, transaction);
    }
    let cells = &projection.cells;
    let wanted: BTreeSet<&str> = touched.cells.iter().map(String::as_str).collect();
    let entries: Vec<Out> = cells.iter(transaction).collect();
    for (index, entry) in (0..).zip(entries) {
        let Out::YMap(cell) = entry else { continue };
        let Some(id) = id_of(&cell, transaction) else { continue };
        if !touched.structure && !wanted.contains(id.as_str()) {
            continue;
        }
        let Some(view) = view_of(projection, &id) else { continue };
        if !write_cell(&cell, transaction, &view) {
            cells.remove(transaction, index);
            cells.insert(transaction, index, new_cell(&view));
        }
    }
}

fn view_of(projection: &Projection, id: &str) -> Option<JupyterCell> {
    JupyterCell::of(&projection.document, &id.parse().ok()?, &projection.blobs)
}

fn write_meta(projection: &Projection, transaction: &mut TransactionMut<'_>) {
    let meta = &projection.meta;
    for (key, number) in [("nbformat", 4), ("nbformat_minor", 5)] {
        let is_there =
            meta.get(transaction, key).map(|value| to_json(&value, transaction)) == Some(Value::from(number));
        if !is_there {
            meta.insert(transaction, key, Any::Number(Number::Int(number)));
        }
    }
    let metadata = object(projection.document.metadata.get());
    match meta.get(transaction, "metadata") {
        Some(Out::YMap(shown)) => write_entries(&shown, transaction, &metadata),
        _ => _ = meta.insert(transaction, "metadata", map_of(&metadata)),
    }
}

/// Removes cells that are not live, doubled ones and those out of order, and inserts the missing ones.
fn write_order(projection: &Projection, transaction: &mut TransactionMut<'_>) {
    let order: Vec<&str> = projection.document.order.iter().map(|id| id.as_str()).collect();
    let place: BTreeMap<&str, usize> = order.iter().enumerate().map(|(place, id)| (*id, place)).collect();
    let shown = ids(&projection.cells, transaction);
    let places: Vec<Option<usize>> =
        shown.iter().map(|id| id.as_deref().and_then(|id| place.get(id).copied())).collect();
    let kept = kept_in_order(&places);
    for index in (0..shown.len()).rev().filter(|index| !kept[*index]) {
        projection.cells.remove(transaction, u32::try_from(index).unwrap_or(u32::MAX));
    }
    let there: BTreeSet<usize> = places.iter().zip(&kept).filter_map(|(place, kept)| place.filter(|_| *kept)).collect();
    for (index, id) in order.iter().enumerate().filter(|(index, _)| !there.contains(index)) {
        if let Some(view) = view_of(projection, id) {
            projection.cells.insert(transaction, u32::try_from(index).unwrap_or(u32::MAX), new_cell(&view));
        }
    }
}

/// Ids of the cells in their order; `None` for an entry that is no cell.
pub fn ids<T: ReadTxn>(cells: &ArrayRef, transaction: &T) -> Vec<Option<String>> {
    let id = |entry| match entry {
        Out::YMap(cell) => id_of(&cell, transaction),
        _ => None,
    };
    cells.iter(transaction).map(id).collect()
}

/// Makes a cell equal to its view; false if it has to be replaced as a whole.
fn write_cell(cell: &MapRef, transaction: &mut TransactionMut<'_>, view: &JupyterCell) -> bool {
    if entry(cell, transaction, "cell_type") != view.cell_type {
        return false;
    }
    match cell.get(transaction, "source") {
        Some(Out::YText(text)) => write_text(&text, transaction, &view.source),
        _ => _ = cell.insert(transaction, "source", TextPrelim::new(view.source.as_str())),
    }
    match cell.get(transaction, "metadata") {
        Some(Out::YMap(shown)) => write_entries(&shown, transaction, &view.metadata),
        _ => _ = cell.insert(transaction, "metadata", map_of(&view.metadata)),
    }
    write_attachments(cell, transaction, view);
    if view.is_code() {
        write_run(cell, transaction, view);
    }
    true
}

fn entry<T: ReadTxn>(map: &MapRef, transaction: &T, key: &str) -> Value {
    map.get(transaction, key).map_or(Value::Null, |value| to_json(&value, transaction))
}

/// Changes a text by the difference alone. Offsets count UTF-16 units, as in the record.
fn write_text(text: &TextRef, transaction: &mut TransactionMut<'_>, wanted: &str) {
    let shown = text.get_string(transaction);
    if shown == wanted {
        return;
    }
    let mut at = 0_u32;
    let change = diff(&shown, wanted);
    for (length, insert) in change.sections() {
        let length = u32::try_from(length).unwrap_or(u32::MAX);
        let Some(insert) = insert else {
            at += length;
            continue;
        };
        if length > 0 {
            text.remove_range(transaction, at, length);
        }
        if !insert.is_empty() {
            text.insert(transaction, at, insert);
            at += u32::try_from(insert.encode_utf16().count()).unwrap_or(u32::MAX);
        }
    }
}

/// Makes a map equal to the object. Entries without content for us stay as clients wrote them.
fn write_entries(map: &MapRef, transaction: &mut TransactionMut<'_>, wanted: &JsonMap<String, Value>) {
    let Value::Object(shown) = to_json(&Out::YMap(map.clone()), transaction) else { return };
    for key in content_of(&shown).keys().filter(|key| !wanted.contains_key(*key)) {
        map.remove(transaction, key);
    }
    for (key, value) in wanted {
        if shown.get(key) != Some(value) {
            map.insert(transaction, key.as_str(), to_any(value));
        }
    }
}

fn write_attachments(cell: &MapRef, transaction: &mut TransactionMut<'_>, view: &JupyterCell) {
    let wanted = view.attachments.clone().filter(|files| !files.is_empty()).map(Value::Object);
    let shown = entry(cell, transaction, "attachments");
    let is_empty = shown.as_object().is_none_or(JsonMap::is_empty);
    match wanted {
        Some(wanted) if shown != wanted => _ = cell.insert(transaction, "attachments", to_any(&wanted)),
        None if !is_empty => _ = cell.remove(transaction, "attachments"),
        _ => {}
    }
}

fn write_run(cell: &MapRef, transaction: &mut TransactionMut<'_>, view: &JupyterCell) {
    let count = view.execution_count.map_or(Value::Null, Value::from);
    for (key, wanted) in [("execution_count", count), ("execution_state", Value::from(view.state()))] {
        if !cell.contains_key(transaction, key) || entry(cell, transaction, key) != wanted {
            cell.insert(transaction, key, to_any(&wanted));
        }
    }
    match cell.get(transaction, "outputs") {
        Some(Out::YArray(shown)) => write_outputs(&shown, transaction, &view.outputs),
        _ => _ = cell.insert(transaction, "outputs", outputs_of(&view.outputs)),
    }
}

/// Keeps the outputs that are equal from the start, extends a growing stream, and replaces the rest.
fn write_outputs(outputs: &ArrayRef, transaction: &mut TransactionMut<'_>, wanted: &[Value]) {
    let shown: Vec<Out> = outputs.iter(transaction).collect();
    let mut same = 0;
    for (shown, wanted) in shown.iter().zip(wanted) {
        if to_json(shown, transaction) != *wanted && !extend_stream(shown, transaction, wanted) {
            break;
        }
        same += 1;
    }
    let (kept, there) = (u32::try_from(same).unwrap_or(u32::MAX), outputs.len(transaction));
    if there > kept {
        outputs.remove_range(transaction, kept, there - kept);
    }
    for output in &wanted[same..] {
        outputs.push_back(transaction, output_of(output));
    }
}

/// Appends to a stream's text; false if the new output is not the old one with more text.
fn extend_stream(shown: &Out, transaction: &mut TransactionMut<'_>, wanted: &Value) -> bool {
    let (Out::YMap(shown), Some(wanted_text)) = (shown, wanted["text"].as_str()) else { return false };
    let Some(Out::YText(text)) = shown.get(transaction, "text") else { return false };
    let before = text.get_string(transaction);
    let is_same_stream = entry(shown, transaction, "name") == wanted["name"];
    let Some(more) = wanted_text.strip_prefix(before.as_str()).filter(|_| is_same_stream) else { return false };
    let end = text.len(transaction);
    text.insert(transaction, end, more);
    true
}

// --- new values ---

fn new_cell(view: &JupyterCell) -> MapPrelim {
    let mut entries: Vec<(String, In)> = vec![
        ("id".to_owned(), In::from(view.id.as_str())),
        ("cell_type".to_owned(), In::from(view.cell_type)),
        ("source".to_owned(), In::from(TextPrelim::new(view.source.as_str()))),
        ("metadata".to_owned(), In::from(map_of(&view.metadata))),
    ];
    if let Some(files) = view.attachments.as_ref().filter(|files| !files.is_empty()) {
        entries.push(("attachments".to_owned(), In::Any(to_any(&Value::Object(files.clone())))));
    }
    if view.is_code() {
        let count = view.execution_count.map_or(Value::Null, Value::from);
        entries.push(("execution_count".to_owned(), In::Any(to_any(&count))));
        entries.push(("execution_state".to_owned(), In::from(view.state())));
        entries.push(("outputs".to_owned(), In::from(outputs_of(&view.outputs))));
    }
    entries.into_iter().collect()
}

fn map_of(object: &JsonMap<String, Value>) -> MapPrelim {
    object.iter().map(|(key, value)| (key.clone(), to_any(value))).collect()
}

fn outputs_of(outputs: &[Value]) -> ArrayPrelim {
    outputs.iter().map(|output| In::from(output_of(output))).collect()
}

/// An output; the text of a stream is a shared text.
fn output_of(output: &Value) -> MapPrelim {
    let is_stream = output["output_type"] == "stream";
    let value = |key: &str, value: &Value| match value {
        Value::String(text) if is_stream && key == "text" => In::from(TextPrelim::new(text.as_str())),
        value => In::Any(to_any(value)),
    };
    let entries = output.as_object().into_iter().flatten();
    entries.map(|(key, entry)| (key.clone(), value(key, entry))).collect()
}
