//! Projections: snapshots, records of blobs, sizes of notebooks.

use std::collections::BTreeMap;

use bytes::Bytes;
use notarium_record::{Hash, NotebookId, Version};
use sqlx::sqlite::SqliteRow;
use sqlx::{Row, SqliteConnection, SqlitePool};

use super::reader::{ReaderQuery, head_of};
use super::rows::{hash, integer};
use crate::event_store::{BlobRecord, EVENT_OVERHEAD_BYTES, NotebookSize, page};
use crate::snapshots::{Snapshot, thinned_out, within_gap};

/// Stores a snapshot; returns false if there is no such notebook.
pub(super) async fn put_snapshot(
    connection: &mut SqliteConnection,
    notebook: &NotebookId,
    snapshot: &Snapshot,
    max_gap: Version,
) -> Result<bool, sqlx::Error> {
    let sql = "INSERT OR REPLACE INTO snapshots (notebook, version, format, hash, recorded_at, checksum, state, base) \
               SELECT key, ?, ?, ?, ?, ?, ?, ? FROM notebooks WHERE id = ? AND erased = 0";
    let head = &snapshot.head;
    let query = sqlx::query(sql).bind(integer(head.version)).bind(snapshot.format).bind(head.hash.0.to_vec());
    let query = query.bind(integer(head.recorded_at)).bind(snapshot.checksum.0.to_vec());
    let query = query.bind(snapshot.state.to_vec()).bind(snapshot.base.map(integer)).bind(notebook.as_str());
    let is_known = query.execute(&mut *connection).await?.rows_affected() > 0;
    thin_out(connection, notebook, max_gap).await?;
    Ok(is_known)
}

async fn thin_out(
    connection: &mut SqliteConnection,
    notebook: &NotebookId,
    max_gap: Version,
) -> Result<(), sqlx::Error> {
    let sql = "SELECT version, base FROM snapshots WHERE notebook = (SELECT key FROM notebooks WHERE id = ?) ORDER BY version";
    let snapshots: Vec<(Version, Option<Version>)> =
        sqlx::query_as(sql).bind(notebook.as_str()).fetch_all(&mut *connection).await?;
    for version in thinned_out(&snapshots, max_gap) {
        delete_snapshot(notebook, version).execute(&mut *connection).await?;
    }
    Ok(())
}

/// Stores the authors of the characters at a version, and keeps one of these in `max_gap` versions, beside the newest. Returns false if
/// there is no such notebook.
pub(super) async fn put_blame(
    connection: &mut SqliteConnection,
    notebook: &NotebookId,
    version: Version,
    packed: &[u8],
    max_gap: Version,
) -> Result<bool, sqlx::Error> {
    let sql = "INSERT OR REPLACE INTO blames (notebook, version, state) SELECT key, ?, ? FROM notebooks WHERE id = ? AND erased = 0";
    let query = sqlx::query(sql).bind(integer(version)).bind(packed).bind(notebook.as_str());
    let is_known = query.execute(&mut *connection).await?.rows_affected() > 0;
    let sql = "SELECT version FROM blames WHERE notebook = (SELECT key FROM notebooks WHERE id = ?) ORDER BY version";
    let versions: Vec<Version> = sqlx::query_scalar(sql).bind(notebook.as_str()).fetch_all(&mut *connection).await?;
    for version in within_gap(&versions, max_gap) {
        let sql = "DELETE FROM blames WHERE notebook = (SELECT key FROM notebooks WHERE id = ?) AND version = ?";
        sqlx::query(sql).bind(notebook.as_str()).bind(integer(version)).execute(&mut *connection).await?;
    }
    Ok(is_known)
}

pub(super) async fn blame(
    pool: &SqlitePool,
    notebook: &NotebookId,
    at_most: Version,
) -> Result<Option<Bytes>, sqlx::Error> {
    let sql = "SELECT state FROM blames WHERE notebook = (SELECT key FROM notebooks WHERE id = ?) AND version <= ? \
               ORDER BY version DESC LIMIT 1";
    let query = sqlx::query_scalar(sql).bind(notebook.as_str()).bind(integer(at_most));
    let state: Option<Vec<u8>> = query.fetch_optional(pool).await?;
    Ok(state.map(Bytes::from))
}

pub(super) fn delete_snapshot<'a>(notebook: &'a NotebookId, version: Version) -> ReaderQuery<'a> {
    let sql = "DELETE FROM snapshots WHERE notebook = (SELECT key FROM notebooks WHERE id = ?) AND version = ?";
    sqlx::query(sql).bind(notebook.as_str()).bind(integer(version))
}

pub(super) async fn snapshot(
    pool: &SqlitePool,
    notebook: &NotebookId,
    at_most: Option<Version>,
) -> Result<Option<Snapshot>, sqlx::Error> {
    let sql = "SELECT version, hash, recorded_at, format, checksum, state, base FROM snapshots \
               WHERE notebook = (SELECT key FROM notebooks WHERE id = ?) AND version <= ? ORDER BY version DESC LIMIT 1";
    let at_most = at_most.map_or(i64::MAX, integer);
    let Some(row) = sqlx::query(sql).bind(notebook.as_str()).bind(at_most).fetch_optional(pool).await? else {
        return Ok(None);
    };
    let head = head_of(&row, 0)?;
    let (checksum, state) = (hash(row.try_get(4)?)?, Bytes::from(row.try_get::<Vec<u8>, _>(5)?));
    Ok(Some(Snapshot { format: row.try_get(3)?, version: head.version, head, checksum, base: row.try_get(6)?, state }))
}

