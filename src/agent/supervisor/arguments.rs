//! Arguments of told calls, from their registers. Pure: pointers stay pointers.

use notarium_seccomp::ToldCall;

/// `AT_FDCWD`.
const CURRENT_FOLDER: i32 = -100;
/// `AT_REMOVEDIR`.
const REMOVE_FOLDER: u64 = 0x200;
/// Flags of `creat`: `O_CREAT | O_WRONLY | O_TRUNC`.
const CREAT_FLAGS: u32 = 0o100 | 0o1 | 0o1000;

/// Start of a relative path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Start {
    CurrentFolder,
    Descriptor(i32),
}

/// A path in the caller's memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NamedPath {
    pub start: Start,
    /// Address of the text; 0: the descriptor itself.
    pub path: u64,
}

/// Action that a told call would take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToldOperation {
    Open {
        place: NamedPath,
        flags: u32,
        mode: u32,
    },
    MakeFolder {
        place: NamedPath,
        mode: u32,
    },
    Remove {
        place: NamedPath,
        is_folder: bool,
    },
    Rename {
        from: NamedPath,
        to: NamedPath,
        flags: u32,
    },
    Link {
        from: NamedPath,
        to: NamedPath,
    },
    ChangeMode {
        place: NamedPath,
        mode: u32,
    },
    ChangeOwner {
        place: NamedPath,
    },
    Truncate {
        place: NamedPath,
        length: u64,
    },
    /// `times`: address of two `timespec`s; 0: now.
    SetTimes {
        place: NamedPath,
        times: u64,
    },
    SetAttribute {
        place: NamedPath,
    },
    Connect {
        socket: i32,
        address: u64,
        length: u64,
    },
    Bind {
        socket: i32,
        address: u64,
        length: u64,
    },
    SendTo {
        address: u64,
        length: u64,
    },
    SendMessage {
        socket: i32,
        message: u64,
    },
    MakeSocket {
        family: u32,
    },
    /// To a process or a group, as `kill` numbers them.
    Signal {
        process: i32,
        signal: i32,
    },
    /// To a thread of a process.
    SignalThread {
        process: i32,
        signal: i32,
    },
    /// Anything else on a path.
    OnPath {
        place: NamedPath,
    },
    /// Anything else.
    Other,
}

#[allow(clippy::cast_possible_truncation, clippy::cast_possible_wrap, reason = "the system reads lower halves as well")]
fn number(register: u64) -> i32 {
    register as u32 as i32
}

#[allow(clippy::cast_possible_truncation, reason = "the system reads lower halves as well")]
fn bits(register: u64) -> u32 {
    register as u32
}

fn here(path: u64) -> NamedPath {
    NamedPath { start: Start::CurrentFolder, path }
}

fn at(folder: u64, path: u64) -> NamedPath {
    match number(folder) {
        CURRENT_FOLDER => here(path),
        descriptor => NamedPath { start: Start::Descriptor(descriptor), path },
    }
}

fn descriptor(number: u64) -> NamedPath {
    at(number, 0)
}

