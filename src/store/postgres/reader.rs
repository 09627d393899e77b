//! Queries of the log.

use notarium_record::{
    Actor, CommandId, CommandRecord, Envelope, Hash, Head, NotebookId, RawJson, Salt, Selection, Stored, Version,
};
use sqlx::postgres::{PgArguments, PgPool, PgRow};
use sqlx::{PgExecutor, Postgres, Row};

use super::rows::integer;
use crate::event_store::{Author, MAX_HISTORY_EVENTS, MAX_READ_EVENTS, page};

/// Columns that [`stored`] reads, in its order.
macro_rules! select_events {
    ($rest:expr) => {
        concat!(
            "SELECT version, id, type, schema, actor, command_id, correlation_id, causation_id, undoes, \
             recorded_at, salt, payload_digest, hash, payload FROM events ",
            $rest
        )
    };
}

/// The same, and in each row if old events of the notebook are in segments. There is a row without an event, if none is found.
macro_rules! select_indexed_events {
    ($rest:expr, $order:expr) => {
        concat!(
            "SELECT e.*, c.is_cold FROM (SELECT EXISTS (SELECT 1 FROM segments s WHERE s.notebook = $1) AS is_cold) c \
             LEFT JOIN LATERAL (",
            select_events!($rest),
            ") e ON TRUE ORDER BY e.version ",
            $order
        )
    };
}

/// Column of [`select_indexed_events`] behind those of an event.
const IS_COLD: usize = 14;

pub(super) type Query<'a> = sqlx::query::Query<'a, Postgres, PgArguments>;

pub(super) fn limit(asked: usize, most: usize) -> i64 {
    i64::try_from(asked.min(most)).unwrap_or(i64::MAX)
}

/// Rows of a page of a list.
pub(super) fn page_limit(asked: usize) -> i64 {
    limit(page(asked), usize::MAX)
}

pub(super) fn decode(error: impl Into<sqlx::error::BoxDynError>) -> sqlx::Error {
    sqlx::Error::Decode(error.into())
}

/// Reads a version, time or size.
pub(super) fn number(row: &PgRow, column: usize) -> Result<u64, sqlx::Error> {
    u64::try_from(row.try_get::<i64, _>(column)?).map_err(decode)
}

pub(super) fn optional_number(row: &PgRow, column: usize) -> Result<Option<u64>, sqlx::Error> {
    row.try_get::<Option<i64>, _>(column)?.map(u64::try_from).transpose().map_err(decode)
}

pub(super) fn hash(row: &PgRow, column: usize) -> Result<Hash, sqlx::Error> {
    row.try_get::<&[u8], _>(column)?.try_into().map(Hash).map_err(|_| decode("a hash has 32 bytes"))
}

/// Reads a text that is kept as UTF-8.
pub(super) fn utf8(bytes: Vec<u8>) -> Result<String, sqlx::Error> {
    String::from_utf8(bytes).map_err(decode)
}

pub(super) fn required<T, E: Into<sqlx::error::BoxDynError>>(
    row: &PgRow,
    column: usize,
    new: impl Fn(&str) -> Result<T, E>,
) -> Result<T, sqlx::Error> {
    new(row.try_get(column)?).map_err(decode)
}

fn optional<T, E: Into<sqlx::error::BoxDynError>>(
    row: &PgRow,
    column: usize,
    new: impl Fn(&str) -> Result<T, E>,
) -> Result<Option<T>, sqlx::Error> {
    row.try_get::<Option<&str>, _>(column)?.map(new).transpose().map_err(decode)
}

pub(super) fn notebook_id(row: &PgRow, column: usize) -> Result<NotebookId, sqlx::Error> {
    required(row, column, |id| id.parse())
}

fn actor(row: &PgRow, column: usize) -> Result<Actor, sqlx::Error> {
    required(row, column, |key| Actor::from_key(key).ok_or_else(|| format!("'{key}' is no actor")))
}

