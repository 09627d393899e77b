//! Trait of all store backends, with its types and errors.

use std::collections::BTreeMap;

use async_trait::async_trait;
use bytes::Bytes;
use notarium_record::{
    Actor, Append, CommandId, CommandRecord, Epoch, ExecutionId, Hash, Head, HistoryQuery, InstanceId, Millis,
    NotebookId, Past, ReplayedExecution, Selection, Stored, Version,
};

use crate::commit_metrics::CommitMetrics;
use crate::content_locks::ContentLocks;
use crate::logged_head::LoggedHead;
use crate::past_text::{PastLine, lower_case};
use crate::snapshots::Snapshot;
use crate::store_error::{AppendError, StoreError};
use crate::tree_turn::TreeTurn;

/// Maximum number of events that one [`EventStore::read`] returns, whatever its limit.
pub const MAX_READ_EVENTS: usize = 10_000;

/// Maximum number of events that one [`EventStore::history`] returns; a query with more is refused.
pub const MAX_HISTORY_EVENTS: usize = 100_000;

/// Maximum number of entries on one page of notebooks, catalog or blobs.
pub const MAX_PAGE: usize = 1_000;

/// Size of an event besides its payload, in bytes: other columns and index entries.
pub const EVENT_OVERHEAD_BYTES: u64 = 256;

/// Largest number that both JavaScript and SQLite represent exactly.
const MAX_NUMBER: u64 = (1 << 53) - 1;

/// Event types that have lists: [`EventStore::events_of_type`] finds them by an index.
pub const LISTED_TYPES: [&str; 5] =
    ["CellDeleted", "ExecutionRequested", "MessagePosted", "ToolCallRequested", "TurnStarted"];

/// Refuses events of another notebook, and events that do not continue `expected` without gaps.
pub fn check(append: &Append) -> Result<(), StoreError> {
    let mut version = append.expected.version;
    for event in &append.events {
        version += 1;
        let envelope = &event.stored.envelope;
        if version > MAX_NUMBER || envelope.recorded_at > MAX_NUMBER {
            return Err(StoreError::Invalid { reason: "versions and times stay below 2^53".to_owned() });
        }
        if envelope.version != version || envelope.notebook_id != append.notebook_id {
            let (notebook, found) = (&envelope.notebook_id, envelope.version);
            let reason = format!("{notebook} version {found} stands where {} {version} belongs", append.notebook_id);
            return Err(StoreError::Invalid { reason });
        }
    }
    Ok(())
}

pub fn check_listed(event_type: &str) -> Result<(), StoreError> {
    if LISTED_TYPES.contains(&event_type) {
        return Ok(());
    }
    Err(StoreError::Invalid { reason: format!("events of type {event_type} are not listed") })
}

/// Refuses more than [`MAX_HISTORY_EVENTS`] events.
pub fn within_limit(events: Vec<Stored>) -> Result<Vec<Stored>, StoreError> {
    if events.len() > MAX_HISTORY_EVENTS {
        return Err(StoreError::HistoryTooLong { limit: MAX_HISTORY_EVENTS });
    }
    Ok(events)
}

/// Size of a notebook on the disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotebookSize {
    pub notebook_id: NotebookId,
    /// Bytes of payloads, plus [`EVENT_OVERHEAD_BYTES`] per event.
    pub log_bytes: u64,
    /// Bytes of the recorded blobs.
    pub blob_bytes: u64,
}

/// Entry in the list of notebooks: a projection of the log, which may lag behind it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CatalogEntry {
    pub notebook_id: NotebookId,
    /// Version that the entry shows; an entry never replaces one of a later version.
    pub version: Version,
    pub title: String,
    pub archived: bool,
    pub created_at: Millis,
    pub updated_at: Millis,
    /// Access list as (subject's key, role), for instance `("user:01J…", "owner")`, sorted by key; each subject once.
    pub access: Vec<(String, String)>,
    pub cells: u64,
    /// True if a kernel is requested or runs, or an execution, turn or tool call has not ended. A server opens such notebooks at its start,
    /// so that agents and the assistants' host get their work, and leases and expiries take effect.
    pub has_work: bool,
    /// True if a tool call waits for a confirmation.
    pub has_waiting_calls: bool,
    /// Description as a template; `None`: not a template.
    pub template: Option<String>,
    /// Time from which the notebook's owner looks after its schedules; `None`: it has none.
    pub due_at: Option<Millis>,
    /// Title and sources; cut to [`crate::MAX_SEARCH_TEXT_CHARS`].
    pub search_text: String,
}

