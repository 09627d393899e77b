//! The folder in which kernels start, for people: lists it, and reads, writes, moves and deletes its files.
//!
//! The agent reads and writes here outside the sandbox of kernels, whose code fills the folder. So it reaches only paths that
//! code in a kernel could reach itself.
//!
//! **Invariants.** Every opened file is below the folder, despite concurrent links and renames: the system resolves paths
//! from the folder's descriptor, and rights are checked on the resulting descriptor. An incoming file gets its name
//! when all of it is on the disk, or never. Moving, deleting and restoring never replace a file.

mod beneath;
mod changes;
#[cfg(test)]
mod tests;
pub(crate) mod transfers;

use std::collections::HashSet;
use std::ffi::{CStr, OsStr, OsString};
use std::fs::File;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use notarium_wire::{FileAnswer, FileEntry, FileKind, FileRefusal, FolderPage, MAX_FILE_PATH_BYTES, MAX_LISTED_FILES};
use rustix::fs::{Dir, FileType, Mode, OFlags, Stat, fstat, mkdirat};
use rustix::io::Errno;
use transfers::IncomingFile;

use crate::kernel::LaunchOptions;

/// Most names of one folder that are read.
const MAX_SCANNED: usize = 100_000;
/// Longest name of a file on common systems.
const MAX_NAME_BYTES: usize = 255;
/// Flags to look at a file without opening it for reading, which could block or have effects.
#[cfg(target_os = "linux")]
const LOOK: OFlags = OFlags::PATH;
#[cfg(not(target_os = "linux"))]
const LOOK: OFlags = OFlags::RDONLY.union(OFlags::NONBLOCK);

/// Refusal of a request, with a sentence that says what to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RequestRefusal {
    pub code: FileRefusal,
    pub message: String,
}

impl RequestRefusal {
    pub fn new(code: FileRefusal, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }

    /// Turns a system error about a file into a refusal.
    pub fn system(path: &str, error: Errno) -> Self {
        use FileRefusal as R;
        let (code, words) = match error {
            Errno::NOENT => (R::NotFound, "there is no such file or folder: look at the list".to_owned()),
            Errno::NOTDIR => (R::WrongKind, "this is no folder, or leads through a file".to_owned()),
            Errno::ISDIR => (R::WrongKind, "this is a folder: name a file in it".to_owned()),
            Errno::XDEV => {
                (R::OutOfReach, "this leads out of the kernels' working folder: name a file in it".to_owned())
            }
            Errno::LOOP => (R::OutOfReach, "this is a link that cannot be followed: name the file itself".to_owned()),
            Errno::NAMETOOLONG => (R::InvalidPath, "this name is too long: choose a shorter one".to_owned()),
            Errno::NOSPC | Errno::DQUOT => (R::DiskFull, "the disk there is full: make room, and try again".to_owned()),
            Errno::FBIG => (R::TooLarge, "the disk there takes no file as large as this".to_owned()),
            error => (R::SystemRefused, format!("the system there refuses: {error}")),
        };
        Self::new(code, format!("'{path}': {words}"))
    }
}

impl From<RequestRefusal> for FileAnswer {
    fn from(RequestRefusal { code, message }: RequestRefusal) -> Self {
        code.because(message)
    }
}

/// The folder, and the paths that kernels cannot reach.
#[derive(Debug)]
pub(crate) struct WorkingFolder {
    path: PathBuf,
    places: ReachablePaths,
    keeps: changes::TrashLimits,
}

/// An open file or folder below the working folder.
struct OpenedEntry {
    descriptor: OwnedFd,
    real: PathBuf,
    stat: Stat,
}

impl WorkingFolder {
    pub fn new(path: &Path, places: ReachablePaths) -> Self {
        let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let places = places.hiding(path.join(changes::TRASH));
        Self { path, places, keeps: changes::TrashLimits::default() }
    }

    /// Lists a page of a folder, sorted by name.
    pub fn list(&self, path: &str, after: Option<&str>, limit: u32, all: bool) -> Result<FolderPage, RequestRefusal> {
        let parts = parts(path)?;
        let path = parts.join("/");
        let root = self.root()?;
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NONBLOCK;
        let folder = self.find(root.as_fd(), &path, flags)?;
        let (mut names, is_cut) = self.names(&folder, all).map_err(|error| RequestRefusal::system(&path, error))?;
        names.sort_unstable();
        names.retain(|name| after.is_none_or(|after| name.as_slice() > after.as_bytes()));
        let limit = limit.clamp(1, MAX_LISTED_FILES) as usize;
        let has_more = names.len() > limit;
        names.truncate(limit);
        let entry = |name: &Vec<u8>| self.entry(root.as_fd(), &path, name);
        let files: Vec<FileEntry> = names.iter().map(entry).collect();
        let next = names.last().filter(|_| has_more).map(|name| String::from_utf8_lossy(name).into_owned());
        Ok(FolderPage { path, files, next, is_cut })
    }

