//! Format of snapshots: the document, which clients have too, and the ledger, which is the server's. Each part has its
//! own format. The ledger's may change with every release, which costs a replay; the document can be read without it.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use notarium_core::{Document, Head, Ledger, Notebook, NotebookId, Version};
use notarium_store::{ContentReading, EventStore, Snapshot, SnapshotError, StoreError};
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// Format of the container of both parts.
const FORMAT: u32 = 5;
/// Raised when a change to the document makes old JSON unreadable or misread.
const DOCUMENT_FORMAT: u32 = 2;
/// Raised when a change to the ledger makes old JSON unreadable or misread.
const LEDGER_FORMAT: u32 = 4;
/// Limit of an unpacked snapshot; larger ones are not ours.
const MAX_BYTES: usize = 1 << 30;

/// Count of damaged snapshots that this process has found.
static DAMAGED: AtomicU64 = AtomicU64::new(0);

/// The first of them, by notebook and version: they are removed, and `verify` tells of them.
static REMOVED: Mutex<BTreeSet<(NotebookId, Version)>> = Mutex::new(BTreeSet::new());

/// Maximum number of removed snapshots that are told.
const MAX_REMOVED: usize = 1_000;

#[derive(Serialize, Deserialize)]
struct SnapshotParts<D, L> {
    document: SnapshotPart<D>,
    ledger: SnapshotPart<L>,
}

#[derive(Serialize, Deserialize)]
struct SnapshotPart<T> {
    format: u32,
    state: T,
}

/// A snapshot that stands by itself, and its state.
type BaseState = (Version, Vec<u8>);

pub(super) fn pack(notebook: &Notebook, head: Head, base: Option<&BaseState>) -> Result<Snapshot, SnapshotError> {
    let parts = SnapshotParts {
        document: SnapshotPart { format: DOCUMENT_FORMAT, state: &*notebook.document },
        ledger: SnapshotPart { format: LEDGER_FORMAT, state: &notebook.ledger },
    };
    let json = serde_json::to_vec(&parts).map_err(|error| SnapshotError::Compressed { reason: error.to_string() })?;
    let whole = Snapshot::compress(FORMAT, head, &json)?;
    let Some((version, state)) = base.filter(|(version, _)| *version < head.version) else { return Ok(whole) };
    let difference = Snapshot::difference(FORMAT, head, &json, (*version, state))?;
    // A difference that saves little would make the next ones refer to an ever older base.
    Ok(if difference.state.len() < whole.state.len() / 2 { difference } else { whole })
}

/// The base for the next difference: the newest snapshot that stands by itself. `None`: there is none that can be read.
async fn base(store: &dyn EventStore, notebook: &NotebookId) -> Option<BaseState> {
    let mut snapshot = store.snapshot(notebook, None).await.ok()??;
    if let Some(base) = snapshot.base {
        snapshot = store.snapshot(notebook, Some(base)).await.ok()?.filter(|found| found.version == base)?;
    }
    let version = snapshot.version;
    let unpacked = tokio::task::spawn_blocking(move || snapshot.decompress(MAX_BYTES).ok()).await;
    Some((version, unpacked.ok()??))
}

/// Writes a snapshot. A failure is logged, and only costs time at the next load. `content`: the lock since before the log was read; without it the
/// state may have content that is gone, and nothing is written.
pub(crate) async fn leave(
    store: &dyn EventStore,
    notebook: Arc<Notebook>,
    head: Head,
    content: Option<&ContentReading>,
) {
    if content.is_none() {
        return;
    }
    let id = notebook.notebook_id.clone();
    let base = base(store, &id).await;
    let packed = tokio::task::spawn_blocking(move || pack(&notebook, head, base.as_ref())).await;
    let written = match packed {
        Ok(Ok(snapshot)) => store.put_snapshot(&id, snapshot).await.map_err(|error| error.to_string()),
        Ok(Err(error)) => Err(error.to_string()),
        Err(error) => Err(error.to_string()),
    };
    if let Err(reason) = written {
        tracing::warn!(notebook = %id, version = head.version, reason, "snapshot was not written");
    }
}

/// Reads both parts of a snapshot's state. The error is a sentence.
pub(crate) fn unpack(state: &[u8]) -> Result<Notebook, String> {
    let parts = parts(state)?;
    let document: Document = read("document", DOCUMENT_FORMAT, &parts.document)?;
    let ledger: Ledger = read("ledger", LEDGER_FORMAT, &parts.ledger)?;
    Ok(Notebook { document: Arc::new(document), ledger })
}

/// Reads the document alone, whatever the format of the ledger.
pub(crate) fn unpack_document(state: &[u8]) -> Result<Document, String> {
    read("document", DOCUMENT_FORMAT, &parts(state)?.document)
}

fn parts(state: &[u8]) -> Result<SnapshotParts<Box<RawValue>, Box<RawValue>>, String> {
    serde_json::from_slice(state).map_err(|error| error.to_string())
}

/// Uncompressed state of a snapshot, from its base if it has one.
pub(crate) async fn state_of(
    store: &dyn EventStore,
    notebook: &NotebookId,
    snapshot: &Snapshot,
) -> Result<Vec<u8>, String> {
    if snapshot.format != FORMAT {
        return Err(format!("its format is {}, this server knows {FORMAT}", snapshot.format));
    }
    let Some(version) = snapshot.base else {
        return snapshot.decompress(MAX_BYTES).map_err(|error| error.to_string());
    };
    let base = store.snapshot(notebook, Some(version)).await.map_err(|error| error.to_string())?;
    let base =
        base.filter(|base| base.version == version).ok_or_else(|| format!("its base at version {version} is gone"))?;
    let base_state = base.decompress(MAX_BYTES).map_err(|error| format!("its base at version {version}: {error}"))?;
    snapshot.decompress_after(&base_state, MAX_BYTES).map_err(|error| error.to_string())
}

