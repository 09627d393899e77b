#[path = "../tests/contract/author.rs"]
mod author;
mod columns;
mod damage;
mod places;
mod upgrades;

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::sync::Arc;

use notarium_record::verify_chain;
use sqlx::{ConnectOptions, Connection, Row, SqliteConnection};
use tempfile::TempDir;

use super::*;
use author::{Author, notebook};

impl Author {
    /// Continues the log of an earlier process.
    fn resume(&mut self, head: Head) {
        self.head = head;
        self.commands = head.version;
    }
}

async fn open_sqlite() -> (Sqlite, TempDir) {
    let folder = tempfile::tempdir().unwrap();
    (Sqlite::open(folder.path()).await.unwrap(), folder)
}

#[test]
fn every_migration_of_the_folder_is_built_in() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../migrations/sqlite");
    let mut files: Vec<_> =
        std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
    files.sort();
    let built_in = open::MIGRATIONS.map(|(version, name, _)| format!("{version:04}_{}.sql", name.replace(' ', "_")));
    assert_eq!(files, built_in);
}

/// Makes the tables that a build had whose newest migration was `newest`.
async fn tables_up_to(newest: i64, folder: &Path) -> SqliteConnection {
    let path = open::database_path(folder);
    let mut connection = open::options(&path).create_if_missing(true).connect().await.unwrap();
    let known: Vec<_> = open::MIGRATIONS.into_iter().filter(|(version, ..)| *version <= newest).collect();
    crate::schema::create_lists(&mut connection).await.unwrap();
    crate::schema::migrate(&mut connection, &known, Upgrade::Begin).await.unwrap();
    let mark = "DROP TABLE additive_migrations; PRAGMA application_id = 1313821761";
    sqlx::raw_sql(mark).execute(&mut connection).await.unwrap();
    connection
}

async fn refused(folder: &Path) -> StoreError {
    Sqlite::open(folder).await.expect_err("the folder is refused")
}

/// Returns a closed data folder with some content.
async fn written_folder() -> TempDir {
    let (store, folder) = open_sqlite().await;
    let mut author = Author::new("nb");
    for _ in 0..100 {
        store.append(author.rename(&"long title ".repeat(100))).await.unwrap();
    }
    store.close().await;
    folder
}

// --- open and close ---

#[tokio::test]
async fn what_was_written_is_there_after_reopening() {
    let folder = tempfile::tempdir().unwrap();
    let mut author = Author::new("nb");
    for closes_well in [true, false, true] {
        let store = Sqlite::open(folder.path()).await.unwrap();
        let after = author.head.version;
        assert_eq!(store.head(&author.notebook_id).await.unwrap(), (after > 0).then_some(author.head));
        store.append(author.rename("x")).await.unwrap();
        let (append, notebook_id) = (author.rename("y"), author.notebook_id.clone());
        store.append(append.clone()).await.unwrap();
        assert_eq!(store.read(&notebook_id, after + 1, 9).await.unwrap(), [append.events[0].stored.clone()]);
        if closes_well {
            store.close().await;
        } else {
            abandon(store).await;
        }
    }
}

/// Drops the store as a panic would, and waits until its tasks have released the lock.
async fn abandon(store: Sqlite) {
    let Sqlite { queue, group_commit, writer, readers, check, lock, .. } = store;
    drop((queue, writer, readers, check, lock));
    group_commit.await.unwrap();
}

#[tokio::test]
async fn closing_waits_for_what_is_queued() {
    let (store, folder) = open_sqlite().await;
    let mut author = Author::new("nb");
    for _ in 0..20 {
        store.queue.send(Queued::new(author.rename("x")).0).await.unwrap();
    }
    store.close().await;
    let wal = folder.path().join("notarium.db-wal");
    assert!(!wal.exists(), "the write-ahead log is part of the database now");
    let store = Sqlite::open(folder.path()).await.unwrap();
    assert_eq!(store.head(&author.notebook_id).await.unwrap(), Some(author.head));
}

#[tokio::test]
async fn a_new_folder_is_its_owners_alone() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("deep/data");
    let _store = Sqlite::open(&data).await.unwrap();
    assert_eq!(data.metadata().unwrap().permissions().mode() & 0o777, 0o700);
}

#[tokio::test]
async fn what_a_starting_program_inherited_keeps_no_folder_locked() {
    let (store, folder) = open_sqlite().await;
    let inherited = store.lock.0.try_clone().unwrap();
    store.close().await;
    Sqlite::open(folder.path()).await.unwrap().close().await;
    drop(inherited);
}

#[tokio::test]
async fn a_second_server_on_the_folder_is_refused() {
    let (store, folder) = open_sqlite().await;
    let error = refused(folder.path()).await;
    assert_eq!(error, StoreError::Locked { path: folder.path().display().to_string() });
    assert!(error.to_string().contains("--data"), "{error}");
    store.close().await;
    Sqlite::open(folder.path()).await.unwrap();
}

