//! SQLite backend of the store: the default, for one machine.
//!
//! One task appends: it takes the queued appends of all notebooks and commits them in one transaction with one sync. Queries run on a pool
//! of read-only connections. A lock file ensures one server per data folder.
//!
//! Checks when a folder is opened: permissions, the lock, the file's header and application id, its structure (`PRAGMA quick_check`, up to
//! 64 MiB), the schema's version, and losses in the write-ahead log. Afterwards the whole database, including indexes, is verified in the
//! background.

mod accounts;
mod catalog;
mod copy;
mod erasure;
mod error;
mod folder;
mod health;
mod logged_heads;
mod open;
mod past_lines;
mod projections;
mod reader;
mod removal;
mod retention;
mod rows;
#[cfg(test)]
mod tests;
mod transaction;
#[cfg(feature = "postgres")]
mod transfer;
mod upgrade;
mod writer;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use notarium_record::{
    Append, CommandId, CommandRecord, Epoch, Hash, Head, InstanceId, Millis, NotebookId, Selection, Stored, Version,
    in_order,
};
use sqlx::SqlitePool;
use tokio::sync::{Mutex, mpsc};
use tokio::task::JoinHandle;

pub use copy::{Inventory, copy_database, verify_database};
pub use folder::DATABASE_FILE;
pub(crate) use folder::{MARK_FILE, PART_FILE, is_half_restored};
pub use transaction::WriteTransaction;

use self::error::{damaged, gone, is_damage, is_gone, store_error};
use self::health::Health;
use self::reader::{ReaderQuery, head_of};
use self::rows::integer;
use self::transaction::{Writer, WriterConnection};
use self::writer::GroupCommit;
use crate::commit_metrics::CommitMetrics;
use crate::content_locks::ContentLocks;
use crate::event_store::{
    Author, BlobRecord, CatalogEntry, CatalogPage, CatalogQuery, EventStore, FoundLines, MAX_READ_EVENTS, NotebookSize,
    PastLinesWritten, check_listed, within_limit,
};
use crate::group_commit::{MAX_QUEUED_APPENDS, Queued, closed, unanswered};
use crate::logged_head::LoggedHead;
use crate::past_text::PastLine;
use crate::schema::Upgrade;
use crate::snapshots::{MAX_SNAPSHOT_GAP, Snapshot};
use crate::store_error::{AppendError, StoreError};

#[cfg(all(test, feature = "postgres"))]
pub(crate) use upgrade::migrations;

/// An open data folder. On drop the writer ends after all queued appends are written; [`Sqlite::close`] waits for it.
#[derive(Debug)]
pub struct Sqlite {
    queue: mpsc::Sender<Queued>,
    group_commit: JoinHandle<()>,
    writer: Arc<Writer>,
    readers: SqlitePool,
    health: Arc<Health>,
    check: JoinHandle<()>,
    path: PathBuf,
    lock: folder::FolderLock,
    max_snapshot_gap: Version,
    content_locks: ContentLocks,
}

impl Sqlite {
    /// Opens or creates the database in `folder`, and locks the folder. Needs a tokio runtime.
    pub async fn open(folder: impl AsRef<Path>) -> Result<Self, StoreError> {
        let folder = folder.as_ref();
        if folder.join(folder::MOVING_FILE).exists() {
            return Err(StoreError::HalfMoved { path: folder.display().to_string() });
        }
        Self::open_any(folder, Upgrade::Begin).await
    }

    async fn open_any(folder: &Path, upgrade: Upgrade) -> Result<Self, StoreError> {
        let lock = folder::lock_folder(folder)?;
        let path = open::database_path(folder);
        folder::make_private(folder);
        let health = Health::new(open::examine_log(&path)?);
        folder::free_reserve(folder);
        let opened = open::open_writer(&path, upgrade).await;
        folder::keep_reserve(folder);
        let writer = Arc::new(Mutex::new(WriterConnection::new(opened?)));
        let readers = open::open_readers(&path);
        let (queue, queued) = mpsc::channel(MAX_QUEUED_APPENDS);
        let group_commit = GroupCommit::new(writer.clone(), queued, path.clone(), health.clone());
        let group_commit = tokio::spawn(group_commit.run());
        let check = tokio::spawn(health.clone().check(path.clone()));
        let max_snapshot_gap = MAX_SNAPSHOT_GAP;
        let content_locks = ContentLocks::default();
        Ok(Self { queue, group_commit, writer, readers, health, check, path, lock, max_snapshot_gap, content_locks })
    }

