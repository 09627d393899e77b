//! Signed heads: the end of a notebook's record, signed by its server, for keeping elsewhere. A record that was cut or rewritten later does not
//! agree with it.
//!
//! The form is a [C2SP signed note](https://c2sp.org/signed-note) with an Ed25519 signature. The head of a chain of hashes is no tree head, so the
//! text is not that of a checkpoint:
//!
//! ```text
//! notarium head 1
//! notebook 01JQ0XK7Q0N7W2M8Q4V3T5Y6Z7
//! version 42
//! hash 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
//! recorded 1764300000000
//! signed 1764300000123
//!
//! — notarium-3f2a9c0d51e7b846 Rz4…
//! ```
//!
//! Times are in milliseconds since 1970: of the last event, and of the signature.

use notarium_core::{Hash, Head, Millis, NotebookId, Version};
use ring::signature::Ed25519KeyPair;

use crate::signed_note::{NoteError, VerifierKey, sign, verified_text};

/// First line of the text: format and its number.
const FORMAT: &str = "notarium head 1";

/// A head as its server states it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StatedHead {
    /// The notebook of the record.
    pub notebook_id: NotebookId,
    /// Version of the last event.
    pub version: Version,
    /// Hash of the last event.
    pub hash: Hash,
    /// Time of the last event, in milliseconds since 1970.
    pub recorded_at: Millis,
    /// Time of the signature, in milliseconds since 1970.
    pub signed_at: Millis,
}

impl StatedHead {
    /// The head of a notebook, stated now.
    pub fn new(notebook_id: NotebookId, head: Head, signed_at: Millis) -> Self {
        Self { notebook_id, version: head.version, hash: head.hash, recorded_at: head.recorded_at, signed_at }
    }

    fn text(&self) -> String {
        let Self { notebook_id, version, hash, recorded_at, signed_at } = self;
        format!(
            "{FORMAT}\nnotebook {notebook_id}\nversion {version}\nhash {hash}\nrecorded {recorded_at}\nsigned {signed_at}\n"
        )
    }

    fn parse(text: &str) -> Option<Self> {
        let mut lines = text.strip_prefix(FORMAT)?.strip_prefix('\n')?.strip_suffix('\n')?.split('\n');
        let mut field = |name: &str| lines.next()?.strip_prefix(name)?.strip_prefix(' ').map(str::to_owned);
        let head = Self {
            notebook_id: field("notebook")?.parse().ok()?,
            version: field("version")?.parse().ok()?,
            hash: serde_json::from_value(serde_json::Value::String(field("hash")?)).ok()?,
            recorded_at: field("recorded")?.parse().ok()?,
            signed_at: field("signed")?.parse().ok()?,
        };
        // Each head has one text: what is signed is what is read.
        (head.text() == text).then_some(head)
    }

    /// Reads a head without its signature: anybody might have written it.
    pub fn unproven(note: &str) -> Option<Self> {
        Self::parse(&note[..=note.rfind("\n\n")?])
    }

    /// The head as a note with the server's signature.
    pub fn signed(&self, pair: &Ed25519KeyPair) -> String {
        sign(&self.text(), pair)
    }

    /// Reads a head that one of these keys has signed; returns the head and the key.
    pub fn verified<'k>(note: &str, keys: &'k [VerifierKey]) -> Result<(Self, &'k VerifierKey), NoteError> {
        let (text, signer) = verified_text(note, keys)?;
        let head = Self::parse(text).ok_or(NoteError::Malformed { reason: "its text is not that of a head" })?;
        Ok((head, signer))
    }
}

/// The notes of a file that holds one after the other.
pub fn notes_of(text: &str) -> impl Iterator<Item = &str> {
    let begins = text.match_indices(FORMAT).map(|(at, _)| at).filter(|at| *at == 0 || text[..*at].ends_with('\n'));
    let begins: Vec<usize> = begins.collect();
    let ends: Vec<usize> = begins.iter().skip(1).copied().chain([text.len()]).collect();
    begins.into_iter().zip(ends).map(|(begin, end)| &text[begin..end])
}
