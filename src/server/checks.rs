//! Checks: a client asks for the digest at its version, and is answered beside the room's own work.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use notarium_core::{Document, Hash, NotebookId, RejectionCode, Version};
use notarium_wire::{CheckMessage, CheckedMessage, ErrorCode, ErrorMessage};
use tokio::sync::Semaphore;

use crate::app::App;
use crate::memo::Memo;
use crate::problem::Problem;
use crate::replay;
use crate::rooms::{ClientId, Identity, RoomHandle};
use crate::socket::problem;

/// Digests that are computed at one time, of all notebooks.
const MAX_AT_ONCE: usize = 2;

/// Computes digests for all connections, and counts what came of their checks.
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
    /// The digest at `version`, which `now` has reached; `None` where that state has no canonical form.
    async fn digest(&self, app: &App, now: Arc<Document>, version: Version) -> Result<Option<Hash>, Problem> {
        let key = (now.notebook_id.clone(), version);
        // Whoever waits for the permit may find that somebody has asked the same.
        let _permit = self.permits.acquire().await;
        if let Some(digest) = self.digests.get(&key) {
            return Ok(digest);
        }
        let limit = app.limits.max_checked_events;
        let document =
            if now.version == version { now } else { Arc::new(replay::state_at(app, &key.0, version, limit).await?) };
        let digest = tokio::task::spawn_blocking(move || document.digest().ok()).await.unwrap_or_default();
        self.digests.keep(key, digest);
        Ok(digest)
    }
}

/// Who asks, and through which room.
pub struct Asker {
    pub client: ClientId,
    pub identity: Arc<Identity>,
    pub room: RoomHandle,
}

impl Asker {
    /// The answer. [`Self::heal`] is for afterwards, where it differs.
    pub async fn check(&self, app: &App, asked: CheckMessage) -> Result<CheckedMessage, ErrorMessage> {
        let CheckMessage { notebook, version, digest: theirs } = asked;
        let refused =
            |code, message: String| ErrorMessage { notebook: Some(notebook.clone()), ..problem(code, message) };
        let state = self.room.read(self.identity.clone()).await.map_err(|rejection| {
            let is_unavailable = rejection.code == RejectionCode::Unavailable;
            let code = if is_unavailable { ErrorCode::Unavailable } else { ErrorCode::UnknownNotebook };
            refused(code, rejection.message)
        })?;
        let now = state.notebook.document.clone();
        if version > now.version {
            let message = format!("the notebook is at version {}, before {version}", now.version);
            return Err(refused(ErrorCode::VersionInFuture, message));
        }
        let digest = app.checks.digest(app, now, version).await.map_err(|failed| {
            let is_far_back = failed.status == http::StatusCode::PAYLOAD_TOO_LARGE.as_u16();
            let code = if is_far_back { ErrorCode::VersionTooOld } else { ErrorCode::Unavailable };
            refused(code, failed.detail.clone())
        })?;
        app.checks.answered.fetch_add(1, Ordering::Relaxed);
        let differs = digest.is_some() && theirs.is_some() && theirs != digest;
        Ok(CheckedMessage { notebook, version, digest, differs })
    }

    /// The client's state was another: it gets the whole state, and the operator hears of it.
    pub fn heal(&self, app: &App, checked: &CheckedMessage) {
        app.checks.differed.fetch_add(1, Ordering::Relaxed);
        let CheckedMessage { notebook, version, .. } = checked;
        let (actor, connection) = (self.identity.actor.key(), &self.identity.connection);
        tracing::error!(%notebook, version, actor, connection, "a client's state is not the notebook's: it gets the whole state");
        self.room.differs(self.client);
    }
}
