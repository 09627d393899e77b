//! Connects to a PostgreSQL database, checks it, and brings its schema up to date.
//!
//! Several hosts may be named, as in `postgresql://notarium@db1,db2:5433/notes`: the one that takes writes is used.

use std::str::FromStr;
use std::time::Duration;

use futures_util::future::BoxFuture;
use sqlx::migrate::MigrateError;
use sqlx::postgres::{PgConnectOptions, PgPool, PgPoolOptions};
use sqlx::{AssertSqlSafe, ConnectOptions, Connection, PgConnection, PgExecutor};

use super::error::{StatementFailure, failure, store_error};
use crate::nodes::NODE_TIMEOUT;
use crate::schema::{self, COUNT_REQUIRED, REQUIRE, Upgrade};
use crate::store_error::StoreError;

/// Schema migrations: version, name, SQL; the numbers and names are SQLite's. A test compares them with the folder.
pub(super) const MIGRATIONS: [(i64, &str, &str); 21] = [
    (1, "events", include_str!("../../../migrations/postgres/0001_events.sql")),
    (2, "accounts", include_str!("../../../migrations/postgres/0002_accounts.sql")),
    (3, "snapshot checksums", include_str!("../../../migrations/postgres/0003_snapshot_checksums.sql")),
    (4, "waiting calls", include_str!("../../../migrations/postgres/0004_waiting_calls.sql")),
    (5, "templates", include_str!("../../../migrations/postgres/0005_templates.sql")),
    (6, "user identities", include_str!("../../../migrations/postgres/0006_user_identities.sql")),
    (7, "sessions of identities", include_str!("../../../migrations/postgres/0007_sessions_of_identities.sql")),
    (8, "places", include_str!("../../../migrations/postgres/0008_places.sql")),
    (9, "places without trigger", include_str!("../../../migrations/postgres/0009_places_without_trigger.sql")),
    (10, "signing keys", include_str!("../../../migrations/postgres/0010_signing_keys.sql")),
    (11, "past", include_str!("../../../migrations/postgres/0011_past.sql")),
    (12, "erasure", include_str!("../../../migrations/postgres/0012_erasure.sql")),
    (13, "logged heads", include_str!("../../../migrations/postgres/0013_logged_heads.sql")),
    (14, "retired blobs", include_str!("../../../migrations/postgres/0014_retired_blobs.sql")),
    (15, "purges", include_str!("../../../migrations/postgres/0015_purges.sql")),
    (16, "notices", include_str!("../../../migrations/postgres/0016_notices.sql")),
    (17, "spending", include_str!("../../../migrations/postgres/0017_spending.sql")),
    (18, "schedules", include_str!("../../../migrations/postgres/0018_schedules.sql")),
    (19, "segments", include_str!("../../../migrations/postgres/0019_segments.sql")),
    (20, "administration", include_str!("../../../migrations/postgres/0020_administration.sql")),
    (21, "one time values", include_str!("../../../migrations/postgres/0021_one_time_values.sql")),
];

/// Oldest version of PostgreSQL, as `server_version_num` has it.
const OLDEST_VERSION: i32 = 150_000;

/// Connections of a node for reads and derived writes; the writer has one more.
const POOL: u32 = 8;

/// Time until a connection is made or given out.
pub(super) const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// Hosts of the database, in the order in which they are tried.
#[derive(Debug, Clone)]
pub(super) struct Address {
    hosts: Vec<PgConnectOptions>,
    /// Host, port and database, without the password.
    shown: String,
}

impl std::fmt::Display for Address {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.shown)
    }
}

