//! PostgreSQL backend of the store: for several nodes over one database.
//!
//! One task of a node appends: it takes the queued appends of all notebooks and writes them with one statement. Any number of nodes may do
//! so: a notebook's lease, which is a row with an epoch, stands in that statement. Nothing is cached between statements.
//!
//! Every transaction may be cut off, or stand in another's way; it is then tried again as it is. An append whose answer was lost is *unknown*.
//! Advisory locks, triggers, sequences, temporary tables, settings of a session and notifications are not used: another engine with PostgreSQL's
//! protocol may lack them. A test reads the SQL.

mod accounts;
mod catalog;
mod cold;
mod error;
mod health;
mod nodes;
mod open;
mod past_lines;
mod projections;
mod reader;
mod removal;
mod rows;
mod store;
#[cfg(test)]
mod tests;
mod transfer;
mod tree_turn;
mod writer;

use std::sync::Arc;
use std::time::Duration;

use foldhash::HashMap;
use notarium_record::{Epoch, InstanceId, NotebookId, Version};
use parking_lot::Mutex;
use sqlx::postgres::PgPool;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use self::cold::ColdEvents;
use self::error::{StatementFailure, failure, sent_error, store_error};
use self::health::WriteHealth;
use self::open::Address;
use self::writer::{BatchWriter, PrimaryConnection};
use crate::content_locks::ContentLocks;
use crate::group_commit::{MAX_QUEUED_APPENDS, Queued};
use crate::segments::Segments;
use crate::snapshots::MAX_SNAPSHOT_GAP;
use crate::store_error::StoreError;

/// Attempts at a query or transaction that stands in another's way, or whose connection broke.
const MAX_ATTEMPTS: u32 = 10;

/// Attempts for which one counts that waited until its time was over.
const SLOW_ATTEMPT: u32 = 5;

/// Time that a statement or transaction may take.
pub(crate) const STATEMENT_TIMEOUT: Duration = Duration::from_secs(30);

/// Pause before the first new attempt; it doubles.
const FIRST_PAUSE: Duration = Duration::from_millis(5);

/// An open database. On drop the writer ends after all queued appends are written; [`Postgres::close`] waits for it.
pub struct Postgres {
    address: Address,
    queue: mpsc::Sender<Queued>,
    writer: JoinHandle<()>,
    pool: PgPool,
    health: Arc<WriteHealth>,
    max_snapshot_gap: Version,
    content_locks: ContentLocks,
    /// Epochs of the leases that this process took last: a derived write under an older one is left out.
    own_epochs: Mutex<HashMap<NotebookId, Epoch>>,
    expected_leases: Arc<ExpectedLeases>,
    cold: ColdEvents,
}

/// Most notebooks that are expected; at this number all are forgotten.
const MAX_EXPECTED: usize = 10_000;

/// Leases of notebooks that were asked for before the notebooks were there: who makes the notebook, has it.
#[derive(Default)]
pub(crate) struct ExpectedLeases(Mutex<HashMap<NotebookId, InstanceId>>);

impl ExpectedLeases {
    pub(crate) fn note(&self, notebook: &NotebookId, instance: &InstanceId) {
        let mut expected = self.0.lock();
        if expected.len() >= MAX_EXPECTED {
            expected.clear();
        }
        expected.insert(notebook.clone(), instance.clone());
    }

    /// Returns the instance that is to have the lease of a new notebook.
    pub(crate) fn of(&self, notebook: &NotebookId) -> Option<InstanceId> {
        self.0.lock().get(notebook).cloned()
    }
}

impl Postgres {
    /// Opens the database at a URL as libpq has it, and brings its schema up to date. `secret_digest`: SHA-256 of the cluster's secret, which
    /// all nodes must have. Needs a tokio runtime.
    pub async fn open(url: &str, secret_digest: Option<[u8; 32]>) -> Result<Self, StoreError> {
        Self::open_any(url, open::DatabaseOpening::Finished(secret_digest)).await
    }

    /// True if the release before does not open the database any more. Servers may use it: nothing is written.
    pub async fn upgrade_has_ended(url: &str) -> Result<bool, StoreError> {
        open::upgrade_has_ended(&Address::parse(url)?).await
    }

    /// Ends the upgrade of a database, unless a node lives that is of a lower level: the release before does not open it any more.
    pub async fn finish_upgrade(url: &str, level: u32) -> Result<(), StoreError> {
        open::finish_upgrade(&Address::parse(url)?, level).await
    }

    /// Opens a database that a move fills; until [`Self::finish`] nobody else opens it.
    pub(crate) async fn open_unfinished(url: &str) -> Result<Self, StoreError> {
        Self::open_any(url, open::DatabaseOpening::Unfinished).await
    }

    /// Marks the database: until [`Self::finish`] no server opens it.
    pub(crate) async fn begin_filling(&self) -> Result<(), StoreError> {
        self.write(|| sqlx::query("UPDATE notarium SET is_unfinished = TRUE")).await.map(drop)
    }

