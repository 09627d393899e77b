//! Projections of the log: snapshots and the list of notebooks.
//!
//! [`ListLag`] gives the list read-your-writes: it has the rows that lag, and whose changes they miss.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use dashmap::DashMap;
use futures_util::FutureExt;
use futures_util::future::{BoxFuture, Shared};
use notarium_core::{Actor, Document, Head, Notebook, NotebookId, ToolCallPhase, UserId, Version, wire_word};
use notarium_store::{CatalogEntry, ContentReading, EventStore, MAX_SEARCH_TEXT_CHARS, StoreError};

use super::remote::NO_SNAPSHOTS;
use super::stored::load;
use super::{Rooms, metadata, snapshot};
use crate::metrics::RoomWork;
use crate::timetable::due_at;

/// Notebooks that are looked up at once.
const CATCH_UP_PAGE: usize = 100;

/// Writes a snapshot of a room's notebook, while no content is removed.
pub(super) async fn write_snapshot(
    store: Arc<dyn EventStore>,
    notebook: Arc<Notebook>,
    head: Head,
    content: ContentReading,
) {
    snapshot::leave(&*store, notebook, head, Some(&content)).await;
}

pub(super) async fn update_catalog(rooms: &Rooms, notebook: Arc<Notebook>) {
    let Rooms { store, usage, .. } = rooms;
    let entry = catalog_entry(&notebook);
    usage.owned(&entry.notebook_id, owners(&entry));
    rooms.metrics.rooms.open.changed(&entry.notebook_id, RoomWork::from(&**notebook));
    let (id, version) = (entry.notebook_id.clone(), entry.version);
    if let Err(error) = store.put_catalog(entry).await {
        tracing::warn!(notebook = %id, version, %error, "the list of notebooks was not updated; the next start does it");
    }
    measure(rooms, notebook).await;
}

/// Measures a state of which much is unmeasured, for its limit.
pub(super) async fn measure(rooms: &Rooms, notebook: Arc<Notebook>) {
    if rooms.usage.is_to_be_measured(&notebook.notebook_id) {
        measure_now(rooms, notebook).await;
    }
}

/// Measures a state that was loaded, unless it was measured since the start: the count of what was recorded before may not be there yet.
pub(super) async fn measure_loaded(rooms: &Rooms, notebook: Arc<Notebook>) {
    match rooms.usage.is_unmeasured(&notebook.notebook_id) {
        true => measure_now(rooms, notebook).await,
        false => measure(rooms, notebook).await,
    }
}

async fn measure_now(Rooms { usage, large_states, .. }: &Rooms, notebook: Arc<Notebook>) {
    let id = notebook.notebook_id.clone();
    let bytes = tokio::task::spawn_blocking(move || state_bytes(&notebook)).await.unwrap_or(0);
    if usage.measured(&id, bytes) {
        large_states.put(id, bytes);
    }
}

/// Owners of the notebook, from its catalog entry.
pub fn owners(entry: &CatalogEntry) -> Vec<UserId> {
    let owning = entry.access.iter().filter(|(_, role)| role == "owner");
    owning.filter_map(|(subject, _)| UserId::new(subject.strip_prefix("user:")?).ok()).collect()
}

