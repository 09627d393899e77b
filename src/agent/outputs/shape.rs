//! Output objects in nbformat's shape, and the separation of their large parts.

use std::collections::BTreeMap;

use bytes::Bytes;
use serde_json::value::RawValue;

/// How the bytes of a [`LargePart`] stand for the value that they replace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PartEncoding {
    /// The value is a string, the bytes its UTF-8 (an image stays in base64).
    Text,
    /// The bytes are the value's JSON.
    Json,
}

/// One value of an output that is large enough to be stored as a blob.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LargePart {
    /// Where in the output the value belongs, for instance `["data", "image/png"]` or `["text"]`.
    pub path: Vec<String>,
    pub encoding: PartEncoding,
    pub bytes: Bytes,
}

/// An output object whose large values have been taken out.
#[derive(Debug, Clone)]
pub struct OutputObject {
    /// The nbformat object without its large values.
    pub output: Box<RawValue>,
    pub large_parts: Vec<LargePart>,
}

type Fields<'a> = BTreeMap<String, &'a RawValue>;

impl OutputObject {
    /// Takes every value of `output` that is longer than `large_part_bytes` out of it: in `data` each MIME type by
    /// itself, elsewhere whole fields.
    pub fn split(output: Box<RawValue>, large_part_bytes: usize) -> Self {
        if output.get().len() <= large_part_bytes {
            return Self { output, large_parts: Vec::new() };
        }
        let Ok(fields) = serde_json::from_str::<Fields>(output.get()) else {
            return Self { output, large_parts: Vec::new() };
        };
        let mut splitter = Splitter { large_part_bytes, large_parts: Vec::new() };
        let kept = splitter.split_fields(&fields);
        Self { output: kept, large_parts: splitter.large_parts }
    }

    /// The whole nbformat object again.
    pub fn into_whole(self) -> Box<RawValue> {
        if self.large_parts.is_empty() {
            return self.output;
        }
        let Ok(mut fields) = serde_json::from_str::<BTreeMap<String, Box<RawValue>>>(self.output.get()) else {
            return self.output;
        };
        for part in self.large_parts {
            put_back(&mut fields, &part);
        }
        raw(&fields)
    }

    /// Bytes that stand in the log: the object without its large values.
    pub fn inline_bytes(&self) -> u64 {
        self.output.get().len() as u64
    }

    /// Bytes of the large values.
    pub fn large_bytes(&self) -> u64 {
        self.large_parts.iter().map(|part| part.bytes.len() as u64).sum()
    }
}

struct Splitter {
    large_part_bytes: usize,
    large_parts: Vec<LargePart>,
}

impl Splitter {
    fn split_fields(&mut self, fields: &Fields) -> Box<RawValue> {
        let mut kept = BTreeMap::new();
        for (name, value) in fields {
            if value.get().len() <= self.large_part_bytes {
                kept.insert(name, (*value).to_owned());
            } else if name == "data" {
                kept.insert(name, self.split_data(value));
            } else {
                self.take(vec![name.clone()], value);
            }
        }
        raw(&kept)
    }

    fn split_data(&mut self, data: &RawValue) -> Box<RawValue> {
        let Ok(bundle) = serde_json::from_str::<Fields>(data.get()) else {
            return data.to_owned();
        };
        let mut kept = BTreeMap::new();
        for (mime, value) in bundle {
            if value.get().len() <= self.large_part_bytes {
                kept.insert(mime, value);
            } else {
                self.take(vec!["data".to_owned(), mime], value);
            }
        }
        raw(&kept)
    }

    fn take(&mut self, path: Vec<String>, value: &RawValue) {
        let (encoding, bytes) = match serde_json::from_str::<String>(value.get()) {
            Ok(text) => (PartEncoding::Text, Bytes::from(text)),
            Err(_) => (PartEncoding::Json, Bytes::copy_from_slice(value.get().as_bytes())),
        };
        self.large_parts.push(LargePart { path, encoding, bytes });
    }
}

fn put_back(fields: &mut BTreeMap<String, Box<RawValue>>, part: &LargePart) {
    let text = String::from_utf8_lossy(&part.bytes);
    let value = match part.encoding {
        PartEncoding::Text => raw(&text),
        PartEncoding::Json => raw_json(text.into_owned()),
    };
    match part.path.as_slice() {
        [field] => {
            fields.insert(field.clone(), value);
        }
        [field, mime] => {
            let bundle = fields.get(field).map_or("{}", |bundle| bundle.get());
            let mut bundle: BTreeMap<String, Box<RawValue>> = serde_json::from_str(bundle).unwrap_or_default();
            bundle.insert(mime.clone(), value);
            fields.insert(field.clone(), raw(&bundle));
        }
        _ => {}
    }
}

/// `value` as raw JSON; `null` for what JSON cannot hold.
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
    use super::*;
    use proptest::prelude::*;
    use serde_json::{Value, json};

    fn value(raw: &RawValue) -> Value {
        serde_json::from_str(raw.get()).unwrap()
    }

    #[test]
    fn small_outputs_stay_as_they_are() {
        let text = r#"{ "output_type":"display_data", "data":{"text/plain":"1"},"metadata":{}, "odd": 1e400 }"#;
        let object = OutputObject::split(raw_json(text.to_owned()), 8192);
        assert_eq!(object.output.get(), text);
        assert!(object.large_parts.is_empty());
    }

    #[test]
    fn large_mime_types_are_taken_out_one_by_one() {
        let output = json!({"output_type": "display_data", "metadata": {},
            "data": {"text/plain": "small", "image/png": "A".repeat(100), "application/json": vec![7; 100]}});
        let object = OutputObject::split(raw(&output), 60);
        assert_eq!(value(&object.output)["data"], json!({"text/plain": "small"}));
        let paths: Vec<_> = object.large_parts.iter().map(|part| (part.path.join("/"), part.encoding)).collect();
        assert_eq!(
            paths,
            [("data/application/json".into(), PartEncoding::Json), ("data/image/png".into(), PartEncoding::Text)]
        );
        assert_eq!(value(&object.into_whole()), output);
    }

    proptest! {
        #[test]
        fn splitting_loses_nothing(text in ".{0,80}", mime in "[a-z/]{1,8}", limit in 0usize..60) {
            let output = json!({"output_type": "display_data", "data": {mime: text.clone(), "b": [text.clone()]}, "metadata": {"x": text}});
            let object = OutputObject::split(raw(&output), limit);
            prop_assert_eq!(value(&object.into_whole()), output);
        }
    }
}
