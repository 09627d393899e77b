//! Group commit: the queued appends of all notebooks go into one statement, one round trip, one sync.
//!
//! Nothing is cached: a batch is written as if every notebook's first append had the right head, and the statement says which had. What
//! was refused is planned again with the heads, leases and commands that the database has then.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::{Duration, Instant};

use foldhash::{HashMap, HashSet};
use futures_util::FutureExt;
use notarium_record::{Append, CommandId, Head, NotebookId};
use sqlx::postgres::PgPool;
use sqlx::{Connection, PgConnection, Row as _};
use tokio::sync::mpsc;

use super::error::{StatementFailure, failure, sent_error, store_error};
use super::health::WriteHealth;
use super::open::Address;
use super::reader::head_of;
use super::rows::BatchColumns;
use super::{ExpectedLeases, STATEMENT_TIMEOUT, removal};
use crate::group_commit::{BatchPlan, CommandPlace, NotebookHead, Queued, command_places, take_batch};
use crate::store_error::{AppendError, StoreError};

/// Delay after a panic, so that a fault in every batch does not use up the machine.
const PAUSE_AFTER_FAULT: Duration = Duration::from_millis(100);

/// Time after which the connection is tried before a batch: the server may have ended it.
const IDLE: Duration = Duration::from_secs(1);

/// Attempts at a batch while other transactions stand in its way.
const ATTEMPTS: u32 = 20;

/// The only writing connection of a node; made anew after it broke.
pub(super) struct PrimaryConnection {
    address: Address,
    /// Connections for reads: they follow the writer to another host.
    pool: PgPool,
    connected: Option<PgConnection>,
    used_at: Instant,
}

impl PrimaryConnection {
    pub(super) fn new(address: Address, pool: PgPool, connection: PgConnection) -> Self {
        Self { address, pool, connected: Some(connection), used_at: Instant::now() }
    }

    /// Returns a connection that answers.
    async fn get(&mut self) -> Result<&mut PgConnection, StoreError> {
        let is_idle = self.used_at.elapsed() > IDLE;
        if is_idle && let Some(connection) = &mut self.connected {
            let answered = tokio::time::timeout(IDLE, connection.ping()).await;
            if !matches!(answered, Ok(Ok(()))) {
                self.connected = None;
            }
        }
        let connection = match self.connected.take() {
            Some(connection) => connection,
            None => {
                let (connection, options) = self.address.connect().await?;
                self.pool.set_connect_options(options);
                connection
            }
        };
        self.used_at = Instant::now();
        Ok(self.connected.insert(connection))
    }
}

/// Error of an attempt to write a batch.
enum WriteError {
    /// Another transaction stood in the way.
    Conflict,
    /// A command is recorded already.
    Duplicate,
    Store(StoreError),
}

/// An append that is not answered yet, by its place in the batch.
type OpenAppends<'a> = Vec<(usize, &'a Append)>;

/// Heads of notebooks, and commands that are recorded already.
type LookedUp<'a> = (HashMap<NotebookId, NotebookHead>, HashSet<CommandPlace<'a>>);

/// The only task of a node that appends.
pub(super) struct BatchWriter {
    pub(super) connection: PrimaryConnection,
    pub(super) queue: mpsc::Receiver<Queued>,
    pub(super) health: Arc<WriteHealth>,
    pub(super) expected_leases: Arc<ExpectedLeases>,
}

impl BatchWriter {
    /// Runs until all senders are dropped and every queued append is answered.
    pub(super) async fn run(mut self) {
        while let Some(first) = self.queue.recv().await {
            // Lets senders that were just answered queue their next append.
            tokio::task::yield_now().await;
            let batch = take_batch(&mut self.queue, first);
            if AssertUnwindSafe(self.commit(batch)).catch_unwind().await.is_err() {
                // Waiting senders learn that the outcome is unknown.
                tracing::error!("a fault in the writer: it goes on with what is queued");
                self.connection.connected = None;
                tokio::time::sleep(PAUSE_AFTER_FAULT).await;
            }
        }
        if let Some(connection) = self.connection.connected.take() {
            // Nothing is open: a failed close loses nothing.
            let _ = connection.close().await;
        }
    }

