//! Renames and moves in the folder. Never replaces a file, even if the same name is made concurrently.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use notarium_wire::{FileKind, FileRefusal, MovedFile};
use rustix::fs::{
    AtFlags, Mode, OFlags, RenameFlags, Stat, fsync, mkdirat, openat, renameat, renameat_with, statat, unlinkat,
};
use rustix::io::{Errno, Result as SystemResult};

use super::incoming::exists;
use super::{OpenedEntry, RequestRefusal, WorkingFolder, check_new_name, kind_of, parts};

/// An entry of a folder; for a link, the link itself and not its target.
pub(super) struct FolderEntry {
    pub folder: OwnedFd,
    pub name: String,
    /// The path as requested.
    pub path: String,
    pub stat: Stat,
}

/// A free name in an open folder.
pub(super) struct FreeName {
    pub folder: OwnedFd,
    pub name: String,
    pub path: String,
}

impl WorkingFolder {
    /// Renames or moves a file, a folder or a link.
    pub fn relocate(&self, from: &str, to: &str) -> Result<MovedFile, RequestRefusal> {
        let root = self.root()?;
        let source = self.movable(root.as_fd(), from)?;
        check_not_inside(&source, to)?;
        let target = self.target(root.as_fd(), to, folder_of(from)? != folder_of(to)?)?;
        rename_free((source.folder.as_fd(), &source.name), (target.folder.as_fd(), &target.name))
            .map_err(|error| refusal(&source.path, &target.path, error))?;
        keep(&[source.folder.as_fd(), target.folder.as_fd()]);
        Ok(MovedFile { from: source.path, path: target.path, kind: kind_of(&source.stat) })
    }

    /// Finds an entry that may be moved or deleted.
    pub(super) fn movable(&self, root: BorrowedFd<'_>, path: &str) -> Result<FolderEntry, RequestRefusal> {
        let parts = parts(path)?;
        let Some((name, folders)) = parts.split_last() else {
            let message = "the kernels' working folder itself stays: name something in it";
            return Err(RequestRefusal::new(FileRefusal::InvalidPath, message));
        };
        let path = parts.join("/");
        let OpenedEntry { descriptor: folder, real, .. } = self.find(root, &folders.join("/"), FOLDER)?;
        self.places.check_movable(&real.join(name), &path)?;
        let stat =
            statat(&folder, *name, AtFlags::SYMLINK_NOFOLLOW).map_err(|error| RequestRefusal::system(&path, error))?;
        if self.places.is_hidden(&stat) {
            return Err(RequestRefusal::new(FileRefusal::OutOfReach, format!("'{path}' is hidden from kernels")));
        }
        Ok(FolderEntry { folder, name: (*name).to_owned(), path, stat })
    }

    /// Finds the target of a move, and makes its folders.
    pub(super) fn target(
        &self,
        root: BorrowedFd<'_>,
        path: &str,
        checks_all: bool,
    ) -> Result<FreeName, RequestRefusal> {
        let parts = parts(path)?;
        let Some((name, folders)) = parts.split_last().filter(|_| !path.ends_with('/')) else {
            let message = format!("'{path}' names a folder: add the new name");
            return Err(RequestRefusal::new(FileRefusal::InvalidPath, message));
        };
        check_new_name(name)?;
        if checks_all {
            folders.iter().try_for_each(|folder| check_new_name(folder))?;
        }
        let path = parts.join("/");
        let OpenedEntry { descriptor: folder, real, .. } = self.make_folders(root, folders)?;
        self.places.check_movable(&real.join(name), &path)?;
        Ok(FreeName { folder, name: (*name).to_owned(), path })
    }
}

const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NONBLOCK);

fn folder_of(path: &str) -> Result<String, RequestRefusal> {
    let parts = parts(path)?;
    Ok(parts.split_last().map(|(_, folders)| folders.join("/")).unwrap_or_default())
}

fn check_not_inside(source: &FolderEntry, to: &str) -> Result<(), RequestRefusal> {
    let to = parts(to)?.join("/");
    let inside = to.strip_prefix(&source.path).is_some_and(|rest| rest.starts_with('/'));
    if inside && kind_of(&source.stat) == FileKind::Folder { Err(inside_itself(&source.path)) } else { Ok(()) }
}

fn inside_itself(path: &str) -> RequestRefusal {
    RequestRefusal::new(FileRefusal::InvalidPath, format!("'{path}' cannot go into itself: choose another folder"))
}

/// Turns a system error of a move into a refusal.
pub(super) fn refusal(from: &str, to: &str, error: Errno) -> RequestRefusal {
    match error {
        Errno::EXIST | Errno::NOTEMPTY => exists(to),
        Errno::INVAL => inside_itself(from),
        Errno::XDEV => {
            let message = format!("'{from}' lies on another disk than '{to}': move it by code");
            RequestRefusal::new(FileRefusal::SystemRefused, message)
        }
        error => RequestRefusal::system(from, error),
    }
}

/// Syncs folders, so that a move survives a power cut.
pub(super) fn keep(folders: &[BorrowedFd<'_>]) {
    for folder in folders {
        // Systems that refuse this sync do not need it.
        let _ = fsync(folder);
    }
}

/// Renames to a free name; `EXIST` if it is taken.
pub(super) fn rename_free(from: (BorrowedFd<'_>, &str), to: (BorrowedFd<'_>, &str)) -> SystemResult<()> {
    match renameat_with(from.0, from.1, to.0, to.1, RenameFlags::NOREPLACE) {
        // A disk without this operation.
        Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => rename_reserved(from, to),
        renamed => renamed,
    }
}

/// Reserves the name first, then replaces the reservation.
pub(super) fn rename_reserved(from: (BorrowedFd<'_>, &str), to: (BorrowedFd<'_>, &str)) -> SystemResult<()> {
    let is_folder = kind_of(&statat(from.0, from.1, AtFlags::SYMLINK_NOFOLLOW)?) == FileKind::Folder;
    if is_folder {
        mkdirat(to.0, to.1, Mode::from_raw_mode(0o700))?;
    } else {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        drop(openat(to.0, to.1, flags, Mode::from_raw_mode(0o600))?);
    }
    renameat(from.0, from.1, to.0, to.1).inspect_err(|_| {
        let flags = if is_folder { AtFlags::REMOVEDIR } else { AtFlags::empty() };
        let _ = unlinkat(to.0, to.1, flags);
    })
}
