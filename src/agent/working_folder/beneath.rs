//! Files below an open folder, safe against concurrent renames and links that lead outside: opens paths, counts and deletes
//! whole folders.

use std::ffi::{CStr, OsStr, OsString};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use notarium_wire::FileKind;
use rustix::fs::{AtFlags, Dir, Mode, OFlags, Stat, fstat, openat, statat, unlinkat};
use rustix::io::{Errno, Result};

use super::kind_of;

/// Most attempts when renames disturb the resolution.
#[cfg(target_os = "linux")]
const ATTEMPTS: u32 = 8;

/// Opens a path below `root` (empty: `root` itself). Follows links that stay below; `XDEV` if one leads outside.
pub fn open(root: BorrowedFd<'_>, path: &str, flags: OFlags) -> Result<OwnedFd> {
    let path = if path.is_empty() { "." } else { path };
    match resolved(root, path, flags | OFlags::CLOEXEC) {
        // An old system, or one that filters this system call.
        Err(Errno::NOSYS | Errno::PERM) => walked(root, path, flags | OFlags::CLOEXEC),
        opened => opened,
    }
}

#[cfg(target_os = "linux")]
fn resolved(root: BorrowedFd<'_>, path: &str, flags: OFlags) -> Result<OwnedFd> {
    use rustix::fs::{ResolveFlags, openat2};
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
    let mut attempt = 1;
    loop {
        match openat2(root, path, flags, Mode::empty(), resolve) {
            Err(Errno::AGAIN) if attempt < ATTEMPTS => attempt += 1,
            opened => return opened,
        }
    }
}

#[cfg(not(target_os = "linux"))]
fn resolved(_: BorrowedFd<'_>, _: &str, _: OFlags) -> Result<OwnedFd> {
    Err(Errno::NOSYS)
}

/// Opens the path name by name from the root, without following any link.
pub(super) fn walked(root: BorrowedFd<'_>, path: &str, flags: OFlags) -> Result<OwnedFd> {
    let (folders, name) = path.rsplit_once('/').map_or(("", path), |(folders, name)| (folders, name));
    let through = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut folder = openat(root, ".", OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
    for part in folders.split('/').filter(|part| !part.is_empty()) {
        folder = openat(&folder, part, through, Mode::empty()).map_err(no_link)?;
    }
    openat(&folder, name, flags | OFlags::NOFOLLOW, Mode::empty()).map_err(no_link)
}

/// Makes the error for a link in a folder's place the same on all systems.
fn no_link(error: Errno) -> Errno {
    if error == Errno::MLINK { Errno::LOOP } else { error }
}

/// Path of an open file.
#[cfg(target_os = "linux")]
pub fn real_path(descriptor: BorrowedFd<'_>) -> Result<PathBuf> {
    let link = format!("/proc/self/fd/{}", descriptor.as_raw_fd());
    let path = rustix::fs::readlink(link, Vec::new())?;
    Ok(OsString::from_vec(path.into_bytes()).into())
}

#[cfg(not(target_os = "linux"))]
pub fn real_path(descriptor: BorrowedFd<'_>) -> Result<PathBuf> {
    Ok(OsString::from_vec(rustix::fs::getpath(descriptor)?.into_bytes()).into())
}

/// Most nested folders: each holds a descriptor open.
const MAX_DEPTH: u32 = 128;
/// Most names that are counted.
const MAX_COUNTED: u32 = 100_000;

/// The bytes of a file, or of the files of a folder as far as they are counted.
pub(super) fn size_bytes(folder: BorrowedFd<'_>, name: &str) -> u64 {
    let Ok(stat) = statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) else { return 0 };
    if kind_of(&stat) != FileKind::Folder {
        return length(&stat);
    }
    let mut count = TreeCount::default();
    if let Ok(inner) = open_folder(folder, name) {
        // Unreadable folders are not counted.
        let _ = count.add(&inner, MAX_DEPTH);
    }
    count.bytes
}

fn length(stat: &Stat) -> u64 {
    u64::try_from(stat.st_size).unwrap_or_default()
}

#[derive(Default)]
struct TreeCount {
    names: u32,
    bytes: u64,
}

impl TreeCount {
    fn add(&mut self, folder: &OwnedFd, depth: u32) -> Result<()> {
        for entry in Dir::read_from(folder)? {
            let entry = entry?;
            let name = entry.file_name();
            if is_dots(name) {
                continue;
            }
            self.names += 1;
            if self.names > MAX_COUNTED {
                return Ok(());
            }
            let Ok(stat) = statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) else { continue };
            if kind_of(&stat) != FileKind::Folder {
                self.bytes += length(&stat);
            } else if depth > 0
                && let Ok(inner) = open_folder(folder.as_fd(), name)
            {
                self.add(&inner, depth - 1)?;
            }
        }
        Ok(())
    }
}

/// A file or folder that a deletion left in place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct NotDeleted {
    /// Path below what was to be deleted; empty: that itself.
    pub path: PathBuf,
    /// Error of the system. `None`: the folder is one that must stay.
    pub error: Option<Errno>,
}

/// Deletes permanently, as far as possible. Folders for which `is_kept` is true stay, and so do their ancestors; the
/// ancestors are not named in the result.
pub(super) fn delete(folder: BorrowedFd<'_>, name: &CStr, is_kept: &dyn Fn(&Stat) -> bool) -> Vec<NotDeleted> {
    let mut deletion = Deletion { is_kept, left: Vec::new() };
    deletion.delete(folder, name, PathBuf::new(), MAX_DEPTH);
    deletion.left
}

struct Deletion<'a> {
    is_kept: &'a dyn Fn(&Stat) -> bool,
    left: Vec<NotDeleted>,
}

impl Deletion<'_> {
    fn delete(&mut self, folder: BorrowedFd<'_>, name: &CStr, path: PathBuf, depth: u32) {
        match unlinkat(folder, name, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => return,
            Err(Errno::ISDIR | Errno::PERM) => {}
            Err(error) => return self.leave(path, Some(error)),
        }
        let before = self.left.len();
        if let Err(error) = self.delete_content(folder, name, &path, depth) {
            return self.leave(path, Some(error));
        }
        if self.left.len() > before {
            return;
        }
        if let Err(error) = unlinkat(folder, name, AtFlags::REMOVEDIR) {
            self.leave(path, Some(error));
        }
    }

    fn delete_content(&mut self, folder: BorrowedFd<'_>, name: &CStr, path: &Path, depth: u32) -> Result<()> {
        let inner = open_folder(folder, name)?;
        if (self.is_kept)(&fstat(&inner)?) {
            self.leave(path.to_owned(), None);
            return Ok(());
        }
        if depth == 0 {
            return Err(Errno::PERM);
        }
        for entry in Dir::read_from(&inner)? {
            let entry = entry?;
            let name = entry.file_name();
            if !is_dots(name) {
                self.delete(inner.as_fd(), name, path.join(OsStr::from_bytes(name.to_bytes())), depth - 1);
            }
        }
        Ok(())
    }

    fn leave(&mut self, path: PathBuf, error: Option<Errno>) {
        self.left.push(NotDeleted { path, error });
    }
}

fn open_folder(folder: BorrowedFd<'_>, name: impl rustix::path::Arg) -> Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    openat(folder, name, flags, Mode::empty())
}

pub(super) fn is_dots(name: &CStr) -> bool {
    matches!(name.to_bytes(), b"." | b"..")
}
