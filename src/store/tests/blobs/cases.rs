//! Cases of the contract of blobs. Each has a place of its own, which is empty.

use futures_util::StreamExt;
use notarium_record::{Head, verify_chain};
use notarium_store::{BlobError, SegmentError, SegmentId, Segments};

use super::*;
use crate::author::Author;

/// Sizes below and above that of a plain put, in pieces that fit no part.
const SIZES: [usize; 5] = [9 << 20, 8 << 20, (8 << 20) + 1, 17 << 20, 25 << 20];

pub async fn what_was_put_comes_back(blobs: Blobs) {
    let id = notebook("nb");
    for bytes in ["", "x", "some bytes"] {
        let sha256 = blobs.put_bytes(&id, Bytes::from(bytes)).await.unwrap();
        assert_eq!(content(&blobs, &id, &sha256).await, bytes.as_bytes());
        let found = blobs.find(&id, &sha256).await.unwrap();
        assert_eq!(found.map(|blob| blob.size_bytes), Some(bytes.len() as u64));
        assert_eq!(blobs.notebooks().await.unwrap(), std::slice::from_ref(&id));
    }
    assert_eq!(names(&blobs, &id).await.len(), 3);
    assert!(!blobs.is_whole(&id, &Hash::ZERO).await.unwrap(), "it is not there");
}

pub async fn a_large_blob_is_streamed(blobs: Blobs) {
    let id = notebook("nb");
    for size in SIZES {
        let whole = bytes_of(size);
        let pieces = whole.chunks(700_001).map(Bytes::copy_from_slice).collect();
        assert_eq!(blobs.put(&id, &hash_of(&whole), chunks(pieces)).await.unwrap(), size as u64);
        assert!(content(&blobs, &id, &hash_of(&whole)).await == whole);
        assert!(blobs.is_whole(&id, &hash_of(&whole)).await.unwrap());
    }
}

pub async fn a_blob_belongs_to_its_notebook(blobs: Blobs) {
    let sha256 = blobs.put_bytes(&notebook("nb"), Bytes::from("x")).await.unwrap();
    assert_eq!(blobs.find(&notebook("n"), &sha256).await.unwrap(), None);
    assert!(matches!(blobs.get(&notebook("other"), &sha256).await, Err(BlobError::NotFound)));
    assert!(blobs.list(&notebook("n")).next().await.is_none());
}

/// Checks that nothing of the blob can be found.
async fn leaves_nothing(blobs: &Blobs, sha256: &Hash) {
    assert_eq!(blobs.find(&notebook("nb"), sha256).await.unwrap(), None);
    assert_eq!(names(blobs, &notebook("nb")).await, []);
}

pub async fn other_bytes_than_named_are_refused(blobs: Blobs) {
    for size in [5, 20 << 20] {
        let expected = hash_of(b"right");
        let refused = blobs.put(&notebook("nb"), &expected, chunks(vec![bytes_of(size)])).await;
        assert!(matches!(refused, Err(BlobError::WrongHash { .. })), "{refused:?}");
        leaves_nothing(&blobs, &expected).await;
    }
}

pub async fn too_many_bytes_are_refused(blobs: Blobs) {
    let refused = blobs.put(&notebook("nb"), &Hash::ZERO, chunks(vec![bytes_of(6 << 20); 6])).await;
    assert!(matches!(refused, Err(BlobError::TooLarge { max_blob_bytes: MAX })), "{refused:?}");
    leaves_nothing(&blobs, &Hash::ZERO).await;
}

pub async fn a_broken_upload_leaves_nothing(blobs: Blobs) {
    for size in [6 << 20, 20 << 20] {
        let parts = vec![Ok(bytes_of(size)), Err("connection reset".to_owned())];
        let refused = blobs.put(&notebook("nb"), &Hash::ZERO, stream::iter(parts)).await;
        assert!(matches!(refused, Err(BlobError::Upload { .. })), "{refused:?}");
        leaves_nothing(&blobs, &Hash::ZERO).await;
    }
}

pub async fn deleting_twice_is_deleting_once(blobs: Blobs) {
    let id = notebook("nb");
    let sha256 = blobs.put_bytes(&id, Bytes::from("x")).await.unwrap();
    blobs.put_bytes(&id, Bytes::from("x")).await.unwrap();
    blobs.delete(&id, &sha256).await.unwrap();
    blobs.delete(&id, &sha256).await.unwrap();
    assert_eq!(names(&blobs, &id).await, []);
    assert!(matches!(blobs.get(&id, &sha256).await, Err(BlobError::NotFound)));
}

/// A sweep compares an entry of a list with the answer about one blob before it deletes.
pub async fn blobs_are_listed_with_their_sizes_and_times(blobs: Blobs) {
    let id = notebook("nb");
    let mut expected = Vec::new();
    for size in 1..6 {
        let sha256 = blobs.put_bytes(&id, bytes_of(size)).await.unwrap();
        expected.push(blobs.find(&id, &sha256).await.unwrap().unwrap());
    }
    let mut listed: Vec<_> = blobs.list(&id).try_collect().await.unwrap();
    expected.sort_by_key(|entry| entry.sha256);
    listed.sort_by_key(|entry| entry.sha256);
    assert_eq!(listed, expected);
    assert_eq!(listed.iter().map(|entry| entry.size_bytes).sum::<u64>(), 15);
    let early = blobs.by_clock(10_000).find(&id, &expected[0].sha256).await.unwrap().unwrap();
    assert_eq!(early.stored_at, expected[0].stored_at - 10_000, "the store's clock is ten seconds ahead");
}

