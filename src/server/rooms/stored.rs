//! Answers a room's questions from the store.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Instant;

use notarium_core::{
    Actor, Append, CommandId, CommandRecord, Head, HistoryQuery, NotebookId, Past, Stored, UserId, Version,
    verify_chain,
};
use notarium_store::{AppendError, ContentReading, EVENT_OVERHEAD_BYTES, EventStore, MAX_READ_EVENTS, StoreError};
use notarium_sync::{AppendFailure, Input, Loaded, ReadFailure, ReadOnly, Replay};
use parking_lot::Mutex;

use super::notices::NOTICED_TYPES;
use super::{Rooms, catalog, snapshot};
use crate::cluster::{ClaimError, Cluster};
use crate::limits::usage::UsageCounters;
use crate::metrics::{CommittedWork, Metrics, RoomWork};

/// Limit of events that a load gives the room besides the state.
const MAX_RECENT_EVENTS: usize = 2_000;

/// Events before the newest snapshot that a load gives the room, so that it maps late edits over them: number, number in one read, and bytes
/// above which no more are read.
const TAIL_EVENTS: usize = 256;
const TAIL_READ_EVENTS: Version = 64;
const TAIL_BYTES: usize = 256 << 10;

/// Another node has the notebook: the room ends without an answer, and its clients look for the owner.
pub(super) struct LostNotebook;

/// Result of a question of the room.
pub(super) type RoomAnswer = Result<Input, LostNotebook>;

/// Writes a room's append, and counts it. In a cluster a lost lease ends the room.
pub(super) async fn append_of_room(rooms: Arc<Rooms>, append: Append) -> RoomAnswer {
    let (began, work) = (Instant::now(), CommittedWork::of(&append));
    let concerned = append.events.iter().any(|event| concerns_people(&event.stored.envelope.event_type));
    let concerned = concerned.then(|| append.notebook_id.clone());
    let answer = self::append(&*rooms.store, &rooms.usage, append).await;
    let Metrics { rooms: counted, work: counted_work, .. } = &*rooms.metrics;
    counted.append_times.observe_time(began.elapsed());
    match answer {
        Input::AppendFailed(AppendFailure::LeaseLost) if rooms.cluster.peers().is_some() => Err(LostNotebook),
        input => {
            if matches!(input, Input::Appended) {
                counted_work.committed(work);
                if let Some(notebook) = concerned {
                    rooms.notices_due.put(notebook, 0);
                }
            }
            Ok(input)
        }
    }
}

/// True for types of events that notices may be about.
fn concerns_people(event_type: &str) -> bool {
    NOTICED_TYPES.contains(&event_type)
}

/// Loads a room's notebook, and notes its state.
pub(super) async fn load_room(rooms: Arc<Rooms>, notebook: NotebookId, recent_after: Version) -> RoomAnswer {
    let began = Instant::now();
    let Rooms { store, cluster, max_snapshot_gap, .. } = &*rooms;
    let input = load_input(&**store, &**cluster, &notebook, recent_after, *max_snapshot_gap).await;
    if let Ok(Input::Loaded { loaded, lease }) = &input {
        let Metrics { rooms: counted, work, .. } = &*rooms.metrics;
        counted.load_times.observe_time(began.elapsed());
        counted.open.loaded(&notebook, RoomWork::from(&**loaded.notebook), lease.is_ok());
        work.loaded(&loaded.notebook);
        rooms.notices_due.put(notebook.clone(), loaded.head.version);
        rooms.unreadable.note(&notebook, loaded.read_only.is_none());
        catalog::measure_loaded(&rooms, loaded.notebook.clone()).await;
    }
    input
}

