//! Tests of damage found at the start: a lost database, a damaged log, damaged indexes, open permissions.

use super::super::health::Health;
use super::super::open;
use super::*;

/// Creates the folder of a killed process, with all writes since the last checkpoint in the log.
async fn killed_folder(appends: usize) -> (TempDir, Author) {
    let (store, folder) = open_sqlite().await;
    let mut author = Author::new("nb");
    // No checkpoint occurs in between, as the writer is not idle.
    for _ in 0..appends {
        store.append(author.rename("x")).await.unwrap();
    }
    let copy = tempfile::tempdir().unwrap();
    for file in [DATABASE_FILE, "notarium.db-wal"] {
        std::fs::copy(folder.path().join(file), copy.path().join(file)).unwrap();
    }
    store.close().await;
    (copy, author)
}

fn log_of(folder: &TempDir) -> std::path::PathBuf {
    folder.path().join("notarium.db-wal")
}

#[tokio::test]
async fn a_database_that_was_lost_is_not_begun_anew_beside_its_log_or_its_blobs() {
    for is_empty in [false, true] {
        let (folder, author) = killed_folder(5).await;
        let database = folder.path().join(DATABASE_FILE);
        let saved = std::fs::read(&database).unwrap();
        std::fs::remove_file(&database).unwrap();
        if is_empty {
            std::fs::write(&database, "").unwrap();
        }
        let log = std::fs::read(log_of(&folder)).unwrap();
        let error = refused(folder.path()).await;
        assert!(matches!(&error, StoreError::Lost { beside, .. } if beside.ends_with("-wal")), "{error:?}");
        assert!(error.to_string().contains("notarium restore"), "{error}");
        assert_eq!(std::fs::read(log_of(&folder)).unwrap(), log, "nothing of it is deleted");
        std::fs::write(&database, saved).unwrap();
        let store = Sqlite::open(folder.path()).await.unwrap();
        assert_eq!(store.head(&author.notebook_id).await.unwrap(), Some(author.head));
        store.close().await;
    }
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(folder.path().join("blobs/nb/ab")).unwrap();
    Sqlite::open(folder.path()).await.expect("empty folders are nothing").close().await;
    std::fs::remove_file(folder.path().join(DATABASE_FILE)).unwrap();
    std::fs::write(folder.path().join("blobs/nb/ab/abcd"), "x").unwrap();
    let error = refused(folder.path()).await;
    assert!(matches!(&error, StoreError::Lost { beside, .. } if beside.ends_with("blobs")), "{error:?}");
}

#[tokio::test]
async fn commits_that_lie_after_a_damaged_frame_are_said_and_kept_aside() {
    let (folder, author) = killed_folder(120).await;
    let whole = open::examine(&log_of(&folder)).unwrap();
    assert_eq!((whole.lost_frames, whole.lost_commits), (0, 0));
    assert!(whole.commits >= 120, "{whole:?}");
    let mut log = std::fs::read(log_of(&folder)).unwrap();
    let middle = log.len() / 2;
    log[middle] ^= 1;
    std::fs::write(log_of(&folder), &log).unwrap();
    let damaged = open::examine(&log_of(&folder)).unwrap();
    assert!(damaged.lost_commits > 1 && damaged.commits + damaged.lost_commits == whole.commits, "{damaged:?}");

    let store = Sqlite::open(folder.path()).await.unwrap();
    assert!(store.troubles()[0].contains("log was damaged"), "{:?}", store.troubles());
    let head = store.head(&author.notebook_id).await.unwrap().unwrap();
    assert!(head.version < author.head.version, "SQLite ends its reading there");
    assert_eq!(std::fs::read(folder.path().join("notarium.db-wal.damaged-1")).unwrap(), log);
    store.close().await;
    let store = Sqlite::open(folder.path()).await.unwrap();
    assert_eq!(store.troubles(), [""; 0]);
    store.close().await;
}

/// Scenario: a power cut during a write leaves the last commit incomplete and unacknowledged.
#[tokio::test]
async fn an_incomplete_last_commit_is_no_damage() {
    let (folder, _) = killed_folder(10).await;
    let log = std::fs::read(log_of(&folder)).unwrap();
    for cut in [1, 2_000, 4_120, 9_000] {
        std::fs::write(log_of(&folder), &log[..log.len() - cut]).unwrap();
        assert_eq!(open::examine(&log_of(&folder)).unwrap().lost_commits, 0, "{cut}");
    }
    std::fs::write(log_of(&folder), "no log").unwrap();
    assert_eq!(open::examine(&log_of(&folder)).unwrap(), open::LogReport::default());
}

