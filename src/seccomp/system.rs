//! The two system calls of seccomp, `seccomp(2)` and `ioctl(2)`: the only `unsafe` of the project.

#![allow(unsafe_code, reason = "no library has these calls")]

use std::io::{Error, Result};
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};

use crate::filter::Instruction;

/// Installs a filter in this thread and returns its listener. `no_new_privs` must be set.
pub fn install(program: &[Instruction]) -> Result<OwnedFd> {
    let length = u16::try_from(program.len()).map_err(|_| Error::other("the filter is too long"))?;
    let filter = libc::sock_fprog { len: length, filter: program.as_ptr().cast_mut().cast() };
    let flags = libc::SECCOMP_FILTER_FLAG_NEW_LISTENER | libc::SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV;
    // SAFETY: `filter` names `program`, which outlives the call and is only read. `Instruction` has the layout of `sock_filter`.
    let listener = unsafe {
        libc::syscall(libc::SYS_seccomp, libc::c_ulong::from(libc::SECCOMP_SET_MODE_FILTER), flags, &raw const filter)
    };
    let number = RawFd::try_from(listener).map_err(Error::other)?;
    if number < 0 {
        return Err(Error::last_os_error());
    }
    // SAFETY: the system has just made this descriptor, and nothing else owns it.
    Ok(unsafe { OwnedFd::from_raw_fd(number) })
}

/// Takes ownership of a copy of an inherited descriptor.
pub fn copy_of_inherited(number: RawFd) -> Result<OwnedFd> {
    // SAFETY: the call takes numbers alone; a number that is no descriptor is an error.
    let copy = unsafe { libc::fcntl(number, libc::F_DUPFD_CLOEXEC, 3) };
    if copy < 0 {
        return Err(Error::last_os_error());
    }
    // SAFETY: the system has just made this descriptor, and nothing else owns it.
    Ok(unsafe { OwnedFd::from_raw_fd(copy) })
}

/// Waits for the next notification. ENOENT: the caller has gone in between, or no filtered process is left.
pub fn next(listener: BorrowedFd<'_>) -> Result<libc::seccomp_notif> {
    // SAFETY: all fields are numbers, for which zeros are valid. The system requires zeros.
    let mut notification: libc::seccomp_notif = unsafe { std::mem::zeroed() };
    request(listener, libc::SECCOMP_IOCTL_NOTIF_RECV, &mut notification)?;
    Ok(notification)
}

/// Answers a notification. ENOENT: the caller has gone.
pub fn answer(listener: BorrowedFd<'_>, mut answer: libc::seccomp_notif_resp) -> Result<()> {
    request(listener, libc::SECCOMP_IOCTL_NOTIF_SEND, &mut answer).map(drop)
}

/// Puts a descriptor into the caller's process and answers with its number there.
pub fn add(listener: BorrowedFd<'_>, mut added: libc::seccomp_notif_addfd) -> Result<()> {
    request(listener, libc::SECCOMP_IOCTL_NOTIF_ADDFD, &mut added).map(drop)
}

/// Returns true while the caller waits for the answer: what was read about it was about this very caller.
pub fn is_valid(listener: BorrowedFd<'_>, mut id: u64) -> bool {
    request(listener, libc::SECCOMP_IOCTL_NOTIF_ID_VALID, &mut id).is_ok()
}

/// Has callers and the supervisor take turns on one processor: each waits while the other works, so another processor would only have
/// to wake up. An error means that the system is older than Linux 6.6.
pub fn take_turns(listener: BorrowedFd<'_>) -> Result<()> {
    /// `SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP`.
    const SYNC_WAKE_UP: libc::c_ulong = 1;
    // SAFETY: this request takes a number, no structure.
    let done = unsafe { libc::ioctl(listener.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_SET_FLAGS, SYNC_WAKE_UP) };
    if done < 0 { Err(Error::last_os_error()) } else { Ok(()) }
}

/// `ioctl` with a structure. Each caller above passes the type that the request's definition names.
fn request<T>(listener: BorrowedFd<'_>, request: libc::Ioctl, value: &mut T) -> Result<i32> {
    loop {
        // SAFETY: `value` is valid for reads and writes, and has the size that is part of `request`.
        let done = unsafe { libc::ioctl(listener.as_raw_fd(), request, std::ptr::from_mut(value)) };
        if done >= 0 {
            return Ok(done);
        }
        let error = Error::last_os_error();
        if error.raw_os_error() != Some(libc::EINTR) {
            return Err(error);
        }
    }
}
