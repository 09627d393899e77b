//! Backups: a folder with a consistent copy of the database, and every blob that it names.
//!
//! Purpose: [`backup`] copies the data folder of a running or stopped server, [`restore`] makes a data folder from a backup. A second
//! backup into the same folder copies only new blobs. A backup whose name ends with `.tar` or `.tar.zst` is one file, written anew each
//! time. Blobs are copied from the folder or bucket of the server, and restored into the data folder or another location.
//!
//! Invariants:
//! - The database is copied before the blobs. An event is written only after its blobs, and blobs named by events are never removed, so
//!   every blob of the copy exists.
//! - Every copy is verified: the database's structure, each notebook's hash chain, each blob's hash.
//! - A backup that fails leaves the previous one unchanged. A restore that fails leaves a mark on its folder: no server opens it until the
//!   restore was repeated successfully.
//!
//! An archive file is the backup folder as a tar archive, compressed if the name says so. The mark file of a folder that a restore writes to is
//! created first and removed last, so no server uses the folder of an interrupted restore.

use std::fs::{DirBuilder, File, OpenOptions, Permissions, TryLockError};
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use futures_util::TryStreamExt;
use notarium_record::{Hash, NotebookId};
use sha2::{Digest, Sha256};

use crate::blobs::{BLOBS_FOLDER, BlobError, BlobLocation, BlobLocationError, Blobs, set_mark};
use crate::sqlite::{
    DATABASE_FILE, MARK_FILE, PART_FILE, copy_database, is_half_restored as is_marked, verify_database,
};
use crate::store_error::StoreError;

/// SHA-256 of the database's file, as `sha256sum -c` reads it.
const CHECKSUM_FILE: &str = "notarium.db.sha256";

const COMPRESSED: &str = ".tar.zst";

/// Magic number of a zstd frame (RFC 8878).
const ZSTD_MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

const TEXT: &str = "A restore into this folder is at work, or broke off: run `notarium restore` into it again.\n";

/// Progress of a backup or a restore.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BackupStep {
    /// The database is being copied.
    Database { database_bytes: u64 },
    /// The copy of the database is being verified.
    Verifying,
    /// Number of blobs copied so far.
    Blobs { done: u64, of: u64 },
    /// The archive file is being written or read.
    Archive,
}

/// Content of a backup.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BackedUp {
    pub notebooks: u64,
    pub events: u64,
    pub blobs: u64,
    /// Blobs that were copied because the backup did not have them.
    pub copied_blobs: u64,
    /// Blobs that events name and that are missing or damaged at the source.
    pub lost: Vec<(NotebookId, Hash)>,
}

