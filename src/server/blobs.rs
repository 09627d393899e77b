//! Blobs of notebooks: the bytes are in the blob store, records of their uploaders beside the log.
//!
//! A blob exists if its bytes do. The records are for quotas and for sweeping, and may be missing after a crash. A command
//! may only name blobs that were uploaded for its notebook; it claims old ones, and a claim and a removal exclude each
//! other. Attachments must have their declared type and size before the turn is recorded.

pub mod location;
pub mod parts;
pub mod sweep;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::TryStreamExt;
use http::StatusCode;
use notarium_core::attachments::{AttachmentKind, kind_of};
use notarium_core::{
    Actor, Attachment, BlobPart, Command, ExecutionReport, Hash, LimitName, Millis, NotebookId, Output, Rejection,
    RejectionCode,
};
use notarium_store::blobs::{BlobContent, BlobEntry};
use notarium_store::{BlobError, BlobRecord, Blobs, EventStore, StoreError};
use tokio::sync::Mutex;

use crate::cluster::Cluster;
use crate::http::extract::{is_too_slow, too_slow};
use crate::http::problem::Problem;
use crate::limits::clock::{Clock, millis};
use crate::limits::usage::UsageCounters;
use parts::OutputBlob;

/// A stored blob, for its record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredBlob {
    pub sha256: Hash,
    pub size_bytes: u64,
    pub media_type: Option<String>,
}

/// Blobs of all notebooks, with their records and claims.
pub struct NotebookBlobs {
    pub bytes: Blobs,
    pub claims: BlobClaims,
    pub store: Arc<dyn EventStore>,
    pub cluster: Arc<dyn Cluster>,
    pub usage: Arc<UsageCounters>,
    pub clock: Clock,
}

impl Deref for NotebookBlobs {
    type Target = Blobs;
    fn deref(&self) -> &Blobs {
        &self.bytes
    }
}

impl NotebookBlobs {
    /// Stores bytes for a notebook that may not exist yet; call [`Self::record`] when it does.
    pub async fn put_all(&self, notebook: &NotebookId, parts: Vec<OutputBlob>) -> Result<Vec<StoredBlob>, Problem> {
        let mut kept = Vec::with_capacity(parts.len());
        for OutputBlob { sha256, bytes } in parts {
            self.claims.note(notebook, &sha256, self.clock.now()).await;
            kept.push(StoredBlob { sha256, size_bytes: bytes.len() as u64, media_type: None });
            self.bytes.put_bytes(notebook, bytes).await?;
        }
        Ok(kept)
    }

    /// Records the uploader of each blob. The first record of a blob stays.
    pub async fn record(&self, by: &Actor, notebook: &NotebookId, kept: Vec<StoredBlob>) -> Result<(), StoreError> {
        for StoredBlob { sha256, size_bytes, media_type } in kept {
            let record = BlobRecord {
                notebook_id: notebook.clone(),
                sha256,
                size_bytes,
                media_type,
                uploaded_by: by.key(),
                created_at: self.clock.now(),
            };
            let is_known = self.store.blob_record(notebook, &record.sha256).await?.is_some();
            self.store.put_blob_record(record).await?;
            if !is_known {
                self.usage.stored(notebook, size_bytes);
            }
        }
        Ok(())
    }

    /// The blob; `None` if it is missing or damaged.
    pub async fn open(&self, notebook: &NotebookId, sha256: &str) -> Result<Option<BlobContent>, Problem> {
        let Ok(hash) = parse_hash(sha256) else { return Ok(None) };
        match self.bytes.get(notebook, &hash).await {
            Ok(content) => Ok(Some(content)),
            Err(BlobError::NotFound) => Ok(None),
            Err(error @ BlobError::Damaged { .. }) => {
                tracing::error!(%notebook, %error, "a blob is damaged");
                Ok(None)
            }
            Err(error) => Err(error.into()),
        }
    }

    /// The blob's bytes; `None` if it is missing or damaged.
    pub async fn load(&self, notebook: &NotebookId, sha256: &str) -> Result<Option<Bytes>, Problem> {
        let Some(content) = self.open(notebook, sha256).await? else { return Ok(None) };
        let pieces: Vec<Bytes> = content.bytes.try_collect().await?;
        Ok(Some(pieces.concat().into()))
    }

    /// Bytes of those blobs that are whole, by the hex of their SHA-256.
    pub async fn load_all(
        &self,
        notebook: &NotebookId,
        parts: impl IntoIterator<Item = &BlobPart>,
    ) -> Result<BTreeMap<String, Bytes>, Problem> {
        let mut loaded = BTreeMap::new();
        for part in parts {
            if let Some(bytes) = self.load(notebook, &part.sha256).await? {
                loaded.insert(part.sha256.clone(), bytes);
            }
        }
        Ok(loaded)
    }

