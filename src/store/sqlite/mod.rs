//! The store in SQLite: the default, for one machine.
//!
//! One task appends: it takes what all notebooks have queued and commits it as one transaction with one sync. Questions are
//! answered by a pool of connections that cannot write. One server per data folder, by a lock file.
//!
//! What is checked when a folder is opened: permissions, the lock, the file's header, whose database it is, its structure
//! (`PRAGMA quick_check`, up to 64 MiB; [`Sqlite::check`] for any size), the schema's version.

mod catalog;
mod copy;
mod error;
mod multi_row;
mod open;
mod plan;
mod projections;
mod reader;
mod rows;
#[cfg(test)]
mod tests;
mod transaction;
mod writer;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use notarium_record::{
    Append, CommandId, CommandRecord, Epoch, Hash, Head, InstanceId, NotebookId, Selection, Stored, Version,
};
use sqlx::SqlitePool;
use tokio::sync::{Mutex, mpsc, oneshot};
use tokio::task::JoinHandle;

pub use copy::{Inventory, copy_database, verify_database};
pub use open::DATABASE_FILE;
pub use transaction::WriteTransaction;

use self::error::{damaged, store_error};
use self::transaction::{Writer, WriterConnection};
use self::writer::{GroupCommit, MAX_QUEUED_APPENDS, Queued, closed};
use crate::event_store::{
    AppendError, BlobRecord, CatalogEntry, CatalogPage, CatalogQuery, EventStore, StoreError, check_listed,
    within_limit,
};
use crate::snapshots::Snapshot;

/// An open data folder. Dropping it ends the writer once all that is queued is written; [`Sqlite::close`] waits for it.
#[derive(Debug)]
pub struct Sqlite {
    queue: mpsc::Sender<Queued>,
    group_commit: JoinHandle<()>,
    writer: Arc<Writer>,
    readers: SqlitePool,
    path: PathBuf,
    lock: open::FolderLock,
}

impl Sqlite {
    /// Opens or creates the database in `folder`, and locks the folder. Needs a tokio runtime.
    pub async fn open(folder: impl AsRef<Path>) -> Result<Self, StoreError> {
        let folder = folder.as_ref();
        let lock = open::lock_folder(folder)?;
        let path = open::database_path(folder);
        let writer = Arc::new(Mutex::new(WriterConnection::new(open::open_writer(&path).await?)));
        let readers = open::open_readers(&path);
        let (queue, queued) = mpsc::channel(MAX_QUEUED_APPENDS);
        let group_commit = tokio::spawn(GroupCommit::new(writer.clone(), queued, path.clone()).run());
        Ok(Self { queue, group_commit, writer, readers, path, lock })
    }

    /// Waits until everything that is queued is written, empties the write-ahead log and unlocks the folder.
    pub async fn close(self) {
        let Self { queue, group_commit, writer, readers, lock, .. } = self;
        drop(queue);
        if let Err(error) = group_commit.await {
            tracing::error!(%error, "the writer ended badly");
        }
        readers.close().await;
        if let Some(writer) = Arc::into_inner(writer) {
            open::close(writer.into_inner().into_inner()).await;
        }
        drop(lock);
    }

    /// Reads the whole database and compares its structure: takes about a second per gigabyte, and blocks nobody.
    pub async fn check(&self) -> Result<(), StoreError> {
        let mut connection = self.readers.acquire().await.map_err(|error| self.failed(error))?;
        open::quick_check(&mut connection, &self.path).await
    }

    /// For tables beside the log (accounts): a transaction on the one connection that writes.
    pub async fn begin(&self) -> Result<WriteTransaction<'_>, StoreError> {
        WriteTransaction::begin(&self.writer).await.map_err(|error| self.failed(error))
    }

    /// For tables beside the log (accounts): connections that cannot write.
    pub fn readers(&self) -> &SqlitePool {
        &self.readers
    }

    /// Says what a person can do about an error of the database.
    pub fn failed(&self, error: sqlx::Error) -> StoreError {
        match error {
            sqlx::Error::Decode(_) | sqlx::Error::ColumnDecode { .. } => damaged(&self.path, error),
            error => store_error(&self.path, error),
        }
    }

    async fn commit(&self, transaction: WriteTransaction<'_>) -> Result<(), StoreError> {
        transaction.commit().await.map_err(|error| self.failed(error))
    }
}

fn known(found: bool, notebook: &NotebookId) -> Result<(), StoreError> {
    if found { Ok(()) } else { Err(StoreError::unknown(notebook)) }
}