    async fn commit(&mut self, batch: Vec<Queued>) {
        let began = self.health.commits.begin(&batch);
        let (appends, answers): (Vec<Append>, Vec<_>) =
            batch.into_iter().map(|queued| (queued.append, queued.answer)).unzip();
        let mut results: Vec<Option<Result<(), AppendError>>> = vec![None; appends.len()];
        let written = self.write(&appends, &mut results).await;
        self.health.written(written.as_ref().err());
        self.health.commits.end(began, written.is_ok());
        if let Err(error) = &written {
            tracing::error!(%error, appends = appends.len(), "a batch was not written");
        }
        let rest = written.map_err(AppendError::Store);
        for (answer, result) in answers.into_iter().zip(results) {
            // A dropped receiver needs no answer.
            let _ = answer.send(result.unwrap_or_else(|| rest.clone()));
        }
    }

    /// Writes the appends. Those with a result are answered; for the others the returned one counts.
    async fn write(
        &mut self,
        appends: &[Append],
        results: &mut [Option<Result<(), AppendError>>],
    ) -> Result<(), StoreError> {
        let mut open: OpenAppends = appends.iter().enumerate().collect();
        let (mut heads, mut recorded) = (expected_heads(&open), HashSet::default());
        for attempt in 0..ATTEMPTS {
            if attempt > 0 {
                match self.look_up(&open).await {
                    Ok(found) => (heads, recorded) = found,
                    Err(Some(error)) => return Err(error),
                    Err(None) => {
                        tokio::time::sleep(pause(attempt)).await;
                        continue;
                    }
                }
            }
            let plan = BatchPlan::of(open.iter().map(|(_, append)| *append), &heads, &recorded);
            if attempt > 0 {
                for (index, error) in plan.refused {
                    results[open[index].0] = Some(Err(error));
                }
            }
            let accepted: Vec<&Append> = plan.accepted.iter().map(|index| open[*index].1).collect();
            match self.insert(&accepted).await {
                Ok(moved) => {
                    for index in plan.accepted {
                        let (place, append) = open[index];
                        results[place] = moved.contains(append.notebook_id.as_str()).then_some(Ok(()));
                    }
                }
                Err(WriteError::Store(error)) => return Err(error),
                Err(WriteError::Conflict) => tokio::time::sleep(pause(attempt)).await,
                Err(WriteError::Duplicate) => {}
            }
            open.retain(|(place, _)| results[*place].is_none());
            if open.is_empty() {
                return Ok(());
            }
        }
        Err(StoreError::Unavailable { reason: "other transactions stand in the way again and again".to_owned() })
    }

    /// Reads heads and recorded commands. `Err(None)`: it may succeed at once, as nothing was written.
    async fn look_up<'a>(&mut self, open: &OpenAppends<'a>) -> Result<LookedUp<'a>, Option<StoreError>> {
        let connection = self.connection.get().await.map_err(Some)?;
        let found = async {
            Ok::<_, sqlx::Error>((read_heads(connection, open).await?, recorded_commands(connection, open).await?))
        };
        let error = match tokio::time::timeout(STATEMENT_TIMEOUT, found).await {
            Ok(Ok(found)) => return Ok(found),
            Ok(Err(error)) => error,
            Err(_) => sqlx::Error::PoolTimedOut,
        };
        match failure(&error) {
            StatementFailure::Conflict => Err(None),
            StatementFailure::Lost => {
                self.connection.connected = None;
                Err(None)
            }
            _ => Err(Some(store_error(error))),
        }
    }

    /// Runs the statement; returns the notebooks whose appends are written.
    async fn insert(&mut self, appends: &[&Append]) -> Result<HashSet<String>, WriteError> {
        if appends.is_empty() {
            return Ok(HashSet::default());
        }
        let connection = self.connection.get().await.map_err(WriteError::Store)?;
        let inserting = insert(connection, appends, &self.expected_leases);
        let done = tokio::time::timeout(STATEMENT_TIMEOUT, inserting).await;
        let error = match done {
            Ok(Ok(moved)) => return Ok(moved.into_iter().collect()),
            Ok(Err(error)) => match failure(&error) {
                StatementFailure::Conflict => return Err(WriteError::Conflict),
                StatementFailure::Duplicate => return Err(WriteError::Duplicate),
                StatementFailure::Lost => sent_error(error),
                // Another host takes writes now.
                StatementFailure::ReadOnly => {
                    self.connection.connected = None;
                    return Err(WriteError::Conflict);
                }
                StatementFailure::Other => return Err(WriteError::Store(store_error(error))),
            },
            Err(_) => StoreError::Unknown { reason: "PostgreSQL did not answer in time".to_owned() },
        };
        // The next batch connects anew: another host may take writes now.
        self.connection.connected = None;
        Err(WriteError::Store(error))
    }
}

