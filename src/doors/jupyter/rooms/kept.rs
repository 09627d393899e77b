//! Y documents on disk: those of notebooks whose last client has left, or that were open when the server stopped. Clients that come back
//! go on with them. They are disposable: without one, clients load the notebook again.
//!
//! Invariant: a document leaves the disk before it is used, so that no two histories begin with it.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use notarium_core::{EventId, NotebookId, Version};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::limits::JupyterLimits;

const FORMAT: u32 = 1;
const SUFFIX: &str = "ydoc";

/// A document with the state of the record that it shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptDocument {
    pub head: KeptHead,
    /// The whole document as an update of Yjs.
    pub update: Vec<u8>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptHead {
    pub notebook: NotebookId,
    /// Session that clients of the document name.
    pub session: String,
    /// The last event that it shows.
    pub version: Version,
    pub event_id: EventId,
    pub grown_bytes: usize,
}

/// First line of a file.
#[derive(Debug, Serialize, Deserialize)]
struct FileHead {
    format: u32,
    sha256: String,
    #[serde(flatten)]
    head: KeptHead,
}

/// The documents on disk. Without a folder nothing is kept. Cheap to clone.
#[derive(Debug, Clone)]
pub struct KeptDocuments {
    folder: Option<PathBuf>,
    max_documents: usize,
    max_bytes: u64,
}

impl KeptDocuments {
    pub fn new(folder: Option<PathBuf>, limits: &JupyterLimits) -> Self {
        Self { folder, max_documents: limits.max_kept_documents, max_bytes: limits.max_kept_bytes }
    }

    /// Keeps a document; the oldest go if there are too many.
    pub async fn put(&self, kept: KeptDocument) {
        let this = self.clone();
        this.on_disk(move |this, folder| {
            this.write(folder, &kept)?;
            this.remove_surplus(folder)
        })
        .await;
    }

    /// Returns the document of a notebook and leaves it on disk. Only for a look at its head: see the module's invariant.
    pub async fn peek(&self, notebook: &NotebookId) -> Option<KeptDocument> {
        let notebook = notebook.clone();
        let read = self.clone().on_disk(move |_, folder| Ok(read(&file_of(folder, &notebook), &notebook))).await;
        read.flatten()
    }

    /// Removes the document of a notebook from the disk.
    pub async fn discard(&self, notebook: &NotebookId) -> bool {
        let notebook = notebook.clone();
        let removed = self.clone().on_disk(move |_, folder| {
            match fs::remove_file(file_of(folder, &notebook)) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
                Err(error) => Err(error),
                // Durable: after a power cut the file must not be there again.
                Ok(()) => File::open(folder)?.sync_all(),
            }
        });
        removed.await.is_some()
    }

    async fn on_disk<T: Send + 'static>(
        self,
        action: impl FnOnce(&Self, &Path) -> io::Result<T> + Send + 'static,
    ) -> Option<T> {
        let folder = self.folder.clone()?;
        let done = tokio::task::spawn_blocking(move || action(&self, &folder)).await;
        match done {
            Ok(Ok(value)) => Some(value),
            Ok(Err(error)) => {
                tracing::warn!(%error, "a shared document of Jupyter is not kept: its clients will load the notebook again");
                None
            }
            Err(_) => None,
        }
    }

    fn write(&self, folder: &Path, kept: &KeptDocument) -> io::Result<()> {
        if kept.update.len() as u64 > self.max_bytes / 4 {
            return Ok(());
        }
        fs::create_dir_all(folder)?;
        let head = FileHead { format: FORMAT, sha256: digest(&kept.update), head: kept.head.clone() };
        let target = file_of(folder, &kept.head.notebook);
        let temporary = target.with_extension("new");
        let mut file = File::create(&temporary)?;
        serde_json::to_writer(&file, &head)?;
        file.write_all(b"\n")?;
        file.write_all(&kept.update)?;
        drop(file);
        fs::rename(temporary, target)
    }

    fn remove_surplus(&self, folder: &Path) -> io::Result<()> {
        let mut files: Vec<(SystemTime, u64, PathBuf)> = Vec::new();
        for entry in fs::read_dir(folder)? {
            let (path, about) = entry.and_then(|entry| Ok((entry.path(), entry.metadata()?)))?;
            files.push((about.modified()?, about.len(), path));
        }
        files.sort_by(|left, right| right.cmp(left));
        let mut bytes = 0;
        for (index, (_, size, path)) in files.iter().enumerate() {
            bytes += size;
            if index >= self.max_documents || bytes > self.max_bytes {
                fs::remove_file(path)?;
            }
        }
        Ok(())
    }
}

