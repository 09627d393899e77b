//! Queries of the log. They run beside the writer, on read-only connections.

use notarium_record::{
    Actor, CommandId, CommandRecord, Envelope, Hash, Head, NotebookId, RawJson, Salt, Stored, Version, in_order,
};
use sqlx::sqlite::{SqliteArguments, SqliteRow};
use sqlx::{Row, SqliteExecutor, SqlitePool};

use super::rows::{hash, integer};
use crate::event_store::{Author, MAX_HISTORY_EVENTS, MAX_READ_EVENTS, page};

/// Columns that [`stored`] reads, in its order.
macro_rules! select_events {
    ($($rest:expr),+) => {
        concat!(
            "SELECT e.version, e.id, e.type, e.schema, a.id, e.command_id, e.correlation_id, e.causation_id, e.undoes, \
             e.recorded_at, e.salt, e.payload_digest, e.hash, e.payload ",
            $($rest),+
        )
    };
}

pub(super) fn limit(asked: usize, most: usize) -> i64 {
    i64::try_from(asked.min(most)).unwrap_or(i64::MAX)
}

fn decode(error: impl Into<sqlx::error::BoxDynError>) -> sqlx::Error {
    sqlx::Error::Decode(error.into())
}

fn optional<T, E: Into<sqlx::error::BoxDynError>>(
    row: &SqliteRow,
    column: usize,
    new: impl Fn(&str) -> Result<T, E>,
) -> Result<Option<T>, sqlx::Error> {
    row.try_get::<Option<&str>, _>(column)?.map(new).transpose().map_err(decode)
}

fn required<T, E: Into<sqlx::error::BoxDynError>>(
    row: &SqliteRow,
    column: usize,
    new: impl Fn(&str) -> Result<T, E>,
) -> Result<T, sqlx::Error> {
    new(row.try_get(column)?).map_err(decode)
}

fn stored(notebook: &NotebookId, row: &SqliteRow) -> Result<Stored, sqlx::Error> {
    let command_id: CommandId = required(row, 5, |id| id.parse())?;
    let actor = |key: &str| Actor::from_key(key).ok_or_else(|| format!("'{key}' is no actor"));
    let envelope = Envelope {
        notebook_id: notebook.clone(),
        version: row.try_get(0)?,
        id: required(row, 1, |id| id.parse())?,
        event_type: row.try_get(2)?,
        schema: row.try_get(3)?,
        actor: required(row, 4, actor)?,
        correlation_id: match optional(row, 6, |id| id.parse())? {
            Some(id) => id,
            None => command_id.as_str().parse().map_err(decode)?,
        },
        command_id,
        causation_id: optional(row, 7, |id| id.parse())?,
        undoes: optional(row, 8, |id| id.parse())?,
        recorded_at: row.try_get(9)?,
    };
    let salt = row.try_get::<Option<&[u8]>, _>(10)?.map(|salt| salt.try_into().map(Salt)).transpose();
    Ok(Stored {
        envelope,
        salt: salt.map_err(decode)?,
        payload_digest: hash(row.try_get(11)?)?,
        hash: hash(row.try_get(12)?)?,
        payload: required(row, 13, RawJson::parse)?,
    })
}

/// A query with bound arguments.
pub(super) type ReaderQuery<'a> = sqlx::query::Query<'a, sqlx::Sqlite, SqliteArguments>;

/// Returns the events of one of the queries below, in its order.
pub(super) async fn events(
    pool: &SqlitePool,
    notebook: &NotebookId,
    query: ReaderQuery<'_>,
) -> Result<Vec<Stored>, sqlx::Error> {
    query.fetch_all(pool).await?.iter().map(|row| stored(notebook, row)).collect()
}

/// Reads a head from three columns: version, hash, recorded_at.
pub(super) fn head_of(row: &SqliteRow, first: usize) -> Result<Head, sqlx::Error> {
    Ok(Head {
        version: row.try_get(first)?,
        hash: hash(row.try_get(first + 1)?)?,
        recorded_at: row.try_get(first + 2)?,
    })
}

