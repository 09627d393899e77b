//! Proofs that an entry is in the tree, in the form of [tlog-proof](https://c2sp.org/tlog-proof): they are verified without the server.

use std::fmt::Write as _;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use notarium_core::Hash;

use super::checkpoint::Checkpoint;
use super::merkle::{leaf_hash, root_of_inclusion};
use crate::signed_note::VerifierKey;

/// First line of a proof.
pub const FORMAT: &str = "c2sp.org/tlog-proof@v1";

/// Largest number of hashes: the height of a tree.
const MAX_HASHES: usize = 64;

/// Reason why a proof does not count.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProofError {
    /// The text is not a proof.
    #[error("this is no proof that a head is in a tree: `notarium head NB --sign --inclusion` makes one")]
    Malformed,
    /// The checkpoint does not count.
    #[error("the checkpoint of the proof: {0}")]
    Checkpoint(#[from] crate::signed_note::NoteError),
    /// The hashes do not lead to the root.
    #[error(
        "the head is not in the tree of the checkpoint (size {size}): head, proof and checkpoint do not belong together"
    )]
    NotIncluded {
        /// Size of the tree.
        size: u64,
    },
}

/// Proof that an entry is at a place of the tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InclusionProof {
    /// Place of the entry.
    pub index: u64,
    /// Hashes from the leaf up.
    pub hashes: Vec<Hash>,
    /// Signed checkpoint.
    pub checkpoint: String,
}

impl InclusionProof {
    /// The proof as text.
    pub fn text(&self) -> String {
        let mut text = format!("{FORMAT}\nindex {}\n", self.index);
        for hash in &self.hashes {
            let _ = writeln!(text, "{}", STANDARD.encode(hash.0));
        }
        format!("{text}\n{}", self.checkpoint)
    }

    fn parse(text: &str) -> Option<Self> {
        let (head, checkpoint) = text.split_once("\n\n")?;
        let mut lines = head.split('\n').filter(|line| !line.starts_with("extra "));
        if lines.next()? != FORMAT {
            return None;
        }
        let index = lines.next()?.strip_prefix("index ")?.parse().ok()?;
        let hash = |line: &str| Some(Hash(STANDARD.decode(line).ok()?.try_into().ok()?));
        let hashes: Vec<Hash> = lines.map(hash).collect::<Option<_>>()?;
        (hashes.len() <= MAX_HASHES).then(|| Self { index, hashes, checkpoint: checkpoint.to_owned() })
    }

    /// Verifies that `entry` is in a tree whose checkpoint one of these keys has signed; returns the checkpoint.
    pub fn verify(text: &str, entry: &[u8], keys: &[VerifierKey]) -> Result<Checkpoint, ProofError> {
        let proof = Self::parse(text).ok_or(ProofError::Malformed)?;
        let checkpoint = Checkpoint::verified(&proof.checkpoint, keys)?;
        let root = root_of_inclusion(&leaf_hash(entry), proof.index, checkpoint.size, &proof.hashes);
        if root != Some(checkpoint.root) {
            return Err(ProofError::NotIncluded { size: checkpoint.size });
        }
        Ok(checkpoint)
    }
}

/// Splits a kept head into the note and the proof after it, if there is one.
pub fn split(note: &str) -> (&str, Option<&str>) {
    match note.find(FORMAT).filter(|at| note[..*at].ends_with('\n')) {
        Some(at) => (&note[..at], Some(&note[at..])),
        None => (note, None),
    }
}
