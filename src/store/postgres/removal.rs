//! Removal of content: payloads are replaced in the transaction that records it, and what is derived from the notebook goes. Afterwards the
//! old rows are removed from the tables' files. What remains in PostgreSQL's write-ahead log and in its backups is its operator's.

use futures_util::future::BoxFuture;
use notarium_record::{ContentRemoval, ERASED, Hash, NotebookId, Version};
use sqlx::postgres::PgPool;
use sqlx::{AssertSqlSafe, PgConnection, PgExecutor, Row};

use super::reader::{Query, decode, hash, notebook_id, number};
use super::rows::integer;
use super::{Postgres, cold, transact};
use crate::event_store::EVENT_OVERHEAD_BYTES;
use crate::store_error::StoreError;

/// Forgets by a statement with the notebook as its only value. Blames hold versions and lengths only.
const FORGET: [&str; 4] = [
    "DELETE FROM snapshots WHERE notebook = $1",
    // Written anew at once, with a later version than any that has the content.
    "UPDATE catalog SET title = '', template = NULL, words = '', version = (SELECT version FROM notebooks WHERE id = $1) \
     WHERE notebook = $1",
    "DELETE FROM past_lines WHERE notebook = $1",
    "DELETE FROM past_lines_read WHERE notebook = $1",
];

/// Tables from which content may have been removed.
const PURGED: [&str; 8] =
    ["events", "commands", "snapshots", "catalog", "past_lines", "past_lines_read", "blobs", "blames"];

/// Size of a table up to which it is rewritten as a whole, which keeps its writers waiting for seconds.
const MAX_REWRITTEN_BYTES: i64 = 1 << 30;

/// Replaces payloads, and forgets what is derived from them. A digest of a command would allow guesses of a short text.
pub(super) async fn remove(
    connection: &mut PgConnection,
    notebook: &NotebookId,
    removal: &ContentRemoval,
) -> Result<(), sqlx::Error> {
    let sql = "SELECT EXISTS (SELECT 1 FROM segments WHERE notebook = $1)";
    if sqlx::query_scalar(sql).bind(notebook.as_str()).fetch_one(&mut *connection).await? {
        return Err(decode("old events of the notebook have been moved to an object: try again"));
    }
    for stand_in in &removal.stand_ins {
        let sql =
            "UPDATE events SET payload = $3, salt = NULL WHERE notebook = $1 AND version = $2 RETURNING command_id";
        let query = sqlx::query_scalar(sql).bind(notebook.as_str()).bind(integer(stand_in.version));
        let command: String = query.bind(stand_in.payload.get().as_bytes()).fetch_one(&mut *connection).await?;
        forget_answers(connection, notebook, &command).await?;
    }
    for sql in FORGET {
        sqlx::query(sql).bind(notebook.as_str()).execute(&mut *connection).await?;
    }
    count_bytes(connection, notebook).await?;
    for sha256 in &removal.blobs {
        let sql = "DELETE FROM blobs WHERE notebook = $1 AND sha256 = $2";
        sqlx::query(sql).bind(notebook.as_str()).bind(sha256.0.as_slice()).execute(&mut *connection).await?;
        note_due(connection, notebook, &sha256.0).await?;
    }
    note_due(connection, notebook, &[]).await
}

/// Removes the digest and the notices of a command's records.
async fn forget_answers(
    connection: &mut PgConnection,
    notebook: &NotebookId,
    command: &str,
) -> Result<(), sqlx::Error> {
    let sql = "SELECT actor, outcome FROM commands WHERE notebook = $1 AND command_id = $2";
    for row in sqlx::query(sql).bind(notebook.as_str()).bind(command).fetch_all(&mut *connection).await? {
        let mut outcome: serde_json::Value = serde_json::from_str(row.try_get(1)?).map_err(decode)?;
        if let Some(fields) = outcome.as_object_mut() {
            fields.shift_remove("notices");
        }
        let sql =
            "UPDATE commands SET digest = $4, outcome = $5 WHERE notebook = $1 AND command_id = $2 AND actor = $3";
        let query = sqlx::query(sql).bind(notebook.as_str()).bind(command).bind(row.try_get::<&str, _>(0)?);
        query.bind([0_u8; 32].as_slice()).bind(outcome.to_string()).execute(&mut *connection).await?;
    }
    Ok(())
}