pub(super) async fn append(store: &dyn EventStore, usage: &UsageCounters, append: Append) -> Input {
    let (notebook, bytes, owner) = (append.notebook_id.clone(), bytes_of(&append), made_by(&append));
    let Err(error) = store.append(append).await else {
        usage.recorded(&notebook, bytes, owner);
        return Input::Appended;
    };
    Input::AppendFailed(match error {
        AppendError::VersionConflict { .. } => AppendFailure::VersionConflict,
        AppendError::DuplicateCommand { .. } => AppendFailure::DuplicateCommand,
        AppendError::LeaseLost { epoch } => {
            tracing::warn!(epoch, "the notebook's lease was lost: its room ends");
            AppendFailure::LeaseLost
        }
        AppendError::Store(error) => {
            tracing::error!(%error, "append failed");
            let reason = told(&error);
            match error {
                StoreError::Unknown { .. } => AppendFailure::Unknown { reason },
                _ => AppendFailure::Unavailable { reason },
            }
        }
    })
}

fn bytes_of(append: &Append) -> u64 {
    append.events.iter().map(|event| event.stored.payload.get().len() as u64 + EVENT_OVERHEAD_BYTES).sum()
}

/// Maker of the notebook, if the append is its first.
fn made_by(append: &Append) -> Option<UserId> {
    let first = append.events.first().filter(|_| append.expected == Head::START)?;
    match &first.stored.envelope.actor {
        Actor::User { id } | Actor::Assistant { for_user: id, .. } => Some(id.clone()),
        _ => None,
    }
}

pub(super) async fn history(
    store: &dyn EventStore,
    notebook: &NotebookId,
    queries: Vec<HistoryQuery>,
) -> Result<Past<Stored>, StoreError> {
    let mut all = Past::default();
    for query in queries {
        all.extend(store.history(notebook, &query).await?);
    }
    Ok(all)
}

pub(super) async fn records(
    store: &dyn EventStore,
    notebook: &NotebookId,
    commands: Vec<(String, CommandId)>,
) -> Result<Vec<CommandRecord>, StoreError> {
    let mut found = Vec::new();
    for (actor, id) in commands {
        found.extend(store.command(notebook, &actor, &id).await?);
    }
    Ok(found)
}

/// Logs the store's own text, which may name files of the server; returns a text for clients.
fn unread(notebook: &NotebookId, error: &StoreError) -> String {
    tracing::error!(%notebook, %error, "a notebook was not read");
    "the server cannot read its data: its operator finds the reason in the log".to_owned()
}

const CANNOT_WRITE: &str = "the server cannot write, for instance because its disk is full: reading goes on, try again later (/readyz \
                            says when)";

/// Text for clients: the problem, without the server's paths.
fn told(error: &StoreError) -> String {
    match error {
        StoreError::Unknown { .. } => {
            "it is not known whether this was written, because the server's disk failed at that \
                                       moment: send it again with the same id when the server writes again (/readyz)"
                .to_owned()
        }
        StoreError::Unavailable { .. } | StoreError::ReadOnly { .. } => CANNOT_WRITE.to_owned(),
        error => error.to_string(),
    }
}

pub(super) fn failure(error: StoreError) -> ReadFailure {
    match error {
        StoreError::HistoryTooLong { .. } => ReadFailure::TooLong,
        error => {
            tracing::error!(%error, "read failed");
            ReadFailure::Unavailable { reason: error.to_string() }
        }
    }
}

/// Loads a notebook. Takes the lease first, so that nothing that another server writes comes after the read.
pub(super) async fn load_input(
    store: &dyn EventStore,
    cluster: &dyn Cluster,
    notebook: &NotebookId,
    recent_after: Version,
    max_snapshot_gap: Version,
) -> RoomAnswer {
    let lease = match cluster.claim(notebook).await {
        Ok(epoch) => Ok(epoch),
        Err(ClaimError::NotOwner) => return Err(LostNotebook),
        Err(ClaimError::Store(_)) if cluster.is_cut_off() => return Err(LostNotebook),
        Err(ClaimError::Store(error)) => Err(error),
    };
    let lease = lease.map_err(|error| {
        tracing::error!(%notebook, %error, "the notebook's lease was not taken: it is read-only until that works");
        // Nothing of a command was written yet, even if it is not known whether the lease was.
        match error {
            StoreError::Unknown { .. } => CANNOT_WRITE.to_owned(),
            error => told(&error),
        }
    });
    Ok(match load(store, notebook, recent_after, max_snapshot_gap).await {
        Ok(loaded) => Input::Loaded { loaded: Box::new(loaded), lease },
        Err(reason) => {
            tracing::error!(%notebook, reason, "notebook does not load");
            Input::LoadFailed { reason }
        }
    })
}