/// Filter of the notebook list. The default lists all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CatalogQuery {
    /// Subjects, one of which must have access; `None`: all notebooks.
    pub subjects: Option<Vec<String>>,
    /// Words that must all occur in title or sources, as whole words or prefixes of words.
    pub text: Option<String>,
    /// True: only archived, false: only unarchived; `None`: both.
    pub archived: Option<bool>,
    /// True: only with work, false: only without; `None`: both.
    pub has_work: Option<bool>,
    /// True: only with a waiting tool call, false: only without; `None`: both.
    pub has_waiting_calls: Option<bool>,
    /// True: only templates, false: none of them; `None`: both.
    pub is_template: Option<bool>,
    /// Only notebooks whose schedules are due at this time.
    pub due_by: Option<Millis>,
    pub after: Option<CatalogCursor>,
    /// Size of the page, at most [`MAX_PAGE`]; 0 means [`MAX_PAGE`].
    pub limit: usize,
}

/// End of a page: the list is sorted by `updated_at`, latest first, then by id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CatalogCursor {
    pub updated_at: Millis,
    pub notebook_id: NotebookId,
}

/// A page of the list. `search_text` of the entries is empty, as it is for searching only.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CatalogPage {
    pub entries: Vec<CatalogEntry>,
    /// Cursor of the next page; `None` on the last.
    pub next: Option<CatalogCursor>,
}

/// An uploaded blob, by notebook and hash. The bytes are in the blob folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlobRecord {
    pub notebook_id: NotebookId,
    pub sha256: Hash,
    pub size_bytes: u64,
    pub media_type: Option<String>,
    /// `Actor::key()` of the first uploader.
    pub uploaded_by: String,
    pub created_at: Millis,
}

/// Author and time of an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Author {
    /// Version of the event.
    pub version: Version,
    /// Author of the event.
    pub actor: Actor,
    /// Time of the event, in milliseconds since 1970.
    pub recorded_at: Millis,
}

/// Lines of the past that a search returns at most.
pub const MAX_FOUND_LINES: usize = 1_000;

/// Lines of the past that a search reads at most.
pub const MAX_LOOKED_AT_LINES: usize = 50_000;

/// Extent of the lines of the past that are written down.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PastLinesWritten {
    /// Version up to which they are.
    pub version: Version,
    /// Number of the next line.
    pub next: u64,
}

/// Lines that a search in the past has found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FoundLines {
    /// Those that began last first.
    pub lines: Vec<PastLine>,
    /// No line is left out.
    pub is_complete: bool,
}

impl FoundLines {
    /// Adds a line if it holds `text` (in lower case); returns false if there is no room for it.
    pub fn take(&mut self, line: PastLine, text: &str) -> bool {
        if !lower_case(&line.text).contains(text) {
            return true;
        }
        let has_room = self.lines.len() < MAX_FOUND_LINES;
        if has_room {
            self.lines.push(line);
        }
        has_room
    }
}

