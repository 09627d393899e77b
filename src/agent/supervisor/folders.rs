//! Folders in which the supervisor does itself what a held thread tries, and hands in what it has opened.
//!
//! A path that the code named is looked up beneath a descriptor that was taken at the kernel's start, without links, so that nothing
//! outside is reached whatever the path is when it is read. A file is checked before anything in it changes: one with a second
//! name may lie outside too.

use std::ffi::{OsStr, OsString};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Component, Path, PathBuf};

use rustix::fs::{
    AtFlags, CWD, FileType, Mode, OFlags, RenameFlags, ResolveFlags, Timestamps, chmod, fchmod, fcntl_getfl,
    fcntl_setfl, fstat, ftruncate, linkat, mkdirat, openat2, renameat_with, unlinkat, utimensat,
};
use rustix::io::{Errno, Result};

const BENEATH: ResolveFlags = ResolveFlags::BENEATH.union(ResolveFlags::NO_SYMLINKS).union(ResolveFlags::NO_MAGICLINKS);
/// The own bit of `O_TMPFILE`.
const UNNAMED: OFlags = OFlags::from_bits_retain(0o20_000_000);
/// Set while a file is opened and checked: opening never waits, and no terminal becomes the agent's.
const WHILE_CHECKED: OFlags = OFlags::NONBLOCK.union(OFlags::CLOEXEC).union(OFlags::NOCTTY);
const PERMISSIONS: u32 = 0o777;

/// A folder of the kernel.
#[derive(Debug)]
pub struct Folder {
    /// Its path, as the kernel sees it.
    pub path: PathBuf,
    descriptor: OwnedFd,
    /// True if all names of its files are in it: a file may have several.
    is_own_file_system: bool,
    /// True if a file may get a second name in it. It is not opened while it has two.
    takes_links: bool,
}

/// A file that the code wants to open.
#[derive(Debug, Clone, Copy)]
pub struct Opening {
    pub flags: u32,
    pub mode: u32,
    pub umask: u32,
}

impl Opening {
    fn flags(self) -> OFlags {
        OFlags::from_bits_retain(self.flags)
    }

    fn mode(self) -> Mode {
        Mode::from_bits_truncate(self.mode & !self.umask & PERMISSIONS)
    }

    /// True if the file is made when it does not exist.
    pub fn creates(self) -> bool {
        self.flags().contains(OFlags::CREATE) && !self.flags().contains(OFlags::PATH)
    }

    pub fn closes_on_exec(self) -> bool {
        self.flags().contains(OFlags::CLOEXEC)
    }

    /// The flags while the file is checked: nothing is made or emptied.
    fn checked(self) -> OFlags {
        (self.flags() - (OFlags::TRUNC | OFlags::CREATE | OFlags::EXCL)) | WHILE_CHECKED
    }
}

impl Folder {
    pub fn new(path: PathBuf, descriptor: OwnedFd, is_own_file_system: bool) -> Self {
        Self { path, descriptor, is_own_file_system, takes_links: is_own_file_system }
    }

    /// A folder among others, in which files get second names: so semaphores are made.
    pub fn with_links(path: PathBuf, descriptor: OwnedFd) -> Self {
        Self { path, descriptor, is_own_file_system: false, takes_links: true }
    }

