//! Table of the system calls that are told or refused, with their numbers. All others pass.

/// Architecture whose numbers a filter checks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Architecture {
    X86_64,
    Aarch64,
}

impl Architecture {
    /// The architecture of this program; `None`: no filter exists for it.
    pub const NATIVE: Option<Self> = if cfg!(target_arch = "x86_64") {
        Some(Self::X86_64)
    } else if cfg!(target_arch = "aarch64") {
        Some(Self::Aarch64)
    } else {
        None
    };

    /// `AUDIT_ARCH_*`, as the filter sees it.
    pub fn audit_number(self) -> u32 {
        match self {
            Self::X86_64 => 0xc000_003e,
            Self::Aarch64 => 0xc000_00b7,
        }
    }

    /// First number of another interface of the same architecture (x32).
    pub fn foreign_numbers(self) -> Option<u32> {
        (self == Self::X86_64).then_some(0x4000_0000)
    }
}

/// Choices of one filter.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FilterOptions {
    /// True if the process has its own IPC namespace: System V objects are not told then.
    pub has_own_ipc: bool,
}

/// Kind of what a told call can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CallGroup {
    Write,
    Remove,
    Network,
    Signal,
    /// A new thread or process: told so that the supervisor knows who started it.
    Birth,
    /// Another program in the same process.
    Exec,
}

/// Test of one argument's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Condition {
    /// One of these bits is set in the lower half.
    AnyBit { argument: u8, bits: u32 },
    /// The lower half is one of these values.
    OneOf { argument: u8, values: &'static [u32] },
    /// The lower half is not this value.
    Not { argument: u8, value: u32 },
    /// The whole value is a pointer, not null.
    Pointer { argument: u8 },
}

