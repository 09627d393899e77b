//! Told calls of threads without the kind: done in folders where nothing can be lost, else refused.

use std::ffi::OsString;
use std::fs::File;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use notarium_core::Effect;
use notarium_seccomp::{Notification, ToldAnswer};
use rustix::fs::{Mode, OFlags, Timespec, Timestamps, openat};
use rustix::io::Errno;

use super::arguments::{NamedPath, Start, ToldOperation, operation};
use super::folders::{Folder, Opening, is_straight};
use super::kinds::Kinds;
use super::processes::{self, status};
use super::sockets;

/// Devices that keep nothing, or lead to nothing outside.
const DEVICES: &[&str] = &["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"];
/// Prefixes of devices for computing.
const COMPUTING_DEVICES: &[&str] = &["/dev/nvidia", "/dev/dri/renderD", "/dev/kfd"];
/// Sockets of services that libraries ask without need, and go on without.
const ASKED_IN_PASSING: &[&str] = &["/nscd/socket", "/run/uuidd/request", "/run/nslcd/socket", "/run/systemd/userdb/"];
/// Files that libraries write without need, and the folder of Python's compiled modules: imports go on without.
const WRITTEN_IN_PASSING: &[&str] = &["/var/lib/libuuid/clock.txt", "/dev/tty"];
const COMPILED_MODULES: &str = "__pycache__";
const NETLINK_FAMILY: u32 = 16;
const UNIX_FAMILY: u16 = 1;
/// Bytes of the longest address that is read.
const MAX_ADDRESS_BYTES: u64 = 128;
const TIMESPEC_BYTES: usize = 16;

/// Outcome of a told call that is not let through.
#[derive(Debug)]
pub enum HeldOutcome {
    /// The supervisor has opened a file for the caller.
    Opened { file: OwnedFd, closes_on_exec: bool },
    /// The supervisor has done it.
    Done,
    /// The supervisor has done it, with this result.
    Answered(ToldAnswer),
    /// The call fails without being an effect that anybody misses.
    Fails(Errno),
    /// The call is refused, and counted.
    Refused { error: Errno, kind: Effect, target: String },
}

/// Folders of one kernel.
#[derive(Debug)]
pub struct Places {
    /// Temporary files, and shared memory of the kernel's own if it has that.
    pub temporary: Vec<Folder>,
    pub working: Folder,
    /// The kernel's own terminals.
    pub terminals: Option<Folder>,
    /// Places in which nothing new is made, whatever a person allows.
    pub closed: Vec<PathBuf>,
}

/// A told call of a thread that has not the kind of it.
#[derive(Debug)]
pub struct HeldCall<'a> {
    pub places: &'a Places,
    pub told: &'a Notification,
    pub kind: Effect,
    pub kinds: Kinds,
}

