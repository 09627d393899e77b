//! Unix sockets of held threads, used by the supervisor for them: on its own copy of the descriptor, with its own copy of what the
//! thread named. So a descriptor or an address that changes meanwhile reaches nothing else.
//!
//! Python's processes of one kernel talk over sockets below the temporary folder, and send descriptors to each other.

use std::io::IoSlice;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use notarium_seccomp::ToldAnswer;
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::io::{Errno, Result};
use rustix::net::sockopt::{socket_domain, socket_type};
use rustix::net::{
    AddressFamily, SendAncillaryBuffer, SendAncillaryMessage, SendFlags, SocketAddrUnix, SocketType, bind, connect,
    sendmsg,
};
use rustix::process::{Pid, PidfdFlags, PidfdGetfdFlags, pidfd_getfd, pidfd_open};

use super::processes::{read_bytes, status};

/// Most bytes and descriptors of one message.
const MAX_MESSAGE_BYTES: usize = 64 << 10;
const MAX_PARTS: usize = 64;
const MAX_DESCRIPTORS: usize = 64;
const MAX_CONTROL_BYTES: usize = 4 << 10;
/// Sizes of `struct msghdr`, `struct iovec` and `struct cmsghdr`.
const HEADER_BYTES: usize = 56;
const PART_BYTES: usize = 16;
const CONTROL_HEADER_BYTES: usize = 16;
/// `SOL_SOCKET`, `SCM_RIGHTS`.
const DESCRIPTORS: [i32; 2] = [1, 1];

/// A process whose descriptors are copied.
struct CopiedProcess(OwnedFd);

impl CopiedProcess {
    fn of(thread: u32) -> Result<Self> {
        let process = status(thread).ok_or(Errno::SRCH)?.process;
        let pid = i32::try_from(process).ok().and_then(Pid::from_raw).ok_or(Errno::SRCH)?;
        pidfd_open(pid, PidfdFlags::empty()).map(Self)
    }

    fn descriptor(&self, number: i32) -> Result<OwnedFd> {
        pidfd_getfd(&self.0, number, PidfdGetfdFlags::empty())
    }

    fn unix_socket(&self, number: i32) -> Result<OwnedFd> {
        let socket = self.descriptor(number)?;
        if socket_domain(&socket)? == AddressFamily::UNIX { Ok(socket) } else { Err(Errno::ACCESS) }
    }
}

/// Connects a socket of a thread to this path.
pub fn connect_to(thread: u32, socket: i32, path: &Path) -> Result<()> {
    let socket = CopiedProcess::of(thread)?.unix_socket(socket)?;
    let flags = fcntl_getfl(&socket)?;
    // The supervisor never waits for the other end.
    fcntl_setfl(&socket, flags | OFlags::NONBLOCK)?;
    let connected = SocketAddrUnix::new(path).and_then(|address| connect(&socket, &address));
    fcntl_setfl(&socket, flags)?;
    connected
}

/// Binds a socket of a thread to this path.
pub fn bind_to(thread: u32, socket: i32, path: &Path) -> Result<()> {
    let socket = CopiedProcess::of(thread)?.unix_socket(socket)?;
    bind(&socket, &SocketAddrUnix::new(path)?)
}

/// Sends a message on a connected Unix socket of a thread, with its descriptors. `None`: it is another kind of socket or message.
pub fn send_message(thread: u32, socket: i32, message: u64) -> Option<ToldAnswer> {
    let process = CopiedProcess::of(thread).ok()?;
    let socket = process.unix_socket(socket).ok()?;
    let is_connected = matches!(socket_type(&socket).ok()?, SocketType::STREAM | SocketType::SEQPACKET);
    let message = ReadMessage::read(thread, message).filter(|_| is_connected)?;
    let descriptors: Vec<OwnedFd> =
        message.descriptors.iter().map(|number| process.descriptor(*number)).collect::<Result<_>>().ok()?;
    let borrowed: Vec<_> = descriptors.iter().map(AsFd::as_fd).collect();
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_DESCRIPTORS))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    if !borrowed.is_empty() && !ancillary.push(SendAncillaryMessage::ScmRights(&borrowed)) {
        return None;
    }
    let flags = SendFlags::NOSIGNAL | SendFlags::DONTWAIT;
    Some(match sendmsg(&socket, &[IoSlice::new(&message.data)], &mut ancillary, flags) {
        Ok(sent) => ToldAnswer::Done(i64::try_from(sent).unwrap_or(i64::MAX)),
        Err(error) => ToldAnswer::Fail(error.raw_os_error()),
    })
}

