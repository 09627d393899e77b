//! Opens the database of a data folder: checks, migrations, connections.
//!
//! The write-ahead log is read as SQLite reads it, to detect commits after a damaged frame. They are lost without notice, because SQLite stops
//! reading at that frame. The format: <https://sqlite.org/fileformat2.html#the_write_ahead_log>.

use std::fs::{File, OpenOptions};
use std::io::{self, BufReader, ErrorKind, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use sqlx::migrate::MigrateError;
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous};
use sqlx::{ConnectOptions, Connection, SqliteConnection, SqliteExecutor, SqlitePool};

use super::error::{damaged, found_error, migration_error, store_error};
use super::folder::{DATABASE_FILE, LOG_FILE, folder_error};
use super::removal;
use crate::blobs::BLOBS_FOLDER;
use crate::schema::{self, COUNT_REQUIRED, REQUIRE, Upgrade};
use crate::store_error::StoreError;

/// Schema migrations: version, name, SQL. A test compares them with the folder.
pub(super) const MIGRATIONS: [(i64, &str, &str); 21] = [
    (1, "events", include_str!("../../../migrations/sqlite/0001_events.sql")),
    (2, "accounts", include_str!("../../../migrations/sqlite/0002_accounts.sql")),
    (3, "snapshot checksums", include_str!("../../../migrations/sqlite/0003_snapshot_checksums.sql")),
    (4, "waiting calls", include_str!("../../../migrations/sqlite/0004_waiting_calls.sql")),
    (5, "templates", include_str!("../../../migrations/sqlite/0005_templates.sql")),
    (6, "user identities", include_str!("../../../migrations/sqlite/0006_user_identities.sql")),
    (7, "sessions of identities", include_str!("../../../migrations/sqlite/0007_sessions_of_identities.sql")),
    (8, "places", include_str!("../../../migrations/sqlite/0008_places.sql")),
    (9, "places without trigger", include_str!("../../../migrations/sqlite/0009_places_without_trigger.sql")),
    (10, "signing keys", include_str!("../../../migrations/sqlite/0010_signing_keys.sql")),
    (11, "past", include_str!("../../../migrations/sqlite/0011_past.sql")),
    (12, "erasure", include_str!("../../../migrations/sqlite/0012_erasure.sql")),
    (13, "logged heads", include_str!("../../../migrations/sqlite/0013_logged_heads.sql")),
    (14, "retired blobs", include_str!("../../../migrations/sqlite/0014_retired_blobs.sql")),
    (15, "purges", include_str!("../../../migrations/sqlite/0015_purges.sql")),
    (16, "notices", include_str!("../../../migrations/sqlite/0016_notices.sql")),
    (17, "spending", include_str!("../../../migrations/sqlite/0017_spending.sql")),
    (18, "schedules", include_str!("../../../migrations/sqlite/0018_schedules.sql")),
    (19, "segments", include_str!("../../../migrations/sqlite/0019_segments.sql")),
    (20, "administration", include_str!("../../../migrations/sqlite/0020_administration.sql")),
    (21, "one time values", include_str!("../../../migrations/sqlite/0021_one_time_values.sql")),
];

/// "NOTA": identifies a database as Notarium's (`PRAGMA application_id`).
const APPLICATION_ID: i64 = 0x4e4f_5441;

/// Oldest SQLite version with the features of the schema (`contentless_delete`); the bundled one is far newer.
const OLDEST_SQLITE: (u32, u32) = (3, 43);

/// Maximum size of a database that is checked before it is opened. All are checked in the background afterwards.
const MAX_QUICK_CHECK_BYTES: u64 = 64 << 20;

const READERS: u32 = 4;

