//! Temporary files and folders of the agent, and the removal of those of killed processes. A living process holds a lock,
//! which the system releases when the process ends, for any reason.

use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Name prefix of the private folders of kernels. Short, because socket paths have a limit.
const FOLDER_PREFIX: &str = "nk-";
const FILE_PREFIX: &str = "notarium-overflow-";
/// Name of the lock file in each folder.
const LOCK_FILE: &str = "lock";
/// Age from which a file counts as abandoned: a younger one's owner may not have locked it yet.
const SETTLED_AFTER: Duration = Duration::from_secs(60);

/// A folder that only this user can enter; removed when dropped.
#[derive(Debug)]
pub(crate) struct TemporaryFolder {
    pub path: PathBuf,
    _lock: File,
}

impl TemporaryFolder {
    /// Creates a folder in `parent` whose name ends in `ending`.
    pub fn create(parent: &Path, ending: &str) -> io::Result<Self> {
        let path = std::path::absolute(parent)?.join(format!("{FOLDER_PREFIX}{ending}"));
        std::fs::DirBuilder::new().mode(0o700).create(&path)?;
        let lock = private_file(&path.join(LOCK_FILE)).inspect_err(|_| _ = std::fs::remove_dir_all(&path))?;
        Ok(Self { path, _lock: lock })
    }

    /// Writes a new file that only this user can read.
    pub fn write(&self, name: &str, content: &[u8]) -> io::Result<PathBuf> {
        let path = self.path.join(name);
        private_file(&path)?.write_all(content).map(|()| path)
    }
}

impl Drop for TemporaryFolder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.path);
    }
}

/// A file that only this user can read; removed when dropped.
#[derive(Debug)]
pub(crate) struct TemporaryFile {
    pub path: PathBuf,
    pub file: File,
}

impl TemporaryFile {
    pub fn create(parent: &Path) -> io::Result<Self> {
        let path = parent.join(format!("{FILE_PREFIX}{}", ulid::Ulid::generate()));
        let file = private_file(&path)?;
        Ok(Self { path, file })
    }
}

impl Drop for TemporaryFile {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

/// Creates a new file, locked while it is open here. On file systems without locks, no file ever counts as abandoned.
fn private_file(path: &Path) -> io::Result<File> {
    let file = std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    let _ = file.try_lock();
    Ok(file)
}

/// Removes the files and folders in `parent` that ended processes of this user have left.
pub(crate) fn remove_abandoned(parent: &Path) {
    let Ok(entries) = std::fs::read_dir(parent) else { return };
    for path in entries.filter_map(|entry| entry.ok().map(|entry| entry.path())).filter(|path| is_ours(path)) {
        if let Some(_lock) = abandoned(&path) {
            let removed = if path.is_dir() { std::fs::remove_dir_all(&path) } else { std::fs::remove_file(&path) };
            match removed {
                Ok(()) => tracing::info!(path = %path.display(), "removed what a killed process had left"),
                Err(error) => tracing::warn!(%error, path = %path.display(), "a leftover stays"),
            }
        }
    }
}

/// Checks name, owner and age; links never match.
fn is_ours(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let Ok(found) = path.symlink_metadata() else { return false };
    let is_kind =
        (name.starts_with(FOLDER_PREFIX) && found.is_dir()) || (name.starts_with(FILE_PREFIX) && found.is_file());
    let is_settled = found.modified().is_ok_and(|at| at.elapsed().is_ok_and(|age| age >= SETTLED_AFTER));
    is_kind && is_settled && found.uid() == rustix::process::geteuid().as_raw()
}

/// Returns the lock if no process holds it.
fn abandoned(path: &Path) -> Option<File> {
    let lock = if path.is_dir() { path.join(LOCK_FILE) } else { path.to_owned() };
    let file = File::open(lock).ok()?;
    file.try_lock().is_ok().then_some(file)
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use super::*;

    fn age(path: &Path) {
        File::open(path).unwrap().set_modified(SystemTime::now() - 2 * SETTLED_AFTER).unwrap();
    }

    fn names(parent: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(parent).unwrap().map(|entry| entry.unwrap().file_name());
        let mut names: Vec<String> = entries.map(|name| name.to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    /// Releases the lock and leaves the rest, as the end of the process would.
    fn kill_folder(folder: TemporaryFolder) -> PathBuf {
        let TemporaryFolder { path, _lock } = &*std::mem::ManuallyDrop::new(folder);
        _lock.unlock().unwrap();
        path.clone()
    }

    #[test]
    fn what_the_dead_left_goes_and_what_the_living_hold_stays() {
        let parent = tempfile::tempdir().unwrap();
        let living = TemporaryFolder::create(parent.path(), "living").unwrap();
        let spill = TemporaryFile::create(parent.path()).unwrap();
        let dead = kill_folder(TemporaryFolder::create(parent.path(), "dead").unwrap());
        let young = kill_folder(TemporaryFolder::create(parent.path(), "young").unwrap());
        std::fs::write(dead.join("connection.json"), "{}").unwrap();
        std::fs::create_dir(parent.path().join("nk-foreign")).unwrap();
        let spilled = parent.path().join("notarium-overflow-dead");
        std::fs::write(&spilled, "text").unwrap();
        std::os::unix::fs::symlink("/", parent.path().join("nk-link")).unwrap();
        for path in [&living.path, &spill.path, &dead, &spilled, &parent.path().join("nk-foreign")] {
            age(path);
        }
        remove_abandoned(parent.path());
        let spill_name = spill.path.file_name().unwrap().to_string_lossy().into_owned();
        assert_eq!(names(parent.path()), ["nk-foreign", "nk-link", "nk-living", "nk-young", &*spill_name]);
        drop((living, spill));
        assert_eq!(names(parent.path()), ["nk-foreign", "nk-link", "nk-young"]);
        assert!(young.exists());
    }
}