/// Reason why a backup or a restore failed. Each says what to do.
#[derive(Debug, thiserror::Error)]
pub enum BackupError {
    #[error("there is no database in {folder}: name the data folder of a server (--data)")]
    NoData { folder: PathBuf },
    #[error("{folder} is a server's data folder, no place for a backup: choose another")]
    IsData { folder: PathBuf },
    #[error("{folder} is no backup: it has no {DATABASE_FILE} with its {CHECKSUM_FILE} (`notarium backup` makes one)")]
    NoBackup { folder: PathBuf },
    #[error("{file} is no whole archive of a backup ({reason}): `notarium backup FILE.tar.zst` makes one")]
    NoArchive { file: PathBuf, reason: io::Error },
    #[error("{folder} is not empty: restore into a folder that is empty or does not exist")]
    NotEmpty { folder: PathBuf },
    #[error("another `notarium restore` is writing to {folder}: wait until it is done")]
    Restoring { folder: PathBuf },
    #[error("a restore into {folder} broke off: run `notarium restore` into it again, then back it up")]
    HalfRestored { folder: PathBuf },
    #[error("{file} is not what the backup wrote: its SHA-256 is another. Restore an older backup")]
    Changed { file: PathBuf },
    #[error("{path}: {reason}")]
    Io { path: PathBuf, reason: io::Error },
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    BlobLocation(#[from] BlobLocationError),
    #[error(transparent)]
    Blobs(#[from] BlobError),
}

impl BackupError {
    /// Replaces the temporary folder by the archive file that people know.
    fn of_archive(self, file: &Path) -> Self {
        match self {
            Self::NoBackup { .. } => Self::NoBackup { folder: file.to_owned() },
            Self::Changed { .. } => Self::Changed { file: file.to_owned() },
            error => error,
        }
    }
}

type ReportStep<'a> = &'a (dyn Fn(BackupStep) + Sync);

/// Copies the data in `data` to `into`: a folder, which is created or holds an earlier backup, or an archive file. `blobs`: the server's
/// location of blobs, if it is not the data folder.
pub async fn backup(
    data: &Path,
    blobs: Option<&BlobLocation>,
    into: &Path,
    progress: ReportStep<'_>,
) -> Result<BackedUp, BackupError> {
    if !is_archive(into) || into.is_dir() {
        return backup_into_folder(data, blobs, into, progress).await;
    }
    let folder = folder_beside(into);
    remove_folder(&folder)?;
    let done = backup_into_folder(data, blobs, &folder, progress).await;
    let done = done.and_then(|done| {
        progress(BackupStep::Archive);
        pack(&folder, into).map(|()| done)
    });
    remove_folder(&folder)?;
    done
}

async fn backup_into_folder(
    data: &Path,
    blobs: Option<&BlobLocation>,
    into: &Path,
    progress: ReportStep<'_>,
) -> Result<BackedUp, BackupError> {
    let database = data.join(DATABASE_FILE);
    if is_half_restored(data) {
        return Err(BackupError::HalfRestored { folder: data.to_owned() });
    }
    if !database.is_file() {
        return Err(BackupError::NoData { folder: data.to_owned() });
    }
    if is_data_folder(into) {
        return Err(BackupError::IsData { folder: into.to_owned() });
    }
    let copy = begin_copy(&database, into, progress)?;
    copy_database(&database, &copy).await?;
    let (from, to) = (blobs_of(data, blobs), blobs_of(into, None));
    let done = copy_blobs(&from, &to, &copy, progress).await?;
    put_in_place(&copy, into)?;
    Ok(done)
}

/// Creates an empty file for the copy of the database, readable by its owner only.
fn begin_copy(database: &Path, into: &Path, progress: ReportStep<'_>) -> Result<PathBuf, BackupError> {
    make_folder(into)?;
    let copy = into.join(PART_FILE);
    remove(&copy)?;
    let database_bytes = database.metadata().map_or(0, |metadata| metadata.len());
    progress(BackupStep::Database { database_bytes });
    create_privately(&copy)?;
    Ok(copy)
}

/// Installs the new database. Until the rename is done, the checksum file has the checksums of both the old and the new one.
fn put_in_place(copy: &Path, into: &Path) -> Result<(), BackupError> {
    let file = into.join(CHECKSUM_FILE);
    let line = format!("{}  {DATABASE_FILE}\n", checksum_of(copy)?);
    let before = std::fs::read_to_string(&file).unwrap_or_default();
    write_durably(&file, &format!("{line}{before}"))?;
    rename(copy, &into.join(DATABASE_FILE))?;
    sync_folder(into)?;
    write_durably(&file, &line)?;
    sync_folder(into)
}

/// Makes a data folder from the backup in the folder or file `from`. `into` must be empty, missing, or left by a failed restore.
/// `blobs`: the location of blobs, if it is not the data folder.
pub async fn restore(
    from: &Path,
    into: &Path,
    blobs: Option<&BlobLocation>,
    progress: ReportStep<'_>,
) -> Result<BackedUp, BackupError> {
    let mark = RestoreMark::set(into)?;
    match restore_from(from, into, blobs, progress).await {
        Ok(done) => {
            if let Some(blobs) = blobs {
                set_mark(into, blobs)?;
            }
            mark.lift().map(|()| done)
        }
        Err(error) => {
            mark.lift_if_empty()?;
            Err(error)
        }
    }
}

async fn restore_from(
    from: &Path,
    into: &Path,
    blobs: Option<&BlobLocation>,
    progress: ReportStep<'_>,
) -> Result<BackedUp, BackupError> {
    if !from.is_file() {
        return restore_from_folder(from, into, blobs, progress).await;
    }
    let folder = folder_beside(into);
    remove_folder(&folder)?;
    make_folder(&folder)?;
    progress(BackupStep::Archive);
    let restored = match unpack(from, &folder) {
        Ok(()) => restore_from_folder(&folder, into, blobs, progress).await.map_err(|error| error.of_archive(from)),
        Err(error) => Err(error),
    };
    remove_folder(&folder)?;
    restored
}

async fn restore_from_folder(
    from: &Path,
    into: &Path,
    blobs: Option<&BlobLocation>,
    progress: ReportStep<'_>,
) -> Result<BackedUp, BackupError> {
    let database = from.join(DATABASE_FILE);
    let Ok(expected) = std::fs::read_to_string(from.join(CHECKSUM_FILE)) else {
        return Err(BackupError::NoBackup { folder: from.to_owned() });
    };
    let checksum = checksum_of(&database)?.to_string();
    if !expected.split_whitespace().any(|word| word == checksum) {
        return Err(BackupError::Changed { file: database });
    }
    let copy = begin_copy(&database, into, progress)?;
    std::fs::copy(&database, &copy).map_err(|reason| failed(&copy, reason))?;
    set_private(&copy)?;
    let (from, to) = (blobs_of(from, None), blobs_of(into, blobs));
    let done = copy_blobs(&from, &to, &copy, progress).await?;
    std::fs::File::open(&copy).and_then(|file| file.sync_all()).map_err(|reason| failed(&copy, reason))?;
    rename(&copy, &into.join(DATABASE_FILE))?;
    sync_folder(into)?;
    Ok(done)
}

/// Verifies the copied database, and copies the blobs that it names. Blobs that exist and are intact are not copied again.
async fn copy_blobs(
    from: &BlobLocation,
    into: &BlobLocation,
    copy: &Path,
    progress: ReportStep<'_>,
) -> Result<BackedUp, BackupError> {
    progress(BackupStep::Verifying);
    let inventory = verify_database(copy).await?;
    let mut done = BackedUp {
        notebooks: inventory.notebooks,
        events: inventory.events,
        blobs: inventory.blobs.len() as u64,
        ..BackedUp::default()
    };
    if inventory.blobs.is_empty() && inventory.erased.is_empty() {
        return Ok(done);
    }
    let (source, target) = (Blobs::open_shared(from)?, Blobs::open_shared(into)?);
    for notebook in &inventory.erased {
        // An earlier backup in the same folder may have them.
        target.delete_all(notebook).await?;
    }
    for (index, (notebook, sha256)) in inventory.blobs.iter().enumerate() {
        progress(BackupStep::Blobs { done: index as u64, of: done.blobs });
        if target.is_whole(notebook, sha256).await? {
            continue;
        }
        match source.get(notebook, sha256).await {
            Ok(content) => {
                target.put(notebook, sha256, content.bytes.map_err(Box::new)).await?;
                done.copied_blobs += 1;
            }
            Err(BlobError::NotFound | BlobError::Damaged { .. }) => done.lost.push((notebook.clone(), *sha256)),
            Err(error) => return Err(error.into()),
        }
    }
    Ok(done)
}

/// Location of the blobs of a data folder or backup, if it is no other.
fn blobs_of(folder: &Path, blobs: Option<&BlobLocation>) -> BlobLocation {
    blobs.cloned().unwrap_or_else(|| BlobLocation::Folder(folder.join(BLOBS_FOLDER)))
}

/// Returns true if a backup with this name is one file.
fn is_archive(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    name.ends_with(".tar") || name.ends_with(COMPRESSED)
}

/// Returns the temporary folder for packing and unpacking. It is beside the file, on the same disk.
fn folder_beside(path: &Path) -> PathBuf {
    PathBuf::from(format!("{}.part.d", path.display()))
}

/// Packs the folder into the file. The file is replaced as a whole or not at all.
fn pack(folder: &Path, file: &Path) -> Result<(), BackupError> {
    let part = PathBuf::from(format!("{}.part", file.display()));
    remove(&part)?;
    create_privately(&part)?;
    let written = File::options().write(true).open(&part).and_then(|opened| match is_compressed(file) {
        true => archive(folder, zstd::Encoder::new(opened, 0)?)?.finish()?.sync_all(),
        false => archive(folder, opened)?.sync_all(),
    });
    written.map_err(|reason| failed(&part, reason))?;
    rename(&part, file)?;
    sync_folder(file.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new(".")))
}

fn is_compressed(file: &Path) -> bool {
    file.to_string_lossy().ends_with(COMPRESSED)
}

fn archive<W: io::Write>(folder: &Path, file: W) -> io::Result<W> {
    let mut archive = tar::Builder::new(file);
    archive.append_dir_all(".", folder)?;
    archive.into_inner()
}

/// Unpacks an archive, whatever its name, into an empty folder. No entry is written outside of it.
fn unpack(file: &Path, folder: &Path) -> Result<(), BackupError> {
    let read = || {
        let mut opened = File::open(file)?;
        let mut magic = Vec::new();
        Read::by_ref(&mut opened).take(4).read_to_end(&mut magic)?;
        opened.seek(SeekFrom::Start(0))?;
        match magic == ZSTD_MAGIC {
            true => extract(zstd::Decoder::new(opened)?, folder),
            false => extract(BufReader::new(opened), folder),
        }
    };
    read().map_err(|reason| match reason.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied | io::ErrorKind::StorageFull => failed(file, reason),
        _ => BackupError::NoArchive { file: file.to_owned(), reason },
    })
}