/// Reason why a record was not replayed to its end.
enum Broken {
    /// The store does not answer; with the reason.
    Store(String),
    /// An event is damaged; with the state before it.
    Damaged(Box<Loaded>),
}

/// Notebooks whose records could not be read to their ends.
#[derive(Debug, Default)]
pub(crate) struct UnreadableRecords(Mutex<BTreeSet<NotebookId>>);

impl UnreadableRecords {
    /// Notes whether a notebook was read to the end of its record.
    pub(super) fn note(&self, notebook: &NotebookId, is_whole: bool) {
        let mut notebooks = self.0.lock();
        if is_whole {
            notebooks.remove(notebook)
        } else {
            notebooks.insert(notebook.clone())
        };
    }

    /// Returns what `/readyz` says of them; `None`: there are none.
    pub(crate) fn problem(&self) -> Option<String> {
        let count = self.0.lock().len();
        let notebooks = if count == 1 {
            "the record of 1 notebook".to_owned()
        } else {
            format!("the records of {count} notebooks")
        };
        (count > 0).then(|| {
            format!(
                "{notebooks} cannot be read to the end, because of damage or a newer server: shown as before that, and read-only; the log names the \
                 places, and a backup helps"
            )
        })
    }
}

/// Loads the state on disk: the latest good snapshot and the events after it. If an event is damaged: the state before
/// it, read-only. `recent_after`: version after which events are returned even if a snapshot is later.
pub(super) async fn load(
    store: &dyn EventStore,
    notebook: &NotebookId,
    recent_after: Version,
    max_snapshot_gap: Version,
) -> Result<Loaded, String> {
    if let Some(loaded) = load_erased(store, notebook).await? {
        return Ok(loaded);
    }
    let (mut at_most, mut farthest) = (None, None::<Box<Loaded>>);
    let content = store.content_locks().try_read(notebook);
    loop {
        let found = snapshot::latest(store, notebook, at_most, snapshot::unpack).await;
        let found = found.map_err(|error| unread(notebook, &error))?;
        let from = found.as_ref().map_or(0, |(head, _)| head.version);
        let replay = match found {
            Some((head, state)) => Replay::from_snapshot(state, head),
            None => Replay::new(notebook.clone()),
        };
        match follow(store, notebook, replay, recent_after, (max_snapshot_gap, content.as_ref())).await {
            Ok(loaded) => return Ok(loaded),
            Err(Broken::Store(reason)) => return Err(reason),
            Err(Broken::Damaged(loaded)) => {
                let before = farthest.as_ref().map_or(0, |loaded| loaded.notebook.version);
                if loaded.notebook.version >= before {
                    farthest = Some(loaded);
                }
            }
        }
        // The snapshot may belong to another record than this log: try an older one, or the whole log.
        at_most = match from {
            0 => return damaged(notebook, farthest),
            from => Some(from - 1),
        };
    }
}

/// Loads a notebook whose last event erased it, from that event alone. `None`: it is not erased.
async fn load_erased(store: &dyn EventStore, notebook: &NotebookId) -> Result<Option<Loaded>, String> {
    let failed = |error| unread(notebook, &error);
    let Some(head) = store.head(notebook).await.map_err(failed)? else { return Ok(None) };
    let Ok(last) = store.read(notebook, head.version.saturating_sub(1), 1).await else { return Ok(None) };
    let mut replay = Replay::new(notebook.clone());
    let is_erased = last.first().is_some_and(|last| last.erased_head().is_some()) && replay.apply(&last).is_ok();
    Ok(is_erased.then(|| replay.finish(last)))
}

