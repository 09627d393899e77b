//! Large values of outputs: moved to blobs on import, put back on export.

use crate::rooms::metadata::to_raw;
use std::collections::BTreeMap;

use bytes::Bytes;
use notarium_core::{BlobPart, Hash, Output, RawJson, escape_key, unescape_key};
use serde_json::value::RawValue;
use sha2::{Digest, Sha256};

/// Values longer than this are moved to blobs.
pub const MAX_INLINE_BYTES: usize = 8 << 10;

/// Prefix of the MIME types of data frames: see `clients/python/notarium_kernel/tables/display.py`.
const TABLE_MIME: &str = "application/vnd.notarium.table+";

/// Depth that a pointer may have.
const MAX_POINTER_DEPTH: usize = 8;

type OutputFields = BTreeMap<String, Box<RawValue>>;

/// Bytes of a blob that an output names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutputBlob {
    pub sha256: Hash,
    pub bytes: Bytes,
}

/// Moves every value above [`MAX_INLINE_BYTES`] out of an nbformat output: each MIME type of `data` separately, else
/// whole fields. `output_type` and `name` stay.
pub fn split(content: Box<RawValue>) -> (Output, Vec<OutputBlob>) {
    split_above(content, MAX_INLINE_BYTES)
}

/// Moves every value above `max_inline_bytes` out of an nbformat output.
pub fn split_above(content: Box<RawValue>, max_inline_bytes: usize) -> (Output, Vec<OutputBlob>) {
    let mut splitter = Splitter { max_inline_bytes, blobs: Vec::new(), parts: Vec::new() };
    let content = match fields_of(&content) {
        Some(fields) if content.get().len() > max_inline_bytes => splitter.split_fields(fields),
        _ => content.into(),
    };
    (Output { content, blobs: splitter.blobs, display_id: None }, splitter.parts)
}

struct Splitter {
    max_inline_bytes: usize,
    blobs: Vec<BlobPart>,
    parts: Vec<OutputBlob>,
}

impl Splitter {
    fn split_fields(&mut self, fields: OutputFields) -> RawJson {
        let mut kept = OutputFields::new();
        for (name, value) in fields {
            if name == "data" && value.get().len() > self.max_inline_bytes {
                match fields_of(&value) {
                    Some(data) => _ = kept.insert(name, to_raw(&self.split_level("/data", data))),
                    None => self.take(format!("/{name}"), &value),
                }
            } else if value.get().len() > self.max_inline_bytes && !matches!(name.as_str(), "output_type" | "name") {
                self.take(format!("/{}", escape_key(&name)), &value);
            } else {
                kept.insert(name, value);
            }
        }
        RawJson::from(to_raw(&kept))
    }

    fn split_level(&mut self, above: &str, fields: OutputFields) -> OutputFields {
        let mut kept = OutputFields::new();
        for (name, value) in fields {
            if value.get().len() > self.max_inline_bytes {
                self.take(format!("{above}/{}", escape_key(&name)), &value);
            } else {
                kept.insert(name, value);
            }
        }
        kept
    }

    fn take(&mut self, pointer: String, value: &RawValue) {
        let text = serde_json::from_str::<String>(value.get()).ok();
        let json = text.is_none();
        let bytes = Bytes::from(text.unwrap_or_else(|| value.get().to_owned()));
        let sha256 = Hash(Sha256::digest(&bytes).into());
        self.blobs.push(BlobPart { pointer, sha256: sha256.to_string(), size_bytes: bytes.len() as u64, json });
        self.parts.push(OutputBlob { sha256, bytes });
    }
}

/// The output as one nbformat object. `blobs` are the bytes by lower-case hex of their hash. A missing blob is named by
/// a text in its place.
pub fn join(output: &Output, blobs: &BTreeMap<String, Bytes>) -> Box<RawValue> {
    let content =
        output.blobs.iter().filter(|part| is_in_files(part)).fold(None, |content: Option<Box<RawValue>>, part| {
            let before = content.as_deref().map_or(output.content.get(), RawValue::get);
            let path: Vec<String> = part.pointer.split('/').skip(1).map(unescape_key).collect();
            put(before, &path, value_of(part, blobs)).or(content)
        });
    let content = content.unwrap_or_else(|| RawValue::from_string(output.content.get().to_owned()).unwrap_or_default());
    without_tables(&content).unwrap_or(content)
}

/// True if files contain the part. Outputs beyond a run's limit stay blobs, and the output names them. Tables are for
/// our page alone: other programs cannot read them.
pub fn is_in_files(part: &BlobPart) -> bool {
    let is_table = part.mime().is_some_and(|mime| is_table(&mime));
    !is_table && !part.pointer.starts_with("/metadata/notarium/")
}

fn is_table(mime: &str) -> bool {
    mime.starts_with(TABLE_MIME)
}

/// The output without its inline tables. `None`: it has no tables.
pub fn without_tables(content: &RawValue) -> Option<Box<RawValue>> {
    if !content.get().contains(TABLE_MIME) {
        return None;
    }
    let mut fields = fields_of(content)?;
    let mut data = fields_of(fields.get("data")?)?;
    let before = data.len();
    data.retain(|mime, _| !is_table(mime));
    (data.len() < before).then(|| {
        fields.insert("data".to_owned(), to_raw(&data));
        to_raw(&fields)
    })
}

