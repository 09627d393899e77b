//! Contract of blobs and segments, for a folder and for buckets.
#![cfg(feature = "s3")]

#[path = "../contract/author.rs"]
mod author;
mod cases;
mod faults;
#[path = "../../../../tests/support/moto.rs"]
mod moto;
mod probes;
#[path = "../support/s3.rs"]
mod s3;
mod segments;

use bytes::Bytes;
use futures_util::{Stream, TryStreamExt, stream};
use notarium_record::{Hash, NotebookId};
use notarium_store::{BlobLocation, Blobs};
use sha2::{Digest, Sha256};

use moto::Moto;
use s3::{FaultyS3, S3Faults};

const MAX: u64 = 30 << 20;

fn notebook(name: &str) -> NotebookId {
    NotebookId::new(name).unwrap()
}

fn hash_of(bytes: &[u8]) -> Hash {
    Hash(Sha256::digest(bytes).into())
}

fn chunks(chunks: Vec<Bytes>) -> impl Stream<Item = Result<Bytes, String>> {
    stream::iter(chunks.into_iter().map(Ok))
}

/// Bytes without repetitions, so that a doubled or missing part shows.
fn bytes_of(size: usize) -> Bytes {
    // By eights: iterating over single bytes takes seconds in a debug build.
    let mut bytes = Vec::with_capacity(size + 8);
    for index in 0..size.div_ceil(8) as u64 {
        bytes.extend_from_slice(&index.to_be_bytes());
    }
    bytes.truncate(size);
    bytes.into()
}

/// Opens the bucket of the server at `address`.
async fn open_bucket(address: &str, url: &str) -> Blobs {
    // Fails if it is installed already.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let mut blobs = Blobs::open(&BlobLocation::parse(url, moto::variables(address)).unwrap(), MAX).unwrap();
    blobs.probe("start").await.unwrap().expect("it is a bucket");
    blobs
}

async fn content(blobs: &Blobs, notebook: &NotebookId, sha256: &Hash) -> Vec<u8> {
    let found = blobs.get(notebook, sha256).await.unwrap();
    let bytes: Vec<Bytes> = found.bytes.try_collect().await.unwrap();
    assert_eq!(found.size_bytes, bytes.iter().map(|chunk| chunk.len() as u64).sum::<u64>());
    bytes.concat()
}

async fn names(blobs: &Blobs, notebook: &NotebookId) -> Vec<Hash> {
    let mut names: Vec<Hash> = blobs.list(notebook).map_ok(|entry| entry.sha256).try_collect().await.unwrap();
    names.sort();
    names
}

/// Defines a test of each case for each place.
macro_rules! contract_suite {
    ($($case:ident),* $(,)?) => {
        mod folder {$(
            #[tokio::test(flavor = "multi_thread")]
            async fn $case() {
                let folder = tempfile::tempdir().unwrap();
                $crate::cases::$case($crate::Blobs::local(folder.path(), $crate::MAX).unwrap()).await;
            }
        )*}
        mod bucket {$(
            #[tokio::test(flavor = "multi_thread")]
            async fn $case() {
                let server = $crate::FaultyS3::start($crate::S3Faults::default()).await;
                $crate::cases::$case($crate::open_bucket(&server.address, "s3://notes").await).await;
                assert_eq!(server.unfinished(), 0, "uploads are finished or removed");
            }
        )*}
        mod moto_server {$(
            #[tokio::test(flavor = "multi_thread")]
            async fn $case() {
                let Some(server) = $crate::Moto::start() else { return };
                $crate::cases::$case($crate::open_bucket(&server.address, "s3://notes/team/blobs").await).await;
                let uploads = server.send("GET", "/notes?uploads", "");
                assert!(!uploads.contains("<UploadId>"), "uploads are finished or removed: {uploads}");
            }
        )*}
    };
}

contract_suite!(
    what_was_put_comes_back,
    a_large_blob_is_streamed,
    a_blob_belongs_to_its_notebook,
    other_bytes_than_named_are_refused,
    too_many_bytes_are_refused,
    a_broken_upload_leaves_nothing,
    deleting_twice_is_deleting_once,
    blobs_are_listed_with_their_sizes_and_times,
    all_blobs_of_a_notebook_go_and_no_others,
    files_are_replaced_and_deleted_by_folder,
    a_segment_comes_back_byte_for_byte,
    a_damaged_segment_is_refused,
);
