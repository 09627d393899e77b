//! Transfers files of the working folder for the server. Their bytes use separate HTTP requests: reports of runs do not wait
//! for files, and a slow reader slows down only its own file. An incoming file has no name until all of it is on the disk.

use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::Stream;
use futures_util::stream::try_unfold;
use notarium_client::{CommandSender, http_address, install_tls_provider};
use notarium_telemetry::trace_headers;
use notarium_wire::{ClientMessage, FileAnswer, FileEntry, FileRefusal, FileRequest, MAX_LISTED_FILES, WrittenFile};
use rustix::fs::{
    AtFlags, FileType, Mode, OFlags, RawMode, fchmod, fstatvfs, fsync, linkat, openat, renameat, statat, unlinkat,
};
use rustix::io::Errno;
use sha2::{Digest, Sha256};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;
use tracing::{Instrument, Span};

use super::{RequestRefusal, WorkingFolder};
use crate::AgentError;

/// Most concurrent requests.
const MAX_AT_ONCE: usize = 32;
/// Size of a read or write.
const PIECE_BYTES: usize = 64 << 10;
/// Timeout for the next bytes of an incoming file.
const STALLED_AFTER: Duration = Duration::from_secs(60);
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// TCP keepalive: detects a server that disappeared without closing.
const KEEPALIVE: Duration = Duration::from_secs(20);

/// Answers the server's requests about the working folder. Cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct FolderTransfers {
    folder: Arc<WorkingFolder>,
    client: reqwest::Client,
    base: String,
    token: String,
    places: Arc<Semaphore>,
}

impl FolderTransfers {
    /// `server` as in [`notarium_client::ConnectOptions`].
    pub fn new(folder: WorkingFolder, server: &str, token: &str) -> Result<Self, AgentError> {
        install_tls_provider();
        let client = reqwest::Client::builder().connect_timeout(CONNECT_TIMEOUT).tcp_keepalive(KEEPALIVE).build()?;
        let (base, token) = (http_address(server)?, token.to_owned());
        let places = Arc::new(Semaphore::new(MAX_AT_ONCE));
        let folder = Arc::new(folder);
        let tidied = folder.clone();
        spawn_blocking(move || tidied.tidy_trash());
        Ok(Self { folder, client, base, token, places })
    }

    /// Carries out a request and answers it.
    pub async fn serve(self, id: u64, request: FileRequest, sender: CommandSender) {
        let answer = |answer: FileAnswer| sender.ephemeral(ClientMessage::AnswerFile { id, answer });
        let Ok(_place) = self.places.clone().try_acquire_owned() else {
            let message = "the runtime agent has too many files on their way: try again in a moment";
            return answer(FileRefusal::Busy.because(message));
        };
        let answered = match request {
            FileRequest::List { path, after, limit, all } => {
                let listed = self.beside(move |folder| folder.list(&path, after.as_deref(), limit, all)).await;
                listed.map(FileAnswer::Listed)
            }
            FileRequest::Look { path } => self.beside(move |folder| folder.look(&path)).await.map(FileAnswer::Found),
            FileRequest::Read { path, transfer } => match self.beside(move |folder| folder.open(&path)).await {
                Ok((file, entry)) => {
                    answer(FileAnswer::Found(entry.clone()));
                    return self.send(file, &entry, &transfer).instrument(transfer_span("download")).await;
                }
                Err(refused) => Err(refused),
            },
            FileRequest::Write { path, transfer, overwrite, size_bytes, max_bytes } => {
                match self.beside(move |folder| folder.create(&path, overwrite, size_bytes)).await {
                    Ok(incoming) => {
                        let receiving = self.receive(incoming, &transfer, max_bytes);
                        receiving.instrument(transfer_span("upload")).await.map(FileAnswer::Written)
                    }
                    Err(refused) => Err(refused),
                }
            }
            change => self.beside(move |folder| changed(folder, change)).await,
        };
        answer(answered.unwrap_or_else(FileAnswer::from));
    }

