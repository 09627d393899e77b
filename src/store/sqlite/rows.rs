//! Bound values of each statement in a batch, in column order. Many rows go
//! into one statement, and many statements into one script, which is one message to sqlx's thread. sqlx costs 15–20 µs per *statement*. On an idle
//! machine each switch between its thread and ours costs several times that.

use std::collections::HashMap;
use std::sync::Arc;

use notarium_record::{CommandRecord, CorrelationId, EventId, Hash, NewEvent};
use sqlx::sqlite::SqliteArguments;
use sqlx::{Arguments, AssertSqlSafe, SqliteConnection};

use super::writer::ActorKey;
use crate::group_commit::NotebookKey;

// `OR FAIL`: a failed batch is rolled back as a whole. So SQLite needs no statement journal (a temporary file) to undo one statement.
const EVENTS: MultiRow = MultiRow::new(
    "INSERT OR FAIL INTO events (notebook, version, id, type, schema, actor, command_id, correlation_id, causation_id, undoes, \
     recorded_at, subject, salt, payload_digest, hash, payload)",
    16,
);

// The insert before wrote the last events of the log, so their positions follow from the last one and their number. The primary key refuses
// a version that the table already has; NULL refuses one that `places` has.
pub(super) static INSERT_EVENTS: MultiRow = EVENTS.then(
    "INSERT OR FAIL INTO recent_places SELECT notebook, version, iif(EXISTS (SELECT 1 FROM places p \
     WHERE p.notebook = events.notebook AND p.version = events.version), NULL, position) \
     FROM events WHERE position > last_insert_rowid() - changes();",
);

/// Insert of a large batch, when there are no recent places.
pub(super) static INSERT_MANY_EVENTS: MultiRow = EVENTS.then(
    "INSERT OR FAIL INTO places SELECT notebook, version, position FROM events WHERE position > last_insert_rowid() - changes();",
);

pub(super) static INSERT_COMMANDS: MultiRow =
    MultiRow::new("INSERT OR FAIL INTO commands (notebook, actor, command_id, digest, version, outcome)", 6);

pub(super) static INSERT_NOTEBOOKS: MultiRow = MultiRow::new("INSERT OR FAIL INTO notebooks (key, id)", 2);

pub(super) static INSERT_ACTORS: MultiRow = MultiRow::new("INSERT OR FAIL INTO actors (key, id)", 2);

pub(super) fn hash(bytes: &[u8]) -> Result<Hash, sqlx::Error> {
    bytes.try_into().map(Hash).map_err(|_| sqlx::Error::Decode("a hash has 32 bytes".into()))
}

/// Converts a version or time, which `Append::check` keeps below 2^53.
pub(super) fn integer(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// Converts a text; sqlx passes an `Arc` on, and would copy a `&str` into two allocations.
fn text(text: &str) -> Arc<str> {
    text.into()
}

type Bound = Result<(), sqlx::error::BoxDynError>;

/// A text and its small key.
pub(super) struct KeyRow {
    pub(super) key: i64,
    pub(super) id: String,
}

impl Row for KeyRow {
    fn bind(&self, arguments: &mut SqliteArguments) -> Bound {
        arguments.add(self.key)?;
        arguments.add(text(&self.id))
    }
}

pub(super) struct CommandRow<'a> {
    pub(super) notebook: NotebookKey,
    pub(super) actor: ActorKey,
    pub(super) command: &'a CommandRecord,
}

impl Row for CommandRow<'_> {
    fn bind(&self, arguments: &mut SqliteArguments) -> Bound {
        arguments.add(self.notebook)?;
        arguments.add(self.actor)?;
        arguments.add(self.command.command_id.shared())?;
        arguments.add(self.command.digest.as_slice())?;
        arguments.add(integer(self.command.version))?;
        arguments.add(text(self.command.outcome.get()))
    }
}

pub(super) struct EventRow<'a> {
    pub(super) notebook: NotebookKey,
    pub(super) actor: ActorKey,
    pub(super) event: &'a NewEvent,
}

