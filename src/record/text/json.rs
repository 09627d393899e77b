//! A change as CodeMirror's JSON, read strictly.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{DeserializeSeed, Deserializer, Error, SeqAccess, Visitor};
use serde::ser::{SerializeSeq, Serializer};
use serde::{Deserialize, Serialize};

use super::build::Builder;
use super::{ChangeSet, MAX_SECTIONS, MAX_TEXT_UNITS, Section, TextError, TextLimits, utf16_len};

impl ChangeSet {
    /// Reads CodeMirror's ChangeSet JSON within the caller's limits, which are enforced while reading.
    ///
    /// # Errors
    /// [`TextError::Malformed`], [`TextError::BadLength`], [`TextError::CarriageReturn`],
    /// [`TextError::LineBreakInLine`], [`TextError::TooManySections`] or [`TextError::TooLong`].
    pub fn from_json(json: &str, limits: &TextLimits) -> Result<Self, TextError> {
        let mut reader = Reader::new(limits);
        let mut deserializer = serde_json::Deserializer::from_str(json);
        let read = reader.deserialize(&mut deserializer).and_then(|()| deserializer.end());
        match (read, reader.fault) {
            (Ok(()), _) => Ok(reader.builder.finish_unchecked()),
            (Err(_), Some(fault)) => Err(fault),
            (Err(error), None) => Err(TextError::Malformed(error.to_string())),
        }
    }

    /// CodeMirror's ChangeSet JSON.
    pub fn to_json(&self) -> String {
        // Cannot fail: only numbers and strings are written, into memory.
        serde_json::to_string(self).unwrap_or_default()
    }
}

impl Serialize for ChangeSet {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(&self.sections)
    }
}

impl Serialize for Section {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Some(insert) = &self.insert else {
            return self.length.serialize(serializer);
        };
        let mut parts = serializer.serialize_seq(None)?;
        parts.serialize_element(&self.length)?;
        if !insert.is_empty() {
            insert.split('\n').try_for_each(|line| parts.serialize_element(line))?;
        }
        parts.end()
    }
}

impl<'de> Deserialize<'de> for ChangeSet {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut reader = Reader::new(&TextLimits::default());
        reader.deserialize(deserializer)?;
        Ok(reader.builder.finish_unchecked())
    }
}

impl JsonSchema for ChangeSet {
    fn schema_name() -> Cow<'static, str> {
        "ChangeSet".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let length = json_schema!({ "type": "integer", "minimum": 0, "maximum": MAX_TEXT_UNITS });
        let line = json_schema!({ "type": "string", "pattern": "^[^\\r\\n]*$" });
        json_schema!({
            "description": "CodeMirror's ChangeSet JSON: n keeps n UTF-16 units, [n] deletes n, [n, line, …] replaces n by the lines joined with \\n.",
            "type": "array",
            "maxItems": MAX_SECTIONS,
            "items": {
                "anyOf": [
                    length,
                    { "type": "array", "prefixItems": [length], "items": line, "minItems": 1 }
                ]
            }
        })
    }
}

/// Reads a change. Neighbouring sections stay apart, as in CodeMirror's `fromJSON`: joined they would map differently.
/// Only empty ones are dropped, which CodeMirror never writes and partly cannot compose.
struct Reader {
    limits: TextLimits,
    builder: Builder,
    sections: usize,
    units_before: usize,
    units_after: usize,
    /// The typed reason, which serde's errors would flatten to a string.
    fault: Option<TextError>,
}

impl Reader {
    fn new(limits: &TextLimits) -> Self {
        let max_sections = limits.max_sections.min(MAX_SECTIONS);
        let limits = TextLimits { max_sections, max_text_units: limits.max_text_units.min(MAX_TEXT_UNITS) };
        Self { limits, builder: Builder::default(), sections: 0, units_before: 0, units_after: 0, fault: None }
    }

    fn refuse<E: Error>(&mut self, fault: TextError) -> E {
        let error = E::custom(&fault);
        self.fault = Some(fault);
        error
    }

