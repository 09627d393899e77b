//! Blobs: bytes that are too large for an event, stored by notebook and SHA-256.
//!
//! Purpose: put, get, list and delete bytes under `notebook/xx/sha256`, in a local folder or another `object_store` backend.
//! [`crate::BlobRecord`] has which notebook may name which blob; the server checks who may read it.
//!
//! Invariants: a stored blob has the hash that names it. A successful put is synced to disk; a failed one leaves nothing readable. Bytes
//! that changed on disk are not returned: every read covers the whole blob, and its hash is checked before the first byte is sent.

use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::path::Path as FilePath;
use std::pin::pin;
use std::sync::Arc;

use bytes::Bytes;
use futures_util::stream::BoxStream;
use futures_util::{Stream, StreamExt, TryStreamExt, stream};
use notarium_record::{Hash, Millis, NotebookId};
use object_store::local::LocalFileSystem;
use object_store::path::Path;
use object_store::{ObjectMeta, ObjectStore, ObjectStoreExt, WriteMultipart};
use serde_json::Value;
use sha2::{Digest, Sha256};

/// Size of an upload's buffer: the minimum part size of S3.
const PART_BYTES: usize = 5 << 20;
/// Maximum number of parts in flight.
const MAX_PARTS_IN_FLIGHT: usize = 2;
/// Maximum size of a blob that is held in memory. A larger one is read twice: for its hash, and for the response.
const MAX_KEPT_BYTES: u64 = 4 << 20;

/// Name of the blob folder in a data folder.
pub const BLOBS_FOLDER: &str = "blobs";

/// Reason why a blob was not stored or found.
#[derive(Debug, thiserror::Error)]
pub enum BlobError {
    #[error("the blob has more than {max_blob_bytes} bytes: make it smaller, or raise the limit")]
    TooLarge { max_blob_bytes: u64 },
    #[error("the uploaded bytes have the SHA-256 {actual}, not {expected}: upload them again")]
    WrongHash { expected: Hash, actual: Hash },
    #[error("there is no such blob in this notebook: it was not uploaded, or it was collected")]
    NotFound,
    #[error(
        "the blob {sha256} is damaged: its bytes on the server's disk are not those that were uploaded. \
         Upload it again, or restore it from a backup"
    )]
    Damaged { sha256: Hash },
    #[error("the upload broke off: {cause}; upload it again")]
    Upload { cause: Box<dyn std::error::Error + Send + Sync> },
    /// Disk full, I/O error, no permission.
    #[error("the blob store is unavailable: {reason}; try again when that is mended")]
    Unavailable { reason: String },
}

impl From<object_store::Error> for BlobError {
    fn from(error: object_store::Error) -> Self {
        match error {
            object_store::Error::NotFound { .. } => Self::NotFound,
            error => Self::Unavailable { reason: error.to_string() },
        }
    }
}

/// A blob for a response.
pub struct BlobContent {
    pub size_bytes: u64,
    pub bytes: BoxStream<'static, Result<Bytes, BlobError>>,
}

/// A stored blob, as listed for garbage collection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlobEntry {
    pub sha256: Hash,
    pub size_bytes: u64,
    /// Time by the clock of the store.
    pub stored_at: Millis,
}

/// Blobs of all notebooks. Clones share them.
#[derive(Debug, Clone)]
pub struct Blobs {
    store: Arc<dyn ObjectStore>,
    max_blob_bytes: u64,
}

impl Blobs {
    /// Stores blobs in `folder`, which is created and must not be used by others; every put is synced to disk. Leftovers of uploads by a
    /// killed process are removed.
    pub fn local(folder: impl AsRef<FilePath>, max_blob_bytes: u64) -> Result<Self, BlobError> {
        let folder = folder.as_ref();
        let blobs = Self::in_folder(folder, max_blob_bytes)?;
        let unavailable = |error| BlobError::Unavailable { reason: format!("{}: {error}", folder.display()) };
        let removed = remove_leftovers(folder).map_err(unavailable)?;
        if removed > 0 {
            tracing::info!(removed, "unfinished uploads of an earlier process were removed");
        }
        Ok(blobs)
    }

    /// Opens a folder that another process may be writing to, for instance the server whose data is copied.
    pub fn shared(folder: impl AsRef<FilePath>) -> Result<Self, BlobError> {
        Self::in_folder(folder.as_ref(), u64::MAX)
    }

    fn in_folder(folder: &FilePath, max_blob_bytes: u64) -> Result<Self, BlobError> {
        let unavailable = |error| BlobError::Unavailable { reason: format!("{}: {error}", folder.display()) };
        DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(unavailable)?;
        let store = LocalFileSystem::new_with_prefix(folder)?.with_fsync(true).with_automatic_cleanup(true);
        Ok(Self::new(Arc::new(store), max_blob_bytes))
    }

    /// Stores blobs in any object store whose puts are durable.
    pub fn new(store: Arc<dyn ObjectStore>, max_blob_bytes: u64) -> Self {
        Self { store, max_blob_bytes }
    }

