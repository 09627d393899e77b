//! Tests of backups of a store with concurrent writes.

#[path = "contract/author.rs"]
mod author;

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use author::{Author, notebook};
use notarium_record::{Hash, Head, NotebookId, Version, verify_chain};
use notarium_store::backup::{BackedUp, BackupError, backup, restore};
use notarium_store::blobs::BLOBS_FOLDER;
use notarium_store::{Blobs, EventStore, Sqlite, StoreError};
use tempfile::TempDir;

struct Scene {
    store: Arc<Sqlite>,
    blobs: Blobs,
    folder: TempDir,
}

impl Scene {
    async fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = Arc::new(Sqlite::open(folder.path().join("data")).await.unwrap());
        let blobs = Blobs::local(folder.path().join("data").join(BLOBS_FOLDER), 1 << 20).unwrap();
        Self { store, blobs, folder }
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.folder.path().join(name)
    }

    async fn back_up(&self) -> Result<BackedUp, BackupError> {
        backup(&self.path("data"), None, &self.path("backup"), &|_| {}).await
    }

    async fn restore(&self, into: &str) -> Result<BackedUp, BackupError> {
        restore(&self.path("backup"), &self.path(into), None, &|_| {}).await
    }

    /// Appends an event that names a blob.
    async fn with_blob(&self, author: &mut Author, bytes: &str) -> Hash {
        let sha256 = self.blobs.put_bytes(&author.notebook_id, bytes.to_owned().into()).await.unwrap();
        let part = serde_json::json!({"pointer": "/text", "sha256": sha256.to_string(), "size_bytes": bytes.len()});
        let output = serde_json::json!({"content": {"output_type": "stream"}, "blobs": [part]});
        let payload = serde_json::json!({"execution_id": "e", "output_seq": 1, "outputs": [output]});
        self.store.append(author.append(&[("ExecutionOutputAppended", &payload.to_string())])).await.unwrap();
        sha256
    }
}

async fn heads(store: &Sqlite) -> BTreeMap<NotebookId, Head> {
    store.notebooks(None, 0).await.unwrap().into_iter().collect()
}