    /// Refuses a command that names a blob which its notebook does not have, or an attachment that is not what it
    /// declares.
    pub async fn check(&self, notebook: &NotebookId, command: &Command) -> Result<(), Rejection> {
        check_named(&self.bytes, &self.claims, self.clock.now(), notebook, command).await?;
        check_attachments(&self.bytes, notebook, command).await
    }
}

impl From<BlobError> for Problem {
    fn from(error: BlobError) -> Self {
        let detail = error.to_string();
        match error {
            BlobError::TooLarge { max_blob_bytes } => LimitName::Blob.refusal(max_blob_bytes, detail).into(),
            BlobError::Upload { cause } if is_too_slow(&*cause) => too_slow(),
            BlobError::WrongHash { .. } | BlobError::Upload { .. } => Problem::invalid(detail),
            BlobError::NotFound => Problem::new(StatusCode::NOT_FOUND, "not_found", detail),
            BlobError::Damaged { .. } => {
                tracing::error!(detail, "a blob is damaged");
                Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "damaged", detail)
            }
            // The reason may name files of the server: it is logged, and not sent.
            BlobError::Unavailable { reason } => {
                tracing::error!(reason, "the blob store failed");
                let detail = "the server could not read or write its blobs: try again later";
                Problem::new(StatusCode::SERVICE_UNAVAILABLE, "unavailable", detail)
            }
        }
    }
}

/// Old blobs that a client was promised: an event may be about to name them.
#[derive(Debug)]
pub struct BlobClaims {
    pub(crate) grace_ms: Millis,
    claims: Mutex<BTreeMap<(NotebookId, Hash), Millis>>,
}

impl BlobClaims {
    pub fn new(grace: Duration) -> Self {
        Self { grace_ms: millis(grace), claims: Mutex::default() }
    }

    /// Claims the blob: it may be named for the grace period from now on. `None`: there is no such blob.
    pub async fn claim(
        &self,
        blobs: &Blobs,
        notebook: &NotebookId,
        sha256: &Hash,
        now: Millis,
    ) -> Result<Option<BlobEntry>, BlobError> {
        let Some(entry) = blobs.find(notebook, sha256).await? else { return Ok(None) };
        // A young blob is not swept before the command arrives.
        if now.saturating_sub(entry.stored_at) < self.grace_ms / 2 {
            return Ok(Some(entry));
        }
        self.note(notebook, sha256, now).await;
        // The blob may have been removed while the claim waited.
        blobs.find(notebook, sha256).await
    }

    /// Protects a blob from removal, even one that is not stored yet.
    pub async fn note(&self, notebook: &NotebookId, sha256: &Hash, now: Millis) {
        self.claims.lock().await.insert((notebook.clone(), *sha256), now);
    }

    pub(crate) async fn forget_before(&self, time: Millis) {
        self.claims.lock().await.retain(|_, claimed_at| *claimed_at >= time);
    }

    /// Removes the blob, unless it is claimed or was stored again.
    pub(crate) async fn remove(
        &self,
        blobs: &Blobs,
        notebook: &NotebookId,
        blob: &BlobEntry,
    ) -> Result<bool, BlobError> {
        let claims = self.claims.lock().await;
        let is_claimed = claims.contains_key(&(notebook.clone(), blob.sha256));
        if is_claimed || blobs.find(notebook, &blob.sha256).await?.as_ref() != Some(blob) {
            return Ok(false);
        }
        blobs.delete(notebook, &blob.sha256).await.map(|()| true)
    }
}

/// Refuses a command that names a blob which its notebook does not have.
pub async fn check_named(
    blobs: &Blobs,
    claims: &BlobClaims,
    now: Millis,
    notebook: &NotebookId,
    command: &Command,
) -> Result<(), Rejection> {
    for hash in named_by(command)? {
        let known = claims.claim(blobs, notebook, &hash, now).await.map_err(|error| {
            tracing::error!(%error, %notebook, "blob not looked up");
            Rejection::new(RejectionCode::Unavailable, "the server could not read its data: try again later")
        })?;
        if known.is_none() {
            let message = format!("blob {hash} was not uploaded for this notebook: upload it first");
            return Err(Rejection::new(RejectionCode::InvalidValue, message));
        }
    }
    Ok(())
}

/// Blobs that a command names, each once.
fn named_by(command: &Command) -> Result<BTreeSet<Hash>, Rejection> {
    let mut hashes = BTreeSet::new();
    collect(command, &mut hashes)?;
    Ok(hashes)
}