    /// Stores a stream of bytes and returns their number. If their hash is not `expected`, nothing is stored.
    pub async fn put<E: Into<Box<dyn std::error::Error + Send + Sync>>>(
        &self,
        notebook: &NotebookId,
        expected: &Hash,
        bytes: impl Stream<Item = Result<Bytes, E>>,
    ) -> Result<u64, BlobError> {
        let upload = self.store.put_multipart(&path(notebook, expected)).await?;
        let mut upload = WriteMultipart::new_with_chunk_size(upload, PART_BYTES);
        match self.receive(&mut upload, expected, bytes).await {
            Ok(size_bytes) => {
                upload.finish().await?;
                Ok(size_bytes)
            }
            Err(error) => {
                if let Err(error) = upload.abort().await {
                    tracing::warn!(%error, %notebook, "what was uploaded of a refused blob was not removed");
                }
                Err(error)
            }
        }
    }

    async fn receive<E: Into<Box<dyn std::error::Error + Send + Sync>>>(
        &self,
        upload: &mut WriteMultipart,
        expected: &Hash,
        bytes: impl Stream<Item = Result<Bytes, E>>,
    ) -> Result<u64, BlobError> {
        let max_blob_bytes = self.max_blob_bytes;
        let (mut size, mut digest) = (0_u64, Sha256::new());
        let mut bytes = pin!(bytes);
        while let Some(chunk) = bytes.next().await {
            let chunk = chunk.map_err(|error| BlobError::Upload { cause: error.into() })?;
            size = size.saturating_add(chunk.len() as u64);
            if size > max_blob_bytes {
                return Err(BlobError::TooLarge { max_blob_bytes });
            }
            digest.update(&chunk);
            upload.wait_for_capacity(MAX_PARTS_IN_FLIGHT).await?;
            upload.put(chunk);
        }
        let actual = Hash(digest.finalize().into());
        if actual == *expected { Ok(size) } else { Err(BlobError::WrongHash { expected: *expected, actual }) }
    }

    /// Stores bytes in memory and returns their hash.
    pub async fn put_bytes(&self, notebook: &NotebookId, bytes: Bytes) -> Result<Hash, BlobError> {
        let sha256 = Hash(Sha256::digest(&bytes).into());
        let whole = stream::once(async { Ok::<_, BlobError>(bytes) });
        self.put(notebook, &sha256, whole).await.map(|_| sha256)
    }

    /// Returns the whole blob, after a check of its hash.
    pub async fn get(&self, notebook: &NotebookId, sha256: &Hash) -> Result<BlobContent, BlobError> {
        let found = self.store.get(&path(notebook, sha256)).await?;
        let size_bytes = found.meta.size;
        if size_bytes <= MAX_KEPT_BYTES {
            let bytes = found.bytes().await?;
            verify(sha256, Sha256::digest(&bytes).into())?;
            return Ok(BlobContent { size_bytes, bytes: stream::once(async { Ok(bytes) }).boxed() });
        }
        verify(sha256, digest_of(found.into_stream()).await?)?;
        let found = self.store.get(&path(notebook, sha256)).await?;
        Ok(BlobContent { size_bytes, bytes: found.into_stream().map_err(BlobError::from).boxed() })
    }

    /// Returns true if the blob exists and its bytes have its hash.
    pub async fn is_whole(&self, notebook: &NotebookId, sha256: &Hash) -> Result<bool, BlobError> {
        let digest = match self.store.get(&path(notebook, sha256)).await.map_err(BlobError::from) {
            Ok(found) => digest_of(found.into_stream()).await?,
            Err(BlobError::NotFound) => return Ok(false),
            Err(error) => return Err(error),
        };
        Ok(verify(sha256, digest).is_ok())
    }

    /// Returns size and time of a blob; `None`: it does not exist.
    pub async fn find(&self, notebook: &NotebookId, sha256: &Hash) -> Result<Option<BlobEntry>, BlobError> {
        match self.store.head(&path(notebook, sha256)).await.map_err(BlobError::from) {
            Ok(found) => Ok(blob_entry(&found)),
            Err(BlobError::NotFound) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Returns the notebooks with a blob folder, in no order. They need not exist.
    pub async fn notebooks(&self) -> Result<Vec<NotebookId>, BlobError> {
        let folders = self.store.list_with_delimiter(None).await?.common_prefixes;
        Ok(folders.iter().filter_map(|folder| NotebookId::new(folder.as_ref()).ok()).collect())
    }

    /// Lists the notebook's blobs, in no order. Other files are skipped.
    pub fn list(&self, notebook: &NotebookId) -> BoxStream<'static, Result<BlobEntry, BlobError>> {
        let found = self.store.list(Some(&Path::from(notebook.as_str())));
        found.map_err(BlobError::from).try_filter_map(async |meta| Ok(blob_entry(&meta))).boxed()
    }

    /// Deletes a blob; a missing one is no error.
    pub async fn delete(&self, notebook: &NotebookId, sha256: &Hash) -> Result<(), BlobError> {
        match self.store.delete(&path(notebook, sha256)).await.map_err(BlobError::from) {
            Ok(()) | Err(BlobError::NotFound) => Ok(()),
            Err(error) => Err(error),
        }
    }
}

impl Blobs {
    /// Stores a file that is no blob of a notebook: its folder is no id. A reader finds the old file or the new one.
    pub async fn put_file(&self, path: &str, bytes: Bytes) -> Result<(), BlobError> {
        self.store.put(&Path::from(path), bytes.into()).await?;
        Ok(())
    }

