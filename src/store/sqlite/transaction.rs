//! The only writing connection and its transactions.

use std::ops::{Deref, DerefMut};

use notarium_record::{ContentRemoval, Epoch, InstanceId, NotebookId};
use sqlx::SqliteConnection;
use tokio::sync::{Mutex, MutexGuard};

use super::Sqlite;
use super::error::commit_error;
use super::rows::{SqlScript, Texts};
use crate::store_error::StoreError;

/// The only writing connection. The mutex is fair: there is no `SQLITE_BUSY` and no starvation.
pub(super) type Writer = Mutex<WriterConnection>;

#[derive(Debug)]
pub(super) struct WriterConnection {
    connection: SqliteConnection,
    /// True if a transaction is open: one may have been dropped midway, for instance with its request.
    is_in_transaction: bool,
    /// Notebooks whose lease was taken since the last append: their cache entries are outdated.
    pub(super) leased: Vec<NotebookId>,
}

impl WriterConnection {
    pub(super) fn new(connection: SqliteConnection) -> Self {
        Self { connection, is_in_transaction: false, leased: Vec::new() }
    }

    pub(super) fn into_inner(self) -> SqliteConnection {
        self.connection
    }

    /// Runs the script atomically; returns after its sync to disk.
    pub(super) async fn run(&mut self, script: SqlScript, texts: &mut Texts) -> Result<(), sqlx::Error> {
        self.roll_back().await;
        self.is_in_transaction = true;
        let done = script.execute(&mut self.connection, texts).await;
        self.end(done).await
    }

    /// Runs the script and a removal of content atomically.
    pub(super) async fn run_with_removal(
        &mut self,
        script: SqlScript,
        notebook: &NotebookId,
        removal: &ContentRemoval,
    ) -> Result<(), sqlx::Error> {
        self.begin().await?;
        let done = match script.execute_within(&mut self.connection).await {
            Ok(()) => super::removal::remove(&mut self.connection, notebook, removal).await,
            Err(error) => Err(error),
        };
        match done {
            Ok(()) => self.commit().await,
            Err(error) => self.end(Err(error)).await,
        }
    }

    async fn begin(&mut self) -> Result<(), sqlx::Error> {
        self.roll_back().await;
        self.is_in_transaction = true;
        let begun = sqlx::query("BEGIN IMMEDIATE").execute(&mut self.connection).await;
        begun.map(|_| ())
    }

    async fn commit(&mut self) -> Result<(), sqlx::Error> {
        let committed = sqlx::query("COMMIT").execute(&mut self.connection).await;
        self.end(committed.map(|_| ())).await
    }

    async fn end(&mut self, done: Result<(), sqlx::Error>) -> Result<(), sqlx::Error> {
        match done {
            Ok(()) => self.is_in_transaction = false,
            Err(_) => self.roll_back().await,
        }
        done
    }

    /// Rolls back an open transaction. An error means that SQLite has already rolled back, for instance on a full disk.
    async fn roll_back(&mut self) {
        if !self.is_in_transaction {
            return;
        }
        if let Err(error) = sqlx::query("ROLLBACK").execute(&mut self.connection).await {
            tracing::debug!(%error, "nothing to roll back");
        }
        self.is_in_transaction = false;
    }
}

impl Deref for WriterConnection {
    type Target = SqliteConnection;
    fn deref(&self) -> &SqliteConnection {
        &self.connection
    }
}

impl DerefMut for WriterConnection {
    fn deref_mut(&mut self) -> &mut SqliteConnection {
        &mut self.connection
    }
}

/// A write transaction. If dropped without [`WriteTransaction::commit`], it is rolled back, at the latest when the next one begins.
pub struct WriteTransaction<'a> {
    writer: MutexGuard<'a, WriterConnection>,
}

impl<'a> WriteTransaction<'a> {
    pub(super) async fn begin(writer: &'a Writer) -> Result<Self, sqlx::Error> {
        let mut writer = writer.lock().await;
        writer.begin().await?;
        Ok(Self { writer })
    }

    /// Commits; returns after the sync to disk. On an error nothing was written.
    pub async fn commit(mut self) -> Result<(), sqlx::Error> {
        self.writer.commit().await
    }

    /// Gives the notebook's lease to this instance; if it already has it, the epoch is unchanged.
    pub(super) async fn take_lease(
        &mut self,
        notebook: &NotebookId,
        instance: &InstanceId,
    ) -> Result<Epoch, sqlx::Error> {
        self.writer.leased.push(notebook.clone());
        let sql = "UPDATE notebooks SET epoch = epoch + (holder IS NOT ?2), holder = ?2 WHERE id = ?1 RETURNING epoch";
        let query = sqlx::query_scalar(sql).bind(notebook.as_str()).bind(instance.as_str());
        query.fetch_one(&mut self.writer.connection).await
    }

    pub async fn roll_back(mut self) {
        self.writer.roll_back().await;
    }
}

impl Deref for WriteTransaction<'_> {
    type Target = SqliteConnection;
    fn deref(&self) -> &SqliteConnection {
        &self.writer
    }
}

impl DerefMut for WriteTransaction<'_> {
    fn deref_mut(&mut self) -> &mut SqliteConnection {
        &mut self.writer
    }
}

impl Sqlite {
    /// Commits a transaction of [`Self::begin`]; on `Ok` it is on disk.
    pub async fn commit(&self, transaction: WriteTransaction<'_>) -> Result<(), StoreError> {
        let committed = transaction.commit().await.map_err(|error| commit_error(&self.path, error));
        self.health.written(committed.as_ref().err());
        committed
    }
}
