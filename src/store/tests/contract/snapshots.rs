//! Contract tests of snapshots: lookup, thinning out, deletion.

use super::*;

fn snapshot(version: Version) -> Snapshot {
    let head = Head { version, hash: Hash([3; 32]), recorded_at: 5 };
    Snapshot::compress(1, head, format!("state at {version}").as_bytes()).unwrap()
}

pub async fn the_latest_snapshot_at_most(store: Store) {
    let author = five(&store).await;
    for version in [2, 4, 1] {
        store.put_snapshot(&author.notebook_id, snapshot(version)).await.unwrap();
    }
    for (at_most, expected) in [(None, Some(4)), (Some(3), Some(2)), (Some(4), Some(4)), (Some(0), None)] {
        let found = store.snapshot(&author.notebook_id, at_most).await.unwrap();
        assert_eq!(found, expected.map(snapshot), "{at_most:?}");
    }
    let found = store.snapshot(&author.notebook_id, None).await.unwrap().unwrap();
    assert_eq!(found.decompress(100).unwrap(), b"state at 4");
    assert!(matches!(found.decompress(3), Err(SnapshotError::Unpacked { max_bytes: 3, .. })));
}

pub async fn a_snapshot_needs_its_notebook(store: Store) {
    let refused = store.put_snapshot(&notebook("nobody"), snapshot(1)).await;
    assert!(matches!(refused, Err(StoreError::Invalid { .. })));
}

pub async fn snapshots_are_disposable(store: Store) {
    let author = five(&store).await;
    store.put_snapshot(&author.notebook_id, snapshot(2)).await.unwrap();
    let replaced = Snapshot { format: 9, ..snapshot(2) };
    store.put_snapshot(&author.notebook_id, replaced.clone()).await.unwrap();
    assert_eq!(store.snapshot(&author.notebook_id, None).await.unwrap(), Some(replaced));
    store.delete_snapshot(&author.notebook_id, 2).await.unwrap();
    assert_eq!(store.snapshot(&author.notebook_id, None).await.unwrap(), None);
    assert_eq!(versions(&all(&store, &author.notebook_id).await), [1, 2, 3, 4, 5]);
}

pub async fn snapshots_are_thinned_out(store: Store) {
    let author = five(&store).await;
    for version in 1..=40 {
        store.put_snapshot(&author.notebook_id, snapshot(version)).await.unwrap();
    }
    let (mut kept, mut at_most) = (Vec::new(), None);
    while let Some(found) = store.snapshot(&author.notebook_id, at_most).await.unwrap() {
        kept.push(found.version);
        at_most = Some(found.version - 1);
    }
    assert_eq!(kept[0], 40);
    assert!((4..=10).contains(&kept.len()), "{kept:?}");
}

pub async fn a_difference_comes_back_with_its_base(store: Store) {
    let author = five(&store).await;
    let id = &author.notebook_id;
    store.put_snapshot(id, snapshot(1)).await.unwrap();
    for version in 2..=40 {
        let head = Head { version, ..snapshot(1).head };
        let state = format!("state at {version}");
        let difference = Snapshot::difference(1, head, state.as_bytes(), (1, b"state at 1")).unwrap();
        store.put_snapshot(id, difference.clone()).await.unwrap();
        assert_eq!(store.snapshot(id, None).await.unwrap(), Some(difference.clone()));
        let base = store.snapshot(id, difference.base).await.unwrap().unwrap();
        assert_eq!(base, snapshot(1), "it stays");
        let unpacked = difference.decompress_after(&base.decompress(100).unwrap(), 100).unwrap();
        assert_eq!(unpacked, state.as_bytes());
    }
}

pub async fn the_latest_blame_at_most(store: Store) {
    let author = five(&store).await;
    let id = &author.notebook_id;
    let put = async |version: Version| store.put_blame(id, version, version.to_string().into(), 10).await.unwrap();
    for version in [1, 4, 7, 12, 13] {
        put(version).await;
    }
    for (at_most, expected) in [(0, None), (3, Some("1")), (6, Some("1")), (12, Some("7")), (99, Some("13"))] {
        let found = store.blame(id, at_most).await.unwrap();
        assert_eq!(found.as_deref(), expected.map(str::as_bytes), "{at_most}");
    }
    assert!(store.put_blame(&notebook("nobody"), 1, "x".into(), 10).await.is_err());
}

pub async fn authors_are_told_by_version(store: Store) {
    let author = five(&store).await;
    let events = all(&store, &author.notebook_id).await;
    let told = store.authors(&author.notebook_id, &[5, 2, 9]).await.unwrap();
    let expected = [1, 4].map(|index: usize| {
        let Envelope { version, actor, recorded_at, .. } = events[index].envelope.clone();
        notarium_store::Author { version, actor, recorded_at }
    });
    assert_eq!(told, expected);
    assert_eq!(store.authors(&notebook("nobody"), &[1]).await.unwrap(), []);
}

pub async fn a_damaged_snapshot_is_found_out(store: Store) {
    let author = five(&store).await;
    store.put_snapshot(&author.notebook_id, snapshot(2)).await.unwrap();
    let whole = snapshot(4);
    let mut state = whole.state.to_vec();
    state[12] ^= 1;
    let other_head = Head { recorded_at: 6, ..whole.head };
    for damaged in [
        Snapshot { state: state.into(), ..whole.clone() },
        Snapshot { head: other_head, ..whole.clone() },
        Snapshot { format: 2, ..whole.clone() },
        Snapshot { checksum: Hash([0; 32]), ..whole },
    ] {
        store.put_snapshot(&author.notebook_id, damaged.clone()).await.unwrap();
        let found = store.snapshot(&author.notebook_id, None).await.unwrap().unwrap();
        assert_eq!((found.is_whole(), found.decompress(100)), (false, Err(SnapshotError::Damaged)));
        store.delete_snapshot(&author.notebook_id, 4).await.unwrap();
        store.delete_snapshot(&author.notebook_id, 4).await.unwrap();
        assert_eq!(store.snapshot(&author.notebook_id, None).await.unwrap(), Some(snapshot(2)));
    }
}

pub async fn old_snapshots_go_but_for_the_newest_and_bases(store: Store) {
    let author = five(&store).await;
    let at = |version: Version, recorded_at| {
        Snapshot::compress(1, Head { version, hash: Hash([3; 32]), recorded_at }, b"state").unwrap()
    };
    let based = Snapshot { base: Some(3), ..at(4, 90) };
    for snapshot in [at(1, 10), at(2, 20), at(3, 30), based, at(5, 40)] {
        store.put_snapshot(&author.notebook_id, snapshot).await.unwrap();
    }
    let before = store.retire_snapshots(50, true).await.unwrap();
    assert_eq!(
        store.retire_snapshots(50, false).await.unwrap(),
        before,
        "the first two, as far as they were not thinned out"
    );
    assert!(before > 0);
    let left = store.snapshot(&author.notebook_id, Some(2)).await.unwrap();
    assert_eq!(left.map(|snapshot| snapshot.version), None);
    for kept in [3, 4, 5] {
        let found = store.snapshot(&author.notebook_id, Some(kept)).await.unwrap();
        assert_eq!(found.map(|snapshot| snapshot.version), Some(kept));
    }
    assert_eq!(store.retire_snapshots(u64::MAX >> 1, false).await.unwrap(), 2, "the newest of each notebook stays");
}
