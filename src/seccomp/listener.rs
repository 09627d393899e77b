//! The supervisor's end: receives told calls and answers them.

use std::io::Result;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use crate::calls::{Architecture, ToldCall};
use crate::system;

/// A told call. Its caller waits for the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Notification {
    pub id: u64,
    /// The calling thread, as this process sees it; 0: it is not visible from here.
    pub thread: u32,
    /// `None`: a call that this version's table does not have.
    pub call: Option<ToldCall>,
    /// The values of the registers.
    pub arguments: [u64; 6],
}

/// Answer to a told call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToldAnswer {
    /// The system carries the call out.
    Continue,
    /// The call fails with this number of an error.
    Fail(i32),
    /// The call is done, with this result.
    Done(i64),
}

/// Receives the told calls of all processes under one filter.
#[derive(Debug)]
pub struct CallListener(OwnedFd);

impl AsFd for CallListener {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

impl From<OwnedFd> for CallListener {
    fn from(listener: OwnedFd) -> Self {
        // A refusal costs time alone.
        let _ = system::take_turns(listener.as_fd());
        Self(listener)
    }
}

impl CallListener {
    /// Waits for the next told call. An error with ENOENT is transient if [`AsFd::as_fd`] does not report a hang-up.
    pub fn next(&self) -> Result<Notification> {
        let told = system::next(self.as_fd())?;
        let number = u32::try_from(told.data.nr).ok();
        let call =
            Architecture::NATIVE.zip(number).and_then(|(architecture, number)| ToldCall::of(architecture, number));
        Ok(Notification { id: told.id, thread: told.pid, call, arguments: told.data.args })
    }

    /// Answers. ENOENT: the caller was killed in between, and needs no answer.
    pub fn answer(&self, id: u64, answer: ToldAnswer) -> Result<()> {
        let (val, error, flags) = match answer {
            ToldAnswer::Continue => (0, 0, libc::SECCOMP_USER_NOTIF_FLAG_CONTINUE as u32),
            ToldAnswer::Fail(error) => (0, -error, 0),
            ToldAnswer::Done(value) => (value, 0, 0),
        };
        system::answer(self.as_fd(), libc::seccomp_notif_resp { id, val, error, flags })
    }

    /// Opens a copy of `file` in the caller's process; its number there is the call's result.
    pub fn answer_with(&self, id: u64, file: BorrowedFd<'_>, closes_on_exec: bool) -> Result<()> {
        let newfd_flags = if closes_on_exec { libc::O_CLOEXEC as u32 } else { 0 };
        let added = libc::seccomp_notif_addfd {
            id,
            flags: libc::SECCOMP_ADDFD_FLAG_SEND as u32,
            srcfd: file.as_raw_fd() as u32,
            newfd: 0,
            newfd_flags,
        };
        system::add(self.as_fd(), added)
    }

    /// Returns true while the caller waits for the answer.
    pub fn waits(&self, id: u64) -> bool {
        system::is_valid(self.as_fd(), id)
    }
}
