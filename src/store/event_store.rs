//! The trait that every backend implements, the types that go in and out, and the errors.

use async_trait::async_trait;
use notarium_record::{
    Append, CommandId, CommandRecord, Epoch, ExecutionId, Hash, Head, HistoryQuery, InstanceId, Millis, NotebookId,
    Past, ReplayedExecution, Selection, Stored, Version,
};

use crate::snapshots::Snapshot;

/// The most events that one [`EventStore::read`] returns, whatever was asked.
pub const MAX_READ_EVENTS: usize = 10_000;
/// The most events that one [`EventStore::history`] returns; a question with more is refused.
pub const MAX_HISTORY_EVENTS: usize = 100_000;
/// The most entries of one page of notebooks, catalog or blobs.
pub const MAX_PAGE: usize = 1_000;
/// The most characters of [`CatalogEntry::search_text`] that are kept.
pub const MAX_SEARCH_TEXT_CHARS: usize = 100_000;

/// What an event costs beside its payload: its other columns and its places in the indexes.
pub const EVENT_OVERHEAD_BYTES: u64 = 256;

/// JavaScript and SQLite hold every number up to here.
const MAX_NUMBER: u64 = (1 << 53) - 1;

/// The types of events of which there are lists: [`EventStore::events_of_type`] finds them by an index.
pub const LISTED_TYPES: [&str; 5] =
    ["CellDeleted", "ExecutionRequested", "MessagePosted", "ToolCallRequested", "TurnStarted"];

/// Refuses events that are not this notebook's, or do not continue `expected` one by one.
pub(crate) fn check(append: &Append) -> Result<(), StoreError> {
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

pub(crate) fn check_listed(event_type: &str) -> Result<(), StoreError> {
    if LISTED_TYPES.contains(&event_type) {
        return Ok(());
    }
    Err(StoreError::Invalid { reason: format!("events of type {event_type} are not listed") })
}

/// At most [`MAX_HISTORY_EVENTS`].
pub(crate) fn within_limit(events: Vec<Stored>) -> Result<Vec<Stored>, StoreError> {
    if events.len() > MAX_HISTORY_EVENTS {
        return Err(StoreError::HistoryTooLong { limit: MAX_HISTORY_EVENTS });
    }
    Ok(events)
}

/// Why nothing was written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AppendError {
    /// Another append won. Reload and decide again.
    #[error("the notebook's head is {actual:?}, not the expected one: load what is new and decide again")]
    VersionConflict {
        /// `None`: there is no such notebook.
        actual: Option<Head>,
    },
    /// The command was recorded before. Answer with [`EventStore::command`].
    #[error("command {command_id} of {actor} is recorded already: answer with its record")]
    DuplicateCommand { actor: String, command_id: CommandId },
    /// The notebook's lease is another's. Reading goes on; writing needs [`EventStore::take_lease`] first.
    #[error("the notebook's lease was lost: it is in epoch {epoch} now")]
    LeaseLost { epoch: Epoch },
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// What can be wrong with the store itself. Each says what to do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// Disk full, I/O error, connection lost. Nothing was written; a later try may work.
    #[error("the store is unavailable: {reason}; nothing was written, try again when that is mended")]
    Unavailable { reason: String },
    /// The disk failed at the moment of the commit, which may or may not be found at the next start.
    #[error("it is not known whether this was written: {reason}; try again with the same id when that is mended")]
    Unknown { reason: String },
    #[error(
        "the database {path} is missing or empty, but {beside} is there: it was lost, and a new one in its place would delete what is \
         left. Put it back, or restore a backup into another folder (notarium restore); to begin anew choose another data folder (--data)"
    )]
    Lost { path: String, beside: String },
    #[error(
        "a restore into {path} broke off: run `notarium restore BACKUP {path}` again, which goes on from what is there; to begin anew \
         choose another data folder (--data)"
    )]
    HalfRestored { path: String },
    #[error("the data folder {path} cannot be made ({reason}): choose another (--data)")]
    NoFolder { path: String, reason: String },
    #[error("{path} cannot be written to: give this user write permission, or choose another data folder (--data)")]
    ReadOnly { path: String },
    #[error(
        "the database {path} is damaged: {reason}. Stop the server, copy the whole folder away, then restore a backup \
         (notarium restore), or save what is readable with: sqlite3 {path} .recover | sqlite3 recovered.db"
    )]
    Corrupt { path: String, reason: String },
    #[error(
        "the database was written by a newer version (its schema is {found}, this build knows {known}): \
         update this program, or restore the backup made before the update"
    )]
    TooNew { found: i64, known: i64 },
    #[error("another server uses the data folder {path}: stop it, or choose another folder (--data)")]
    Locked { path: String },
    #[error(
        "the database could not be brought up to date: {reason}; nothing was changed, restore a backup or report it"
    )]
    Migration { reason: String },
    /// The events before it can be read.
    #[error(
        "version {version} of the notebook's record cannot be read ({reason}): it is whole before that. Read a version before it, and \
         ask the server's operator to restore a backup"
    )]
    UnreadableEvent { version: Version, reason: String },
    /// A caller's mistake, for instance an append whose events are not consecutive.
    #[error("not a valid request to the store: {reason}")]
    Invalid { reason: String },
    /// More than [`MAX_HISTORY_EVENTS`]: the base is too old to be worked from.
    #[error("the answer has more than {limit} events: start from a newer version")]
    HistoryTooLong { limit: usize },
}