pub(super) async fn read(
    pool: &SqlitePool,
    notebook: &NotebookId,
    after: Version,
    count: usize,
) -> Result<Vec<Stored>, sqlx::Error> {
    let query = sqlx::query(READ).bind(notebook.as_str()).bind(integer(after)).bind(limit(count, MAX_READ_EVENTS));
    let mut events = events(pool, notebook, query).await?;
    in_order(&mut events);
    Ok(events)
}

/// Places of a notebook's events after a version, the nearest first.
macro_rules! places {
    ($order:literal) => {
        concat!(
            "(SELECT version, position FROM places \
             WHERE notebook = (SELECT key FROM notebooks WHERE id = ?1) AND version > ?2 \
             UNION ALL SELECT version, position FROM recent_places \
             WHERE notebook = (SELECT key FROM notebooks WHERE id = ?1) AND version > ?2 ",
            $order,
            ")"
        )
    };
}

// CROSS JOIN makes SQLite use this order, here and below: first the place, then its event.
pub(super) const READ: &str = select_events!(
    "FROM ",
    places!("ORDER BY version LIMIT ?3"),
    " p CROSS JOIN events e ON e.position = p.position \
     JOIN actors a ON a.key = e.actor"
);

const AUTHORS: &str = "SELECT e.version, a.id, e.recorded_at FROM \
    (SELECT p.position FROM json_each(?2) wanted CROSS JOIN places p \
     ON p.notebook = (SELECT key FROM notebooks WHERE id = ?1) AND p.version = wanted.value \
     UNION ALL SELECT p.position FROM json_each(?2) wanted CROSS JOIN recent_places p \
     ON p.notebook = (SELECT key FROM notebooks WHERE id = ?1) AND p.version = wanted.value) q \
    CROSS JOIN events e ON e.position = q.position JOIN actors a ON a.key = e.actor ORDER BY e.version";

pub(super) async fn authors(
    pool: &SqlitePool,
    notebook: &NotebookId,
    versions: &[Version],
) -> Result<Vec<Author>, sqlx::Error> {
    let wanted = serde_json::to_string(versions).map_err(|error| sqlx::Error::Encode(error.into()))?;
    let rows = sqlx::query(AUTHORS).bind(notebook.as_str()).bind(wanted).fetch_all(pool).await?;
    let actor = |key: &str| Actor::from_key(key).ok_or_else(|| format!("'{key}' is no actor"));
    let author = |row: &SqliteRow| {
        Ok(Author { version: row.try_get(0)?, actor: required(row, 1, actor)?, recorded_at: row.try_get(2)? })
    };
    rows.iter().map(author).collect()
}

pub(super) const READ_SUBJECT: &str = select_events!(
    "FROM events e INDEXED BY events_by_subject JOIN actors a ON a.key = e.actor \
     WHERE e.notebook = (SELECT key FROM notebooks WHERE id = ?1) AND e.subject = ?2 AND e.version > ?3 \
     AND e.type <> 'CellSourceEdited' ORDER BY e.version LIMIT ?4"
);

pub(super) const EVENTS_OF_SUBJECT: &str = select_events!(
    "FROM json_each(?1) wanted CROSS JOIN events e INDEXED BY events_by_subject \
     ON e.notebook = (SELECT key FROM notebooks WHERE id = ?2) AND e.subject = wanted.value \
     AND e.type <> 'CellSourceEdited' JOIN actors a ON a.key = e.actor LIMIT ?3"
);

// The index by subject has no edits, so they are found by a scan of the versions.
pub(super) const SCAN_BY_SUBJECT: &str = select_events!(
    "FROM ",
    places!(""),
    " p CROSS JOIN events e ON e.position = p.position JOIN actors a ON a.key = e.actor \
     WHERE e.subject IN (SELECT value FROM json_each(?3)) OR (?4 AND e.subject IS NULL) LIMIT ?5"
);