#[tokio::test]
async fn a_newer_database_is_refused() {
    let folder = written_folder().await;
    let store = Sqlite::open(folder.path()).await.unwrap();
    let mut transaction = store.begin().await.unwrap();
    let newer = "INSERT INTO _sqlx_migrations SELECT 9999, '', '', true, x'', 0";
    sqlx::query(newer).execute(&mut *transaction).await.unwrap();
    transaction.commit().await.unwrap();
    store.close().await;
    let error = refused(folder.path()).await;
    assert!(matches!(error, StoreError::TooNew { found: 9999, known: 1.. }), "{error:?}");
}

#[tokio::test]
async fn every_commit_is_synced() {
    let (store, _folder) = open_sqlite().await;
    let mut writer = store.writer.lock().await;
    let synchronous: i64 = sqlx::query_scalar("PRAGMA synchronous").fetch_one(&mut **writer).await.unwrap();
    let journal: String = sqlx::query_scalar("PRAGMA journal_mode").fetch_one(&mut **writer).await.unwrap();
    assert_eq!((synchronous, journal.as_str()), (2, "wal"), "2 is FULL");
}

#[tokio::test]
async fn readers_cannot_write() {
    let (store, _folder) = open_sqlite().await;
    let error = sqlx::query("DELETE FROM events").execute(store.readers()).await.unwrap_err();
    assert!(matches!(store.failed(error), StoreError::ReadOnly { .. }));
}

#[test]
fn sqlite_is_linked_once() {
    let lock = include_str!("../../../Cargo.lock");
    assert_eq!(lock.matches("name = \"libsqlite3-sys\"").count(), 1, "see `cargo tree -i libsqlite3-sys`");
}

// --- queries ---

/// Returns SQLite's query plan, one step per line.
async fn plan_of(store: &Sqlite, sql: &str) -> Vec<String> {
    let explain = sqlx::AssertSqlSafe(format!("EXPLAIN QUERY PLAN {sql}"));
    let rows = sqlx::query(explain).fetch_all(store.readers()).await.unwrap();
    rows.iter().map(|row| row.get("detail")).collect()
}

/// The cost of turns, calls and conversations depends on the number of results, not on the notebook's age.
#[tokio::test]
async fn what_is_found_by_an_index_is_not_looked_for_in_the_whole_log() {
    let (store, _folder) = open_sqlite().await;
    for (sql, expected) in [
        (reader::EVENTS_OF_SUBJECT, "SEARCH e USING INDEX events_by_subject (notebook=? AND subject=?)"),
        (reader::READ_SUBJECT, "SEARCH e USING INDEX events_by_subject (notebook=? AND subject=? AND version>?)"),
        (reader::EVENTS_OF_TYPE, "SEARCH e USING INDEX events_by_type (notebook=? AND type=? AND version<?)"),
    ] {
        let plan = plan_of(&store, sql).await;
        assert!(plan.iter().any(|step| step == expected), "{plan:#?}");
        let whole = |step: &&String| step.starts_with("SCAN e") || step.contains("places");
        assert_eq!(plan.iter().find(whole), None, "{plan:#?}");
    }
}

// --- damage ---

fn overwrite(folder: &TempDir, pages: impl Fn(usize) -> bool) {
    let path = folder.path().join(DATABASE_FILE);
    let mut bytes = std::fs::read(&path).unwrap();
    for (number, page) in bytes.chunks_mut(4096).enumerate().filter(|(number, _)| pages(*number)) {
        page.fill(u8::try_from(number % 7).unwrap());
    }
    std::fs::write(path, bytes).unwrap();
}

async fn is_called_corrupt(folder: &TempDir) {
    let error = refused(folder.path()).await;
    assert!(matches!(error, StoreError::Corrupt { .. }), "{error:?}");
    assert!(error.to_string().contains(".recover"), "{error}");
}

#[tokio::test]
async fn a_file_that_is_no_database_is_refused() {
    let folder = written_folder().await;
    overwrite(&folder, |page| page == 0);
    is_called_corrupt(&folder).await;
    std::fs::write(folder.path().join(DATABASE_FILE), "short").unwrap();
    is_called_corrupt(&folder).await;
}

#[tokio::test]
async fn damaged_pages_are_refused() {
    let folder = written_folder().await;
    overwrite(&folder, |page| page > 2 && page % 5 == 0);
    is_called_corrupt(&folder).await;
}

#[tokio::test]
async fn a_truncated_database_is_refused() {
    let folder = written_folder().await;
    let path = folder.path().join(DATABASE_FILE);
    let bytes = std::fs::read(&path).unwrap();
    std::fs::write(&path, &bytes[..bytes.len() / 2]).unwrap();
    is_called_corrupt(&folder).await;
}