#[async_trait]
impl EventStore for Sqlite {
    async fn take_lease(&self, notebook: &NotebookId, instance: &InstanceId) -> Result<Epoch, StoreError> {
        let lease = reader::lease(&self.readers, notebook).await.map_err(|error| self.failed(error))?;
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

    /// Dropping the future does not take the append back: it may still be written.
    async fn append(&self, append: Append) -> Result<(), AppendError> {
        let (answer, answered) = oneshot::channel();
        self.queue.send(Queued { append, answer }).await.map_err(|_| AppendError::Store(closed()))?;
        answered.await.map_err(|_| AppendError::Store(closed()))?
    }

    async fn head(&self, notebook: &NotebookId) -> Result<Option<Head>, StoreError> {
        reader::head(&self.readers, notebook).await.map_err(|error| self.failed(error))
    }

    async fn read(&self, notebook: &NotebookId, after: Version, limit: usize) -> Result<Vec<Stored>, StoreError> {
        reader::read(&self.readers, notebook, after, limit).await.map_err(|error| self.failed(error))
    }

    async fn read_backwards(
        &self,
        notebook: &NotebookId,
        before: Option<Version>,
        limit: usize,
    ) -> Result<Vec<Stored>, StoreError> {
        reader::read_backwards(&self.readers, notebook, before, limit).await.map_err(|error| self.failed(error))
    }

    async fn events_of_subject(&self, notebook: &NotebookId, subjects: &[String]) -> Result<Vec<Stored>, StoreError> {
        let events = reader::events_of_subject(&self.readers, notebook, subjects).await;
        within_limit(events.map_err(|error| self.failed(error))?)
    }

    async fn scan_by_subject(&self, notebook: &NotebookId, wanted: &Selection) -> Result<Vec<Stored>, StoreError> {
        let events = reader::scan_by_subject(&self.readers, notebook, wanted).await;
        within_limit(events.map_err(|error| self.failed(error))?)
    }

    async fn events_of_type(
        &self,
        notebook: &NotebookId,
        event_type: &str,
        before: Option<Version>,
        limit: usize,
    ) -> Result<Vec<Stored>, StoreError> {
        check_listed(event_type)?;
        let events = reader::events_of_type(&self.readers, notebook, event_type, before, limit).await;
        events.map_err(|error| self.failed(error))
    }

    async fn command(
        &self,
        notebook: &NotebookId,
        actor: &str,
        command_id: &CommandId,
    ) -> Result<Option<CommandRecord>, StoreError> {
        reader::command(&self.readers, notebook, actor, command_id).await.map_err(|error| self.failed(error))
    }

    async fn put_snapshot(&self, notebook: &NotebookId, snapshot: Snapshot) -> Result<(), StoreError> {
        let mut transaction = self.begin().await?;
        let put = projections::put_snapshot(&mut transaction, notebook, &snapshot).await;
        let found = put.map_err(|error| self.failed(error))?;
        self.commit(transaction).await?;
        known(found, notebook)
    }

    async fn snapshot(&self, notebook: &NotebookId, at_most: Option<Version>) -> Result<Option<Snapshot>, StoreError> {
        projections::snapshot(&self.readers, notebook, at_most).await.map_err(|error| self.failed(error))
    }

    async fn delete_snapshot(&self, notebook: &NotebookId, version: Version) -> Result<(), StoreError> {
        let mut transaction = self.begin().await?;
        let deleted = projections::delete_snapshot(&mut transaction, notebook, version).await;
        deleted.map_err(|error| self.failed(error))?;
        self.commit(transaction).await
    }

    async fn delete_snapshots(&self, notebook: &NotebookId) -> Result<(), StoreError> {
        let mut transaction = self.begin().await?;
        let deleted = projections::delete_snapshots(&mut transaction, notebook).await;
        deleted.map_err(|error| self.failed(error))?;
        self.commit(transaction).await
    }

    async fn notebooks(&self, after: Option<&NotebookId>, limit: usize) -> Result<Vec<(NotebookId, Head)>, StoreError> {
        reader::notebooks(&self.readers, after, limit).await.map_err(|error| self.failed(error))
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

    async fn catalog_lag(&self, limit: usize) -> Result<Vec<NotebookId>, StoreError> {
        catalog::lag(&self.readers, limit).await.map_err(|error| self.failed(error))
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
        let mut transaction = self.begin().await?;
        let deleted = projections::delete_blob_record(&mut transaction, notebook, sha256).await;
        deleted.map_err(|error| self.failed(error))?;
        self.commit(transaction).await
    }
}