impl Address {
    /// Reads a URL as libpq has it, with one host or several.
    pub(super) fn parse(url: &str) -> Result<Self, StoreError> {
        let refused = |reason: String| StoreError::Refused { reason };
        let form =
            || refused("it is no URL of PostgreSQL: write postgresql://USER:PASSWORD@HOST:PORT/DATABASE".to_owned());
        let rest = url.strip_prefix("postgresql://").or_else(|| url.strip_prefix("postgres://")).ok_or_else(form)?;
        let (authority, path) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
        let (user, hosts) = authority.rsplit_once('@').map_or(("", authority), |(user, hosts)| (user, hosts));
        let user = if user.is_empty() { String::new() } else { format!("{user}@") };
        let options = hosts.split(',').map(|host| {
            let url = format!("postgresql://{user}{host}{path}");
            // The text of the error may have the password.
            let options = PgConnectOptions::from_str(&url).map_err(|_| form())?;
            Ok(options.application_name("notarium").disable_statement_logging())
        });
        let hosts: Vec<PgConnectOptions> = options.collect::<Result<_, StoreError>>()?;
        let shown = hosts.iter().map(|options| format!("{}:{}", options.get_host(), options.get_port()));
        let shown = shown.collect::<Vec<String>>().join(",");
        let database = hosts.first().and_then(PgConnectOptions::get_database).unwrap_or("(the user's)");
        Ok(Self { shown: format!("{shown}/{database}"), hosts })
    }

    /// Connects to the first host that takes writes; returns its options for the pool.
    pub(super) async fn connect(&self) -> Result<(PgConnection, PgConnectOptions), StoreError> {
        let mut reason = String::new();
        for options in &self.hosts {
            match tokio::time::timeout(CONNECT_TIMEOUT, connect_to(options)).await {
                Ok(Ok(connection)) => return Ok((connection, options.clone())),
                Ok(Err(error)) => reason = store_error(error).to_string(),
                Err(_) => reason = "it did not answer in time".to_owned(),
            }
        }
        Err(StoreError::Unavailable { reason: format!("no connection to PostgreSQL at {}: {reason}", self.shown) })
    }
}

/// Boxed, here and below: otherwise the compiler cannot tell that the futures of callers are `Send`.
fn connect_to(options: &PgConnectOptions) -> BoxFuture<'_, Result<PgConnection, sqlx::Error>> {
    Box::pin(async move {
        let mut connection = options.connect().await?;
        refuse_standby(&mut connection).await?;
        Ok(connection)
    })
}

async fn refuse_standby(connection: &mut PgConnection) -> Result<(), sqlx::Error> {
    match sqlx::query_scalar("SELECT pg_is_in_recovery()").fetch_one(connection).await? {
        true => Err(sqlx::Error::Configuration("it is a standby, which takes no writes".into())),
        false => Ok(()),
    }
}

pub(super) fn pool(options: PgConnectOptions) -> PgPool {
    PgPoolOptions::new()
        .max_connections(POOL)
        .acquire_timeout(CONNECT_TIMEOUT)
        .max_lifetime(Duration::from_secs(30 * 60))
        // The host may have become a standby.
        .after_connect(|connection, _| Box::pin(refuse_standby(connection)))
        .connect_lazy_with(options)
}

/// Purpose for which a database is opened.
pub(super) enum DatabaseOpening {
    /// A server, with the digest of its cluster's secret; or a reader.
    Finished(Option<[u8; 32]>),
    /// A move that fills it, and has perhaps marked it before.
    Unfinished,
}

/// Checks the server's settings and the database, and brings the schema up to date.
pub(super) async fn prepare(address: &Address, opening: DatabaseOpening) -> Result<(), StoreError> {
    let (mut connection, _) = address.connect().await?;
    check_server(&mut connection).await?;
    check_owner(&mut connection).await?;
    create_mark(&mut connection).await?;
    migrate(address, &mut connection, Upgrade::Begin).await?;
    match opening {
        DatabaseOpening::Finished(digest) => {
            check_finished(address, &mut connection).await?;
            check_secret(&mut connection, digest.as_ref().map(<[u8; 32]>::as_slice)).await?;
        }
        DatabaseOpening::Unfinished => {}
    }
    connection.close().await.map_err(store_error)
}

async fn setting(connection: &mut PgConnection, name: &'static str) -> Result<String, StoreError> {
    let sql = AssertSqlSafe(format!("SHOW {name}"));
    sqlx::query_scalar(sql).fetch_one(connection).await.map_err(store_error)
}

