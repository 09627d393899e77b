//! Exports a notebook's state to a file.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use bytes::Bytes;
use notarium_core::{BlobPart, Cell, CellFlags, CellId, CellReply, Document, Execution, Output, RawObject, Reactivity};
use notarium_wire::ipynb::{Document as File, DocumentCell, Object};
use serde_json::value::RawValue;

use crate::blobs::parts;
use crate::rooms::metadata;
use crate::rooms::word::word;

/// Blobs that the shown outputs of these cells name and a file contains, each once.
pub fn named_blobs<'a>(notebook: &'a Document, cells: &'a [CellId]) -> Vec<&'a BlobPart> {
    let shown = cells.iter().filter_map(|id| notebook.latest_execution(id));
    named_by(shown.flat_map(|(_, run)| &run.outputs))
}

/// Blobs that these outputs name and a file contains, each once.
pub fn named_by<'a>(outputs: impl IntoIterator<Item = &'a Output>) -> Vec<&'a BlobPart> {
    let mut seen = BTreeSet::new();
    let named = outputs.into_iter().flat_map(|output| &output.blobs);
    let named = named.filter(|part| parts::is_in_files(part));
    named.filter(|part| seen.insert(part.sha256.as_str())).collect()
}

/// The file without its cells.
pub fn frame(notebook: &Document) -> File {
    let mut metadata = object(&notebook.metadata);
    if notebook.reactivity != Reactivity::Off {
        metadata::put(&mut metadata, metadata::REACTIVITY, &notebook.reactivity);
    }
    File { metadata, nbformat_original: (4, 5), extra: Object::new(), cells: Vec::new() }
}

/// A cell as in the file; `blobs` are bytes by lower-case hex of their SHA-256. `None`: there is no such cell.
pub fn cell(notebook: &Document, cell_id: &CellId, blobs: &BTreeMap<String, Bytes>) -> Option<DocumentCell> {
    let latest = notebook.latest_execution(cell_id).map(|(_, execution)| &**execution);
    let bare = without_outputs(cell_id, notebook.cells.get(cell_id)?, latest);
    let shown = latest.map_or(&[][..], |execution| &execution.outputs);
    Some(DocumentCell { outputs: outputs(shown, blobs), ..bare })
}

/// Outputs as in the file.
pub fn outputs(outputs: &[Output], blobs: &BTreeMap<String, Bytes>) -> Vec<Box<RawValue>> {
    one_stream_each(outputs.iter().map(|output| parts::join(output, blobs)))
}

/// Ranges of outputs that can be written separately: consecutive pieces of one stream stay together.
pub fn groups(outputs: &[Output]) -> Vec<Range<usize>> {
    let mut groups: Vec<Range<usize>> = Vec::new();
    let mut last = None;
    for (index, output) in outputs.iter().enumerate() {
        let stream = parts::stream_piece(output.content.get()).map(|(name, _)| name);
        match groups.last_mut().filter(|_| stream.is_some() && stream == last) {
            Some(group) => group.end = index + 1,
            None => groups.push(index..index + 1),
        }
        last = stream;
    }
    groups
}

/// A cell without outputs.
pub fn without_outputs(cell_id: &CellId, cell: &Cell, latest: Option<&Execution>) -> DocumentCell {
    let content = &cell.content;
    let count = latest.and_then(|execution| execution.execution_count);
    DocumentCell {
        id: cell_id.to_string(),
        // Our JSON names are those of the file.
        cell_type: word(&content.cell_type),
        source: content.source.clone(),
        metadata: metadata(cell),
        attachments: content.attachments.as_ref().map(object),
        execution_count: count.and_then(|count| i64::try_from(count).ok()),
        outputs: Vec::new(),
        flags: flags(&content.flags),
        extra: Object::new(),
    }
}

fn metadata(cell: &Cell) -> Object {
    let mut metadata = object(&cell.content.metadata);
    if let Some(reply) = cell.reply.as_deref() {
        metadata::put(&mut metadata, metadata::REPLY, &CellReply { turn_id: None, ..CellReply::from(reply) });
    }
    metadata
}

/// Merges consecutive pieces of one stream. A run reports a stream in pieces; every other program writes it as one
/// output.
fn one_stream_each(outputs: impl Iterator<Item = Box<RawValue>>) -> Vec<Box<RawValue>> {
    let mut merged: Vec<Box<RawValue>> = Vec::new();
    let mut open: Option<(String, String)> = None;
    for output in outputs {
        let next = parts::stream_piece(output.get()).and_then(|(name, text)| Some((name, text?)));
        match (next, &mut open) {
            (Some((name, text)), Some((last, whole))) if name == *last => whole.push_str(&text),
            (next, _) => {
                merged.extend(open.take().map(|(name, text)| parts::stream(&name, &text)));
                if next.is_none() {
                    merged.push(output);
                }
                open = next;
            }
        }
    }
    merged.extend(open.map(|(name, text)| parts::stream(&name, &text)));
    merged
}

/// Flags that are on; their names in JSON are those of the file.
fn flags(flags: &CellFlags) -> Object {
    let text = serde_json::to_string(flags).unwrap_or_default();
    serde_json::from_str(&text).unwrap_or_default()
}

fn object(raw: &RawObject) -> BTreeMap<String, Box<RawValue>> {
    serde_json::from_str(raw.get()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_of_a_stream_that_follow_each_other_are_one_output() {
        let stream = |name: &str, text: &str| format!(r#"{{"name":"{name}","output_type":"stream","text":"{text}"}}"#);
        let display = r#"{"output_type":"display_data","data":{},"metadata":{}}"#.to_owned();
        let odd = r#"{"name":"stdout","output_type":"stream","text":"x","unknown":1}"#.to_owned();
        let given = [
            stream("stdout", "a"),
            stream("stdout", "b"),
            stream("stderr", "c"),
            display.clone(),
            odd.clone(),
            stream("stdout", "d"),
        ];
        let merged = one_stream_each(given.into_iter().map(|text| RawValue::from_string(text).unwrap()));
        let texts: Vec<&str> = merged.iter().map(|output| output.get()).collect();
        assert_eq!(texts, [stream("stdout", "ab"), stream("stderr", "c"), display, odd, stream("stdout", "d")]);
    }
}