fn file_of(folder: &Path, notebook: &NotebookId) -> PathBuf {
    folder.join(&digest(notebook.as_str().as_bytes())[..32]).with_extension(SUFFIX)
}

fn digest(bytes: &[u8]) -> String {
    hex::encode(Sha256::digest(bytes))
}

/// Reads a file; `None` if it is missing, cut off, or of another format.
fn read(path: &Path, notebook: &NotebookId) -> Option<KeptDocument> {
    let bytes = fs::read(path).ok()?;
    let end = bytes.iter().position(|byte| *byte == b'\n')?;
    let FileHead { format, sha256, head } = serde_json::from_slice(&bytes[..end]).ok()?;
    let update = bytes[end + 1..].to_vec();
    let is_whole = format == FORMAT && head.notebook == *notebook && sha256 == digest(&update);
    is_whole.then_some(KeptDocument { head, update })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(notebook: &str, bytes: usize) -> KeptDocument {
        let head = KeptHead {
            notebook: notebook.parse().unwrap(),
            session: "s".to_owned(),
            version: 3,
            event_id: ulid::Ulid::generate().into(),
            grown_bytes: 7,
        };
        KeptDocument { head, update: vec![9; bytes] }
    }

    fn documents(folder: &Path, max_documents: usize, max_bytes: u64) -> KeptDocuments {
        let limits =
            JupyterLimits { max_kept_documents: max_documents, max_kept_bytes: max_bytes, ..JupyterLimits::default() };
        KeptDocuments::new(Some(folder.to_owned()), &limits)
    }

    #[tokio::test]
    async fn a_document_comes_back_until_it_is_discarded() {
        let folder = tempfile::tempdir().unwrap();
        let documents = documents(folder.path(), 9, 1 << 20);
        let (document, id) = (kept("n", 10), "n".parse().unwrap());
        assert_eq!(documents.peek(&id).await, None);
        documents.put(document.clone()).await;
        assert_eq!(documents.peek(&id).await, Some(document));
        assert!(documents.discard(&id).await);
        assert_eq!(documents.peek(&id).await, None);
        assert!(documents.discard(&id).await, "there is none");
    }

    #[tokio::test]
    async fn a_damaged_file_is_no_document() {
        let folder = tempfile::tempdir().unwrap();
        let documents = documents(folder.path(), 9, 1 << 20);
        let id: NotebookId = "n".parse().unwrap();
        documents.put(kept("n", 10)).await;
        let path = file_of(folder.path(), &id);
        let whole = fs::read(&path).unwrap();
        for damaged in [&whole[..whole.len() - 1], &[], b"\n"] {
            fs::write(&path, damaged).unwrap();
            assert_eq!(documents.peek(&id).await, None);
        }
    }

    #[tokio::test]
    async fn only_so_many_are_kept() {
        let folder = tempfile::tempdir().unwrap();
        let count = || fs::read_dir(folder.path()).unwrap().count();
        let documents_2 = documents(folder.path(), 2, 1 << 20);
        for notebook in ["a", "b", "c"] {
            documents_2.put(kept(notebook, 10)).await;
        }
        assert_eq!(count(), 2);
        let small = documents(folder.path(), 9, 1_000);
        small.put(kept("large", 900)).await;
        assert_eq!(small.peek(&"large".parse().unwrap()).await, None, "one document takes at most a quarter");
        for notebook in ["d", "e", "f", "g", "h"] {
            small.put(kept(notebook, 200)).await;
        }
        assert!((1..=3).contains(&count()), "{}", count());
    }
}
