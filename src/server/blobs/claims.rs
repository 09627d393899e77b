//! Claims of old blobs that a command is about to name: a claim and a removal exclude each other.

use std::collections::BTreeMap;
use std::time::Duration;

use notarium_core::{Hash, Millis, NotebookId};
use notarium_store::blobs::BlobEntry;
use notarium_store::{BlobError, Blobs};
use tokio::sync::Mutex;

use crate::limits::clock::millis;

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
