//! Cases of old events in objects beside the blobs.

use notarium_store::{BlobLocation, Blobs, Segments, StorePlace, move_store};
use sqlx::postgres::PgConnectOptions;
use sqlx::{ConnectOptions, Connection, PgConnection};
use tempfile::TempDir;
use tokio::task::JoinHandle;

use super::*;

/// A task that moves the old events of all notebooks while others use the store.
pub struct Freezer {
    freezing: JoinHandle<()>,
    _folder: TempDir,
}

impl Drop for Freezer {
    fn drop(&mut self) {
        self.freezing.abort();
    }
}

fn segments(folder: &TempDir) -> Segments {
    Segments::new(Blobs::local(folder.path(), 1 << 20).unwrap())
}

impl Freezer {
    pub async fn start() -> Option<(Store, Self)> {
        let url = postgres::migrated_database().await?;
        let folder = tempfile::tempdir().unwrap();
        let store = Postgres::open(&url, None).await.unwrap().with_segments(segments(&folder));
        let store: Store = Arc::new(store);
        let frozen = store.clone();
        let freezing = tokio::spawn(async move {
            loop {
                for (notebook, _) in frozen.notebooks(None, 0).await.unwrap_or_default() {
                    // A notebook that changes meanwhile is refused, which harms nothing.
                    let _ = frozen.freeze(&notebook).await;
                }
                tokio::task::yield_now().await;
            }
        });
        Some((store, Self { freezing, _folder: folder }))
    }
}

/// A store with a notebook of many events, and a connection of the test's own.
struct Scene {
    store: Arc<Postgres>,
    url: String,
    folder: TempDir,
    observer: PgConnection,
    author: Author,
}

impl Scene {
    async fn open() -> Option<Self> {
        let url = postgres::migrated_database().await?;
        let folder = tempfile::tempdir().unwrap();
        let store = Arc::new(Postgres::open(&url, None).await.unwrap().with_segments(segments(&folder)));
        let options: PgConnectOptions = url.parse().unwrap();
        let observer = options.connect().await.unwrap();
        let mut author = Author::new("nb");
        for turn in 0..120 {
            let append = if turn % 3 == 0 { author.rename("secret é") } else { author.edit("a") };
            store.append(append).await.unwrap();
        }
        Some(Self { store, url, folder, observer, author })
    }

    async fn rows(&mut self) -> i64 {
        let sql = "SELECT count(*) FROM events WHERE notebook = 'nb'";
        sqlx::query_scalar(sql).fetch_one(&mut self.observer).await.unwrap()
    }

