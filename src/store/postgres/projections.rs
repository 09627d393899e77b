//! Projections: snapshots, blames, records of blobs, sizes of notebooks, the tree of heads.
//!
//! A derived row is written only while the notebook is not erased: the lock on its row waits for an erasure that begins.

use bytes::Bytes;
use notarium_record::{Epoch, Hash, Head, Millis, NotebookId, Version};
use sqlx::postgres::{PgPool, PgRow};
use sqlx::{PgConnection, Row};

use super::reader::{Query, hash, head_of, listed_heads, notebook_id, number, optional_number, page_limit};
use super::rows::integer;
use crate::event_store::{BlobRecord, NotebookSize};
use crate::logged_head::LoggedHead;
use crate::snapshots::{Snapshot, thinned_out, within_gap};

/// Permission to write a derived row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RowHold {
    Yes,
    /// There is no such notebook, or it is erased.
    Unknown,
    /// Another process has taken the lease: it may have removed what the row holds.
    Fenced,
}

impl RowHold {
    /// True unless there is no such notebook. A fenced row is left out: it is a cache.
    pub(super) fn is_known(self) -> bool {
        self != RowHold::Unknown
    }
}

/// Locks the row of a notebook that is there and not erased, until the transaction ends. `epoch`: that of this process's lease.
pub(super) async fn hold(
    connection: &mut PgConnection,
    notebook: &NotebookId,
    epoch: Option<Epoch>,
) -> Result<RowHold, sqlx::Error> {
    let sql = "SELECT epoch FROM notebooks WHERE id = $1 AND version > 0 AND erased = 0 FOR SHARE";
    let row = sqlx::query(sql).bind(notebook.as_str()).fetch_optional(connection).await?;
    let Some(found) = row.map(|row| number(&row, 0)).transpose()? else { return Ok(RowHold::Unknown) };
    Ok(if epoch.is_none_or(|epoch| epoch == found) { RowHold::Yes } else { RowHold::Fenced })
}

// --- snapshots ---

/// Stores a snapshot; returns false if there is no such notebook.
pub(super) async fn put_snapshot(
    connection: &mut PgConnection,
    notebook: &NotebookId,
    snapshot: &Snapshot,
    max_gap: Version,
    epoch: Option<Epoch>,
) -> Result<bool, sqlx::Error> {
    let held = hold(connection, notebook, epoch).await?;
    if held != RowHold::Yes {
        return Ok(held.is_known());
    }
    let sql = "INSERT INTO snapshots (notebook, version, format, hash, recorded_at, checksum, state, base) \
               VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (notebook, version) DO UPDATE SET format = EXCLUDED.format, \
               hash = EXCLUDED.hash, recorded_at = EXCLUDED.recorded_at, checksum = EXCLUDED.checksum, state = EXCLUDED.state, \
               base = EXCLUDED.base";
    let head = &snapshot.head;
    let query = sqlx::query(sql).bind(notebook.as_str()).bind(integer(head.version));
    let query = query.bind(i32::try_from(snapshot.format).unwrap_or(i32::MAX)).bind(head.hash.0.as_slice());
    let query = query.bind(integer(head.recorded_at)).bind(snapshot.checksum.0.as_slice()).bind(&snapshot.state[..]);
    query.bind(snapshot.base.map(integer)).execute(&mut *connection).await?;
    let sql = "SELECT version, base FROM snapshots WHERE notebook = $1 ORDER BY version";
    let rows = sqlx::query(sql).bind(notebook.as_str()).fetch_all(&mut *connection).await?;
    let there = rows.iter().map(|row| Ok((number(row, 0)?, optional_number(row, 1)?)));
    let there = there.collect::<Result<Vec<(Version, Option<Version>)>, sqlx::Error>>()?;
    let gone: Vec<i64> = thinned_out(&there, max_gap).into_iter().map(integer).collect();
    if !gone.is_empty() {
        let sql = "DELETE FROM snapshots WHERE notebook = $1 AND version = ANY($2)";
        sqlx::query(sql).bind(notebook.as_str()).bind(gone).execute(connection).await?;
    }
    Ok(true)
}

