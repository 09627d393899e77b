//! Erasure of a notebook: deletes its rows in steps, so that commits of others wait for milliseconds; at last the files are purged.
//!
//! Invariant: the event that erased the notebook is on disk before the first step, and stays. After a crash [`unfinished`] names the
//! notebook, and every step can be repeated. From the first step on no projection of the notebook is written.

use notarium_record::{ERASED, NotebookId, Version};
use sqlx::{SqliteConnection, SqliteExecutor, SqlitePool};

use super::rows::integer;
use super::{Sqlite, removal};
use crate::store_error::StoreError;

/// Rows deleted in one step.
const STEP: i64 = 2_000;

/// Bits of a past line's id below the notebook's key.
const LINE_BITS: u32 = 40;

/// Tables with rows of one notebook that are small enough for one step.
const SMALL: [&str; 9] = [
    "DELETE FROM snapshots WHERE notebook = ?",
    "DELETE FROM catalog WHERE notebook = ?",
    "DELETE FROM catalog_access WHERE notebook = ?",
    "DELETE FROM catalog_text WHERE rowid = ?",
    "DELETE FROM blobs WHERE notebook = ?",
    "DELETE FROM retired_blobs WHERE notebook = ?",
    "DELETE FROM past_lines_read WHERE notebook = ?",
    "DELETE FROM notices WHERE notebook = (SELECT id FROM notebooks WHERE key = ?)",
    "DELETE FROM notice_positions WHERE notebook = (SELECT id FROM notebooks WHERE key = ?)",
];

/// A notebook whose last event erased it.
struct ErasedNotebook {
    key: i64,
    /// Version of that event.
    version: Version,
}

/// Deletes the notebook's rows; returns false if its last event is not an erasure.
pub(super) async fn erase(store: &Sqlite, notebook: &NotebookId) -> Result<bool, StoreError> {
    let found = find(&store.readers, notebook).await.map_err(|error| store.failed(error))?;
    let Some((erased, is_finished)) = found else { return Ok(false) };
    if is_finished {
        return Ok(true);
    }
    begin(store, notebook, erased.key).await?;
    let lines = erased.key << LINE_BITS..(erased.key + 1) << LINE_BITS;
    let range = [lines.start, lines.end];
    steps(
        store,
        "DELETE FROM past_lines_text WHERE rowid IN (SELECT rowid FROM past_lines_text \
                  WHERE rowid >= ? AND rowid < ? LIMIT ?)",
        range,
    )
    .await?;
    steps(
        store,
        "DELETE FROM past_lines WHERE id IN (SELECT id FROM past_lines WHERE id >= ? AND id < ? LIMIT ?)",
        range,
    )
    .await?;
    steps(
        store,
        "DELETE FROM blames WHERE notebook = ?1 AND version IN (SELECT version FROM blames \
                  WHERE notebook = ?1 AND version < ?2 LIMIT ?3)",
        [erased.key, i64::MAX],
    )
    .await?;
    delete_commands(store, &erased).await?;
    delete_events(store, &erased).await?;
    removal::purge(&store.writer).await.map_err(|error| store.failed(error))?;
    let done = sqlx::query("UPDATE notebooks SET erased = 2 WHERE key = ?").bind(erased.key);
    store.write(done).await.map(|_| true)
}

/// Finds a notebook whose last event erased it; true if nothing else is left of it.
async fn find(pool: &SqlitePool, notebook: &NotebookId) -> Result<Option<(ErasedNotebook, bool)>, sqlx::Error> {
    let sql = "SELECT n.key, e.version, n.erased FROM notebooks n JOIN heads h ON h.notebook = n.key \
               JOIN events e ON e.position = h.position WHERE n.id = ? AND e.type = ?";
    let row: Option<(i64, Version, i64)> =
        sqlx::query_as(sql).bind(notebook.as_str()).bind(ERASED).fetch_optional(pool).await?;
    Ok(row.map(|(key, version, erased)| (ErasedNotebook { key, version }, erased == 2)))
}

/// Closes the notebook for projections, and deletes those whose rows are few.
async fn begin(store: &Sqlite, notebook: &NotebookId, key: i64) -> Result<(), StoreError> {
    let mut transaction = store.begin().await?;
    let begun = delete_small(&mut transaction, notebook, key).await;
    begun.map_err(|error| store.failed(error))?;
    store.commit(transaction).await
}