/// The check at the start does not compare tables with their indexes.
#[tokio::test]
async fn a_damaged_index_is_found_by_the_check_after_the_start() {
    let (store, folder) = open_sqlite().await;
    let mut author = Author::new("nb");
    let insert = r#"{"cell_id":"somecell","cell":{"cell_type":"code","source":"","order_key":"a0"}}"#;
    store.append(author.append(&[("CellInserted", insert)])).await.unwrap();
    store.health.checked().await;
    assert_eq!(store.troubles(), [""; 0]);
    store.close().await;

    let path = folder.path().join(DATABASE_FILE);
    let mut bytes = std::fs::read(&path).unwrap();
    const INDEX_LEAF: u8 = 10;
    let places = bytes.windows(8).enumerate().filter(|(_, window)| *window == b"somecell").map(|(place, _)| place);
    let place = places.into_iter().find(|place| bytes[place / 4096 * 4096] == INDEX_LEAF).expect("it is in the index");
    bytes[place] = b'x';
    std::fs::write(&path, bytes).unwrap();
    let store = Sqlite::open(folder.path()).await.expect("what is in the tables can be read");
    store.health.checked().await;
    assert!(store.troubles()[0].contains("database is damaged"), "{:?}", store.troubles());
    store.close().await;
}

#[tokio::test]
async fn closing_does_not_wait_for_the_check() {
    let (store, _folder) = open_sqlite().await;
    let health: Arc<Health> = store.health.clone();
    store.close().await;
    assert_eq!(health.troubles(), [""; 0], "a check that was broken off found nothing");
}

#[tokio::test]
async fn doors_that_were_open_are_closed() {
    let folder = written_folder().await;
    let blobs = folder.path().join("blobs");
    std::fs::create_dir(&blobs).unwrap();
    let database = folder.path().join(DATABASE_FILE);
    for (path, open) in [(folder.path(), 0o755), (&blobs, 0o755), (&database, 0o644)] {
        set_mode(path, open);
    }
    let store = Sqlite::open(folder.path()).await.unwrap();
    let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
    let log = log_of(&folder);
    let modes = [folder.path(), &blobs, &database, &log, &folder.path().join("notarium.lock")].map(mode);
    assert_eq!(modes, [0o700, 0o700, 0o600, 0o600, 0o600]);
    store.close().await;
}

/// The folder may have other uses, such as a home directory.
#[tokio::test]
async fn a_folder_without_a_database_stays_as_open_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    set_mode(folder.path(), 0o755);
    Sqlite::open(folder.path()).await.unwrap().close().await;
    assert_eq!(folder.path().metadata().unwrap().permissions().mode() & 0o777, 0o755);
}

// --- disks ---

#[tokio::test]
async fn a_disk_that_is_gone_is_not_called_damage_and_takes_no_writes() {
    let (store, folder) = open_sqlite().await;
    let mut author = Author::new("nb");
    store.append(author.rename("before")).await.unwrap();
    std::fs::remove_file(folder.path().join(DATABASE_FILE)).unwrap();
    let refused = store.append(author.rename("into nowhere")).await.unwrap_err().to_string();
    let named = folder.path().display().to_string();
    assert!(refused.contains("not there any more") && refused.contains(&named), "{refused}");
    assert!(store.troubles()[0].contains("write was refused"), "{:?}", store.troubles());
    store.close().await;
}

#[tokio::test]
async fn a_full_disk_is_said_until_a_write_succeeds() {
    let (store, folder) = open_sqlite().await;
    let mut author = Author::new("nb");
    set_page_limit(&store, "PRAGMA max_page_count = 100").await;
    fill_up(&store, &mut author).await;
    assert!(store.troubles()[0].contains("write was refused"), "{:?}", store.troubles());
    let error = store.append(Author::new("other").rename(&"y".repeat(900_000))).await.unwrap_err().to_string();
    assert!(error.contains("is full") && error.contains(&folder.path().display().to_string()), "{error}");
    set_page_limit(&store, "PRAGMA max_page_count = 1000000").await;
    store.append(Author::new("other").rename("fits")).await.unwrap();
    assert_eq!(store.troubles(), [""; 0]);
    store.close().await;
}