pub(super) async fn snapshot(
    pool: &PgPool,
    notebook: &NotebookId,
    at_most: Option<Version>,
) -> Result<Option<Snapshot>, sqlx::Error> {
    let sql = "SELECT version, hash, recorded_at, format, checksum, state, base FROM snapshots \
               WHERE notebook = $1 AND version <= $2 ORDER BY version DESC LIMIT 1";
    let query = sqlx::query(sql).bind(notebook.as_str()).bind(at_most.map_or(i64::MAX, integer));
    let Some(row) = query.fetch_optional(pool).await? else { return Ok(None) };
    let head = head_of(&row, 0)?;
    Ok(Some(Snapshot {
        format: u32::try_from(row.try_get::<i32, _>(3)?).unwrap_or(0),
        version: head.version,
        head,
        checksum: hash(&row, 4)?,
        state: Bytes::from(row.try_get::<Vec<u8>, _>(5)?),
        base: optional_number(&row, 6)?,
    }))
}

pub(super) fn delete_snapshot(notebook: &NotebookId, version: Version) -> Query<'_> {
    sqlx::query("DELETE FROM snapshots WHERE notebook = $1 AND version = $2")
        .bind(notebook.as_str())
        .bind(integer(version))
}

/// Snapshots before a time, but for the newest of each notebook and those on which a kept one builds.
macro_rules! old_snapshots {
    ($begin:literal) => {
        concat!(
            $begin,
            " FROM snapshots AS s WHERE s.recorded_at < $1 \
             AND s.version < (SELECT max(version) FROM snapshots WHERE notebook = s.notebook) \
             AND NOT EXISTS (SELECT 1 FROM snapshots AS d WHERE d.notebook = s.notebook AND d.base = s.version AND (d.recorded_at >= $1 \
             OR d.version = (SELECT max(version) FROM snapshots WHERE notebook = s.notebook)))"
        )
    };
}

pub(super) fn delete_old_snapshots<'a>(before: Millis) -> Query<'a> {
    sqlx::query(old_snapshots!("DELETE")).bind(integer(before))
}

pub(super) async fn count_old_snapshots(pool: &PgPool, before: Millis) -> Result<u64, sqlx::Error> {
    let row = sqlx::query(old_snapshots!("SELECT count(*)")).bind(integer(before)).fetch_one(pool).await?;
    number(&row, 0)
}

// --- blames ---

/// Stores the authors of the characters at a version; returns false if there is no such notebook.
pub(super) async fn put_blame(
    connection: &mut PgConnection,
    notebook: &NotebookId,
    version: Version,
    packed: &[u8],
    max_gap: Version,
    epoch: Option<Epoch>,
) -> Result<bool, sqlx::Error> {
    let held = hold(connection, notebook, epoch).await?;
    if held != RowHold::Yes {
        return Ok(held.is_known());
    }
    let sql = "INSERT INTO blames (notebook, version, state) VALUES ($1, $2, $3) \
               ON CONFLICT (notebook, version) DO UPDATE SET state = EXCLUDED.state";
    let query = sqlx::query(sql).bind(notebook.as_str()).bind(integer(version)).bind(packed);
    query.execute(&mut *connection).await?;
    let sql = "SELECT version FROM blames WHERE notebook = $1 ORDER BY version";
    let rows = sqlx::query(sql).bind(notebook.as_str()).fetch_all(&mut *connection).await?;
    let versions = rows.iter().map(|row| number(row, 0)).collect::<Result<Vec<Version>, sqlx::Error>>()?;
    let gone: Vec<i64> = within_gap(&versions, max_gap).into_iter().map(integer).collect();
    let sql = "DELETE FROM blames WHERE notebook = $1 AND version = ANY($2)";
    sqlx::query(sql).bind(notebook.as_str()).bind(gone).execute(connection).await.map(|_| true)
}

