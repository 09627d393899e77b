//! Blobs: bytes that are too large for an event, stored by notebook and SHA-256.
//!
//! Purpose: put, get, list and delete bytes under `notebook/xx/sha256`, in a local folder or a bucket ([`BlobLocation`]).
//! [`crate::BlobRecord`] has which notebook may name which blob; the server checks who may read it.
//!
//! Invariants: a stored blob has the hash that names it. A successful put is durable; a failed one leaves nothing readable. Bytes
//! that changed since are not returned: every read covers the whole blob, and its hash is checked before the first byte is sent.
//!
//! Files: `location` (folder or bucket) with `mark`, `bucket` (S3's protocol) with `probe`, `upload`, `naming` (blobs that events name).

#[cfg(feature = "s3")]
mod bucket;
mod location;
mod mark;
mod naming;
#[cfg(feature = "s3")]
mod probe;
mod upload;

use std::fs::DirBuilder;
use std::future::ready;
use std::os::unix::fs::DirBuilderExt;
use std::path::Path as FilePath;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::stream::BoxStream;
use futures_util::{Stream, StreamExt, TryStreamExt, stream};
use notarium_record::{Hash, Millis, NotebookId};
use object_store::local::LocalFileSystem;
use object_store::path::Path;
use object_store::{ObjectMeta, ObjectStore, ObjectStoreExt, PutMode};
use sha2::{Digest, Sha256};

#[cfg(feature = "s3")]
use bucket::Bucket;
pub use location::{BlobLocation, BlobLocationError, BucketLocation, BucketProbe};
pub use mark::{check_mark, set_mark};
pub use naming::named_in;
use naming::parse_hash;

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
        "the blob {sha256} is damaged: its stored bytes are not those that were uploaded. \
         Upload it again, or restore it from a backup"
    )]
    Damaged { sha256: Hash },
    #[error("the upload broke off: {cause}; upload it again")]
    Upload { cause: Box<dyn std::error::Error + Send + Sync> },
    /// Disk full, I/O error, no permission, no answer of the bucket.
    #[error("the blob store is unavailable: {reason}; try again when that is mended")]
    Unavailable { reason: String },
}

impl From<object_store::Error> for BlobError {
    fn from(error: object_store::Error) -> Self {
        match error {
            // A bucket that is gone must not look like one without this blob.
            object_store::Error::NotFound { .. } if !error.to_string().contains("NoSuchBucket") => Self::NotFound,
            error => Self::unavailable(error),
        }
    }
}

impl BlobError {
    /// Error of a write, to which nothing is missing but the store itself.
    fn unavailable(error: object_store::Error) -> Self {
        Self::Unavailable { reason: told_by_bucket(&error).unwrap_or_else(|| error.to_string()) }
    }
}

/// Code and message of the XML in which a bucket says what is wrong.
fn told_by_bucket(error: &object_store::Error) -> Option<String> {
    let text = error.to_string();
    let element = |name: &str| {
        let (_, rest) = text.split_once(&format!("<{name}>"))?;
        Some(rest.split_once("</")?.0.to_owned())
    };
    let code = element("Code")?;
    Some(match element("Message") {
        Some(message) => format!("{code}: {message}"),
        None => code,
    })
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
    /// Time by the clock of the store; in a bucket in whole seconds, and by the clock of [`Blobs::by_clock`].
    pub stored_at: Millis,
}