pub(super) const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// Checks that an existing file begins as SQLite's do, and is writable. A missing or empty file is a new database, unless remains of an old
/// one are beside it.
pub(super) fn check_file(path: &Path) -> Result<(), StoreError> {
    let mut header = Vec::new();
    match OpenOptions::new().read(true).write(true).open(path) {
        Ok(file) => file.take(16).read_to_end(&mut header).map_err(|error| folder_error(path, error))?,
        Err(error) if error.kind() == ErrorKind::NotFound => 0,
        Err(error) => return Err(folder_error(path, error)),
    };
    if header.is_empty() {
        return check_remains(path);
    }
    if header == *b"SQLite format 3\0" {
        return Ok(());
    }
    Err(damaged(path, "its first bytes are not those of a SQLite database"))
}

/// Refuses a new database beside remains of an old one: it would delete the old log, and not know its blobs.
fn check_remains(path: &Path) -> Result<(), StoreError> {
    let (log, blobs) = (path.with_file_name(LOG_FILE), path.with_file_name(BLOBS_FOLDER));
    let has_log = log.metadata().is_ok_and(|metadata| metadata.len() > 0);
    let beside = match has_log {
        true => log,
        false if has_files(&blobs) => blobs,
        false => return Ok(()),
    };
    Err(StoreError::Lost { path: path.display().to_string(), beside: beside.display().to_string() })
}

fn has_files(folder: &Path) -> bool {
    let entries = folder.read_dir().into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).any(|path| if path.is_dir() { has_files(&path) } else { true })
}

/// Detects commits that SQLite will skip, and describes them for strangers. Copies the log first, because SQLite overwrites it.
pub(super) fn examine_log(path: &Path) -> Result<Option<&'static str>, StoreError> {
    let log = path.with_file_name(LOG_FILE);
    let failed = |error| folder_error(&log, error);
    let LogReport { commits, lost_frames, lost_commits } = examine(&log).map_err(failed)?;
    if lost_commits == 0 {
        return Ok(None);
    }
    let copy =
        (1..).map(|number| path.with_file_name(format!("{LOG_FILE}.damaged-{number}"))).find(|copy| !copy.exists());
    let copy = copy.unwrap_or_default();
    let kept = std::fs::copy(&log, &copy).map(|_| copy.display().to_string()).unwrap_or_else(|error| error.to_string());
    let log = log.display();
    if lost_commits == 1 {
        tracing::warn!(
            %log, kept, commits, lost_frames,
            "the last write of the log is incomplete, as after a power cut: it was not acknowledged, unless the disk is at fault"
        );
        return Ok(None);
    }
    tracing::error!(
        %log, kept, commits, lost_frames, lost_commits,
        "the log is damaged: the commits after that place are lost, acknowledged ones among them. Restore a backup, or go on without them"
    );
    Ok(Some("the write-ahead log was damaged when the server started: the last writes before that are lost"))
}

pub(super) fn options(path: &Path) -> SqliteConnectOptions {
    SqliteConnectOptions::new().filename(path).busy_timeout(BUSY_TIMEOUT).disable_statement_logging()
}

/// Opens the writing connection, checks the database and migrates its schema.
pub(super) async fn open_writer(path: &Path, upgrade: Upgrade) -> Result<SqliteConnection, StoreError> {
    check_file(path)?;
    let failed = |error| store_error(path, error);
    let options = options(path)
        .create_if_missing(true)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(SqliteSynchronous::Full)
        // Limits the log of a writer that is never idle; an idle one copies the log into the database.
        .pragma("wal_autocheckpoint", "8192")
        .pragma("journal_size_limit", "67108864")
        .pragma("cache_size", "-65536");
    create_privately(path)?;
    let mut connection = options.connect().await.map_err(failed)?;
    check_library(&mut connection).await?;
    let is_marked = check_database(&mut connection, path).await?;
    let (known, _) = schema::newest(&MIGRATIONS);
    migrate(&mut connection, upgrade).await.map_err(|error| migration_error(path, known, error))?;
    // Written only if necessary, as the disk may be full.
    if !is_marked {
        let mark = sqlx::AssertSqlSafe(format!("PRAGMA application_id = {APPLICATION_ID}"));
        sqlx::query(mark).execute(&mut connection).await.map_err(failed)?;
    }
    if let Err(error) = removal::finish(&mut connection).await {
        tracing::warn!(%error, "what was redacted may still be in free pages of the database: the next start tries again");
    }
    Ok(connection)
}