fn extract(reader: impl Read, folder: &Path) -> io::Result<()> {
    let mut archive = tar::Archive::new(reader);
    archive.set_preserve_permissions(false);
    for entry in archive.entries()? {
        let mut entry = entry?;
        let kind = entry.header().entry_type();
        if !(kind.is_file() || kind.is_dir()) || !entry.unpack_in(folder)? {
            let name = entry.path_bytes().escape_ascii().to_string();
            return Err(io::Error::new(io::ErrorKind::InvalidData, format!("{name} has no place in a backup")));
        }
    }
    Ok(())
}

fn is_half_restored(folder: &Path) -> bool {
    is_marked(folder)
}

/// Mark of a running restore. It is locked, so that a second restore into the same folder is refused.
struct RestoreMark {
    folder: PathBuf,
    has_made_folder: bool,
    _lock: File,
}

impl RestoreMark {
    /// Marks a folder that is empty, missing, or left by an interrupted restore.
    pub fn set(folder: &Path) -> Result<Self, BackupError> {
        if !may_be_taken(folder) {
            return Err(BackupError::NotEmpty { folder: folder.to_owned() });
        }
        let has_made_folder = !folder.exists();
        make_folder(folder)?;
        let file = folder.join(MARK_FILE);
        let opened = OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(&file);
        let mut opened = opened.map_err(|reason| failed(&file, reason))?;
        match opened.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(BackupError::Restoring { folder: folder.to_owned() }),
            Err(TryLockError::Error(reason)) => return Err(failed(&file, reason)),
        }
        opened.write_all(TEXT.as_bytes()).and_then(|()| opened.sync_all()).map_err(|reason| failed(&file, reason))?;
        sync_folder(folder)?;
        if let Some(parent) = folder.parent().filter(|parent| !parent.as_os_str().is_empty()) {
            sync_folder(parent)?;
        }
        Ok(Self { folder: folder.to_owned(), has_made_folder, _lock: opened })
    }

    /// Removes the mark after a complete restore.
    pub fn lift(self) -> Result<(), BackupError> {
        remove(&self.folder.join(MARK_FILE))?;
        sync_folder(&self.folder)
    }

    /// Restores the initial state of the folder if the restore was refused before it wrote anything.
    pub fn lift_if_empty(self) -> Result<(), BackupError> {
        if entries(&self.folder).iter().any(|name| name != MARK_FILE) {
            return Ok(());
        }
        let (folder, has_made_folder) = (self.folder.clone(), self.has_made_folder);
        self.lift()?;
        match has_made_folder {
            true => std::fs::remove_dir(&folder).map_err(|reason| failed(&folder, reason)),
            false => Ok(()),
        }
    }
}