/// Treatment of a call by the filter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FilterRule {
    /// Tells the supervisor.
    Tell(ToldCall),
    /// Tells the supervisor if one of the conditions holds; else the call passes.
    TellIfAny(ToldCall, &'static [Condition]),
    /// Tells the supervisor if all conditions hold; else the call passes.
    TellIfAll(ToldCall, &'static [Condition]),
    /// Fails with this error.
    Refuse(u16),
    /// Fails with this error if all conditions hold; else the call passes.
    RefuseIfAll(u16, &'static [Condition]),
}

const EPERM: u16 = 1;
const ENOSYS: u16 = 38;

/// Access mode, `O_CREAT`, `O_TRUNC` and the own bit of `O_TMPFILE`: the same numbers on both architectures.
const WRITING_FLAGS: u32 = 0o3 | 0o100 | 0o1000 | 0o20_000_000;
/// `AF_UNIX`.
const UNIX_FAMILY: u32 = 1;
/// `F_SETOWN`, `F_SETOWN_EX`: the system sends a signal to the owner.
const SET_OWNER: &[u32] = &[8, 15];
/// `FIOSETOWN`, `SIOCSPGRP` (signals to the owner), `TIOCSTI` (input of a terminal), `FS_IOC_SETFLAGS`, `FS_IOC_FSSETXATTR`.
const TOLD_REQUESTS: &[u32] = &[0x8901, 0x8902, 0x5412, 0x4008_6602, 0x401c_5820];
/// `SECCOMP_SET_MODE_FILTER`, `SECCOMP_FILTER_FLAG_NEW_LISTENER`.
const SET_FILTER: u32 = 1;
const NEW_LISTENER: u32 = 8;

const fn writing(argument: u8) -> Condition {
    Condition::AnyBit { argument, bits: WRITING_FLAGS }
}

const OPEN: &[Condition] = &[writing(1)];
const OPENAT: &[Condition] = &[writing(2)];
const NOT_UNIX: &[Condition] = &[Condition::Not { argument: 0, value: UNIX_FAMILY }];
const WITH_ADDRESS: &[Condition] = &[Condition::Pointer { argument: 4 }];
const SIGNAL_SECOND: &[Condition] = &[Condition::Not { argument: 1, value: 0 }];
/// Another process (0 is the caller), and a new limit.
const NEW_LIMIT: &[Condition] = &[Condition::Not { argument: 0, value: 0 }, Condition::Pointer { argument: 2 }];
/// All but `PRIO_PROCESS` of the caller.
const OTHERS_PRIORITY: &[Condition] =
    &[Condition::Not { argument: 0, value: 0 }, Condition::Not { argument: 1, value: 0 }];
const OWNER: &[Condition] = &[Condition::OneOf { argument: 1, values: SET_OWNER }];
const REQUESTS: &[Condition] = &[Condition::OneOf { argument: 1, values: TOLD_REQUESTS }];
const SECOND_LISTENER: &[Condition] =
    &[Condition::OneOf { argument: 0, values: &[SET_FILTER] }, Condition::AnyBit { argument: 1, bits: NEW_LISTENER }];

macro_rules! told_calls {
    ($($call:ident $group:ident $x86:tt $arm:tt $(if_any $any:ident)? $(if_all $all:ident)? $(system_v $system_v:ident)?;)*) => {
        /// A told call.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum ToldCall {
            $($call,)*
        }

        impl ToldCall {
            /// All told calls, in the order of the filter: frequent ones first.
            pub const ALL: &[ToldCall] = &[$(ToldCall::$call,)*];

            /// Kind of what the call can do.
            pub fn group(self) -> CallGroup {
                match self {
                    $(ToldCall::$call => CallGroup::$group,)*
                }
            }

            /// Its number; `None`: the architecture does not have it.
            pub fn number(self, architecture: Architecture) -> Option<u32> {
                match (self, architecture) {
                    $((ToldCall::$call, Architecture::X86_64) => number!($x86),
                    (ToldCall::$call, Architecture::Aarch64) => number!($arm),)*
                }
            }

            fn rule(self) -> FilterRule {
                match self {
                    $(ToldCall::$call => told_rule!(ToldCall::$call, $($any)? $(all $all)?),)*
                }
            }

            fn is_system_v(self) -> bool {
                match self {
                    $(ToldCall::$call => false $(|| stringify!($system_v) == "yes")?,)*
                }
            }
        }
    };
}

macro_rules! number {
    (_) => {
        None
    };
    ($number:literal) => {
        Some($number)
    };
}

macro_rules! told_rule {
    ($call:expr,) => {
        FilterRule::Tell($call)
    };
    ($call:expr, all $conditions:ident) => {
        FilterRule::TellIfAll($call, $conditions)
    };
    ($call:expr, $conditions:ident) => {
        FilterRule::TellIfAny($call, $conditions)
    };
}

told_calls! {
    // `openat` comes first: it is by far the most frequent call whose arguments are read.
    Openat Write 257 56 if_any OPENAT;
    Open Write 2 _ if_any OPEN;
    Fcntl Signal 72 25 if_any OWNER;
    Ioctl Write 16 29 if_any REQUESTS;
    Sendto Network 44 206 if_any WITH_ADDRESS;
    Socket Network 41 198 if_any NOT_UNIX;
    Prlimit Signal 302 261 if_all NEW_LIMIT;
    Kill Signal 62 129 if_any SIGNAL_SECOND;
    PidfdSendSignal Signal 424 424 if_any SIGNAL_SECOND;
    Setpriority Signal 141 140 if_any OTHERS_PRIORITY;
    MqOpen Write 240 180 if_any OPEN;
    Sendmsg Network 46 211;
    Sendmmsg Network 307 269;
    Connect Network 42 203;
    Bind Network 49 200;
    Clone Birth 56 220;
    Fork Birth 57 _;
    Vfork Birth 58 _;
    Execve Exec 59 221;
    Execveat Exec 322 281;
    Tgkill Signal 234 131;
    Tkill Signal 200 130;
    Sigqueue Signal 129 138;
    Tgsigqueue Signal 297 240;
    Unlink Remove 87 _;
    Unlinkat Remove 263 35;
    Rmdir Remove 84 _;
    MqUnlink Remove 241 181;
    Creat Write 85 _;
    Truncate Write 76 45;
    Mkdir Write 83 _;
    Mkdirat Write 258 34;
    Link Write 86 _;
    Linkat Write 265 37;
    Symlink Write 88 _;
    Symlinkat Write 266 36;
    Mknod Write 133 _;
    Mknodat Write 259 33;
    Rename Write 82 _;
    Renameat Write 264 38;
    Renameat2 Write 316 276;
    Chmod Write 90 _;
    Fchmod Write 91 52;
    Fchmodat Write 268 53;
    Fchmodat2 Write 452 452;
    Chown Write 92 _;
    Lchown Write 94 _;
    Fchown Write 93 55;
    Fchownat Write 260 54;
    Utime Write 132 _;
    Utimes Write 235 _;
    Futimesat Write 261 _;
    Utimensat Write 280 88;
    Setxattr Write 188 5;
    Lsetxattr Write 189 6;
    Fsetxattr Write 190 7;
    Setxattrat Write 463 463;
    Removexattr Write 197 14;
    Lremovexattr Write 198 15;
    Fremovexattr Write 199 16;
    Removexattrat Write 466 466;
    FileSetattr Write 469 469;
    Shmget Write 29 194 system_v yes;
    Shmat Write 30 196 system_v yes;
    Shmctl Write 31 195 system_v yes;
    Semget Write 64 190 system_v yes;
    Semop Write 65 193 system_v yes;
    Semtimedop Write 220 192 system_v yes;
    Semctl Write 66 191 system_v yes;
    Msgget Write 68 186 system_v yes;
    Msgsnd Write 69 189 system_v yes;
    Msgrcv Write 70 188 system_v yes;
    Msgctl Write 71 187 system_v yes;
    // Calls for administrators, whom a kernel without a sandbox may run as.
    Mount Write 165 40;
    Umount Write 166 39;
    MoveMount Write 429 429;
    MountSetattr Write 442 442;
    PivotRoot Write 155 41;
    Swapon Write 167 224;
    Swapoff Write 168 225;
    Reboot Write 169 142;
    Sethostname Write 170 161;
    Setdomainname Write 171 162;
    InitModule Write 175 105;
    FinitModule Write 313 273;
    DeleteModule Write 176 106;
    KexecLoad Write 246 104;
    KexecFileLoad Write 320 294;
    Settimeofday Write 164 170;
    ClockSettime Write 227 112;
    Acct Write 163 89;
    Quotactl Write 179 60;
    QuotactlFd Write 443 443;
}

/// Calls that always fail: x86-64, aarch64, rule.
const REFUSED: &[(u32, u32, FilterRule)] = &[
    // `clone3`, `openat2`: flags in memory. Libraries fall back to `clone`, `openat`.
    (435, 435, FilterRule::Refuse(ENOSYS)),
    (437, 437, FilterRule::Refuse(ENOSYS)),
    // `io_uring_setup`, `io_uring_enter`, `io_uring_register`: no filter sees what they do.
    (425, 425, FilterRule::Refuse(EPERM)),
    (426, 426, FilterRule::Refuse(EPERM)),
    (427, 427, FilterRule::Refuse(EPERM)),
    // `seccomp` with a second listener, which could answer when the supervisor is gone.
    (317, 277, FilterRule::RefuseIfAll(EPERM, SECOND_LISTENER)),
    // `pidfd_getfd`, `ptrace`, `process_vm_readv`, `process_vm_writev`: other processes.
    (438, 438, FilterRule::Refuse(EPERM)),
    (101, 117, FilterRule::Refuse(EPERM)),
    (310, 270, FilterRule::Refuse(EPERM)),
    (311, 271, FilterRule::Refuse(EPERM)),
    // `userfaultfd`, `bpf`, `perf_event_open`, `open_by_handle_at`, `add_key`.
    (323, 282, FilterRule::Refuse(EPERM)),
    (321, 280, FilterRule::Refuse(EPERM)),
    (298, 241, FilterRule::Refuse(EPERM)),
    (304, 265, FilterRule::Refuse(EPERM)),
    (248, 217, FilterRule::Refuse(EPERM)),
];

impl ToldCall {
    /// The told call of this number.
    pub fn of(architecture: Architecture, number: u32) -> Option<Self> {
        Self::ALL.iter().copied().find(|call| call.number(architecture) == Some(number))
    }
}

/// Rules of a filter by number, in the order in which they are tried.
pub fn rules(architecture: Architecture, options: FilterOptions) -> Vec<(u32, FilterRule)> {
    let is_told = |call: &ToldCall| !(options.has_own_ipc && call.is_system_v());
    let told = ToldCall::ALL.iter().copied().filter(is_told);
    let told = told.filter_map(|call| Some((call.number(architecture)?, call.rule())));
    let refused = REFUSED.iter().map(|&(x86, arm, rule)| match architecture {
        Architecture::X86_64 => (x86, rule),
        Architecture::Aarch64 => (arm, rule),
    });
    told.chain(refused).collect()
}
