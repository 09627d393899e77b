//! Output objects in nbformat's shape, and the separation of their large parts.

use std::borrow::Cow;
use std::collections::BTreeMap;

use bytes::Bytes;
use notarium_core::{BlobPart, escape_key};
use serde_json::value::RawValue;

/// One value of an output that is large enough to be stored as a blob.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LargePart {
    /// Position of the value in the output, and whether the bytes are a string's UTF-8 (an image stays in base64) or the
    /// value's JSON. The hash is empty until the blob is stored.
    pub blob: BlobPart,
    pub bytes: Bytes,
}

/// An output object whose large values have been taken out.
#[derive(Debug, Clone)]
pub struct OutputObject {
    /// The nbformat object without its large values.
    pub output: Box<RawValue>,
    pub large_parts: Vec<LargePart>,
}

impl OutputObject {
    /// Takes every value of `output` that is longer than `large_part_bytes` out of it: in `data` each MIME type by
    /// itself, elsewhere whole fields. Also returns the whole object if something was taken out.
    pub fn split(output: Box<RawValue>, large_part_bytes: usize) -> (Self, Option<Box<RawValue>>) {
        let mut large_parts = Vec::new();
        if output.get().len() <= large_part_bytes {
            return (Self { output, large_parts }, None);
        }
        let kept = without_large(&output, "", large_part_bytes, &mut large_parts);
        (Self { output: kept, large_parts }, Some(output))
    }

    /// Bytes in the log: the object without its large values.
    pub fn inline_bytes(&self) -> u64 {
        self.output.get().len() as u64
    }

    /// Bytes of the large values.
    pub fn large_bytes(&self) -> u64 {
        self.large_parts.iter().map(|part| part.blob.size_bytes).sum()
    }
}

/// MIME type of table rows as compressed bytes: see `clients/python/notarium_kernel/tables`.
const ARROW_TABLE: &str = "application/vnd.notarium.table+arrow";

/// The output without its Arrow form of a table, in which keys could not be masked.
pub fn without_arrow(output: Box<RawValue>) -> Box<RawValue> {
    if !output.get().contains(ARROW_TABLE) {
        return output;
    }
    let read = |text: &str| serde_json::from_str::<BTreeMap<String, Box<RawValue>>>(text).ok();
    let Some((mut fields, mut data)) = read(output.get())
        .and_then(|fields| Some((read(fields.get("data")?.get())?, fields)))
        .map(|(data, fields)| (fields, data))
    else {
        return output;
    };
    data.remove(ARROW_TABLE);
    fields.insert("data".to_owned(), raw_json(serde_json::to_string(&data).unwrap_or_default()));
    raw_json(serde_json::to_string(&fields).unwrap_or_default())
}

/// The object at `place` without its large values, which go into `large_parts`.
fn without_large(
    object: &RawValue,
    place: &str,
    large_part_bytes: usize,
    large_parts: &mut Vec<LargePart>,
) -> Box<RawValue> {
    let Ok(fields) = serde_json::from_str::<BTreeMap<String, &RawValue>>(object.get()) else {
        return object.to_owned();
    };
    let mut kept = BTreeMap::new();
    for (name, value) in fields {
        let pointer = || format!("{place}/{}", escape_key(&name));
        if value.get().len() <= large_part_bytes {
            kept.insert(name, Cow::Borrowed(value));
        } else if place.is_empty() && name == "data" {
            let data = without_large(value, "/data", large_part_bytes, large_parts);
            kept.insert(name, Cow::Owned(data));
        } else {
            large_parts.push(large_part(pointer(), value));
        }
    }
    raw(&kept)
}

fn large_part(pointer: String, value: &RawValue) -> LargePart {
    let (json, bytes) = match serde_json::from_str::<String>(value.get()) {
        Ok(text) => (false, Bytes::from(text)),
        Err(_) => (true, Bytes::copy_from_slice(value.get().as_bytes())),
    };
    LargePart { blob: BlobPart { pointer, sha256: String::new(), size_bytes: bytes.len() as u64, json }, bytes }
}

/// `value` as raw JSON; `null` if it cannot be JSON.
pub fn raw<T: serde::Serialize + ?Sized>(value: &T) -> Box<RawValue> {
    serde_json::value::to_raw_value(value).unwrap_or_else(|_| RawValue::NULL.to_owned())
}

/// JSON text as a raw value; `null` when it is not JSON.
pub fn raw_json(text: String) -> Box<RawValue> {
    RawValue::from_string(text).unwrap_or_else(|_| RawValue::NULL.to_owned())
}

/// `{"name", "output_type": "stream", "text"}`
pub fn stream_object(name: &str, text: &str) -> Box<RawValue> {
    raw(&serde_json::json!({ "name": name, "output_type": "stream", "text": text }))
}

#[cfg(test)]
mod tests {
    use super::super::tests::whole_again;
    use super::*;
    use proptest::prelude::*;
    use serde_json::{Value, json};

    fn value(raw: &RawValue) -> Value {
        serde_json::from_str(raw.get()).unwrap()
    }

    #[test]
    fn small_outputs_stay_as_they_are() {
        let text = r#"{ "output_type":"display_data", "data":{"text/plain":"1"},"metadata":{}, "odd": 1e400 }"#;
        let (object, whole) = OutputObject::split(raw_json(text.to_owned()), 8192);
        assert!(whole.is_none());
        assert_eq!(object.output.get(), text);
        assert!(object.large_parts.is_empty());
    }

    #[test]
    fn large_mime_types_are_taken_out_one_by_one() {
        let output = json!({"output_type": "display_data", "metadata": {},
            "data": {"text/plain": "small", "image/png": "A".repeat(100), "application/json": vec![7; 100]}});
        let (object, whole) = OutputObject::split(raw(&output), 60);
        assert_eq!(value(&whole.unwrap()), output);
        assert_eq!(value(&object.output)["data"], json!({"text/plain": "small"}));
        let pointers = object.large_parts.iter().map(|part| (part.blob.pointer.as_str(), part.blob.json));
        assert_eq!(pointers.collect::<Vec<_>>(), [("/data/application~1json", true), ("/data/image~1png", false)]);
        assert_eq!(whole_again(object), output);
    }

    proptest! {
        #[test]
        fn splitting_loses_nothing(text in ".{0,80}", mime in "[a-z/]{1,8}", limit in 0usize..60) {
            let output = json!({"output_type": "display_data", "data": {mime: text.clone(), "b": [text.clone()]}, "metadata": {"x": text}});
            let (object, _) = OutputObject::split(raw(&output), limit);
            prop_assert_eq!(whole_again(object), output);
        }
    }
}