    /// Sets the maximum gap between two snapshots, instead of [`MAX_SNAPSHOT_GAP`].
    #[must_use]
    pub fn with_max_snapshot_gap(self, max_snapshot_gap: Version) -> Self {
        Self { max_snapshot_gap, ..self }
    }

    /// Waits until all queued appends are written, empties the write-ahead log and unlocks the folder.
    pub async fn close(self) {
        let Self { queue, group_commit, writer, readers, health, check, lock, .. } = self;
        health.close();
        drop(queue);
        // The last connection to close empties the log.
        let _ = check.await;
        if let Err(error) = group_commit.await {
            tracing::error!(%error, "the writer ended badly");
        }
        readers.close().await;
        if let Some(writer) = Arc::into_inner(writer) {
            open::close(writer.into_inner().into_inner()).await;
        }
        drop(lock);
    }

    /// Verifies the structure of the whole database; takes about a second per gigabyte, and does not block writes.
    pub async fn check(&self) -> Result<(), StoreError> {
        let mut connection = self.readers.acquire().await.map_err(|error| self.failed(error))?;
        open::quick_check(&mut connection, &self.path).await
    }

    /// Begins a transaction on the only writing connection, for tables beside the log (accounts).
    pub async fn begin(&self) -> Result<WriteTransaction<'_>, StoreError> {
        let begun = match is_gone(&self.path) {
            true => Err(gone(&self.path)),
            false => WriteTransaction::begin(&self.writer).await.map_err(|error| self.failed(error)),
        };
        // Its commit reports success; only a failure is noted here.
        begun.inspect_err(|error| self.health.written(Some(error)))
    }

    /// Returns the read-only connections, for tables beside the log (accounts).
    pub fn readers(&self) -> &SqlitePool {
        &self.readers
    }

    /// Translates an error of the database to one that says what to do.
    pub fn failed(&self, error: sqlx::Error) -> StoreError {
        match error {
            sqlx::Error::Decode(_) | sqlx::Error::ColumnDecode { .. } => damaged(&self.path, error),
            error => store_error(&self.path, error),
        }
    }

    /// Runs one statement as a transaction; returns the number of changed rows.
    pub(crate) async fn write(&self, query: ReaderQuery<'_>) -> Result<u64, StoreError> {
        let mut transaction = self.begin().await?;
        let done = query.execute(&mut *transaction).await.map_err(|error| self.failed(error))?;
        self.commit(transaction).await?;
        Ok(done.rows_affected())
    }

    async fn events(&self, notebook: &NotebookId, query: ReaderQuery<'_>) -> Result<Vec<Stored>, StoreError> {
        reader::events(&self.readers, notebook, query).await.map_err(|error| self.failed(error))
    }

    fn json(&self, subjects: &[String]) -> Result<String, StoreError> {
        serde_json::to_string(subjects).map_err(|error| self.failed(sqlx::Error::Decode(error.into())))
    }
}

fn known(found: bool, notebook: &NotebookId) -> Result<(), StoreError> {
    if found { Ok(()) } else { Err(StoreError::unknown(notebook)) }
}

#[async_trait]
impl EventStore for Sqlite {
    async fn take_lease(&self, notebook: &NotebookId, instance: &InstanceId) -> Result<Epoch, StoreError> {
        let sql = "SELECT epoch, holder FROM notebooks WHERE id = ?";
        let lease = sqlx::query_as(sql).bind(notebook.as_str()).fetch_optional(&self.readers).await;
        let lease: Option<(Epoch, Option<String>)> = lease.map_err(|error| self.failed(error))?;
        match lease {
            None => return Ok(0),
            Some((epoch, Some(holder))) if holder == instance.as_str() => return Ok(epoch),
            Some(_) => {}
        }
        let mut transaction = self.begin().await?;
        let epoch = transaction.take_lease(notebook, instance).await.map_err(|error| self.failed(error))?;
        self.commit(transaction).await?;
        Ok(epoch)
    }

    /// Queues an append. Dropping the future does not cancel it: it may still be written.
    async fn append(&self, append: Append) -> Result<(), AppendError> {
        let removes = !append.removal.is_empty();
        let _removing = if removes { Some(self.content_locks.write(&append.notebook_id).await) } else { None };
        let (queued, answered) = Queued::new(append);
        self.queue.send(queued).await.map_err(|_| AppendError::Store(closed()))?;
        answered.await.map_err(|_| AppendError::Store(unanswered()))?
    }

