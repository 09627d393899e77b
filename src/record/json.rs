//! JSON that passes through unchanged: big integers, key order and unknown fields survive. Open enums: a reader keeps a
//! variant that it does not know.

use std::fmt;
use std::sync::Arc;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::value::{MapAccessDeserializer, MapDeserializer, SeqDeserializer};
use serde::de::{DeserializeOwned, Error, IntoDeserializer, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
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

// --- open enums ---

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
            Err(_) if has_unknown_variant::<T>(&raw) => Ok(Open::Unknown(raw)),
            Err(error) => Err(D::Error::custom(error)),
        }
    }
}

/// Returns true if a value cannot be read because it names a variant that the type does not have.
fn has_unknown_variant<'de, T: Deserialize<'de>>(raw: &RawJson) -> bool {
    let value = serde_json::from_str(raw.get()).map(Probed);
    value.is_ok_and(|value| matches!(T::deserialize(value), Err(ProbeError::UnknownVariant)))
}

/// A value whose reader tells an unknown variant from all other mistakes; serde's own error tells it only as text.
struct Probed(Value);

/// Mistake in a probed value.
#[derive(Debug, thiserror::Error)]
enum ProbeError {
    #[error("an unknown variant")]
    UnknownVariant,
    #[error("another mistake")]
    Other,
}

impl serde::de::Error for ProbeError {
    fn custom<M: fmt::Display>(_: M) -> Self {
        Self::Other
    }

    fn unknown_variant(_: &str, _: &'static [&'static str]) -> Self {
        Self::UnknownVariant
    }
}

impl<'de> IntoDeserializer<'de, ProbeError> for Probed {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

fn probed_fields<'de>(fields: serde_json::Map<String, Value>) -> impl MapAccess<'de, Error = ProbeError> {
    MapDeserializer::new(fields.into_iter().map(|(name, value)| (name, Probed(value))))
}

impl<'de> Deserializer<'de> for Probed {
    type Error = ProbeError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ProbeError> {
        match self.0 {
            Value::Null => visitor.visit_unit(),
            Value::Bool(value) => visitor.visit_bool(value),
            Value::Number(number) => match (number.as_u64(), number.as_i64(), number.as_f64()) {
                (Some(value), _, _) => visitor.visit_u64(value),
                (_, Some(value), _) => visitor.visit_i64(value),
                (_, _, value) => visitor.visit_f64(value.unwrap_or(f64::NAN)),
            },
            Value::String(text) => visitor.visit_string(text),
            Value::Array(items) => visitor.visit_seq(SeqDeserializer::new(items.into_iter().map(Probed))),
            Value::Object(fields) => visitor.visit_map(probed_fields(fields)),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ProbeError> {
        if self.0.is_null() { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, ProbeError> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ProbeError> {
        match self.0 {
            Value::String(word) => visitor.visit_enum(word.into_deserializer()),
            Value::Object(fields) => visitor.visit_enum(MapAccessDeserializer::new(probed_fields(fields))),
            _ => Err(ProbeError::Other),
        }
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct seq tuple
        tuple_struct map struct identifier ignored_any
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
