//! Other names and places for what lies in the folder. Nothing is ever replaced, whoever makes the same name meanwhile.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use notarium_wire::{FileKind, FileRefusal, MovedFile};
use rustix::fs::{
    AtFlags, Mode, OFlags, RenameFlags, Stat, fsync, mkdirat, openat, renameat, renameat_with, statat, unlinkat,
};
use rustix::io::{Errno, Result as SystemResult};

use super::incoming::exists;
use super::{Found, Refused, WorkingFolder, check_new_name, kind_of, parts};

/// An entry of a folder: what stands there under its name, a link itself and not what it leads to.
pub(super) struct Named {
    pub folder: OwnedFd,
    pub name: String,
    /// As it was asked for.
    pub path: String,
    pub stat: Stat,
}

/// A free name.
pub(super) struct Free {
    pub folder: OwnedFd,
    pub name: String,
    pub path: String,
}

impl WorkingFolder {
    /// Gives a file, a folder or a link another name or place.
    pub fn relocate(&self, from: &str, to: &str) -> Result<MovedFile, Refused> {
        let root = self.root()?;
        let source = self.movable(root.as_fd(), from)?;
        check_not_inside(&source, to)?;
        let target = self.target(root.as_fd(), to, folder_of(from)? != folder_of(to)?)?;
        rename_free((source.folder.as_fd(), &source.name), (target.folder.as_fd(), &target.name))
            .map_err(|error| refusal(&source.path, &target.path, error))?;
        keep(&[source.folder.as_fd(), target.folder.as_fd()]);
        Ok(MovedFile { from: source.path, path: target.path, kind: kind_of(&source.stat) })
    }

    /// What may be taken from its place.
    pub(super) fn movable(&self, root: BorrowedFd<'_>, path: &str) -> Result<Named, Refused> {
        let parts = parts(path)?;
        let Some((name, folders)) = parts.split_last() else {
            let message = "the kernels' working folder itself stays: name something in it";
            return Err(Refused::new(FileRefusal::InvalidPath, message));
        };
        let path = parts.join("/");
        let Found { descriptor: folder, real, .. } = self.find(root, &folders.join("/"), FOLDER)?;
        self.places.check_movable(&real.join(name), &path)?;
        let stat = statat(&folder, *name, AtFlags::SYMLINK_NOFOLLOW).map_err(|error| Refused::system(&path, error))?;
        if self.places.is_hidden(&stat) {
            return Err(Refused::new(FileRefusal::OutOfReach, format!("'{path}' is hidden from kernels")));
        }
        Ok(Named { folder, name: (*name).to_owned(), path, stat })
    }

    /// The place where something goes. Its folders are made.
    pub(super) fn target(&self, root: BorrowedFd<'_>, path: &str, checks_all: bool) -> Result<Free, Refused> {
        let parts = parts(path)?;
        let Some((name, folders)) = parts.split_last().filter(|_| !path.ends_with('/')) else {
            let message = format!("'{path}' names a folder: add the new name");
            return Err(Refused::new(FileRefusal::InvalidPath, message));
        };
        check_new_name(name)?;
        if checks_all {
            folders.iter().try_for_each(|folder| check_new_name(folder))?;
        }
        let path = parts.join("/");
        let Found { descriptor: folder, real, .. } = self.make_folders(root, folders)?;
        self.places.check_movable(&real.join(name), &path)?;
        Ok(Free { folder, name: (*name).to_owned(), path })
    }
}

const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NONBLOCK);

fn folder_of(path: &str) -> Result<String, Refused> {
    let parts = parts(path)?;
    Ok(parts.split_last().map(|(_, folders)| folders.join("/")).unwrap_or_default())
}

fn check_not_inside(source: &Named, to: &str) -> Result<(), Refused> {
    let to = parts(to)?.join("/");
    let inside = to.strip_prefix(&source.path).is_some_and(|rest| rest.starts_with('/'));
    if inside && kind_of(&source.stat) == FileKind::Folder { Err(inside_itself(&source.path)) } else { Ok(()) }
}

fn inside_itself(path: &str) -> Refused {
    Refused::new(FileRefusal::InvalidPath, format!("'{path}' cannot go into itself: choose another folder"))
}

/// What the system says about a move.
pub(super) fn refusal(from: &str, to: &str, error: Errno) -> Refused {
    match error {
        Errno::EXIST | Errno::NOTEMPTY => exists(to),
        Errno::INVAL => inside_itself(from),
        Errno::XDEV => {
            let message = format!("'{from}' lies on another disk than '{to}': move it by code");
            Refused::new(FileRefusal::SystemRefused, message)
        }
        error => Refused::system(from, error),
    }
}

/// The system writes folders down when it likes: what was moved is to be in its new place after a power cut.
pub(super) fn keep(folders: &[BorrowedFd<'_>]) {
    for folder in folders {
        // A system that cannot is none that could lose it.
        let _ = fsync(folder);
    }
}

/// Renames to a name that is free: `EXIST` where it is not.
pub(super) fn rename_free(from: (BorrowedFd<'_>, &str), to: (BorrowedFd<'_>, &str)) -> SystemResult<()> {
    match renameat_with(from.0, from.1, to.0, to.1, RenameFlags::NOREPLACE) {
        // A disk that does not know how.
        Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => rename_reserved(from, to),
        renamed => renamed,
    }
}

/// Takes the name first, then puts what is moved in its place.
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