impl HeldCall<'_> {
    /// Carries the call out in the supervisor, or refuses it.
    pub fn outcome(&self) -> HeldOutcome {
        let Some(call) = self.told.call else { return self.refused(Errno::ACCESS, String::new()) };
        let operation = operation(call, &self.told.arguments);
        match operation {
            ToldOperation::Open { place, flags, mode } => self.open(place, flags, mode),
            ToldOperation::MakeFolder { place, mode } => self.make_folder(place, mode),
            ToldOperation::Rename { from, to, flags } => self.rename(from, to, flags),
            ToldOperation::Link { from, to } => self.link(from, to),
            ToldOperation::MakeSocket { family: NETLINK_FAMILY } => HeldOutcome::Fails(Errno::OPNOTSUPP),
            ToldOperation::MakeSocket { .. } => self.refused(Errno::ACCESS, "the network".to_owned()),
            ToldOperation::Connect { socket, address, length } => self.connect(socket, address, length),
            ToldOperation::Bind { socket, address, length } => self.bind(socket, address, length),
            ToldOperation::SendTo { address, length } => {
                self.refused(Errno::ACCESS, self.address(address, length).unwrap_or_default())
            }
            ToldOperation::SendMessage { socket, message } => {
                match sockets::send_message(self.told.thread, socket, message) {
                    Some(answer) => HeldOutcome::Answered(answer),
                    None => self.refused(Errno::ACCESS, "the network".to_owned()),
                }
            }
            ToldOperation::Signal { process, signal } | ToldOperation::SignalThread { process, signal } => {
                self.refused(Errno::PERM, format!("signal {signal} to process {process}"))
            }
            ToldOperation::Other if self.kind == Effect::Signal => self.refused(Errno::PERM, format!("{call:?}")),
            ToldOperation::Other => self.refused(Errno::ACCESS, format!("{call:?}")),
            _ => self.on_path(operation),
        }
    }

    fn connect(&self, socket: i32, address: u64, length: u64) -> HeldOutcome {
        let target = self.address(address, length).unwrap_or_default();
        if ASKED_IN_PASSING.iter().any(|part| target.contains(part)) {
            return HeldOutcome::Fails(Errno::ACCESS);
        }
        let path = Path::new(&target);
        let Some((folder, rest)) = self.temporary(path) else { return self.refused(Errno::ACCESS, target) };
        let connected =
            folder.single(rest).and_then(|(_file, own)| sockets::connect_to(self.told.thread, socket, Path::new(&own)));
        self.done(connected, path)
    }

    fn bind(&self, socket: i32, address: u64, length: u64) -> HeldOutcome {
        let target = self.address(address, length).unwrap_or_default();
        let path = Path::new(&target);
        match self.temporary(path) {
            Some((folder, rest)) if folder.has_parent(rest) => {
                self.done(sockets::bind_to(self.told.thread, socket, path), path)
            }
            _ => self.refused(Errno::ACCESS, target),
        }
    }

    /// Calls with one path that change what is there.
    fn on_path(&self, operation: ToldOperation) -> HeldOutcome {
        let (ToldOperation::Remove { place, .. }
        | ToldOperation::ChangeMode { place, .. }
        | ToldOperation::ChangeOwner { place }
        | ToldOperation::Truncate { place, .. }
        | ToldOperation::SetTimes { place, .. }
        | ToldOperation::SetAttribute { place }
        | ToldOperation::OnPath { place }) = operation
        else {
            return self.refused(Errno::ACCESS, String::new());
        };
        let Some(path) = self.path(place) else { return self.refused(Errno::ACCESS, String::new()) };
        let Some((folder, rest)) = self.temporary(&path) else { return self.refused_path(&path) };
        let done = match operation {
            ToldOperation::Remove { is_folder, .. } => folder.remove(rest, is_folder),
            ToldOperation::ChangeMode { mode, .. } => folder.change_mode(rest, mode),
            ToldOperation::Truncate { length, .. } => folder.truncate(rest, length),
            ToldOperation::SetTimes { times, .. } => match self.times(times) {
                Some(times) => folder.set_times(rest, &times),
                None => Err(Errno::FAULT),
            },
            // The owner is the same for all files there.
            ToldOperation::ChangeOwner { .. } => Ok(()),
            ToldOperation::SetAttribute { .. } => Err(Errno::OPNOTSUPP),
            _ => Err(Errno::ACCESS),
        };
        self.done(done, &path)
    }

    fn open(&self, place: NamedPath, flags: u32, mode: u32) -> HeldOutcome {
        let Some(path) = self.path(place) else { return self.refused(Errno::ACCESS, String::new()) };
        let umask = status(self.told.thread).map_or(0o077, |status| status.umask);
        let opening = Opening { flags, mode, umask };
        if let Some(device) = self.device(&path, opening) {
            return self.opened(device, opening, &path);
        }
        if let Some((folder, rest)) = self.temporary(&path) {
            return self.opened(folder.open(rest, opening), opening, &path);
        }
        match self.new_place(&path) {
            Some(rest) if opening.creates() && self.kinds.has(Effect::Create) => {
                match self.places.working.open_new(rest, opening) {
                    // It replaces nothing, so what exists needs another kind.
                    Err(Errno::EXIST) if flags & OFlags::EXCL.bits() == 0 => self.refused_path(&path),
                    done => self.opened(done, opening, &path),
                }
            }
            Some(rest) if opening.creates() && !self.places.working.has(rest) => self.refused_new(&path),
            _ => self.refused_path(&path),
        }
    }

    fn make_folder(&self, place: NamedPath, mode: u32) -> HeldOutcome {
        let Some(path) = self.path(place) else { return self.refused(Errno::ACCESS, String::new()) };
        let umask = status(self.told.thread).map_or(0o077, |status| status.umask);
        if let Some((folder, rest)) = self.temporary(&path) {
            return self.done(folder.make_folder(rest, mode, umask), &path);
        }
        match self.new_place(&path) {
            // Nothing would happen: programs make sure of folders that exist.
            Some(rest) if self.places.working.has(rest) => HeldOutcome::Fails(Errno::EXIST),
            Some(rest) if self.kinds.has(Effect::Create) => {
                self.done(self.places.working.make_folder(rest, mode, umask), &path)
            }
            Some(_) => self.refused_new(&path),
            None => self.refused_path(&path),
        }
    }

    fn rename(&self, from: NamedPath, to: NamedPath, flags: u32) -> HeldOutcome {
        let (Some(from), Some(to)) = (self.path(from), self.path(to)) else {
            return self.refused(Errno::ACCESS, String::new());
        };
        match (self.temporary(&from), self.temporary(&to)) {
            (Some((folder, from_rest)), Some((other, to_rest))) if std::ptr::eq(folder, other) => {
                self.done(folder.rename(from_rest, to_rest, flags), &to)
            }
            (Some(_), _) => self.refused_path(&to),
            _ => self.refused_path(&from),
        }
    }

    fn link(&self, from: NamedPath, to: NamedPath) -> HeldOutcome {
        let (Some(from), Some(to)) = (self.path(from), self.path(to)) else {
            return self.refused(Errno::ACCESS, String::new());
        };
        match (self.temporary(&from), self.temporary(&to)) {
            (Some((folder, from_rest)), Some((other, to_rest))) if std::ptr::eq(folder, other) => {
                self.done(folder.link(from_rest, to_rest), &to)
            }
            _ => self.refused_path(&to),
        }
    }

    /// A device that the supervisor opens itself.
    fn device(&self, path: &Path, opening: Opening) -> Option<Result<OwnedFd, Errno>> {
        let text = path.to_str()?;
        let access = OFlags::from_bits_retain(opening.flags) & (OFlags::ACCMODE | OFlags::NONBLOCK);
        let flags = access | OFlags::CLOEXEC | OFlags::NOCTTY | OFlags::NOFOLLOW;
        let is_computing = COMPUTING_DEVICES.iter().any(|prefix| text.starts_with(prefix)) && is_straight(path);
        if DEVICES.contains(&text) || is_computing {
            return Some(openat(rustix::fs::CWD, path, flags, Mode::empty()));
        }
        let terminals = self.places.terminals.as_ref()?;
        let name = if text == "/dev/ptmx" { "ptmx" } else { text.strip_prefix("/dev/pts/")? };
        (name == "ptmx" || name.parse::<u32>().is_ok()).then(|| terminals.open_device(name, flags))
    }

    /// The folder of the kernel's own in which a path lies.
    fn temporary<'p>(&self, path: &'p Path) -> Option<(&Folder, &'p Path)> {
        self.places.temporary.iter().find_map(|folder| Some((folder, folder.rest(path)?)))
    }

    /// The rest of a path below the working folder, if something new may be made there.
    fn new_place<'p>(&self, path: &'p Path) -> Option<&'p Path> {
        let rest = self.places.working.rest(path).filter(|rest| is_straight(rest))?;
        let is_closed = self.places.closed.iter().any(|place| path.starts_with(place));
        (!is_closed).then_some(rest)
    }

    fn opened(&self, file: Result<OwnedFd, Errno>, opening: Opening, path: &Path) -> HeldOutcome {
        match file {
            Ok(file) => HeldOutcome::Opened { file, closes_on_exec: opening.closes_on_exec() },
            Err(error) => self.failed(error, path),
        }
    }

    fn done(&self, done: Result<(), Errno>, path: &Path) -> HeldOutcome {
        match done {
            Ok(()) => HeldOutcome::Done,
            Err(error) => self.failed(error, path),
        }
    }

    /// An error of a call that the supervisor tried. One that comes from its own limits is a refusal.
    fn failed(&self, error: Errno, path: &Path) -> HeldOutcome {
        match error {
            Errno::ACCESS | Errno::PERM | Errno::XDEV | Errno::LOOP => self.refused_path(path),
            error => HeldOutcome::Fails(error),
        }
    }

    fn refused_path(&self, path: &Path) -> HeldOutcome {
        if is_in_passing(path) {
            return HeldOutcome::Fails(Errno::ACCESS);
        }
        self.refused(Errno::ACCESS, path.to_string_lossy().into_owned())
    }

    fn refused_new(&self, path: &Path) -> HeldOutcome {
        if is_in_passing(path) {
            return HeldOutcome::Fails(Errno::ACCESS);
        }
        let target = path.to_string_lossy().into_owned();
        HeldOutcome::Refused { error: Errno::ACCESS, kind: Effect::Create, target }
    }

    fn refused(&self, error: Errno, target: String) -> HeldOutcome {
        HeldOutcome::Refused { error, kind: self.kind, target }
    }

    /// The path that a call names. It may have changed when the system looks at it: nothing but a call of the supervisor's own
    /// may use it.
    fn path(&self, place: NamedPath) -> Option<PathBuf> {
        let thread = self.told.thread;
        let text = match place.path {
            0 => Vec::new(),
            address => processes::read_text(thread, address)?,
        };
        let path = PathBuf::from(OsString::from_vec(text));
        if path.is_absolute() {
            return Some(path);
        }
        let start = match place.start {
            Start::CurrentFolder => processes::current_folder(thread)?,
            Start::Descriptor(number) => processes::descriptor(thread, number)?,
        };
        Some(if path.as_os_str().is_empty() { start } else { start.join(path) })
    }

    fn times(&self, address: u64) -> Option<Timestamps> {
        let now = Timespec { tv_sec: 0, tv_nsec: rustix::fs::UTIME_NOW };
        if address == 0 {
            return Some(Timestamps { last_access: now, last_modification: now });
        }
        let bytes = processes::read_bytes(self.told.thread, address, 2 * TIMESPEC_BYTES)?;
        let number = |at: usize| Some(i64::from_ne_bytes(bytes.get(8 * at..8 * at + 8)?.try_into().ok()?));
        Some(Timestamps {
            last_access: Timespec { tv_sec: number(0)?, tv_nsec: number(1)? as _ },
            last_modification: Timespec { tv_sec: number(2)?, tv_nsec: number(3)? as _ },
        })
    }

    /// An address of a socket, for people.
    fn address(&self, address: u64, length: u64) -> Option<String> {
        address_text(self.told.thread, address, length)
    }
}

