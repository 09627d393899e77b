//! The data folder: made, locked, its owner's alone, and with a little room kept free for a start on a full disk.

use std::fs::{DirBuilder, File, OpenOptions, Permissions, TryLockError};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;

use sha2::{Digest, Sha256};

use crate::blobs::BLOBS_FOLDER;
use crate::event_store::StoreError;

/// The database's file in the data folder.
pub const DATABASE_FILE: &str = "notarium.db";
/// The copy of a database while it is written.
pub(crate) const PART_FILE: &str = "notarium.db.part";
/// There while a restore into the folder is at work, and after one that broke off.
pub(crate) const MARK_FILE: &str = "notarium.restoring";
/// What was written and is not in the database's file yet.
pub(super) const LOG_FILE: &str = "notarium.db-wal";
/// Locked while a server uses the folder. The lock goes with the process, however it ends.
const LOCK_FILE: &str = "notarium.lock";
/// Deleted while a database is opened, so that SQLite finds room for the index of its log on a disk that is full.
const RESERVE_FILE: &str = "notarium.reserve";
const RESERVE_BYTES: usize = 256 << 10;

/// Creates the folder, for its owner alone, and sees to it that its name is on disk too.
fn create_folder(folder: &Path) -> io::Result<()> {
    if folder.is_dir() {
        return Ok(());
    }
    DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let parent = folder.parent().filter(|parent| !parent.as_os_str().is_empty());
    File::open(parent.unwrap_or(Path::new(".")))?.sync_all()
}

/// The folder is this process's until this is dropped.
#[derive(Debug)]
pub(super) struct FolderLock(pub(super) File);

impl Drop for FolderLock {
    fn drop(&mut self) {
        // Closing would not do: a program that is being started just now has the open file as well, until it begins.
        let _ = self.0.unlock();
    }
}

/// What a restore left that was killed. Versions that set no mark left the copy of the database alone.
pub(crate) fn is_half_restored(folder: &Path) -> bool {
    let has = |name: &str| folder.join(name).exists();
    has(MARK_FILE) || (has(PART_FILE) && !has(DATABASE_FILE))
}

/// Creates the folder where it is missing and locks it.
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

/// What a folder that was made otherwise lets others do is taken from them. A folder without a database may be somebody's
/// for other things: of that only our files change.
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

/// Whether there was anything to take.
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

// --- room ---

pub(super) fn free_reserve(folder: &Path) {
    // One that is not there was not made, or is in use as room already.
    let _ = std::fs::remove_file(folder.join(RESERVE_FILE));
}

/// False: the disk is full.
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

/// Some file systems keep no blocks for zeros.
fn incompressible() -> Vec<u8> {
    let block = |number: usize| <[u8; 32]>::from(Sha256::digest(number.to_be_bytes()));
    (0..RESERVE_BYTES / 32).flat_map(block).collect()
}