    fn keep<E: Error>(&mut self, length: usize) -> Result<(), E> {
        self.count(length, length)?;
        self.builder.push(length, None, 0);
        Ok(())
    }

    fn replace<E: Error>(&mut self, length: usize, text: String) -> Result<(), E> {
        let text_length = utf16_len(&text);
        self.count(length, text_length)?;
        self.builder.push(length, Some(text), text_length);
        Ok(())
    }

    fn count<E: Error>(&mut self, before: usize, after: usize) -> Result<(), E> {
        let TextLimits { max_sections, max_text_units: max_units } = self.limits;
        self.sections += 1;
        self.units_before = self.units_before.saturating_add(before);
        self.units_after = self.units_after.saturating_add(after);
        if self.sections > max_sections {
            return Err(self.refuse(TextError::TooManySections { max: max_sections }));
        }
        if self.units_before.max(self.units_after) > max_units {
            return Err(self.refuse(TextError::TooLong { max_units }));
        }
        Ok(())
    }

    fn length<E: Error>(&mut self, number: u64) -> Result<usize, E> {
        let max_units = self.limits.max_text_units;
        match usize::try_from(number) {
            Ok(length) if length <= max_units => Ok(length),
            _ => Err(self.refuse(TextError::TooLong { max_units })),
        }
    }

    fn bad_length<E: Error>(&mut self, found: impl fmt::Display) -> E {
        self.refuse(TextError::BadLength { found: found.to_string() })
    }
}

impl<'de> DeserializeSeed<'de> for &mut Reader {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for &mut Reader {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an array of sections")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sections: A) -> Result<(), A::Error> {
        while sections.next_element_seed(SectionSeed(&mut *self))?.is_some() {}
        Ok(())
    }
}

/// A section: a number or an array.
struct SectionSeed<'r>(&'r mut Reader);

impl<'de> DeserializeSeed<'de> for SectionSeed<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for SectionSeed<'_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a length or an array of a length and lines")
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<(), E> {
        let length = self.0.length(number)?;
        self.0.keep(length)
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<(), E> {
        match u64::try_from(number) {
            Ok(number) => self.visit_u64(number),
            Err(_) => Err(self.0.bad_length(number)),
        }
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<(), E> {
        Err(self.0.bad_length(number))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut parts: A) -> Result<(), A::Error> {
        let Some(length) = parts.next_element_seed(LengthSeed(&mut *self.0))? else {
            return Err(A::Error::invalid_length(0, &self));
        };
        let mut text = String::new();
        let mut separator = "";
        while parts.next_element_seed(LineSeed { reader: &mut *self.0, separator, text: &mut text })?.is_some() {
            separator = "\n";
        }
        self.0.replace(length, text)
    }
}

/// The first part of an array section.
struct LengthSeed<'r>(&'r mut Reader);

impl<'de> DeserializeSeed<'de> for LengthSeed<'_> {
    type Value = usize;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<usize, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl Visitor<'_> for LengthSeed<'_> {
    type Value = usize;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a length")
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<usize, E> {
        self.0.length(number)
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<usize, E> {
        match u64::try_from(number) {
            Ok(number) => self.visit_u64(number),
            Err(_) => Err(self.0.bad_length(number)),
        }
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<usize, E> {
        Err(self.0.bad_length(number))
    }
}

/// One inserted line, added to `text`.
struct LineSeed<'r> {
    reader: &'r mut Reader,
    separator: &'static str,
    text: &'r mut String,
}

impl<'de> DeserializeSeed<'de> for LineSeed<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for LineSeed<'_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a line of text")
    }

    fn visit_str<E: Error>(self, line: &str) -> Result<(), E> {
        match line.bytes().find(|byte| matches!(byte, b'\r' | b'\n')) {
            Some(b'\r') => Err(self.reader.refuse(TextError::CarriageReturn)),
            Some(_) => Err(self.reader.refuse(TextError::LineBreakInLine)),
            None => {
                self.text.push_str(self.separator);
                self.text.push_str(line);
                Ok(())
            }
        }
    }
}
