//! From a data folder to an open database: folder, lock, checks, migrations, connections.

use std::fs::{DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind, Read};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use sqlx::migrate::{Migration, MigrationType, Migrator};
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous};
use sqlx::{ConnectOptions, Connection, SqlSafeStr, SqliteConnection, SqlitePool};

use super::error::{damaged, migration_error, store_error};
use crate::event_store::StoreError;

/// The tables' changes: version, name, SQL. A test compares them with the folder.
pub(super) const MIGRATIONS: [(i64, &str, &str); 3] = [
    (1, "events", include_str!("../../../migrations/sqlite/0001_events.sql")),
    (2, "accounts", include_str!("../../../migrations/sqlite/0002_accounts.sql")),
    (3, "snapshot checksums", include_str!("../../../migrations/sqlite/0003_snapshot_checksums.sql")),
];

fn migrator() -> Migrator {
    let migrations = MIGRATIONS.map(|(version, name, sql)| {
        Migration::new(version, name.into(), MigrationType::Simple, sql.into_sql_str(), false)
    });
    Migrator::with_migrations(migrations.into())
}

/// The database's file in the data folder.
pub const DATABASE_FILE: &str = "notarium.db";
/// Locked while a server uses the folder. The lock goes with the process, however it ends.
const LOCK_FILE: &str = "notarium.lock";

/// "NOTA": says that a database is ours (`PRAGMA application_id`).
const APPLICATION_ID: i64 = 0x4e4f_5441;
/// The oldest library that has what the schema uses (`contentless_delete`); a bundled one is far newer.
const OLDEST_SQLITE: (u32, u32) = (3, 43);
/// A database up to this size is read through when it is opened; a larger one by [`super::Sqlite::check`] alone.
const MAX_QUICK_CHECK_BYTES: u64 = 64 << 20;
const READERS: u32 = 4;
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// Creates the folder, for its owner alone, and sees to it that its name is on disk too.
fn create_folder(folder: &Path) -> io::Result<()> {
    if folder.is_dir() {
        return Ok(());
    }
    DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let parent = folder.parent().filter(|parent| !parent.as_os_str().is_empty());
    File::open(parent.unwrap_or(Path::new(".")))?.sync_all()
}

/// The folder is this process's until this is dropped.
#[derive(Debug)]
pub(super) struct FolderLock(pub(super) File);

impl Drop for FolderLock {
    fn drop(&mut self) {
        // Closing would not do: a program that is being started just now has the open file as well, until it begins.
        let _ = self.0.unlock();
    }
}

/// Creates the folder where it is missing and locks it.
pub(super) fn lock_folder(folder: &Path) -> Result<FolderLock, StoreError> {
    let failed = |error| folder_error(folder, error);
    create_folder(folder).map_err(|error| no_folder(folder, error))?;
    let mut options = OpenOptions::new();
    let file = options.create(true).truncate(false).write(true).mode(0o600).open(folder.join(LOCK_FILE));
    let file = file.map_err(failed)?;
    match file.try_lock() {
        Ok(()) => Ok(FolderLock(file)),
        Err(TryLockError::WouldBlock) => Err(StoreError::Locked { path: folder.display().to_string() }),
        Err(TryLockError::Error(error)) => Err(failed(error)),
    }
}

fn no_folder(folder: &Path, error: io::Error) -> StoreError {
    let path = folder.display().to_string();
    match error.kind() {
        ErrorKind::AlreadyExists => StoreError::NoFolder { path, reason: "it is a file".to_owned() },
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => folder_error(folder, error),
        _ => StoreError::NoFolder { path, reason: error.to_string() },
    }
}

fn folder_error(folder: &Path, error: io::Error) -> StoreError {
    let path = folder.display().to_string();
    match error.kind() {
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => StoreError::ReadOnly { path },
        _ => StoreError::Unavailable { reason: format!("{path}: {error}") },
    }
}

/// An existing file must begin as SQLite's do, and be writable. A missing or empty one is a new database.
pub(super) fn check_file(path: &Path) -> Result<(), StoreError> {
    let mut file = match OpenOptions::new().read(true).write(true).open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(folder_error(path, error)),
    };
    let mut header = Vec::new();
    file.by_ref().take(16).read_to_end(&mut header).map_err(|error| folder_error(path, error))?;
    if header.is_empty() || header == *b"SQLite format 3\0" {
        return Ok(());
    }
    Err(damaged(path, "its first bytes are not those of a SQLite database"))
}