/// Bytes of the state as JSON, counted without keeping the text.
fn state_bytes(notebook: &Document) -> u64 {
    struct Count(u64);
    impl std::io::Write for Count {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0 += bytes.len() as u64;
            Ok(bytes.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let mut count = Count(0);
    match serde_json::to_writer(&mut count, notebook) {
        Ok(()) => count.0,
        Err(_) => 0,
    }
}

/// Catalog entry of a notebook.
pub fn catalog_entry(notebook: &Document) -> CatalogEntry {
    let access = notebook.access.iter().map(|entry| (entry.subject.key(), wire_word(&entry.grant.role)));
    CatalogEntry {
        notebook_id: notebook.notebook_id.clone(),
        version: notebook.version,
        title: notebook.title.clone(),
        archived: notebook.archived,
        created_at: notebook.created_at,
        updated_at: notebook.updated_at,
        access: access.collect(),
        cells: notebook.cells.len() as u64,
        has_work: has_work(notebook),
        has_waiting_calls: notebook.tool_calls.values().any(|call| matches!(call.phase, ToolCallPhase::Waiting)),
        template: metadata::template_description(&notebook.metadata),
        due_at: due_at(notebook),
        search_text: search_text(notebook),
    }
}

fn has_work(notebook: &Document) -> bool {
    !notebook.kernels.is_empty()
        || !notebook.turns.is_empty()
        || !notebook.tool_calls.is_empty()
        || notebook.executions.values().any(|run| !run.status.is_finished())
}

/// Title and sources, cut to the length that the store keeps.
fn search_text(notebook: &Document) -> String {
    let mut text = notebook.title.clone();
    let mut left = MAX_SEARCH_TEXT_CHARS.saturating_sub(text.chars().count());
    for (_, cell) in notebook.ordered_cells() {
        if left == 0 {
            break;
        }
        text.push('\n');
        let before = text.len();
        text.extend(cell.content.source.chars().take(left));
        left = left.saturating_sub(text[before..].chars().count() + 1);
    }
    text
}

impl Rooms {
    /// Brings the entries of the notebooks that this node owns up to date with the log, after a crash of their last owner. Returns the number
    /// of those that were behind. Open ones are left out: their rooms do it.
    pub async fn catch_up_catalog(&self) -> Result<usize, StoreError> {
        let (mut caught_up, mut last) = (0, None);
        loop {
            let behind = self.store.catalog_lag(last.as_ref(), CATCH_UP_PAGE).await?;
            last = behind.last().cloned();
            if last.is_none() {
                return Ok(caught_up);
            }
            for id in self.cluster.owned(behind).await? {
                if !self.is_open(&id) {
                    caught_up += usize::from(catch_up(&*self.store, &id).await?);
                }
            }
        }
    }
}

async fn catch_up(store: &dyn EventStore, id: &NotebookId) -> Result<bool, StoreError> {
    match load(store, id, Version::MAX, NO_SNAPSHOTS).await {
        // The entry gets the version of the log's end, even if the state stops before an event that this build does not
        // know.
        Ok(loaded) => {
            let entry = CatalogEntry { version: loaded.head.version, ..catalog_entry(&loaded.notebook) };
            let written = store.put_catalog(entry).await;
            if let Err(error) = &written {
                tracing::warn!(notebook = %id, %error, "the list of notebooks was not updated; the next start does it");
            }
            Ok(written.is_ok())
        }
        Err(reason) => {
            tracing::error!(notebook = %id, reason, "notebook does not load: it is not listed");
            Ok(false)
        }
    }
}

/// Resolves at the end of a write of a catalog row.
pub type Writing = Shared<BoxFuture<'static, ()>>;

/// Notebooks whose catalog rows lag.
#[derive(Default)]
pub struct ListLag {
    notebooks: DashMap<NotebookId, Line>,
    /// Logical clock that orders changes and writes.
    moments: AtomicU64,
}

#[derive(Default)]
struct Line {
    /// Moment of the last change per author that the row misses.
    authors: BTreeMap<String, u64>,
    /// The last write that began, and its moment.
    writing: Option<(u64, Writing)>,
}

impl ListLag {
    /// Records that the row misses changes of these actors.
    pub fn note(&self, notebook: &NotebookId, actors: &[Actor]) {
        let moment = self.moment();
        let mut line = self.notebooks.entry(notebook.clone()).or_default();
        line.authors.extend(actors.iter().map(|actor| (person(actor), moment)));
    }

    /// Begins a write of the row, with all changes noted up to now. `write` gets the moment to pass to [`Self::wrote`].
    pub fn write(&self, notebook: &NotebookId, write: impl FnOnce(u64) -> BoxFuture<'static, ()>) {
        // The entry stays locked, so a write that ends early waits for it in `wrote`.
        let mut line = self.notebooks.entry(notebook.clone()).or_default();
        let moment = self.moment();
        line.writing = Some((moment, write(moment).shared()));
    }

    /// Records the end of the write that began at this moment.
    pub fn wrote(&self, notebook: &NotebookId, moment: u64) {
        self.notebooks.remove_if_mut(notebook, |_, line| {
            line.authors.retain(|_, noted| *noted > moment);
            line.writing.take_if(|(began, _)| *began == moment);
            line.authors.is_empty() && line.writing.is_none()
        });
    }

    /// Forgets the changes that the row misses, as the notebook's next node writes it. A write in progress ends by itself.
    pub fn forget(&self, notebook: &NotebookId) {
        self.notebooks.remove_if_mut(notebook, |_, line| {
            line.authors.clear();
            line.writing.is_none()
        });
    }

    /// Notebooks whose rows miss changes of this actor.
    pub fn of(&self, actor: &Actor) -> Vec<NotebookId> {
        let person = person(actor);
        let lacking = self.notebooks.iter().filter(|line| line.authors.contains_key(&person));
        lacking.map(|line| line.key().clone()).collect()
    }

    /// The write in progress, if any.
    pub fn writing(&self, notebook: &NotebookId) -> Option<Writing> {
        self.notebooks.get(notebook)?.writing.as_ref().map(|(_, writing)| writing.clone())
    }

    fn moment(&self) -> u64 {
        self.moments.fetch_add(1, Ordering::SeqCst)
    }
}

/// Key of the actor; an assistant counts as its person.
fn person(actor: &Actor) -> String {
    match actor {
        Actor::Assistant { for_user: id, .. } => Actor::User { id: id.clone() }.key(),
        actor => actor.key(),
    }
}