fn stored(notebook: &NotebookId, row: &PgRow) -> Result<Stored, sqlx::Error> {
    let command_id: CommandId = required(row, 5, |id| id.parse())?;
    let envelope = Envelope {
        notebook_id: notebook.clone(),
        version: number(row, 0)?,
        id: required(row, 1, |id| id.parse())?,
        event_type: row.try_get(2)?,
        schema: u16::try_from(row.try_get::<i32, _>(3)?).map_err(decode)?,
        actor: actor(row, 4)?,
        correlation_id: match optional(row, 6, |id| id.parse())? {
            Some(id) => id,
            None => command_id.as_str().parse().map_err(decode)?,
        },
        command_id,
        causation_id: optional(row, 7, |id| id.parse())?,
        undoes: optional(row, 8, |id| id.parse())?,
        recorded_at: number(row, 9)?,
    };
    let salt = row.try_get::<Option<&[u8]>, _>(10)?.map(|salt| salt.try_into().map(Salt)).transpose();
    let payload = std::str::from_utf8(row.try_get(13)?).map_err(decode)?;
    Ok(Stored {
        envelope,
        salt: salt.map_err(decode)?,
        payload_digest: hash(row, 11)?,
        hash: hash(row, 12)?,
        payload: RawJson::parse(payload).map_err(decode)?,
    })
}

/// Reads the rows of an indexed query. `None`: old events of the notebook are in segments, where it does not find them.
pub(super) async fn indexed_events(
    pool: &PgPool,
    notebook: &NotebookId,
    query: Query<'_>,
) -> Result<Option<Vec<Stored>>, sqlx::Error> {
    let rows = query.fetch_all(pool).await?;
    let mut events = Vec::with_capacity(rows.len());
    for row in &rows {
        if row.try_get(IS_COLD)? {
            return Ok(None);
        }
        if row.try_get::<Option<i64>, _>(0)?.is_some() {
            events.push(stored(notebook, row)?);
        }
    }
    Ok(Some(events))
}

/// Reads a head from three columns: version, hash, recorded_at.
pub(super) fn head_of(row: &PgRow, first: usize) -> Result<Head, sqlx::Error> {
    Ok(Head { version: number(row, first)?, hash: hash(row, first + 1)?, recorded_at: number(row, first + 2)? })
}

pub(super) async fn head(pool: &PgPool, notebook: &NotebookId) -> Result<Option<Head>, sqlx::Error> {
    let sql = "SELECT version, hash, recorded_at FROM notebooks WHERE id = $1 AND version > 0";
    let row = sqlx::query(sql).bind(notebook.as_str()).fetch_optional(pool).await?;
    row.map(|row| head_of(&row, 0)).transpose()
}

/// Reads events after a version; the result ends before one that is not readable, or has its error if that is the first. It also ends before
/// a gap: those events are in a segment.
pub(super) async fn read(
    pool: &PgPool,
    notebook: &NotebookId,
    after: Version,
    count: usize,
) -> Result<Vec<Stored>, sqlx::Error> {
    let sql = select_events!("WHERE notebook = $1 AND version > $2 ORDER BY version LIMIT $3");
    let query = sqlx::query(sql).bind(notebook.as_str()).bind(integer(after)).bind(limit(count, MAX_READ_EVENTS));
    let rows = query.fetch_all(pool).await?;
    let mut events = Vec::with_capacity(rows.len());
    for row in &rows {
        match stored(notebook, row) {
            Ok(event)
                if events.last().is_some_and(|last: &Stored| last.envelope.version + 1 != event.envelope.version) =>
            {
                break;
            }
            Ok(event) => events.push(event),
            Err(error) if events.is_empty() => return Err(error),
            Err(_) => break,
        }
    }
    Ok(events)
}

pub(super) fn of_subject<'a>(notebook: &'a NotebookId, subject: &'a str, after: Version, count: usize) -> Query<'a> {
    let sql = select_indexed_events!(
        "WHERE notebook = $1 AND subject = $2 AND version > $3 AND type <> 'CellSourceEdited' ORDER BY version LIMIT $4",
        "ASC"
    );
    let query = sqlx::query(sql).bind(notebook.as_str()).bind(subject).bind(integer(after));
    query.bind(limit(count, MAX_READ_EVENTS))
}

pub(super) fn of_subjects<'a>(notebook: &'a NotebookId, subjects: &'a [String]) -> Query<'a> {
    let sql = select_indexed_events!(
        "WHERE notebook = $1 AND subject = ANY($2) AND type <> 'CellSourceEdited' ORDER BY version LIMIT $3",
        "ASC"
    );
    sqlx::query(sql).bind(notebook.as_str()).bind(subjects).bind(history_limit())
}

pub(super) fn selected<'a>(notebook: &'a NotebookId, wanted: &'a Selection) -> Query<'a> {
    let sql = select_indexed_events!(
        "WHERE notebook = $1 AND version > $2 AND (subject = ANY($3) OR ($4 AND subject IS NULL)) ORDER BY version LIMIT $5",
        "ASC"
    );
    let query = sqlx::query(sql).bind(notebook.as_str()).bind(integer(wanted.since)).bind(&wanted.subjects);
    query.bind(wanted.with_notebook).bind(history_limit())
}

