//! State of a notebook at a version: the nearest snapshot before it, and the events since.

use std::ops::Deref;
use std::sync::Arc;

use notarium_core::{ChainError, Document, Hash, Head, Notebook, NotebookId, Recorded, Version, verify_chain};
use notarium_store::EventStore;
use sha2::{Digest, Sha256};
use tokio::sync::Mutex;

use crate::http::problem::Problem;
use crate::rooms::snapshot;

/// Events per read.
const PAGE: usize = 2_000;

/// Reads old versions, however far the nearest snapshot is.
pub struct Replays {
    max_gap: Version,
    /// Serialises replays over more than `max_gap` events: the next one finds the snapshots that the one before has
    /// stored.
    beyond_gap: Mutex<()>,
}

impl Replays {
    /// `max_gap`: largest number of events between two snapshots.
    pub fn new(max_gap: Version) -> Self {
        Self { max_gap: max_gap.max(1), beyond_gap: Mutex::default() }
    }

    /// State at a version that the log has reached.
    pub async fn state_at(
        &self,
        store: &dyn EventStore,
        notebook: &NotebookId,
        version: Version,
    ) -> Result<Document, Problem> {
        let (head, state) = nearest(store, notebook, version).await?;
        if version.saturating_sub(state.version) <= self.max_gap {
            return advance(store, head, state, version).await;
        }
        let _turn = self.beyond_gap.lock().await;
        let found = snapshot::latest(store, notebook, Some(version), snapshot::unpack).await?;
        let (mut head, mut state) = found.unwrap_or_else(|| (Head::START, Notebook::new(notebook.clone())));
        while version - state.version > self.max_gap {
            let next = state.version + self.max_gap;
            (head, state) = advance_from(store, head, state, next).await?;
            snapshot::leave(store, Arc::new(state.clone()), head).await;
        }
        let (_, state) = advance_from(store, head, state, version).await?;
        Ok(Arc::unwrap_or_clone(state.document))
    }
}

/// Latest snapshot up to a version, or the empty notebook.
async fn nearest(store: &dyn EventStore, notebook: &NotebookId, version: Version) -> Result<(Head, Document), Problem> {
    let found = snapshot::latest(store, notebook, Some(version), snapshot::unpack_document).await?;
    Ok(found.unwrap_or_else(|| (Head::START, Document::new(notebook.clone()))))
}

/// State at a version that the log has reached. Problem `limit_exceeded` if it needs more than `limit` events.
pub async fn state_at(
    store: &dyn EventStore,
    notebook: &NotebookId,
    version: Version,
    limit: u64,
) -> Result<Document, Problem> {
    let (head, state) = nearest(store, notebook, version).await?;
    let missing = version.saturating_sub(state.version);
    if missing > limit {
        let detail = format!("version {version} is {missing} events after the nearest snapshot, more than {limit}");
        return Err(Problem::new(http::StatusCode::PAYLOAD_TOO_LARGE, "limit_exceeded", detail));
    }
    advance(store, head, state, version).await
}

/// State at a version from the log alone, whatever its length.
pub async fn replayed(store: &dyn EventStore, notebook: &NotebookId, version: Version) -> Result<Document, Problem> {
    advance(store, Head::START, Document::new(notebook.clone()), version).await
}

/// State to which events are applied.
trait Fold: Deref<Target = Document> {
    fn fold(&mut self, recorded: &Recorded);
}

impl Fold for Notebook {
    fn fold(&mut self, recorded: &Recorded) {
        self.apply(recorded);
    }
}

/// Document without the ledger: half the work.
struct Alone(Document);

impl Deref for Alone {
    type Target = Document;

    fn deref(&self) -> &Document {
        &self.0
    }
}

impl Fold for Alone {
    fn fold(&mut self, recorded: &Recorded) {
        self.0.apply(recorded);
    }
}

async fn advance(store: &dyn EventStore, head: Head, state: Document, to: Version) -> Result<Document, Problem> {
    let (_, Alone(state)) = advance_from(store, head, Alone(state), to).await?;
    Ok(state)
}

/// Applies events up to `to`, after verifying their hash chain. `head` is that of `state`.
async fn advance_from<F: Fold>(
    store: &dyn EventStore,
    mut head: Head,
    mut state: F,
    to: Version,
) -> Result<(Head, F), Problem> {
    while state.version < to {
        let wanted = usize::try_from(to - state.version).unwrap_or(PAGE).min(PAGE);
        let events = store.read(&state.notebook_id, state.version, wanted).await?;
        if events.is_empty() {
            let detail = format!("the notebook is at version {}, before {to}", state.version);
            return Err(Problem::new(http::StatusCode::BAD_REQUEST, "version_in_future", detail));
        }
        for stored in &events {
            head = verify_chain(head, [stored]).map_err(|error| damaged(&error, head.version))?;
            let recorded = stored.typed().map_err(|error| {
                Problem::new(http::StatusCode::CONFLICT, "read_only", format!("{error}: read a version before it"))
            })?;
            state.fold(&recorded);
        }
        tokio::task::yield_now().await;
    }
    Ok((head, state))
}

fn damaged(error: &ChainError, whole_to: Version) -> Problem {
    let detail = format!(
        "the record is damaged: {error}. It is whole up to version {whole_to}: read that, and ask the server's operator to \
         restore a backup"
    );
    Problem::new(http::StatusCode::CONFLICT, "damaged", detail)
}

/// SHA-256 of the state's JSON: the same for every server that has applied the same events.
pub fn state_hash(state: &Document) -> Hash {
    Hash(Sha256::digest(serde_json::to_vec(state).unwrap_or_default()).into())
}
