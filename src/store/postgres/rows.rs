//! The arrays of an append: one value per row and column, for the one statement that writes a batch.

use foldhash::HashMap;
use notarium_record::{Append, Hash, NewEvent};
use sqlx::Postgres;
use sqlx::postgres::PgArguments;

use super::reader::Query;
use crate::event_store::EVENT_OVERHEAD_BYTES;
use crate::group_commit::payload_bytes;

/// Converts a version, time or size, which is below 2^53.
pub(super) fn integer(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// Writes a batch: moves the heads of the notebooks that are as expected, and adds the events and commands of these. It returns their ids;
/// of the others nothing is written.
///
/// **Invariant.** Epoch, expected version and hash stand in the `WHERE` of the write itself. So it waits for a transaction that takes the
/// lease or writes the head, and then sees what that one wrote.
const APPEND: &str = "WITH wanted AS (\
      SELECT * FROM unnest($1::text[], $2::bigint[], $3::bigint[], $4::bytea[], $5::bigint[], $6::bytea[], $7::bigint[], $8::bigint[]) \
        AS w (notebook, epoch, expected, expected_hash, version, hash, recorded_at, bytes) ORDER BY 1), \
    moved AS (\
      UPDATE notebooks n SET version = w.version, hash = w.hash, recorded_at = w.recorded_at, log_bytes = n.log_bytes + w.bytes \
      FROM wanted w WHERE n.id = w.notebook AND n.epoch = w.epoch AND n.version = w.expected AND n.hash = w.expected_hash RETURNING n.id), \
    written AS (\
      INSERT INTO events (notebook, version, id, type, schema, actor, command_id, correlation_id, causation_id, undoes, recorded_at, \
        subject, salt, payload_digest, hash, payload) \
      SELECT e.* FROM unnest($9::text[], $10::bigint[], $11::text[], $12::text[], $13::int[], $14::text[], $15::text[], $16::text[], \
        $17::text[], $18::text[], $19::bigint[], $20::text[], $21::bytea[], $22::bytea[], $23::bytea[], $24::bytea[]) \
        AS e (notebook, version, id, type, schema, actor, command_id, correlation_id, causation_id, undoes, recorded_at, subject, salt, \
        payload_digest, hash, payload) JOIN moved ON moved.id = e.notebook), \
    answered AS (\
      INSERT INTO commands (notebook, command_id, actor, digest, version, outcome) \
      SELECT c.* FROM unnest($25::text[], $26::text[], $27::text[], $28::bytea[], $29::bigint[], $30::text[]) \
        AS c (notebook, command_id, actor, digest, version, outcome) JOIN moved ON moved.id = c.notebook) \
    SELECT id FROM moved";

const INSERT_EVENTS: &str = "INSERT INTO events (notebook, version, id, type, schema, actor, command_id, correlation_id, causation_id, \
      undoes, recorded_at, subject, salt, payload_digest, hash, payload) \
    SELECT * FROM unnest($1::text[], $2::bigint[], $3::text[], $4::text[], $5::int[], $6::text[], $7::text[], $8::text[], $9::text[], \
      $10::text[], $11::bigint[], $12::text[], $13::bytea[], $14::bytea[], $15::bytea[], $16::bytea[]) ON CONFLICT DO NOTHING";

/// A batch as columns. Appends of one notebook follow each other.
#[derive(Default)]
pub(super) struct BatchColumns<'a> {
    heads: HeadColumns<'a>,
    events: EventColumns<'a>,
    commands: CommandColumns<'a>,
}

#[derive(Default)]
struct HeadColumns<'a> {
    rows: HashMap<&'a str, usize>,
    notebook: Vec<&'a str>,
    epoch: Vec<i64>,
    expected: Vec<i64>,
    expected_hash: Vec<&'a [u8]>,
    version: Vec<i64>,
    hash: Vec<Hash>,
    recorded_at: Vec<i64>,
    bytes: Vec<i64>,
}

/// Rows of events.
#[derive(Default)]
pub(super) struct EventColumns<'a> {
    notebook: Vec<&'a str>,
    version: Vec<i64>,
    id: Vec<&'a str>,
    event_type: Vec<&'a str>,
    schema: Vec<i32>,
    actor: Vec<String>,
    command_id: Vec<&'a str>,
    correlation_id: Vec<Option<&'a str>>,
    causation_id: Vec<Option<&'a str>>,
    undoes: Vec<Option<&'a str>>,
    recorded_at: Vec<i64>,
    subject: Vec<Option<&'a str>>,
    salt: Vec<Option<&'a [u8]>>,
    payload_digest: Vec<&'a [u8]>,
    hash: Vec<&'a [u8]>,
    payload: Vec<&'a [u8]>,
}

#[derive(Default)]
struct CommandColumns<'a> {
    notebook: Vec<&'a str>,
    command_id: Vec<&'a str>,
    actor: Vec<&'a str>,
    digest: Vec<&'a [u8]>,
    version: Vec<i64>,
    outcome: Vec<&'a str>,
}