async fn delete_small(connection: &mut SqliteConnection, notebook: &NotebookId, key: i64) -> Result<(), sqlx::Error> {
    let mark = sqlx::query("UPDATE notebooks SET erased = 1 WHERE key = ?").bind(key);
    mark.execute(&mut *connection).await?;
    for sql in SMALL {
        sqlx::query(sql).bind(key).execute(&mut *connection).await?;
    }
    let links = sqlx::query("DELETE FROM share_links WHERE notebook_id = ?").bind(notebook.as_str());
    links.execute(&mut *connection).await.map(drop)
}

/// Repeats a deletion of at most [`STEP`] rows until none is left.
async fn steps(store: &Sqlite, sql: &'static str, range: [i64; 2]) -> Result<(), StoreError> {
    while store.write(sqlx::query(sql).bind(range[0]).bind(range[1]).bind(STEP)).await? > 0 {
        tokio::task::yield_now().await;
    }
    Ok(())
}

/// Deletes the records of commands, but for the one that erased the notebook. No index finds them by notebook.
async fn delete_commands(store: &Sqlite, erased: &ErasedNotebook) -> Result<(), StoreError> {
    let sql = "SELECT command_id, actor FROM commands WHERE notebook = ? AND version < ?";
    let query = sqlx::query_as(sql).bind(erased.key).bind(integer(erased.version));
    let found: Vec<(String, i64)> = query.fetch_all(&store.readers).await.map_err(|error| store.failed(error))?;
    for step in found.chunks(usize::try_from(STEP).unwrap_or(1)) {
        let places = serde_json::to_string(step).map_err(|error| store.failed(sqlx::Error::Encode(error.into())))?;
        let sql = "DELETE FROM commands WHERE (command_id, notebook, actor) IN \
                   (SELECT value ->> 0, ?, value ->> 1 FROM json_each(?))";
        store.write(sqlx::query(sql).bind(erased.key).bind(places)).await?;
        tokio::task::yield_now().await;
    }
    Ok(())
}

/// Deletes the events from the first on, with their places.
async fn delete_events(store: &Sqlite, erased: &ErasedNotebook) -> Result<(), StoreError> {
    for table in ["places", "recent_places"] {
        loop {
            let mut transaction = store.begin().await?;
            let deleted = delete_placed(&mut transaction, table, erased).await;
            let deleted = deleted.map_err(|error| store.failed(error))?;
            store.commit(transaction).await?;
            if deleted == 0 {
                break;
            }
            tokio::task::yield_now().await;
        }
    }
    Ok(())
}

async fn delete_placed(
    connection: &mut SqliteConnection,
    table: &str,
    erased: &ErasedNotebook,
) -> Result<u64, sqlx::Error> {
    let first = format!("FROM {table} WHERE notebook = ? AND version < ? ORDER BY version LIMIT ?");
    let sql = format!("SELECT version, position {first}");
    let query = sqlx::query_as(sqlx::AssertSqlSafe(sql)).bind(erased.key).bind(integer(erased.version)).bind(STEP);
    let found: Vec<(i64, i64)> = query.fetch_all(&mut *connection).await?;
    let Some((last, _)) = found.last() else { return Ok(0) };
    let positions: Vec<i64> = found.iter().map(|(_, position)| *position).collect();
    let positions = serde_json::to_string(&positions).map_err(|error| sqlx::Error::Encode(error.into()))?;
    let sql = "DELETE FROM events WHERE position IN (SELECT value FROM json_each(?)) AND notebook = ?";
    sqlx::query(sql).bind(positions).bind(erased.key).execute(&mut *connection).await?;
    let sql = format!("DELETE FROM {table} WHERE notebook = ? AND version <= ?");
    let query = sqlx::query(sqlx::AssertSqlSafe(sql)).bind(erased.key).bind(last);
    query.execute(connection).await.map(|_| found.len() as u64)
}

/// Returns notebooks that are erased in the log and not, or not completely, in the tables.
pub(super) async fn unfinished(database: impl SqliteExecutor<'_>) -> Result<Vec<NotebookId>, sqlx::Error> {
    let sql = "SELECT n.id FROM events e JOIN notebooks n ON n.key = e.notebook WHERE e.type = 'NotebookErased' AND n.erased < 2";
    let ids: Vec<String> = sqlx::query_scalar(sql).fetch_all(database).await?;
    ids.iter().map(|id| NotebookId::new(id).map_err(|error| sqlx::Error::Decode(error.into()))).collect()
}