async fn migrate(connection: &mut SqliteConnection, upgrade: Upgrade) -> Result<(), MigrateError> {
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
}

/// True if the release before does not open the database any more.
pub(super) async fn is_upgraded(database: impl SqliteExecutor<'_>) -> Result<bool, sqlx::Error> {
    let (newest, count) = schema::newest(&MIGRATIONS);
    let required: i64 = sqlx::query_scalar(COUNT_REQUIRED).bind(newest).fetch_one(database).await?;
    Ok(usize::try_from(required) == Ok(count))
}

/// Creates the database file for its owner only; SQLite gives its log the same mode.
fn create_privately(path: &Path) -> Result<(), StoreError> {
    let opened = OpenOptions::new().append(true).create(true).mode(0o600).open(path);
    opened.map(drop).map_err(|error| folder_error(path, error))
}

/// Refuses an old SQLite, which a second copy in the process could be.
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

/// Refuses another program's database; returns true if it has our application id.
pub(super) async fn refuse_foreign(connection: &mut SqliteConnection, path: &Path) -> Result<bool, StoreError> {
    let failed = |error| store_error(path, error);
    let application: i64 =
        sqlx::query_scalar("PRAGMA application_id").fetch_one(&mut *connection).await.map_err(failed)?;
    let tables: i64 =
        sqlx::query_scalar("SELECT count(*) FROM sqlite_schema").fetch_one(&mut *connection).await.map_err(failed)?;
    if tables > 0 && application != APPLICATION_ID {
        return Err(damaged(path, "it is another program's database"));
    }
    Ok(application == APPLICATION_ID)
}

/// Checks the database; returns true if it has our application id.
async fn check_database(connection: &mut SqliteConnection, path: &Path) -> Result<bool, StoreError> {
    let is_ours = refuse_foreign(connection, path).await?;
    let size = path.metadata().map_or(0, |metadata| metadata.len());
    if size <= MAX_QUICK_CHECK_BYTES {
        quick_check(connection, path).await?;
    }
    Ok(is_ours)
}

/// Verifies the structure of the whole database.
pub(super) async fn quick_check(connection: &mut SqliteConnection, path: &Path) -> Result<(), StoreError> {
    let found: String = sqlx::query_scalar("PRAGMA quick_check(1)")
        .fetch_one(connection)
        .await
        .map_err(|error| store_error(path, error))?;
    if found == "ok" { Ok(()) } else { Err(found_error(path, &found)) }
}

/// Returns a pool of read-only connections, which are opened on first use.
pub(super) fn open_readers(path: &Path) -> SqlitePool {
    let options = options(path).read_only(true).pragma("cache_size", "-16384");
    SqlitePoolOptions::new().max_connections(READERS).connect_lazy_with(options)
}

pub(super) fn database_path(folder: &Path) -> PathBuf {
    folder.join(DATABASE_FILE)
}

/// Closes a connection cleanly; after an error the next open replays the log.
pub(super) async fn close(mut connection: SqliteConnection) {
    if let Err(error) = sqlx::query("PRAGMA wal_checkpoint(TRUNCATE)").fetch_all(&mut connection).await {
        tracing::warn!(%error, "the write-ahead log was not emptied; the next start does it");
    }
    if let Err(error) = connection.close().await {
        tracing::warn!(%error, "the database was not closed in good order; the next start mends it");
    }
}

const HEADER_BYTES: usize = 32;

const FRAME_HEADER_BYTES: usize = 24;

