//! Stand-ins of redacted payloads: the same JSON with `█` in place of each UTF-16 code unit of the redacted text. Length and line breaks
//! stay, so that changes of texts apply as before.
//!
//! One walk over the JSON of a payload finds its texts. Every field belongs to a [`Zone`]: ids, numbers, decisions and times are never
//! rewritten. A new field must be added to a list here; the test compares the lists with the schemas of all payloads.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::ids::{Hash, Version};
use crate::json::RawJson;

/// Character that replaces each UTF-16 code unit of a redacted text.
pub const REDACTED: char = '\u{2588}';

/// Payload that replaces that of an event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StandIn {
    /// Version of the event.
    pub version: Version,
    /// The new payload, in the schema of the event.
    pub payload: RawJson,
}

impl StandIn {
    /// SHA-256 of the payload, which `ContentRedacted` names.
    pub fn digest(&self) -> Hash {
        stand_in_digest(&self.payload)
    }
}

/// Content that a redaction removes, beside the events that say so.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ContentRemoval {
    /// Payloads that replace those of earlier events.
    pub stand_ins: Vec<StandIn>,
    /// Blobs that go.
    pub blobs: Vec<Hash>,
}

impl ContentRemoval {
    /// Returns true if nothing is removed.
    pub fn is_empty(&self) -> bool {
        self.stand_ins.is_empty() && self.blobs.is_empty()
    }
}

/// SHA-256 of a stand-in.
pub fn stand_in_digest(payload: &RawJson) -> Hash {
    Hash(Sha256::digest(payload.get()).into())
}

/// Replaces the code units of a text that `is_redacted`, by their index; line breaks stay.
pub fn blacken(text: &str, mut is_redacted: impl FnMut(usize) -> bool) -> String {
    let mut unit = 0;
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        let length = character.len_utf16();
        let any = (unit..unit + length).any(&mut is_redacted);
        unit += length;
        if any && !matches!(character, '\n' | '\r') {
            out.extend(std::iter::repeat_n(REDACTED, length));
        } else {
            out.push(character);
        }
    }
    out
}

// --- zones ---

/// Kind of a field of a payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Zone {
    /// Ids, words, hashes, decisions: never redacted.
    Structure,
    /// Texts of people, programs and models.
    Text,
    /// JSON of people and programs, whose strings and numbers may be redacted.
    Json,
}

/// Fields with texts, at any depth.
const TEXTS: [&str; 19] = [
    "source",
    "change",
    "removed",
    "text",
    "title",
    "description",
    "detail",
    "notice",
    "prompt",
    "quote",
    "purpose",
    "reason",
    "reasons",
    "result",
    "value",
    "extra",
    "path",
    "target",
    "leaves",
];

/// Fields with any JSON, at any depth.
const JSON: [&str; 6] = ["metadata", "attachments", "arguments", "content", "data", "schema"];

/// Fields that differ by the type of the event.
const BY_TYPE: [(&str, &str, Zone); 9] = [
    ("ContentRedacted", "target", Zone::Structure),
    ("NotebookVersionNamed", "name", Zone::Text),
    ("MessagePosted", "name", Zone::Text),
    ("NotebookRenamed", "previous", Zone::Text),
    ("NotebookMetadataSet", "previous", Zone::Json),
    ("CellMetadataSet", "previous", Zone::Json),
    ("CellAttachmentsSet", "previous", Zone::Json),
    ("KernelSessionStarted", "reason", Zone::Structure),
    ("ScheduleSet", "parameters", Zone::Json),
];

/// Fields of an output that have no text of the output.
const OUTPUT_KEYS: [&str; 3] = ["output_type", "name", "execution_count"];

/// Zone of a field in the structure of a payload.
pub fn zone(event_type: &str, key: &str) -> Zone {
    let special = BY_TYPE.iter().find(|(of, field, _)| *of == event_type && *field == key);
    match special {
        Some((_, _, zone)) => *zone,
        None if TEXTS.contains(&key) => Zone::Text,
        None if JSON.contains(&key) => Zone::Json,
        None => Zone::Structure,
    }
}

