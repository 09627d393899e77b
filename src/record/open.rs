//! Open enums: a reader keeps a variant that it does not know.

use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::{DeserializeOwned, Error};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use crate::json::{RawJson, compact};

/// A value of an enum to which a later version may add variants, in events and the document. Commands hold the enum `T`
/// itself, so that an unknown variant in a command is refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Open<T> {
    /// A variant that this version knows.
    Known(T),
    /// An unknown variant, as it was read: a word, or an object that names its variant.
    Unknown(RawJson),
}

impl<T> Open<T> {
    /// The value, if this version knows its variant.
    pub fn known(&self) -> Option<&T> {
        match self {
            Open::Known(value) => Some(value),
            Open::Unknown(_) => None,
        }
    }
}

impl<T> From<T> for Open<T> {
    fn from(value: T) -> Self {
        Open::Known(value)
    }
}

impl<T: PartialEq> PartialEq<T> for Open<T> {
    fn eq(&self, other: &T) -> bool {
        self.known() == Some(other)
    }
}

/// Writes the word that names the variant, known or not.
impl<T: Serialize> fmt::Display for Open<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&variant(&serde_json::to_value(self).unwrap_or_default()))
    }
}

/// Returns the word of `"word"`, `{"kind": "word", …}` or `{"word": …}`.
fn variant(value: &Value) -> String {
    let named = value.as_str().or_else(|| value.get("kind")?.as_str());
    let named = named.or_else(|| value.as_object()?.keys().next().map(String::as_str));
    named.unwrap_or("unknown").to_owned()
}

impl<T: Serialize> Serialize for Open<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Open::Known(value) => value.serialize(serializer),
            Open::Unknown(raw) => raw.serialize(serializer),
        }
    }
}

impl<'de, T: DeserializeOwned> Deserialize<'de> for Open<T> {
    /// Reads known and unknown variants. A known variant with a wrong field is an error.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = compact(deserializer)?;
        match serde_json::from_str(raw.get()) {
            Ok(value) => Ok(Open::Known(value)),
            Err(error) if error.to_string().starts_with("unknown variant") => Ok(Open::Unknown(raw)),
            Err(error) => Err(D::Error::custom(error)),
        }
    }
}

/// Description of such a value in JSON Schemas.
pub const OPEN: &str = "A later version may add variants: keep what you do not know.";

impl<T: JsonSchema> JsonSchema for Open<T> {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        format!("Open{}", T::schema_name()).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let known = generator.subschema_for::<T>();
        schemars::json_schema!({
            "description": OPEN,
            "anyOf": [known, { "type": ["string", "object"] }]
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Target, ToolCallEnd};

    fn read<T: DeserializeOwned>(text: &str) -> Result<Open<T>, serde_json::Error> {
        serde_json::from_str(text)
    }

    #[test]
    fn an_unknown_variant_is_kept_as_it_came_and_named() {
        let text = r#"{"kind":"moon","at":12345678901234567890}"#;
        let target: Open<Target> = read(text).expect("an open value");
        assert_eq!((target.known(), target.to_string().as_str()), (None, "moon"));
        assert_eq!(serde_json::to_string(&target).expect("JSON"), text);
        let end: Open<ToolCallEnd> = read(r#""half_done""#).expect("an open value");
        assert_eq!((end.known(), end.to_string().as_str()), (None, "half_done"));
        assert_eq!(read::<ToolCallEnd>(r#""outcome_unknown""#).expect("known"), ToolCallEnd::OutcomeUnknown);
    }

    #[test]
    fn a_known_variant_with_a_wrong_field_is_refused() {
        for text in
            [r#"{"kind":"cell","cell_id":"a"}"#, r#"{"kind":"cell","cell_id":"no id","cell_version":1}"#, "5", "{}"]
        {
            assert!(read::<Target>(text).is_err(), "{text}");
        }
    }
}