#[tokio::test]
async fn another_programs_database_is_refused() {
    let folder = written_folder().await;
    let store = Sqlite::open(folder.path()).await.unwrap();
    sqlx::query("PRAGMA application_id = 1").execute(&mut **store.writer.lock().await).await.unwrap();
    store.close().await;
    is_called_corrupt(&folder).await;
}

#[tokio::test]
async fn a_sound_database_passes_the_check() {
    let folder = written_folder().await;
    let store = Sqlite::open(folder.path()).await.unwrap();
    assert_eq!(store.check().await, Ok(()));
}

// --- faults while running ---

async fn set_page_limit(store: &Sqlite, sql: &'static str) {
    sqlx::query(sql).fetch_all(&mut **store.writer.lock().await).await.unwrap();
}

/// Appends until an append fails; returns the head before it.
async fn fill_up(store: &Sqlite, author: &mut Author) -> Head {
    for _ in 0..10_000 {
        let before = author.head;
        match store.append(author.rename(&"x".repeat(20_000))).await {
            Ok(()) => {}
            Err(AppendError::Store(StoreError::Unavailable { reason })) => {
                assert!(reason.contains("full"), "{reason}");
                return before;
            }
            Err(error) => panic!("{error:?}"),
        }
    }
    panic!("the disk is never full");
}

/// Checks that the failed append left nothing, and that the next one succeeds.
async fn goes_on(store: &Sqlite, author: &mut Author, before: Head) {
    assert_eq!(store.head(&author.notebook_id).await.unwrap(), Some(before));
    let events = store.read(&author.notebook_id, 0, usize::MAX).await.unwrap();
    assert_eq!(verify_chain(Head::START, &events), Ok(before));
    author.head = before;
    let again = author.rename("small");
    store.append(again).await.unwrap();
    assert_eq!(store.check().await, Ok(()));
}

#[tokio::test]
async fn a_full_disk_loses_nothing_and_is_got_over() {
    let (store, _folder) = open_sqlite().await;
    let mut author = Author::new("nb");
    store.append(author.rename("before")).await.unwrap();
    set_page_limit(&store, "PRAGMA max_page_count = 200").await;
    let before = fill_up(&store, &mut author).await;
    let refused = store.append(Author::new("other").rename(&"y".repeat(900_000))).await;
    assert!(matches!(refused, Err(AppendError::Store(StoreError::Unavailable { .. }))), "{refused:?}");
    set_page_limit(&store, "PRAGMA max_page_count = 1000000").await;
    goes_on(&store, &mut author, before).await;
    assert_eq!(store.head(&notebook("other")).await.unwrap(), None);
}

/// A file system of 4 MB, if this process may mount one.
struct SmallDisk(TempDir);

impl SmallDisk {
    fn mount() -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let options = ["-t", "tmpfs", "-o", "size=4m", "tmpfs"];
        let mounted = Command::new("mount").args(options).arg(folder.path()).stderr(Stdio::null()).status();
        mounted.is_ok_and(|status| status.success()).then_some(Self(folder))
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(self.0.path()).status();
    }
}

#[tokio::test]
async fn a_really_full_disk_loses_nothing_and_is_got_over() {
    let Some(disk) = SmallDisk::mount() else {
        eprintln!("skipped: only root can mount a small disk");
        return;
    };
    let ballast = disk.0.path().join("ballast");
    std::fs::write(&ballast, vec![1; 1 << 20]).unwrap();
    let store = Sqlite::open(disk.0.path().join("data")).await.unwrap();
    let mut author = Author::new("nb");
    store.append(author.rename("before")).await.unwrap();
    let before = fill_up(&store, &mut author).await;
    std::fs::remove_file(ballast).unwrap();
    goes_on(&store, &mut author, before).await;
    store.close().await;
}

#[tokio::test]
async fn an_abandoned_transaction_is_rolled_back() {
    let (store, _folder) = open_sqlite().await;
    let mut author = Author::new("nb");
    store.append(author.rename("before")).await.unwrap();
    let mut transaction = store.begin().await.unwrap();
    sqlx::query("DELETE FROM events").execute(&mut *transaction).await.unwrap();
    drop(transaction);
    store.append(author.rename("after")).await.unwrap();
    assert_eq!(store.read(&author.notebook_id, 0, 9).await.unwrap().len(), 2);
}

// --- other processes: this test program as a child ---

const CHILD_FOLDER: &str = "NOTARIUM_STORE_TEST_FOLDER";

/// Builds the command that runs one test of this program as another process.
fn child(program: &Path, test: &str, folder: &Path) -> Command {
    let mut command = Command::new(program);
    command.args(["--exact", &format!("sqlite::tests::{test}"), "--nocapture", "--test-threads=1"]);
    command.env(CHILD_FOLDER, folder);
    command
}