/// Records a blob; returns false if there is no such notebook, or the blob is already recorded.
pub(super) async fn put_blob_record(
    connection: &mut SqliteConnection,
    record: &BlobRecord,
) -> Result<bool, sqlx::Error> {
    let sql = "INSERT INTO blobs (notebook, sha256, size_bytes, media_type, uploaded_by, created_at) \
               SELECT key, ?, ?, ?, ?, ? FROM notebooks WHERE id = ? AND erased = 0 ON CONFLICT DO NOTHING";
    let query = sqlx::query(sql).bind(record.sha256.0.to_vec()).bind(integer(record.size_bytes));
    let query = query.bind(record.media_type.as_deref()).bind(record.uploaded_by.as_str());
    let query = query.bind(integer(record.created_at)).bind(record.notebook_id.as_str());
    let is_new = query.execute(&mut *connection).await?.rows_affected() > 0;
    let sql = "DELETE FROM retired_blobs WHERE notebook = (SELECT key FROM notebooks WHERE id = ?) AND sha256 = ?";
    let back = sqlx::query(sql).bind(record.notebook_id.as_str()).bind(record.sha256.0.to_vec());
    back.execute(connection).await?;
    Ok(is_new)
}

fn blob(notebook: &NotebookId, row: &SqliteRow) -> Result<BlobRecord, sqlx::Error> {
    Ok(BlobRecord {
        notebook_id: notebook.clone(),
        sha256: hash(row.try_get(0)?)?,
        size_bytes: row.try_get(1)?,
        media_type: row.try_get(2)?,
        uploaded_by: row.try_get(3)?,
        created_at: row.try_get(4)?,
    })
}

pub(super) async fn blob_record(
    pool: &SqlitePool,
    notebook: &NotebookId,
    sha256: &Hash,
) -> Result<Option<BlobRecord>, sqlx::Error> {
    let sql = "SELECT sha256, size_bytes, media_type, uploaded_by, created_at FROM blobs \
               WHERE notebook = (SELECT key FROM notebooks WHERE id = ?) AND sha256 = ?";
    let row = sqlx::query(sql).bind(notebook.as_str()).bind(sha256.0.to_vec()).fetch_optional(pool).await?;
    row.map(|row| blob(notebook, &row)).transpose()
}

pub(super) async fn blob_records(
    pool: &SqlitePool,
    notebook: &NotebookId,
    after: Option<&Hash>,
    count: usize,
) -> Result<Vec<BlobRecord>, sqlx::Error> {
    let sql = "SELECT sha256, size_bytes, media_type, uploaded_by, created_at FROM blobs \
               WHERE notebook = (SELECT key FROM notebooks WHERE id = ?) AND sha256 > ? ORDER BY sha256 LIMIT ?";
    // An empty value sorts before every hash.
    let after = after.map_or_else(Vec::new, |hash| hash.0.to_vec());
    let count = i64::try_from(page(count)).unwrap_or(i64::MAX);
    let rows = sqlx::query(sql).bind(notebook.as_str()).bind(after).bind(count).fetch_all(pool).await?;
    rows.iter().map(|row| blob(notebook, row)).collect()
}

/// Number of events per query: short queries do not delay checkpoints of the write-ahead log.
const PAGE: i64 = 20_000;

pub(super) async fn sizes(pool: &SqlitePool) -> Result<Vec<NotebookSize>, sqlx::Error> {
    let mut sizes: BTreeMap<i64, (u64, u64)> = BTreeMap::new();
    let end: i64 = sqlx::query_scalar("SELECT coalesce(max(position), 0) FROM events").fetch_one(pool).await?;
    // SQLite stores a text's length before it, so the text itself is not read.
    let sql = "SELECT notebook, sum(octet_length(payload)), count(*) FROM \
               (SELECT notebook, payload FROM events WHERE position > ? AND position <= ?) GROUP BY notebook";
    for after in (0..end).step_by(PAGE as usize) {
        for row in sqlx::query(sql).bind(after).bind((after + PAGE).min(end)).fetch_all(pool).await? {
            let (bytes, events): (u64, u64) = (row.try_get(1)?, row.try_get(2)?);
            sizes.entry(row.try_get(0)?).or_default().0 += bytes + events * EVENT_OVERHEAD_BYTES;
        }
    }
    for row in sqlx::query("SELECT notebook, sum(size_bytes) FROM blobs GROUP BY notebook").fetch_all(pool).await? {
        sizes.entry(row.try_get(0)?).or_default().1 = row.try_get(1)?;
    }
    let rows = sqlx::query("SELECT key, id FROM notebooks").fetch_all(pool).await?;
    let mut found = Vec::with_capacity(sizes.len());
    for row in rows {
        let Some((log_bytes, blob_bytes)) = sizes.remove(&row.try_get(0)?) else { continue };
        let id = NotebookId::new(row.try_get::<&str, _>(1)?).map_err(|error| sqlx::Error::Decode(error.into()))?;
        found.push(NotebookSize { notebook_id: id, log_bytes, blob_bytes });
    }
    Ok(found)
}
