//! Moves, deletes and restores files of the working folder. Never replaces a file, even if the same name is made concurrently.
//!
//! The trash is a hidden folder in the working folder. Files are renamed into it, never copied, and survive a restart of the agent.
//! Each entry is a folder `ULID/` with `about.json` and `content`. Code in kernels can write there, so no content is
//! trusted: links are not followed, and paths are checked like those of people.

#[cfg(test)]
mod tests;

use std::ffi::{CStr, CString};
use std::io::{Read, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;
use std::time::{Duration, SystemTime};

use notarium_wire::{FileKind, FileRefusal, MovedFile, TrashPage, TrashedFile};
use rustix::fs::{
    AtFlags, Dir, Mode, OFlags, RenameFlags, Stat, fsync, mkdirat, openat, renameat, renameat_with, statat, unlinkat,
};
use rustix::io::{Errno, Result as SystemResult};
use serde::{Deserialize, Serialize};
use ulid::Ulid;

use super::transfers::exists;
use super::{OpenedEntry, RequestRefusal, WorkingFolder, beneath, check_new_name, kind_of, parts};

/// An entry of a folder; for a link, the link itself and not its target.
struct FolderEntry {
    pub folder: OwnedFd,
    pub name: String,
    /// The path as requested.
    pub path: String,
    pub stat: Stat,
}

/// A free name in an open folder.
struct FreeName {
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
    fn movable(&self, root: BorrowedFd<'_>, path: &str) -> Result<FolderEntry, RequestRefusal> {
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
    fn target(&self, root: BorrowedFd<'_>, path: &str, checks_all: bool) -> Result<FreeName, RequestRefusal> {
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
fn refusal(from: &str, to: &str, error: Errno) -> RequestRefusal {
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
fn keep(folders: &[BorrowedFd<'_>]) {
    for folder in folders {
        // Systems that refuse this sync do not need it.
        let _ = fsync(folder);
    }
}

/// Renames to a free name; `EXIST` if it is taken.
fn rename_free(from: (BorrowedFd<'_>, &str), to: (BorrowedFd<'_>, &str)) -> SystemResult<()> {
    match renameat_with(from.0, from.1, to.0, to.1, RenameFlags::NOREPLACE) {
        // A disk without this operation.
        Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => rename_reserved(from, to),
        renamed => renamed,
    }
}

/// Reserves the name first, then replaces the reservation.
fn rename_reserved(from: (BorrowedFd<'_>, &str), to: (BorrowedFd<'_>, &str)) -> SystemResult<()> {
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

/// Name of the folder.
pub(super) const TRASH: &str = ".notarium-trash";
const ABOUT: &str = "about.json";
const CONTENT: &str = "content";
const CONTENT_NAME: &CStr = c"content";
const KEPT_DAYS: u32 = 30;
const MAX_BYTES: u64 = 2 << 30;
const MAX_ENTRIES: usize = 1_000;
/// Most entries that are read.
const MAX_SCANNED: usize = 10_000;
const MAX_ABOUT_BYTES: u64 = 64 << 10;
/// Age up to which an entry without content may be in the making; an older one is a leftover.
const MAKING: Duration = Duration::from_secs(600);

/// Limits of age and size. The newest entry stays, whatever its size.
#[derive(Debug, Clone, Copy)]
pub(super) struct TrashLimits {
    pub days: u32,
    pub bytes: u64,
    pub entries: usize,
}

impl Default for TrashLimits {
    fn default() -> Self {
        Self { days: KEPT_DAYS, bytes: MAX_BYTES, entries: MAX_ENTRIES }
    }
}

#[derive(Debug, Serialize, Deserialize)]
struct TrashRecord {
    path: String,
    size_bytes: u64,
}

impl WorkingFolder {
    /// Moves a file, a folder or a link to the trash.
    pub fn remove(&self, path: &str) -> Result<TrashedFile, RequestRefusal> {
        let root = self.root()?;
        let source = self.movable(root.as_fd(), path)?;
        let size_bytes = beneath::size_bytes(source.folder.as_fd(), &source.name);
        let system = |error| RequestRefusal::system(&source.path, error);
        let trash = made(root.as_fd())?;
        let id = Ulid::generate();
        let about = TrashRecord { path: source.path.clone(), size_bytes };
        let entry = begun(&trash, id, &about).map_err(system)?;
        let from = (source.folder.as_fd(), source.name.as_str());
        rename_free(from, (entry.as_fd(), CONTENT)).map_err(|error| {
            self.forget(&trash, id);
            match error {
                Errno::XDEV => {
                    let message = format!("'{path}' lies on another disk than the trash: delete it by code");
                    RequestRefusal::new(FileRefusal::SystemRefused, message)
                }
                error => system(error),
            }
        })?;
        keep(&[entry.as_fd(), trash.as_fd(), source.folder.as_fd()]);
        self.bound(&trash);
        Ok(TrashedFile {
            id: id.to_string(),
            path: source.path,
            kind: kind_of(&source.stat),
            size_bytes,
            removed_at: id.timestamp_ms(),
        })
    }

    /// Lists the entries that can be restored.
    pub fn trash(&self, limit: u32) -> Result<TrashPage, RequestRefusal> {
        let root = self.root()?;
        let Some(trash) = opened(root.as_fd())? else { return Ok(self.page(Vec::new(), limit)) };
        self.bound(&trash);
        Ok(self.page(entries(&trash), limit))
    }

    fn page(&self, mut files: Vec<TrashedFile>, limit: u32) -> TrashPage {
        let count = u32::try_from(files.len()).unwrap_or(u32::MAX);
        let size_bytes = files.iter().map(|file| file.size_bytes).fold(0, u64::saturating_add);
        files.truncate(limit as usize);
        TrashPage { files, count, size_bytes, kept_days: self.keeps.days, max_bytes: self.keeps.bytes }
    }

    /// Restores an entry to its old path, or to `to`.
    pub fn restore(&self, id: &str, to: Option<&str>) -> Result<MovedFile, RequestRefusal> {
        let root = self.root()?;
        let gone = || RequestRefusal::new(FileRefusal::NotFound, "it is not in the trash any more: look at the list");
        let id = parsed(id).ok_or_else(gone)?;
        let trash = opened(root.as_fd())?.ok_or_else(gone)?;
        let (entry, about, kind) = read(&trash, id).ok_or_else(gone)?;
        let target = self.target(root.as_fd(), to.unwrap_or(&about.path), to.is_some())?;
        rename_free((entry.as_fd(), CONTENT), (target.folder.as_fd(), &target.name)).map_err(|error| match error {
            Errno::NOENT => gone(),
            error => refusal(&about.path, &target.path, error),
        })?;
        keep(&[target.folder.as_fd(), entry.as_fd()]);
        self.forget(&trash, id);
        Ok(MovedFile { from: about.path, path: target.path, kind })
    }

    /// Deletes one entry permanently, or all.
    pub fn empty_trash(&self, id: Option<&str>, limit: u32) -> Result<TrashPage, RequestRefusal> {
        let root = self.root()?;
        let gone = || RequestRefusal::new(FileRefusal::NotFound, "it is not in the trash any more: look at the list");
        let Some(trash) = opened(root.as_fd())? else {
            return if id.is_some() { Err(gone()) } else { self.trash(limit) };
        };
        let ids = match id {
            Some(id) => vec![parsed(id).filter(|id| read(&trash, *id).is_some()).ok_or_else(gone)?],
            None => ids(&trash),
        };
        let left: Vec<LeftFile> = ids.into_iter().flat_map(|id| self.delete(&trash, id)).collect();
        if left.is_empty() { self.trash(limit) } else { Err(not_deleted(&left)) }
    }

    /// Permanently deletes entries that are too old, and the oldest ones above the size limits.
    pub fn tidy_trash(&self) {
        if let Ok(root) = self.root()
            && let Ok(Some(trash)) = opened(root.as_fd())
        {
            self.bound(&trash);
        }
    }

    fn bound(&self, trash: &OwnedFd) {
        let now = SystemTime::now();
        let age = |id: Ulid| now.duration_since(id.datetime()).unwrap_or_default();
        let kept_for = Duration::from_secs(u64::from(self.keeps.days) * 24 * 60 * 60);
        let (mut count, mut bytes) = (0, 0_u64);
        // Newest first.
        for id in ids(trash) {
            let Some((_, about, _)) = read(trash, id) else {
                if age(id) > MAKING {
                    self.forget(trash, id);
                }
                continue;
            };
            count += 1;
            bytes = bytes.saturating_add(about.size_bytes);
            let is_too_much = count > 1 && (count > self.keeps.entries || bytes > self.keeps.bytes);
            if (is_too_much || age(id) > kept_for) && !self.delete(trash, id).is_empty() {
                tracing::warn!(entry = %id, "an entry of the trash of the working folder cannot be deleted");
            }
        }
    }

    /// Deletes an entry as far as possible. If something of its content stays, so does its record: it is listed, and can
    /// be restored or deleted again.
    fn delete(&self, trash: &OwnedFd, id: Ulid) -> Vec<LeftFile> {
        let about = read(trash, id).map(|(entry, about, _)| (entry, about.path));
        let path = about.as_ref().map_or_else(|| id.to_string(), |(_, path)| path.clone());
        let is_kept = |stat: &Stat| self.places.is_hidden(stat);
        let mut left = match &about {
            Some((entry, _)) => beneath::delete(entry.as_fd(), CONTENT_NAME, &is_kept),
            None => Vec::new(),
        };
        if left.is_empty()
            && let Ok(name) = CString::new(id.to_string())
        {
            left = beneath::delete(trash.as_fd(), &name, &is_kept);
        }
        let path = Path::new(&path);
        let whole = |below: &Path| if below.as_os_str().is_empty() { path.to_owned() } else { path.join(below) };
        left.into_iter().map(|left| LeftFile { path: whole(&left.path), ..left }).collect()
    }

    /// Deletes an entry without content.
    fn forget(&self, trash: &OwnedFd, id: Ulid) {
        if let Some(left) = self.delete(trash, id).first() {
            tracing::warn!(path = ?left.path, "what is left of an entry of the trash cannot be deleted");
        }
    }
}

/// A file or folder of an entry that was not deleted, by its path before it was moved to the trash.
type LeftFile = beneath::NotDeleted;

/// Most paths that a refusal names.
const MAX_NAMED: usize = 3;

/// Names what stays of deleted entries, and why.
fn not_deleted(left: &[LeftFile]) -> RequestRefusal {
    let named = left.iter().take(MAX_NAMED).map(|LeftFile { path, error }| match error {
        None => format!("'{}' stays, because it is hidden from kernels", path.display()),
        Some(error) => format!("'{}' stays: the system there refuses: {error}", path.display()),
    });
    let named: Vec<String> = named.collect();
    let more = left.len().saturating_sub(MAX_NAMED);
    let more = if more > 0 { format!("; and {more} more") } else { String::new() };
    let is_kept = left.iter().all(|left| left.error.is_none());
    let code = if is_kept { FileRefusal::OutOfReach } else { FileRefusal::SystemRefused };
    RequestRefusal::new(code, format!("the rest is deleted. {}{more}", named.join("; ")))
}

const TRASH_FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

fn opened(root: BorrowedFd<'_>) -> Result<Option<OwnedFd>, RequestRefusal> {
    match openat(root, TRASH, TRASH_FOLDER, Mode::empty()) {
        Ok(trash) => Ok(Some(trash)),
        Err(Errno::NOENT) => Ok(None),
        Err(Errno::NOTDIR | Errno::LOOP | Errno::MLINK) => {
            let message =
                format!("'{TRASH}' should be the folder of the trash and is something else: rename it by code");
            Err(RequestRefusal::new(FileRefusal::SystemRefused, message))
        }
        Err(error) => Err(RequestRefusal::system(TRASH, error)),
    }
}

fn made(root: BorrowedFd<'_>) -> Result<OwnedFd, RequestRefusal> {
    if let Some(trash) = opened(root)? {
        return Ok(trash);
    }
    match mkdirat(root, TRASH, Mode::from_raw_mode(0o700)) {
        Ok(()) | Err(Errno::EXIST) => {}
        Err(error) => return Err(RequestRefusal::system(TRASH, error)),
    }
    let trash = opened(root)?.ok_or_else(|| RequestRefusal::system(TRASH, Errno::NOENT))?;
    // Keeps the trash out of commits.
    let _ = write(&trash, ".gitignore", b"*\n");
    Ok(trash)
}

fn begun(trash: &OwnedFd, id: Ulid, about: &TrashRecord) -> SystemResult<OwnedFd> {
    let name = id.to_string();
    mkdirat(trash, &name, Mode::from_raw_mode(0o700))?;
    let entry = openat(trash, &name, TRASH_FOLDER, Mode::empty())?;
    let text = serde_json::to_vec(about).map_err(|_| Errno::INVAL)?;
    let written = write(&entry, ABOUT, &text);
    if written.is_err() {
        let _ = unlinkat(&entry, ABOUT, AtFlags::empty());
        let _ = unlinkat(trash, &name, AtFlags::REMOVEDIR);
    }
    written.map(|()| entry)
}

fn write(folder: &OwnedFd, name: &str, bytes: &[u8]) -> SystemResult<()> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut file = std::fs::File::from(openat(folder, name, flags, Mode::from_raw_mode(0o600))?);
    file.write_all(bytes).map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))?;
    fsync(&file)
}

/// Ids of the entries, newest first.
fn ids(trash: &OwnedFd) -> Vec<Ulid> {
    let Ok(listed) = Dir::read_from(trash) else { return Vec::new() };
    let names = listed.filter_map(Result::ok).take(MAX_SCANNED);
    let mut ids: Vec<Ulid> = names.filter_map(|entry| parsed(entry.file_name().to_str().ok()?)).collect();
    ids.sort_unstable_by(|one, other| other.cmp(one));
    ids
}

/// Accepts only our own spelling of an id, because ids are names in the trash.
fn parsed(id: &str) -> Option<Ulid> {
    id.parse::<Ulid>().ok().filter(|parsed| parsed.to_string() == id)
}

fn entries(trash: &OwnedFd) -> Vec<TrashedFile> {
    let entry = |id: Ulid| {
        let (_, TrashRecord { path, size_bytes }, kind) = read(trash, id)?;
        Some(TrashedFile { id: id.to_string(), path, kind, size_bytes, removed_at: id.timestamp_ms() })
    };
    ids(trash).into_iter().filter_map(entry).collect()
}

/// Reads a complete entry with a valid path.
fn read(trash: &OwnedFd, id: Ulid) -> Option<(OwnedFd, TrashRecord, FileKind)> {
    let entry = openat(trash, id.to_string(), TRASH_FOLDER, Mode::empty()).ok()?;
    let stat = statat(&entry, CONTENT, AtFlags::SYMLINK_NOFOLLOW).ok()?;
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = std::fs::File::from(openat(&entry, ABOUT, flags, Mode::empty()).ok()?);
    let mut text = Vec::new();
    file.take(MAX_ABOUT_BYTES).read_to_end(&mut text).ok()?;
    let about: TrashRecord = serde_json::from_slice(&text).ok()?;
    let is_path = parts(&about.path).is_ok_and(|parts| !parts.is_empty());
    is_path.then(|| (entry, about, kind_of(&stat)))
}
