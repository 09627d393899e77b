//! Notebook list and its search: a projection of the log.

use notarium_record::NotebookId;
use sqlx::sqlite::SqliteRow;
use sqlx::{Row, SqliteConnection, SqlitePool};

use super::rows::integer;
use crate::event_store::{CatalogEntry, CatalogPage, CatalogQuery, page};
use crate::search_text::{bounded, words};

/// Writes the entry, unless a later one exists. Returns false if there is no such notebook.
pub(super) async fn put(connection: &mut SqliteConnection, entry: &CatalogEntry) -> Result<bool, sqlx::Error> {
    let sql = "SELECT n.key, c.version FROM notebooks n LEFT JOIN catalog c ON c.notebook = n.key \
               WHERE n.id = ? AND n.erased = 0";
    let place: Option<(i64, Option<i64>)> =
        sqlx::query_as(sql).bind(entry.notebook_id.as_str()).fetch_optional(&mut *connection).await?;
    let Some((notebook, shown)) = place else { return Ok(false) };
    if shown.is_none_or(|shown| shown <= integer(entry.version)) {
        put_entry(connection, notebook, entry).await?;
        put_access(connection, notebook, entry).await?;
        put_text(connection, notebook, entry).await?;
    }
    Ok(true)
}

async fn put_entry(connection: &mut SqliteConnection, notebook: i64, entry: &CatalogEntry) -> Result<(), sqlx::Error> {
    let sql = "INSERT OR REPLACE INTO catalog \
               (notebook, version, title, archived, created_at, updated_at, cells, has_work, has_waiting_calls, template, due_at) \
               VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
    let query = sqlx::query(sql).bind(notebook).bind(integer(entry.version)).bind(entry.title.as_str());
    let query = query.bind(entry.archived).bind(integer(entry.created_at)).bind(integer(entry.updated_at));
    let query = query
        .bind(integer(entry.cells))
        .bind(entry.has_work)
        .bind(entry.has_waiting_calls)
        .bind(entry.template.as_deref())
        .bind(entry.due_at.map(integer));
    query.execute(connection).await.map(|_| ())
}

async fn put_access(connection: &mut SqliteConnection, notebook: i64, entry: &CatalogEntry) -> Result<(), sqlx::Error> {
    sqlx::query("DELETE FROM catalog_access WHERE notebook = ?").bind(notebook).execute(&mut *connection).await?;
    let sql = "INSERT OR REPLACE INTO catalog_access (subject, notebook, role) \
               SELECT value ->> 0, ?, value ->> 1 FROM json_each(?)";
    let access = serde_json::to_string(&entry.access).map_err(|error| sqlx::Error::Encode(error.into()))?;
    sqlx::query(sql).bind(notebook).bind(access).execute(connection).await.map(|_| ())
}

async fn put_text(connection: &mut SqliteConnection, notebook: i64, entry: &CatalogEntry) -> Result<(), sqlx::Error> {
    sqlx::query("DELETE FROM catalog_text WHERE rowid = ?").bind(notebook).execute(&mut *connection).await?;
    let sql = "INSERT INTO catalog_text (rowid, text) VALUES (?, ?)";
    sqlx::query(sql).bind(notebook).bind(bounded(&entry.search_text)).execute(connection).await.map(|_| ())
}

/// Returns an FTS5 expression that matches each word as a prefix. `None`: the text has no words.
fn match_expression(text: &str) -> Option<String> {
    // Words have only letters and digits, so they contain no FTS5 syntax.
    let words: Vec<String> = words(text).map(|word| format!("\"{word}\"*")).collect();
    (!words.is_empty()).then(|| words.join(" "))
}

/// Columns that [`entry`] reads.
macro_rules! select_entries {
    ($rest:literal) => {
        concat!(
            "SELECT n.id, c.version, c.title, c.archived, c.created_at, c.updated_at, c.cells, \
                    (SELECT json_group_array(json_array(subject, role)) FROM catalog_access WHERE notebook = c.notebook), \
                    c.has_work, c.has_waiting_calls, c.template, c.due_at ",
            $rest
        )
    };
}

pub(super) async fn entries(pool: &SqlitePool, notebooks: &[NotebookId]) -> Result<Vec<CatalogEntry>, sqlx::Error> {
    let sql = select_entries!(
        "FROM notebooks n JOIN catalog c ON c.notebook = n.key WHERE n.id IN (SELECT value FROM json_each(?))"
    );
    let ids: Vec<&str> = notebooks.iter().map(NotebookId::as_str).collect();
    let ids = serde_json::to_string(&ids).map_err(|error| sqlx::Error::Encode(error.into()))?;
    sqlx::query(sql).bind(ids).fetch_all(pool).await?.iter().map(entry).collect()
}