/// Magic number; its last bit marks checksums of big-endian words.
const MAGIC: u32 = 0x377f_0682;

const MAX_PAGE_BYTES: usize = 65_536;

/// Content of a log.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct LogReport {
    /// Number of commits that SQLite will find.
    pub(super) commits: u64,
    /// Number of this log's frames from the first damaged one on.
    pub(super) lost_frames: u64,
    /// Number of commits among them.
    pub(super) lost_commits: u64,
}

/// Examines the log; a missing one, or one that SQLite would not read, counts as empty.
pub(super) fn examine(log: &Path) -> io::Result<LogReport> {
    match File::open(log) {
        Ok(file) => read(&mut BufReader::with_capacity(1 << 20, file)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(LogReport::default()),
        Err(error) => Err(error),
    }
}

fn read(log: &mut impl Read) -> io::Result<LogReport> {
    let mut report = LogReport::default();
    let mut header = [0; HEADER_BYTES];
    if !fill(log, &mut header)? {
        return Ok(report);
    }
    let Some(mut sum) = Checksum::of_header(&header) else { return Ok(report) };
    let page_bytes = word(&header, 8) as usize;
    let mut frame = vec![0; FRAME_HEADER_BYTES + page_bytes];
    let mut is_good = true;
    while fill(log, &mut frame)? {
        // Frames of an earlier generation of the log have other salts.
        let is_of_this_log = frame[8..16] == header[16..24];
        let is_commit = word(&frame, 4) != 0;
        is_good = is_good && is_of_this_log && sum.takes(&frame);
        match (is_good, is_of_this_log) {
            (true, _) => report.commits += u64::from(is_commit),
            (false, true) => {
                report.lost_frames += 1;
                report.lost_commits += u64::from(is_commit);
            }
            (false, false) => {}
        }
    }
    Ok(report)
}

/// Fills the buffer; returns false at the end, also in the middle of the buffer.
fn fill(log: &mut impl Read, buffer: &mut [u8]) -> io::Result<bool> {
    match log.read_exact(buffer) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(error),
    }
}

fn word(bytes: &[u8], at: usize) -> u32 {
    u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

/// Checksum over all frames so far.
struct Checksum {
    is_big_endian: bool,
    sums: (u32, u32),
}

impl Checksum {
    /// Starts with the header; `None`: it is not a log, or its header is damaged.
    fn of_header(header: &[u8; HEADER_BYTES]) -> Option<Self> {
        let (magic, page_bytes) = (word(header, 0), word(header, 8) as usize);
        if magic & !1 != MAGIC || !page_bytes.is_power_of_two() || !(512..=MAX_PAGE_BYTES).contains(&page_bytes) {
            return None;
        }
        let mut sum = Self { is_big_endian: magic & 1 == 1, sums: (0, 0) };
        sum.add(&header[..24]);
        (sum.sums == (word(header, 24), word(header, 28))).then_some(sum)
    }

    /// Adds a frame if its checksum matches; returns true if it does.
    fn takes(&mut self, frame: &[u8]) -> bool {
        let before = self.sums;
        self.add(&frame[..8]);
        self.add(&frame[FRAME_HEADER_BYTES..]);
        let is_good = word(frame, 0) != 0 && self.sums == (word(frame, 16), word(frame, 20));
        if !is_good {
            self.sums = before;
        }
        is_good
    }

    fn add(&mut self, bytes: &[u8]) {
        let read = if self.is_big_endian { u32::from_be_bytes } else { u32::from_le_bytes };
        for pair in bytes.chunks_exact(8) {
            let first = read([pair[0], pair[1], pair[2], pair[3]]);
            let second = read([pair[4], pair[5], pair[6], pair[7]]);
            self.sums.0 = self.sums.0.wrapping_add(first).wrapping_add(self.sums.1);
            self.sums.1 = self.sums.1.wrapping_add(second).wrapping_add(self.sums.0);
        }
    }
}
