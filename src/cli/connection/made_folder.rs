//! The configuration folder that this program made. Its identity is noted in the state folder, so that a folder that a program put
//! in its stead is refused, before a session is read from it or written to it.
//!
//! The identity is the time at which the folder was made. No program sets it, and it survives restarts, unlike the number of
//! a device. File systems without that time have the folder's inode. Code in a kernel reaches neither the folder nor the note: it
//! could at most move the folders above them, where it has no sandbox or one without mounts.

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use serde::{Deserialize, Serialize};

use crate::cli::Failure;
use crate::cli::connection::context::{state_dir, write_privately};

/// File of the notes in the state folder.
const NOTES_FILE: &str = "made-folders.json";

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct FolderIdentity {
    owner: u32,
    inode: u64,
    /// Nanoseconds since 1970; absent: the file system does not know it.
    made_at: Option<u64>,
}

impl FolderIdentity {
    fn of(folder: &Path) -> std::io::Result<Self> {
        let found = folder.metadata()?;
        let made_at = found.created().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        let made_at = made_at.and_then(|time| u64::try_from(time.as_nanos()).ok());
        Ok(Self { owner: found.uid(), inode: found.ino(), made_at })
    }

    fn is(&self, other: &Self) -> bool {
        let is_same = match (self.made_at, other.made_at) {
            (Some(one), Some(other)) => one == other,
            _ => self.inode == other.inode,
        };
        is_same && self.owner == other.owner
    }
}

/// Notes by the path of the folder.
type Notes = BTreeMap<PathBuf, FolderIdentity>;

/// Refuses a folder that is not the one that was noted. Notes one that was made before there were notes.
pub(super) fn check(folder: &Path) -> Result<(), Failure> {
    let Some((file, notes)) = notes_about(folder)? else { return Ok(()) };
    let found = FolderIdentity::of(folder);
    match (notes.get(folder), found) {
        (Some(noted), Ok(found)) if noted.is(&found) => Ok(()),
        (Some(_), found) => Err(refused(folder, &file, found.is_ok())),
        (None, Ok(found)) => note(&file, notes, folder, found),
        (None, Err(_)) => Ok(()),
    }
}

fn refused(folder: &Path, notes: &Path, is_there: bool) -> Failure {
    let (folder, notes) = (folder.display(), notes.display());
    let what = if is_there { "is not the folder that Notarium made" } else { "was made by Notarium and is gone" };
    Failure::failed(format!(
        "{folder} {what}: a program may have moved it, to read what is stored there next. If you moved, copied or removed it \
         yourself, remove {notes} and try again; otherwise look for the folder first"
    ))
}

/// The file of the notes with its content. `None`: the folder would hold its own note, or there is no place for notes.
fn notes_about(folder: &Path) -> Result<Option<(PathBuf, Notes)>, Failure> {
    let Some(state) = state_dir().filter(|state| !state.starts_with(folder)) else { return Ok(None) };
    let file = state.join(NOTES_FILE);
    let unusable = |error: &dyn std::fmt::Display| {
        Failure::failed(format!("{} cannot be used ({error}): mend or remove it", file.display()))
    };
    match std::fs::read_to_string(&file) {
        Ok(text) => {
            serde_json::from_str(&text).map(|notes| Some((file.clone(), notes))).map_err(|error| unusable(&error))
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Some((file, Notes::new()))),
        Err(error) => Err(unusable(&error)),
    }
}

/// Without a place to write the note, the folder is used as it is.
fn note(file: &Path, mut notes: Notes, folder: &Path, found: FolderIdentity) -> Result<(), Failure> {
    notes.insert(folder.to_owned(), found);
    let text = serde_json::to_string(&notes).map_err(|error| Failure::failed(error.to_string()))?;
    if let Err(error) = write_privately(file, &text) {
        tracing::debug!(%error, "the configuration folder is not noted");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_known_by_its_time_else_by_its_inode() {
        let one = FolderIdentity { owner: 1, inode: 2, made_at: Some(3) };
        assert!(one.is(&FolderIdentity { inode: 9, ..one }));
        assert!(!one.is(&FolderIdentity { made_at: Some(4), ..one }));
        assert!(!one.is(&FolderIdentity { owner: 0, ..one }));
        let without = FolderIdentity { made_at: None, ..one };
        assert!(without.is(&one) && !without.is(&FolderIdentity { inode: 9, ..without }));
    }

    #[test]
    fn a_folder_moved_away_and_another_in_its_stead_differ() {
        let place = tempfile::tempdir().unwrap();
        let (folder, moved) = (place.path().join("notarium"), place.path().join("moved"));
        std::fs::create_dir(&folder).unwrap();
        let made = FolderIdentity::of(&folder).unwrap();
        std::fs::rename(&folder, &moved).unwrap();
        std::fs::create_dir(&folder).unwrap();
        assert!(!made.is(&FolderIdentity::of(&folder).unwrap()));
        assert!(made.is(&FolderIdentity::of(&moved).unwrap()));
    }
}
