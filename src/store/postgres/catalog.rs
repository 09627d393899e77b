//! Notebook list and its search: a projection of the log.

use notarium_record::{Epoch, Millis, NotebookId};
use sqlx::postgres::{PgPool, PgRow};
use sqlx::{PgConnection, Row};

use super::projections::{RowHold, hold};
use super::reader::{notebook_id, number, page_limit, utf8};
use super::rows::integer;
use crate::event_store::{CatalogEntry, CatalogPage, CatalogQuery, page};
use crate::search_text::{bounded, words};

/// Bytes of a word that the index takes: PostgreSQL refuses lexemes above 2 KiB.
const MAX_WORD_BYTES: usize = 1_024;

/// Writes the entry, unless a later one exists. Returns false if there is no such notebook.
pub(super) async fn put(
    connection: &mut PgConnection,
    entry: &CatalogEntry,
    epoch: Option<Epoch>,
) -> Result<bool, sqlx::Error> {
    let held = hold(connection, &entry.notebook_id, epoch).await?;
    if held != RowHold::Yes {
        return Ok(held.is_known());
    }
    if put_entry(connection, entry).await? {
        put_access(connection, entry).await?;
    }
    Ok(true)
}

/// Returns false if a later entry is there.
async fn put_entry(connection: &mut PgConnection, entry: &CatalogEntry) -> Result<bool, sqlx::Error> {
    let sql = "INSERT INTO catalog (notebook, version, title, archived, created_at, updated_at, cells, has_work, has_waiting_calls, \
                 template, words, due_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, array_to_tsvector($11::text[]), $12) \
               ON CONFLICT (notebook) DO UPDATE SET version = EXCLUDED.version, title = EXCLUDED.title, archived = EXCLUDED.archived, \
                 created_at = EXCLUDED.created_at, updated_at = EXCLUDED.updated_at, cells = EXCLUDED.cells, \
                 has_work = EXCLUDED.has_work, has_waiting_calls = EXCLUDED.has_waiting_calls, template = EXCLUDED.template, \
                 words = EXCLUDED.words, due_at = EXCLUDED.due_at WHERE catalog.version <= EXCLUDED.version";
    let mut found: Vec<String> = words(bounded(&entry.search_text)).map(cut).collect();
    found.sort_unstable();
    found.dedup();
    let query = sqlx::query(sql).bind(entry.notebook_id.as_str()).bind(integer(entry.version));
    let query = query.bind(entry.title.as_bytes()).bind(entry.archived).bind(integer(entry.created_at));
    let query = query.bind(integer(entry.updated_at)).bind(integer(entry.cells)).bind(entry.has_work);
    let query = query.bind(entry.has_waiting_calls).bind(entry.template.as_deref().map(str::as_bytes)).bind(found);
    let query = query.bind(entry.due_at.map(integer));
    Ok(query.execute(connection).await?.rows_affected() > 0)
}

async fn put_access(connection: &mut PgConnection, entry: &CatalogEntry) -> Result<(), sqlx::Error> {
    let gone = sqlx::query("DELETE FROM catalog_access WHERE notebook = $1").bind(entry.notebook_id.as_str());
    gone.execute(&mut *connection).await?;
    let (subjects, roles): (Vec<&str>, Vec<&str>) =
        entry.access.iter().map(|(subject, role)| (subject.as_str(), role.as_str())).unzip();
    let sql = "INSERT INTO catalog_access (subject, notebook, role) \
               SELECT a.subject, $1, a.role FROM unnest($2::text[], $3::text[]) AS a (subject, role) \
               ON CONFLICT (subject, notebook) DO UPDATE SET role = EXCLUDED.role";
    let query = sqlx::query(sql).bind(entry.notebook_id.as_str()).bind(subjects).bind(roles);
    query.execute(connection).await.map(drop)
}

/// Cuts a word to what the index takes.
fn cut(mut word: String) -> String {
    if word.len() > MAX_WORD_BYTES {
        let end = (0..=MAX_WORD_BYTES).rev().find(|end| word.is_char_boundary(*end)).unwrap_or(0);
        word.truncate(end);
    }
    word
}

/// Returns a query of the index that matches each word as a prefix. `None`: the text has no words.
fn match_expression(text: &str) -> Option<String> {
    // Words have only letters and digits, so they contain no syntax.
    let words: Vec<String> = words(text).map(|word| format!("'{}':*", cut(word))).collect();
    (!words.is_empty()).then(|| words.join(" & "))
}