pub async fn all_blobs_of_a_notebook_go_and_no_others(blobs: Blobs) {
    for name in ["nb", "nb2", "segments", "probe"] {
        for size in 0..4 {
            blobs.put_bytes(&notebook(name), bytes_of(size)).await.unwrap();
        }
    }
    let segments = Segments::new(blobs.clone());
    let segment = segments.put(&notebook("nb"), Head::START, events("nb").await).await.unwrap();
    blobs.delete_all(&notebook("nb")).await.unwrap();
    blobs.delete_all(&notebook("segments")).await.unwrap();
    let mut left: Vec<String> = blobs.notebooks().await.unwrap().iter().map(ToString::to_string).collect();
    left.sort();
    // A folder stays empty, a bucket has no folders.
    left.retain(|name| name != "nb" && name != "segments");
    assert_eq!(left, ["nb2", "probe"]);
    assert_eq!(names(&blobs, &notebook("nb")).await, []);
    assert_eq!(names(&blobs, &notebook("nb2")).await.len(), 4);
    segments.read(&notebook("nb"), &segment).await.unwrap();
    segments.delete_all(&notebook("nb")).await.unwrap();
    let gone = segments.read(&notebook("nb"), &segment).await.unwrap_err();
    assert!(matches!(gone, SegmentError::Missing { .. }), "{gone}");
}

pub async fn files_are_replaced_and_deleted_by_folder(blobs: Blobs) {
    for text in ["one", "two"] {
        blobs.put_file("tree.log/key+1/checkpoint", Bytes::from(text)).await.unwrap();
        assert_eq!(blobs.file("tree.log/key+1/checkpoint").await.unwrap(), Some(Bytes::from(text)));
    }
    for path in ["tree.log/key+1/tile/0/000.p/1", "tree.log/key+1/tile/0/000.p/2", "tree.log/key+1/tile/0/000"] {
        blobs.put_file(path, Bytes::from("x")).await.unwrap();
    }
    blobs.delete_files("tree.log/key+1/tile/0/000.p").await.unwrap();
    assert_eq!(blobs.file("tree.log/key+1/tile/0/000.p/1").await.unwrap(), None);
    assert_eq!(blobs.file("tree.log/key+1/tile/0/000").await.unwrap(), Some(Bytes::from("x")));
    assert_eq!(blobs.notebooks().await.unwrap(), [], "files are no blobs");
}

async fn events(name: &str) -> Vec<notarium_record::Stored> {
    let mut author = Author::new(name);
    (0..20).flat_map(|number| author.rename(&format!("title {number}")).events).map(|event| event.stored).collect()
}

pub async fn a_segment_comes_back_byte_for_byte(blobs: Blobs) {
    let (segments, id, events) = (Segments::new(blobs), notebook("nb"), events("nb").await);
    let (old, new) = events.split_at(12);
    let segment = segments.put(&id, Head::START, old.to_vec()).await.unwrap();
    assert_eq!((segment.first, segment.last), (1, 12));
    assert_eq!(segments.put(&id, Head::START, old.to_vec()).await.unwrap(), segment, "a repetition finds it");
    let later = segments.put(&id, old[11].head(), new.to_vec()).await.unwrap();
    let mut read = segments.read(&id, &segment).await.unwrap();
    read.extend(segments.read(&id, &later).await.unwrap());
    assert_eq!(read, events);
    assert_eq!(verify_chain(Head::START, &read).unwrap(), events[19].head());
    segments.delete(&id, &segment).await.unwrap();
    segments.delete(&id, &segment).await.unwrap();
    let gone = segments.read(&id, &segment).await.unwrap_err();
    assert!(matches!(gone, SegmentError::Missing { .. }), "{gone}");
}

pub async fn a_damaged_segment_is_refused(blobs: Blobs) {
    let (segments, id, events) = (Segments::new(blobs.clone()), notebook("nb"), events("nb").await);
    for (before, wrong) in [
        (Head::START, vec![]),
        (Head::START, events[1..3].to_vec()),
        (Head::START, vec![events[0].clone(), events[2].clone()]),
        (Head { hash: Hash([1; 32]), ..events[4].head() }, events[5..8].to_vec()),
    ] {
        let refused = segments.put(&id, before, wrong).await.unwrap_err();
        assert!(matches!(refused, SegmentError::Invalid { .. }), "{refused}");
    }
    let stranger = segments.put(&notebook("other"), Head::START, events.clone()).await.unwrap_err();
    assert!(matches!(stranger, SegmentError::Invalid { .. }), "{stranger}");
    let segment = segments.put(&id, Head::START, events).await.unwrap();
    let SegmentId { first, last, sha256 } = segment;
    let path = format!("segments.log/nb/{first}-{last}-{sha256}.jsonl.zst");
    let whole = blobs.file(&path).await.unwrap().unwrap();
    let mut flipped = whole.to_vec();
    flipped[30] ^= 1;
    for damaged in [flipped, whole[..whole.len() - 1].to_vec(), Vec::new()] {
        blobs.put_file(&path, damaged.into()).await.unwrap();
        let refused = segments.read(&id, &segment).await.unwrap_err();
        assert!(matches!(refused, SegmentError::Damaged { .. }), "{refused}");
    }
    // The rows of damaged segments must not be deleted either.
    let events: Vec<_> = self::events("nb").await;
    let refused = segments.put(&id, Head::START, events).await.unwrap_err();
    assert!(matches!(refused, SegmentError::Damaged { .. }), "{refused}");
}
