//! Restrictions on Linux: user, mount and network namespaces, then Landlock.

mod mounts;
pub mod processes;
mod rights;

use std::fs::File;
use std::io::{Error, IoSlice, Write};
use std::os::fd::AsRawFd;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use nix::errno::Errno;
use nix::sched::{CloneFlags, unshare};
use nix::sys::signal::SigSet;
use nix::sys::socket::{AddressFamily, MsgFlags, NetlinkAddr, SockFlag, SockProtocol, SockType, recv, sendmsg, socket};

use super::{AppliedSandbox, KernelNetwork, Plan, SandboxMeans};

/// Restricts this process, and all its children, permanently. `kept`: a descriptor that stays open.
pub fn restrict(plan: &Plan, kept: Option<i32>) -> Result<AppliedSandbox, String> {
    close_inherited(kept);
    leave_keyring()?;
    let wanted = plan;
    let plan = existing(wanted);
    let (mut by, mut are_links_kept) = (Vec::new(), true);
    if plan.namespaces {
        // If it has a separate PID namespace, this process was started inside the other namespaces.
        if !plan.own_processes {
            enter_namespaces(&plan)?;
        }
        are_links_kept = keep_to(&plan, wanted)?;
        by.push("user and mount namespace".to_owned());
        by.extend(plan.own_processes.then(|| "PID namespace".to_owned()));
    } else if plan.network != KernelNetwork::All {
        return Err(format!("the system allows no network namespace, which --kernel-network {} needs", plan.network));
    } else {
        super::paths::make_own_folders();
    }
    let abi = rights::restrict(&plan)?;
    if abi > 0 {
        by.insert(0, format!("landlock {abi}"));
    } else if !plan.reads.is_empty() {
        return Err("the system has no Landlock, which --kernel-reads needs".to_owned());
    }
    if !plan.namespaces {
        if abi == 0 {
            return Err("the system allows neither user namespaces nor Landlock".to_owned());
        }
        rights::drop_all().map_err(|error| format!("capabilities cannot be dropped: {error}"))?;
        by.push("no capabilities".to_owned());
    }
    // Landlock does not restrict connecting to sockets that have a path.
    let has_socket = !plan.namespaces && plan.hidden.iter().any(|path| rights::has_socket(path));
    let mut found = standing(&plan, abi, has_socket, by);
    found.open.extend((!are_links_kept).then(|| "links on the way to hidden places, and missing ones".to_owned()));
    Ok(found)
}

/// Joins an empty session keyring: keys of the person's session (of file systems, Kerberos tickets) are left.
fn leave_keyring() -> Result<(), String> {
    match keyutils_raw::keyctl_join_session_keyring(None) {
        Ok(_) => Ok(()),
        // The system has no keyrings, or a container keeps all its processes from them.
        Err(error) if [Errno::ENOSYS, Errno::EPERM, Errno::EACCES].contains(&Errno::from_raw(error.0)) => Ok(()),
        Err(error) => Err(format!("the session's keyring cannot be left: {error}")),
    }
}

/// Blocks all signals that can be blocked, for this process's only thread.
pub fn block_signals() -> std::io::Result<()> {
    Ok(SigSet::all().thread_block()?)
}

/// The restrictions that the means amount to. `has_socket`: a hidden path has a socket.
fn standing(plan: &Plan, abi: i32, has_socket: bool, by: Vec<String>) -> AppliedSandbox {
    let kind = match (plan.namespaces, plan.own_processes) {
        (true, true) => SandboxMeans::Full,
        (true, false) => SandboxMeans::Namespaces,
        (false, _) => SandboxMeans::Landlock,
    };
    let has_scopes = abi >= rights::SCOPES_ABI;
    let file_system = plan.namespaces || !has_socket;
    let processes = plan.own_processes || has_scopes;
    let sockets = plan.network != KernelNetwork::All || has_scopes;
    let open = [
        (!file_system, "sockets in hidden places"),
        // Landlock of any version, or a separate PID namespace, prevents inspecting them.
        (!processes && abi == 0, "the memory and environment of processes outside"),
        (!processes, "signals to processes outside"),
        (!sockets, "abstract sockets of this machine"),
        (!plan.own_processes, "names, command lines and limits of processes outside"),
        (!plan.namespaces, "terminals of this account"),
    ];
    let open = open.into_iter().filter(|(is_open, _)| *is_open).map(|(_, what)| what.to_owned()).collect();
    AppliedSandbox { kind: Some(kind), file_system, processes, sockets, network: plan.network, by, open }
}

/// Keeps existing paths, resolved, without paths inside other hidden ones.
fn existing(plan: &Plan) -> Plan {
    let found = |paths: &[PathBuf]| {
        let mut found: Vec<PathBuf> = paths.iter().filter_map(|path| path.canonicalize().ok()).collect();
        found.sort();
        found.dedup();
        found
    };
    let mut hidden = found(&plan.hidden);
    hidden.extend(mounts::raw_devices());
    hidden.sort();
    let mut outermost: Vec<PathBuf> = Vec::new();
    for path in hidden {
        if !outermost.iter().any(|outer| path.starts_with(outer)) {
            outermost.push(path);
        }
    }
    let (shown, read_only, reads) = (found(&plan.shown), found(&plan.read_only), found(&plan.reads));
    Plan { hidden: outermost, shown, read_only, reads, ..plan.clone() }
}