    /// Runs file work on a blocking thread: slow disks must not block the agent's kernels.
    async fn beside<T: Send + 'static>(
        &self,
        ask: impl FnOnce(&WorkingFolder) -> Result<T, RequestRefusal> + Send + 'static,
    ) -> Result<T, RequestRefusal> {
        let folder = self.folder.clone();
        spawn_blocking(move || ask(&folder)).await.unwrap_or_else(|error| Err(broken(&error)))
    }

    // --- out ---

    async fn send(&self, file: File, entry: &FileEntry, transfer: &str) {
        let size_bytes = entry.size_bytes.unwrap_or_default();
        let pieces = match OutgoingFile::new(file, size_bytes) {
            Ok(outgoing) => outgoing.pieces(),
            Err(error) => return tracing::warn!(%error, "a file cannot be read"),
        };
        let request = self.client.put(self.address(transfer)).bearer_auth(&self.token).headers(trace_headers());
        let request = request.header("content-length", size_bytes).header("content-type", "application/octet-stream");
        match request.body(reqwest::Body::wrap_stream(pieces)).send().await {
            Ok(response) => tracing::debug!(status = %response.status(), "a file was sent"),
            Err(error) => tracing::info!(%error, "a file was not sent to its end"),
        }
    }

    fn address(&self, transfer: &str) -> String {
        format!("{}/api/transfers/{transfer}", self.base)
    }

    // --- in ---

    async fn receive(
        &self,
        incoming: IncomingFile,
        transfer: &str,
        max_bytes: u64,
    ) -> Result<WrittenFile, RequestRefusal> {
        let path = incoming.path().to_owned();
        let file = incoming.file.try_clone().map_err(|error| system(&path, &error))?;
        let (size_bytes, sha256) = self.fetch(file, &path, transfer, max_bytes).await?;
        let replaced = spawn_blocking(move || incoming.commit()).await.unwrap_or_else(|error| Err(broken(&error)))?;
        Ok(WrittenFile { path, size_bytes, sha256, replaced })
    }

    async fn fetch(
        &self,
        file: File,
        path: &str,
        transfer: &str,
        max_bytes: u64,
    ) -> Result<(u64, String), RequestRefusal> {
        let broken_off =
            || RequestRefusal::new(FileRefusal::BrokenOff, "the upload broke off: nothing was stored, send it again");
        let request = self.client.get(self.address(transfer)).bearer_auth(&self.token).headers(trace_headers()).send();
        let response = tokio::time::timeout(STALLED_AFTER, request).await.map_err(|_| broken_off())?;
        let mut response = response.and_then(reqwest::Response::error_for_status).map_err(|_| broken_off())?;
        let mut file = tokio::io::BufWriter::with_capacity(PIECE_BYTES, tokio::fs::File::from_std(file));
        let (mut size_bytes, mut digest) = (0, Sha256::new());
        loop {
            let piece = tokio::time::timeout(STALLED_AFTER, response.chunk()).await.map_err(|_| broken_off())?;
            let Some(bytes) = piece.map_err(|_| broken_off())? else { break };
            size_bytes += bytes.len() as u64;
            if size_bytes > max_bytes {
                let message =
                    format!("'{path}' has more than {max_bytes} bytes, which is what the server lets through");
                return Err(RequestRefusal::new(FileRefusal::TooLarge, message));
            }
            digest.update(&bytes);
            file.write_all(&bytes).await.map_err(|error| system(path, &error))?;
        }
        file.flush().await.map_err(|error| system(path, &error))?;
        Ok((size_bytes, hex::encode(digest.finalize())))
    }
}

/// Span of a transfer; `way` as people see it.
fn transfer_span(way: &'static str) -> Span {
    tracing::info_span!("transfer of a file", otel.kind = "client", way)
}