async fn insert(
    connection: &mut PgConnection,
    appends: &[&Append],
    expected: &ExpectedLeases,
) -> Result<Vec<String>, sqlx::Error> {
    let new = appends.iter().filter(|append| append.expected.version == 0).map(|append| &append.notebook_id);
    let new: Vec<&NotebookId> = new.collect();
    if !new.is_empty() {
        let ids: Vec<&str> = new.iter().map(|notebook| notebook.as_str()).collect();
        let holders: Vec<Option<String>> =
            new.iter().map(|notebook| expected.of(notebook).map(|instance| instance.to_string())).collect();
        let sql = "INSERT INTO notebooks (id, holder, hash) SELECT n.id, n.holder, $3 \
                   FROM unnest($1::text[], $2::text[]) AS n (id, holder) ON CONFLICT DO NOTHING";
        let query = sqlx::query(sql).bind(ids).bind(holders).bind(Head::START.hash.0.as_slice());
        query.execute(&mut *connection).await?;
    }
    let batch = BatchColumns::of(appends);
    let Some(removing) = appends.iter().find(|append| !append.removal.is_empty()) else {
        return batch.query().fetch_all(connection).await;
    };
    let mut transaction = connection.begin().await?;
    let moved = batch.query().fetch_all(&mut *transaction).await?;
    if !moved.is_empty() {
        removal::remove(&mut transaction, &removing.notebook_id, &removing.removal).await?;
    }
    transaction.commit().await?;
    Ok(moved)
}

/// Grows with each attempt; differs between the notebooks' owners by their timing.
fn pause(attempt: u32) -> Duration {
    Duration::from_millis(u64::from(2 + attempt * 5))
}

/// Heads as the first append of each notebook expects them.
fn expected_heads(open: &OpenAppends) -> HashMap<NotebookId, NotebookHead> {
    let mut heads = HashMap::default();
    for (_, append) in open {
        let head = NotebookHead { key: 0, epoch: append.epoch, head: append.expected };
        heads.entry(append.notebook_id.clone()).or_insert(head);
    }
    heads
}

async fn read_heads(
    connection: &mut PgConnection,
    open: &OpenAppends<'_>,
) -> Result<HashMap<NotebookId, NotebookHead>, sqlx::Error> {
    let ids: Vec<&str> = open.iter().map(|(_, append)| append.notebook_id.as_str()).collect();
    let sql = "SELECT version, hash, recorded_at, epoch, id FROM notebooks WHERE id = ANY($1)";
    let mut heads = HashMap::default();
    for row in sqlx::query(sql).bind(ids).fetch_all(connection).await? {
        let id: NotebookId =
            row.try_get::<&str, _>(4)?.parse().map_err(|error| sqlx::Error::Decode(Box::new(error)))?;
        let epoch = u64::try_from(row.try_get::<i64, _>(3)?).unwrap_or(0);
        heads.insert(id, NotebookHead { key: 0, epoch, head: head_of(&row, 0)? });
    }
    Ok(heads)
}

/// Returns the commands of these appends that are already in the store.
async fn recorded_commands<'a>(
    connection: &mut PgConnection,
    open: &OpenAppends<'a>,
) -> Result<HashSet<CommandPlace<'a>>, sqlx::Error> {
    let places: Vec<CommandPlace> = open.iter().flat_map(|(_, append)| command_places(append)).collect();
    let notebooks: Vec<&str> = places.iter().map(|(notebook, ..)| notebook.as_str()).collect();
    let actors: Vec<&str> = places.iter().map(|(_, actor, _)| *actor).collect();
    let ids: Vec<&str> = places.iter().map(|(.., id)| CommandId::as_str(id)).collect();
    let sql = "SELECT w.place FROM unnest($1::text[], $2::text[], $3::text[]) WITH ORDINALITY AS w (notebook, actor, command_id, place) \
               JOIN commands c ON c.notebook = w.notebook AND c.actor = w.actor AND c.command_id = w.command_id";
    let found: Vec<i64> = sqlx::query_scalar(sql).bind(notebooks).bind(actors).bind(ids).fetch_all(connection).await?;
    let found = found.into_iter().filter_map(|place| usize::try_from(place - 1).ok());
    Ok(found.filter_map(|index| places.get(index).copied()).collect())
}