    /// The rest of a path beneath this folder. `None`: it is not beneath, as far as its text says.
    pub fn rest<'a>(&self, path: &'a Path) -> Option<&'a Path> {
        path.strip_prefix(&self.path).ok()
    }

    /// Opens a file, or makes it.
    pub fn open(&self, rest: &Path, opening: Opening) -> Result<OwnedFd> {
        let flags = opening.flags();
        if flags.contains(UNNAMED) {
            // Libraries then make a file with a name.
            return Err(Errno::OPNOTSUPP);
        }
        let is_exclusive = opening.creates() && flags.contains(OFlags::EXCL);
        for _ in 0..3 {
            if !is_exclusive {
                match self.open_existing(rest, opening) {
                    Err(Errno::NOENT) if opening.creates() => {}
                    done => return done,
                }
            }
            match self.open_new(rest, opening) {
                // Somebody else has made it since.
                Err(Errno::EXIST) if !is_exclusive => {}
                done => return done,
            }
        }
        Err(Errno::ACCESS)
    }

    fn open_existing(&self, rest: &Path, opening: Opening) -> Result<OwnedFd> {
        let file = openat2(&self.descriptor, or_here(rest), opening.checked(), Mode::empty(), BENEATH)?;
        self.check(&file)?;
        if opening.flags().contains(OFlags::TRUNC) {
            ftruncate(&file, 0)?;
        }
        handed_in(file, opening)
    }

    /// Makes a file that does not exist yet.
    pub fn open_new(&self, rest: &Path, opening: Opening) -> Result<OwnedFd> {
        let flags = opening.checked() | OFlags::CREATE | OFlags::EXCL;
        let file = openat2(&self.descriptor, or_here(rest), flags, opening.mode(), BENEATH)?;
        // The agent's own umask has taken rights away that the kernel's does not.
        fchmod(&file, opening.mode())?;
        handed_in(file, opening)
    }

    /// Refuses what lies outside as well, and what waits for other processes.
    fn check(&self, file: &OwnedFd) -> Result<()> {
        let found = fstat(file)?;
        let is_single = self.is_own_file_system || found.st_nlink <= 1;
        match FileType::from_raw_mode(found.st_mode) {
            FileType::Directory => Ok(()),
            FileType::RegularFile if is_single => Ok(()),
            _ => Err(Errno::ACCESS),
        }
    }

    /// Opens a device of this folder, which has devices alone.
    pub fn open_device(&self, name: &str, flags: OFlags) -> Result<OwnedFd> {
        openat2(&self.descriptor, name, flags, Mode::empty(), BENEATH)
    }

    pub fn make_folder(&self, rest: &Path, mode: u32, umask: u32) -> Result<()> {
        let Some((parent, name)) = self.parent_of(rest)? else { return Err(Errno::EXIST) };
        mkdirat(parent, name, Mode::from_bits_truncate(mode & !umask & PERMISSIONS))
    }

    pub fn remove(&self, rest: &Path, is_folder: bool) -> Result<()> {
        let (parent, name) = self.parent_of(rest)?.ok_or(Errno::BUSY)?;
        unlinkat(parent, name, if is_folder { AtFlags::REMOVEDIR } else { AtFlags::empty() })
    }

    /// Renames within this folder.
    pub fn rename(&self, from: &Path, to: &Path, flags: u32) -> Result<()> {
        let (from_parent, from_name) = self.parent_of(from)?.ok_or(Errno::BUSY)?;
        let (to_parent, to_name) = self.parent_of(to)?.ok_or(Errno::BUSY)?;
        renameat_with(from_parent, from_name, to_parent, to_name, RenameFlags::from_bits_retain(flags))
    }

    /// Gives a file a second name, if it has none outside.
    pub fn link(&self, from: &Path, to: &Path) -> Result<()> {
        if !self.takes_links {
            return Err(Errno::ACCESS);
        }
        self.single(from)?;
        let (from_parent, from_name) = self.parent_of(from)?.ok_or(Errno::PERM)?;
        let (to_parent, to_name) = self.parent_of(to)?.ok_or(Errno::EXIST)?;
        linkat(from_parent, from_name, to_parent, to_name, AtFlags::empty())
    }

    pub fn change_mode(&self, rest: &Path, mode: u32) -> Result<()> {
        let file = self.path_only(rest)?;
        chmod(behind(&file), Mode::from_bits_truncate(mode & PERMISSIONS))
    }

    pub fn set_times(&self, rest: &Path, times: &Timestamps) -> Result<()> {
        let file = self.path_only(rest)?;
        utimensat(CWD, behind(&file), times, AtFlags::empty())
    }

    pub fn truncate(&self, rest: &Path, length: u64) -> Result<()> {
        let opening = Opening { flags: OFlags::WRONLY.bits(), mode: 0, umask: 0 };
        ftruncate(self.open_existing(rest, opening)?, length)
    }

    /// True if something has this path. Links on the way count as nothing.
    pub fn has(&self, rest: &Path) -> bool {
        openat2(&self.descriptor, or_here(rest), OFlags::PATH | OFlags::CLOEXEC, Mode::empty(), BENEATH).is_ok()
    }

    /// Path of something with one name, whatever takes that name later. It is valid while the descriptor is open.
    pub fn single(&self, rest: &Path) -> Result<(OwnedFd, String)> {
        let file = openat2(&self.descriptor, or_here(rest), OFlags::PATH | OFlags::CLOEXEC, Mode::empty(), BENEATH)?;
        if !self.is_own_file_system && fstat(&file)?.st_nlink > 1 {
            return Err(Errno::ACCESS);
        }
        let path = behind(&file);
        Ok((file, path))
    }

    /// True if a path without links leads to a folder for its last name.
    pub fn has_parent(&self, rest: &Path) -> bool {
        is_straight(rest) && matches!(self.parent_of(rest), Ok(Some(_)))
    }

    fn path_only(&self, rest: &Path) -> Result<OwnedFd> {
        let file = openat2(&self.descriptor, or_here(rest), OFlags::PATH | OFlags::CLOEXEC, Mode::empty(), BENEATH)?;
        self.check(&file).map(|()| file)
    }

    /// The folder that holds the last name of a path, and that name. `None`: the path is this folder itself.
    fn parent_of(&self, rest: &Path) -> Result<Option<(OwnedFd, OsString)>> {
        let bytes = rest.as_os_str().as_bytes();
        let end = bytes.iter().rposition(|byte| *byte != b'/').map_or(0, |last| last + 1);
        let (parent, name) = match bytes[..end].iter().rposition(|byte| *byte == b'/') {
            Some(slash) => (&bytes[..slash], &bytes[slash + 1..end]),
            None => (&bytes[..0], &bytes[..end]),
        };
        match name {
            b"" if parent.is_empty() => return Ok(None),
            b"" | b"." | b".." => return Err(Errno::INVAL),
            _ => {}
        }
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let parent = or_here(Path::new(OsStr::from_bytes(parent)));
        let parent = openat2(&self.descriptor, parent, flags, Mode::empty(), BENEATH)?;
        Ok(Some((parent, OsString::from_vec(name.to_vec()))))
    }
}