/// Refuses a server on which an answered commit might be lost.
async fn check_server(connection: &mut PgConnection) -> Result<(), StoreError> {
    let refused = |reason: String| Err(StoreError::Refused { reason });
    let version: i32 = setting(connection, "server_version_num").await?.parse().unwrap_or(0);
    if version < OLDEST_VERSION {
        return refused(format!("it is PostgreSQL {}, and 15 or newer is needed: update it", version / 10_000));
    }
    if setting(connection, "fsync").await? == "off" {
        return refused(
            "fsync is off, so that a power cut would lose what was acknowledged: set fsync = on".to_owned(),
        );
    }
    if setting(connection, "synchronous_commit").await? == "off" {
        let reason = "synchronous_commit is off, so that a crash would lose what was acknowledged: set it to on, also \
                      for this role and database (ALTER ROLE … RESET synchronous_commit)";
        return refused(reason.to_owned());
    }
    if setting(connection, "transaction_read_only").await? == "on" {
        return refused("it is read-only: name the primary, or set default_transaction_read_only = off".to_owned());
    }
    if setting(connection, "server_encoding").await? != "UTF8" {
        return refused("its encoding is not UTF8: create the database with ENCODING 'UTF8'".to_owned());
    }
    Ok(())
}

/// Refuses a database that has tables of another program.
async fn check_owner(connection: &mut PgConnection) -> Result<(), StoreError> {
    let sql = "SELECT count(*) FILTER (WHERE table_name = 'notarium'), count(*) FROM information_schema.tables \
               WHERE table_schema = current_schema()";
    let (marks, tables): (i64, i64) = sqlx::query_as(sql).fetch_one(connection).await.map_err(store_error)?;
    if marks == 0 && tables > 0 {
        let reason = "it has tables of another program: give Notarium a database of its own (CREATE DATABASE notes)";
        return Err(StoreError::Refused { reason: reason.to_owned() });
    }
    Ok(())
}

/// Attempts at a statement that fails when two nodes create the same table.
const ATTEMPTS: usize = 20;

/// Creates the table that marks the database as ours. Its only row is locked while the schema or the accounts are changed.
async fn create_mark(connection: &mut PgConnection) -> Result<(), StoreError> {
    const TABLE: &str = "CREATE TABLE IF NOT EXISTS notarium (one INTEGER PRIMARY KEY CHECK (one = 1), \
        secret_digest BYTEA, is_unfinished BOOLEAN NOT NULL DEFAULT FALSE)";
    const ROW: &str = "INSERT INTO notarium (one) VALUES (1) ON CONFLICT DO NOTHING";
    for sql in [TABLE, ROW] {
        for attempt in 1.. {
            match sqlx::query(sql).execute(&mut *connection).await {
                Ok(_) => break,
                Err(error) if attempt < ATTEMPTS && is_race(&error) => {
                    tokio::time::sleep(Duration::from_millis(50)).await;
                }
                Err(error) => return Err(store_error(error)),
            }
        }
    }
    Ok(())
}

/// True if another node created the same table meanwhile.
fn is_race(error: &sqlx::Error) -> bool {
    let code = error.as_database_error().and_then(|error| error.code());
    failure(error) == StatementFailure::Conflict || matches!(code.as_deref(), Some("23505" | "42P07" | "42710"))
}

/// Applies the migrations that are missing. A lock on the mark's row keeps other nodes off; each migration is a transaction of its own.
async fn migrate(address: &Address, holder: &mut PgConnection, upgrade: Upgrade) -> Result<(), StoreError> {
    let mut lock = holder.begin().await.map_err(store_error)?;
    sqlx::query("SELECT 1 FROM notarium FOR UPDATE").execute(&mut *lock).await.map_err(store_error)?;
    let (mut connection, _) = address.connect().await?;
    let (known, _) = schema::newest(&MIGRATIONS);
    run_migrations(&mut connection, upgrade).await.map_err(|error| migration_error(known, error))?;
    connection.close().await.map_err(store_error)?;
    lock.rollback().await.map_err(store_error)
}

