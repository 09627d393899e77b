//! A notebook as it was at a version: the nearest snapshot before it, and the events since.

use notarium_core::{ChainError, Document, Hash, Head, NotebookId, Version, verify_chain};
use notarium_store::EventStore;
use sha2::{Digest, Sha256};

use crate::problem::Problem;
use crate::rooms::snapshot;

/// Events of one reading.
const PAGE: usize = 2_000;

/// The state at a version that the log has reached; a problem where that would take more than `limit` events.
pub async fn state_at(
    store: &dyn EventStore,
    notebook: &NotebookId,
    version: Version,
    limit: u64,
) -> Result<Document, Problem> {
    let found = snapshot::latest(store, notebook, Some(version), snapshot::unpack_document).await?;
    let (head, state) = found.unwrap_or_else(|| (Head::START, Document::new(notebook.clone())));
    let missing = version.saturating_sub(state.version);
    if missing > limit {
        let detail = format!("version {version} is {missing} events after the nearest snapshot, more than {limit}");
        return Err(Problem::new(http::StatusCode::PAYLOAD_TOO_LARGE, "limit_exceeded", detail));
    }
    advance(store, head, state, version).await
}

/// The state from nothing but the log, whatever its length.
pub async fn replayed(store: &dyn EventStore, notebook: &NotebookId, version: Version) -> Result<Document, Problem> {
    advance(store, Head::START, Document::new(notebook.clone()), version).await
}

/// Only what is proven is folded in. `head`: of the state.
async fn advance(
    store: &dyn EventStore,
    mut head: Head,
    mut state: Document,
    to: Version,
) -> Result<Document, Problem> {
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
            state.apply(&recorded);
        }
        tokio::task::yield_now().await;
    }
    Ok(state)
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
