//! Cold segments: old events of a notebook in one object, so that their rows can be deleted from the database.
//!
//! An object is the events as JSON Lines, as in an exported record, compressed with zstd. Its name has its first and last version and the
//! SHA-256 of its bytes, so it is never changed: [`Segments::put`] writes it once, reads it back and verifies the chain of its hashes.
//! After a redaction the caller puts a new segment and deletes the old one.

use bytes::Bytes;
use notarium_record::{ChainError, Hash, Head, NotebookId, Stored, Version, verify_chain};
use sha2::{Digest, Sha256};

use crate::blobs::{BlobError, Blobs};

/// Folder of the segments among the blobs: no id of a notebook, so no notebook's blobs are deleted with them.
const FOLDER: &str = "segments.log";

/// Versions of a segment, and the SHA-256 of its bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SegmentId {
    pub first: Version,
    pub last: Version,
    pub sha256: Hash,
}

/// Reason why a segment was not written or read.
#[derive(Debug, thiserror::Error)]
pub enum SegmentError {
    #[error("a segment needs consecutive events of one notebook: {reason}")]
    Invalid { reason: String },
    #[error(
        "the bucket ignores the condition If-None-Match, so old events cannot be moved there safely: use a server of S3 that knows it, or \
         keep the events in the database"
    )]
    NoConditions,
    #[error("the segment {path} is missing: restore it from a backup of the bucket")]
    Missing { path: String },
    #[error("the segment {path} is damaged ({reason}): restore it from a backup of the bucket")]
    Damaged { path: String, reason: String },
    #[error(transparent)]
    Blobs(#[from] BlobError),
}

/// Segments of all notebooks, beside the blobs. Clones share them.
#[derive(Debug, Clone)]
pub struct Segments {
    blobs: Blobs,
}

impl Segments {
    pub fn new(blobs: Blobs) -> Self {
        Self { blobs }
    }

    /// Writes the events that follow `before`, reads them back and verifies them. Only then may the caller delete their rows.
    pub async fn put(
        &self,
        notebook: &NotebookId,
        before: Head,
        events: Vec<Stored>,
    ) -> Result<SegmentId, SegmentError> {
        let invalid = |reason: &dyn std::fmt::Display| SegmentError::Invalid { reason: reason.to_string() };
        if !self.blobs.has_conditions() {
            return Err(SegmentError::NoConditions);
        }
        if events.iter().any(|event| event.envelope.notebook_id != *notebook) {
            return Err(invalid(&format!("not all are of {notebook}")));
        }
        let head = verify_chain(before, &events).map_err(|error| invalid(&error))?;
        let Some(first) = events.first().map(|event| event.envelope.version) else {
            return Err(invalid(&"there is none"));
        };
        let bytes = blocking(move || encode(&events)).await.map_err(|error| invalid(&error))?;
        let segment = SegmentId { first, last: head.version, sha256: Hash(Sha256::digest(&bytes).into()) };
        // An object of this name is left of a broken attempt. The next lines verify it.
        self.blobs.put_file_once(&path(notebook, &segment), bytes).await?;
        let read = self.read(notebook, &segment).await?;
        let found = verify_chain(before, &read).map_err(|error| damaged(notebook, &segment, &error))?;
        match found == head {
            true => Ok(segment),
            false => Err(damaged(notebook, &segment, &"it ends with another event")),
        }
    }

    /// Reads the events, after a check of the bytes' hash, and of each event's hash with the one before.
    pub async fn read(&self, notebook: &NotebookId, segment: &SegmentId) -> Result<Vec<Stored>, SegmentError> {
        let path = path(notebook, segment);
        let Some(bytes) = self.blobs.file(&path).await? else { return Err(SegmentError::Missing { path }) };
        if Hash(Sha256::digest(&bytes).into()) != segment.sha256 {
            return Err(damaged(notebook, segment, &"its bytes have another SHA-256"));
        }
        let events = blocking(move || decode(&bytes)).await.map_err(|error| damaged(notebook, segment, &error))?;
        check(notebook, segment, &events).map_err(|reason| damaged(notebook, segment, &reason))?;
        Ok(events)
    }

    /// Deletes the segment; a missing one is no error.
    pub async fn delete(&self, notebook: &NotebookId, segment: &SegmentId) -> Result<(), SegmentError> {
        Ok(self.blobs.delete_file(&path(notebook, segment)).await?)
    }

    /// Deletes all segments of the notebook.
    pub async fn delete_all(&self, notebook: &NotebookId) -> Result<(), SegmentError> {
        Ok(self.blobs.delete_files(&format!("{FOLDER}/{notebook}")).await?)
    }
}

fn path(notebook: &NotebookId, segment: &SegmentId) -> String {
    let SegmentId { first, last, sha256 } = segment;
    format!("{FOLDER}/{notebook}/{first}-{last}-{sha256}.jsonl.zst")
}

fn damaged(notebook: &NotebookId, segment: &SegmentId, reason: &dyn std::fmt::Display) -> SegmentError {
    SegmentError::Damaged { path: path(notebook, segment), reason: reason.to_string() }
}

/// Checks notebook, versions, and the chain from the first event on. The link to the event before it is the caller's.
fn check(notebook: &NotebookId, segment: &SegmentId, events: &[Stored]) -> Result<(), String> {
    let (Some((first, rest)), Some(last)) = (events.split_first(), events.last()) else {
        return Err("it has no events".to_owned());
    };
    if (first.envelope.version, last.envelope.version) != (segment.first, segment.last) {
        return Err("it has other versions than its name".to_owned());
    }
    if events.iter().any(|event| event.envelope.notebook_id != *notebook) {
        return Err("it has events of another notebook".to_owned());
    }
    verify_chain(first.head(), rest).map(drop).map_err(|error: ChainError| error.to_string())
}

async fn blocking<T: Send + 'static>(work: impl FnOnce() -> std::io::Result<T> + Send + 'static) -> std::io::Result<T> {
    tokio::task::spawn_blocking(work).await.map_err(std::io::Error::other)?
}

fn encode(events: &[Stored]) -> std::io::Result<Bytes> {
    let mut lines = Vec::new();
    for event in events {
        serde_json::to_writer(&mut lines, event)?;
        lines.push(b'\n');
    }
    Ok(zstd::encode_all(&lines[..], zstd::DEFAULT_COMPRESSION_LEVEL)?.into())
}

/// Reads the JSON values, not the lines: payloads keep the white space with which they were written.
fn decode(bytes: &[u8]) -> std::io::Result<Vec<Stored>> {
    let lines = zstd::decode_all(bytes)?;
    let events = serde_json::Deserializer::from_slice(&lines).into_iter().collect::<Result<Vec<Stored>, _>>();
    Ok(events?)
}