fn run_migrations(connection: &mut PgConnection, upgrade: Upgrade) -> BoxFuture<'_, Result<(), MigrateError>> {
    Box::pin(async move {
        schema::create_lists(connection).await?;
        let mut transaction = connection.begin().await?;
        for sql in REQUIRE {
            sqlx::query(sql)
                .bind(upgrade.required_up_to().min(schema::newest(&MIGRATIONS).0))
                .execute(&mut *transaction)
                .await?;
        }
        transaction.commit().await?;
        schema::migrate(connection, &MIGRATIONS, upgrade).await
    })
}

/// Ends the upgrade, unless a node lives that is of a lower level. A node that starts meanwhile waits for the lock of the migrations.
pub(super) async fn finish_upgrade(address: &Address, level: u32) -> Result<(), StoreError> {
    prepare(address, DatabaseOpening::Finished(None)).await?;
    let (mut connection, _) = address.connect().await?;
    let sql = "SELECT count(*) FROM nodes WHERE seen_at > clock_timestamp() - make_interval(secs => $1) AND level < $2";
    let older = sqlx::query_scalar(sql).bind(NODE_TIMEOUT.as_secs_f64()).bind(i32::try_from(level).unwrap_or(i32::MAX));
    let older: i64 = older.fetch_one(&mut connection).await.map_err(store_error)?;
    if older > 0 {
        let reason = format!("{older} of its nodes run the release before: upgrade them first, one after the other");
        return Err(StoreError::Refused { reason });
    }
    migrate(address, &mut connection, Upgrade::Finish).await?;
    connection.close().await.map_err(store_error)
}

pub(super) async fn upgrade_has_ended(address: &Address) -> Result<bool, StoreError> {
    let (mut connection, _) = address.connect().await?;
    let mark: bool = sqlx::query_scalar("SELECT to_regclass('notarium') IS NOT NULL")
        .fetch_one(&mut connection)
        .await
        .map_err(store_error)?;
    if !mark {
        return Err(StoreError::Refused { reason: "no server has opened it, so it has no upgrade".to_owned() });
    }
    let has_ended = is_upgraded(&mut connection).await.map_err(store_error)?;
    connection.close().await.map_err(store_error)?;
    Ok(has_ended)
}

/// True if the release before does not open the database any more.
pub(super) async fn is_upgraded(database: impl PgExecutor<'_>) -> Result<bool, sqlx::Error> {
    let (newest, count) = schema::newest(&MIGRATIONS);
    let required: i64 = sqlx::query_scalar(COUNT_REQUIRED).bind(newest).fetch_one(database).await?;
    Ok(usize::try_from(required) == Ok(count))
}

fn migration_error(known: i64, error: MigrateError) -> StoreError {
    match error {
        MigrateError::VersionMissing(found) if found > known => StoreError::TooNew { found, known },
        MigrateError::Execute(error) | MigrateError::ExecuteMigration(error, _) => match failure(&error) {
            StatementFailure::Other | StatementFailure::Duplicate => {
                StoreError::Migration { reason: error.to_string() }
            }
            _ => store_error(error),
        },
        error => StoreError::Migration { reason: error.to_string() },
    }
}

async fn check_finished(address: &Address, connection: &mut PgConnection) -> Result<(), StoreError> {
    let is_unfinished = sqlx::query_scalar("SELECT is_unfinished FROM notarium").fetch_one(connection).await;
    match is_unfinished.map_err(store_error)? {
        true => Err(StoreError::HalfMoved { path: address.to_string() }),
        false => Ok(()),
    }
}

/// Notes the digest of the cluster's secret, or refuses a node that has another one while others live. A single node has none.
async fn check_secret(connection: &mut PgConnection, digest: Option<&[u8]>) -> Result<(), StoreError> {
    let Some(digest) = digest else { return Ok(()) };
    let sql = "UPDATE notarium SET secret_digest = $1 WHERE secret_digest IS NULL OR secret_digest = $1 \
               OR NOT EXISTS (SELECT 1 FROM nodes WHERE seen_at > now() - interval '1 minute')";
    let done = sqlx::query(sql).bind(digest).execute(connection).await.map_err(store_error)?;
    if done.rows_affected() == 1 {
        return Ok(());
    }
    let reason =
        "the nodes on this database have another secret: give this one the file that they have, or another database";
    Err(StoreError::Refused { reason: reason.to_owned() })
}
