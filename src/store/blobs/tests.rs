//! Tests of blobs in a folder; `tests/blobs` has those that every place of blobs passes.

use tempfile::TempDir;

use super::*;

const MAX: u64 = 20 << 20;

fn open() -> (Blobs, TempDir) {
    let folder = tempfile::tempdir().unwrap();
    (Blobs::local(folder.path().join("blobs"), MAX).unwrap(), folder)
}

fn notebook(name: &str) -> NotebookId {
    NotebookId::new(name).unwrap()
}

async fn content(blobs: &Blobs, sha256: &Hash) -> Vec<u8> {
    let found = blobs.get(&notebook("nb"), sha256).await.unwrap();
    let bytes: Vec<Bytes> = found.bytes.try_collect().await.unwrap();
    assert_eq!(found.size_bytes, bytes.iter().map(|chunk| chunk.len() as u64).sum::<u64>());
    bytes.concat()
}

async fn names(blobs: &Blobs) -> Vec<Hash> {
    blobs.list(&notebook("nb")).map_ok(|entry| entry.sha256).try_collect().await.unwrap()
}

fn chunks(chunks: Vec<Bytes>) -> impl Stream<Item = Result<Bytes, String>> {
    stream::iter(chunks.into_iter().map(Ok))
}

/// Returns true if no file is left, whatever its name.
fn is_empty(folder: &TempDir) -> bool {
    let mut folders = vec![folder.path().to_owned()];
    while let Some(next) = folders.pop() {
        for entry in next.read_dir().unwrap().map(Result::unwrap) {
            match entry.file_type().unwrap().is_dir() {
                true => folders.push(entry.path()),
                false => return false,
            }
        }
    }
    true
}

#[tokio::test]
async fn what_was_put_comes_back() {
    let (blobs, _folder) = open();
    for bytes in ["", "x", "some bytes"] {
        let sha256 = blobs.put_bytes(&notebook("nb"), Bytes::from(bytes)).await.unwrap();
        assert_eq!(content(&blobs, &sha256).await, bytes.as_bytes());
        let found = blobs.find(&notebook("nb"), &sha256).await.unwrap();
        assert_eq!(found.map(|blob| blob.size_bytes), Some(bytes.len() as u64));
        assert_eq!(blobs.notebooks().await.unwrap(), [notebook("nb")]);
    }
    assert_eq!(names(&blobs).await.len(), 3);
}

#[tokio::test]
async fn a_large_blob_is_streamed() {
    let (blobs, _folder) = open();
    let whole: Vec<u8> = (0..MAX).map(|index| u8::try_from(index % 251).unwrap()).collect();
    let parts = whole.chunks(700_001).map(Bytes::copy_from_slice).collect();
    let sha256 = Hash(Sha256::digest(&whole).into());
    assert_eq!(blobs.put(&notebook("nb"), &sha256, chunks(parts)).await.unwrap(), MAX);
    assert!(content(&blobs, &sha256).await == whole);
}

