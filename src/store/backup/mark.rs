//! Mark file of a folder that a restore writes to. It is created first and removed last, so no server uses the folder of an interrupted
//! restore.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use super::{BackupError, failed, make_folder, remove, sync_folder};
use crate::blobs::BLOBS_FOLDER;
use crate::sqlite::{DATABASE_FILE, MARK_FILE, PART_FILE, is_half_restored as is_marked};

const TEXT: &str = "A restore into this folder is at work, or broke off: run `notarium restore` into it again.\n";

pub(super) fn is_half_restored(folder: &Path) -> bool {
    is_marked(folder)
}

/// Mark of a running restore. It is locked, so that a second restore into the same folder is refused.
pub(super) struct RestoreMark {
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
