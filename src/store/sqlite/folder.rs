//! The data folder: creation, lock, private modes, and a reserve file for a start on a full disk.

use std::fs::{DirBuilder, File, OpenOptions, Permissions, TryLockError};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;

use sha2::{Digest, Sha256};

use crate::blobs::BLOBS_FOLDER;
use crate::store_error::StoreError;

/// Name of the database file in the data folder.
pub const DATABASE_FILE: &str = "notarium.db";
/// Name of an incomplete copy of a database.
pub(crate) const PART_FILE: &str = "notarium.db.part";
/// Name of the mark of a restore that is running or was interrupted.
pub(crate) const MARK_FILE: &str = "notarium.restoring";
/// Name of the mark of a move into the folder that is running or was interrupted.
pub(super) const MOVING_FILE: &str = "notarium.moving";
/// Name of the write-ahead log, which has writes that are not in the database file yet.
pub(super) const LOG_FILE: &str = "notarium.db-wal";
/// Name of the lock file. The lock ends with the process, in any case.
const LOCK_FILE: &str = "notarium.lock";
/// Name of a reserve file. It is deleted while a database is opened, so that SQLite has room for its log index on a full disk.
const RESERVE_FILE: &str = "notarium.reserve";
const RESERVE_BYTES: usize = 256 << 10;

/// Creates the folder, readable by its owner only, and syncs its parent.
fn create_folder(folder: &Path) -> io::Result<()> {
    if folder.is_dir() {
        return Ok(());
    }
    DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let parent = folder.parent().filter(|parent| !parent.as_os_str().is_empty());
    File::open(parent.unwrap_or(Path::new(".")))?.sync_all()
}

/// Lock of the folder for this process, released on drop.
#[derive(Debug)]
pub(super) struct FolderLock(pub(super) File);

impl Drop for FolderLock {
    fn drop(&mut self) {
        // Unlock explicitly: a child process that is just being started shares the open file until its exec.
        let _ = self.0.unlock();
    }
}

/// Bytes of the database and its write-ahead log on the disk. A file that is not there has none.
pub(super) async fn size_bytes(database: &Path) -> u64 {
    let mut bytes = 0;
    for file in [database.to_owned(), database.with_file_name(LOG_FILE)] {
        bytes += tokio::fs::metadata(file).await.map_or(0, |metadata| metadata.len());
    }
    bytes
}

/// Returns true after an interrupted restore. Versions without a mark left only the copy of the database.
pub(crate) fn is_half_restored(folder: &Path) -> bool {
    let has = |name: &str| folder.join(name).exists();
    has(MARK_FILE) || (has(PART_FILE) && !has(DATABASE_FILE))
}

/// Marks the folder as one that a move fills.
#[cfg(feature = "postgres")]
pub(super) fn mark_as_moving(folder: &Path) -> Result<(), StoreError> {
    let mark = folder.join(MOVING_FILE);
    let written = File::create(&mark).and_then(|file| file.sync_all());
    written.and_then(|()| File::open(folder)?.sync_all()).map_err(|error| folder_error(folder, error))
}

/// Takes the mark away.
#[cfg(feature = "postgres")]
pub(super) fn end_moving(folder: &Path) -> Result<(), StoreError> {
    let removed = std::fs::remove_file(folder.join(MOVING_FILE));
    removed.and_then(|()| File::open(folder)?.sync_all()).map_err(|error| folder_error(folder, error))
}

/// Creates the folder if it is missing, and locks it.
pub(super) fn lock_folder(folder: &Path) -> Result<FolderLock, StoreError> {
    if is_half_restored(folder) {
        return Err(StoreError::HalfRestored { path: folder.display().to_string() });
    }
    let failed = |error| folder_error(folder, error);
    create_folder(folder).map_err(|error| no_folder(folder, error))?;
    let mut options = OpenOptions::new();
    let file = options.create(true).truncate(false).write(true).mode(0o600).open(folder.join(LOCK_FILE));
    let file = file.map_err(failed)?;
    match file.try_lock() {
        Ok(()) => Ok(FolderLock(file)),
        Err(TryLockError::WouldBlock) => Err(StoreError::Locked { path: folder.display().to_string() }),
        Err(TryLockError::Error(error)) => Err(failed(error)),
    }
}

fn no_folder(folder: &Path, error: io::Error) -> StoreError {
    let path = folder.display().to_string();
    match error.kind() {
        ErrorKind::AlreadyExists => StoreError::NoFolder { path, reason: "it is a file".to_owned() },
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => folder_error(folder, error),
        _ => StoreError::NoFolder { path, reason: error.to_string() },
    }
}

pub(super) fn folder_error(folder: &Path, error: io::Error) -> StoreError {
    let path = folder.display().to_string();
    match error.kind() {
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => StoreError::ReadOnly { path },
        _ => StoreError::Unavailable { reason: format!("{path}: {error}") },
    }
}

/// Removes access of others from the folder and our files. A folder without a database may have other uses, so only our files are changed
/// there.
pub(super) fn make_private(folder: &Path) {
    let is_ours = folder.join(DATABASE_FILE).exists();
    let files = [DATABASE_FILE, LOG_FILE, "notarium.db-shm", LOCK_FILE, RESERVE_FILE, BLOBS_FOLDER];
    let files = files.map(|file| folder.join(file));
    let tightened = files.iter().filter(|file| tighten(file)).count() + usize::from(is_ours && tighten(folder));
    if tightened > 0 {
        let folder = folder.display();
        tracing::warn!(%folder, tightened, "others on this machine could read the data: now its owner alone can");
    }
}

/// Removes access of others; returns true if there was any.
fn tighten(path: &Path) -> bool {
    let Ok(metadata) = path.metadata() else { return false };
    let mode = metadata.permissions().mode();
    if mode & 0o077 == 0 {
        return false;
    }
    let taken = std::fs::set_permissions(path, Permissions::from_mode(mode & 0o7700));
    if let Err(error) = &taken {
        tracing::warn!(path = %path.display(), %error, "others on this machine may read this: its owner must forbid it (chmod go=)");
    }
    taken.is_ok()
}

// --- reserve file ---

pub(super) fn free_reserve(folder: &Path) {
    // A missing file was never created, or its space is already in use.
    let _ = std::fs::remove_file(folder.join(RESERVE_FILE));
}

/// Creates the reserve file; false: the disk is full.
pub(super) fn keep_reserve(folder: &Path) -> bool {
    let file = folder.join(RESERVE_FILE);
    let kept = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&file);
    let kept = kept.and_then(|mut opened| opened.write_all(&incompressible()).and_then(|()| opened.sync_all()));
    if let Err(error) = &kept {
        let folder = folder.display();
        tracing::warn!(%folder, %error, "the disk seems to be full: the notebooks can be read, and nothing is written until there is room");
        free_reserve(file.parent().unwrap_or(&file));
    }
    kept.is_ok()
}

/// Incompressible bytes, as some file systems allocate no blocks for zeros.
fn incompressible() -> Vec<u8> {
    let block = |number: usize| <[u8; 32]>::from(Sha256::digest(number.to_be_bytes()));
    (0..RESERVE_BYTES / 32).flat_map(block).collect()
}