impl StoreError {
    pub(crate) fn unknown(notebook: &NotebookId) -> Self {
        Self::Invalid { reason: format!("there is no notebook {notebook}") }
    }
}

/// What a notebook takes on the disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotebookSize {
    pub notebook_id: NotebookId,
    /// Payloads, and [`EVENT_OVERHEAD_BYTES`] for each event.
    pub log_bytes: u64,
    /// Of the blobs that are recorded.
    pub blob_bytes: u64,
}

/// A line of the list of notebooks: a projection that follows the log and may lag behind it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CatalogEntry {
    pub notebook_id: NotebookId,
    /// The version that it shows; an entry never replaces one of a later version.
    pub version: Version,
    pub title: String,
    pub archived: bool,
    pub created_at: Millis,
    pub updated_at: Millis,
    /// (subject's key, role), for instance `("user:01J…", "owner")`, in the order of keys; each subject once.
    pub access: Vec<(String, String)>,
    pub cells: u64,
    /// A kernel is wanted or lives, or an execution, a turn or a tool call has not ended: a server that starts opens the
    /// notebook at once, so that agents and the assistants' reactor hear of it and leases and expiries run.
    pub has_work: bool,
    /// A tool call waits for a person's word.
    pub has_waiting_calls: bool,
    /// What it says of itself as a template; `None`: it is none.
    pub template: Option<String>,
    /// Title and sources; cut after [`MAX_SEARCH_TEXT_CHARS`].
    pub search_text: String,
}

/// Which notebooks are listed. The default lists all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CatalogQuery {
    /// One of these subjects has access; `None` for all notebooks.
    pub subjects: Option<Vec<String>>,
    /// Words that all stand in title or sources; a word also finds longer ones that begin with it.
    pub text: Option<String>,
    /// Only archived, or only unarchived ones; `None` for both.
    pub archived: Option<bool>,
    /// Only those with work, or only those without; `None` for both.
    pub has_work: Option<bool>,
    /// Only those where a tool call waits, or only those where none does; `None` for both.
    pub has_waiting_calls: Option<bool>,
    /// Only templates, or only what is none; `None` for both.
    pub is_template: Option<bool>,
    pub after: Option<CatalogCursor>,
    /// At most [`MAX_PAGE`]; 0 means that.
    pub limit: usize,
}

/// Where a page ended: the list is ordered by `updated_at`, latest first, then by id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CatalogCursor {
    pub updated_at: Millis,
    pub notebook_id: NotebookId,
}

/// `search_text` of the entries is empty: it is for finding only.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CatalogPage {
    pub entries: Vec<CatalogEntry>,
    /// `None` on the last page.
    pub next: Option<CatalogCursor>,
}

/// An uploaded blob, by notebook and content. The bytes are in the blob folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlobRecord {
    pub notebook_id: NotebookId,
    pub sha256: Hash,
    pub size_bytes: u64,
    pub media_type: Option<String>,
    /// `Actor::key()` of who uploaded it first.
    pub uploaded_by: String,
    pub created_at: Millis,
}

