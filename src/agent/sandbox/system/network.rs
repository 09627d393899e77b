//! Brings up the loopback of a new network namespace.

use std::io::{Error, IoSlice};
use std::os::fd::AsRawFd;

use nix::sys::socket::{AddressFamily, MsgFlags, NetlinkAddr, SockFlag, SockProtocol, SockType, recv, sendmsg, socket};

/// `RTM_NEWLINK`, with the flags for an acknowledged request.
const NEW_LINK: u16 = 16;
const REQUEST_AND_ACKNOWLEDGE: u16 = 5;
/// Index of the loopback in each namespace.
const LOOPBACK_INDEX: i32 = 1;
const UP: u32 = 1;
/// Offset of the error's number in an answer, after the header.
const ERROR_OFFSET: usize = 16;

pub fn raise_loopback() -> std::io::Result<()> {
    let socket = socket(AddressFamily::Netlink, SockType::Raw, SockFlag::SOCK_CLOEXEC, SockProtocol::NetlinkRoute)?;
    let message = request();
    let kernel = NetlinkAddr::new(0, 0);
    sendmsg(socket.as_raw_fd(), &[IoSlice::new(&message)], &[], MsgFlags::empty(), Some(&kernel))?;
    let mut answer = [0; 512];
    let length = recv(socket.as_raw_fd(), &mut answer, MsgFlags::empty())?;
    let error = answer[..length].get(ERROR_OFFSET..ERROR_OFFSET + 4).and_then(|bytes| bytes.try_into().ok());
    match error.map(i32::from_ne_bytes) {
        Some(0) => Ok(()),
        Some(number) => Err(Error::from_raw_os_error(-number)),
        None => Err(Error::other("no answer")),
    }
}

/// The request: `struct nlmsghdr` and `struct ifinfomsg`.
fn request() -> Vec<u8> {
    let mut message = Vec::with_capacity(32);
    message.extend(32_u32.to_ne_bytes());
    message.extend(NEW_LINK.to_ne_bytes());
    message.extend(REQUEST_AND_ACKNOWLEDGE.to_ne_bytes());
    message.extend([0; 8]);
    message.extend([0; 4]);
    message.extend(LOOPBACK_INDEX.to_ne_bytes());
    message.extend(UP.to_ne_bytes());
    message.extend(UP.to_ne_bytes());
    message
}