impl<'a> BatchColumns<'a> {
    pub(super) fn of(appends: &[&'a Append]) -> Self {
        let mut batch = Self::default();
        for append in appends {
            batch.add(append);
        }
        batch
    }

    fn add(&mut self, append: &'a Append) {
        let notebook = append.notebook_id.as_str();
        self.heads.add(notebook, append);
        self.events.add(notebook, append);
        let commands = &mut self.commands;
        for command in &append.commands {
            commands.notebook.push(notebook);
            commands.command_id.push(command.command_id.as_str());
            commands.actor.push(&command.actor);
            commands.digest.push(&command.digest);
            commands.version.push(integer(command.version));
            commands.outcome.push(command.outcome.get());
        }
    }

    /// The statement, with its arguments.
    pub(super) fn query(&self) -> sqlx::query::QueryScalar<'_, Postgres, String, PgArguments> {
        let Self { heads, events, commands } = self;
        let hashes: Vec<&[u8]> = heads.hash.iter().map(|hash| hash.0.as_slice()).collect();
        let query = sqlx::query_scalar(APPEND).bind(&heads.notebook).bind(&heads.epoch).bind(&heads.expected);
        let query = query.bind(&heads.expected_hash).bind(&heads.version).bind(hashes).bind(&heads.recorded_at);
        let query = query.bind(&heads.bytes).bind(&events.notebook).bind(&events.version).bind(&events.id);
        let query = query.bind(&events.event_type).bind(&events.schema).bind(&events.actor).bind(&events.command_id);
        let query = query.bind(&events.correlation_id).bind(&events.causation_id).bind(&events.undoes);
        let query = query.bind(&events.recorded_at).bind(&events.subject).bind(&events.salt);
        let query = query.bind(&events.payload_digest).bind(&events.hash).bind(&events.payload);
        let query = query.bind(&commands.notebook).bind(&commands.command_id).bind(&commands.actor);
        query.bind(&commands.digest).bind(&commands.version).bind(&commands.outcome)
    }
}

impl<'a> HeadColumns<'a> {
    /// Adds a notebook's head, or moves it on if the append follows another of the batch.
    fn add(&mut self, notebook: &'a str, append: &'a Append) {
        let head = append.head();
        let bytes = integer(payload_bytes(append) as u64 + append.events.len() as u64 * EVENT_OVERHEAD_BYTES);
        if let Some(&row) = self.rows.get(notebook) {
            (self.version[row], self.hash[row]) = (integer(head.version), head.hash);
            self.recorded_at[row] = integer(head.recorded_at);
            self.bytes[row] += bytes;
            return;
        }
        self.rows.insert(notebook, self.notebook.len());
        self.notebook.push(notebook);
        self.epoch.push(integer(append.epoch));
        self.expected.push(integer(append.expected.version));
        self.expected_hash.push(&append.expected.hash.0);
        self.version.push(integer(head.version));
        self.hash.push(head.hash);
        self.recorded_at.push(integer(head.recorded_at));
        self.bytes.push(bytes);
    }
}

impl<'a> EventColumns<'a> {
    fn add(&mut self, notebook: &'a str, append: &'a Append) {
        for event in &append.events {
            self.add_event(notebook, event);
        }
    }

    pub(super) fn add_event(&mut self, notebook: &'a str, event: &'a NewEvent) {
        let (stored, envelope) = (&event.stored, &event.stored.envelope);
        let is_own_group = envelope.correlation_id.as_str() == envelope.command_id.as_str();
        self.notebook.push(notebook);
        self.version.push(integer(envelope.version));
        self.id.push(envelope.id.as_str());
        self.event_type.push(&envelope.event_type);
        self.schema.push(i32::from(envelope.schema));
        self.actor.push(envelope.actor.key());
        self.command_id.push(envelope.command_id.as_str());
        self.correlation_id.push((!is_own_group).then(|| envelope.correlation_id.as_str()));
        self.causation_id.push(envelope.causation_id.as_ref().map(|id| id.as_str()));
        self.undoes.push(envelope.undoes.as_ref().map(|id| id.as_str()));
        self.recorded_at.push(integer(envelope.recorded_at));
        self.subject.push(event.subject.as_deref());
        self.salt.push(stored.salt.as_ref().map(|salt| salt.0.as_slice()));
        self.payload_digest.push(&stored.payload_digest.0);
        self.hash.push(&stored.hash.0);
        self.payload.push(stored.payload.get().as_bytes());
    }

    /// Inserts the rows by themselves; those that are there already stay.
    pub(super) fn insert(&self) -> Query<'_> {
        let query = sqlx::query(INSERT_EVENTS).bind(&self.notebook).bind(&self.version).bind(&self.id);
        let query = query.bind(&self.event_type).bind(&self.schema).bind(&self.actor).bind(&self.command_id);
        let query = query.bind(&self.correlation_id).bind(&self.causation_id).bind(&self.undoes);
        let query = query.bind(&self.recorded_at).bind(&self.subject).bind(&self.salt);
        query.bind(&self.payload_digest).bind(&self.hash).bind(&self.payload)
    }
}
