//! Leaves of the tree of heads, of each notebook the last one.

use notarium_record::{Head, NotebookId, Version};
use sqlx::sqlite::SqliteRow;
use sqlx::{Row, SqlitePool};

use super::reader::{ReaderQuery, head_of};
use crate::event_store::page;
use crate::logged_head::LoggedHead;

pub(super) async fn unlogged(
    pool: &SqlitePool,
    origin: &str,
    count: usize,
) -> Result<Vec<(NotebookId, Head)>, sqlx::Error> {
    let sql = "SELECT n.id, e.version, e.hash, e.recorded_at FROM notebooks n JOIN heads h ON h.notebook = n.key \
               JOIN events e ON e.position = h.position LEFT JOIN logged_heads l ON l.notebook = n.key AND l.origin = ? \
               WHERE e.version > coalesce(l.version, 0) ORDER BY n.id LIMIT ?";
    let count = i64::try_from(page(count)).unwrap_or(i64::MAX);
    let rows = sqlx::query(sql).bind(origin).bind(count).fetch_all(pool).await?;
    let head = |row: &SqliteRow| {
        let id = NotebookId::new(row.try_get::<&str, _>(0)?);
        Ok((id.map_err(|error| sqlx::Error::Decode(error.into()))?, head_of(row, 1)?))
    };
    rows.iter().map(head).collect()
}

/// Rows of [`put`], as JSON.
pub(super) fn rows(heads: &[LoggedHead]) -> Result<String, sqlx::Error> {
    let rows: Vec<_> = heads.iter().map(|head| (head.notebook_id.as_str(), head.version, head.leaf)).collect();
    serde_json::to_string(&rows).map_err(|error| sqlx::Error::Encode(error.into()))
}

pub(super) fn put<'a>(origin: &'a str, rows: &'a str) -> ReaderQuery<'a> {
    let sql = "INSERT OR REPLACE INTO logged_heads (notebook, origin, version, leaf) \
               SELECT n.key, ?, r.value ->> 1, r.value ->> 2 FROM json_each(?) r JOIN notebooks n ON n.id = r.value ->> 0";
    sqlx::query(sql).bind(origin).bind(rows)
}

pub(super) async fn last(
    pool: &SqlitePool,
    origin: &str,
    notebook: &NotebookId,
) -> Result<Option<LoggedHead>, sqlx::Error> {
    let sql = "SELECT version, leaf FROM logged_heads WHERE origin = ? AND notebook = (SELECT key FROM notebooks WHERE id = ?)";
    let row: Option<(Version, u64)> =
        sqlx::query_as(sql).bind(origin).bind(notebook.as_str()).fetch_optional(pool).await?;
    Ok(row.map(|(version, leaf)| LoggedHead { notebook_id: notebook.clone(), version, leaf }))
}

pub(super) async fn leaves(pool: &SqlitePool, origin: &str) -> Result<u64, sqlx::Error> {
    let sql = "SELECT coalesce(max(leaf) + 1, 0) FROM logged_heads WHERE origin = ?";
    sqlx::query_scalar(sql).bind(origin).fetch_one(pool).await
}
