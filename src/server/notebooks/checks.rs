//! Digests that clients ask for at their versions, computed outside the rooms.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use notarium_core::{Document, Hash, NotebookId, Version};
use notarium_store::EventStore;
use tokio::sync::Semaphore;

use crate::http::problem::Problem;
use crate::notebooks::replay;
use crate::rooms::memo::Memo;

/// Digests computed concurrently, over all notebooks.
const MAX_AT_ONCE: usize = 2;

/// Computes digests for all connections, and counts the results of their checks.
pub struct Checks {
    permits: Semaphore,
    digests: Memo<(NotebookId, Version), Option<Hash>>,
    pub answered: AtomicU64,
    pub differed: AtomicU64,
}

impl Default for Checks {
    fn default() -> Self {
        let (answered, differed) = Default::default();
        Self { permits: Semaphore::new(MAX_AT_ONCE), digests: Memo::default(), answered, differed }
    }
}

impl Checks {
    /// The digest at `version`, which `now` has reached; `None` if that state has no canonical form.
    pub async fn digest(
        &self,
        store: &dyn EventStore,
        max_events: u64,
        now: Arc<Document>,
        version: Version,
    ) -> Result<Option<Hash>, Problem> {
        let key = (now.notebook_id.clone(), version);
        // While waiting for the permit, the same digest may have been computed for another client.
        let _permit = self.permits.acquire().await;
        if let Some(digest) = self.digests.get(&key) {
            return Ok(digest);
        }
        let document = if now.version == version {
            now
        } else {
            Arc::new(replay::state_at(store, &key.0, version, max_events).await?)
        };
        let digest = tokio::task::spawn_blocking(move || document.digest().ok()).await.unwrap_or_default();
        self.digests.keep(key, digest);
        Ok(digest)
    }
}