pub(super) async fn list(pool: &SqlitePool, query: &CatalogQuery) -> Result<CatalogPage, sqlx::Error> {
    let sql = select_entries!(
        "FROM catalog c CROSS JOIN notebooks n ON n.key = c.notebook \
               WHERE (?1 IS NULL OR c.notebook IN (SELECT notebook FROM catalog_access \
                                                   WHERE subject IN (SELECT value FROM json_each(?1)))) \
               AND (?2 IS NULL OR c.notebook IN (SELECT rowid FROM catalog_text WHERE catalog_text MATCH ?2)) \
               AND (?3 IS NULL OR c.archived = ?3) \
               AND (?4 IS NULL OR c.updated_at < ?4 OR (c.updated_at = ?4 AND n.id > ?5)) \
               AND (?6 IS NULL OR c.has_work = ?6) \
               AND (?8 IS NULL OR c.has_waiting_calls = ?8) \
               AND (?9 IS NULL OR (c.template IS NOT NULL) = ?9) \
               AND (?10 IS NULL OR c.due_at <= ?10) \
               ORDER BY c.updated_at DESC, n.id LIMIT ?7"
    );
    let subjects = query.subjects.as_ref().map(serde_json::to_string).transpose();
    let subjects = subjects.map_err(|error| sqlx::Error::Encode(error.into()))?;
    let after = query.after.as_ref();
    let bound = sqlx::query(sql).bind(subjects).bind(query.text.as_deref().and_then(match_expression));
    let bound = bound.bind(query.archived);
    let bound =
        bound.bind(after.map(|after| integer(after.updated_at))).bind(after.map(|after| after.notebook_id.as_str()));
    let bound = bound.bind(query.has_work);
    // Reads one row more than the page, to see if another page follows.
    let count = i64::try_from(page(query.limit) + 1).unwrap_or(i64::MAX);
    let bound = bound.bind(count).bind(query.has_waiting_calls).bind(query.is_template);
    let rows = bound.bind(query.due_by.map(integer)).fetch_all(pool).await?;
    let entries = rows.iter().map(entry).collect::<Result<Vec<CatalogEntry>, sqlx::Error>>()?;
    Ok(CatalogPage::cut(entries, query.limit))
}

fn entry(row: &SqliteRow) -> Result<CatalogEntry, sqlx::Error> {
    let decode = |error: sqlx::error::BoxDynError| sqlx::Error::Decode(error);
    let mut access: Vec<(String, String)> =
        serde_json::from_str(row.try_get(7)?).map_err(|error| decode(error.into()))?;
    access.sort();
    Ok(CatalogEntry {
        notebook_id: NotebookId::new(row.try_get::<&str, _>(0)?).map_err(|error| decode(error.into()))?,
        version: row.try_get(1)?,
        title: row.try_get(2)?,
        archived: row.try_get(3)?,
        created_at: row.try_get(4)?,
        updated_at: row.try_get(5)?,
        access,
        cells: row.try_get(6)?,
        has_work: row.try_get(8)?,
        has_waiting_calls: row.try_get(9)?,
        template: row.try_get(10)?,
        due_at: row.try_get(11)?,
        search_text: String::new(),
    })
}

pub(super) async fn lag(
    pool: &SqlitePool,
    after: Option<&NotebookId>,
    count: usize,
) -> Result<Vec<NotebookId>, sqlx::Error> {
    let sql = "SELECT n.id FROM notebooks n JOIN heads h ON h.notebook = n.key JOIN events e ON e.position = h.position \
               LEFT JOIN catalog c ON c.notebook = n.key WHERE e.version > coalesce(c.version, 0) AND n.erased = 0 AND n.id > ? \
               ORDER BY n.id LIMIT ?";
    let count = i64::try_from(page(count)).unwrap_or(i64::MAX);
    let ids: Vec<String> =
        sqlx::query_scalar(sql).bind(after.map_or("", NotebookId::as_str)).bind(count).fetch_all(pool).await?;
    ids.iter().map(|id| NotebookId::new(id).map_err(|error| sqlx::Error::Decode(error.into()))).collect()
}