    /// Describes a file or folder.
    pub fn look(&self, path: &str) -> Result<FileEntry, RequestRefusal> {
        let parts = parts(path)?;
        let path = parts.join("/");
        let found = self.find(self.root()?.as_fd(), &path, LOOK)?;
        Ok(described(parts.last().copied().unwrap_or_default(), &found.stat))
    }

    /// Opens a file for reading, and describes it.
    pub fn open(&self, path: &str) -> Result<(File, FileEntry), RequestRefusal> {
        let parts = parts(path)?;
        let path = parts.join("/");
        // Opening a pipe must not block; it is refused afterwards.
        let found = self.find(self.root()?.as_fd(), &path, OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY)?;
        check_regular(&path, &found.stat)?;
        let entry = described(parts.last().copied().unwrap_or_default(), &found.stat);
        Ok((File::from(found.descriptor), entry))
    }

    /// Begins an incoming file: makes its folders. The file is invisible until [`IncomingFile::commit`].
    pub fn create(&self, path: &str, overwrite: bool, size_bytes: Option<u64>) -> Result<IncomingFile, RequestRefusal> {
        let parts = parts(path)?;
        let Some((name, folders)) = parts.split_last() else {
            return Err(RequestRefusal::new(FileRefusal::InvalidPath, "the path names no file: give it a name"));
        };
        if path.ends_with('/') {
            return Err(RequestRefusal::new(
                FileRefusal::InvalidPath,
                format!("'{path}' names a folder: add the file's name"),
            ));
        }
        for part in &parts {
            check_new_name(part)?;
        }
        let path = parts.join("/");
        let root = self.root()?;
        // Checked before a folder is made, as deep as folders exist.
        let folder = self.make_folders(root.as_fd(), folders)?;
        self.places.check_writable(&folder.real.join(name), &path)?;
        transfers::check_room(&folder.descriptor, &path, size_bytes)?;
        IncomingFile::begin(folder.descriptor, name, path, overwrite)
    }

    /// Opens the folder by its path; refuses `/` and a missing folder.
    fn root(&self) -> Result<OwnedFd, RequestRefusal> {
        if self.path.parent().is_none() {
            let message =
                "the kernels' working folder is / itself: start the runtime agent in a folder of the notebooks' own";
            return Err(RequestRefusal::new(FileRefusal::OutOfReach, message));
        }
        let gone = |_| {
            RequestRefusal::new(
                FileRefusal::NotFound,
                "the kernels' working folder is gone: restart the runtime agent in another",
            )
        };
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let root = rustix::fs::open(&self.path, flags, Mode::empty()).map_err(gone)?;
        if beneath::real_path(root.as_fd()).map_err(gone)? == self.path { Ok(root) } else { Err(gone(Errno::NOENT)) }
    }

    fn find(&self, root: BorrowedFd<'_>, path: &str, flags: OFlags) -> Result<OpenedEntry, RequestRefusal> {
        let system = |error| RequestRefusal::system(path, error);
        let descriptor = beneath::open(root, path, flags).map_err(system)?;
        let real = beneath::real_path(descriptor.as_fd()).map_err(system)?;
        self.places.check_readable(&self.path, &real, path)?;
        let stat = fstat(&descriptor).map_err(system)?;
        Ok(OpenedEntry { descriptor, real, stat })
    }

    /// Names in a folder without hidden paths; true if there are more than the limit.
    fn names(&self, folder: &OpenedEntry, all: bool) -> Result<(Vec<Vec<u8>>, bool), Errno> {
        let hidden = self.places.hidden_in(&folder.real);
        let is_shown = |name: &CStr| {
            let bytes = name.to_bytes();
            !beneath::is_dots(name) && (all || !bytes.starts_with(b".")) && !hidden.contains(OsStr::from_bytes(bytes))
        };
        let mut names = Vec::new();
        for (count, entry) in Dir::read_from(&folder.descriptor)?.enumerate() {
            if count >= MAX_SCANNED {
                return Ok((names, true));
            }
            let entry = entry?;
            if is_shown(entry.file_name()) {
                names.push(entry.file_name().to_bytes().to_vec());
            }
        }
        Ok((names, false))
    }

