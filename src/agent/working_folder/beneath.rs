//! Opens paths below a folder, safe against concurrent renames and links that would lead outside.

use std::ffi::OsString;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

use rustix::fs::{Mode, OFlags, openat};
use rustix::io::{Errno, Result};

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