fn read<T: serde::de::DeserializeOwned>(
    what: &str,
    format: u32,
    part: &SnapshotPart<Box<RawValue>>,
) -> Result<T, String> {
    if part.format != format {
        return Err(format!("the format of its {what} is {}, this server knows {format}", part.format));
    }
    serde_json::from_str(part.state.get()).map_err(|error| format!("its {what} does not parse: {error}"))
}

// --- from the store ---

/// Head and content of the latest snapshot up to `at_most` that `read` accepts. Others are skipped, because an older
/// one, or the whole log, gives the same state. Damaged ones are deleted, and written again in time.
pub(crate) async fn latest<T>(
    store: &dyn EventStore,
    notebook: &NotebookId,
    mut at_most: Option<Version>,
    read: impl Fn(&[u8]) -> Result<T, String>,
) -> Result<Option<(Head, T)>, StoreError> {
    loop {
        let snapshot = match store.snapshot(notebook, at_most).await {
            Ok(Some(snapshot)) => snapshot,
            Ok(None) => return Ok(None),
            Err(error @ StoreError::Corrupt { .. }) => {
                DAMAGED.fetch_add(1, Ordering::Relaxed);
                tracing::error!(%notebook, %error, "snapshots cannot be read: the whole log is");
                return Ok(None);
            }
            Err(error) => return Err(error),
        };
        let state = state_of(store, notebook, &snapshot).await;
        match state.and_then(|state| read(&state)) {
            Ok(state) => return Ok(Some((snapshot.head, state))),
            Err(reason) if is_whole(store, notebook, &snapshot).await => {
                let version = snapshot.version;
                tracing::warn!(%notebook, version, reason, "snapshot is not used");
            }
            Err(_) => remove(store, notebook, snapshot.version).await,
        }
        let Some(before) = snapshot.version.checked_sub(1) else { return Ok(None) };
        at_most = Some(before);
    }
}

/// Deletes a damaged snapshot.
async fn remove(store: &dyn EventStore, notebook: &NotebookId, version: Version) {
    DAMAGED.fetch_add(1, Ordering::Relaxed);
    note_removed(notebook, version);
    tracing::error!(%notebook, version, "a snapshot is damaged: it is deleted and made anew; check the disk, and run notarium verify");
    if let Err(error) = store.delete_snapshot(notebook, version).await {
        tracing::warn!(%notebook, version, %error, "a damaged snapshot was not deleted: it is passed over each time");
    }
}

fn note_removed(notebook: &NotebookId, version: Version) {
    let mut removed = REMOVED.lock();
    if removed.len() < MAX_REMOVED {
        removed.insert((notebook.clone(), version));
    }
}

/// True if neither the snapshot nor its base is damaged; a store that does not answer is no damage.
async fn is_whole(store: &dyn EventStore, notebook: &NotebookId, snapshot: &Snapshot) -> bool {
    let Some(version) = snapshot.base.filter(|_| snapshot.is_whole()) else { return snapshot.is_whole() };
    let Ok(base) = store.snapshot(notebook, Some(version)).await else { return true };
    base.is_some_and(|base| base.version == version && base.is_whole())
}

/// Versions of a notebook's damaged snapshots that this process has removed.
pub(crate) fn damaged_of(notebook: &NotebookId) -> Vec<Version> {
    REMOVED.lock().iter().filter(|(id, _)| id == notebook).map(|(_, version)| *version).collect()
}

/// Content of a snapshot, for a comparison with the events.
pub(crate) enum StoredState {
    /// Another release wrote it, and this one makes its own.
    OfAnotherRelease,
    /// Both parts; the ledger is absent if another release wrote it.
    Known { document: Box<Document>, ledger: Option<Box<Ledger>> },
}

/// Reads a snapshot whose format is known. The error is a sentence.
pub(crate) async fn stored_state(
    store: &dyn EventStore,
    notebook: &NotebookId,
    snapshot: Snapshot,
) -> Result<StoredState, String> {
    if !snapshot.is_whole() {
        return Err(SnapshotError::Damaged.to_string());
    }
    if snapshot.format != FORMAT {
        return Ok(StoredState::OfAnotherRelease);
    }
    let state = state_of(store, notebook, &snapshot).await?;
    let read = move || {
        let parts = parts(&state)?;
        if parts.document.format != DOCUMENT_FORMAT {
            return Ok(StoredState::OfAnotherRelease);
        }
        let document = Box::new(read("document", DOCUMENT_FORMAT, &parts.document)?);
        let is_known = parts.ledger.format == LEDGER_FORMAT;
        let ledger = is_known.then(|| read("ledger", LEDGER_FORMAT, &parts.ledger)).transpose()?;
        Ok(StoredState::Known { document, ledger })
    };
    tokio::task::spawn_blocking(read).await.map_err(|error| error.to_string())?
}

/// Count of damaged snapshots that this process has found.
pub(crate) fn damaged() -> u64 {
    DAMAGED.load(Ordering::Relaxed)
}