pub(super) fn options(path: &Path) -> SqliteConnectOptions {
    SqliteConnectOptions::new().filename(path).busy_timeout(BUSY_TIMEOUT).disable_statement_logging()
}

/// Opens the connection that writes, checks the database and brings its schema up to date.
pub(super) async fn open_writer(path: &Path) -> Result<SqliteConnection, StoreError> {
    check_file(path)?;
    let failed = |error| store_error(path, error);
    let options = options(path)
        .create_if_missing(true)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(SqliteSynchronous::Full)
        // The writer copies the log into the database when idle; this bounds the log of one that never is.
        .pragma("wal_autocheckpoint", "8192")
        .pragma("journal_size_limit", "67108864")
        .pragma("cache_size", "-65536");
    let mut connection = options.connect().await.map_err(failed)?;
    check_library(&mut connection).await?;
    check_database(&mut connection, path).await?;
    let known = MIGRATIONS.iter().map(|(version, ..)| *version).max().unwrap_or(0);
    migrator().run(&mut connection).await.map_err(|error| migration_error(path, known, error))?;
    let mark = sqlx::AssertSqlSafe(format!("PRAGMA application_id = {APPLICATION_ID}"));
    sqlx::query(mark).execute(&mut connection).await.map_err(failed)?;
    Ok(connection)
}

/// A second copy of SQLite in the process could be an old one.
async fn check_library(connection: &mut SqliteConnection) -> Result<(), StoreError> {
    let version: String = sqlx::query_scalar("SELECT sqlite_version()")
        .fetch_one(connection)
        .await
        .map_err(|error| StoreError::Unavailable { reason: error.to_string() })?;
    let mut parts = version.split('.').map(|part| part.parse().unwrap_or(0));
    let found: (u32, u32) = (parts.next().unwrap_or(0), parts.next().unwrap_or(0));
    if found < OLDEST_SQLITE {
        let reason = format!("SQLite {version} is linked in, 3.43 or later is needed: build with sqlx's bundled one");
        return Err(StoreError::Unavailable { reason });
    }
    Ok(())
}

async fn check_database(connection: &mut SqliteConnection, path: &Path) -> Result<(), StoreError> {
    let failed = |error| store_error(path, error);
    let application: i64 =
        sqlx::query_scalar("PRAGMA application_id").fetch_one(&mut *connection).await.map_err(failed)?;
    let tables: i64 =
        sqlx::query_scalar("SELECT count(*) FROM sqlite_schema").fetch_one(&mut *connection).await.map_err(failed)?;
    if tables > 0 && application != APPLICATION_ID {
        return Err(damaged(path, "it is another program's database"));
    }
    let size = path.metadata().map_or(0, |metadata| metadata.len());
    if size <= MAX_QUICK_CHECK_BYTES { quick_check(connection, path).await } else { Ok(()) }
}

/// Reads the whole database and compares its structure.
pub(super) async fn quick_check(connection: &mut SqliteConnection, path: &Path) -> Result<(), StoreError> {
    let found: String = sqlx::query_scalar("PRAGMA quick_check(1)")
        .fetch_one(connection)
        .await
        .map_err(|error| store_error(path, error))?;
    if found == "ok" { Ok(()) } else { Err(damaged(path, found)) }
}

/// Connections that cannot write. Opened when first needed.
pub(super) fn open_readers(path: &Path) -> SqlitePool {
    let options = options(path).read_only(true).pragma("cache_size", "-16384");
    SqlitePoolOptions::new().max_connections(READERS).connect_lazy_with(options)
}

pub(super) fn database_path(folder: &Path) -> PathBuf {
    folder.join(DATABASE_FILE)
}

/// Closes a connection in good order; an error leaves the log to the next open, which replays it.
pub(super) async fn close(mut connection: SqliteConnection) {
    if let Err(error) = sqlx::query("PRAGMA wal_checkpoint(TRUNCATE)").fetch_all(&mut connection).await {
        tracing::warn!(%error, "the write-ahead log was not emptied; the next start does it");
    }
    if let Err(error) = connection.close().await {
        tracing::warn!(%error, "the database was not closed in good order; the next start mends it");
    }
}