    /// Objects of the notebook's segments.
    fn objects(&self) -> Vec<std::path::PathBuf> {
        let folder = self.folder.path().join("segments.log").join("nb");
        let entries = std::fs::read_dir(folder).into_iter().flatten();
        entries.map(|entry| entry.unwrap().path()).collect()
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn old_events_move_to_an_object_and_are_read_as_before() {
    let Some(mut scene) = Scene::open().await else { return };
    let (store, id) = (scene.store.clone(), scene.author.notebook_id.clone());
    let as_store: Store = store.clone();
    let before = all(&as_store, &id).await;
    let edits = store.scan_by_subject(&id, &Selection::of("a")).await.unwrap();
    assert_eq!(edits.len(), 80);
    let future = scene.author.context.now * 2;
    assert_eq!(store.cold_candidates(future, None, 10).await.unwrap(), std::slice::from_ref(&id));
    assert_eq!(store.cold_candidates(0, None, 10).await.unwrap(), [], "it has changed since");
    assert_eq!(store.freeze(&id).await.unwrap(), 119);
    assert_eq!((scene.rows().await, scene.objects().len()), (1, 1));
    assert_eq!(all(&as_store, &id).await, before);
    for (after, limit) in [(0, 1), (5, 7), (117, 1), (118, 9), (119, 9), (120, 9)] {
        let expected: Vec<_> = before.iter().skip(after).take(limit).cloned().collect();
        assert_eq!(store.read(&id, after as u64, limit).await.unwrap(), expected, "{limit} after {after}");
    }
    assert_eq!(scene.rows().await, 1, "reads in order bring nothing back");
    // Work goes on behind them, and freezes again.
    store.append(scene.author.rename("later")).await.unwrap();
    store.append(scene.author.rename("again")).await.unwrap();
    assert_eq!(store.freeze(&id).await.unwrap(), 2);
    assert_eq!((scene.rows().await, scene.objects().len()), (1, 2));
    let now = all(&as_store, &id).await;
    assert_eq!((&now[..120], now.len()), (&before[..], 122));
    assert_eq!(verify_chain(Head::START, &now).unwrap(), scene.author.head);
    // A query by subject brings them back, for a day.
    assert_eq!(store.scan_by_subject(&id, &Selection::of("a")).await.unwrap(), edits);
    assert_eq!((scene.rows().await, scene.objects().len()), (122, 0));
    assert_eq!(store.cold_candidates(future, None, 10).await.unwrap(), []);
    assert_eq!(all(&as_store, &id).await, now);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn events_of_a_notebook_that_changes_meanwhile_stay() {
    let Some(mut scene) = Scene::open().await else { return };
    let id = scene.author.notebook_id.clone();
    // The lock is taken after the object was written: so the append comes first.
    let mut holder = scene.observer.begin().await.unwrap();
    sqlx::query("SELECT 1 FROM notebooks FOR UPDATE").execute(&mut *holder).await.unwrap();
    // In a transaction the list of connections stays that of the first look.
    let waiting = "SELECT count(*) FROM pg_stat_clear_snapshot(), pg_stat_activity \
                   WHERE datname = current_database() AND wait_event_type = 'Lock'";
    let append = scene.author.rename("meanwhile");
    let (store, writer) = (scene.store.clone(), scene.store.clone());
    let appending = tokio::spawn(async move { writer.append(append).await });
    while sqlx::query_scalar::<_, i64>(waiting).fetch_one(&mut *holder).await.unwrap() < 1 {
        tokio::task::yield_now().await;
    }
    let freezing = tokio::spawn({
        let id = id.clone();
        async move { store.freeze(&id).await }
    });
    while sqlx::query_scalar::<_, i64>(waiting).fetch_one(&mut *holder).await.unwrap() < 2 {
        tokio::task::yield_now().await;
    }
    holder.rollback().await.unwrap();
    appending.await.unwrap().unwrap();
    assert_eq!(freezing.await.unwrap(), Ok(0));
    assert_eq!((scene.rows().await, scene.objects().len()), (121, 0), "the object is deleted");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_missing_or_damaged_object_is_named_and_nothing_is_lost_beside_it() {
    let Some(scene) = Scene::open().await else { return };
    let (store, id) = (&scene.store, &scene.author.notebook_id);
    store.freeze(id).await.unwrap();
    let [object] = &scene.objects()[..] else { panic!("one object") };
    let bytes = std::fs::read(object).unwrap();
    // Without what was read last in memory.
    let store = Postgres::open(&scene.url, None).await.unwrap().with_segments(segments(&scene.folder));
    std::fs::write(object, &bytes[1..]).unwrap();
    let error = store.read(id, 0, 10).await.unwrap_err();
    assert!(
        matches!(&error, StoreError::UnreadableEvent { version: 1, reason } if reason.contains("damaged")),
        "{error}"
    );
    std::fs::remove_file(object).unwrap();
    for error in
        [store.read(id, 0, 10).await.unwrap_err(), store.events_of_subject(id, &["a".to_owned()]).await.unwrap_err()]
    {
        assert!(error.to_string().contains("restore it from a backup of the bucket"), "{error}");
    }
    assert_eq!(store.read(id, 119, 10).await.unwrap().len(), 1, "the newest is a row");
    std::fs::write(object, &bytes).unwrap();
    assert_eq!(store.read(id, 0, 200).await.unwrap().len(), 120);
    let elsewhere = Postgres::open(&scene.url, None).await.unwrap();
    let error = elsewhere.read(id, 0, 10).await.unwrap_err();
    assert!(error.to_string().contains("--blobs"), "{error}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn events_that_come_back_in_part_leave_no_hole_in_a_read() {
    let Some(mut scene) = Scene::open().await else { return };
    let id = scene.author.notebook_id.clone();
    scene.store.freeze(&id).await.unwrap();
    let first = scene.objects();
    for _ in 0..110 {
        scene.store.append(scene.author.edit("b")).await.unwrap();
    }
    assert_eq!(scene.store.freeze(&id).await.unwrap(), 110);
    let second = scene.objects().into_iter().find(|object| !first.contains(object)).unwrap();
    for (missing, rows, after) in [(&second, 1, 0), (&first[0], 111, 119)] {
        let bytes = std::fs::read(missing).unwrap();
        std::fs::remove_file(missing).unwrap();
        // Without what was read last in memory.
        let store = Postgres::open(&scene.url, None).await.unwrap().with_segments(segments(&scene.folder));
        store.events_of_subject(&id, &["a".to_owned()]).await.expect_err("an object is missing");
        assert_eq!(scene.rows().await, rows, "the last ones come back first");
        let read = store.read(&id, after, 300).await.unwrap();
        let whole: Vec<Version> = (after + 1..).take(read.len()).collect();
        assert!(!read.is_empty() && versions(&read) == whole, "{:?}", versions(&read));
        std::fs::write(missing, bytes).unwrap();
    }
    // A hole among rows ends a read before it, whatever has made it.
    sqlx::query("DELETE FROM segments").execute(&mut scene.observer).await.unwrap();
    sqlx::query("DELETE FROM events WHERE version = 150").execute(&mut scene.observer).await.unwrap();
    let read = scene.store.read(&id, 130, 50).await.unwrap();
    assert_eq!(read.last().map(|event| event.envelope.version), Some(149));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn removed_content_is_in_no_object() {
    let Some(mut scene) = Scene::open().await else { return };
    let (store, id) = (scene.store.clone(), scene.author.notebook_id.clone());
    store.freeze(&id).await.unwrap();
    // An object that a crash has left, and no row names.
    let left = scene.objects()[0].with_file_name("1-2-old.jsonl.zst");
    std::fs::write(&left, b"secret").unwrap();
    let payload = RawJson::parse(r#"{"title":"······","previous":"before"}"#).unwrap();
    let stand_ins = vec![StandIn { version: 1, payload }];
    let removal = ContentRemoval { stand_ins, ..ContentRemoval::default() };
    store.append(Append { removal, ..scene.author.rename("after") }).await.unwrap();
    assert_eq!((scene.rows().await, scene.objects()), (121, vec![]));
    let first = &store.read(&id, 0, 1).await.unwrap()[0];
    assert!(first.payload.get().contains("····") && first.salt.is_none(), "{first:?}");
    // It freezes without the content.
    store.freeze(&id).await.unwrap();
    let [object] = &scene.objects()[..] else { panic!("one object") };
    let text = String::from_utf8(zstd::decode_all(&std::fs::read(object).unwrap()[..]).unwrap()).unwrap();
    let first = text.lines().next().unwrap();
    assert!(first.contains("····") && !first.contains("secret"), "{first}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_has_lost_the_lease_deletes_no_object_that_another_node_has_written() {
    let Some(mut scene) = Scene::open().await else { return };
    let (store, id) = (scene.store.clone(), scene.author.notebook_id.clone());
    scene.author.epoch = store.take_lease(&id, &instance("one")).await.unwrap();
    store.freeze(&id).await.unwrap();
    let written = scene.objects()[0].with_file_name("1-2-new.jsonl.zst");
    std::fs::write(&written, b"not named yet").unwrap();
    let other = Postgres::open(&scene.url, None).await.unwrap();
    other.take_lease(&id, &instance("two")).await.unwrap();
    let payload = RawJson::parse(r#"{"title":"······","previous":"before"}"#).unwrap();
    let removal = ContentRemoval { stand_ins: vec![StandIn { version: 1, payload }], ..ContentRemoval::default() };
    let late = store.append(Append { removal, ..scene.author.rename("after") }).await;
    assert!(matches!(late, Err(AppendError::LeaseLost { .. })), "{late:?}");
    assert_eq!(scene.objects(), [written]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_object_stays_if_only_the_lease_was_taken_while_it_was_written() {
    let Some(mut scene) = Scene::open().await else { return };
    let (store, id) = (scene.store.clone(), scene.author.notebook_id.clone());
    let mut holder = scene.observer.begin().await.unwrap();
    sqlx::query("SELECT 1 FROM notebooks FOR UPDATE").execute(&mut *holder).await.unwrap();
    let waiting = "SELECT count(*) FROM pg_stat_clear_snapshot(), pg_stat_activity \
                   WHERE datname = current_database() AND wait_event_type = 'Lock'";
    let (other, of) = (Postgres::open(&scene.url, None).await.unwrap(), id.clone());
    let taking = tokio::spawn(async move { other.take_lease(&of, &instance("two")).await });
    while sqlx::query_scalar::<_, i64>(waiting).fetch_one(&mut *holder).await.unwrap() < 1 {
        tokio::task::yield_now().await;
    }
    let freezing = tokio::spawn(async move { store.freeze(&id).await });
    while sqlx::query_scalar::<_, i64>(waiting).fetch_one(&mut *holder).await.unwrap() < 2 {
        tokio::task::yield_now().await;
    }
    holder.rollback().await.unwrap();
    assert_eq!((taking.await.unwrap(), freezing.await.unwrap()), (Ok(1), Ok(0)));
    // The other node may be writing the same one.
    assert_eq!((scene.rows().await, scene.objects().len()), (120, 1));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_erased_notebook_leaves_no_object() {
    let Some(mut scene) = Scene::open().await else { return };
    let (store, id) = (scene.store.clone(), scene.author.notebook_id.clone());
    store.freeze(&id).await.unwrap();
    store.append(erasure(&mut scene.author)).await.unwrap();
    assert!(store.erase(&id).await.unwrap());
    assert_eq!((scene.rows().await, scene.objects()), (1, vec![]));
    assert_eq!(store.freeze(&id).await, Ok(0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_move_takes_old_events_along() {
    let Some(scene) = Scene::open().await else { return };
    let (store, id, folder) = (scene.store, scene.author.notebook_id, scene.folder);
    let as_store: Store = store.clone();
    let before = all(&as_store, &id).await;
    store.freeze(&id).await.unwrap();
    drop(as_store);
    Arc::into_inner(store).unwrap().close().await;
    let target = tempfile::tempdir().unwrap();
    let (from, to) = (StorePlace::Postgres(scene.url), StorePlace::Folder(target.path().join("data")));
    let refused = move_store(&from, &to, None, &|_| {}).await.unwrap_err();
    assert!(refused.to_string().contains("--blobs"), "{refused}");
    move_store(&from, &to, Some(&BlobLocation::Folder(folder.path().to_owned())), &|_| {}).await.unwrap();
    let StorePlace::Folder(moved) = &to else { unreachable!() };
    let moved: Store = Arc::new(Sqlite::open(moved).await.unwrap());
    assert_eq!(all(&moved, &id).await, before);
    assert_eq!(moved.scan_by_subject(&id, &Selection::of("a")).await.unwrap().len(), 80);
}