// --- walk ---

/// Step of a path into JSON.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JsonStep {
    /// Field of an object.
    Key(String),
    /// Element of an array.
    Index(usize),
}

impl JsonStep {
    /// The name of a field.
    pub fn key(&self) -> Option<&str> {
        match self {
            JsonStep::Key(key) => Some(key),
            JsonStep::Index(_) => None,
        }
    }
}

/// Value that the walk has found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Found<'a> {
    /// A string, decoded.
    Text(&'a str),
    /// The name of a field inside of a [`Zone::Json`], decoded.
    Key(&'a str),
    /// A number inside of a [`Zone::Json`], as it is written.
    Number(&'a str),
}

/// Place of a value.
#[derive(Debug, Clone, Copy)]
pub struct JsonPlace<'a> {
    /// Kind of the field that holds the value.
    pub zone: Zone,
    /// Steps from the payload to the value.
    pub path: &'a [JsonStep],
    /// Number of the string in the payload, from 0.
    pub ordinal: u32,
}

/// Calls `visit` for every string of a payload, and for names and numbers in free JSON. What it returns replaces the value. Returns the new
/// payload; `None`: nothing was replaced.
pub fn rewrite(
    event_type: &str,
    payload: &str,
    visit: &mut dyn FnMut(JsonPlace<'_>, Found<'_>) -> Option<String>,
) -> Option<String> {
    let mut walk =
        Walk { event_type, text: payload, at: 0, copied: 0, out: String::new(), path: Vec::new(), ordinal: 0, visit };
    walk.value(Zone::Structure)?;
    if walk.copied == 0 {
        return None;
    }
    walk.out.push_str(&payload[walk.copied..]);
    Some(walk.out)
}

struct Walk<'a, 'v> {
    event_type: &'a str,
    text: &'a str,
    at: usize,
    /// End of the part that `out` has.
    copied: usize,
    out: String,
    path: Vec<JsonStep>,
    ordinal: u32,
    visit: &'v mut dyn FnMut(JsonPlace<'_>, Found<'_>) -> Option<String>,
}

impl Walk<'_, '_> {
    fn peek(&mut self) -> Option<u8> {
        let blanks = self.text[self.at..].bytes().take_while(u8::is_ascii_whitespace).count();
        self.at += blanks;
        self.text.as_bytes().get(self.at).copied()
    }

    /// Walks over one value; `None`: it is not JSON.
    fn value(&mut self, zone: Zone) -> Option<()> {
        match self.peek()? {
            b'{' => self.items(b'}', |walk, _| walk.field(zone)),
            b'[' => self.items(b']', |walk, index| walk.nested(JsonStep::Index(index), zone)),
            b'"' => self.string(zone),
            _ => self.scalar(zone),
        }
    }

    fn items(&mut self, end: u8, mut item: impl FnMut(&mut Self, usize) -> Option<()>) -> Option<()> {
        self.at += 1;
        for index in 0.. {
            match self.peek()? {
                byte if byte == end => {
                    self.at += 1;
                    return Some(());
                }
                b',' => self.at += 1,
                _ => {}
            }
            item(self, index)?;
        }
        None
    }

    fn field(&mut self, zone: Zone) -> Option<()> {
        self.peek()?;
        let start = self.at;
        let key = self.token()?;
        if zone == Zone::Json {
            self.offer(start, zone, Found::Key(&key));
        }
        (self.peek()? == b':').then(|| self.at += 1)?;
        let inner = self.zone_of(zone, &key);
        self.nested(JsonStep::Key(key), inner)
    }

    fn zone_of(&self, outer: Zone, key: &str) -> Zone {
        let is_output = self.path.last().and_then(JsonStep::key) == Some("content");
        match outer {
            Zone::Structure => zone(self.event_type, key),
            Zone::Json if is_output && OUTPUT_KEYS.contains(&key) => Zone::Structure,
            zone => zone,
        }
    }

    fn nested(&mut self, step: JsonStep, zone: Zone) -> Option<()> {
        self.path.push(step);
        let done = self.value(zone);
        self.path.pop();
        done
    }

    /// Reads a string token.
    fn token(&mut self) -> Option<String> {
        let start = self.at;
        let mut escaped = false;
        for (index, byte) in self.text.bytes().enumerate().skip(start + 1) {
            match byte {
                _ if escaped => escaped = false,
                b'\\' => escaped = true,
                b'"' => {
                    self.at = index + 1;
                    return serde_json::from_str(&self.text[start..self.at]).ok();
                }
                _ => {}
            }
        }
        None
    }

    fn string(&mut self, zone: Zone) -> Option<()> {
        let start = self.at;
        let text = self.token()?;
        self.offer(start, zone, Found::Text(&text));
        self.ordinal += 1;
        Some(())
    }

    fn scalar(&mut self, zone: Zone) -> Option<()> {
        let start = self.at;
        let rest = &self.text[start..];
        let length = rest.bytes().position(|byte| matches!(byte, b',' | b'}' | b']') || byte.is_ascii_whitespace());
        self.at += length.unwrap_or(rest.len());
        let token = &self.text[start..self.at];
        if zone == Zone::Json && token.starts_with(|first: char| first == '-' || first.is_ascii_digit()) {
            self.offer(start, zone, Found::Number(token));
        }
        (self.at > start).then_some(())
    }

    /// Offers the value between `start` and here, and writes what replaces it.
    fn offer(&mut self, start: usize, zone: Zone, found: Found<'_>) {
        let place = JsonPlace { zone, path: &self.path, ordinal: self.ordinal };
        let Some(replacement) = (self.visit)(place, found) else { return };
        let Ok(replacement) = serde_json::to_string(&replacement) else { return };
        self.out.push_str(&self.text[self.copied..start]);
        self.out.push_str(&replacement);
        self.copied = self.at;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn blackened(event_type: &str, payload: &str) -> Option<String> {
        rewrite(event_type, payload, &mut |place, found| match found {
            Found::Text(text) if place.zone != Zone::Structure => Some(blacken(text, |_| true)),
            Found::Number(_) => Some(REDACTED.to_string()),
            _ => None,
        })
    }

    #[test]
    fn texts_are_blackened_and_the_structure_stays() {
        let payload = r#"{"cell_id":"c1","change":[3,[0,"ab","c\"😀"],[2]],"removed":["xy"]}"#;
        let expected = "{\"cell_id\":\"c1\",\"change\":[3,[0,\"██\",\"████\"],[2]],\"removed\":[\"██\"]}";
        assert_eq!(blackened("CellSourceEdited", payload).as_deref(), Some(expected));
        assert_eq!(blackened("CellMoved", r#"{"cell_id":"c1","order_key":"a1","previous":"a0"}"#), None);
    }

    #[test]
    fn free_json_loses_strings_and_numbers_but_no_names() {
        let payload = r#"{"metadata": {"pin": 1234, "tags": ["a", true, null]}, "previous": {}}"#;
        let expected = "{\"metadata\": {\"pin\": \"█\", \"tags\": [\"█\", true, null]}, \"previous\": {}}";
        assert_eq!(blackened("CellMetadataSet", payload).as_deref(), Some(expected));
    }

    #[test]
    fn an_output_stays_an_output() {
        let payload = r#"{"outputs":[{"content":{"output_type":"stream","name":"stdout","text":"a\nb"}}]}"#;
        let expected =
            "{\"outputs\":[{\"content\":{\"output_type\":\"stream\",\"name\":\"stdout\",\"text\":\"█\\n█\"}}]}";
        assert_eq!(blackened("ExecutionOutputAppended", payload).as_deref(), Some(expected));
    }

    #[test]
    fn half_of_a_character_takes_all_of_it() {
        assert_eq!(blacken("a😀b\r\n", |unit| unit == 2), "a██b\r\n");
        assert_eq!(blacken("a😀b\r\n", |_| true), "███\u{2588}\r\n");
    }
}