/// Columns that [`entry`] reads.
macro_rules! select_entries {
    ($rest:literal) => {
        concat!(
            "SELECT c.notebook, c.version, c.title, c.archived, c.created_at, c.updated_at, c.cells, c.has_work, c.has_waiting_calls, \
               c.template, (SELECT array_agg(subject ORDER BY subject) FROM catalog_access WHERE notebook = c.notebook), \
               (SELECT array_agg(role ORDER BY subject) FROM catalog_access WHERE notebook = c.notebook), c.due_at FROM catalog c ",
            $rest
        )
    };
}

pub(super) async fn entries(pool: &PgPool, notebooks: &[NotebookId]) -> Result<Vec<CatalogEntry>, sqlx::Error> {
    let ids: Vec<&str> = notebooks.iter().map(NotebookId::as_str).collect();
    let query = sqlx::query(select_entries!("WHERE c.notebook = ANY($1)")).bind(ids);
    query.fetch_all(pool).await?.iter().map(entry).collect()
}

pub(super) async fn list(pool: &PgPool, query: &CatalogQuery) -> Result<CatalogPage, sqlx::Error> {
    let sql = select_entries!(
        "WHERE ($1::text[] IS NULL OR c.notebook IN (SELECT notebook FROM catalog_access WHERE subject = ANY($1))) \
               AND ($2::text IS NULL OR c.words @@ CAST($2 AS tsquery)) \
               AND ($3::boolean IS NULL OR c.archived = $3) \
               AND ($4::bigint IS NULL OR c.updated_at < $4 OR (c.updated_at = $4 AND c.notebook > $5)) \
               AND ($6::boolean IS NULL OR c.has_work = $6) \
               AND ($7::boolean IS NULL OR c.has_waiting_calls = $7) \
               AND ($8::boolean IS NULL OR (c.template IS NOT NULL) = $8) \
               AND ($10::bigint IS NULL OR c.due_at <= $10) \
               ORDER BY c.updated_at DESC, c.notebook LIMIT $9"
    );
    let after = query.after.as_ref();
    let bound = sqlx::query(sql).bind(query.subjects.as_deref());
    let bound = bound.bind(query.text.as_deref().and_then(match_expression)).bind(query.archived);
    let bound = bound.bind(after.map(|after| integer(after.updated_at)));
    let bound = bound.bind(after.map_or("", |after| after.notebook_id.as_str())).bind(query.has_work);
    let bound = bound.bind(query.has_waiting_calls).bind(query.is_template);
    // Reads one row more than the page, to see if another page follows.
    let count = i64::try_from(page(query.limit) + 1).unwrap_or(i64::MAX);
    let rows = bound.bind(count).bind(query.due_by.map(integer)).fetch_all(pool).await?;
    let entries = rows.iter().map(entry).collect::<Result<Vec<CatalogEntry>, sqlx::Error>>()?;
    Ok(CatalogPage::cut(entries, query.limit))
}

fn entry(row: &PgRow) -> Result<CatalogEntry, sqlx::Error> {
    let subjects: Vec<String> = row.try_get::<Option<_>, _>(10)?.unwrap_or_default();
    let roles: Vec<String> = row.try_get::<Option<_>, _>(11)?.unwrap_or_default();
    Ok(CatalogEntry {
        notebook_id: notebook_id(row, 0)?,
        version: number(row, 1)?,
        title: utf8(row.try_get(2)?)?,
        archived: row.try_get(3)?,
        created_at: number(row, 4)?,
        updated_at: number(row, 5)?,
        access: subjects.into_iter().zip(roles).collect(),
        cells: number(row, 6)?,
        has_work: row.try_get(7)?,
        has_waiting_calls: row.try_get(8)?,
        template: row.try_get::<Option<_>, _>(9)?.map(utf8).transpose()?,
        due_at: row.try_get::<Option<i64>, _>(12)?.and_then(|at| Millis::try_from(at).ok()),
        search_text: String::new(),
    })
}

pub(super) async fn lag(
    pool: &PgPool,
    after: Option<&NotebookId>,
    count: usize,
) -> Result<Vec<NotebookId>, sqlx::Error> {
    let sql = "SELECT n.id FROM notebooks n LEFT JOIN catalog c ON c.notebook = n.id \
               WHERE n.version > coalesce(c.version, 0) AND n.erased = 0 AND n.id > $2 ORDER BY n.id LIMIT $1";
    let after = after.map_or("", NotebookId::as_str);
    let rows = sqlx::query(sql).bind(page_limit(count)).bind(after).fetch_all(pool).await?;
    rows.iter().map(|row| notebook_id(row, 0)).collect()
}
