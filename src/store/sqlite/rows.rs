//! Bound values of each statement in a batch, in column order.

use std::sync::Arc;

use notarium_record::{CommandRecord, CorrelationId, EventId, Hash, NewEvent};
use sqlx::Arguments;
use sqlx::sqlite::SqliteArguments;

use super::multi_row::{MultiRow, Row};
use super::plan::{ActorKey, NotebookKey};

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