impl Row for EventRow<'_> {
    fn bind(&self, arguments: &mut SqliteArguments) -> Bound {
        let stored = &self.event.stored;
        let envelope = &stored.envelope;
        let is_own_group = envelope.correlation_id.as_str() == envelope.command_id.as_str();
        arguments.add(self.notebook)?;
        arguments.add(integer(envelope.version))?;
        arguments.add(envelope.id.shared())?;
        arguments.add(text(envelope.event_type.as_str()))?;
        arguments.add(i32::from(envelope.schema))?;
        arguments.add(self.actor)?;
        arguments.add(envelope.command_id.shared())?;
        arguments.add((!is_own_group).then(|| envelope.correlation_id.shared()))?;
        arguments.add(envelope.causation_id.as_ref().map(EventId::shared))?;
        arguments.add(envelope.undoes.as_ref().map(CorrelationId::shared))?;
        arguments.add(integer(envelope.recorded_at))?;
        arguments.add(self.event.subject.as_deref().map(text))?;
        arguments.add(stored.salt.as_ref().map(|salt| salt.0.as_slice()))?;
        arguments.add(stored.payload_digest.0.as_slice())?;
        arguments.add(stored.hash.0.as_slice())?;
        arguments.add(text(stored.payload.get()))
    }
}

/// Number of sizes: 1, 2, 4 … rows, few enough to keep all statements prepared.
const SIZES: usize = 10;

/// Maximum rows of one statement.
pub(super) const MAX_ROWS: usize = 1 << (SIZES - 1);

/// A row that binds exactly one argument per column of its statement; the first is never NULL.
pub(super) trait Row {
    fn bind(&self, arguments: &mut SqliteArguments) -> Result<(), sqlx::error::BoxDynError>;
}

/// An insert in fixed sizes. Unused rows are NULL, and are filtered out.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct MultiRow {
    insert: &'static str,
    columns: usize,
    /// Statements after each insert that bind nothing, each with its semicolon.
    then: &'static str,
}

impl MultiRow {
    pub(super) const fn new(insert: &'static str, columns: usize) -> Self {
        Self { insert, columns, then: "" }
    }

    pub(super) const fn then(self, then: &'static str) -> Self {
        Self { then, ..self }
    }

    fn write(&self, rows: usize, is_full: bool, sql: &mut String) {
        let row = format!("({})", vec!["?"; self.columns].join(","));
        let values = vec![row; rows].join(",");
        sql.push_str(self.insert);
        match is_full {
            true => sql.extend([" VALUES ", &values, ";"]),
            false => sql.extend([" SELECT * FROM (VALUES ", &values, ") WHERE column1 IS NOT NULL;"]),
        }
        sql.push_str(self.then);
    }
}

