//! Blobs of notebooks: the bytes are in the blob store, records of their uploaders beside the log.
//!
//! A blob exists if its bytes do. The records are for quotas and for sweeping, and may be missing after a crash.

pub mod attachments;
pub mod check;
pub mod claims;
pub mod parts;
pub mod sweep;

use std::ops::Deref;
use std::sync::Arc;

use bytes::Bytes;
use futures_util::TryStreamExt;
use http::StatusCode;
use notarium_core::{Actor, Hash, NotebookId, Rejection};
use notarium_store::{BlobError, BlobRecord, Blobs, EventStore, StoreError};
use notarium_wire::CommandMessage;

use crate::blobs::check::parse_hash;
use crate::blobs::parts::Part;
use crate::http::extract::{is_too_slow, too_large, too_slow};
use crate::http::problem::Problem;
use crate::limits::clock::Clock;
use crate::limits::usage::Usage;
use claims::BlobClaims;

/// A stored blob, for its record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kept {
    pub sha256: Hash,
    pub size_bytes: u64,
    pub media_type: Option<String>,
}

/// Blobs of all notebooks, with their records and claims.
pub struct NotebookBlobs {
    pub bytes: Blobs,
    pub claims: BlobClaims,
    pub store: Arc<dyn EventStore>,
    pub usage: Arc<Usage>,
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
    pub async fn put_all(&self, notebook: &NotebookId, parts: Vec<Part>) -> Result<Vec<Kept>, Problem> {
        let mut kept = Vec::with_capacity(parts.len());
        for Part { sha256, bytes } in parts {
            self.claims.note(notebook, &sha256, self.clock.now()).await;
            kept.push(Kept { sha256, size_bytes: bytes.len() as u64, media_type: None });
            self.bytes.put_bytes(notebook, bytes).await?;
        }
        Ok(kept)
    }

    /// Records the uploader of each blob. The first record of a blob stays.
    pub async fn record(&self, by: &Actor, notebook: &NotebookId, kept: Vec<Kept>) -> Result<(), StoreError> {
        for Kept { sha256, size_bytes, media_type } in kept {
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

    /// The blob's bytes; `None` if it is missing or damaged.
    pub async fn load(&self, notebook: &NotebookId, sha256: &str) -> Result<Option<Bytes>, Problem> {
        let Ok(hash) = parse_hash(sha256) else { return Ok(None) };
        let content = match self.bytes.get(notebook, &hash).await {
            Ok(content) => content,
            Err(BlobError::NotFound) => return Ok(None),
            Err(error @ BlobError::Damaged { .. }) => {
                tracing::error!(%notebook, %error, "a blob is damaged");
                return Ok(None);
            }
            Err(error) => return Err(error.into()),
        };
        let pieces: Vec<Bytes> = content.bytes.try_collect().await?;
        Ok(Some(pieces.concat().into()))
    }

    /// Refuses a command that names a blob which its notebook does not have, or an attachment that is not what it
    /// declares.
    pub async fn check(&self, message: &CommandMessage) -> Result<(), Rejection> {
        check::check(&self.bytes, &self.claims, self.clock.now(), message).await?;
        attachments::check(&self.bytes, message).await
    }
}

impl From<BlobError> for Problem {
    fn from(error: BlobError) -> Self {
        let detail = error.to_string();
        match error {
            BlobError::TooLarge { .. } => too_large(detail),
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