/// Returns true if a restore may write here. Versions without a mark left only these files after an interruption.
fn may_be_taken(folder: &Path) -> bool {
    let names = entries(folder);
    let is_marked = names.iter().any(|name| name == MARK_FILE);
    let is_old = !names.iter().any(|name| name == DATABASE_FILE) && names.iter().any(|name| name == PART_FILE);
    let is_only = |known: &[&str]| names.iter().all(|name| known.contains(&name.as_str()));
    names.is_empty() || is_marked || (is_old && is_only(&[PART_FILE, BLOBS_FOLDER]))
}

fn entries(folder: &Path) -> Vec<String> {
    let entries = folder.read_dir().into_iter().flatten().flatten();
    entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

/// Returns true for a server's data folder: unlike a backup, it has a lock file or a write-ahead log.
fn is_data_folder(folder: &Path) -> bool {
    ["notarium.lock", "notarium.db-wal"].iter().any(|file| folder.join(file).exists())
}

fn checksum_of(file: &Path) -> Result<Hash, BackupError> {
    let hashed = std::fs::File::open(file).and_then(|mut opened| {
        let (mut digest, mut buffer) = (Sha256::new(), vec![0; 1 << 20]);
        loop {
            match opened.read(&mut buffer)? {
                0 => return Ok(Hash(digest.finalize().into())),
                read => digest.update(&buffer[..read]),
            }
        }
    });
    hashed.map_err(|reason| failed(file, reason))
}

// --- files, readable by their owner only ---

fn make_folder(folder: &Path) -> Result<(), BackupError> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(|reason| failed(folder, reason))
}