/// Carries out requests that change only names.
fn changed(folder: &WorkingFolder, request: FileRequest) -> Result<FileAnswer, RequestRefusal> {
    match request {
        FileRequest::Move { from, to } => folder.relocate(&from, &to).map(FileAnswer::Moved),
        FileRequest::Remove { path } => folder.remove(&path).map(FileAnswer::Trashed),
        FileRequest::Trash { limit } => folder.trash(limit.min(MAX_LISTED_FILES)).map(FileAnswer::Trash),
        FileRequest::Restore { id, to } => folder.restore(&id, to.as_deref()).map(FileAnswer::Moved),
        FileRequest::EmptyTrash { id } => folder.empty_trash(id.as_deref(), MAX_LISTED_FILES).map(FileAnswer::Trash),
        _ => Err(RequestRefusal::new(FileRefusal::SystemRefused, "the runtime agent does not know this: update it")),
    }
}

fn broken(error: &tokio::task::JoinError) -> RequestRefusal {
    RequestRefusal::new(
        FileRefusal::SystemRefused,
        format!("the runtime agent made a mistake ({error}): please report it"),
    )
}

fn system(path: &str, error: &io::Error) -> RequestRefusal {
    RequestRefusal::system(path, rustix::io::Errno::from_io_error(error).unwrap_or(rustix::io::Errno::IO))
}

/// An outgoing file. Its length is fixed when it is opened; the transfer ends with an error if the sent content never existed as such.
struct OutgoingFile {
    file: tokio::fs::File,
    size_bytes: u64,
    left: u64,
    digest: Sha256,
    before: FileStamp,
}

/// Values that change with a file: size and modification time.
type FileStamp = (u64, Option<std::time::SystemTime>);

impl OutgoingFile {
    fn new(file: File, size_bytes: u64) -> io::Result<Self> {
        let before = change(&file.metadata()?);
        let (left, digest) = (size_bytes, Sha256::new());
        Ok(Self { file: tokio::fs::File::from_std(file), size_bytes, left, digest, before })
    }

    fn pieces(self) -> impl Stream<Item = io::Result<Bytes>> + Send + 'static {
        try_unfold(self, async |mut outgoing| Ok(outgoing.next().await?.map(|bytes| (bytes, outgoing))))
    }

    async fn next(&mut self) -> io::Result<Option<Bytes>> {
        if self.left == 0 {
            return Ok(None);
        }
        let mut piece = vec![0; PIECE_BYTES.min(usize::try_from(self.left).unwrap_or(PIECE_BYTES))];
        let count = self.file.read(&mut piece).await?;
        if count == 0 {
            return Err(torn());
        }
        piece.truncate(count);
        self.digest.update(&piece);
        self.left -= count as u64;
        if self.left == 0 {
            self.check_unchanged().await?;
        }
        Ok(Some(piece.into()))
    }

    /// Compares a changed file's beginning with the sent bytes, before the last piece goes out. A file that only grew (a log) passes.
    async fn check_unchanged(&mut self) -> io::Result<()> {
        if change(&self.file.metadata().await?) == self.before {
            return Ok(());
        }
        let (file, size_bytes) = (self.file.try_clone().await?.into_std().await, self.size_bytes);
        let holds = spawn_blocking(move || beginning(&file, size_bytes)).await.map_err(io::Error::other)??;
        if holds == self.digest.clone().finalize()[..] { Ok(()) } else { Err(torn()) }
    }
}

fn change(metadata: &std::fs::Metadata) -> FileStamp {
    (metadata.len(), metadata.modified().ok())
}

fn torn() -> io::Error {
    io::Error::other("the file was changed while it was read")
}

/// The SHA-256 of the first bytes of a file.
fn beginning(file: &File, size_bytes: u64) -> io::Result<Vec<u8>> {
    let (mut digest, mut at, mut piece) = (Sha256::new(), 0, vec![0; PIECE_BYTES]);
    while at < size_bytes {
        let wanted = PIECE_BYTES.min(usize::try_from(size_bytes - at).unwrap_or(PIECE_BYTES));
        let count = file.read_at(&mut piece[..wanted], at)?;
        if count == 0 {
            return Err(torn());
        }
        digest.update(&piece[..count]);
        at += count as u64;
    }
    Ok(digest.finalize().to_vec())
}

/// Name prefix of incomplete files, on systems without unnamed files.
const PREFIX: &str = ".notarium-upload-";
/// Permission bits that a replacement takes over from the old file.
const PERMISSIONS: RawMode = 0o777;