    /// Describes an entry. If it leads out or has vanished, only its name is known.
    fn entry(&self, root: BorrowedFd<'_>, folder: &str, name: &[u8]) -> FileEntry {
        let other = |name: &str| FileEntry {
            name: name.to_owned(),
            kind: FileKind::Other,
            size_bytes: None,
            modified_at: None,
        };
        let Ok(name) = std::str::from_utf8(name) else { return other(&String::from_utf8_lossy(name)) };
        let path = if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") };
        self.find(root, &path, LOOK).map_or_else(|_| other(name), |found| described(name, &found.stat))
    }

    /// Opens each of these folders in turn, and makes missing ones.
    fn make_folders(&self, root: BorrowedFd<'_>, parts: &[&str]) -> Result<OpenedEntry, RequestRefusal> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NONBLOCK;
        let mut folder = self.find(root, "", flags)?;
        for depth in 1..=parts.len() {
            let (path, name) = (parts[..depth].join("/"), parts[depth - 1]);
            folder = match self.find(root, &path, flags) {
                Err(refused) if refused.code == FileRefusal::NotFound => {
                    self.places.check_writable(&folder.real.join(name), &path)?;
                    match mkdirat(&folder.descriptor, name, Mode::from_raw_mode(0o777)) {
                        Ok(()) | Err(Errno::EXIST) => self.find(root, &path, flags)?,
                        Err(error) => return Err(RequestRefusal::system(&path, error)),
                    }
                }
                found => found?,
            };
        }
        Ok(folder)
    }
}

/// Splits a path into names, relative to the working folder.
fn parts(path: &str) -> Result<Vec<&str>, RequestRefusal> {
    let invalid = |words: &str| Err(RequestRefusal::new(FileRefusal::InvalidPath, words));
    if path.len() > MAX_FILE_PATH_BYTES {
        return invalid("the path is too long: name something nearer");
    }
    if path.starts_with('/') || path.contains('\0') {
        return invalid("paths are relative to the kernels' working folder: leave out the / at the beginning");
    }
    let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
    if parts.contains(&"..") {
        return invalid("a path goes down from the kernels' working folder: it has no '..' in it");
    }
    Ok(parts)
}

/// Checks a new name: it can be shown, typed and copied everywhere. Existing names are not checked.
fn check_new_name(name: &str) -> Result<(), RequestRefusal> {
    let words = match name {
        _ if name.len() > MAX_NAME_BYTES => format!("a name has at most {MAX_NAME_BYTES} bytes: choose a shorter one"),
        _ if name.chars().any(char::is_control) => {
            "a name has no line breaks or other controls: choose another".to_owned()
        }
        _ if name.chars().any(turns_text) => {
            "a name has no signs that turn the direction of text: choose another".to_owned()
        }
        _ => return Ok(()),
    };
    Err(RequestRefusal::new(FileRefusal::InvalidPath, words))
}

