//! Buckets of servers that fail: what is readable is whole, and a retry leads to the end.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::StreamExt;
use notarium_record::Head;
use notarium_store::{BlobError, SegmentError, Segments};

use super::*;
use crate::author::Author;

async fn open(faults: S3Faults) -> (Blobs, FaultyS3) {
    let server = FaultyS3::start(faults).await;
    (open_bucket(&server.address, "s3://notes/team").await, server)
}

#[tokio::test(flavor = "multi_thread")]
async fn every_third_answer_is_an_error_and_all_is_done_in_the_end() {
    let (blobs, server) = open(S3Faults { fails_each: Some(3), ..S3Faults::default() }).await;
    let id = notebook("nb");
    for size in [0, 5, 20 << 20] {
        let sha256 = blobs.put_bytes(&id, bytes_of(size)).await.unwrap();
        assert!(content(&blobs, &id, &sha256).await == bytes_of(size));
    }
    assert_eq!(names(&blobs, &id).await.len(), 3);
    let refused = blobs.put(&id, &Hash::ZERO, chunks(vec![bytes_of(20 << 20)])).await;
    assert!(matches!(refused, Err(BlobError::WrongHash { .. })), "{refused:?}");
    blobs.delete_all(&id).await.unwrap();
    assert!(server.keys().is_empty() && server.unfinished() == 0, "{:?}", server.keys());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_download_that_is_cut_goes_on_where_it_was_cut() {
    let (blobs, server) = open(S3Faults::default()).await;
    server.faults.cuts.store(5, Ordering::SeqCst);
    for size in [1 << 20, 20 << 20] {
        let sha256 = blobs.put_bytes(&notebook("nb"), bytes_of(size)).await.unwrap();
        assert!(content(&blobs, &notebook("nb"), &sha256).await == bytes_of(size));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_upload_whose_last_answer_was_lost_is_found_whole() {
    let (blobs, server) = open(S3Faults { lost_completions: AtomicUsize::new(1), ..S3Faults::default() }).await;
    let sha256 = blobs.put_bytes(&notebook("nb"), bytes_of(20 << 20)).await.unwrap();
    assert!(blobs.is_whole(&notebook("nb"), &sha256).await.unwrap());
    assert_eq!(server.unfinished(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_slow_bucket_is_waited_for() {
    let (blobs, _server) = open(S3Faults { pause: Duration::from_millis(300), ..S3Faults::default() }).await;
    let sha256 = blobs.put_bytes(&notebook("nb"), bytes_of(9 << 20)).await.unwrap();
    assert!(content(&blobs, &notebook("nb"), &sha256).await == bytes_of(9 << 20));
}

#[tokio::test(flavor = "multi_thread")]
async fn damaged_bytes_are_not_handed_out_and_a_right_upload_replaces_them() {
    let (blobs, server) = open(S3Faults::default()).await;
    let id = notebook("nb");
    for size in [9, 6 << 20, 20 << 20] {
        let sha256 = blobs.put_bytes(&id, bytes_of(size)).await.unwrap();
        let name = sha256.to_string();
        server.change(&format!("team/nb/{}/{name}", &name[..2]), |bytes| bytes[size / 2] ^= 4);
        assert!(!blobs.is_whole(&id, &sha256).await.unwrap());
        let refused = blobs.get(&id, &sha256).await.err();
        assert!(matches!(refused, Some(BlobError::Damaged { .. })), "{refused:?}");
        blobs.put_bytes(&id, bytes_of(size)).await.unwrap();
        assert!(content(&blobs, &id, &sha256).await == bytes_of(size));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn parts_of_an_uploader_that_is_gone_are_removed() {
    let (blobs, server) = open(S3Faults::default()).await;
    let endless = stream::iter([Ok(bytes_of(20 << 20))]).chain(stream::pending::<Result<Bytes, String>>());
    let upload = tokio::spawn({
        let blobs = blobs.clone();
        async move { blobs.put(&notebook("nb"), &Hash::ZERO, endless).await }
    });
    while !server.seen().iter().any(|request| request.starts_with("PUT team/nb/")) {
        tokio::task::yield_now().await;
    }
    upload.abort();
    let _ = upload.await;
    while server.unfinished() > 0 {
        tokio::task::yield_now().await;
    }
    assert!(server.keys().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bucket_that_ignores_conditions_takes_blobs_and_no_segments() {
    let (blobs, server) = open(S3Faults { ignores_conditions: true, ..S3Faults::default() }).await;
    let id = notebook("nb");
    let sha256 = blobs.put_bytes(&id, bytes_of(9)).await.unwrap();
    assert_eq!(content(&blobs, &id, &sha256).await, bytes_of(9));
    let events = Author::new("nb").rename("x").events.into_iter().map(|event| event.stored).collect();
    let refused = Segments::new(blobs).put(&id, Head::START, events).await.unwrap_err();
    assert!(matches!(refused, SegmentError::NoConditions), "{refused}");
    assert_eq!(server.keys().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bucket_that_is_gone_is_no_missing_blob() {
    let (blobs, server) = open(S3Faults::default()).await;
    let elsewhere = moto::variables(&server.address);
    let gone = Blobs::open(&BlobLocation::parse("s3://other/team", elsewhere).unwrap(), MAX).unwrap();
    for failed in
        [gone.get(&notebook("nb"), &Hash::ZERO).await.err(), gone.put_bytes(&notebook("nb"), bytes_of(1)).await.err()]
    {
        assert!(matches!(failed, Some(BlobError::Unavailable { .. })), "{failed:?}");
    }
    assert!(matches!(blobs.get(&notebook("nb"), &Hash::ZERO).await, Err(BlobError::NotFound)));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_link_downloads_without_keys() {
    let (blobs, server) = open(S3Faults::default()).await;
    let sha256 = blobs.put_bytes(&notebook("nb"), bytes_of(9)).await.unwrap();
    let link = blobs.link(&notebook("nb"), &sha256, Duration::from_secs(300)).await.unwrap().unwrap();
    let name = sha256.to_string();
    let beginning = format!("http://{}/notes/team/nb/{}/{name}?", server.address, &name[..2]);
    assert!(link.starts_with(&beginning) && link.contains("X-Amz-Expires=300"), "{link}");
    assert!(!link.contains("planted-secret"), "{link}");
    let folder = tempfile::tempdir().unwrap();
    let local = Blobs::local(folder.path(), MAX).unwrap();
    assert_eq!(local.link(&notebook("nb"), &sha256, Duration::from_secs(300)).await.unwrap(), None);
}