#[tokio::test]
async fn a_really_full_disk_keeps_nobody_from_starting_and_reading() {
    let Some(disk) = SmallDisk::mount() else {
        eprintln!("skipped: only root can mount a small disk");
        return;
    };
    let data = disk.0.path().join("data");
    let store = Sqlite::open(&data).await.unwrap();
    let mut author = Author::new("nb");
    store.append(author.rename("before")).await.unwrap();
    store.close().await;
    let mut ballast = std::fs::File::create(disk.0.path().join("ballast")).unwrap();
    while ballast.write(&[1; 4096]).is_ok() {}
    let store = Sqlite::open(&data).await.unwrap();
    assert_eq!(store.head(&author.notebook_id).await.unwrap(), Some(author.head));
    fill_up(&store, &mut author).await;
    store.close().await;
    let store = Sqlite::open(&data).await.expect("also a second time");
    assert!(store.head(&author.notebook_id).await.unwrap().is_some());
    store.close().await;
}

#[test]
fn a_commit_that_the_disk_broke_is_not_called_unwritten() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml");
    for (code, expected) in [("10", "not known whether"), ("1034", "not known whether"), ("13", "nothing was written")]
    {
        let error = super::super::error::commit_error(&path, sqlx::Error::Database(Box::new(Code(code))));
        assert!(error.to_string().contains(expected), "{code}: {error}");
    }
}

#[test]
fn a_page_that_the_disk_does_not_give_is_no_damage() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml");
    let found = |text: &str| super::super::error::found_error(&path, text);
    let pages = "*** in database main ***\nTree 4 page 7: unable to get the page. error code=266";
    let failed = found(pages);
    assert!(matches!(&failed, StoreError::Unavailable { reason } if reason.contains("the disk")), "{failed:?}");
    for damage in [
        "Tree 4 page 7: unable to get the page. error code=11",
        "Tree 4 page 7 cell 3: Rowid 9 out of order",
        "row 4 missing from index places_by_version",
    ] {
        assert!(matches!(found(damage), StoreError::Corrupt { .. }), "{damage}");
    }
}

/// An error of SQLite with its code.
#[derive(Debug)]
struct Code(&'static str);

impl std::fmt::Display for Code {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("disk I/O error")
    }
}

impl std::error::Error for Code {}

impl sqlx::error::DatabaseError for Code {
    fn message(&self) -> &str {
        "disk I/O error"
    }

    fn code(&self) -> Option<std::borrow::Cow<'_, str>> {
        Some(self.0.into())
    }

    fn as_error(&self) -> &(dyn std::error::Error + Send + Sync + 'static) {
        self
    }

    fn as_error_mut(&mut self) -> &mut (dyn std::error::Error + Send + Sync + 'static) {
        self
    }

    fn into_error(self: Box<Self>) -> Box<dyn std::error::Error + Send + Sync + 'static> {
        self
    }

    fn kind(&self) -> sqlx::error::ErrorKind {
        sqlx::error::ErrorKind::Other
    }
}

#[tokio::test]
async fn a_fault_in_the_writer_ends_one_batch() {
    let (mut store, _folder) = open_sqlite().await;
    let (queue, queued) = mpsc::channel(MAX_QUEUED_APPENDS);
    let writer = GroupCommit::new(store.writer.clone(), queued, store.path.clone(), store.health.clone());
    let faulty = writer.run_with(async |writer: &mut GroupCommit, batch: Vec<Queued>| {
        assert!(batch.iter().all(|queued| queued.append.notebook_id.as_str() != "faulty"), "a planted fault");
        writer.commit(batch).await;
    });
    store.queue = queue;
    std::mem::replace(&mut store.group_commit, tokio::spawn(faulty)).await.unwrap();
    let mut author = Author::new("nb");
    store.append(author.rename("before")).await.unwrap();
    for _ in 0..2 {
        let failed = store.append(Author::new("faulty").rename("x")).await;
        assert!(matches!(failed, Err(AppendError::Store(StoreError::Unknown { .. }))), "{failed:?}");
        store.append(author.rename("after")).await.unwrap();
    }
    assert_eq!(store.head(&author.notebook_id).await.unwrap(), Some(author.head));
    store.close().await;
}
