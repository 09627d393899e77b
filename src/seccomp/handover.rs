//! Installs the filter and hands its listener over a Unix socket to the supervisor.
//!
//! A process under the filter cannot send descriptors: `sendmsg` is told, and the supervisor has no listener yet. A thread that
//! was started before the filter has none and sends it. Both are gone when [`hand_over`] returns.

use std::fs::File;
use std::io::{Error, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd, RawFd};
use std::sync::mpsc;

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags,
    recvmsg, sendmsg,
};

use crate::calls::{Architecture, FilterOptions};
use crate::filter::program;
use crate::listener::CallListener;
use crate::system;

/// Most folders that go with a listener.
const MAX_FOLDERS: usize = 8;
/// Error with which the supervisor answers the first told call. No system gives it for that call.
pub const READY_ERROR: i32 = libc::EXDEV;

/// The reasons why a filter does not stand.
#[derive(Debug)]
pub enum HandoverError {
    /// The system refuses the filter: older than Linux 5.19, a container's profile, or another listener above.
    Refused(Error),
    /// The supervisor did not take the listener, or does not answer.
    Unanswered(Error),
}

impl std::fmt::Display for HandoverError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Refused(error) => write!(formatter, "the system refuses a filter with a listener ({error})"),
            Self::Unanswered(error) => write!(formatter, "the agent does not supervise the kernel ({error})"),
        }
    }
}

impl std::error::Error for HandoverError {}

/// Listener and folders that a supervisor receives.
#[derive(Debug)]
pub struct HandedOver {
    pub listener: CallListener,
    /// The folders that the filtered process sent, in its order.
    pub folders: Vec<OwnedFd>,
}

/// Takes an inherited descriptor out of the numbers that a child would inherit.
pub fn inherited(number: RawFd) -> Result<OwnedFd, Error> {
    system::copy_of_inherited(number)
}

/// Filters this thread and its children permanently, hands the listener and `folders` to the supervisor, and waits until
/// the supervisor has answered a first told call. ToldCall it while the process has one thread.
pub fn hand_over(socket: OwnedFd, folders: Vec<File>, options: FilterOptions) -> Result<(), HandoverError> {
    let architecture =
        Architecture::NATIVE.ok_or_else(|| HandoverError::Refused(Error::from_raw_os_error(libc::ENOSYS)));
    let program = program(architecture?, options);
    let (sender, receiver) = mpsc::channel::<OwnedFd>();
    let helper = std::thread::spawn(move || match receiver.recv() {
        Ok(listener) => send(socket.as_fd(), listener.as_fd(), &folders),
        // The filter was refused.
        Err(_) => Ok(()),
    });
    rustix::thread::set_no_new_privs(true).map_err(|error| HandoverError::Refused(error.into()))?;
    let installed = system::install(&program).map_err(HandoverError::Refused);
    let installed = installed.map(|listener| sender.send(listener).is_ok());
    drop(sender);
    let sent = helper.join().unwrap_or_else(|_| Err(Error::other("the helper failed")));
    installed?;
    sent.map_err(HandoverError::Unanswered)?;
    greet().map_err(HandoverError::Unanswered)
}

/// Makes the first told call. Only the supervisor gives [`READY_ERROR`].
fn greet() -> Result<(), Error> {
    match rustix::fs::unlink(c"") {
        Err(error) if error.raw_os_error() == READY_ERROR => Ok(()),
        Err(error) => Err(error.into()),
        Ok(()) => Err(Error::other("it answered wrongly")),
    }
}

fn send(socket: BorrowedFd<'_>, listener: BorrowedFd<'_>, folders: &[File]) -> Result<(), Error> {
    let mut sent = vec![listener];
    sent.extend(folders.iter().take(MAX_FOLDERS).map(AsFd::as_fd));
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1 + MAX_FOLDERS))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    if !ancillary.push(SendAncillaryMessage::ScmRights(&sent)) {
        return Err(Error::other("too many descriptors"));
    }
    sendmsg(socket, &[IoSlice::new(b"L")], &mut ancillary, SendFlags::NOSIGNAL)?;
    Ok(())
}

/// Waits for the listener. An error of the kind `UnexpectedEof`: the process ended without a filter.
pub fn receive(socket: BorrowedFd<'_>) -> Result<HandedOver, Error> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1 + MAX_FOLDERS))];
    let mut ancillary = RecvAncillaryBuffer::new(&mut space);
    let mut byte = [0];
    let message = recvmsg(socket, &mut [IoSliceMut::new(&mut byte)], &mut ancillary, RecvFlags::CMSG_CLOEXEC)?;
    let mut received = ancillary.drain().flat_map(|message| match message {
        RecvAncillaryMessage::ScmRights(descriptors) => descriptors.collect(),
        _ => Vec::new(),
    });
    match received.next() {
        Some(listener) if message.bytes == 1 => {
            Ok(HandedOver { listener: listener.into(), folders: received.collect() })
        }
        _ => Err(std::io::ErrorKind::UnexpectedEof.into()),
    }
}