/// Action that a told call would take.
pub fn operation(call: ToldCall, registers: &[u64; 6]) -> ToldOperation {
    let [a, b, c, d, e, f] = *registers;
    match call {
        ToldCall::Open => ToldOperation::Open { place: here(a), flags: bits(b), mode: bits(c) },
        ToldCall::Openat => ToldOperation::Open { place: at(a, b), flags: bits(c), mode: bits(d) },
        ToldCall::Creat => ToldOperation::Open { place: here(a), flags: CREAT_FLAGS, mode: bits(b) },
        ToldCall::Mkdir => ToldOperation::MakeFolder { place: here(a), mode: bits(b) },
        ToldCall::Mkdirat => ToldOperation::MakeFolder { place: at(a, b), mode: bits(c) },
        ToldCall::Unlink => ToldOperation::Remove { place: here(a), is_folder: false },
        ToldCall::Rmdir => ToldOperation::Remove { place: here(a), is_folder: true },
        ToldCall::Unlinkat => ToldOperation::Remove { place: at(a, b), is_folder: c & REMOVE_FOLDER != 0 },
        ToldCall::Rename => ToldOperation::Rename { from: here(a), to: here(b), flags: 0 },
        ToldCall::Renameat => ToldOperation::Rename { from: at(a, b), to: at(c, d), flags: 0 },
        ToldCall::Renameat2 => ToldOperation::Rename { from: at(a, b), to: at(c, d), flags: bits(e) },
        ToldCall::Link => ToldOperation::Link { from: here(a), to: here(b) },
        ToldCall::Linkat => ToldOperation::Link { from: at(a, b), to: at(c, d) },
        ToldCall::Chmod => ToldOperation::ChangeMode { place: here(a), mode: bits(b) },
        ToldCall::Fchmod => ToldOperation::ChangeMode { place: descriptor(a), mode: bits(b) },
        ToldCall::Fchmodat | ToldCall::Fchmodat2 => ToldOperation::ChangeMode { place: at(a, b), mode: bits(c) },
        ToldCall::Chown | ToldCall::Lchown => ToldOperation::ChangeOwner { place: here(a) },
        ToldCall::Fchown => ToldOperation::ChangeOwner { place: descriptor(a) },
        ToldCall::Fchownat => ToldOperation::ChangeOwner { place: at(a, b) },
        ToldCall::Truncate => ToldOperation::Truncate { place: here(a), length: b },
        ToldCall::Utimensat => ToldOperation::SetTimes { place: at(a, b), times: c },
        ToldCall::Setxattr | ToldCall::Lsetxattr | ToldCall::Removexattr | ToldCall::Lremovexattr => {
            ToldOperation::SetAttribute { place: here(a) }
        }
        ToldCall::Fsetxattr | ToldCall::Fremovexattr => ToldOperation::SetAttribute { place: descriptor(a) },
        ToldCall::Setxattrat | ToldCall::Removexattrat => ToldOperation::SetAttribute { place: at(a, b) },
        ToldCall::Connect => ToldOperation::Connect { socket: number(a), address: b, length: c },
        ToldCall::Bind => ToldOperation::Bind { socket: number(a), address: b, length: c },
        ToldCall::Sendto => ToldOperation::SendTo { address: e, length: f },
        ToldCall::Sendmsg => ToldOperation::SendMessage { socket: number(a), message: b },
        ToldCall::Socket => ToldOperation::MakeSocket { family: bits(a) },
        ToldCall::Kill | ToldCall::Sigqueue => ToldOperation::Signal { process: number(a), signal: number(b) },
        ToldCall::Tgkill | ToldCall::Tgsigqueue => {
            ToldOperation::SignalThread { process: number(a), signal: number(c) }
        }
        ToldCall::Symlink => ToldOperation::OnPath { place: here(b) },
        ToldCall::Symlinkat => ToldOperation::OnPath { place: at(b, c) },
        ToldCall::Mknod
        | ToldCall::Utime
        | ToldCall::Utimes
        | ToldCall::MqOpen
        | ToldCall::MqUnlink
        | ToldCall::Acct
        | ToldCall::Swapon => ToldOperation::OnPath { place: here(a) },
        ToldCall::Mknodat | ToldCall::Futimesat | ToldCall::FileSetattr => ToldOperation::OnPath { place: at(a, b) },
        ToldCall::Mount => ToldOperation::OnPath { place: here(b) },
        _ => ToldOperation::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_of_a_call_say_the_same() {
        let current = u64::from(CURRENT_FOLDER.cast_unsigned());
        let old = operation(ToldCall::Open, &[7, 0o101, 0o600, 0, 0, 0]);
        assert_eq!(old, operation(ToldCall::Openat, &[current, 7, 0o101, 0o600, 0, 0]));
        assert_eq!(
            operation(ToldCall::Rmdir, &[7, 0, 0, 0, 0, 0]),
            operation(ToldCall::Unlinkat, &[current, 7, 0x200, 0, 0, 0])
        );
        assert_eq!(
            operation(ToldCall::Rename, &[7, 8, 0, 0, 0, 0]),
            operation(ToldCall::Renameat2, &[current, 7, current, 8, 0, 0])
        );
        // A sign extended register names the same folder.
        assert_eq!(old, operation(ToldCall::Openat, &[(-100_i64).cast_unsigned(), 7, 0o101, 0o600, 0, 0]));
        let in_folder = operation(ToldCall::Mkdirat, &[5, 7, 0o700, 0, 0, 0]);
        let place = NamedPath { start: Start::Descriptor(5), path: 7 };
        assert_eq!(in_folder, ToldOperation::MakeFolder { place, mode: 0o700 });
        assert_eq!(
            operation(ToldCall::Kill, &[u64::MAX, 9, 0, 0, 0, 0]),
            ToldOperation::Signal { process: -1, signal: 9 }
        );
    }
}