// The list of types repeats the index's condition, so that SQLite uses the partial index.
pub(super) const EVENTS_OF_TYPE: &str = select_events!(
    "FROM events e INDEXED BY events_by_type JOIN actors a ON a.key = e.actor \
     WHERE e.notebook = (SELECT key FROM notebooks WHERE id = ?1) AND e.type = ?2 AND e.version < ?3 \
     AND (e.type = 'CellDeleted' OR e.type = 'ExecutionRequested' OR e.type = 'MessagePosted' OR e.type = 'ToolCallRequested' \
     OR e.type = 'TurnStarted') \
     ORDER BY e.version DESC LIMIT ?4"
);

/// Limit with one row more than callers may have, to detect too many.
pub(super) fn history_limit() -> i64 {
    limit(MAX_HISTORY_EVENTS + 1, usize::MAX)
}

pub(super) async fn command(
    pool: &SqlitePool,
    notebook: &NotebookId,
    actor: &str,
    command_id: &CommandId,
) -> Result<Option<CommandRecord>, sqlx::Error> {
    let sql = "SELECT digest, version, outcome FROM commands WHERE command_id = ? \
               AND notebook = (SELECT key FROM notebooks WHERE id = ?) AND actor = (SELECT key FROM actors WHERE id = ?)";
    let query = sqlx::query(sql).bind(command_id.as_str()).bind(notebook.as_str()).bind(actor);
    let Some(row) = query.fetch_optional(pool).await? else { return Ok(None) };
    let Hash(digest) = hash(row.try_get(0)?)?;
    let (actor, command_id) = (actor.to_owned(), command_id.clone());
    let outcome = required(&row, 2, RawJson::parse)?;
    Ok(Some(CommandRecord { actor, command_id, digest, version: row.try_get(1)?, outcome }))
}

// First what is wanted, then its row by the primary key.
const COMMANDS: &str = "SELECT a.id, c.command_id, c.digest, c.version, c.outcome FROM json_each(?1) wanted \
    CROSS JOIN actors a ON a.id = wanted.value ->> 0 \
    CROSS JOIN commands c ON c.command_id = wanted.value ->> 1 AND c.notebook = (SELECT key FROM notebooks WHERE id = ?2) AND c.actor = a.key";

pub(super) async fn commands(
    pool: &SqlitePool,
    notebook: &NotebookId,
    wanted: &[(String, CommandId)],
) -> Result<Vec<CommandRecord>, sqlx::Error> {
    let wanted = serde_json::to_string(wanted).map_err(|error| sqlx::Error::Encode(error.into()))?;
    let rows = sqlx::query(COMMANDS).bind(wanted).bind(notebook.as_str()).fetch_all(pool).await?;
    let record = |row: &SqliteRow| {
        Ok(CommandRecord {
            actor: row.try_get(0)?,
            command_id: required(row, 1, |id| id.parse())?,
            digest: hash(row.try_get(2)?)?.0,
            version: row.try_get(3)?,
            outcome: required(row, 4, RawJson::parse)?,
        })
    };
    rows.iter().map(record).collect()
}

pub(super) async fn count_commands(
    pool: &SqlitePool,
    notebook: &NotebookId,
    at_most: Version,
) -> Result<u64, sqlx::Error> {
    let sql =
        "SELECT count(*) FROM commands WHERE notebook = (SELECT key FROM notebooks WHERE id = ?) AND version <= ?";
    sqlx::query_scalar(sql).bind(notebook.as_str()).bind(integer(at_most)).fetch_one(pool).await
}

pub(super) async fn notebooks(
    database: impl SqliteExecutor<'_>,
    after: Option<&NotebookId>,
    count: usize,
) -> Result<Vec<(NotebookId, Head)>, sqlx::Error> {
    let sql = "SELECT n.id, e.version, e.hash, e.recorded_at FROM notebooks n JOIN heads h ON h.notebook = n.key \
               JOIN events e ON e.position = h.position WHERE n.id > ? ORDER BY n.id LIMIT ?";
    let after = after.map_or("", NotebookId::as_str);
    let rows = sqlx::query(sql).bind(after).bind(limit(page(count), usize::MAX)).fetch_all(database).await?;
    rows.iter().map(|row| Ok((required(row, 0, |id| id.parse())?, head_of(row, 1)?))).collect()
}
