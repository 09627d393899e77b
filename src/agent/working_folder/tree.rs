//! Size and deletion of whole folder trees, without following links.

use std::ffi::CStr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use notarium_wire::FileKind;
use rustix::fs::{AtFlags, Dir, Mode, OFlags, Stat, fstat, openat, statat, unlinkat};
use rustix::io::{Errno, Result};

use super::kind_of;

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
    if let Ok(inner) = open(folder, name) {
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
                && let Ok(inner) = open(folder.as_fd(), name)
            {
                self.add(&inner, depth - 1)?;
            }
        }
        Ok(())
    }
}

/// Deletes permanently. Fails with `PERM` at a folder for which `is_kept` is true: that folder stays, and its ancestors.
pub(super) fn delete(folder: BorrowedFd<'_>, name: &CStr, is_kept: &dyn Fn(&Stat) -> bool) -> Result<()> {
    delete_to(folder, name, is_kept, MAX_DEPTH)
}

fn delete_to(folder: BorrowedFd<'_>, name: &CStr, is_kept: &dyn Fn(&Stat) -> bool, depth: u32) -> Result<()> {
    match unlinkat(folder, name, AtFlags::empty()) {
        Ok(()) | Err(Errno::NOENT) => return Ok(()),
        Err(Errno::ISDIR | Errno::PERM) => {}
        Err(error) => return Err(error),
    }
    let inner = open(folder, name)?;
    if depth == 0 || is_kept(&fstat(&inner)?) {
        return Err(Errno::PERM);
    }
    for entry in Dir::read_from(&inner)? {
        let entry = entry?;
        if !is_dots(entry.file_name()) {
            delete_to(inner.as_fd(), entry.file_name(), is_kept, depth - 1)?;
        }
    }
    unlinkat(folder, name, AtFlags::REMOVEDIR)
}

fn open(folder: BorrowedFd<'_>, name: impl rustix::path::Arg) -> Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    openat(folder, name, flags, Mode::empty())
}

pub(super) fn is_dots(name: &CStr) -> bool {
    matches!(name.to_bytes(), b"." | b"..")
}