    fn content_locks(&self) -> &ContentLocks {
        &self.content_locks
    }

    async fn purge(&self) -> Result<(), StoreError> {
        removal::purge(&self.writer).await.map_err(|error| self.failed(error))
    }

    async fn blobs_to_purge(&self) -> Result<Vec<(NotebookId, Hash)>, StoreError> {
        removal::blobs_to_purge(&self.readers).await.map_err(|error| self.failed(error))
    }

    async fn blob_purged(&self, notebook: &NotebookId, sha256: &Hash) -> Result<(), StoreError> {
        let sql = "DELETE FROM purges_due WHERE notebook = (SELECT key FROM notebooks WHERE id = ?) AND sha256 = ?";
        self.write(sqlx::query(sql).bind(notebook.as_str()).bind(sha256.0.to_vec())).await.map(drop)
    }

    async fn is_upgraded(&self) -> Result<bool, StoreError> {
        open::is_upgraded(&self.readers).await.map_err(|error| self.failed(error))
    }

    fn troubles(&self) -> Vec<&'static str> {
        self.health.troubles()
    }

    fn damage(&self) -> Vec<&'static str> {
        self.health.damage()
    }

    fn commit_metrics(&self) -> Option<CommitMetrics> {
        Some(self.health.commits.clone())
    }

    async fn size_bytes(&self) -> Result<Option<u64>, StoreError> {
        Ok(Some(folder::size_bytes(&self.path).await))
    }

    async fn head(&self, notebook: &NotebookId) -> Result<Option<Head>, StoreError> {
        let sql = "SELECT e.version, e.hash, e.recorded_at FROM notebooks n JOIN heads h ON h.notebook = n.key \
                   JOIN events e ON e.position = h.position WHERE n.id = ?";
        let row = sqlx::query(sql).bind(notebook.as_str()).fetch_optional(&self.readers).await;
        row.and_then(|row| row.map(|row| head_of(&row, 0)).transpose()).map_err(|error| self.failed(error))
    }

    async fn read(&self, notebook: &NotebookId, after: Version, limit: usize) -> Result<Vec<Stored>, StoreError> {
        let mut count = limit.min(MAX_READ_EVENTS);
        loop {
            match reader::read(&self.readers, notebook, after, count).await {
                // Smaller reads find the events before the damage.
                Err(error) if is_damage(&self.path, &error) && count > 1 => count /= 2,
                Err(error) if is_damage(&self.path, &error) => {
                    return Err(StoreError::UnreadableEvent { version: after + 1, reason: error.to_string() });
                }
                read => return read.map_err(|error| self.failed(error)),
            }
        }
    }

    async fn read_subject(
        &self,
        notebook: &NotebookId,
        subject: &str,
        after: Version,
        limit: usize,
    ) -> Result<Vec<Stored>, StoreError> {
        let query = sqlx::query(reader::READ_SUBJECT).bind(notebook.as_str()).bind(subject).bind(integer(after));
        self.events(notebook, query.bind(reader::limit(limit, MAX_READ_EVENTS))).await
    }

    async fn events_of_subject(&self, notebook: &NotebookId, subjects: &[String]) -> Result<Vec<Stored>, StoreError> {
        let query = sqlx::query(reader::EVENTS_OF_SUBJECT).bind(self.json(subjects)?).bind(notebook.as_str());
        let mut events = self.events(notebook, query.bind(reader::history_limit())).await?;
        in_order(&mut events);
        within_limit(events)
    }

    async fn scan_by_subject(&self, notebook: &NotebookId, wanted: &Selection) -> Result<Vec<Stored>, StoreError> {
        let query = sqlx::query(reader::SCAN_BY_SUBJECT).bind(notebook.as_str()).bind(integer(wanted.since));
        let query = query.bind(self.json(&wanted.subjects)?).bind(wanted.with_notebook).bind(reader::history_limit());
        let mut events = self.events(notebook, query).await?;
        in_order(&mut events);
        within_limit(events)
    }

    async fn events_of_type(
        &self,
        notebook: &NotebookId,
        event_type: &str,
        before: Option<Version>,
        limit: usize,
    ) -> Result<Vec<Stored>, StoreError> {
        check_listed(event_type)?;
        let query = sqlx::query(reader::EVENTS_OF_TYPE).bind(notebook.as_str()).bind(event_type);
        let query = query.bind(before.map_or(i64::MAX, integer)).bind(reader::limit(limit, MAX_READ_EVENTS));
        self.events(notebook, query).await
    }

    async fn command(
        &self,
        notebook: &NotebookId,
        actor: &str,
        command_id: &CommandId,
    ) -> Result<Option<CommandRecord>, StoreError> {
        reader::command(&self.readers, notebook, actor, command_id).await.map_err(|error| self.failed(error))
    }

    async fn commands(
        &self,
        notebook: &NotebookId,
        wanted: &[(String, CommandId)],
    ) -> Result<Vec<CommandRecord>, StoreError> {
        reader::commands(&self.readers, notebook, wanted).await.map_err(|error| self.failed(error))
    }

    async fn count_commands(&self, notebook: &NotebookId, at_most: Version) -> Result<u64, StoreError> {
        reader::count_commands(&self.readers, notebook, at_most).await.map_err(|error| self.failed(error))
    }

    async fn put_snapshot(&self, notebook: &NotebookId, snapshot: Snapshot) -> Result<(), StoreError> {
        let mut transaction = self.begin().await?;
        let put = projections::put_snapshot(&mut transaction, notebook, &snapshot, self.max_snapshot_gap).await;
        let found = put.map_err(|error| self.failed(error))?;
        self.commit(transaction).await?;
        known(found, notebook)
    }

    async fn snapshot(&self, notebook: &NotebookId, at_most: Option<Version>) -> Result<Option<Snapshot>, StoreError> {
        projections::snapshot(&self.readers, notebook, at_most).await.map_err(|error| self.failed(error))
    }

    async fn delete_snapshot(&self, notebook: &NotebookId, version: Version) -> Result<(), StoreError> {
        self.write(projections::delete_snapshot(notebook, version)).await.map(drop)
    }

    async fn notebooks(&self, after: Option<&NotebookId>, limit: usize) -> Result<Vec<(NotebookId, Head)>, StoreError> {
        reader::notebooks(&self.readers, after, limit).await.map_err(|error| self.failed(error))
    }

    async fn sizes(&self) -> Result<Vec<NotebookSize>, StoreError> {
        projections::sizes(&self.readers).await.map_err(|error| self.failed(error))
    }

    async fn past_lines_written(&self, notebook: &NotebookId) -> Result<PastLinesWritten, StoreError> {
        past_lines::written(&self.readers, notebook).await.map_err(|error| self.failed(error))
    }

    async fn standing_lines(&self, notebook: &NotebookId) -> Result<Vec<(u64, PastLine)>, StoreError> {
        past_lines::standing(&self.readers, notebook).await.map_err(|error| self.failed(error))
    }

    async fn put_past_lines(
        &self,
        notebook: &NotebookId,
        after: Version,
        written: PastLinesWritten,
        lines: BTreeMap<u64, PastLine>,
    ) -> Result<bool, StoreError> {
        let mut transaction = self.begin().await?;
        let put = past_lines::put(&mut transaction, notebook, after, written, &lines).await;
        let is_put = put.map_err(|error| self.failed(error))?;
        self.commit(transaction).await?;
        Ok(is_put)
    }

    async fn past_lines(&self, notebook: &NotebookId, text: &str) -> Result<FoundLines, StoreError> {
        past_lines::find(&self.readers, notebook, text).await.map_err(|error| self.failed(error))
    }

    async fn put_blame(
        &self,
        notebook: &NotebookId,
        version: Version,
        packed: Bytes,
        max_gap: Version,
    ) -> Result<(), StoreError> {
        let mut transaction = self.begin().await?;
        let put = projections::put_blame(&mut transaction, notebook, version, &packed, max_gap).await;
        let found = put.map_err(|error| self.failed(error))?;
        self.commit(transaction).await?;
        known(found, notebook)
    }

    async fn blame(&self, notebook: &NotebookId, at_most: Version) -> Result<Option<Bytes>, StoreError> {
        projections::blame(&self.readers, notebook, at_most).await.map_err(|error| self.failed(error))
    }

    async fn authors(&self, notebook: &NotebookId, versions: &[Version]) -> Result<Vec<Author>, StoreError> {
        reader::authors(&self.readers, notebook, versions).await.map_err(|error| self.failed(error))
    }

    async fn put_catalog(&self, entry: CatalogEntry) -> Result<(), StoreError> {
        let mut transaction = self.begin().await?;
        let found = catalog::put(&mut transaction, &entry).await.map_err(|error| self.failed(error))?;
        self.commit(transaction).await?;
        known(found, &entry.notebook_id)
    }

    async fn catalog(&self, query: CatalogQuery) -> Result<CatalogPage, StoreError> {
        catalog::list(&self.readers, &query).await.map_err(|error| self.failed(error))
    }

    async fn catalog_entries(&self, notebooks: &[NotebookId]) -> Result<Vec<CatalogEntry>, StoreError> {
        catalog::entries(&self.readers, notebooks).await.map_err(|error| self.failed(error))
    }

    async fn catalog_lag(&self, after: Option<&NotebookId>, limit: usize) -> Result<Vec<NotebookId>, StoreError> {
        catalog::lag(&self.readers, after, limit).await.map_err(|error| self.failed(error))
    }

    async fn put_blob_record(&self, record: BlobRecord) -> Result<(), StoreError> {
        let mut transaction = self.begin().await?;
        let put = projections::put_blob_record(&mut transaction, &record).await;
        let is_new = put.map_err(|error| self.failed(error))?;
        self.commit(transaction).await?;
        let found = is_new || self.blob_record(&record.notebook_id, &record.sha256).await?.is_some();
        known(found, &record.notebook_id)
    }

    async fn blob_record(&self, notebook: &NotebookId, sha256: &Hash) -> Result<Option<BlobRecord>, StoreError> {
        projections::blob_record(&self.readers, notebook, sha256).await.map_err(|error| self.failed(error))
    }

    async fn blob_records(
        &self,
        notebook: &NotebookId,
        after: Option<&Hash>,
        limit: usize,
    ) -> Result<Vec<BlobRecord>, StoreError> {
        let records = projections::blob_records(&self.readers, notebook, after, limit).await;
        records.map_err(|error| self.failed(error))
    }

    async fn delete_blob_record(&self, notebook: &NotebookId, sha256: &Hash) -> Result<(), StoreError> {
        let sql = "DELETE FROM blobs WHERE notebook = (SELECT key FROM notebooks WHERE id = ?) AND sha256 = ?";
        self.write(sqlx::query(sql).bind(notebook.as_str()).bind(sha256.0.to_vec())).await.map(drop)
    }

    async fn erase(&self, notebook: &NotebookId) -> Result<bool, StoreError> {
        erasure::erase(self, notebook).await
    }

    async fn retire_blob(&self, notebook: &NotebookId, sha256: &Hash, at: Millis) -> Result<(), StoreError> {
        let mut transaction = self.begin().await?;
        let retired = retention::retire_blob(&mut transaction, notebook, sha256, at).await;
        retired.map_err(|error| self.failed(error))?;
        self.commit(transaction).await
    }

    async fn retired_blob(&self, notebook: &NotebookId, sha256: &Hash) -> Result<Option<Millis>, StoreError> {
        retention::retired_blob(&self.readers, notebook, sha256).await.map_err(|error| self.failed(error))
    }

    async fn retire_snapshots(&self, before: Millis, is_dry: bool) -> Result<u64, StoreError> {
        match is_dry {
            true => retention::count_snapshots(&self.readers, before).await.map_err(|error| self.failed(error)),
            false => self.write(retention::delete_snapshots(before)).await,
        }
    }

    async fn unlogged_heads(&self, origin: &str, limit: usize) -> Result<Vec<(NotebookId, Head)>, StoreError> {
        logged_heads::unlogged(&self.readers, origin, limit).await.map_err(|error| self.failed(error))
    }

    async fn put_logged_heads(&self, origin: &str, heads: Vec<LoggedHead>) -> Result<(), StoreError> {
        let rows = logged_heads::rows(&heads).map_err(|error| self.failed(error))?;
        self.write(logged_heads::put(origin, &rows)).await.map(drop)
    }

    async fn logged_head(&self, origin: &str, notebook: &NotebookId) -> Result<Option<LoggedHead>, StoreError> {
        logged_heads::last(&self.readers, origin, notebook).await.map_err(|error| self.failed(error))
    }

    async fn logged_leaves(&self, origin: &str) -> Result<u64, StoreError> {
        logged_heads::leaves(&self.readers, origin).await.map_err(|error| self.failed(error))
    }

    async fn unfinished_erasures(&self) -> Result<Vec<NotebookId>, StoreError> {
        erasure::unfinished(&self.readers).await.map_err(|error| self.failed(error))
    }
}