pub(super) fn of_type<'a>(
    notebook: &'a NotebookId,
    event_type: &'a str,
    before: Option<Version>,
    count: usize,
) -> Query<'a> {
    // The list of types repeats the index's condition, so that the partial index is used.
    let sql = select_indexed_events!(
        "WHERE notebook = $1 AND type = $2 AND version < $3 AND type IN \
         ('CellDeleted', 'ExecutionRequested', 'MessagePosted', 'ToolCallRequested', 'TurnStarted') \
         ORDER BY version DESC LIMIT $4",
        "DESC"
    );
    let query = sqlx::query(sql).bind(notebook.as_str()).bind(event_type);
    query.bind(before.map_or(i64::MAX, integer)).bind(limit(count, MAX_READ_EVENTS))
}

/// Limit with one row more than callers may have, to detect too many.
fn history_limit() -> i64 {
    limit(MAX_HISTORY_EVENTS + 1, usize::MAX)
}

pub(super) async fn authors(
    pool: &PgPool,
    notebook: &NotebookId,
    versions: &[Version],
) -> Result<Vec<Author>, sqlx::Error> {
    let versions: Vec<i64> = versions.iter().copied().map(integer).collect();
    let sql =
        "SELECT version, actor, recorded_at FROM events WHERE notebook = $1 AND version = ANY($2) ORDER BY version";
    let rows = sqlx::query(sql).bind(notebook.as_str()).bind(versions).fetch_all(pool).await?;
    let author =
        |row: &PgRow| Ok(Author { version: number(row, 0)?, actor: actor(row, 1)?, recorded_at: number(row, 2)? });
    rows.iter().map(author).collect()
}

/// Reads columns of actor, command id, digest, version and outcome.
pub(super) fn command_record(row: &PgRow) -> Result<CommandRecord, sqlx::Error> {
    Ok(CommandRecord {
        actor: row.try_get(0)?,
        command_id: required(row, 1, |id| id.parse())?,
        digest: hash(row, 2)?.0,
        version: number(row, 3)?,
        outcome: required(row, 4, RawJson::parse)?,
    })
}

/// Returns the records of these commands, as far as there are any.
pub(super) async fn commands(
    pool: &PgPool,
    notebook: &NotebookId,
    wanted: &[(&str, &CommandId)],
) -> Result<Vec<CommandRecord>, sqlx::Error> {
    let actors: Vec<&str> = wanted.iter().map(|(actor, _)| *actor).collect();
    let ids: Vec<&str> = wanted.iter().map(|(_, id)| id.as_str()).collect();
    let sql = "SELECT c.actor, c.command_id, c.digest, c.version, c.outcome FROM unnest($2::text[], $3::text[]) AS w (actor, command_id) \
               JOIN commands c ON c.notebook = $1 AND c.command_id = w.command_id AND c.actor = w.actor";
    let rows = sqlx::query(sql).bind(notebook.as_str()).bind(actors).bind(ids).fetch_all(pool).await?;
    rows.iter().map(command_record).collect()
}

pub(super) async fn count_commands(pool: &PgPool, notebook: &NotebookId, at_most: Version) -> Result<u64, sqlx::Error> {
    let sql = "SELECT count(*) FROM commands WHERE notebook = $1 AND version <= $2";
    let row = sqlx::query(sql).bind(notebook.as_str()).bind(integer(at_most)).fetch_one(pool).await?;
    number(&row, 0)
}

/// Reads rows of an id and a head.
pub(super) fn listed_heads(rows: &[PgRow]) -> Result<Vec<(NotebookId, Head)>, sqlx::Error> {
    rows.iter().map(|row| Ok((notebook_id(row, 0)?, head_of(row, 1)?))).collect()
}

pub(super) async fn notebooks(
    database: impl PgExecutor<'_>,
    after: Option<&NotebookId>,
    count: usize,
) -> Result<Vec<(NotebookId, Head)>, sqlx::Error> {
    let sql = "SELECT id, version, hash, recorded_at FROM notebooks WHERE id > $1 AND version > 0 ORDER BY id LIMIT $2";
    let after = after.map_or("", NotebookId::as_str);
    listed_heads(&sqlx::query(sql).bind(after).bind(page_limit(count)).fetch_all(database).await?)
}