/// The file as the code wants it, with its own flag for waiting.
fn handed_in(file: OwnedFd, opening: Opening) -> Result<OwnedFd> {
    if !opening.flags().contains(OFlags::NONBLOCK) {
        fcntl_setfl(&file, fcntl_getfl(&file)? - OFlags::NONBLOCK)?;
    }
    Ok(file)
}

fn or_here(rest: &Path) -> &Path {
    if rest.as_os_str().is_empty() { Path::new(".") } else { rest }
}

fn behind(file: impl AsFd) -> String {
    format!("/proc/self/fd/{}", file.as_fd().as_raw_fd())
}

/// True if a path has no component that leads back.
pub fn is_straight(path: &Path) -> bool {
    path.components().all(|component| !matches!(component, Component::ParentDir))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(parent: &Path) -> Folder {
        let path = parent.join("tmp");
        std::fs::create_dir_all(&path).unwrap();
        let descriptor = std::fs::File::open(&path).unwrap().into();
        Folder::new(path, descriptor, false)
    }

    fn writing() -> Opening {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC;
        Opening { flags: flags.bits(), mode: 0o666, umask: 0o022 }
    }

    #[test]
    fn files_are_made_renamed_and_removed_beneath() {
        let parent = tempfile::tempdir().unwrap();
        let folder = folder(parent.path());
        folder.make_folder(Path::new("a//"), 0o777, 0o077).unwrap();
        drop(folder.open(Path::new("a/x"), Opening { umask: 0o077, ..writing() }).unwrap());
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(folder.path.join("a/x").metadata().unwrap().permissions().mode() & 0o777, 0o600);
        folder.rename(Path::new("a/x"), Path::new("y"), 0).unwrap();
        folder.change_mode(Path::new("y"), 0o4644).unwrap();
        assert_eq!(folder.path.join("y").metadata().unwrap().permissions().mode() & 0o7777, 0o644);
        folder.truncate(Path::new("y"), 7).unwrap();
        assert_eq!(folder.path.join("y").metadata().unwrap().len(), 7);
        assert_eq!(folder.make_folder(Path::new(""), 0o777, 0), Err(Errno::EXIST));
        folder.remove(Path::new("y"), false).unwrap();
        folder.remove(Path::new("a"), true).unwrap();
        assert!(!folder.has(Path::new("a")) && folder.has(Path::new("")));
    }

    #[test]
    fn nothing_outside_changes() {
        let parent = tempfile::tempdir().unwrap();
        let folder = folder(parent.path());
        let outside = parent.path().join("outside");
        std::fs::write(&outside, "kept").unwrap();
        std::fs::hard_link(&outside, folder.path.join("hard")).unwrap();
        std::os::unix::fs::symlink(&outside, folder.path.join("soft")).unwrap();
        std::os::unix::fs::symlink(parent.path(), folder.path.join("up")).unwrap();
        for rest in ["hard", "soft", "up/outside", "../outside", "a/../../outside"] {
            assert!(folder.open(Path::new(rest), writing()).is_err(), "{rest}");
            assert!(folder.truncate(Path::new(rest), 0).is_err(), "{rest}");
            assert!(folder.change_mode(Path::new(rest), 0).is_err(), "{rest}");
        }
        assert!(folder.rename(Path::new("hard"), Path::new("../outside"), 0).is_err());
        assert!(folder.remove(Path::new("../outside"), false).is_err());
        assert!(folder.open(Path::new("../new"), writing()).is_err() && !parent.path().join("new").exists());
        assert!(folder.link(Path::new("hard"), Path::new("other")).is_err(), "a second name");
        assert_eq!(std::fs::read_to_string(&outside).unwrap(), "kept");
    }

    #[test]
    fn a_new_file_replaces_nothing() {
        let parent = tempfile::tempdir().unwrap();
        let folder = folder(parent.path());
        std::fs::write(folder.path.join("old"), "kept").unwrap();
        assert_eq!(folder.open_new(Path::new("old"), writing()).unwrap_err(), Errno::EXIST);
        folder.open_new(Path::new("new"), writing()).unwrap();
        assert_eq!(std::fs::read_to_string(folder.path.join("old")).unwrap(), "kept");
    }

    #[test]
    fn a_pipe_in_the_folder_does_not_stop_the_supervisor() {
        let parent = tempfile::tempdir().unwrap();
        let folder = folder(parent.path());
        let made = std::process::Command::new("mkfifo").arg(folder.path.join("pipe")).status().unwrap();
        assert!(made.success());
        let opening = Opening { flags: OFlags::RDWR.bits(), ..writing() };
        assert!(folder.open(Path::new("pipe"), opening).is_err());
        assert!(folder.open(Path::new("pipe"), writing()).is_err());
    }
}