async fn append_until(store: Arc<Sqlite>, mut author: Author, is_over: Arc<AtomicBool>) {
    while !is_over.load(Ordering::SeqCst) {
        store.append(author.rename(&"x".repeat(2_000))).await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_acked_before_a_backup_began_is_in_it_whatever_is_written_meanwhile() {
    let scene = Scene::start().await;
    let is_over = Arc::new(AtomicBool::new(false));
    let writers: Vec<_> = (0..6)
        .map(|number| {
            let author = Author::new(&format!("nb{number}"));
            tokio::spawn(append_until(scene.store.clone(), author, is_over.clone()))
        })
        .collect();
    for round in 0..4 {
        while heads(&scene.store).await.values().map(|head| head.version).sum::<Version>() < 300 * (round + 1) {
            tokio::task::yield_now().await;
        }
        let acked = heads(&scene.store).await;
        let done = scene.back_up().await.unwrap();
        assert!(done.events >= acked.values().map(|head| head.version).sum());
        let into = format!("restored{round}");
        scene.restore(&into).await.unwrap();
        let restored = Sqlite::open(scene.path(&into)).await.unwrap();
        for (id, head) in acked {
            let events = restored.read(&id, 0, usize::MAX).await.unwrap();
            assert_eq!(events[..head.version as usize].last().map(|event| event.hash), Some(head.hash));
            let end = verify_chain(Head::START, &events).unwrap();
            assert_eq!(restored.head(&id).await.unwrap(), Some(end));
        }
        restored.close().await;
    }
    is_over.store(true, Ordering::SeqCst);
    for writer in writers {
        writer.await.unwrap();
    }
}

#[tokio::test]
async fn blobs_are_copied_once_and_what_is_lost_is_named() {
    let scene = Scene::start().await;
    let mut author = Author::new("nb");
    let first = scene.with_blob(&mut author, "one").await;
    assert_eq!(scene.back_up().await.unwrap().copied_blobs, 1);
    scene.with_blob(&mut author, "two").await;
    let done = scene.back_up().await.unwrap();
    assert_eq!((done.blobs, done.copied_blobs, done.events), (2, 1, 2));

    // The next backup repairs a damaged blob in the backup.
    let copied = Blobs::shared(scene.path("backup").join(BLOBS_FOLDER)).unwrap();
    let file = |root: &str| scene.path(root).join(BLOBS_FOLDER).join(format!("nb/{}/{first}", &first.to_string()[..2]));
    std::fs::write(file("backup"), "uno").unwrap();
    assert!(!copied.is_whole(&notebook("nb"), &first).await.unwrap());
    assert_eq!(scene.back_up().await.unwrap().copied_blobs, 1);
    assert!(copied.is_whole(&notebook("nb"), &first).await.unwrap());

    // A blob lost from the data is still in the backup, and the next backup keeps it.
    std::fs::remove_file(file("data")).unwrap();
    assert_eq!(scene.back_up().await.unwrap().lost, []);
    std::fs::remove_file(file("backup")).unwrap();
    assert_eq!(scene.back_up().await.unwrap().lost, [(notebook("nb"), first)]);
    let restored = scene.restore("restored").await.unwrap();
    assert_eq!((restored.copied_blobs, restored.lost), (1, vec![(notebook("nb"), first)]));
}

fn mode(path: &Path) -> u32 {
    path.metadata().unwrap().permissions().mode() & 0o777
}

#[tokio::test]
async fn a_backup_is_its_owners_alone_and_refused_where_it_is_none() {
    let scene = Scene::start().await;
    let refused = scene.restore("restored").await.unwrap_err();
    assert!(matches!(refused, BackupError::NoBackup { .. }), "{refused}");
    let refused = backup(&scene.path("nothing"), None, &scene.path("backup"), &|_| {}).await.unwrap_err();
    assert!(matches!(refused, BackupError::NoData { .. }), "{refused}");
    let refused = backup(&scene.path("data"), None, &scene.path("data"), &|_| {}).await.unwrap_err();
    assert!(matches!(refused, BackupError::IsData { .. }), "{refused}");
    scene.store.append(Author::new("nb").rename("x")).await.unwrap();
    scene.back_up().await.unwrap();
    let refused = scene.restore("data").await.unwrap_err();
    assert!(matches!(refused, BackupError::NotEmpty { .. }), "{refused}");
    assert_eq!((mode(&scene.path("backup")), mode(&scene.path("backup/notarium.db"))), (0o700, 0o600));

    let database = scene.path("backup/notarium.db");
    let mut bytes = std::fs::read(&database).unwrap();
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    std::fs::write(&database, bytes).unwrap();
    let refused = scene.restore("restored").await.unwrap_err();
    assert!(matches!(refused, BackupError::Changed { .. }), "{refused}");
    assert!(!scene.path("restored").exists(), "nothing is left half-way");
}

/// A copy would replace a good backup by the damage.
#[tokio::test]
async fn a_damaged_database_is_not_backed_up_over_a_good_one() {
    let scene = Scene::start().await;
    let mut author = Author::new("nb");
    for _ in 0..20 {
        scene.store.append(author.rename("paid 100")).await.unwrap();
    }
    scene.back_up().await.unwrap();
    let mut transaction = scene.store.begin().await.unwrap();
    let sql = "UPDATE events SET payload = replace(payload, '100', '900') WHERE version = 7";
    sqlx::query(sql).execute(&mut *transaction).await.unwrap();
    transaction.commit().await.unwrap();
    let refused = scene.back_up().await.unwrap_err();
    assert!(matches!(&refused, BackupError::Store(StoreError::Corrupt { .. })), "{refused}");
    assert!(refused.to_string().contains("version 7"), "{refused}");
    assert_eq!(scene.restore("restored").await.unwrap().events, 20);
}

/// Helper process of the test below: dies at one step of the restore.
#[tokio::test]
#[ignore = "the test of a killed restore starts it"]
async fn dies_while_it_restores() {
    let Ok(place) = std::env::var("DIES_AT") else { return };
    let (from, into) = (std::env::var("RESTORES_FROM").unwrap(), std::env::var("RESTORES_INTO").unwrap());
    let left = std::sync::atomic::AtomicUsize::new(place.parse().unwrap());
    let step = |_| {
        if left.fetch_sub(1, Ordering::SeqCst) == 0 {
            std::process::abort();
        }
    };
    restore(Path::new(&from), Path::new(&into), None, &step).await.unwrap();
}

/// Returns true if the process died before the restore was done.
fn dies(place: usize, from: &Path, into: &Path) -> bool {
    let mut process = std::process::Command::new(std::env::current_exe().unwrap());
    process.args(["--ignored", "--exact", "dies_while_it_restores"]).env("DIES_AT", place.to_string());
    process.env("RESTORES_FROM", from).env("RESTORES_INTO", into);
    !process.output().unwrap().status.success()
}

#[tokio::test(flavor = "multi_thread")]
async fn no_server_opens_what_a_killed_restore_left_and_restoring_again_finishes_it() {
    let scene = Scene::start().await;
    let mut author = Author::new("nb");
    for blob in ["one", "two", "three"] {
        scene.with_blob(&mut author, blob).await;
    }
    scene.back_up().await.unwrap();
    let archive = scene.path("backup.tar.zst");
    backup(&scene.path("data"), None, &archive, &|_| {}).await.unwrap();
    for from in [scene.path("backup"), archive] {
        let into = scene.path("restored");
        let mut deaths = 0;
        while dies(deaths, &from, &into) {
            deaths += 1;
            let error = Sqlite::open(&into).await.expect_err("a half-restored folder is refused");
            assert!(matches!(&error, StoreError::HalfRestored { .. }), "{deaths}: {error}");
            assert!(error.to_string().contains("notarium restore"), "{error}");
            let error = backup(&into, None, &scene.path("other"), &|_| {}).await.unwrap_err();
            assert!(matches!(error, BackupError::HalfRestored { .. }), "{error}");
            // Every second attempt meets remains, the others an empty folder.
            if deaths % 2 == 0 {
                let done = restore(&from, &into, None, &|_| {}).await.unwrap();
                assert_eq!((done.events, done.blobs), (3, 3));
                assert!(!into.join("notarium.restoring").exists());
                let store = Sqlite::open(&into).await.unwrap();
                assert_eq!(heads(&store).await, heads(&scene.store).await);
                store.close().await;
                std::fs::remove_dir_all(&into).unwrap();
            }
        }
        assert!(deaths >= 5, "{deaths}");
        std::fs::remove_dir_all(&into).unwrap();
    }
    // Remains of a version that set no mark.
    let old = scene.path("old");
    std::fs::create_dir(&old).unwrap();
    std::fs::write(old.join("notarium.db.part"), "half").unwrap();
    assert!(matches!(Sqlite::open(&old).await.err(), Some(StoreError::HalfRestored { .. })));
    assert_eq!(scene.restore("old").await.unwrap().events, 3);
    assert!(!old.join("notarium.db.part").exists());
}

#[tokio::test]
async fn a_second_restore_into_the_same_folder_is_refused() {
    let scene = Scene::start().await;
    scene.store.append(Author::new("nb").rename("x")).await.unwrap();
    scene.back_up().await.unwrap();
    let (from, into) = (scene.path("backup"), scene.path("restored"));
    let seen = std::sync::Mutex::new(Vec::new());
    let second = |_| {
        let refused = futures_util::FutureExt::now_or_never(restore(&from, &into, None, &|_| {}));
        seen.lock().unwrap().push(refused.expect("it asks for nothing").unwrap_err().to_string());
    };
    restore(&from, &into, None, &second).await.unwrap();
    let seen = seen.into_inner().unwrap();
    assert!(!seen.is_empty() && seen.iter().all(|said| said.contains("another `notarium restore`")), "{seen:?}");
}