pub(super) async fn blame(
    pool: &PgPool,
    notebook: &NotebookId,
    at_most: Version,
) -> Result<Option<Bytes>, sqlx::Error> {
    let sql = "SELECT state FROM blames WHERE notebook = $1 AND version <= $2 ORDER BY version DESC LIMIT 1";
    let query = sqlx::query_scalar(sql).bind(notebook.as_str()).bind(integer(at_most));
    let state: Option<Vec<u8>> = query.fetch_optional(pool).await?;
    Ok(state.map(Bytes::from))
}

// --- blobs ---

/// Records a blob; returns false if there is no such notebook.
pub(super) async fn put_blob_record(connection: &mut PgConnection, record: &BlobRecord) -> Result<bool, sqlx::Error> {
    let (notebook, sha256) = (record.notebook_id.as_str(), record.sha256.0.as_slice());
    if hold(connection, &record.notebook_id, None).await? != RowHold::Yes {
        return Ok(false);
    }
    let sql = "INSERT INTO blobs (notebook, sha256, size_bytes, media_type, uploaded_by, created_at) \
               VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING";
    let query = sqlx::query(sql).bind(notebook).bind(sha256).bind(integer(record.size_bytes));
    let query = query.bind(record.media_type.as_deref()).bind(record.uploaded_by.as_str());
    query.bind(integer(record.created_at)).execute(&mut *connection).await?;
    let back = sqlx::query("DELETE FROM retired_blobs WHERE notebook = $1 AND sha256 = $2").bind(notebook).bind(sha256);
    back.execute(connection).await.map(|_| true)
}

fn blob(notebook: &NotebookId, row: &PgRow) -> Result<BlobRecord, sqlx::Error> {
    Ok(BlobRecord {
        notebook_id: notebook.clone(),
        sha256: hash(row, 0)?,
        size_bytes: number(row, 1)?,
        media_type: row.try_get(2)?,
        uploaded_by: row.try_get(3)?,
        created_at: number(row, 4)?,
    })
}

pub(super) async fn blob_record(
    pool: &PgPool,
    notebook: &NotebookId,
    sha256: &Hash,
) -> Result<Option<BlobRecord>, sqlx::Error> {
    let sql =
        "SELECT sha256, size_bytes, media_type, uploaded_by, created_at FROM blobs WHERE notebook = $1 AND sha256 = $2";
    let row = sqlx::query(sql).bind(notebook.as_str()).bind(sha256.0.as_slice()).fetch_optional(pool).await?;
    row.map(|row| blob(notebook, &row)).transpose()
}

pub(super) async fn blob_records(
    pool: &PgPool,
    notebook: &NotebookId,
    after: Option<&Hash>,
    count: usize,
) -> Result<Vec<BlobRecord>, sqlx::Error> {
    let sql = "SELECT sha256, size_bytes, media_type, uploaded_by, created_at FROM blobs \
               WHERE notebook = $1 AND sha256 > $2 ORDER BY sha256 LIMIT $3";
    // An empty value sorts before every hash.
    let after = after.map_or(&[][..], |hash| hash.0.as_slice());
    let query = sqlx::query(sql).bind(notebook.as_str()).bind(after).bind(page_limit(count));
    query.fetch_all(pool).await?.iter().map(|row| blob(notebook, row)).collect()
}

pub(super) fn delete_blob<'a>(notebook: &'a NotebookId, sha256: &'a Hash) -> Query<'a> {
    let sql = "DELETE FROM blobs WHERE notebook = $1 AND sha256 = $2";
    sqlx::query(sql).bind(notebook.as_str()).bind(sha256.0.as_slice())
}

pub(super) async fn retire_blob(
    connection: &mut PgConnection,
    notebook: &NotebookId,
    sha256: &Hash,
    at: Millis,
) -> Result<(), sqlx::Error> {
    if hold(connection, notebook, None).await? == RowHold::Yes {
        let sql = "INSERT INTO retired_blobs (notebook, sha256, retired_at) VALUES ($1, $2, $3) \
                   ON CONFLICT (notebook, sha256) DO UPDATE SET retired_at = EXCLUDED.retired_at";
        let query = sqlx::query(sql).bind(notebook.as_str()).bind(sha256.0.as_slice()).bind(integer(at));
        query.execute(&mut *connection).await?;
    }
    delete_blob(notebook, sha256).execute(connection).await.map(drop)
}

