//! An incoming file: without a name until all of it is on the disk.

use std::fs::File;
use std::os::fd::{AsRawFd, OwnedFd};

use notarium_wire::FileRefusal;
use rustix::fs::{
    AtFlags, FileType, Mode, OFlags, RawMode, fchmod, fstatvfs, fsync, linkat, openat, renameat, statat, unlinkat,
};
use rustix::io::Errno;

use super::RequestRefusal;

/// Name prefix of incomplete files, on systems without unnamed files.
const PREFIX: &str = ".notarium-upload-";
/// Permission bits that a replacement takes over from the old file.
const PERMISSIONS: RawMode = 0o777;

/// An incoming file. Dropped before it is complete, it leaves nothing.
#[derive(Debug)]
pub(crate) struct IncomingFile {
    /// Open for writing.
    pub file: File,
    folder: OwnedFd,
    name: String,
    path: String,
    overwrite: bool,
    /// Its name until it is complete, on systems that need one.
    temporary: Option<String>,
}

impl IncomingFile {
    pub fn begin(folder: OwnedFd, name: &str, path: String, overwrite: bool) -> Result<Self, RequestRefusal> {
        check_free(&folder, name, &path, overwrite)?;
        let (file, temporary) = unnamed(&folder).map_err(|error| RequestRefusal::system(&path, error))?;
        Ok(Self { file: File::from(file), folder, name: name.to_owned(), path, overwrite, temporary })
    }

    /// The path as requested.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Gives the file its name, atomically. Returns true if it has replaced another.
    pub fn commit(mut self) -> Result<bool, RequestRefusal> {
        let replaces = check_free(&self.folder, &self.name, &self.path, self.overwrite)?;
        let path = self.path.clone();
        self.put(replaces).map_err(|error| match error {
            Errno::EXIST => exists(&path),
            error => RequestRefusal::system(&path, error),
        })?;
        Ok(replaces.is_some())
    }

    fn put(&mut self, replaces: Option<Mode>) -> rustix::io::Result<()> {
        if let Some(mode) = replaces {
            // Keeps the readers of the old file.
            fchmod(&self.file, mode)?;
        }
        fsync(&self.file)?;
        match replaces {
            None => self.link(&self.name)?,
            Some(_) => {
                if self.temporary.is_none() {
                    let name = temporary_name();
                    self.link(&name)?;
                    self.temporary = Some(name);
                }
                let temporary = self.temporary.clone().unwrap_or_default();
                renameat(&self.folder, &temporary, &self.folder, &self.name)?;
                self.temporary = None;
            }
        }
        // Without this sync a power cut may lose the name. Systems that refuse it do not need it.
        let _ = fsync(&self.folder);
        Ok(())
    }

    /// Adds a name, which must be free.
    fn link(&self, name: &str) -> rustix::io::Result<()> {
        match &self.temporary {
            Some(temporary) => match linkat(&self.folder, temporary, &self.folder, name, AtFlags::empty()) {
                // A disk without hard links.
                Err(Errno::PERM | Errno::NOTSUP | Errno::NOSYS) => self.reserve(temporary, name),
                linked => linked,
            },
            None => {
                let descriptor = format!("/proc/self/fd/{}", self.file.as_raw_fd());
                linkat(rustix::fs::CWD, descriptor, &self.folder, name, AtFlags::SYMLINK_FOLLOW)
            }
        }
    }

    fn reserve(&self, temporary: &str, name: &str) -> rustix::io::Result<()> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        drop(openat(&self.folder, name, flags, Mode::from_raw_mode(0o666))?);
        renameat(&self.folder, temporary, &self.folder, name)
    }
}

impl Drop for IncomingFile {
    fn drop(&mut self) {
        if let Some(temporary) = &self.temporary {
            // The file may have its final name already.
            let _ = unlinkat(&self.folder, temporary, AtFlags::empty());
        }
    }
}

/// Refuses a file for which the disk has no room.
pub(super) fn check_room(folder: &OwnedFd, path: &str, size_bytes: Option<u64>) -> Result<(), RequestRefusal> {
    let Ok(disk) = fstatvfs(folder) else { return Ok(()) };
    let free = disk.f_bavail.saturating_mul(disk.f_frsize);
    // Some file systems report no size.
    match size_bytes {
        Some(bytes) if disk.f_blocks > 0 && bytes > free => {
            let message =
                format!("'{path}' has {bytes} bytes, and the disk there has room for {free}: make room, and try again");
            Err(RequestRefusal::new(FileRefusal::DiskFull, message))
        }
        _ => Ok(()),
    }
}

/// Refuses a name that is taken, unless a file may be replaced. Returns that file's permissions.
fn check_free(folder: &OwnedFd, name: &str, path: &str, overwrite: bool) -> Result<Option<Mode>, RequestRefusal> {
    let found = match statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(found) => found,
        Err(Errno::NOENT) => return Ok(None),
        Err(error) => return Err(RequestRefusal::system(path, error)),
    };
    let words = match FileType::from_raw_mode(found.st_mode) {
        FileType::RegularFile if overwrite => return Ok(Some(Mode::from_raw_mode(found.st_mode & PERMISSIONS))),
        FileType::RegularFile => return Err(exists(path)),
        FileType::Directory => "is a folder: add the file's name",
        FileType::Symlink => "is a link: name the file that it leads to",
        _ => "is a device or a pipe: choose another name",
    };
    Err(RequestRefusal::new(FileRefusal::WrongKind, format!("'{path}' {words}")))
}

pub(super) fn exists(path: &str) -> RequestRefusal {
    RequestRefusal::new(
        FileRefusal::FileExists,
        format!("'{path}' exists: ask for it to be replaced, or choose another name"),
    )
}

/// Creates a file without a name, which disappears with its process; otherwise one with a telling name.
fn unnamed(folder: &OwnedFd) -> rustix::io::Result<(OwnedFd, Option<String>)> {
    #[cfg(target_os = "linux")]
    {
        let flags = OFlags::WRONLY | OFlags::TMPFILE | OFlags::CLOEXEC;
        match openat(folder, ".", flags, Mode::from_raw_mode(0o666)) {
            // A disk or a system without unnamed files.
            Err(Errno::OPNOTSUPP | Errno::ISDIR | Errno::NOENT | Errno::INVAL) => {}
            opened => return opened.map(|file| (file, None)),
        }
    }
    let name = temporary_name();
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    openat(folder, &name, flags, Mode::from_raw_mode(0o666)).map(|file| (file, Some(name)))
}

fn temporary_name() -> String {
    format!("{PREFIX}{}", ulid::Ulid::generate())
}