    pub(crate) async fn finish(&self) -> Result<(), StoreError> {
        self.write(|| sqlx::query("UPDATE notarium SET is_unfinished = FALSE")).await.map(drop)
    }

    /// Refuses while a server uses the database.
    pub(crate) async fn refuse_if_used(&self, within: Duration) -> Result<(), StoreError> {
        let living = self.read_from(|| nodes::living(&self.pool, within)).await?;
        if living == 0 {
            return Ok(());
        }
        let reason = "a server uses it: stop it first (after a kill, wait some seconds)".to_owned();
        Err(StoreError::Refused { reason })
    }

    async fn open_any(url: &str, opening: open::DatabaseOpening) -> Result<Self, StoreError> {
        let address = Address::parse(url)?;
        open::prepare(&address, opening).await?;
        let (connection, options) = address.connect().await?;
        let pool = open::pool(options);
        if let Err(error) = removal::finish(&pool).await {
            tracing::warn!(%error, "what was redacted may still be in the tables' files: the next start tries again");
        }
        let health = Arc::new(WriteHealth::default());
        let (queue, queued) = mpsc::channel(MAX_QUEUED_APPENDS);
        let connection = PrimaryConnection::new(address.clone(), pool.clone(), connection);
        let expected_leases = Arc::<ExpectedLeases>::default();
        let writer =
            BatchWriter { connection, queue: queued, health: health.clone(), expected_leases: expected_leases.clone() };
        let writer = tokio::spawn(writer.run());
        let (content_locks, own_epochs) = (ContentLocks::default(), Mutex::default());
        Ok(Self {
            address,
            queue,
            writer,
            pool,
            health,
            max_snapshot_gap: MAX_SNAPSHOT_GAP,
            content_locks,
            own_epochs,
            expected_leases,
            cold: ColdEvents::default(),
        })
    }

    /// Sets the place of old events.
    #[must_use]
    pub fn with_segments(self, segments: Segments) -> Self {
        Self { cold: ColdEvents::of(segments), ..self }
    }

    /// Sets the maximum gap between two snapshots, instead of [`MAX_SNAPSHOT_GAP`].
    #[must_use]
    pub fn with_max_snapshot_gap(self, max_snapshot_gap: Version) -> Self {
        Self { max_snapshot_gap, ..self }
    }

    /// Waits until all queued appends are written, and closes the connections.
    pub async fn close(self) {
        let Self { queue, writer, pool, .. } = self;
        drop(queue);
        if let Err(error) = writer.await {
            tracing::error!(%error, "the writer ended badly");
        }
        pool.close().await;
    }

    pub(crate) fn pool(&self) -> &PgPool {
        &self.pool
    }

    /// Returns the database's clock, in milliseconds since 1970.
    pub async fn now(&self) -> Result<u64, StoreError> {
        self.read_from(|| nodes::now(&self.pool)).await
    }

    /// Epoch of the lease that this process took of the notebook last.
    pub(crate) fn own_epoch(&self, notebook: &NotebookId) -> Option<Epoch> {
        let taken = self.own_epochs.lock().get(notebook).copied();
        taken.or_else(|| self.expected_leases.of(notebook).map(|_| 0))
    }

    /// Runs a query; again if its connection broke, or the server takes no writes any more.
    pub(crate) async fn read_from<T, Answer>(&self, query: impl Fn() -> Answer + Send + Sync) -> Result<T, StoreError>
    where
        Answer: Future<Output = Result<T, sqlx::Error>> + Send,
    {
        self.maintain(|| async {
            let answered = tokio::time::timeout(STATEMENT_TIMEOUT, query()).await;
            answered.unwrap_or(Err(sqlx::Error::PoolTimedOut))
        })
        .await
    }

    /// Runs a query that may take long, as [`Self::read_from`] does.
    pub(crate) async fn maintain<T, Answer>(&self, query: impl Fn() -> Answer + Send + Sync) -> Result<T, StoreError>
    where
        Answer: Future<Output = Result<T, sqlx::Error>> + Send,
    {
        let mut attempts = Attempts::default();
        loop {
            match query().await.map_err(FailedAttempt::unsent) {
                Err(failed) if attempts.may_repeat(&failed, Repeat::Always) => {
                    self.before_next(&mut attempts, &failed).await
                }
                done => return done.map_err(FailedAttempt::into_store_error),
            }
        }
    }

    /// Waits before the next attempt; looks for the host that takes writes if that may be another one now.
    pub(crate) async fn before_next(&self, attempts: &mut Attempts, failed: &FailedAttempt) {
        attempts.pause().await;
        if failure(&failed.error) == StatementFailure::Conflict {
            return;
        }
        // If none is found, the next attempt says why.
        if let Ok((connection, options)) = self.address.connect().await {
            self.pool.set_connect_options(options);
            drop(connection);
        }
    }