/// Store of the log, its heads and commands, and the projections of them. One instance serves all notebooks.
#[async_trait]
pub trait EventStore: Send + Sync + 'static {
    /// Takes the notebook's lease for this instance: appends under an earlier epoch are refused from now on. If the instance already has
    /// the lease, its epoch is unchanged. For an unknown notebook nothing is written, and 0 returned.
    async fn take_lease(&self, notebook: &NotebookId, instance: &InstanceId) -> Result<Epoch, StoreError>;

    /// Writes events, head and commands atomically; `Ok` means synced to disk. On an error nothing was written. A removal of content replaces
    /// payloads in the same transaction, and drops all that was derived from the notebook: it waits for the holders of [`Self::content_locks`].
    async fn append(&self, append: Append) -> Result<(), AppendError>;

    /// Locks that a write takes which is derived from the log and has content: snapshots, lines of the past.
    fn content_locks(&self) -> &ContentLocks;

    /// Removes what is left of removed content in files: free pages, indexes, the write-ahead log. After a crash the next start does it.
    async fn purge(&self) -> Result<(), StoreError>;

    /// Returns blobs whose bytes a redaction has yet to delete.
    async fn blobs_to_purge(&self) -> Result<Vec<(NotebookId, Hash)>, StoreError>;

    /// Notes that the bytes of a blob are deleted.
    async fn blob_purged(&self, notebook: &NotebookId, sha256: &Hash) -> Result<(), StoreError>;

    /// True if this build's upgrade has ended: the release before does not open the store any more, so that everything may be written.
    async fn is_upgraded(&self) -> Result<bool, StoreError> {
        Ok(true)
    }

    /// Returns problems of the store, in sentences without paths, as anybody may see them.
    fn troubles(&self) -> Vec<&'static str> {
        Vec::new()
    }

    /// Those of the problems that say that stored data is damaged.
    fn damage(&self) -> Vec<&'static str> {
        Vec::new()
    }

    /// Measurements of the writer; `None`: the backend takes none.
    fn commit_metrics(&self) -> Option<CommitMetrics> {
        None
    }

    /// Bytes that the database takes of its disk; `None`: it takes none.
    async fn size_bytes(&self) -> Result<Option<u64>, StoreError> {
        Ok(None)
    }

    /// Returns the head of the notebook's hash chain; `None` if there is no such notebook.
    async fn head(&self, notebook: &NotebookId) -> Result<Option<Head>, StoreError>;

    /// Returns events with versions above `after`, in order, at most `limit` and [`MAX_READ_EVENTS`]. The result ends before an unreadable
    /// event; if that is the first, the error is [`StoreError::UnreadableEvent`].
    async fn read(&self, notebook: &NotebookId, after: Version, limit: usize) -> Result<Vec<Stored>, StoreError>;

    /// Returns events about one subject with versions above `after`, except edits of a source, in order, at most `limit` and
    /// [`MAX_READ_EVENTS`].
    async fn read_subject(
        &self,
        notebook: &NotebookId,
        subject: &str,
        after: Version,
        limit: usize,
    ) -> Result<Vec<Stored>, StoreError>;

    /// Replays a run from its events. They are read in pages: there may be millions, for instance of a progress bar.
    async fn execution(
        &self,
        notebook: &NotebookId,
        id: &ExecutionId,
    ) -> Result<Option<ReplayedExecution>, StoreError> {
        let (mut execution, mut after) = (None, 0);
        loop {
            let page = self.read_subject(notebook, id.as_str(), after, MAX_READ_EVENTS).await?;
            execution = ReplayedExecution::resume(execution, &page);
            match page.last() {
                Some(last) if page.len() == MAX_READ_EVENTS => after = last.envelope.version,
                _ => return Ok(execution),
            }
        }
    }

    /// Returns every event about any of these subjects, except edits of a source. Reads few pages, whatever the number of edits. Each event
    /// once, in order; `HistoryTooLong` above [`MAX_HISTORY_EVENTS`].
    async fn events_of_subject(&self, notebook: &NotebookId, subjects: &[String]) -> Result<Vec<Stored>, StoreError>;

    /// Returns the selected events, including edits. Scans every event after `since`. Each event once, in order; `HistoryTooLong` above
    /// [`MAX_HISTORY_EVENTS`].
    async fn scan_by_subject(&self, notebook: &NotebookId, wanted: &Selection) -> Result<Vec<Stored>, StoreError>;

    /// Returns events of one of the [`LISTED_TYPES`] with versions below `before` (`None`: from the end), latest first, at most `limit` and
    /// [`MAX_READ_EVENTS`].
    async fn events_of_type(
        &self,
        notebook: &NotebookId,
        event_type: &str,
        before: Option<Version>,
        limit: usize,
    ) -> Result<Vec<Stored>, StoreError>;

    /// Returns the history that a decision needs, as [`HistoryQuery::answer`] defines it.
    async fn history(&self, notebook: &NotebookId, query: &HistoryQuery) -> Result<Past<Stored>, StoreError> {
        let wanted = query.selection();
        let selected = match query {
            HistoryQuery::Cells { .. } => self.scan_by_subject(notebook, &wanted).await?,
            HistoryQuery::Tail { since } => {
                let events = self.read(notebook, *since, MAX_READ_EVENTS).await?;
                if events.len() == MAX_READ_EVENTS {
                    return Err(StoreError::HistoryTooLong { limit: MAX_READ_EVENTS });
                }
                events
            }
            _ => self.events_of_subject(notebook, &wanted.subjects).await?,
        };
        let mut past = Past::from(query.narrow(selected));
        for id in query.executions(&past.events) {
            let execution = self.execution(notebook, &id).await?;
            past.executions.extend(execution.map(|execution| (id, execution)));
        }
        Ok(past)
    }

    /// Returns the record of an accepted command.
    async fn command(
        &self,
        notebook: &NotebookId,
        actor: &str,
        command_id: &CommandId,
    ) -> Result<Option<CommandRecord>, StoreError>;

    /// Returns the records of these commands, named by their senders' keys and ids, as far as there are any, in any order. At most
    /// [`MAX_READ_EVENTS`] are asked for.
    async fn commands(
        &self,
        notebook: &NotebookId,
        wanted: &[(String, CommandId)],
    ) -> Result<Vec<CommandRecord>, StoreError>;

    /// Counts the recorded commands with versions of at most `at_most`. Reads the commands of all notebooks.
    async fn count_commands(&self, notebook: &NotebookId, at_most: Version) -> Result<u64, StoreError>;

    /// Stores a snapshot; one of the same version is replaced. Older ones are thinned out to about log2 of the versions.
    async fn put_snapshot(&self, notebook: &NotebookId, snapshot: Snapshot) -> Result<(), StoreError>;

    /// Returns the latest stored snapshot with a version of at most `at_most` (`None`: the latest). [`Snapshot::decompress`] detects
    /// damage.
    async fn snapshot(&self, notebook: &NotebookId, at_most: Option<Version>) -> Result<Option<Snapshot>, StoreError>;

    /// Deletes one snapshot, for instance a damaged one; a missing one is no error.
    async fn delete_snapshot(&self, notebook: &NotebookId, version: Version) -> Result<(), StoreError>;

    /// Returns all notebooks with ids above `after`, by id: for catch-up and verification.
    async fn notebooks(&self, after: Option<&NotebookId>, limit: usize) -> Result<Vec<(NotebookId, Head)>, StoreError>;

    /// Returns the size of each notebook, in any order. Scans every event, so call it only once after a start.
    async fn sizes(&self) -> Result<Vec<NotebookSize>, StoreError>;

    /// Returns how far the lines that ever stood in the notebook's cells are written down; the beginning if they are not.
    async fn past_lines_written(&self, notebook: &NotebookId) -> Result<PastLinesWritten, StoreError>;

    /// Returns the lines that stand at the version up to which lines are written down, by their numbers.
    async fn standing_lines(&self, notebook: &NotebookId) -> Result<Vec<(u64, PastLine)>, StoreError>;

    /// Writes new and changed lines. Returns false, and writes nothing, if lines are not written down up to `after` exactly.
    async fn put_past_lines(
        &self,
        notebook: &NotebookId,
        after: Version,
        written: PastLinesWritten,
        lines: BTreeMap<u64, PastLine>,
    ) -> Result<bool, StoreError>;

    /// Returns lines that ever held the text, capitals aside: those that began last first, at most [`MAX_FOUND_LINES`].
    /// Others may be hidden behind [`MAX_LOOKED_AT_LINES`] that hold its letters only.
    async fn past_lines(&self, notebook: &NotebookId, text: &str) -> Result<FoundLines, StoreError>;

    /// Stores who wrote which characters at a version ([`Blame::pack`](crate::Blame::pack)); older ones are thinned out to one in
    /// `max_gap` versions.
    async fn put_blame(
        &self,
        notebook: &NotebookId,
        version: Version,
        packed: Bytes,
        max_gap: Version,
    ) -> Result<(), StoreError>;

    /// Returns the latest of these with a version of at most `at_most`.
    async fn blame(&self, notebook: &NotebookId, at_most: Version) -> Result<Option<Bytes>, StoreError>;

    /// Returns author and time of events by their versions, in order; unknown versions are left out.
    async fn authors(&self, notebook: &NotebookId, versions: &[Version]) -> Result<Vec<Author>, StoreError>;

    /// Writes the entry unless one of a later version exists; idempotent.
    async fn put_catalog(&self, entry: CatalogEntry) -> Result<(), StoreError>;

    async fn catalog(&self, query: CatalogQuery) -> Result<CatalogPage, StoreError>;

    /// Returns the entries of these notebooks, as far as there are any, in any order; at most [`MAX_PAGE`] are asked for.
    async fn catalog_entries(&self, notebooks: &[NotebookId]) -> Result<Vec<CatalogEntry>, StoreError>;

    /// Returns notebooks with ids above `after` whose entry is missing or older than their head, by id: for catch-up after a crash.
    async fn catalog_lag(&self, after: Option<&NotebookId>, limit: usize) -> Result<Vec<NotebookId>, StoreError>;

    /// Records an uploaded blob; an earlier record of the same notebook and hash is kept.
    async fn put_blob_record(&self, record: BlobRecord) -> Result<(), StoreError>;

    async fn blob_record(&self, notebook: &NotebookId, sha256: &Hash) -> Result<Option<BlobRecord>, StoreError>;

    /// Returns the notebook's blobs with hashes above `after`, by hash.
    async fn blob_records(
        &self,
        notebook: &NotebookId,
        after: Option<&Hash>,
        limit: usize,
    ) -> Result<Vec<BlobRecord>, StoreError>;

    async fn delete_blob_record(&self, notebook: &NotebookId, sha256: &Hash) -> Result<(), StoreError>;

    /// Returns notebooks that nobody has changed since a time and that have many events which [`Self::freeze`] would move, by id.
    async fn cold_candidates(
        &self,
        _unchanged_since: Millis,
        _after: Option<&NotebookId>,
        _limit: usize,
    ) -> Result<Vec<NotebookId>, StoreError> {
        Ok(Vec::new())
    }

    /// Moves all events but the last to objects beside the blobs, where the store does so; returns their number. They are read as before.
    async fn freeze(&self, _: &NotebookId) -> Result<u64, StoreError> {
        Ok(0)
    }

    /// Deletes and overwrites all but the last event of an erased notebook, for which nothing is written from then on. False: not erased.
    async fn erase(&self, notebook: &NotebookId) -> Result<bool, StoreError>;

    /// Notes that a blob was removed because of its age, in place of its record; a new record takes the note back.
    async fn retire_blob(&self, notebook: &NotebookId, sha256: &Hash, at: Millis) -> Result<(), StoreError>;

    /// Returns when a blob was removed because of its age; `None`: it was not.
    async fn retired_blob(&self, notebook: &NotebookId, sha256: &Hash) -> Result<Option<Millis>, StoreError>;

    /// Deletes snapshots before a time, except each notebook's newest and bases of others; returns their number. `is_dry`: only counts.
    async fn retire_snapshots(&self, before: Millis, is_dry: bool) -> Result<u64, StoreError>;

    /// Returns heads of notebooks that are not in the tree of this origin, by id, at most `limit`.
    async fn unlogged_heads(&self, origin: &str, limit: usize) -> Result<Vec<(NotebookId, Head)>, StoreError>;

    /// Records heads as leaves of the tree of this origin; of each notebook the last one is kept.
    async fn put_logged_heads(&self, origin: &str, heads: Vec<LoggedHead>) -> Result<(), StoreError>;

    /// Returns the last head of the notebook in the tree of this origin.
    async fn logged_head(&self, origin: &str, notebook: &NotebookId) -> Result<Option<LoggedHead>, StoreError>;

    /// Waits for the turn to append to the tree of heads that this signing key signs. One process at a time has it, and must not begin a second
    /// one meanwhile. A store that only one process opens gives it at once.
    async fn tree_turn(&self, _key: &str) -> Result<TreeTurn, StoreError> {
        Ok(TreeTurn::alone())
    }

    /// Returns the number of leaves that the tree of this origin has at least.
    async fn logged_leaves(&self, origin: &str) -> Result<u64, StoreError>;

    /// Returns notebooks whose last event erased them, while [`Self::erase`] has not been called, in any order.
    async fn unfinished_erasures(&self) -> Result<Vec<NotebookId>, StoreError>;
}

/// Returns the number of rows of a page: 1 to [`MAX_PAGE`]; 0 means [`MAX_PAGE`].
pub fn page(limit: usize) -> usize {
    if limit == 0 { MAX_PAGE } else { limit.min(MAX_PAGE) }
}

impl CatalogPage {
    /// Cuts `found`, which is sorted, to `limit` entries; `next` is set if there are more.
    pub fn cut(mut found: Vec<CatalogEntry>, limit: usize) -> Self {
        let more = found.len() > page(limit);
        found.truncate(page(limit));
        for entry in &mut found {
            entry.search_text.clear();
        }
        let next = found
            .last()
            .filter(|_| more)
            .map(|last| CatalogCursor { updated_at: last.updated_at, notebook_id: last.notebook_id.clone() });
        Self { entries: found, next }
    }
}