#[derive(Debug, PartialEq, Eq, Hash)]
enum Statement {
    /// An insert with its number of rows, and whether all of them are used.
    Insert(&'static MultiRow, usize, bool),
    /// A statement that binds nothing.
    Plain(&'static str),
}

type Shape = Vec<Statement>;

/// A transaction that is sent as one piece.
#[derive(Default)]
pub(super) struct SqlScript {
    shape: Shape,
    arguments: SqliteArguments,
}

impl SqlScript {
    /// Reserves memory for all arguments, as growing would copy hundreds of kilobytes.
    pub(super) fn reserve(&mut self, rows: &[(&MultiRow, usize)]) {
        let arguments = rows.iter().map(|(statement, rows)| rows.next_power_of_two() * statement.columns);
        self.arguments.reserve(arguments.sum(), 0);
    }

    /// Adds rows, up to [`MAX_ROWS`] per statement.
    pub(super) fn insert<R: Row>(&mut self, statement: &'static MultiRow, rows: &[R]) -> Result<(), sqlx::Error> {
        for chunk in rows.chunks(MAX_ROWS) {
            let room = chunk.len().next_power_of_two();
            for row in chunk {
                row.bind(&mut self.arguments).map_err(sqlx::Error::Encode)?;
            }
            for _ in 0..(room - chunk.len()) * statement.columns {
                self.arguments.add(None::<i64>).map_err(sqlx::Error::Encode)?;
            }
            self.shape.push(Statement::Insert(statement, room, room == chunk.len()));
        }
        Ok(())
    }

    /// Adds statements that bind nothing, each with its semicolon.
    pub(super) fn add(&mut self, statements: &'static str) {
        self.shape.push(Statement::Plain(statements));
    }

    /// Runs the transaction; returns after its sync to disk. After an error the transaction may still be open.
    pub(super) async fn execute(self, connection: &mut SqliteConnection, texts: &mut Texts) -> Result<(), sqlx::Error> {
        let sql = AssertSqlSafe(texts.of(self.shape));
        sqlx::query_with(sql, self.arguments).execute(connection).await.map(|_| ())
    }

    /// Runs the statements inside of a transaction that the caller ends.
    pub(super) async fn execute_within(self, connection: &mut SqliteConnection) -> Result<(), sqlx::Error> {
        let sql = AssertSqlSafe(statements(&self.shape));
        sqlx::query_with(sql, self.arguments).execute(connection).await.map(|_| ())
    }
}

/// Cache of scripts: sqlx keeps scripts with the same text prepared.
#[derive(Default)]
pub(super) struct Texts(HashMap<Shape, Arc<str>>);

impl Texts {
    fn of(&mut self, shape: Shape) -> Arc<str> {
        if self.0.len() >= MAX_TEXTS {
            self.0.clear();
        }
        self.0.entry(shape).or_insert_with_key(script_text).clone()
    }
}

/// Maximum number of cached scripts, about 20 KB each.
const MAX_TEXTS: usize = 64;

fn script_text(shape: &Shape) -> Arc<str> {
    format!("BEGIN IMMEDIATE;{}COMMIT", statements(shape)).into()
}

fn statements(shape: &Shape) -> String {
    let mut sql = String::new();
    for statement in shape {
        match statement {
            Statement::Insert(statement, rows, is_full) => statement.write(*rows, *is_full, &mut sql),
            Statement::Plain(statements) => sql.push_str(statements),
        }
    }
    sql
}

#[cfg(test)]
mod tests {
    use super::*;

    static TWO: MultiRow = MultiRow::new("INSERT INTO t", 2);

    struct Pair(i64, i64);

    impl Row for Pair {
        fn bind(&self, arguments: &mut SqliteArguments) -> Result<(), sqlx::error::BoxDynError> {
            arguments.add(self.0)?;
            arguments.add(self.1)
        }
    }

    #[test]
    fn a_script_is_one_transaction_with_room_for_a_power_of_two_rows() {
        let mut script = SqlScript::default();
        script.insert(&TWO, &[Pair(1, 2), Pair(3, 4), Pair(5, 6)]).unwrap();
        assert_eq!(script.shape, [Statement::Insert(&TWO, 4, false)]);
        assert_eq!(script.arguments.len(), 8);
        let expected = "BEGIN IMMEDIATE;INSERT INTO t SELECT * FROM (VALUES (?,?),(?,?),(?,?),(?,?)) \
                        WHERE column1 IS NOT NULL;COMMIT";
        assert_eq!(&*script_text(&script.shape), expected);
        script.add("DELETE FROM t;");
        assert!(script_text(&script.shape).ends_with(";DELETE FROM t;COMMIT"));
    }

    #[test]
    fn more_rows_than_a_statement_holds_go_into_several() {
        let mut script = SqlScript::default();
        let rows: Vec<Pair> = (0..=MAX_ROWS as i64).map(|row| Pair(row, row)).collect();
        script.insert(&TWO, &rows).unwrap();
        assert_eq!(script.shape, [Statement::Insert(&TWO, MAX_ROWS, true), Statement::Insert(&TWO, 1, true)]);
    }
}