    /// Runs one statement that may be repeated; returns the number of changed rows.
    pub(crate) async fn write<'q>(
        &self,
        query: impl Fn() -> reader::Query<'q> + Send + Sync,
    ) -> Result<u64, StoreError> {
        Ok(self.read_from(|| query().execute(&self.pool)).await?.rows_affected())
    }

    pub(crate) async fn begin(&self) -> Result<sqlx::Transaction<'static, sqlx::Postgres>, FailedAttempt> {
        self.pool.begin().await.map_err(FailedAttempt::unsent)
    }
}

/// Runs statements as a transaction: `transact!(store, connection => statements(connection))`, a future of `Result<T, sqlx::Error>`. It is run
/// again if it stands in another's way, or its connection broke: the statements must be such that this does no harm.
///
/// With `once`, and `keeps`, which says of the value if it is committed: not again once the commit was sent.
macro_rules! transact {
    ($store:expr, $connection:ident => $work:expr) => {
        transact!($store, $crate::postgres::Repeat::Always, |_: &_| true, $connection => $work)
    };
    ($store:expr, once, $keeps:expr, $connection:ident => $work:expr) => {
        transact!($store, $crate::postgres::Repeat::BeforeCommit, $keeps, $connection => $work)
    };
    ($store:expr, $repeat:expr, $keeps:expr, $connection:ident => $work:expr) => {{
        let mut attempts = $crate::postgres::Attempts::default();
        loop {
            let attempt = async {
                let mut transaction = $store.begin().await?;
                let $connection = &mut *transaction;
                let done = $work.await.map_err($crate::postgres::FailedAttempt::unsent)?;
                $crate::postgres::end(transaction, $keeps(&done)).await?;
                Ok::<_, $crate::postgres::FailedAttempt>(done)
            };
            let ended = tokio::time::timeout($crate::postgres::STATEMENT_TIMEOUT, attempt).await;
            match ended.unwrap_or_else(|_| Err($crate::postgres::FailedAttempt::unanswered())) {
                Err(failed) if attempts.may_repeat(&failed, $repeat) => $store.before_next(&mut attempts, &failed).await,
                done => break done.map_err($crate::postgres::FailedAttempt::into_store_error),
            }
        }
    }};
}
pub(crate) use transact;

/// Translates an error of a row that was read.
pub(crate) fn unreadable(error: sqlx::Error) -> StoreError {
    store_error(error)
}

/// Commits, or rolls back.
pub(crate) async fn end(
    transaction: sqlx::Transaction<'static, sqlx::Postgres>,
    keeps: bool,
) -> Result<(), FailedAttempt> {
    match keeps {
        true => transaction.commit().await.map_err(|error| FailedAttempt { error, at_commit: true }),
        false => transaction.rollback().await.map_err(FailedAttempt::unsent),
    }
}

/// When a transaction whose connection broke is run again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Repeat {
    Always,
    BeforeCommit,
}

/// Attempts at a query or transaction.
pub(crate) struct Attempts {
    left: u32,
    pause: Duration,
}

impl Default for Attempts {
    fn default() -> Self {
        Self { left: MAX_ATTEMPTS, pause: FIRST_PAUSE }
    }
}

impl Attempts {
    pub(crate) fn may_repeat(&mut self, failed: &FailedAttempt, repeat: Repeat) -> bool {
        self.left = self.left.saturating_sub(if failed.is_slow() { SLOW_ATTEMPT } else { 1 });
        self.left > 0 && failed.may_be_repeated(repeat)
    }

    pub(crate) async fn pause(&mut self) {
        tokio::time::sleep(self.pause).await;
        self.pause *= 2;
    }
}

/// A query or transaction that failed.
#[derive(Debug)]
pub(crate) struct FailedAttempt {
    error: sqlx::Error,
    /// True if its commit was sent: it may have been carried out.
    at_commit: bool,
}

impl FailedAttempt {
    pub(crate) fn unsent(error: sqlx::Error) -> Self {
        Self { error, at_commit: false }
    }

    /// No answer came in time: it may have been carried out.
    pub(crate) fn unanswered() -> Self {
        Self { error: sqlx::Error::PoolTimedOut, at_commit: true }
    }

    /// True if it waited long already.
    fn is_slow(&self) -> bool {
        matches!(self.error, sqlx::Error::PoolTimedOut)
    }

    fn may_be_repeated(&self, repeat: Repeat) -> bool {
        match failure(&self.error) {
            // A standby writes nothing.
            StatementFailure::Conflict | StatementFailure::ReadOnly => true,
            StatementFailure::Lost if matches!(self.error, sqlx::Error::PoolClosed) => false,
            StatementFailure::Lost => repeat == Repeat::Always || !self.at_commit,
            _ => false,
        }
    }

    pub(crate) fn into_store_error(self) -> StoreError {
        if self.at_commit { sent_error(self.error) } else { store_error(self.error) }
    }
}
