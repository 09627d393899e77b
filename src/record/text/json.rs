//! CodeMirror's JSON of a change, read strictly.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{DeserializeSeed, Deserializer, Error, SeqAccess, Unexpected, Visitor};
use serde::ser::{SerializeSeq, Serializer};
use serde::{Deserialize, Serialize};

use super::build::Builder;
use super::{ChangeSet, MAX_SECTIONS, MAX_TEXT_UNITS, Section, TextError, utf16_len};

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
        deserializer.deserialize_seq(Sections)
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

/// Reads a change. Neighbouring sections are not joined, as in CodeMirror's `fromJSON`: joined they would map
/// differently. Only empty sections are dropped, which CodeMirror never writes and partly cannot compose.
struct Sections;

impl<'de> Visitor<'de> for Sections {
    type Value = ChangeSet;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an array of sections")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sections: A) -> Result<ChangeSet, A::Error> {
        let (mut builder, mut count) = (Builder::default(), 0);
        let (mut units_before, mut units_after) = (0_usize, 0_usize);
        while let Some(section) = sections.next_element_seed(SectionPart { may_replace: true })? {
            count += 1;
            units_before = units_before.saturating_add(section.length);
            units_after = units_after.saturating_add(section.length_after());
            if count > MAX_SECTIONS {
                return Err(Error::custom(TextError::TooManySections { max: MAX_SECTIONS }));
            }
            if units_before.max(units_after) > MAX_TEXT_UNITS {
                return Err(Error::custom(TextError::TooLong { max_units: MAX_TEXT_UNITS }));
            }
            builder.push(section.length, section.insert, section.insert_length);
        }
        Ok(builder.finish_unchecked())
    }
}

/// A section: a number, or an array whose first part is a number.
#[derive(Clone, Copy)]
struct SectionPart {
    may_replace: bool,
}

impl<'de> DeserializeSeed<'de> for SectionPart {
    type Value = Section;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Section, D::Error> {
        deserializer.deserialize_any(self)
    }
}

fn bad_length<E: Error>(found: impl fmt::Display) -> E {
    E::custom(TextError::BadLength { found: found.to_string() })
}

impl<'de> Visitor<'de> for SectionPart {
    type Value = Section;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(if self.may_replace { "a length or an array of a length and lines" } else { "a length" })
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Section, E> {
        match usize::try_from(number) {
            Ok(length) if length <= MAX_TEXT_UNITS => Ok(Section { length, insert: None, insert_length: 0 }),
            _ => Err(E::custom(TextError::TooLong { max_units: MAX_TEXT_UNITS })),
        }
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Section, E> {
        u64::try_from(number).map_err(|_| bad_length(number)).and_then(|number| self.visit_u64(number))
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<Section, E> {
        Err(bad_length(number))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut parts: A) -> Result<Section, A::Error> {
        if !self.may_replace {
            return Err(Error::invalid_type(Unexpected::Seq, &self));
        }
        let Some(Section { length, .. }) = parts.next_element_seed(SectionPart { may_replace: false })? else {
            return Err(Error::invalid_length(0, &self));
        };
        let mut text = String::new();
        let mut separator = "";
        while parts.next_element_seed(LineSeed { separator, text: &mut text })?.is_some() {
            separator = "\n";
        }
        Ok(Section { length, insert_length: utf16_len(&text), insert: Some(text) })
    }
}

/// Appends one inserted line to `text`.
struct LineSeed<'t> {
    separator: &'static str,
    text: &'t mut String,
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
            Some(b'\r') => return Err(E::custom(TextError::CarriageReturn)),
            Some(_) => return Err(E::custom(TextError::LineBreakInLine)),
            None => self.text.extend([self.separator, line]),
        }
        Ok(())
    }
}
