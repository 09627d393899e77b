//! Uploads large parts of outputs to the server before a report names them.

use std::path::Path;
use std::time::Duration;

use bytes::Bytes;
use notarium_core::NotebookId;
use notarium_telemetry::trace_headers;
use sha2::{Digest, Sha256};
use tracing::{Instrument, Span};

use crate::AgentError;
use crate::temporary_files::TemporaryFile;
use notarium_client::{http_address, install_tls_provider};

/// Timeout of one upload.
const UPLOAD_TIMEOUT: Duration = Duration::from_secs(300);
/// Pause after the first failed attempt, and the longest pause: it doubles in between.
const RETRY: [Duration; 2] = [Duration::from_millis(200), Duration::from_secs(5)];

/// Uploads blobs to the server.
#[derive(Debug, Clone)]
pub struct BlobUploader {
    client: reqwest::Client,
    /// `http(s)://host…` without a trailing slash.
    base: String,
    token: String,
}

/// Content of an upload: bytes, or a file that is too large for memory.
enum UploadContent<'a> {
    Bytes(&'a Bytes),
    File(&'a Path),
}

impl BlobUploader {
    /// `server` as in [`notarium_client::ConnectOptions`].
    pub fn new(server: &str, token: &str) -> Result<Self, AgentError> {
        install_tls_provider();
        let client = reqwest::Client::builder().timeout(UPLOAD_TIMEOUT).build()?;
        Ok(Self { client, base: http_address(server)?, token: token.to_owned() })
    }

    /// Stores bytes and returns their SHA-256. Retries until the server accepts or refuses them.
    pub async fn put(&self, notebook: &NotebookId, bytes: &Bytes) -> Result<String, String> {
        let sha256 = hex::encode(Sha256::digest(bytes));
        let uploading = self.upload(notebook, &sha256, bytes.len() as u64, UploadContent::Bytes(bytes));
        uploading.instrument(upload_span(notebook)).await.map(|()| sha256)
    }

    /// Stores a file whose SHA-256 and length are known.
    pub async fn put_file(&self, notebook: &NotebookId, spilled: &FinishedOverflow) -> Result<(), String> {
        let content = UploadContent::File(&spilled.file.path);
        let uploading = self.upload(notebook, &spilled.sha256, spilled.size_bytes, content);
        uploading.instrument(upload_span(notebook)).await
    }

    /// Retries until the server answers. The error is the reason of a refusal.
    async fn upload(
        &self,
        notebook: &NotebookId,
        sha256: &str,
        bytes: u64,
        content: UploadContent<'_>,
    ) -> Result<(), String> {
        let address = format!("{}/api/notebooks/{notebook}/blobs/{sha256}", self.base);
        let [mut pause, longest] = RETRY;
        loop {
            match self.attempt(&address, bytes, &content).await {
                Ok(status) if status.is_success() => return Ok(()),
                Ok(status) if is_refusal(status) => {
                    return Err(format!("the server refused {bytes} bytes (HTTP {status})"));
                }
                Ok(status) => tracing::debug!(%status, "a blob was not stored; trying again"),
                Err(error) => tracing::debug!(%error, "a blob was not stored; trying again"),
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(longest);
        }
    }

    async fn attempt(
        &self,
        address: &str,
        bytes: u64,
        content: &UploadContent<'_>,
    ) -> Result<reqwest::StatusCode, Box<dyn std::error::Error + Send + Sync>> {
        let body = match content {
            UploadContent::Bytes(bytes) => reqwest::Body::from((*bytes).clone()),
            UploadContent::File(path) => {
                reqwest::Body::wrap_stream(tokio_util::io::ReaderStream::new(tokio::fs::File::open(path).await?))
            }
        };
        let request = self.client.put(address).bearer_auth(&self.token).header("content-length", bytes).body(body);
        let request = request.header("content-type", "application/octet-stream").headers(trace_headers());
        Ok(request.send().await?.status())
    }
}

fn upload_span(notebook: &NotebookId) -> Span {
    tracing::info_span!("upload of an output", otel.kind = "client", %notebook)
}

/// True for a status that a retry does not change.
fn is_refusal(status: reqwest::StatusCode) -> bool {
    let again = [reqwest::StatusCode::REQUEST_TIMEOUT, reqwest::StatusCode::TOO_MANY_REQUESTS];
    status.is_client_error() && !again.contains(&status)
}

/// A file for the output of a run beyond its limit.
#[derive(Debug)]
pub struct OverflowFile {
    file: TemporaryFile,
    digest: Sha256,
    size_bytes: u64,
}

/// A complete [`OverflowFile`].
#[derive(Debug)]
pub struct FinishedOverflow {
    file: TemporaryFile,
    pub sha256: String,
    pub size_bytes: u64,
}

impl OverflowFile {
    /// A new file in `folder` that only this user can read.
    pub fn create(folder: &Path) -> std::io::Result<Self> {
        Ok(Self { file: TemporaryFile::create(folder)?, digest: Sha256::new(), size_bytes: 0 })
    }

    /// Appends to the file, without a sync.
    pub fn write(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        std::io::Write::write_all(&mut self.file.file, bytes)?;
        self.digest.update(bytes);
        self.size_bytes += bytes.len() as u64;
        Ok(())
    }

    pub fn finish(self) -> FinishedOverflow {
        FinishedOverflow { file: self.file, sha256: hex::encode(self.digest.finalize()), size_bytes: self.size_bytes }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rest_and_socket_are_on_the_same_server() {
        assert_eq!(http_address("wss://host/api/socket").unwrap(), "https://host");
        assert_eq!(http_address("http://127.0.0.1:1/").unwrap(), "http://127.0.0.1:1");
    }

    #[test]
    fn a_spill_knows_its_digest_and_leaves_no_file() {
        let folder = tempfile::tempdir().unwrap();
        let mut spill = OverflowFile::create(folder.path()).unwrap();
        spill.write(b"ab").unwrap();
        spill.write(b"c").unwrap();
        let spilled = spill.finish();
        assert_eq!(spilled.sha256, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        assert_eq!(std::fs::read(&spilled.file.path).unwrap(), b"abc");
        drop(spilled);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