/// Counts the bytes of the notebook's log anew.
pub(super) async fn count_bytes(connection: &mut PgConnection, notebook: &NotebookId) -> Result<(), sqlx::Error> {
    let sql = "UPDATE notebooks SET log_bytes = (SELECT coalesce(sum(octet_length(payload)) + count(*) * $2, 0) FROM events \
               WHERE notebook = $1) WHERE id = $1";
    sqlx::query(sql).bind(notebook.as_str()).bind(integer(EVENT_OVERHEAD_BYTES)).execute(connection).await.map(drop)
}

/// Notes bytes of a blob that are to be deleted, or, without a hash, rows.
async fn note_due(connection: &mut PgConnection, notebook: &NotebookId, sha256: &[u8]) -> Result<(), sqlx::Error> {
    let sql = "INSERT INTO purges_due (notebook, sha256) VALUES ($1, $2) ON CONFLICT DO NOTHING";
    sqlx::query(sql).bind(notebook.as_str()).bind(sha256).execute(connection).await.map(drop)
}

/// Removes old rows from the files of the tables.
pub(super) async fn purge(pool: &PgPool) -> Result<(), sqlx::Error> {
    for table in PURGED {
        vacuum(pool, table).await?;
    }
    sqlx::query("DELETE FROM purges_due WHERE sha256 = ''").execute(pool).await.map(drop)
}

fn vacuum<'a>(pool: &'a PgPool, table: &'static str) -> BoxFuture<'a, Result<(), sqlx::Error>> {
    Box::pin(async move {
        let sql = "SELECT coalesce(sum(pg_total_relation_size(relid)), 0)::bigint FROM pg_partition_tree($1::regclass)";
        let parts: i64 = sqlx::query_scalar(sql).bind(table).fetch_one(pool).await?;
        // A plain VACUUM leaves the bytes of removed rows where no new row has come.
        let mode = if parts <= MAX_REWRITTEN_BYTES { "(FULL)" } else { "" };
        sqlx::query(AssertSqlSafe(format!("VACUUM {mode} {table}"))).execute(pool).await.map(drop)
    })
}

/// Finishes what a crash has cut off.
pub(super) async fn finish(pool: &PgPool) -> Result<(), sqlx::Error> {
    let sql = "SELECT EXISTS (SELECT 1 FROM purges_due WHERE sha256 = '')";
    if sqlx::query_scalar(sql).fetch_one(pool).await? { purge(pool).await } else { Ok(()) }
}

pub(super) async fn blobs_to_purge(pool: &PgPool) -> Result<Vec<(NotebookId, Hash)>, sqlx::Error> {
    let rows = sqlx::query("SELECT notebook, sha256 FROM purges_due WHERE sha256 <> ''").fetch_all(pool).await?;
    rows.iter().map(|row| Ok((notebook_id(row, 0)?, hash(row, 1)?))).collect()
}

pub(super) fn blob_purged<'a>(notebook: &'a NotebookId, sha256: &'a Hash) -> Query<'a> {
    let sql = "DELETE FROM purges_due WHERE notebook = $1 AND sha256 = $2";
    sqlx::query(sql).bind(notebook.as_str()).bind(sha256.0.as_slice())
}

// --- erasure ---

/// Rows deleted in one step.
const STEP: i64 = 2_000;

/// Tables with rows of one notebook that are small enough for one step.
const SMALL: [&str; 10] = [
    "DELETE FROM segments WHERE notebook = $1",
    "DELETE FROM snapshots WHERE notebook = $1",
    "DELETE FROM catalog WHERE notebook = $1",
    "DELETE FROM catalog_access WHERE notebook = $1",
    "DELETE FROM blobs WHERE notebook = $1",
    "DELETE FROM retired_blobs WHERE notebook = $1",
    "DELETE FROM past_lines_read WHERE notebook = $1",
    "DELETE FROM share_links WHERE notebook_id = $1",
    "DELETE FROM notices WHERE notebook = $1",
    "DELETE FROM notice_positions WHERE notebook = $1",
];