/// An incoming file. Dropped before it is complete, it leaves nothing.
#[derive(Debug)]
pub(crate) struct IncomingFile {
    /// Open for writing.
    pub file: File,
    folder: OwnedFd,
    name: String,
    path: String,
    overwrite: bool,
    /// Its name until it is complete, on systems that need one.
    temporary: Option<String>,
}

impl IncomingFile {
    pub fn begin(folder: OwnedFd, name: &str, path: String, overwrite: bool) -> Result<Self, RequestRefusal> {
        check_free(&folder, name, &path, overwrite)?;
        let (file, temporary) = unnamed(&folder).map_err(|error| RequestRefusal::system(&path, error))?;
        Ok(Self { file: File::from(file), folder, name: name.to_owned(), path, overwrite, temporary })
    }

    /// The path as requested.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Gives the file its name, atomically. Returns true if it has replaced another.
    pub fn commit(mut self) -> Result<bool, RequestRefusal> {
        let replaces = check_free(&self.folder, &self.name, &self.path, self.overwrite)?;
        let path = self.path.clone();
        self.put(replaces).map_err(|error| match error {
            Errno::EXIST => exists(&path),
            error => RequestRefusal::system(&path, error),
        })?;
        Ok(replaces.is_some())
    }

    fn put(&mut self, replaces: Option<Mode>) -> rustix::io::Result<()> {
        if let Some(mode) = replaces {
            // Keeps the readers of the old file.
            fchmod(&self.file, mode)?;
        }
        fsync(&self.file)?;
        match replaces {
            None => self.link(&self.name)?,
            Some(_) => {
                if self.temporary.is_none() {
                    let name = temporary_name();
                    self.link(&name)?;
                    self.temporary = Some(name);
                }
                let temporary = self.temporary.clone().unwrap_or_default();
                renameat(&self.folder, &temporary, &self.folder, &self.name)?;
                self.temporary = None;
            }
        }
        // Without this sync a power cut may lose the name. Systems that refuse it do not need it.
        let _ = fsync(&self.folder);
        Ok(())
    }

    /// Adds a name, which must be free.
    fn link(&self, name: &str) -> rustix::io::Result<()> {
        match &self.temporary {
            Some(temporary) => match linkat(&self.folder, temporary, &self.folder, name, AtFlags::empty()) {
                // A disk without hard links.
                Err(Errno::PERM | Errno::NOTSUP | Errno::NOSYS) => self.reserve(temporary, name),
                linked => linked,
            },
            None => {
                let descriptor = format!("/proc/self/fd/{}", self.file.as_raw_fd());
                linkat(rustix::fs::CWD, descriptor, &self.folder, name, AtFlags::SYMLINK_FOLLOW)
            }
        }
    }

    fn reserve(&self, temporary: &str, name: &str) -> rustix::io::Result<()> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        drop(openat(&self.folder, name, flags, Mode::from_raw_mode(0o666))?);
        renameat(&self.folder, temporary, &self.folder, name)
    }
}

impl Drop for IncomingFile {
    fn drop(&mut self) {
        if let Some(temporary) = &self.temporary {
            // The file may have its final name already.
            let _ = unlinkat(&self.folder, temporary, AtFlags::empty());
        }
    }
}

/// Refuses a file for which the disk has no room.
pub(super) fn check_room(folder: &OwnedFd, path: &str, size_bytes: Option<u64>) -> Result<(), RequestRefusal> {
    let Ok(disk) = fstatvfs(folder) else { return Ok(()) };
    let free = disk.f_bavail.saturating_mul(disk.f_frsize);
    // Some file systems report no size.
    match size_bytes {
        Some(bytes) if disk.f_blocks > 0 && bytes > free => {
            let message =
                format!("'{path}' has {bytes} bytes, and the disk there has room for {free}: make room, and try again");
            Err(RequestRefusal::new(FileRefusal::DiskFull, message))
        }
        _ => Ok(()),
    }
}