fn collect(command: &Command, hashes: &mut BTreeSet<Hash>) -> Result<(), Rejection> {
    match command {
        Command::Batch { commands } => commands.iter().try_for_each(|command| collect(command, hashes)),
        Command::RecordExecution { outputs, .. }
        | Command::ReportExecution { report: ExecutionReport::Output { outputs }, .. } => {
            outputs.iter().try_for_each(|output| collect_output(output, hashes))
        }
        Command::ReportExecution { report: ExecutionReport::UpdateDisplay { output, .. }, .. } => {
            collect_output(output, hashes)
        }
        Command::StartTurn(turn) => turn.attachments.iter().try_for_each(|attachment| {
            hashes.insert(parse_hash(&attachment.sha256)?);
            Ok(())
        }),
        Command::MoveOutputs(moves) => moves.moved.iter().try_for_each(|moved| collect_output(&moved.output, hashes)),
        Command::ReportKernelStarted { environment: Some(environment), .. } => {
            hashes.insert(environment.sha256);
            Ok(())
        }
        _ => Ok(()),
    }
}

fn collect_output(output: &Output, hashes: &mut BTreeSet<Hash>) -> Result<(), Rejection> {
    for part in &output.blobs {
        hashes.insert(parse_hash(&part.sha256)?);
    }
    Ok(())
}

/// Parses a SHA-256 in lower-case hex.
pub fn parse_hash(text: &str) -> Result<Hash, Rejection> {
    let mut bytes = [0; 32];
    let is_lower = !text.bytes().any(|byte| byte.is_ascii_uppercase());
    match hex::decode_to_slice(text, &mut bytes) {
        Ok(()) if is_lower => Ok(Hash(bytes)),
        _ => {
            let shown: String = text.chars().take(80).collect();
            let message = format!("'{shown}' is not the lower-case hex of a SHA-256");
            Err(Rejection::new(RejectionCode::InvalidValue, message))
        }
    }
}

/// Refuses a turn with an attachment whose size or type differs from its declaration. The core checks neither.
pub async fn check_attachments(blobs: &Blobs, notebook: &NotebookId, command: &Command) -> Result<(), Rejection> {
    let Command::StartTurn(turn) = command else { return Ok(()) };
    for attachment in &turn.attachments {
        // The core refuses other types: their bytes are not read.
        let Some(kind) = kind_of(&attachment.media_type) else { continue };
        let unread = |error: notarium_store::BlobError| {
            Rejection::new(RejectionCode::Unavailable, format!("'{}' cannot be read: {error}", attachment.name))
        };
        let BlobContent { size_bytes, bytes } =
            blobs.get(notebook, &parse_hash(&attachment.sha256)?).await.map_err(unread)?;
        if size_bytes != attachment.size_bytes {
            return Err(wrong(attachment, &format!("has {size_bytes} bytes, not {}", attachment.size_bytes)));
        }
        if !is_bounded(kind, size_bytes) {
            continue;
        }
        let pieces: Vec<bytes::Bytes> = bytes.try_collect().await.map_err(unread)?;
        let bytes = pieces.concat();
        let is_right = match kind {
            AttachmentKind::Picture => is_picture(&attachment.media_type, &bytes),
            AttachmentKind::Text => std::str::from_utf8(&bytes).is_ok_and(|text| !text.contains('\0')),
        };
        if !is_right {
            return Err(wrong(attachment, &format!("is no {}", attachment.media_type)));
        }
    }
    Ok(())
}

fn is_bounded(kind: AttachmentKind, size_bytes: u64) -> bool {
    let most = match kind {
        AttachmentKind::Picture => notarium_core::attachments::MAX_PICTURE_BYTES,
        AttachmentKind::Text => notarium_core::attachments::MAX_ATTACHED_TEXT_BYTES,
    };
    size_bytes <= most
}

fn wrong(attachment: &Attachment, what: &str) -> Rejection {
    let message = format!("'{}' {what}: attach the file itself, under its own type", attachment.name);
    Rejection::new(RejectionCode::InvalidValue, message)
}

/// Compares the first bytes with the signature of the format.
fn is_picture(media_type: &str, bytes: &[u8]) -> bool {
    match media_type {
        "image/png" => bytes.starts_with(b"\x89PNG\r\n\x1a\n"),
        "image/jpeg" => bytes.starts_with(b"\xff\xd8\xff"),
        "image/gif" => bytes.starts_with(b"GIF87a") || bytes.starts_with(b"GIF89a"),
        "image/webp" => bytes.starts_with(b"RIFF") && bytes.get(8..12) == Some(b"WEBP"),
        _ => false,
    }
}