/// Control characters of Unicode that make a name look like another. Right-to-left scripts need none of them.
fn turns_text(char: char) -> bool {
    matches!(char, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

fn check_regular(path: &str, stat: &Stat) -> Result<(), RequestRefusal> {
    let words = match kind_of(stat) {
        FileKind::File => return Ok(()),
        FileKind::Folder => "this is a folder: name a file in it",
        FileKind::Other => "this is no file but a device or a pipe",
    };
    Err(RequestRefusal::new(FileRefusal::WrongKind, format!("'{path}': {words}")))
}

fn kind_of(stat: &Stat) -> FileKind {
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => FileKind::File,
        FileType::Directory => FileKind::Folder,
        _ => FileKind::Other,
    }
}

fn described(name: &str, stat: &Stat) -> FileEntry {
    let kind = kind_of(stat);
    let seconds = u64::try_from(stat.st_mtime).ok();
    #[allow(clippy::unnecessary_cast, reason = "other systems have other types for it")]
    let modified_at = seconds.map(|seconds| seconds * 1_000 + stat.st_mtime_nsec as u64 / 1_000_000);
    let size_bytes = (kind == FileKind::File).then(|| u64::try_from(stat.st_size).unwrap_or_default());
    FileEntry { name: name.to_owned(), kind, size_bytes, modified_at: modified_at.filter(|_| kind != FileKind::Other) }
}

/// Reach of kernels. For each path, its nearest ancestor in these lists decides.
#[derive(Debug, Default)]
pub(crate) struct ReachablePaths {
    hidden: Vec<PathBuf>,
    read_only: Vec<PathBuf>,
    shown: Vec<PathBuf>,
    /// Device and inode of hidden paths: code in a kernel may rename a folder that contains one.
    identities: HashSet<(u64, u64)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Reach {
    Shown,
    ReadOnly,
    Hidden,
}

impl ReachablePaths {
    pub fn new(hidden: &[PathBuf], read_only: &[PathBuf], shown: &[PathBuf]) -> Self {
        let identities = hidden.iter().filter_map(identity).collect();
        Self { hidden: hidden.to_vec(), read_only: read_only.to_vec(), shown: shown.to_vec(), identities }
    }

    /// Also hides the agent's own folder from people.
    pub fn hiding(mut self, place: PathBuf) -> Self {
        self.hidden.push(place);
        self
    }

    /// The paths of kernels that are launched with these options.
    pub fn of(launch: &LaunchOptions) -> Self {
        let shown = launch.sandbox.as_ref().map(|sandbox| sandbox.plan().shown.as_slice());
        Self::new(&launch.hidden, &launch.read_only, shown.unwrap_or_default())
    }

    /// Refuses hidden paths. `real` is the resolved path, `path` the requested one.
    pub fn check_readable(&self, root: &Path, real: &Path, path: &str) -> Result<(), RequestRefusal> {
        let below = real.ancestors().take_while(|above| above.starts_with(root));
        let is_moved = || below.filter_map(identity).any(|it| self.identities.contains(&it));
        if self.reach(real) != Reach::Hidden && real.starts_with(root) && (self.identities.is_empty() || !is_moved()) {
            return Ok(());
        }
        Err(refused(path, "it is hidden from kernels, because such places hold keys or what can confirm"))
    }

    /// Refuses paths that a kernel could not write either, because programs outside run them later.
    pub fn check_writable(&self, real: &Path, path: &str) -> Result<(), RequestRefusal> {
        match self.reach(real) {
            Reach::Shown => Ok(()),
            Reach::ReadOnly => {
                Err(refused(path, "kernels only read there, because programs outside run what lies there"))
            }
            Reach::Hidden => Err(refused(path, "it is hidden from kernels")),
        }
    }

    /// Refuses paths that kernels cannot write, and folders that contain one.
    pub fn check_movable(&self, real: &Path, path: &str) -> Result<(), RequestRefusal> {
        self.check_writable(real, path)?;
        let mut places = self.hidden.iter().chain(&self.read_only);
        if places.any(|place| place.starts_with(real)) {
            return Err(refused(path, "something lies in it that kernels do not write"));
        }
        Ok(())
    }

    /// True for a hidden file, even if it was moved.
    pub fn is_hidden(&self, stat: &Stat) -> bool {
        #[allow(clippy::unnecessary_cast, reason = "other systems have other types for it")]
        self.identities.contains(&(stat.st_dev as u64, stat.st_ino as u64))
    }

    /// Names in a folder that are hidden.
    pub fn hidden_in(&self, folder: &Path) -> HashSet<OsString> {
        let inside = self.hidden.iter().filter(|place| place.parent() == Some(folder));
        inside.filter_map(|place| place.file_name()).map(OsString::from).collect()
    }

    fn reach(&self, real: &Path) -> Reach {
        let places = [(&self.hidden, Reach::Hidden), (&self.read_only, Reach::ReadOnly), (&self.shown, Reach::Shown)];
        let above = places.iter().flat_map(|(paths, reach)| paths.iter().map(move |path| (path, *reach)));
        let above = above.filter(|(path, _)| real.starts_with(path));
        above.map(|(path, reach)| (path.components().count(), reach)).max().map_or(Reach::Shown, |(_, reach)| reach)
    }
}

fn refused(path: &str, why: &str) -> RequestRefusal {
    RequestRefusal::new(FileRefusal::OutOfReach, format!("'{path}' is out of reach: {why}. Name something else"))
}

fn identity(path: impl AsRef<Path>) -> Option<(u64, u64)> {
    std::fs::symlink_metadata(path).ok().map(|found| (found.dev(), found.ino()))
}