#[test]
fn events_name_the_blobs_of_outputs_attachments_and_environments() {
    let (one, two) = ("ab".repeat(32), "cd".repeat(32));
    let payload = format!(
        r#"{{"kernel_session":"k","environment":{{"sha256":"{one}","size_bytes":3}},"outputs":[{{"blobs":[{{"pointer":"/x","sha256":"{two}"}}]}}]}}"#
    );
    assert_eq!(named_in(&payload).iter().map(Hash::to_string).collect::<Vec<_>>(), [one.as_str(), two.as_str()]);
    assert!(named_in(&format!(r#"{{"environment":{{"sha256":"short"}},"other":{{"sha256":"{one}"}}}}"#)).is_empty());
}

#[tokio::test]
async fn a_blob_belongs_to_its_notebook() {
    let (blobs, _folder) = open();
    let sha256 = blobs.put_bytes(&notebook("nb"), Bytes::from("x")).await.unwrap();
    assert_eq!(blobs.find(&notebook("n"), &sha256).await.unwrap(), None);
    assert!(matches!(blobs.get(&notebook("other"), &sha256).await, Err(BlobError::NotFound)));
    assert!(blobs.list(&notebook("n")).next().await.is_none());
}

#[tokio::test]
async fn other_bytes_than_named_are_refused() {
    let (blobs, folder) = open();
    let expected = Hash(Sha256::digest(b"right").into());
    let refused = blobs.put(&notebook("nb"), &expected, chunks(vec![Bytes::from("wrong")])).await;
    assert!(matches!(refused, Err(BlobError::WrongHash { .. })), "{refused:?}");
    assert!(is_empty(&folder));
}

#[tokio::test]
async fn too_many_bytes_are_refused() {
    let (blobs, folder) = open();
    let part = Bytes::from(vec![0; 6 << 20]);
    let refused = blobs.put(&notebook("nb"), &Hash::ZERO, chunks(vec![part; 4])).await;
    assert!(matches!(refused, Err(BlobError::TooLarge { max_blob_bytes: MAX })), "{refused:?}");
    assert!(is_empty(&folder));
}

#[tokio::test]
async fn a_broken_upload_leaves_nothing() {
    let (blobs, folder) = open();
    let parts = vec![Ok(Bytes::from(vec![0; 6 << 20])), Err("connection reset".to_owned())];
    let refused = blobs.put(&notebook("nb"), &Hash::ZERO, stream::iter(parts)).await;
    assert!(matches!(refused, Err(BlobError::Upload { .. })), "{refused:?}");
    assert!(is_empty(&folder));
}

#[tokio::test]
async fn deleting_twice_is_deleting_once() {
    let (blobs, _folder) = open();
    let sha256 = blobs.put_bytes(&notebook("nb"), Bytes::from("x")).await.unwrap();
    blobs.put_bytes(&notebook("nb"), Bytes::from("x")).await.unwrap();
    blobs.delete(&notebook("nb"), &sha256).await.unwrap();
    blobs.delete(&notebook("nb"), &sha256).await.unwrap();
    assert_eq!(names(&blobs).await, []);
}

fn file_of(folder: &TempDir, sha256: &Hash) -> std::path::PathBuf {
    folder.path().join("blobs").join(path(&notebook("nb"), sha256).to_string())
}

#[tokio::test]
async fn damaged_bytes_are_not_handed_out_and_a_right_upload_replaces_them() {
    let (blobs, folder) = open();
    for size in [9, 6 << 20] {
        let whole = Bytes::from(vec![7; size]);
        let sha256 = blobs.put_bytes(&notebook("nb"), whole.clone()).await.unwrap();
        assert!(blobs.is_whole(&notebook("nb"), &sha256).await.unwrap());
        let mut flipped = whole.to_vec();
        flipped[size / 2] ^= 4;
        for wrong in [&flipped[..], &flipped[..size - 1], &[]] {
            std::fs::write(file_of(&folder, &sha256), wrong).unwrap();
            assert!(!blobs.is_whole(&notebook("nb"), &sha256).await.unwrap());
            let refused = blobs.get(&notebook("nb"), &sha256).await.err();
            assert!(matches!(refused, Some(BlobError::Damaged { .. })), "{refused:?}");
        }
        blobs.put_bytes(&notebook("nb"), whole.clone()).await.unwrap();
        assert!(content(&blobs, &sha256).await == whole);
    }
    assert!(!blobs.is_whole(&notebook("nb"), &Hash::ZERO).await.unwrap(), "it is not there");
}

#[tokio::test]
async fn what_a_killed_process_left_of_its_uploads_goes_at_the_start() {
    let (blobs, folder) = open();
    let sha256 = blobs.put_bytes(&notebook("nb"), Bytes::from("x")).await.unwrap();
    let mut upload = blobs.store.put_multipart(&path(&notebook("nb"), &Hash::ZERO)).await.unwrap();
    upload.put_part(Bytes::from("half").into()).await.unwrap();
    std::mem::forget(upload);
    let count = |folder: &std::path::Path| folder.read_dir().unwrap().count();
    let parts = file_of(&folder, &Hash::ZERO).parent().unwrap().to_owned();
    assert_eq!(count(&parts), 1, "the part is there under the name that is looked for");
    let blobs = Blobs::local(folder.path().join("blobs"), MAX).unwrap();
    assert_eq!(count(&parts), 0);
    assert_eq!(content(&blobs, &sha256).await, b"x");
}

#[test]
fn what_a_bucket_says_is_told_without_its_xml() {
    let said = |source: &str| object_store::Error::Generic { store: "S3", source: source.to_owned().into() };
    let xml = "status 404: <?xml version=\"1.0\"?><Error><Code>NoSuchBucket</Code><Message>It does not exist</Message></Error>";
    assert_eq!(told_by_bucket(&said(xml)).as_deref(), Some("NoSuchBucket: It does not exist"));
    assert_eq!(told_by_bucket(&said("<Code>SlowDown</Code>")).as_deref(), Some("SlowDown"));
    assert_eq!(told_by_bucket(&said("no route to host")), None);
}