pub(super) async fn retired_blob(
    pool: &PgPool,
    notebook: &NotebookId,
    sha256: &Hash,
) -> Result<Option<Millis>, sqlx::Error> {
    let sql = "SELECT retired_at FROM retired_blobs WHERE notebook = $1 AND sha256 = $2";
    let row = sqlx::query(sql).bind(notebook.as_str()).bind(sha256.0.as_slice()).fetch_optional(pool).await?;
    row.map(|row| number(&row, 0)).transpose()
}

// --- sizes, the tree of heads ---

pub(super) async fn sizes(pool: &PgPool) -> Result<Vec<NotebookSize>, sqlx::Error> {
    let sql = "SELECT n.id, n.log_bytes, coalesce(b.bytes, 0)::bigint FROM notebooks n \
               LEFT JOIN (SELECT notebook, sum(size_bytes) AS bytes FROM blobs GROUP BY notebook) b ON b.notebook = n.id \
               WHERE n.version > 0";
    let rows = sqlx::query(sql).fetch_all(pool).await?;
    let size = |row: &PgRow| {
        Ok(NotebookSize { notebook_id: notebook_id(row, 0)?, log_bytes: number(row, 1)?, blob_bytes: number(row, 2)? })
    };
    rows.iter().map(size).collect()
}

pub(super) async fn unlogged(
    pool: &PgPool,
    origin: &str,
    count: usize,
) -> Result<Vec<(NotebookId, Head)>, sqlx::Error> {
    let sql = "SELECT n.id, n.version, n.hash, n.recorded_at FROM notebooks n \
               LEFT JOIN logged_heads l ON l.notebook = n.id AND l.origin = $1 \
               WHERE n.version > coalesce(l.version, 0) ORDER BY n.id LIMIT $2";
    listed_heads(&sqlx::query(sql).bind(origin).bind(page_limit(count)).fetch_all(pool).await?)
}

/// Writes the last leaf of each notebook.
pub(super) async fn put_logged(
    connection: &mut PgConnection,
    origin: &str,
    heads: &[LoggedHead],
) -> Result<(), sqlx::Error> {
    let last: std::collections::BTreeMap<&str, &LoggedHead> =
        heads.iter().map(|head| (head.notebook_id.as_str(), head)).collect();
    let ids: Vec<&str> = last.keys().copied().collect();
    let versions: Vec<i64> = last.values().map(|head| integer(head.version)).collect();
    let leaves: Vec<i64> = last.values().map(|head| integer(head.leaf)).collect();
    let sql = "INSERT INTO logged_heads (notebook, origin, version, leaf) \
               SELECT l.notebook, $1, l.version, l.leaf FROM unnest($2::text[], $3::bigint[], $4::bigint[]) AS l (notebook, version, leaf) \
               JOIN notebooks n ON n.id = l.notebook \
               ON CONFLICT (notebook) DO UPDATE SET origin = EXCLUDED.origin, version = EXCLUDED.version, leaf = EXCLUDED.leaf";
    let query = sqlx::query(sql).bind(origin).bind(ids).bind(versions).bind(leaves);
    query.execute(connection).await.map(drop)
}

pub(super) async fn last_logged(
    pool: &PgPool,
    origin: &str,
    notebook: &NotebookId,
) -> Result<Option<LoggedHead>, sqlx::Error> {
    let sql = "SELECT version, leaf FROM logged_heads WHERE origin = $1 AND notebook = $2";
    let row = sqlx::query(sql).bind(origin).bind(notebook.as_str()).fetch_optional(pool).await?;
    let head = |row: PgRow| {
        Ok(LoggedHead { notebook_id: notebook.clone(), version: number(&row, 0)?, leaf: number(&row, 1)? })
    };
    row.map(head).transpose()
}

pub(super) async fn leaves(pool: &PgPool, origin: &str) -> Result<u64, sqlx::Error> {
    let sql = "SELECT coalesce(max(leaf) + 1, 0) FROM logged_heads WHERE origin = $1";
    number(&sqlx::query(sql).bind(origin).fetch_one(pool).await?, 0)
}