/// The state before the damage. An error if the first event is damaged, because then the access list is unknown.
fn damaged(notebook: &NotebookId, farthest: Option<Box<Loaded>>) -> Result<Loaded, String> {
    let loaded = farthest.ok_or("its record is damaged")?;
    let Some(ReadOnly::Damaged(reason)) = &loaded.read_only else { return Ok(*loaded) };
    let version = loaded.notebook.version;
    tracing::error!(
        %notebook, version, reason,
        "the record is damaged: the notebook is read-only, as it was before that; restore a backup"
    );
    if version == 0 { Err(reason.clone()) } else { Ok(*loaded) }
}

async fn follow(
    store: &dyn EventStore,
    notebook: &NotebookId,
    mut replay: Replay,
    recent_after: Version,
    (max_snapshot_gap, content): (Version, Option<&ContentReading>),
) -> Result<Loaded, Broken> {
    // Several pages fit between two snapshots: a short record is read without leaving one.
    let page_events = usize::try_from(max_snapshot_gap / 4).unwrap_or(MAX_READ_EVENTS).clamp(1, MAX_READ_EVENTS);
    // The last event is always included, because clients may name it.
    let mut after = replay.head().version.saturating_sub(1).min(recent_after);
    let (mut recent, mut snapshot_at) = (tail(store, notebook, after).await, replay.head().version);
    let damage = loop {
        let page = match store.read(notebook, after, page_events).await {
            Ok(page) => page,
            Err(error @ StoreError::UnreadableEvent { .. }) => break Some(error.to_string()),
            Err(error) => return Err(Broken::Store(unread(notebook, &error))),
        };
        let Some(last) = page.last() else { break None };
        after = last.envelope.version;
        let applied = replay.apply(&page);
        recent.extend(page.into_iter().filter(|stored| stored.envelope.version <= replay.version()));
        recent.drain(..recent.len().saturating_sub(MAX_RECENT_EVENTS));
        if let Err(error) = applied {
            break Some(error.to_string());
        }
        // After another page the gap to the last snapshot would be too large.
        if replay.version() + page_events as Version > snapshot_at + max_snapshot_gap && replay.is_at_head() {
            snapshot_at = replay.version();
            snapshot::leave(store, replay.notebook(), replay.head(), content).await;
        }
    };
    if let Some(reason) = damage {
        // At least the damaged event comes after the state.
        let next = Head { version: replay.head().version + 1, ..replay.head() };
        let end = store.head(notebook).await.ok().flatten().unwrap_or(next);
        return Err(Broken::Damaged(Box::new(replay.stop(recent, reason, end))));
    }
    let loaded = replay.finish(recent);
    if let Some(ReadOnly::Unknown(reason)) = &loaded.read_only {
        tracing::error!(%notebook, reason, "a newer server has written this notebook: it is read-only until this one is updated");
    }
    Ok(loaded)
}

/// Returns the last events up to `last`. Stops at large and at damaged ones: without them the notebook can be used, and edits with older bases
/// are refused.
async fn tail(store: &dyn EventStore, notebook: &NotebookId, last: Version) -> Vec<Stored> {
    let (mut tail, mut bytes) = (Vec::<Stored>::new(), 0);
    let mut end = last;
    while end > 0 && tail.len() < TAIL_EVENTS && bytes < TAIL_BYTES {
        let after = end.saturating_sub(TAIL_READ_EVENTS);
        let count = usize::try_from(end - after).unwrap_or(usize::MAX);
        let Ok(mut page) = store.read(notebook, after, count).await else { break };
        let Some(first) = page.first().filter(|_| page.len() == count) else { break };
        if verify_chain(first.head(), page.iter().skip(1).chain(tail.first())).is_err() {
            break;
        }
        bytes += page.iter().map(|stored| stored.payload.get().len()).sum::<usize>();
        page.append(&mut tail);
        (tail, end) = (page, after);
    }
    tail
}