fn is_in_passing(path: &Path) -> bool {
    path.to_str().is_some_and(|path| WRITTEN_IN_PASSING.contains(&path))
        || path.components().any(|component| component.as_os_str() == COMPILED_MODULES)
}

/// Reads an address of a socket from a thread's memory, for people.
pub fn address_text(thread: u32, address: u64, length: u64) -> Option<String> {
    let length = usize::try_from(length.min(MAX_ADDRESS_BYTES)).ok()?;
    let bytes = processes::read_bytes(thread, address, length)?;
    let family = u16::from_ne_bytes(bytes.get(..2)?.try_into().ok()?);
    let port = || Some(u16::from_be_bytes(bytes.get(2..4)?.try_into().ok()?));
    match family {
        UNIX_FAMILY => {
            let name = bytes.get(2..)?;
            // A name that begins with a zero has no place among the files.
            let is_abstract = name.first() == Some(&0);
            let name = name.strip_prefix(&[0]).unwrap_or(name);
            let end = name.iter().position(|byte| *byte == 0).unwrap_or(name.len());
            Some(format!("{}{}", if is_abstract { "@" } else { "" }, String::from_utf8_lossy(&name[..end])))
        }
        2 => Some(format!("{}:{}", std::net::Ipv4Addr::from(<[u8; 4]>::try_from(bytes.get(4..8)?).ok()?), port()?)),
        10 => {
            let host = std::net::Ipv6Addr::from(<[u8; 16]>::try_from(bytes.get(8..24)?).ok()?);
            Some(std::net::SocketAddr::new(host.to_canonical(), port()?).to_string())
        }
        _ => Some("the network".to_owned()),
    }
}

/// Opens the folder that a path names, to look things up beneath it.
pub fn open_folder(path: &Path) -> std::io::Result<OwnedFd> {
    use std::os::unix::fs::OpenOptionsExt;
    let flags = (OFlags::PATH | OFlags::DIRECTORY).bits();
    #[allow(clippy::cast_possible_wrap, reason = "a set of bits")]
    let folder = File::options().read(true).custom_flags(flags as i32).open(path)?;
    Ok(folder.into())
}