/// Child: prints each acknowledged append immediately. Does nothing in the parent.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn child_appends_for_ever() {
    let Some(folder) = std::env::var_os(CHILD_FOLDER) else { return };
    let store = Arc::new(Sqlite::open(folder).await.unwrap());
    let mut producers = Vec::new();
    for number in 0..12 {
        producers.push(tokio::spawn(append_for_ever(store.clone(), Author::new(&format!("nb{number}")))));
    }
    for producer in producers {
        producer.await.unwrap();
    }
}

async fn append_for_ever(store: Arc<Sqlite>, mut author: Author) {
    author.resume(store.head(&author.notebook_id).await.unwrap().unwrap_or(Head::START));
    loop {
        let append = author.rename("x");
        store.append(append).await.unwrap();
        let line = format!("\nacked {} {}\n", author.notebook_id, author.head.version);
        std::io::stdout().lock().write_all(line.as_bytes()).unwrap();
    }
}

/// Kills a child after `lines` acks; returns the last acked version of each notebook.
fn acked_by_killed_child(folder: &Path, lines: usize) -> BTreeMap<NotebookId, Version> {
    let program = std::env::current_exe().unwrap();
    let mut child = child(&program, "child_appends_for_ever", folder).stdout(Stdio::piped()).spawn().unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    let mut acked = BTreeMap::new();
    let (mut line, mut count) = (String::new(), 0);
    while output.read_line(&mut line).unwrap() > 0 {
        let words: Vec<&str> = line.split_whitespace().collect();
        if let (["acked", name, version], true) = (words.as_slice(), line.ends_with('\n')) {
            acked.insert(notebook(name), version.parse().unwrap());
            count += 1;
        }
        if count == lines {
            child.kill().unwrap();
        }
        line.clear();
    }
    assert!(!child.wait().unwrap().success());
    assert!(count >= lines, "the child ended by itself");
    acked
}

#[tokio::test]
async fn a_killed_process_loses_nothing_acked() {
    let folder = tempfile::tempdir().unwrap();
    for lines in [1, 300, 77, 1_000, 13] {
        let acked = acked_by_killed_child(folder.path(), lines);
        let store = Sqlite::open(folder.path()).await.unwrap();
        for (id, version) in acked {
            let events = store.read(&id, 0, usize::MAX).await.unwrap();
            let head = verify_chain(Head::START, &events).expect("no gap, nothing doubled");
            assert_eq!(store.head(&id).await.unwrap(), Some(head));
            assert!(head.version >= version, "{id}: {version} was acked, {} is there", head.version);
            for stored in &events {
                let envelope = &stored.envelope;
                let record = store.command(&id, &envelope.actor.key(), &envelope.command_id).await.unwrap();
                assert_eq!(record.map(|record| record.version), Some(envelope.version));
            }
        }
        assert_eq!(store.check().await, Ok(()));
        store.close().await;
    }
}

/// Child: runs as an unprivileged user, as permissions do not restrict root.
#[tokio::test]
async fn child_is_refused_as_read_only() {
    let Some(folder) = std::env::var_os(CHILD_FOLDER) else { return };
    let error = refused(Path::new(&folder)).await;
    assert!(matches!(error, StoreError::ReadOnly { .. }), "{error:?}");
    assert!(error.to_string().contains("permission"), "{error}");
}

fn set_mode(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

async fn is_refused_as_read_only(data: &TempDir) {
    let place = tempfile::tempdir().unwrap();
    set_mode(place.path(), 0o755);
    let program = place.path().join("tests");
    std::fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
    let mut child = child(&program, "child_is_refused_as_read_only", data.path());
    if Path::new("/proc/self").metadata().unwrap().uid() == 0 {
        child.uid(65_534).gid(65_534);
    }
    child.current_dir("/");
    // Another test's child may have the copy open for writing until its exec.
    let output = loop {
        match child.output() {
            Err(error) if error.kind() == std::io::ErrorKind::ExecutableFileBusy => std::thread::yield_now(),
            ended => break ended.unwrap(),
        }
    };
    let told = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && told.contains("1 passed"), "{output:?}");
}

#[tokio::test]
async fn a_read_only_folder_is_refused() {
    let data = written_folder().await;
    set_mode(data.path(), 0o555);
    is_refused_as_read_only(&data).await;
    set_mode(data.path(), 0o755);
}

#[tokio::test]
async fn a_read_only_database_is_refused() {
    let data = written_folder().await;
    set_mode(data.path(), 0o777);
    for entry in data.path().read_dir().unwrap() {
        set_mode(&entry.unwrap().path(), 0o666);
    }
    set_mode(&data.path().join(DATABASE_FILE), 0o444);
    is_refused_as_read_only(&data).await;
}
