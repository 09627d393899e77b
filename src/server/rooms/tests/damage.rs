//! Bits of snapshots flipped by a disk.

use notarium_core::{Notebook, Version};
use notarium_store::sqlite::{DATABASE_FILE, Sqlite};

use super::super::stored::load;
use super::*;

/// A closed data folder with a notebook and its snapshot, and the snapshot's range in the database file: head's hash
/// and time, checksum, state.
async fn folder_with_snapshot() -> (tempfile::TempDir, Arc<Notebook>, std::ops::Range<usize>) {
    let folder = tempfile::tempdir().unwrap();
    let store = Arc::new(Sqlite::open(folder.path()).await.unwrap());
    let (sender, _work) = mpsc::unbounded_channel();
    let rooms = new_rooms(store.clone(), RoomsConfig::default(), sender);
    let room = rooms.open(&id());
    room.run(command("1", CREATE)).await.unwrap();
    room.run(command("2", INSERT)).await.unwrap();
    let before = load(&*store, &id(), Version::MAX, MAX_SNAPSHOT_GAP).await.unwrap().notebook;
    rooms.shut_down().await;
    let snapshot = store.snapshot(&id(), None).await.unwrap().unwrap();
    drop((room, rooms));
    Arc::into_inner(store).expect("nobody else has the store").close().await;
    let file = std::fs::read(folder.path().join(DATABASE_FILE)).unwrap();
    let find =
        |wanted: &[u8]| file.windows(wanted.len()).position(|bytes| bytes == wanted).expect("it is in one piece");
    let (checksum, state) = (find(&snapshot.checksum.0), find(&snapshot.state));
    (folder, before, checksum - 38..state + snapshot.state.len())
}

/// Flips every 29th bit: a prime step reaches every position in a byte.
#[tokio::test]
async fn a_flipped_bit_of_a_snapshot_changes_no_notebook() {
    let (folder, before, place) = folder_with_snapshot().await;
    let path = folder.path().join(DATABASE_FILE);
    let whole = std::fs::read(&path).unwrap();
    let damaged_before = snapshot::damaged();
    let mut flipped = 0;
    for bit in (place.start * 8..place.end * 8).step_by(29) {
        let mut bytes = whole.clone();
        bytes[bit / 8] ^= 1 << (bit % 8);
        std::fs::write(&path, bytes).unwrap();
        let store = Sqlite::open(folder.path()).await.unwrap();
        let loaded = load(&store, &id(), Version::MAX, MAX_SNAPSHOT_GAP).await.unwrap();
        assert_eq!((&loaded.notebook, loaded.snapshot_version), (&before, 0), "bit {bit}");
        assert_eq!(store.snapshot(&id(), None).await.unwrap(), None, "bit {bit}: it is deleted");
        store.close().await;
        flipped += 1;
    }
    assert!(flipped > 100, "{flipped}");
    assert!(snapshot::damaged() >= damaged_before + flipped, "each is counted");
}

#[tokio::test]
async fn a_damaged_snapshot_is_made_anew() {
    let bench = bench(RoomConfig::default());
    bench.rooms.open(&id()).run(command("1", CREATE)).await.unwrap();
    bench.rooms.shut_down().await;
    let whole = bench.store.snapshot(&id(), None).await.unwrap().unwrap();
    let damaged = notarium_store::Snapshot { checksum: notarium_core::Hash::ZERO, ..whole.clone() };
    bench.store.put_snapshot(&id(), damaged).await.unwrap();
    let (sender, _work) = mpsc::unbounded_channel();
    let rooms = new_rooms(bench.store.clone(), RoomsConfig::default(), sender);
    rooms.open(&id()).read(anna()).await.unwrap();
    rooms.shut_down().await;
    assert_eq!(bench.store.snapshot(&id(), None).await.unwrap(), Some(whole));
}

/// A notebook whose newest snapshot holds a difference; the two snapshots, each of the end of a process.
async fn with_difference() -> (Bench, Arc<Notebook>, [notarium_store::Snapshot; 2]) {
    let bench = bench(RoomConfig::default());
    let room = bench.rooms.open(&id());
    room.run(command("1", CREATE)).await.unwrap();
    // Text that does not compress, so that a second whole snapshot would be much larger than the difference.
    let text: String = (0..4_000_u32).map(|number| format!("{:x}", number.wrapping_mul(2_654_435_761))).collect();
    let insert =
        serde_json::json!({"InsertCell": {"cell_id": "big", "cell_type": "code", "source": text, "place": "end"}});
    room.run(command("2", &insert.to_string())).await.unwrap();
    bench.rooms.shut_down().await;
    let (sender, _work) = mpsc::unbounded_channel();
    let rooms = new_rooms(bench.store.clone(), RoomsConfig::default(), sender);
    let room = rooms.open(&id());
    room.run(command("3", r#"{"RenameNotebook": {"title": "Another title"}}"#)).await.unwrap();
    let before = room.read(anna()).await.unwrap();
    rooms.shut_down().await;
    let newest = bench.store.snapshot(&id(), None).await.unwrap().unwrap();
    assert_eq!(newest.version, before.head.version);
    let base = newest.base.expect("it holds a difference");
    let whole = bench.store.snapshot(&id(), Some(base)).await.unwrap().unwrap();
    assert_eq!((whole.version, whole.base), (base, None));
    assert!(newest.state.len() * 4 < whole.state.len(), "{} beside {}", newest.state.len(), whole.state.len());
    let loaded = load(&*bench.store, &id(), Version::MAX, MAX_SNAPSHOT_GAP).await.unwrap();
    assert_eq!(loaded.snapshot_version, newest.version);
    let notebook = Arc::new(loaded.notebook.as_ref().clone());
    assert_eq!(notebook.document, before.notebook);
    (bench, notebook, [whole, newest])
}

#[tokio::test]
async fn a_snapshot_whose_base_is_damaged_or_gone_is_passed_over() {
    for is_gone in [false, true] {
        let (bench, before, [whole, newest]) = with_difference().await;
        if is_gone {
            bench.store.delete_snapshot(&id(), whole.version).await.unwrap();
        } else {
            let damaged = notarium_store::Snapshot { checksum: notarium_core::Hash::ZERO, ..whole.clone() };
            bench.store.put_snapshot(&id(), damaged).await.unwrap();
        }
        let loaded = load(&*bench.store, &id(), Version::MAX, MAX_SNAPSHOT_GAP).await.unwrap();
        assert_eq!(loaded.notebook.document, before.document);
        assert!(loaded.snapshot_version < whole.version);
        let left = bench.store.snapshot(&id(), None).await.unwrap();
        assert!(left.is_none_or(|left| left.version != newest.version), "it is deleted");
    }
}