/// The log, its heads and commands, and what follows from them. One instance serves all notebooks.
#[async_trait]
pub trait EventStore: Send + Sync + 'static {
    /// Takes the notebook's lease for this instance: appends under an earlier epoch are refused from here on. Who has the
    /// lease already keeps its epoch. Nothing is written, and 0 returned, where there is no such notebook.
    async fn take_lease(&self, notebook: &NotebookId, instance: &InstanceId) -> Result<Epoch, StoreError>;

    /// Writes events, head and commands together; `Ok` means synced to disk. On an error nothing was written.
    async fn append(&self, append: Append) -> Result<(), AppendError>;

    /// What is wrong with the store, in sentences that name no path: anybody may see them.
    fn troubles(&self) -> Vec<&'static str> {
        Vec::new()
    }

    /// The end of the notebook's chain; `None` where there is no such notebook.
    async fn head(&self, notebook: &NotebookId) -> Result<Option<Head>, StoreError>;

    /// Events with versions above `after`, in order, at most `limit` and [`MAX_READ_EVENTS`]; fewer before one that cannot be
    /// read, and [`StoreError::UnreadableEvent`] where that is the first.
    async fn read(&self, notebook: &NotebookId, after: Version, limit: usize) -> Result<Vec<Stored>, StoreError>;

    /// Events with versions below `before` (`None`: from the end), latest first, at most `limit` and
    /// [`MAX_READ_EVENTS`]: for pages of history.
    async fn read_backwards(
        &self,
        notebook: &NotebookId,
        before: Option<Version>,
        limit: usize,
    ) -> Result<Vec<Stored>, StoreError>;

    /// Events with versions above `after` about one subject but edits of a source, in order, at most `limit` and
    /// [`MAX_READ_EVENTS`].
    async fn read_subject(
        &self,
        notebook: &NotebookId,
        subject: &str,
        after: Version,
        limit: usize,
    ) -> Result<Vec<Stored>, StoreError>;

    /// The run as its events tell it. They are read in pages: there may be millions, of a progress bar for instance.
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

    /// Every event about any of these subjects but edits of a source: whatever their number, few pages are read. Each once,
    /// in order; `HistoryTooLong` above [`MAX_HISTORY_EVENTS`].
    async fn events_of_subject(&self, notebook: &NotebookId, subjects: &[String]) -> Result<Vec<Stored>, StoreError>;

    /// The selected events, edits among them. Goes through every event after `since`. Each once, in order; `HistoryTooLong`
    /// above [`MAX_HISTORY_EVENTS`].
    async fn scan_by_subject(&self, notebook: &NotebookId, wanted: &Selection) -> Result<Vec<Stored>, StoreError>;

    /// Events of one of the [`LISTED_TYPES`] with versions below `before` (`None`: from the end), latest first, at most
    /// `limit` and [`MAX_READ_EVENTS`].
    async fn events_of_type(
        &self,
        notebook: &NotebookId,
        event_type: &str,
        before: Option<Version>,
        limit: usize,
    ) -> Result<Vec<Stored>, StoreError>;

    /// The answer to what a decision needs from the past, as [`HistoryQuery::answer`] defines it.
    async fn history(&self, notebook: &NotebookId, query: &HistoryQuery) -> Result<Past<Stored>, StoreError> {
        let wanted = query.selection();
        let selected = match query {
            HistoryQuery::Cells { .. } => self.scan_by_subject(notebook, &wanted).await?,
            _ => self.events_of_subject(notebook, &wanted.subjects).await?,
        };
        let mut past = Past::from(query.narrow(selected));
        for id in query.executions(&past.events) {
            let execution = self.execution(notebook, &id).await?;
            past.executions.extend(execution.map(|execution| (id, execution)));
        }
        Ok(past)
    }

    /// The record of an accepted command.
    async fn command(
        &self,
        notebook: &NotebookId,
        actor: &str,
        command_id: &CommandId,
    ) -> Result<Option<CommandRecord>, StoreError>;

    /// Keeps a snapshot; one of the same version is replaced. Older ones are thinned out: about log2 of the versions stay.
    async fn put_snapshot(&self, notebook: &NotebookId, snapshot: Snapshot) -> Result<(), StoreError>;

    /// The latest snapshot whose version is at most `at_most` (`None`: the latest), as it is stored: [`Snapshot::decompress`]
    /// finds out whether it is damaged.
    async fn snapshot(&self, notebook: &NotebookId, at_most: Option<Version>) -> Result<Option<Snapshot>, StoreError>;

    /// Deletes one snapshot, for instance a damaged one; one that is not there is deleted already.
    async fn delete_snapshot(&self, notebook: &NotebookId, version: Version) -> Result<(), StoreError>;

    async fn delete_snapshots(&self, notebook: &NotebookId) -> Result<(), StoreError>;

    /// All notebooks with ids above `after`, in the order of ids: for catch-up and verification.
    async fn notebooks(&self, after: Option<&NotebookId>, limit: usize) -> Result<Vec<(NotebookId, Head)>, StoreError>;

    /// What each notebook takes, in any order. Goes through every event: for once after a start.
    async fn sizes(&self) -> Result<Vec<NotebookSize>, StoreError>;

    /// Writes the entry unless one of a later version is there: repeating it is harmless.
    async fn put_catalog(&self, entry: CatalogEntry) -> Result<(), StoreError>;

    async fn catalog(&self, query: CatalogQuery) -> Result<CatalogPage, StoreError>;

    /// Notebooks whose entry is missing or older than their head, in the order of ids: for catch-up after a crash.
    async fn catalog_lag(&self, limit: usize) -> Result<Vec<NotebookId>, StoreError>;

    /// Records an uploaded blob; the first record of a notebook and hash stays.
    async fn put_blob_record(&self, record: BlobRecord) -> Result<(), StoreError>;

    async fn blob_record(&self, notebook: &NotebookId, sha256: &Hash) -> Result<Option<BlobRecord>, StoreError>;

    /// The notebook's blobs with hashes above `after`, in the order of hashes.
    async fn blob_records(
        &self,
        notebook: &NotebookId,
        after: Option<&Hash>,
        limit: usize,
    ) -> Result<Vec<BlobRecord>, StoreError>;

    async fn delete_blob_record(&self, notebook: &NotebookId, sha256: &Hash) -> Result<(), StoreError>;
}

/// The number of rows of a page: 1 to [`MAX_PAGE`]; 0 asks for that.
pub(crate) fn page(limit: usize) -> usize {
    if limit == 0 { MAX_PAGE } else { limit.min(MAX_PAGE) }
}
