//! Between the room's questions and the store's answers.

use notarium_core::{Append, CommandId, HistoryQuery, InstanceId, NotebookId, Stored, Version, in_order};
use notarium_store::{AppendError, EventStore, MAX_READ_EVENTS, StoreError};
use notarium_sync::{AppendFailure, Input, Loaded, ReadFailure, Replay, Ticket};

use super::snapshot;

/// Events that a load hands to the room beside the state, at most.
const MAX_RECENT_EVENTS: usize = 2_000;

pub(super) async fn append(store: &dyn EventStore, append: Append) -> Input {
    match store.append(append).await {
        Ok(()) => Input::Appended,
        Err(AppendError::VersionConflict { .. }) => Input::AppendFailed(AppendFailure::VersionConflict),
        Err(AppendError::DuplicateCommand { .. }) => Input::AppendFailed(AppendFailure::DuplicateCommand),
        Err(AppendError::LeaseLost { epoch }) => {
            tracing::warn!(epoch, "the notebook's lease was lost: its room ends");
            Input::AppendFailed(AppendFailure::LeaseLost)
        }
        Err(AppendError::Store(error)) => {
            tracing::error!(%error, "append failed");
            Input::AppendFailed(AppendFailure::Unavailable { reason: error.to_string() })
        }
    }
}

pub(super) async fn tail(
    store: &dyn EventStore,
    notebook: &NotebookId,
    ticket: Ticket,
    after: Version,
    limit: usize,
) -> Input {
    let events = store.read(notebook, after, limit).await.map_err(failure);
    Input::Events { ticket, events }
}

pub(super) async fn history(
    store: &dyn EventStore,
    notebook: &NotebookId,
    ticket: Ticket,
    queries: Vec<HistoryQuery>,
) -> Input {
    let mut all: Vec<Stored> = Vec::new();
    for query in queries {
        match store.history(notebook, &query).await {
            Ok(events) => all.extend(events),
            Err(error) => return Input::Events { ticket, events: Err(failure(error)) },
        }
    }
    in_order(&mut all);
    Input::Events { ticket, events: Ok(all) }
}

pub(super) async fn records(
    store: &dyn EventStore,
    notebook: &NotebookId,
    ticket: Ticket,
    commands: Vec<(String, CommandId)>,
) -> Input {
    let mut found = Vec::new();
    for (actor, id) in commands {
        match store.command(notebook, &actor, &id).await {
            Ok(record) => found.extend(record),
            Err(error) => return Input::Commands { ticket, records: Err(failure(error)) },
        }
    }
    Input::Commands { ticket, records: Ok(found) }
}

fn failure(error: StoreError) -> ReadFailure {
    match error {
        StoreError::HistoryTooLong { .. } => ReadFailure::TooLong,
        error => {
            tracing::error!(%error, "read failed");
            ReadFailure::Unavailable { reason: error.to_string() }
        }
    }
}

/// Takes the lease first: what another server has written until then is read, and nothing of it comes after.
pub(super) async fn load_input(
    store: &dyn EventStore,
    notebook: &NotebookId,
    instance: &InstanceId,
    recent_after: Version,
) -> Input {
    let loaded = match store.take_lease(notebook, instance).await {
        Ok(epoch) => load(store, notebook, recent_after).await.map(|loaded| (loaded, epoch)),
        Err(error) => Err(error.to_string()),
    };
    match loaded {
        Ok((loaded, epoch)) => Input::Loaded { loaded: Box::new(loaded), epoch },
        Err(reason) => {
            tracing::error!(%notebook, reason, "notebook does not load");
            Input::LoadFailed { reason }
        }
    }
}

/// The state on disk: the latest good snapshot and the tail. `recent_after`: whose events are wanted even if a snapshot
/// is later.
pub(super) async fn load(
    store: &dyn EventStore,
    notebook: &NotebookId,
    recent_after: Version,
) -> Result<Loaded, String> {
    let mut at_most = None;
    loop {
        let found = snapshot::latest(store, notebook, at_most, snapshot::unpack).await;
        let Some((head, state)) = found.map_err(|error| error.to_string())? else {
            return follow(store, notebook, Replay::new(notebook.clone()), recent_after).await;
        };
        match follow(store, notebook, Replay::from_snapshot(state, head), recent_after).await {
            Ok(loaded) => return Ok(loaded),
            Err(reason) if head.version > 0 => {
                // Snapshots are disposable: an older one, or the whole log, gives the same state.
                tracing::warn!(%notebook, version = head.version, reason, "snapshot is not used");
                at_most = Some(head.version - 1);
            }
            Err(reason) => return Err(reason),
        }
    }
}

async fn follow(
    store: &dyn EventStore,
    notebook: &NotebookId,
    mut replay: Replay,
    recent_after: Version,
) -> Result<Loaded, String> {
    let mut recent: Vec<Stored> = Vec::new();
    // The last event is always at hand, for those who name it.
    let mut after = replay.head().version.saturating_sub(1).min(recent_after);
    loop {
        let page = store.read(notebook, after, MAX_READ_EVENTS).await.map_err(|error| error.to_string())?;
        let Some(last) = page.last() else { break };
        after = last.envelope.version;
        replay.apply(&page).map_err(|error| error.to_string())?;
        recent.extend(page.into_iter().filter(|stored| stored.envelope.version <= replay.version()));
        recent.drain(..recent.len().saturating_sub(MAX_RECENT_EVENTS));
    }
    let loaded = replay.finish(recent);
    if let Some(reason) = &loaded.read_only {
        tracing::error!(%notebook, reason, "a newer server has written this notebook: it is read-only until this one is updated");
    }
    Ok(loaded)
}