/// Blobs of all notebooks. Clones share them.
#[derive(Debug, Clone)]
pub struct Blobs {
    store: Arc<dyn ObjectStore>,
    max_blob_bytes: u64,
    /// A put under a condition is refused if it does not hold.
    has_conditions: bool,
    /// Milliseconds by which the clock of the store is ahead.
    clock_lead: i64,
    /// Precision of the store's times. Answers to one blob have seconds, lists more.
    clock_step: Millis,
    #[cfg(feature = "s3")]
    bucket: Option<Bucket>,
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
        Self {
            store,
            max_blob_bytes,
            has_conditions: true,
            clock_lead: 0,
            clock_step: 1,
            #[cfg(feature = "s3")]
            bucket: None,
        }
    }

    /// Opens the location for a server. A bucket should be probed before it is relied on ([`Self::probe`]).
    pub fn open(location: &BlobLocation, max_blob_bytes: u64) -> Result<Self, BlobLocationError> {
        match location {
            BlobLocation::Folder(folder) => Ok(Self::local(folder, max_blob_bytes)?),
            BlobLocation::Bucket(bucket) => Self::in_bucket(bucket, max_blob_bytes),
        }
    }

    /// Opens a location that a server may be writing to.
    pub fn open_shared(location: &BlobLocation) -> Result<Self, BlobLocationError> {
        match location {
            BlobLocation::Folder(folder) => Ok(Self::shared(folder)?),
            BlobLocation::Bucket(bucket) => Self::in_bucket(bucket, u64::MAX),
        }
    }

    #[cfg(feature = "s3")]
    fn in_bucket(location: &BucketLocation, max_blob_bytes: u64) -> Result<Self, BlobLocationError> {
        let bucket = Bucket::open(location)?;
        let blobs = Self::new(bucket.objects(), max_blob_bytes);
        Ok(Self { clock_step: 1000, bucket: Some(bucket), ..blobs })
    }

    #[cfg(not(feature = "s3"))]
    fn in_bucket(_: &BucketLocation, _: u64) -> Result<Self, BlobLocationError> {
        Err(BlobLocationError::NotBuilt)
    }

    /// Puts, reads and deletes an object of this name in the bucket; `None`: the blobs are in a folder.
    pub async fn probe(&mut self, name: &str) -> Result<Option<BucketProbe>, BlobLocationError> {
        #[cfg(feature = "s3")]
        if let Some(bucket) = &self.bucket {
            let found = probe::probe(bucket, name).await?;
            self.has_conditions = found.has_conditions;
            return Ok(Some(found));
        }
        let _ = name;
        Ok(None)
    }

    /// Gives the times of blobs by a clock that is this far behind the store's.
    pub fn by_clock(self, clock_lead: i64) -> Self {
        Self { clock_lead, ..self }
    }

    /// Returns an address that downloads the blob without a token for `lifetime`; `None`: the blobs are in a folder. The blob may not exist.
    pub async fn link(
        &self,
        notebook: &NotebookId,
        sha256: &Hash,
        lifetime: Duration,
    ) -> Result<Option<String>, BlobError> {
        #[cfg(feature = "s3")]
        if let Some(bucket) = &self.bucket {
            return bucket.link(&path(notebook, sha256), lifetime).await.map(Some);
        }
        let _ = (notebook, sha256, lifetime);
        Ok(None)
    }

    /// Stores a stream of bytes and returns their number. If their hash is not `expected`, nothing is stored.
    pub async fn put<E: Into<Box<dyn std::error::Error + Send + Sync>>>(
        &self,
        notebook: &NotebookId,
        expected: &Hash,
        bytes: impl Stream<Item = Result<Bytes, E>>,
    ) -> Result<u64, BlobError> {
        upload::put(self, notebook, expected, pin!(bytes)).await
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
            Ok(found) => Ok(self.entry(&found)),
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
        let blobs = self.clone();
        found.map_err(BlobError::from).try_filter_map(move |meta| ready(Ok(blobs.entry(&meta)))).boxed()
    }

    fn entry(&self, meta: &ObjectMeta) -> Option<BlobEntry> {
        let sha256 = parse_hash(meta.location.filename()?)?;
        let at = meta.last_modified.timestamp_millis().saturating_sub(self.clock_lead);
        let at = Millis::try_from(at).unwrap_or(0);
        Some(BlobEntry { sha256, size_bytes: meta.size, stored_at: at - at % self.clock_step })
    }

    /// Deletes a blob; a missing one is no error.
    pub async fn delete(&self, notebook: &NotebookId, sha256: &Hash) -> Result<(), BlobError> {
        self.delete_file(path(notebook, sha256).as_ref()).await
    }
}

impl Blobs {
    /// Stores a file that is no blob of a notebook: its folder is no id. A reader finds the old file or the new one.
    pub async fn put_file(&self, path: &str, bytes: Bytes) -> Result<(), BlobError> {
        self.store.put(&Path::from(path), bytes.into()).await?;
        Ok(())
    }

    /// True if [`Self::put_file_once`] never replaces a file.
    pub(crate) fn has_conditions(&self) -> bool {
        self.has_conditions
    }

    /// Stores a file, unless there is one of this name, which then stays.
    pub(crate) async fn put_file_once(&self, path: &str, bytes: Bytes) -> Result<(), BlobError> {
        match self.store.put_opts(&Path::from(path), bytes.into(), PutMode::Create.into()).await {
            Ok(_) | Err(object_store::Error::AlreadyExists { .. }) => Ok(()),
            Err(error) => Err(BlobError::unavailable(error)),
        }
    }

    /// Deletes a file; a missing one is no error.
    pub(crate) async fn delete_file(&self, path: &str) -> Result<(), BlobError> {
        match self.store.delete(&Path::from(path)).await.map_err(BlobError::from) {
            Ok(()) | Err(BlobError::NotFound) => Ok(()),
            Err(error) => Err(error),
        }
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
        let found = stream::iter(found.into_iter().map(|meta| Ok(meta.location))).boxed();
        let mut deleted = self.store.delete_stream(found).map_err(BlobError::from);
        while let Some(deleted) = deleted.next().await {
            match deleted {
                Ok(_) | Err(BlobError::NotFound) => {}
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

#[cfg(test)]
mod tests;
