//! Checkpoints: signed notes with the size and the root of a tree, as [tlog-checkpoint](https://c2sp.org/tlog-checkpoint) describes.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use notarium_core::Hash;
use ring::signature::Ed25519KeyPair;

use crate::signed_note::{NoteError, VerifierKey, sign_as, verified_text};

/// Size and root of a server's tree. Its origin is the name of the key that signs it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkpoint {
    /// Name of the log.
    pub origin: String,
    /// Number of leaves.
    pub size: u64,
    /// Root of the tree.
    pub root: Hash,
}

impl Checkpoint {
    fn text(&self) -> String {
        format!("{}\n{}\n{}\n", self.origin, self.size, STANDARD.encode(self.root.0))
    }

    /// Parses a text; lines after the third are extensions, which are passed over.
    fn parse(text: &str) -> Option<Self> {
        let mut lines = text.split('\n');
        let (origin, size, root) = (lines.next()?, lines.next()?, lines.next()?);
        let root = Hash(STANDARD.decode(root).ok()?.try_into().ok()?);
        let checkpoint = Self { origin: origin.to_owned(), size: size.parse().ok()?, root };
        (text.starts_with(&checkpoint.text()) && !origin.is_empty()).then_some(checkpoint)
    }

    /// The checkpoint as a note, signed under the name of the log's key.
    pub fn signed(size: u64, root: Hash, pair: &Ed25519KeyPair) -> String {
        let key = VerifierKey::of_log_pair(pair);
        let checkpoint = Self { origin: key.name.clone(), size, root };
        sign_as(&checkpoint.text(), pair, &key)
    }

    /// Reads a checkpoint that one of these keys has signed. The origin must be the name of that key.
    pub fn verified(note: &str, keys: &[VerifierKey]) -> Result<Self, NoteError> {
        let (text, signer) = verified_text(note, keys)?;
        let malformed = NoteError::Malformed { reason: "its text is not that of a checkpoint" };
        Self::parse(text).filter(|checkpoint| checkpoint.origin == signer.name).ok_or(malformed)
    }
}

/// The notes of a file that holds one after the other.
pub fn notes_of(text: &str) -> Vec<&str> {
    let (mut notes, mut start, mut at, mut is_signed) = (Vec::new(), 0, 0, false);
    for line in text.split_inclusive('\n') {
        let is_signature = line.starts_with("— ");
        if is_signed && !is_signature {
            notes.push(&text[start..at]);
            start = at;
        }
        is_signed = is_signature;
        at += line.len();
        if start + line.len() == at && line.trim().is_empty() {
            // Blank lines between notes.
            start = at;
        }
    }
    if is_signed {
        notes.push(&text[start..]);
    }
    notes
}
