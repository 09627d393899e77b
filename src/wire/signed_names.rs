//! Signed names: the people, guests and agents of a record by name, as its server knows them when it signs. A record itself has ids alone.
//!
//! A [signed note](crate::signed_note) with this text, sorted by subject:
//!
//! ```text
//! notarium names 1
//! signed 1764300000123
//! user:01JQ0XK7Q0N7W2M8Q4V3T5Y6Z7 Ann
//! share_link:01JQ0XK7Q0N7W2M8Q4V3T5Y6Z8 Reviewer
//!
//! — notarium-3f2a9c0d51e7b846 Rz4…
//! ```

use std::collections::BTreeMap;
use std::fmt::Write as _;

use notarium_core::Millis;
use ring::signature::Ed25519KeyPair;

use crate::signed_note::{NoteError, VerifierKey, sign, verified_text};

/// First line of the text: format and its number.
const FORMAT: &str = "notarium names 1";

/// Names as their server states them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StatedNames {
    /// Time of the signature, in milliseconds since 1970.
    pub signed_at: Millis,
    /// Names by subject (`user:ID`, `share_link:ID`, `agent:ID`), each on one line.
    pub names: BTreeMap<String, String>,
}

impl StatedNames {
    /// States these names now. Line breaks in names become blanks.
    pub fn new(names: impl IntoIterator<Item = (String, String)>, signed_at: Millis) -> Self {
        let one_line = |text: String| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let names = names.into_iter().map(|(subject, name)| (subject, one_line(name))).collect();
        Self { signed_at, names }
    }

    fn text(&self) -> String {
        let mut text = format!("{FORMAT}\nsigned {}\n", self.signed_at);
        for (subject, name) in &self.names {
            let _ = writeln!(text, "{subject} {name}");
        }
        text
    }

    fn parse(text: &str) -> Option<Self> {
        let mut lines = text.strip_prefix(FORMAT)?.strip_prefix('\n')?.strip_suffix('\n')?.split('\n');
        let signed_at = lines.next()?.strip_prefix("signed ")?.parse().ok()?;
        let names = lines.map(|line| line.split_once(' ').map(|(subject, name)| (subject.to_owned(), name.to_owned())));
        let names = Self { signed_at, names: names.collect::<Option<_>>()? };
        // Names have one text: what is signed is what is read.
        (names.text() == text).then_some(names)
    }

    /// The names as a note with the server's signature.
    pub fn signed(&self, pair: &Ed25519KeyPair) -> String {
        sign(&self.text(), pair)
    }

    /// Reads names that one of these keys has signed; returns them and the key.
    pub fn verified<'k>(note: &str, keys: &'k [VerifierKey]) -> Result<(Self, &'k VerifierKey), NoteError> {
        let (text, signer) = verified_text(note, keys)?;
        let names = Self::parse(text).ok_or(NoteError::Malformed { reason: "its text is not that of names" })?;
        Ok((names, signer))
    }
}
