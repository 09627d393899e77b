//! The one connection that writes, taken in turn.

use std::ops::{Deref, DerefMut};

use sqlx::SqliteConnection;
use tokio::sync::{Mutex, MutexGuard};

/// The only connection that writes. The mutex is fair, so that nobody ever meets `SQLITE_BUSY` or starves.
pub(super) type Writer = Mutex<SqliteConnection>;

/// A write transaction. Dropped without [`WriteTransaction::commit`] it is rolled back, at the latest when the next begins.
pub struct WriteTransaction<'a> {
    connection: MutexGuard<'a, SqliteConnection>,
}

impl<'a> WriteTransaction<'a> {
    pub(super) async fn begin(writer: &'a Writer) -> Result<Self, sqlx::Error> {
        let mut connection = writer.lock().await;
        if begin(&mut connection).await.is_err() {
            // One that was dropped half-way, for instance with the request that it belonged to, is still open.
            roll_back(&mut connection).await;
            begin(&mut connection).await?;
        }
        Ok(Self { connection })
    }

    /// Returns when the transaction is synced to disk. On an error nothing of it is.
    pub async fn commit(mut self) -> Result<(), sqlx::Error> {
        let committed = sqlx::query("COMMIT").execute(&mut *self.connection).await;
        if committed.is_err() {
            roll_back(&mut self.connection).await;
        }
        committed.map(|_| ())
    }

    pub async fn roll_back(mut self) {
        roll_back(&mut self.connection).await;
    }
}

async fn begin(connection: &mut SqliteConnection) -> Result<(), sqlx::Error> {
    sqlx::query("BEGIN IMMEDIATE").execute(connection).await.map(|_| ())
}

/// An error here means that SQLite has rolled back by itself, as it does when the disk is full.
async fn roll_back(connection: &mut SqliteConnection) {
    if let Err(error) = sqlx::query("ROLLBACK").execute(connection).await {
        tracing::debug!(%error, "nothing to roll back");
    }
}

impl Deref for WriteTransaction<'_> {
    type Target = SqliteConnection;
    fn deref(&self) -> &SqliteConnection {
        &self.connection
    }
}

impl DerefMut for WriteTransaction<'_> {
    fn deref_mut(&mut self) -> &mut SqliteConnection {
        &mut self.connection
    }
}
