//! JSON that passes through unchanged: big integers, key order and unknown fields survive.

use std::sync::Arc;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

/// A JSON value, kept as its original text. Cloning shares the text.
#[derive(Debug, Clone)]
pub struct RawJson(Arc<RawValue>);

impl RawJson {
    /// Checks and keeps JSON text; the error says where it is not JSON.
    pub fn parse(text: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str::<Box<RawValue>>(text).map(|raw| Self(raw.into()))
    }

    /// Serialises a value to JSON text.
    pub fn of<T: Serialize>(value: &T) -> Result<Self, serde_json::Error> {
        serde_json::value::to_raw_value(value).map(|raw| Self(raw.into()))
    }

    /// The original text.
    pub fn get(&self) -> &str {
        self.0.get()
    }
}

impl From<Box<RawValue>> for RawJson {
    fn from(raw: Box<RawValue>) -> Self {
        Self(raw.into())
    }
}

/// Reads a value and removes the blanks between its parts, so that everything in the log is on one line.
pub fn compact<'de, D: Deserializer<'de>>(deserializer: D) -> Result<RawJson, D::Error> {
    let raw = Box::<RawValue>::deserialize(deserializer)?;
    match without_blanks(raw.get()) {
        Some(text) => RawValue::from_string(text).map(RawJson::from).map_err(serde::de::Error::custom),
        None => Ok(raw.into()),
    }
}

/// Removes blanks; `None` if there are none. The text is valid JSON: bytes that look like blanks but stay are in
/// strings.
fn without_blanks(text: &str) -> Option<String> {
    let (mut in_string, mut escaped) = (false, false);
    let mut is_blank = |byte: u8| {
        match (in_string, escaped, byte) {
            (true, true, _) => escaped = false,
            (true, false, b'\\') => escaped = true,
            (_, _, b'"') => in_string = !in_string,
            _ => {}
        }
        !in_string && byte.is_ascii_whitespace()
    };
    let first = text.bytes().position(&mut is_blank)?;
    let mut kept = text.as_bytes()[..first].to_vec();
    kept.extend(text.bytes().skip(first + 1).filter(|byte| !is_blank(*byte)));
    String::from_utf8(kept).ok()
}

impl PartialEq for RawJson {
    fn eq(&self, other: &Self) -> bool {
        self.get() == other.get()
    }
}

impl Eq for RawJson {}

impl Serialize for RawJson {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for RawJson {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Box::<RawValue>::deserialize(deserializer).map(Self::from)
    }
}

impl JsonSchema for RawJson {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "AnyJson".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        schemars::json_schema!(true)
    }
}

/// A JSON object, kept as its original text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct RawObject(RawJson);

impl RawObject {
    /// The original text.
    pub fn get(&self) -> &str {
        self.0.get()
    }

    /// Checks and keeps the text of a JSON object; anything else is an error.
    pub fn parse(text: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(text)
    }

    /// Returns true for the text `{}` only. With blanks inside it is not empty, or it would not survive being left out.
    pub fn is_empty(&self) -> bool {
        self.get() == "{}"
    }
}

impl Default for RawObject {
    fn default() -> Self {
        let raw = RawValue::from_string("{}".to_owned());
        Self(RawJson::from(raw.unwrap_or_else(|_| unreachable!("'{{}}' is JSON"))))
    }
}

impl<'de> Deserialize<'de> for RawObject {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = compact(deserializer)?;
        if raw.get().starts_with('{') { Ok(Self(raw)) } else { Err(serde::de::Error::custom("expected a JSON object")) }
    }
}

impl JsonSchema for RawObject {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "AnyObject".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        schemars::json_schema!({ "type": "object" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blanks_between_the_parts_go_and_those_in_strings_stay() {
        let object = RawObject::parse("{ \"a b\" :\n[1,\t\"c \\\" \\\\\" , {} ] }").expect("an object");
        assert_eq!(object.get(), "{\"a b\":[1,\"c \\\" \\\\\",{}]}");
        assert!(RawObject::parse("{ }").expect("an object").is_empty());
    }

    #[test]
    fn a_compact_value_is_kept_as_it_is() {
        assert_eq!(without_blanks("{\"big\":12345678901234567890.10,\"a b\":\" \"}"), None);
    }
}