fn value_of(part: &BlobPart, blobs: &BTreeMap<String, Bytes>) -> Box<RawValue> {
    let known = blobs.get(&part.sha256).and_then(|bytes| std::str::from_utf8(bytes).ok());
    match known {
        Some(text) if part.json => RawValue::from_string(text.to_owned()).unwrap_or_else(|_| to_raw(&text)),
        Some(text) => to_raw(&text),
        None => to_raw(&missing(part)),
    }
}

/// Text in a file in place of a missing value.
pub fn missing(part: &BlobPart) -> String {
    format!("[{} bytes are not stored any more: sha256 {}]", part.size_bytes, part.sha256)
}

/// Sets the value at a path of object keys; `None` if the path does not fit.
fn put(object: &str, path: &[String], value: Box<RawValue>) -> Option<Box<RawValue>> {
    let (first, rest) = path.split_first()?;
    if path.len() > MAX_POINTER_DEPTH {
        return None;
    }
    let mut fields: OutputFields = serde_json::from_str(object).ok()?;
    let value = if rest.is_empty() {
        value
    } else {
        let inner = fields.get(first).map_or("{}", |inner| inner.get());
        put(inner, rest, value)?
    };
    fields.insert(first.clone(), value);
    Some(to_raw(&fields))
}

fn fields_of(raw: &RawValue) -> Option<OutputFields> {
    serde_json::from_str(raw.get()).ok()
}

/// Name and text of an output that is only a piece of a stream. The text is absent if it is in a blob.
pub fn stream_piece(output: &str) -> Option<(String, Option<String>)> {
    #[derive(serde::Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Piece {
        output_type: String,
        name: String,
        text: Option<String>,
    }
    let piece: Piece = serde_json::from_str(output).ok()?;
    (piece.output_type == "stream").then_some((piece.name, piece.text))
}

/// A stream as one output.
pub fn stream(name: &str, text: &str) -> Box<RawValue> {
    to_raw(&serde_json::json!({ "name": name, "output_type": "stream", "text": text }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(text: &str) -> Box<RawValue> {
        RawValue::from_string(text.to_owned()).unwrap()
    }

    fn blobs(parts: &[OutputBlob]) -> BTreeMap<String, Bytes> {
        parts.iter().map(|part| (part.sha256.to_string(), part.bytes.clone())).collect()
    }

    #[test]
    fn large_values_leave_and_come_back() {
        let image = "a".repeat(MAX_INLINE_BYTES);
        let rows = format!("[{}1]", "1,".repeat(MAX_INLINE_BYTES));
        let text = format!(
            r#"{{"data":{{"application/x~y+json":{rows},"image/png":"{image}","text/plain":"short"}},"metadata":{{}},"output_type":"display_data"}}"#
        );
        let (output, parts) = split(raw(&text));
        assert!(output.content.get().len() < 200, "{}", output.content.get());
        assert_eq!(output.blobs[0].pointer, "/data/application~1x~0y+json");
        assert!(output.blobs[0].json && !output.blobs[1].json);
        assert_eq!(join(&output, &blobs(&parts)).get(), text);
    }

    #[test]
    fn tables_are_left_out_of_files_in_the_event_and_in_a_blob() {
        let rows = "a".repeat(MAX_INLINE_BYTES);
        let bare = r#"{"data":{"text/html":"<table>","text/plain":"x"},"metadata":{},"output_type":"display_data"}"#;
        for (mime, value) in [("arrow", rows.as_str()), ("json", "short")] {
            let table = format!(r#"{{"data":{{"application/vnd.notarium.table+{mime}":"{value}","#);
            let (output, parts) = split(raw(&bare.replace(r#"{"data":{"#, &table)));
            assert_eq!((output.blobs.len(), output.blobs.iter().any(is_in_files)), (parts.len(), false));
            assert_eq!(join(&output, &blobs(&parts)).get(), bare);
        }
    }

    #[test]
    fn a_long_stream_leaves_as_its_text() {
        let text =
            format!(r#"{{"name":"stdout","output_type":"stream","text":"{}"}}"#, "é\\n".repeat(MAX_INLINE_BYTES));
        let (output, parts) = split(raw(&text));
        assert_eq!(output.content.get(), r#"{"name":"stdout","output_type":"stream"}"#);
        assert!(parts[0].bytes.starts_with("é\né".as_bytes()));
        assert_eq!(join(&output, &blobs(&parts)).get(), text);
    }

    #[test]
    fn what_is_missing_is_named_and_odd_pointers_change_nothing() {
        let blob = |pointer: &str| BlobPart { pointer: pointer.into(), sha256: "00".into(), size_bytes: 9, json: true };
        let content = RawJson::parse(r#"{"output_type":"stream","list":[1]}"#).unwrap();
        let odd = ["", "/list/0", "/a/b/c/d/e/f/g/h/i/j"].map(blob).to_vec();
        let output = Output { content: content.clone(), blobs: odd, display_id: None };
        assert_eq!(join(&output, &BTreeMap::new()).get(), content.get());
        let output = Output { blobs: vec![blob("/text")], ..output };
        assert!(join(&output, &BTreeMap::new()).get().contains("9 bytes are not stored any more"));
    }
}
