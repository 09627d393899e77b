//! Removal of content: payloads are replaced in the transaction that records it, and what is derived from the notebook goes. Afterwards the
//! files are purged: SQLite leaves old bytes in free pages, in the index of words, and in the write-ahead log.
//!
//! The test `every_column_is_known` lists where texts of notebooks are, and how each place forgets.

use std::time::Duration;

use notarium_record::{ContentRemoval, Hash, NotebookId};
use sqlx::{Row, SqliteConnection, SqlitePool};

use super::open::BUSY_TIMEOUT;
use super::rows::{hash, integer};
use super::transaction::Writer;

/// Time between attempts to empty the write-ahead log while readers hold it.
const RETRY: Duration = Duration::from_millis(50);

/// Attempts to empty the write-ahead log; its readers are queries of milliseconds to seconds.
const ATTEMPTS: usize = 600;

/// Forgets by a statement with the notebook's key as its only value. Blames hold versions and lengths only.
const FORGET: [&str; 6] = [
    "DELETE FROM snapshots WHERE notebook = ?",
    // Written anew at once, with a later version than any that has the content.
    "UPDATE catalog SET title = '', template = NULL, version = (SELECT e.version FROM heads h JOIN events e ON e.position = h.position \
     WHERE h.notebook = catalog.notebook) WHERE notebook = ?",
    "DELETE FROM catalog_text WHERE rowid = ?",
    "DELETE FROM past_lines_text WHERE rowid IN (SELECT id FROM past_lines WHERE id >> 40 = ?)",
    "DELETE FROM past_lines WHERE id >> 40 = ?",
    "DELETE FROM past_lines_read WHERE notebook = ?",
];

/// Replaces payloads, and forgets what is derived from them. A digest of a command would allow guesses of a short text.
pub(super) async fn remove(
    connection: &mut SqliteConnection,
    notebook: &NotebookId,
    removal: &ContentRemoval,
) -> Result<(), sqlx::Error> {
    let key: i64 = sqlx::query_scalar("SELECT key FROM notebooks WHERE id = ?")
        .bind(notebook.as_str())
        .fetch_one(&mut *connection)
        .await?;
    for stand_in in &removal.stand_ins {
        let sql = "UPDATE events SET payload = ?3, salt = NULL WHERE position = coalesce(\
                   (SELECT position FROM places WHERE notebook = ?1 AND version = ?2), \
                   (SELECT position FROM recent_places WHERE notebook = ?1 AND version = ?2)) RETURNING command_id";
        let query = sqlx::query(sql).bind(key).bind(integer(stand_in.version)).bind(stand_in.payload.get());
        let row = query.fetch_one(&mut *connection).await?;
        let sql = "UPDATE commands SET digest = zeroblob(32), outcome = json_remove(outcome, '$.notices') \
                   WHERE notebook = ? AND command_id = ?";
        let query = sqlx::query(sql).bind(key).bind(row.try_get::<String, _>(0)?);
        query.execute(&mut *connection).await?;
    }
    for sql in FORGET {
        sqlx::query(sql).bind(key).execute(&mut *connection).await?;
    }
    for sha256 in &removal.blobs {
        let sql = "DELETE FROM blobs WHERE notebook = ? AND sha256 = ?";
        sqlx::query(sql).bind(key).bind(sha256.0.to_vec()).execute(&mut *connection).await?;
        let sql = "INSERT INTO purges_due (notebook, sha256) VALUES (?, ?)";
        sqlx::query(sql).bind(key).bind(sha256.0.to_vec()).execute(&mut *connection).await?;
    }
    sqlx::query("INSERT INTO purges_due (notebook) VALUES (?)").bind(key).execute(connection).await.map(|_| ())
}

/// Removes old bytes from the files. Takes about a second per 100 MB, in which writes wait.
pub(super) async fn purge(writer: &Writer) -> Result<(), sqlx::Error> {
    rewrite(&mut *writer.lock().await).await?;
    for _ in 0..ATTEMPTS {
        let mut connection = writer.lock().await;
        if empty_log(&mut connection).await? {
            let sql = "DELETE FROM purges_due WHERE sha256 IS NULL";
            return sqlx::query(sql).execute(&mut **connection).await.map(|_| ());
        }
        drop(connection);
        tokio::time::sleep(RETRY).await;
    }
    Err(sqlx::Error::Protocol("a reader holds the write-ahead log".to_owned()))
}

/// Finishes what a crash has cut off, when the database is opened.
pub(super) async fn finish(connection: &mut SqliteConnection) -> Result<(), sqlx::Error> {
    let sql = "SELECT EXISTS (SELECT 1 FROM purges_due WHERE sha256 IS NULL)";
    if !sqlx::query_scalar(sql).fetch_one(&mut *connection).await? {
        return Ok(());
    }
    rewrite(connection).await?;
    empty_log(connection).await?;
    sqlx::query("DELETE FROM purges_due WHERE sha256 IS NULL").execute(connection).await.map(|_| ())
}

/// Rewrites the database without its free pages.
async fn rewrite(connection: &mut SqliteConnection) -> Result<(), sqlx::Error> {
    // Merges the segments of the indexes, which still have deleted words.
    sqlx::query("INSERT INTO catalog_text(catalog_text) VALUES ('optimize')").execute(&mut *connection).await?;
    sqlx::query("INSERT INTO past_lines_text(past_lines_text) VALUES ('optimize')").execute(&mut *connection).await?;
    sqlx::query("VACUUM").execute(connection).await.map(|_| ())
}

/// Copies the write-ahead log into the database and cuts it to nothing; returns false if a reader still needs it.
async fn empty_log(connection: &mut SqliteConnection) -> Result<bool, sqlx::Error> {
    // Others need the connection while a reader is waited for.
    sqlx::query("PRAGMA busy_timeout = 0").execute(&mut *connection).await?;
    let done = sqlx::query("PRAGMA wal_checkpoint(TRUNCATE)").fetch_one(&mut *connection).await;
    let timeout = sqlx::AssertSqlSafe(format!("PRAGMA busy_timeout = {}", BUSY_TIMEOUT.as_millis()));
    sqlx::query(timeout).execute(connection).await?;
    Ok(done?.try_get::<i64, _>(0)? == 0)
}

pub(super) async fn blobs_to_purge(pool: &SqlitePool) -> Result<Vec<(NotebookId, Hash)>, sqlx::Error> {
    let sql =
        "SELECT n.id, p.sha256 FROM purges_due p JOIN notebooks n ON n.key = p.notebook WHERE p.sha256 IS NOT NULL";
    let rows = sqlx::query(sql).fetch_all(pool).await?;
    let due = rows.iter().map(|row| {
        let id = NotebookId::new(row.try_get::<&str, _>(0)?).map_err(|error| sqlx::Error::Decode(error.into()))?;
        Ok((id, hash(row.try_get(1)?)?))
    });
    due.collect()
}
