//! Lines that ever stood in cells: written down, and searched by an index of their three-letter pieces.

use std::collections::{BTreeMap, BTreeSet};

use notarium_record::{Epoch, NotebookId, Version};
use sha2::{Digest, Sha256};
use sqlx::postgres::{PgPool, PgRow};
use sqlx::{PgConnection, Row};

use super::projections::{RowHold, hold};
use super::reader::{decode, number, optional_number, required, utf8};
use super::rows::integer;
use crate::event_store::{FoundLines, MAX_LOOKED_AT_LINES, PastLinesWritten};
use crate::past_text::{LineSpan, PastLine, lower_case};

/// Lines that a search reads at a time.
const PAGE: usize = 2_000;

/// Letters of a piece in the index.
const PIECE: usize = 3;

/// Pieces of a text that are looked up; a line with all of them is compared with the whole text.
const MAX_PIECES: usize = 24;

/// Lines that one statement writes.
const LINES_PER_STATEMENT: usize = 500;

/// Bits of a letter: Unicode ends at 0x10FFFF.
const LETTER_BITS: u32 = 21;

/// Pieces of a text in lower case, each once, as numbers: three letters are one.
fn pieces(text: &str) -> BTreeSet<i64> {
    let letters: Vec<char> = text.chars().collect();
    let number =
        |piece: &[char]| piece.iter().fold(0, |number, letter| number << LETTER_BITS | i64::from(*letter as u32));
    letters.windows(PIECE).map(number).collect()
}

/// Number of a notebook in the index: below those of all pieces. Two notebooks may share one, so the id is compared too.
fn notebook_piece(notebook: &NotebookId) -> i64 {
    let digest = Sha256::digest(notebook.as_str());
    let first = digest.iter().take(8).fold(0_i64, |number, byte| number << 8 | i64::from(*byte));
    first | i64::MIN
}

pub(super) async fn written(pool: &PgPool, notebook: &NotebookId) -> Result<PastLinesWritten, sqlx::Error> {
    let sql = "SELECT version, next FROM past_lines_read WHERE notebook = $1";
    let row = sqlx::query(sql).bind(notebook.as_str()).fetch_optional(pool).await?;
    let written =
        row.map(|row| Ok::<_, sqlx::Error>(PastLinesWritten { version: number(&row, 0)?, next: number(&row, 1)? }));
    Ok(written.transpose()?.unwrap_or_default())
}

pub(super) async fn standing(pool: &PgPool, notebook: &NotebookId) -> Result<Vec<(u64, PastLine)>, sqlx::Error> {
    let sql =
        "SELECT number, cell, text, spans, last FROM past_lines WHERE notebook = $1 AND last IS NULL ORDER BY number";
    let rows = sqlx::query(sql).bind(notebook.as_str()).fetch_all(pool).await?;
    rows.iter().map(|row| Ok((number(row, 0)?, line(row)?))).collect()
}

/// Writes the lines if lines are written down up to `after`. Returns false if not, or if there is no such notebook.
pub(super) async fn put(
    connection: &mut PgConnection,
    notebook: &NotebookId,
    after: Version,
    written: PastLinesWritten,
    lines: &BTreeMap<u64, PastLine>,
    epoch: Option<Epoch>,
) -> Result<bool, sqlx::Error> {
    if hold(connection, notebook, epoch).await? != RowHold::Yes {
        return Ok(false);
    }
    // The row of another writer that is there already is not changed; then nothing else is written either.
    let sql = "INSERT INTO past_lines_read (notebook, version, next) SELECT $1, $2, $3 \
               WHERE $4 = 0 OR EXISTS (SELECT 1 FROM past_lines_read WHERE notebook = $1) \
               ON CONFLICT (notebook) DO UPDATE SET version = EXCLUDED.version, next = EXCLUDED.next WHERE past_lines_read.version = $4";
    let query = sqlx::query(sql).bind(notebook.as_str()).bind(integer(written.version)).bind(integer(written.next));
    if query.bind(integer(after)).execute(&mut *connection).await?.rows_affected() == 0 {
        return Ok(false);
    }
    let lines: Vec<(&u64, &PastLine)> = lines.iter().collect();
    for chunk in lines.chunks(LINES_PER_STATEMENT) {
        put_lines(connection, notebook, chunk).await?;
    }
    Ok(true)
}