/// Copy of a message in a thread's memory.
#[derive(Debug, Default, PartialEq, Eq)]
struct ReadMessage {
    data: Vec<u8>,
    descriptors: Vec<i32>,
}

impl ReadMessage {
    fn read(thread: u32, address: u64) -> Option<Self> {
        let header = read_bytes(thread, address, HEADER_BYTES)?;
        let (parts, count) = (word(&header, 16)?, usize::try_from(word(&header, 24)?).ok()?);
        let (control, length) = (word(&header, 32)?, usize::try_from(word(&header, 40)?).ok()?);
        if count > MAX_PARTS || length > MAX_CONTROL_BYTES {
            return None;
        }
        let parts = read_bytes(thread, parts, count * PART_BYTES)?;
        let mut data = Vec::new();
        for part in parts.chunks_exact(PART_BYTES) {
            let (address, length) = (word(part, 0)?, usize::try_from(word(part, 8)?).ok()?);
            if length > MAX_MESSAGE_BYTES - data.len() {
                return None;
            }
            data.extend(read_bytes(thread, address, length)?);
        }
        let control = if length == 0 { Vec::new() } else { read_bytes(thread, control, length)? };
        Some(Self { data, descriptors: descriptors(&control)? })
    }
}

/// Numbers of the descriptors in a message's control data. `None`: it has something else.
fn descriptors(mut control: &[u8]) -> Option<Vec<i32>> {
    let mut found = Vec::new();
    while control.len() >= CONTROL_HEADER_BYTES {
        let length = usize::try_from(word(control, 0)?).ok()?;
        if [half(control, 8)?, half(control, 12)?] != DESCRIPTORS {
            return None;
        }
        let numbers = control.get(CONTROL_HEADER_BYTES..length)?;
        found.extend(numbers.chunks_exact(4).filter_map(|number| half(number, 0)));
        control = control.get(length.next_multiple_of(8)..).unwrap_or_default();
    }
    (found.len() <= MAX_DESCRIPTORS).then_some(found)
}

fn word(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_ne_bytes(bytes.get(at..at + 8)?.try_into().ok()?))
}

fn half(bytes: &[u8], at: usize) -> Option<i32> {
    Some(i32::from_ne_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn control(level: i32, kind: i32, numbers: &[i32]) -> Vec<u8> {
        let length = (CONTROL_HEADER_BYTES + 4 * numbers.len()) as u64;
        let mut bytes = length.to_ne_bytes().to_vec();
        bytes.extend([level, kind].iter().chain(numbers).flat_map(|number| number.to_ne_bytes()));
        bytes.resize(bytes.len().next_multiple_of(8), 0);
        bytes
    }

    #[test]
    fn descriptors_are_read_and_nothing_else() {
        assert_eq!(descriptors(&[]), Some(vec![]));
        let two = [control(1, 1, &[7]), control(1, 1, &[8, 9])].concat();
        assert_eq!(descriptors(&two), Some(vec![7, 8, 9]));
        assert_eq!(descriptors(&control(1, 2, &[1, 2, 3])), None, "credentials");
        let mut endless = control(1, 1, &[7]);
        endless[..8].fill(0);
        assert_eq!(descriptors(&endless), None);
        assert_eq!(descriptors(&control(1, 1, &[1; MAX_DESCRIPTORS + 1])), None);
    }
}