/// Closes files that the agent's own parent left open, which the kernel would inherit.
fn close_inherited(kept: Option<i32>) {
    let entries = std::fs::read_dir("/proc/self/fd").into_iter().flatten().flatten();
    let open: Vec<i32> = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect();
    for descriptor in open.into_iter().filter(|descriptor| *descriptor > 2 && Some(*descriptor) != kept) {
        // The descriptor of the listing itself is closed already.
        let _ = nix::unistd::close(descriptor);
    }
}

fn enter_namespaces(plan: &Plan) -> Result<(), String> {
    let refused = |error: nix::Error| format!("the system allows no user namespace ({error})");
    let (user, group) = (rustix::process::geteuid(), rustix::process::getegid());
    let mapper = if user.is_root() { Mapper::start() } else { None };
    let mut flags = CloneFlags::CLONE_NEWUSER | CloneFlags::CLONE_NEWNS | CloneFlags::CLONE_NEWIPC;
    if plan.network != KernelNetwork::All {
        flags |= CloneFlags::CLONE_NEWNET;
    }
    if plan.own_processes {
        flags |= CloneFlags::CLONE_NEWPID;
    }
    unshare(flags).map_err(refused)?;
    // Root of a container works with the files of all its users, if the system allows that mapping.
    if !mapper.is_some_and(Mapper::map_all) {
        map_own(user.as_raw(), group.as_raw())
            .map_err(|error| format!("the system allows no user namespace ({error})"))?;
    }
    Ok(())
}

/// Applies the plan to the new namespaces; `wanted`: the plan with its paths unresolved. False: links are not kept where they are.
fn keep_to(plan: &Plan, wanted: &Plan) -> Result<bool, String> {
    let are_links_kept = mounts::cover(plan, wanted)?;
    if plan.network == KernelNetwork::Loopback {
        raise_loopback().map_err(|error| format!("the kernel's own loopback does not start: {error}"))?;
    }
    rights::drop_dangerous().map_err(|error| format!("capabilities cannot be dropped: {error}"))?;
    Ok(are_links_kept)
}

/// Maps only this user and group, each to the same id.
fn map_own(user: u32, group: u32) -> std::io::Result<()> {
    write("/proc/self/setgroups", "deny")?;
    write("/proc/self/uid_map", &format!("{user} {user} 1"))?;
    write("/proc/self/gid_map", &format!("{group} {group} 1"))
}

fn write(path: &str, text: &str) -> std::io::Result<()> {
    File::options().write(true).open(path)?.write_all(text.as_bytes())
}

/// A process that stays outside until it has mapped all ids: from inside, a process can map only its own.
struct Mapper(Child);

impl Mapper {
    fn start() -> Option<Self> {
        let script =
            r#"read go && for kind in uid gid; do echo '0 0 4294967295' > "/proc/$PPID/${kind}_map" || exit 1; done"#;
        let mut command = Command::new("/bin/sh");
        command.args(["-c", script]).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        command.env_clear().spawn().ok().map(Self)
    }

    fn map_all(mut self) -> bool {
        let told = self.0.stdin.take().is_some_and(|mut stdin| stdin.write_all(b"go\n").is_ok());
        let is_mapped = self.0.wait().is_ok_and(|status| status.success());
        told && is_mapped
    }
}

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

#[cfg(test)]
mod tests {
    use super::*;

    fn found(plan: &Plan, abi: i32, has_socket: bool) -> (bool, &'static str, Vec<String>) {
        let standing = standing(plan, abi, has_socket, Vec::new());
        (standing.holds(), standing.word(), standing.open)
    }

    #[test]
    fn an_older_system_is_said_to_lack_what_it_lacks() {
        let landlock = Plan::default();
        let namespaces = Plan { namespaces: true, ..Plan::default() };
        let full = Plan { own_processes: true, ..namespaces.clone() };
        let alone = Plan { network: KernelNetwork::Loopback, ..full.clone() };
        assert_eq!(found(&full, 7, false), (true, "full", Vec::new()));
        assert_eq!(found(&alone, 0, false), (true, "full", Vec::new()), "it needs no Landlock");
        let (holds, word, open) = found(&full, 5, false);
        assert_eq!((holds, word, open.len()), (false, "not whole", 1), "{open:?}");
        assert!(open[0].contains("abstract sockets"), "{open:?}");
        let (holds, word, open) = found(&namespaces, 6, false);
        assert_eq!((holds, word, open.len()), (true, "namespaces", 1), "{open:?}");
        let (holds, _, open) = found(&namespaces, 0, false);
        assert!(!holds && open.iter().any(|open| open.starts_with("the memory")), "{open:?}");
        let (holds, word, open) = found(&landlock, 7, false);
        assert_eq!((holds, word, open.len()), (true, "Landlock only", 2), "{open:?}");
        let (holds, word, open) = found(&landlock, 5, true);
        assert_eq!((holds, word, open.len()), (false, "Landlock only, not whole", 5), "{open:?}");
    }

    #[test]
    fn what_an_older_version_recorded_is_read() {
        let older =
            r#"{"file_system":true,"processes":true,"network":"all","by":["landlock 7","user and mount namespace"]}"#;
        let standing: AppliedSandbox = serde_json::from_str(older).unwrap();
        assert!(standing.holds());
        assert_eq!(standing.word(), "whole");
    }
}