async fn put_lines(
    connection: &mut PgConnection,
    notebook: &NotebookId,
    lines: &[(&u64, &PastLine)],
) -> Result<(), sqlx::Error> {
    let numbers: Vec<i64> = lines.iter().map(|(number, _)| integer(**number)).collect();
    let cells: Vec<&str> = lines.iter().map(|(_, line)| line.cell_id.as_str()).collect();
    let texts: Vec<&[u8]> = lines.iter().map(|(_, line)| line.text.as_bytes()).collect();
    let spans = lines.iter().map(|(_, line)| spans_json(line)).collect::<Result<Vec<String>, sqlx::Error>>()?;
    let last: Vec<Option<i64>> = lines.iter().map(|(_, line)| line.last.map(integer)).collect();
    let found: Vec<String> = lines.iter().map(|(_, line)| pieces_literal(notebook, &line.text)).collect();
    let sql = "INSERT INTO past_lines (notebook, number, cell, text, spans, last, pieces) \
               SELECT $1, l.number, l.cell, l.text, l.spans, l.last, CAST(l.pieces AS bigint[]) \
               FROM unnest($2::bigint[], $3::text[], $4::bytea[], $5::text[], $6::bigint[], $7::text[]) \
                 AS l (number, cell, text, spans, last, pieces) \
               ON CONFLICT (notebook, number) DO UPDATE SET cell = EXCLUDED.cell, text = EXCLUDED.text, spans = EXCLUDED.spans, \
               last = EXCLUDED.last, pieces = EXCLUDED.pieces";
    let query = sqlx::query(sql).bind(notebook.as_str()).bind(numbers).bind(cells).bind(texts).bind(spans);
    query.bind(last).bind(found).execute(connection).await.map(drop)
}

fn spans_json(line: &PastLine) -> Result<String, sqlx::Error> {
    let spans: Vec<_> = line.spans.iter().map(|span| (span.since, span.start, span.end)).collect();
    serde_json::to_string(&spans).map_err(|error| sqlx::Error::Encode(error.into()))
}

/// The pieces of a line as PostgreSQL writes an array: arrays of arrays must not differ in length.
fn pieces_literal(notebook: &NotebookId, text: &str) -> String {
    let mut literal = format!("{{{}", notebook_piece(notebook));
    for piece in pieces(&lower_case(text)) {
        literal.push(',');
        literal.push_str(&piece.to_string());
    }
    literal.push('}');
    literal
}

pub(super) async fn find(pool: &PgPool, notebook: &NotebookId, text: &str) -> Result<FoundLines, sqlx::Error> {
    let mut found = FoundLines { is_complete: true, ..FoundLines::default() };
    let text = lower_case(text);
    let wanted: Vec<i64> = pieces(&text).into_iter().take(MAX_PIECES).chain([notebook_piece(notebook)]).collect();
    let (mut end, mut looked_at) = (i64::MAX, 0);
    loop {
        let sql = "SELECT number, cell, text, spans, last FROM past_lines \
                   WHERE notebook = $1 AND pieces @> $2 AND number < $3 ORDER BY number DESC LIMIT $4";
        let query = sqlx::query(sql).bind(notebook.as_str()).bind(&wanted).bind(end);
        let rows = query.bind(i64::try_from(PAGE).unwrap_or(i64::MAX)).fetch_all(pool).await?;
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

/// Reads a row of number, cell, text, spans and last version.
fn line(row: &PgRow) -> Result<PastLine, sqlx::Error> {
    let spans: Vec<(Version, u32, u32)> = serde_json::from_str(row.try_get(3)?).map_err(decode)?;
    Ok(PastLine {
        cell_id: required(row, 1, |id| id.parse())?,
        text: utf8(row.try_get(2)?)?,
        spans: spans.into_iter().map(|(since, start, end)| LineSpan { since, start, end }).collect(),
        last: optional_number(row, 4)?,
    })
}