/// Refuses a name that is taken, unless a file may be replaced. Returns that file's permissions.
fn check_free(folder: &OwnedFd, name: &str, path: &str, overwrite: bool) -> Result<Option<Mode>, RequestRefusal> {
    let found = match statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(found) => found,
        Err(Errno::NOENT) => return Ok(None),
        Err(error) => return Err(RequestRefusal::system(path, error)),
    };
    let words = match FileType::from_raw_mode(found.st_mode) {
        FileType::RegularFile if overwrite => return Ok(Some(Mode::from_raw_mode(found.st_mode & PERMISSIONS))),
        FileType::RegularFile => return Err(exists(path)),
        FileType::Directory => "is a folder: add the file's name",
        FileType::Symlink => "is a link: name the file that it leads to",
        _ => "is a device or a pipe: choose another name",
    };
    Err(RequestRefusal::new(FileRefusal::WrongKind, format!("'{path}' {words}")))
}

pub(super) fn exists(path: &str) -> RequestRefusal {
    RequestRefusal::new(
        FileRefusal::FileExists,
        format!("'{path}' exists: ask for it to be replaced, or choose another name"),
    )
}

/// Creates a file without a name, which disappears with its process; otherwise one with a telling name.
fn unnamed(folder: &OwnedFd) -> rustix::io::Result<(OwnedFd, Option<String>)> {
    #[cfg(target_os = "linux")]
    {
        let flags = OFlags::WRONLY | OFlags::TMPFILE | OFlags::CLOEXEC;
        match openat(folder, ".", flags, Mode::from_raw_mode(0o666)) {
            // A disk or a system without unnamed files.
            Err(Errno::OPNOTSUPP | Errno::ISDIR | Errno::NOENT | Errno::INVAL) => {}
            opened => return opened.map(|file| (file, None)),
        }
    }
    let name = temporary_name();
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    openat(folder, &name, flags, Mode::from_raw_mode(0o666)).map(|file| (file, Some(name)))
}

fn temporary_name() -> String {
    format!("{PREFIX}{}", ulid::Ulid::generate())
}

#[cfg(test)]
mod tests {
    use futures_util::StreamExt;

    use super::*;

    /// The bytes that are sent of a file that `change` modifies after its first piece was read.
    async fn sent(content: &[u8], change: impl FnOnce(&std::path::Path)) -> io::Result<Vec<u8>> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("f");
        std::fs::write(&path, content).unwrap();
        // Older than any later change, even on disks with a coarse clock.
        File::options().write(true).open(&path).unwrap().set_modified(std::time::UNIX_EPOCH).unwrap();
        let outgoing = OutgoingFile::new(File::open(&path).unwrap(), content.len() as u64).unwrap();
        let mut pieces = std::pin::pin!(outgoing.pieces());
        let mut all = pieces.next().await.transpose()?.unwrap_or_default().to_vec();
        change(&path);
        while let Some(piece) = pieces.next().await {
            all.extend_from_slice(&piece?);
        }
        Ok(all)
    }

    fn long() -> Vec<u8> {
        (0..3 * PIECE_BYTES as u32).map(|at| at as u8).collect()
    }

    fn append(path: &std::path::Path, bytes: &[u8]) {
        std::io::Write::write_all(&mut File::options().append(true).open(path).unwrap(), bytes).unwrap();
    }

    #[tokio::test]
    async fn a_file_is_sent_as_it_stood_or_not_to_its_end() {
        assert_eq!(sent(b"", |_| {}).await.unwrap(), b"");
        assert_eq!(sent(&long(), |_| {}).await.unwrap(), long());
        assert_eq!(sent(&long(), |path| append(path, b"one line more")).await.unwrap(), long(), "a log that grows");
        let shrunk = |path: &std::path::Path| std::fs::write(path, b"short").unwrap();
        assert_eq!(sent(&long(), shrunk).await.unwrap_err().to_string(), torn().to_string());
        let rewritten = |path: &std::path::Path| std::fs::write(path, vec![7; long().len() + 9]).unwrap();
        assert_eq!(sent(&long(), rewritten).await.unwrap_err().to_string(), torn().to_string());
    }
}
