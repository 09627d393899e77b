//! Upload of a blob: counted and hashed as it comes, and readable only after all of it was right.
//!
//! A small blob is one put. A larger one is sent in parts, which become an object together or are removed.

use std::error::Error;
use std::pin::Pin;

use bytes::{Bytes, BytesMut};
use futures_util::{Stream, StreamExt};
use notarium_record::{Hash, NotebookId};
use object_store::{MultipartUpload, ObjectStoreExt, WriteMultipart};
use sha2::{Digest, Sha256};

use super::{BlobError, Blobs, path};

/// Maximum size of a blob that is put at once.
const MAX_PUT_BYTES: usize = 8 << 20;
/// Size of a part of a larger one: the minimum of S3, which accepts 10,000 parts.
const PART_BYTES: usize = 5 << 20;
/// Maximum number of parts in flight.
const MAX_PARTS_IN_FLIGHT: usize = 2;

/// Stores a stream of bytes and returns their number. If their hash is not `expected`, nothing is stored.
pub(super) async fn put<E: Into<Box<dyn Error + Send + Sync>>>(
    blobs: &Blobs,
    notebook: &NotebookId,
    expected: &Hash,
    bytes: Pin<&mut impl Stream<Item = Result<Bytes, E>>>,
) -> Result<u64, BlobError> {
    let mut received = UploadBytes { bytes, size: 0, digest: Sha256::new(), max_blob_bytes: blobs.max_blob_bytes };
    let path = path(notebook, expected);
    let mut first = BytesMut::new();
    loop {
        match received.next().await? {
            Some(chunk) if first.len() + chunk.len() <= MAX_PUT_BYTES => first.extend_from_slice(&chunk),
            Some(chunk) => {
                first.extend_from_slice(&chunk);
                drop(chunk);
                return put_parts(blobs, notebook, expected, received, first.freeze()).await;
            }
            None => {
                let size = received.size;
                received.verify(expected)?;
                blobs.store.put(&path, first.freeze().into()).await.map_err(BlobError::unavailable)?;
                return Ok(size);
            }
        }
    }
}

async fn put_parts<E: Into<Box<dyn Error + Send + Sync>>, S: Stream<Item = Result<Bytes, E>>>(
    blobs: &Blobs,
    notebook: &NotebookId,
    expected: &Hash,
    mut received: UploadBytes<'_, S>,
    first: Bytes,
) -> Result<u64, BlobError> {
    let upload = blobs.store.put_multipart(&path(notebook, expected)).await.map_err(BlobError::unavailable)?;
    let mut parts = Parts::new(upload);
    let sent = async {
        parts.put(&first).await?;
        drop(first);
        while let Some(chunk) = received.next().await? {
            parts.put(&chunk).await?;
        }
        let size = received.size;
        received.verify(expected).map(|()| size)
    };
    let size = match sent.await {
        Ok(size) => size,
        Err(error) => {
            parts.abort().await;
            return Err(error);
        }
    };
    match parts.finish().await {
        Ok(()) => Ok(size),
        // The answer may have been lost: a repetition finds no such upload, and all of the blob.
        Err(_) if blobs.is_whole(notebook, expected).await.unwrap_or(false) => Ok(size),
        Err(error) => Err(error),
    }
}

/// Bytes of an upload, as they come.
struct UploadBytes<'a, S> {
    bytes: Pin<&'a mut S>,
    size: u64,
    digest: Sha256,
    max_blob_bytes: u64,
}

impl<E: Into<Box<dyn Error + Send + Sync>>, S: Stream<Item = Result<Bytes, E>>> UploadBytes<'_, S> {
    async fn next(&mut self) -> Result<Option<Bytes>, BlobError> {
        let Some(chunk) = self.bytes.next().await else { return Ok(None) };
        let chunk = chunk.map_err(|error| BlobError::Upload { cause: error.into() })?;
        let max_blob_bytes = self.max_blob_bytes;
        self.size = self.size.saturating_add(chunk.len() as u64);
        if self.size > max_blob_bytes {
            return Err(BlobError::TooLarge { max_blob_bytes });
        }
        self.digest.update(&chunk);
        Ok(Some(chunk))
    }

    fn verify(self, expected: &Hash) -> Result<(), BlobError> {
        let actual = Hash(self.digest.finalize().into());
        if actual == *expected { Ok(()) } else { Err(BlobError::WrongHash { expected: *expected, actual }) }
    }
}

/// Parts of an unfinished object. They are removed if this is dropped, for instance because the uploader is gone.
struct Parts {
    upload: Option<WriteMultipart>,
}

impl Parts {
    fn new(upload: Box<dyn MultipartUpload>) -> Self {
        Self { upload: Some(WriteMultipart::new_with_chunk_size(upload, PART_BYTES)) }
    }

    async fn put(&mut self, chunk: &[u8]) -> Result<(), BlobError> {
        let Some(upload) = &mut self.upload else { return Ok(()) };
        for piece in chunk.chunks(PART_BYTES) {
            upload.wait_for_capacity(MAX_PARTS_IN_FLIGHT).await.map_err(BlobError::unavailable)?;
            // Copied: a slow uploader's small chunks would each hold a buffer of the connection.
            upload.write(piece);
        }
        Ok(())
    }

    async fn finish(mut self) -> Result<(), BlobError> {
        let Some(upload) = self.upload.take() else { return Ok(()) };
        upload.finish().await.map(drop).map_err(BlobError::unavailable)
    }

    async fn abort(mut self) {
        if let Some(upload) = self.upload.take() {
            abort(upload).await;
        }
    }
}

impl Drop for Parts {
    fn drop(&mut self) {
        if let (Some(upload), Ok(runtime)) = (self.upload.take(), tokio::runtime::Handle::try_current()) {
            runtime.spawn(abort(upload));
        }
    }
}

async fn abort(upload: WriteMultipart) {
    if let Err(error) = upload.abort().await {
        tracing::warn!(%error, "the parts of a blob that was not stored were not removed");
    }
}
