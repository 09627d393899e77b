//! Finds the blobs that an event's payload names.

use notarium_record::Hash;
use serde_json::Value;

/// Fields of payloads that hold, at some depth, what names a blob.
const NAMING_FIELDS: [&str; 3] = ["\"blobs\"", "\"attachment\"", "\"environment\""];

/// Returns the blobs that an event's payload names, in fields of outputs, attachments and environments at any depth.
pub fn named_in(payload: &str) -> Vec<Hash> {
    let mut named = Vec::new();
    if NAMING_FIELDS.iter().any(|field| payload.contains(field))
        && let Ok(value) = serde_json::from_str(payload)
    {
        collect_named(&value, &mut named);
    }
    named
}

fn collect_named(value: &Value, named: &mut Vec<Hash>) {
    match value {
        Value::Array(values) => values.iter().for_each(|value| collect_named(value, named)),
        Value::Object(fields) => {
            let is_named = fields.contains_key("pointer") || fields.contains_key("media_type");
            if let (Some(Value::String(sha256)), true) = (fields.get("sha256"), is_named) {
                named.extend(parse_hash(sha256));
            }
            let environment = fields.get("environment").and_then(|environment| environment["sha256"].as_str());
            named.extend(environment.and_then(parse_hash));
            fields.values().for_each(|value| collect_named(value, named));
        }
        _ => {}
    }
}

pub(super) fn parse_hash(text: &str) -> Option<Hash> {
    let mut sha256 = [0; 32];
    hex::decode_to_slice(text, &mut sha256).ok().map(|()| Hash(sha256))
}