fn create_privately(file: &Path) -> Result<(), BackupError> {
    let created = OpenOptions::new().write(true).create_new(true).mode(0o600).open(file);
    created.map(drop).map_err(|reason| failed(file, reason))
}

/// Restricts the mode: a copy inherits the mode of its source.
fn set_private(file: &Path) -> Result<(), BackupError> {
    std::fs::set_permissions(file, Permissions::from_mode(0o600)).map_err(|reason| failed(file, reason))
}

fn write_durably(file: &Path, text: &str) -> Result<(), BackupError> {
    let part = PathBuf::from(format!("{}.part", file.display()));
    let mut options = OpenOptions::new();
    let opened = options.write(true).create(true).truncate(true).mode(0o600).open(&part);
    let written = opened.and_then(|mut opened| {
        opened.write_all(text.as_bytes())?;
        opened.sync_all()
    });
    written.map_err(|reason| failed(&part, reason))?;
    rename(&part, file)
}

fn remove_folder(folder: &Path) -> Result<(), BackupError> {
    removed(folder, std::fs::remove_dir_all(folder))
}

fn remove(file: &Path) -> Result<(), BackupError> {
    removed(file, std::fs::remove_file(file))
}

/// Treats a missing file as removed.
fn removed(path: &Path, removed: io::Result<()>) -> Result<(), BackupError> {
    match removed {
        Err(reason) if reason.kind() != io::ErrorKind::NotFound => Err(failed(path, reason)),
        _ => Ok(()),
    }
}

fn rename(from: &Path, to: &Path) -> Result<(), BackupError> {
    std::fs::rename(from, to).map_err(|reason| failed(to, reason))
}

fn sync_folder(folder: &Path) -> Result<(), BackupError> {
    std::fs::File::open(folder).and_then(|folder| folder.sync_all()).map_err(|reason| failed(folder, reason))
}

fn failed(path: &Path, reason: io::Error) -> BackupError {
    BackupError::Io { path: path.to_owned(), reason }
}