    /// Returns the file; `None`: there is none.
    pub async fn file(&self, path: &str) -> Result<Option<Bytes>, BlobError> {
        match self.store.get(&Path::from(path)).await.map_err(BlobError::from) {
            Ok(found) => Ok(Some(found.bytes().await?)),
            Err(BlobError::NotFound) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Deletes all files of a folder.
    pub async fn delete_files(&self, folder: &str) -> Result<(), BlobError> {
        let found: Vec<ObjectMeta> = self.store.list(Some(&Path::from(folder))).try_collect().await?;
        for meta in found {
            match self.store.delete(&meta.location).await.map_err(BlobError::from) {
                Ok(()) | Err(BlobError::NotFound) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Deletes all blobs of a notebook.
    pub async fn delete_all(&self, notebook: &NotebookId) -> Result<(), BlobError> {
        self.delete_files(notebook.as_str()).await
    }
}

/// Fields of payloads that hold, at some depth, what names a blob.
const NAMING_FIELDS: [&str; 3] = ["\"blobs\"", "\"attachment\"", "\"environment\""];

/// Returns the blobs that an event's payload names, in fields of outputs, attachments and environments at any depth.
pub fn named_in(payload: &str) -> Vec<Hash> {
    let mut named = Vec::new();
    if NAMING_FIELDS.iter().any(|field| payload.contains(field))
        && let Ok(value) = serde_json::from_str(payload)
    {
        collect_named(&value, &mut named);
    }
    named
}

fn collect_named(value: &Value, named: &mut Vec<Hash>) {
    match value {
        Value::Array(values) => values.iter().for_each(|value| collect_named(value, named)),
        Value::Object(fields) => {
            let is_named = fields.contains_key("pointer") || fields.contains_key("media_type");
            if let (Some(Value::String(sha256)), true) = (fields.get("sha256"), is_named) {
                named.extend(parse_hash(sha256));
            }
            let environment = fields.get("environment").and_then(|environment| environment["sha256"].as_str());
            named.extend(environment.and_then(parse_hash));
            fields.values().for_each(|value| collect_named(value, named));
        }
        _ => {}
    }
}

fn parse_hash(text: &str) -> Option<Hash> {
    let mut sha256 = [0; 32];
    hex::decode_to_slice(text, &mut sha256).ok().map(|()| Hash(sha256))
}

async fn digest_of(bytes: BoxStream<'static, object_store::Result<Bytes>>) -> Result<[u8; 32], BlobError> {
    let hash = |digest: Sha256, piece: Bytes| async move { Ok(digest.chain_update(&piece)) };
    Ok(bytes.map_err(BlobError::from).try_fold(Sha256::new(), hash).await?.finalize().into())
}

fn verify(expected: &Hash, actual: [u8; 32]) -> Result<(), BlobError> {
    if expected.0 == actual { Ok(()) } else { Err(BlobError::Damaged { sha256: *expected }) }
}

/// Removes unfinished uploads: files named after their blob, with `#` and a number. Returns how many there were.
fn remove_leftovers(folder: &FilePath) -> std::io::Result<usize> {
    let mut removed = 0;
    for entry in folder.read_dir()? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            removed += remove_leftovers(&entry.path())?;
        } else if entry.file_name().to_string_lossy().split_once('#').is_some_and(|(name, _)| name.len() == 64) {
            std::fs::remove_file(entry.path())?;
            removed += 1;
        }
    }
    Ok(removed)
}

/// Path of a blob. Notebook ids have only letters, digits, `-` and `_`, so none leads out of the folder.
fn path(notebook: &NotebookId, sha256: &Hash) -> Path {
    let name = sha256.to_string();
    Path::from(format!("{notebook}/{}/{name}", &name[..2]))
}

fn blob_entry(meta: &ObjectMeta) -> Option<BlobEntry> {
    let sha256 = parse_hash(meta.location.filename()?)?;
    let stored_at = Millis::try_from(meta.last_modified.timestamp_millis()).unwrap_or(0);
    Some(BlobEntry { sha256, size_bytes: meta.size, stored_at })
}

#[cfg(test)]
mod tests {
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
        assert!(
            named_in(&format!(r#"{{"environment":{{"sha256":"short"}},"other":{{"sha256":"{one}"}}}}"#)).is_empty()
        );
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
}