/// Tables from which rows below a number are deleted in steps.
const LARGE: [(&str, &str); 4] =
    [("past_lines", "number"), ("blames", "version"), ("commands", "version"), ("events", "version")];

/// Deletes all but the last event of an erased notebook, in steps; returns false if its last event is not an erasure. After a crash every
/// step can be repeated.
pub(super) async fn erase(store: &Postgres, notebook: &NotebookId) -> Result<bool, StoreError> {
    let Some((version, is_finished)) = store.read_from(|| find(store.pool(), notebook)).await? else {
        return Ok(false);
    };
    if is_finished {
        return Ok(true);
    }
    cold::delete_objects(store, notebook).await?;
    transact!(store, connection => begin(connection, notebook))?;
    for (table, column) in LARGE {
        let end = if matches!(table, "commands" | "events") { integer(version) } else { i64::MAX };
        while transact!(store, connection => step(connection, notebook, table, column, end))? > 0 {}
    }
    store.maintain(|| purge(store.pool())).await?;
    transact!(store, connection => finish_erasure(connection, notebook))?;
    Ok(true)
}

/// Finds the version of the last event, if that erased the notebook; true if nothing else is left of it.
async fn find(pool: &PgPool, notebook: &NotebookId) -> Result<Option<(Version, bool)>, sqlx::Error> {
    let sql = "SELECT n.version, n.erased FROM notebooks n JOIN events e ON e.notebook = n.id AND e.version = n.version \
               WHERE n.id = $1 AND e.type = $2";
    let row = sqlx::query(sql).bind(notebook.as_str()).bind(ERASED).fetch_optional(pool).await?;
    row.map(|row| Ok((number(&row, 0)?, row.try_get::<i32, _>(1)? == 2))).transpose()
}

async fn begin(connection: &mut PgConnection, notebook: &NotebookId) -> Result<(), sqlx::Error> {
    let mark = sqlx::query("UPDATE notebooks SET erased = 1 WHERE id = $1").bind(notebook.as_str());
    mark.execute(&mut *connection).await?;
    for sql in SMALL {
        sqlx::query(sql).bind(notebook.as_str()).execute(&mut *connection).await?;
    }
    Ok(())
}

async fn step(
    connection: &mut PgConnection,
    notebook: &NotebookId,
    table: &str,
    column: &str,
    end: i64,
) -> Result<u64, sqlx::Error> {
    let sql = format!(
        "DELETE FROM {table} WHERE notebook = $1 AND {column} IN \
         (SELECT {column} FROM {table} WHERE notebook = $1 AND {column} < $2 ORDER BY {column} LIMIT $3)"
    );
    let query = sqlx::query(AssertSqlSafe(sql)).bind(notebook.as_str()).bind(end).bind(STEP);
    Ok(query.execute(connection).await?.rows_affected())
}

async fn finish_erasure(connection: &mut PgConnection, notebook: &NotebookId) -> Result<(), sqlx::Error> {
    count_bytes(connection, notebook).await?;
    let sql = "UPDATE notebooks SET erased = 2 WHERE id = $1";
    sqlx::query(sql).bind(notebook.as_str()).execute(connection).await.map(drop)
}

/// Returns notebooks that are erased in the log and not, or not completely, in the tables.
pub(super) async fn unfinished(database: impl PgExecutor<'_>) -> Result<Vec<NotebookId>, sqlx::Error> {
    let sql = "SELECT n.id FROM events e JOIN notebooks n ON n.id = e.notebook WHERE e.type = 'NotebookErased' AND n.erased < 2";
    let rows = sqlx::query(sql).fetch_all(database).await?;
    rows.iter().map(|row| notebook_id(row, 0)).collect()
}
