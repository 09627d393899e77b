//! Lines that ever stood in cells: written down, and searched by an index of their three-letter pieces.

use std::collections::BTreeMap;

use notarium_record::{CellId, NotebookId, Version};
use sqlx::sqlite::SqliteRow;
use sqlx::{QueryBuilder, Row, Sqlite, SqliteConnection, SqlitePool};

use super::rows::integer;
use crate::event_store::{FoundLines, MAX_LOOKED_AT_LINES, PastLinesWritten};
use crate::past_text::{LineSpan, PastLine, lower_case};

/// Bits of a line's id below the notebook's key.
const NUMBER_BITS: u32 = 40;

/// Lines that a search reads at a time.
const PAGE: usize = 2_000;

/// Letters of a piece in the index.
const PIECE: usize = 3;

/// Pieces of a text that are looked up; a line with all of them is compared with the whole text.
const MAX_PIECES: usize = 24;

async fn key_of(pool: &SqlitePool, notebook: &NotebookId) -> Result<Option<i64>, sqlx::Error> {
    sqlx::query_scalar("SELECT key FROM notebooks WHERE id = ?").bind(notebook.as_str()).fetch_optional(pool).await
}

/// Ids of a notebook's lines.
fn ids_of(key: i64) -> std::ops::Range<i64> {
    key << NUMBER_BITS..(key + 1) << NUMBER_BITS
}

pub(super) async fn written(pool: &SqlitePool, notebook: &NotebookId) -> Result<PastLinesWritten, sqlx::Error> {
    let sql = "SELECT version, next FROM past_lines_read WHERE notebook = (SELECT key FROM notebooks WHERE id = ?)";
    let row: Option<(Version, u64)> = sqlx::query_as(sql).bind(notebook.as_str()).fetch_optional(pool).await?;
    Ok(row.map(|(version, next)| PastLinesWritten { version, next }).unwrap_or_default())
}

pub(super) async fn standing(pool: &SqlitePool, notebook: &NotebookId) -> Result<Vec<(u64, PastLine)>, sqlx::Error> {
    let Some(key) = key_of(pool, notebook).await? else { return Ok(Vec::new()) };
    let ids = ids_of(key);
    let sql =
        "SELECT id, cell, text, spans, last FROM past_lines WHERE last IS NULL AND id >= ? AND id < ? ORDER BY id";
    let rows = sqlx::query(sql).bind(ids.start).bind(ids.end).fetch_all(pool).await?;
    rows.iter().map(|row| Ok((row.try_get::<i64, _>(0)?.abs_diff(ids.start), line(row)?))).collect()
}

/// Writes the lines if lines are written down up to `after`. Returns false if not, or if there is no such notebook.
pub(super) async fn put(
    connection: &mut SqliteConnection,
    notebook: &NotebookId,
    after: Version,
    written: PastLinesWritten,
    lines: &BTreeMap<u64, PastLine>,
) -> Result<bool, sqlx::Error> {
    let sql = "SELECT n.key, coalesce(r.version, 0) FROM notebooks n LEFT JOIN past_lines_read r ON r.notebook = n.key \
               WHERE n.id = ? AND n.erased = 0";
    let place: Option<(i64, Version)> =
        sqlx::query_as(sql).bind(notebook.as_str()).fetch_optional(&mut *connection).await?;
    let Some((key, _)) = place.filter(|(_, version)| *version == after) else { return Ok(false) };
    for (number, line) in lines {
        let id = ids_of(key).start + integer(*number);
        let spans: Vec<_> = line.spans.iter().map(|span| (span.since, span.start, span.end)).collect();
        let spans = serde_json::to_string(&spans).map_err(|error| sqlx::Error::Encode(error.into()))?;
        let sql = "INSERT OR REPLACE INTO past_lines (id, cell, text, spans, last) VALUES (?, ?, ?, ?, ?)";
        let query = sqlx::query(sql).bind(id).bind(line.cell_id.as_str()).bind(line.text.as_str()).bind(spans);
        query.bind(line.last.map(integer)).execute(&mut *connection).await?;
        let sql = "INSERT OR REPLACE INTO past_lines_text (rowid, text) VALUES (?, ?)";
        sqlx::query(sql).bind(id).bind(lower_case(&line.text)).execute(&mut *connection).await?;
    }
    let sql = "INSERT OR REPLACE INTO past_lines_read (notebook, version, next) VALUES (?, ?, ?)";
    let query = sqlx::query(sql).bind(key).bind(integer(written.version)).bind(integer(written.next));
    query.execute(connection).await?;
    Ok(true)
}

pub(super) async fn find(pool: &SqlitePool, notebook: &NotebookId, text: &str) -> Result<FoundLines, sqlx::Error> {
    let mut found = FoundLines { is_complete: true, ..FoundLines::default() };
    let Some(key) = key_of(pool, notebook).await? else { return Ok(found) };
    let (text, ids) = (lower_case(text), ids_of(key));
    let (pieces, mut end, mut looked_at) = (match_expression(&text), ids.end, 0);
    loop {
        let mut query = QueryBuilder::<Sqlite>::new("SELECT l.id, l.cell, l.text, l.spans, l.last FROM ");
        match &pieces {
            Some(pieces) => {
                query.push("past_lines_text t CROSS JOIN past_lines l ON l.id = t.rowid WHERE past_lines_text MATCH ");
                query.push_bind(pieces).push(" AND t.rowid");
            }
            None => _ = query.push("past_lines l WHERE l.id"),
        }
        query.push(" >= ").push_bind(ids.start);
        let id = if pieces.is_some() { "t.rowid" } else { "l.id" };
        query.push(format_args!(" AND {id} < ")).push_bind(end);
        query.push(format_args!(" ORDER BY {id} DESC LIMIT ")).push_bind(i64::try_from(PAGE).unwrap_or(i64::MAX));
        let rows = query.build().fetch_all(pool).await?;
        for row in &rows {
            end = row.try_get(0)?;
            if !found.take(line(row)?, &text) {
                found.is_complete = false;
                return Ok(found);
            }
        }
        looked_at += rows.len();
        if rows.len() < PAGE {
            return Ok(found);
        }
        if looked_at >= MAX_LOOKED_AT_LINES {
            found.is_complete = false;
            return Ok(found);
        }
    }
}

/// FTS5 expression for lines that have all pieces of a text. `None`: the text is shorter than a piece.
fn match_expression(text: &str) -> Option<String> {
    let letters: Vec<char> = text.chars().collect();
    let mut pieces: Vec<String> = letters.windows(PIECE).map(|piece| piece.iter().collect()).collect();
    pieces.sort();
    pieces.dedup();
    pieces.truncate(MAX_PIECES);
    let quoted: Vec<String> = pieces.iter().map(|piece| format!("\"{}\"", piece.replace('"', "\"\""))).collect();
    (!quoted.is_empty()).then(|| quoted.join(" "))
}

/// Reads a row of id, cell, text, spans and last version.
fn line(row: &SqliteRow) -> Result<PastLine, sqlx::Error> {
    let decode = |error: sqlx::error::BoxDynError| sqlx::Error::Decode(error);
    let spans: Vec<(Version, u32, u32)> =
        serde_json::from_str(row.try_get(3)?).map_err(|error| decode(error.into()))?;
    Ok(PastLine {
        cell_id: CellId::new(row.try_get::<&str, _>(1)?).map_err(|error| decode(error.into()))?,
        text: row.try_get(2)?,
        spans: spans.into_iter().map(|(since, start, end)| LineSpan { since, start, end }).collect(),
        last: row.try_get(4)?,
    })
}
