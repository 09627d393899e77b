//! Sizes of notebooks on the disk.

use std::collections::BTreeMap;

use notarium_record::NotebookId;
use sqlx::{Row, SqlitePool};

use crate::event_store::{EVENT_OVERHEAD_BYTES, NotebookSize};

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
