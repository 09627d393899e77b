//! The filter's instructions, interpreted as the system does, against the table of rules.

use notarium_seccomp::{Architecture, Condition, FilterOptions, FilterRule, Instruction, ToldCall, program, rules};
use proptest::prelude::*;

/// `struct seccomp_data`.
#[derive(Debug, Clone, Copy)]
struct CallData {
    number: u32,
    architecture: u32,
    arguments: [u64; 6],
}

impl CallData {
    fn of(architecture: Architecture, number: u32, arguments: [u64; 6]) -> Self {
        Self { number, architecture: architecture.audit_number(), arguments }
    }

    fn word(&self, place: u32) -> u32 {
        match place {
            0 => self.number,
            4 => self.architecture,
            _ => {
                let argument = self.arguments[(place as usize - 16) / 8];
                (if place.is_multiple_of(8) { argument } else { argument >> 32 }) as u32
            }
        }
    }
}

#[derive(Debug, PartialEq, Eq)]
enum FilterOutcome {
    Passes,
    Told,
    Fails(u16),
}

fn run(program: &[Instruction], data: CallData) -> FilterOutcome {
    let (mut at, mut accumulator) = (0, 0);
    loop {
        let instruction = program[at];
        let Instruction { if_true, if_false, value, .. } = instruction;
        let mut jump = |holds: bool| at += 1 + usize::from(if holds { if_true } else { if_false });
        match instruction.code {
            0x20 => {
                accumulator = data.word(value);
                at += 1;
            }
            0x15 => jump(accumulator == value),
            0x35 => jump(accumulator >= value),
            0x45 => jump(accumulator & value != 0),
            0x06 => {
                return match value & 0xffff_0000 {
                    0x7fff_0000 => FilterOutcome::Passes,
                    0x7fc0_0000 => FilterOutcome::Told,
                    0x0005_0000 => FilterOutcome::Fails((value & 0xffff) as u16),
                    other => panic!("unknown result {other:x}"),
                };
            }
            other => panic!("unknown instruction {other:x}"),
        }
    }
}

fn holds(condition: Condition, arguments: &[u64; 6]) -> bool {
    let low = |argument: u8| arguments[usize::from(argument)] as u32;
    match condition {
        Condition::AnyBit { argument, bits } => low(argument) & bits != 0,
        Condition::OneOf { argument, values } => values.contains(&low(argument)),
        Condition::Not { argument, value } => low(argument) != value,
        Condition::Pointer { argument } => arguments[usize::from(argument)] != 0,
    }
}

fn expected(rules: &[(u32, FilterRule)], number: u32, arguments: &[u64; 6]) -> FilterOutcome {
    let Some((_, rule)) = rules.iter().find(|(of, _)| *of == number) else { return FilterOutcome::Passes };
    let all = |conditions: &[Condition]| conditions.iter().all(|condition| holds(*condition, arguments));
    let (applies, outcome) = match *rule {
        FilterRule::Tell(_) => (true, FilterOutcome::Told),
        FilterRule::Refuse(error) => (true, FilterOutcome::Fails(error)),
        FilterRule::TellIfAny(_, conditions) => {
            (conditions.iter().any(|it| holds(*it, arguments)), FilterOutcome::Told)
        }
        FilterRule::TellIfAll(_, conditions) => (all(conditions), FilterOutcome::Told),
        FilterRule::RefuseIfAll(error, conditions) => (all(conditions), FilterOutcome::Fails(error)),
    };
    if applies { outcome } else { FilterOutcome::Passes }
}

const BOTH: [Architecture; 2] = [Architecture::X86_64, Architecture::Aarch64];

fn outcome(architecture: Architecture, number: u32, arguments: [u64; 6]) -> FilterOutcome {
    run(&program(architecture, FilterOptions::default()), CallData::of(architecture, number, arguments))
}

fn told(call: ToldCall, arguments: [u64; 6]) -> Vec<FilterOutcome> {
    BOTH.into_iter().filter_map(|it| call.number(it).map(|number| outcome(it, number, arguments))).collect()
}

proptest! {
    #[test]
    fn instructions_do_what_the_rules_say(
        number in prop_oneof![0_u32..480, any::<u32>()],
        arguments in prop::array::uniform6(prop_oneof![Just(0), 0_u64..20, Just(1 << 32), Just(0x4008_6602), any::<u64>()]),
        has_own_ipc: bool,
    ) {
        for architecture in BOTH {
            let options = FilterOptions { has_own_ipc };
            let found = run(&program(architecture, options), CallData::of(architecture, number, arguments));
            match architecture.foreign_numbers() {
                Some(first) if number >= first => prop_assert_eq!(found, FilterOutcome::Fails(38)),
                _ => prop_assert_eq!(found, expected(&rules(architecture, options), number, &arguments)),
            }
        }
    }
}

#[test]
fn numbers_are_unique() {
    for architecture in BOTH {
        let mut numbers: Vec<u32> =
            rules(architecture, FilterOptions::default()).into_iter().map(|(number, _)| number).collect();
        let count = numbers.len();
        numbers.sort_unstable();
        numbers.dedup();
        assert_eq!(numbers.len(), count, "{architecture:?}");
        assert!(ToldCall::ALL.iter().all(|call| {
            call.number(architecture).is_none_or(|number| ToldCall::of(architecture, number) == Some(*call))
        }));
    }
}

#[test]
fn other_interfaces_are_closed() {
    let filter = program(Architecture::X86_64, FilterOptions::default());
    // `int 0x80` on x86-64, x32, and the number that a tracer sets to skip a call.
    let i386 = CallData { number: 5, architecture: 0x4000_0003, arguments: [0; 6] };
    assert_eq!(run(&filter, i386), FilterOutcome::Fails(38));
    for number in [0x4000_0000, 0x4000_0001, u32::MAX] {
        assert_eq!(run(&filter, CallData::of(Architecture::X86_64, number, [0; 6])), FilterOutcome::Fails(38));
    }
}

#[test]
fn reading_and_own_sockets_pass_and_writing_is_told() {
    let flags = |flags: u64| told(ToldCall::Openat, [0, 0, flags, 0, 0, 0]);
    let (passes, is_told) =
        (vec![FilterOutcome::Passes, FilterOutcome::Passes], vec![FilterOutcome::Told, FilterOutcome::Told]);
    // O_RDONLY | O_CLOEXEC | O_DIRECTORY of x86-64.
    assert_eq!(flags(0o2_200_000), passes);
    for writing in [0o1, 0o2, 0o3, 0o100, 0o1000, 0o20_200_000] {
        assert_eq!(flags(writing), is_told, "{writing:o}");
    }
    assert_eq!(flags(1 << 32), passes, "the system reads the lower half alone");
    assert_eq!(told(ToldCall::Socket, [1, 1, 0, 0, 0, 0]), passes);
    for family in [2, 10, 16, 17, 40] {
        assert_eq!(told(ToldCall::Socket, [family, 1, 0, 0, 0, 0]), is_told, "{family}");
    }
    assert_eq!(told(ToldCall::Sendto, [3, 9, 9, 0, 0, 0]), passes);
    assert_eq!(told(ToldCall::Sendto, [3, 9, 9, 0, 1 << 32, 16]), is_told);
    assert_eq!(told(ToldCall::Prlimit, [0, 7, 9, 0, 0, 0]), passes);
    assert_eq!(told(ToldCall::Prlimit, [5, 7, 0, 9, 0, 0]), passes);
    assert_eq!(told(ToldCall::Prlimit, [5, 7, 9, 0, 0, 0]), is_told);
    assert_eq!(told(ToldCall::Fcntl, [3, 3, 0, 0, 0, 0]), passes);
    assert_eq!(told(ToldCall::Fcntl, [3, 8, 5, 0, 0, 0]), is_told);
}

#[test]
fn ways_round_the_filter_fail_for_everybody() {
    let x86 = |number| outcome(Architecture::X86_64, number, [0; 6]);
    assert_eq!([x86(435), x86(437)], [FilterOutcome::Fails(38), FilterOutcome::Fails(38)]);
    for number in [425, 426, 427, 438, 101, 310, 311, 323, 321, 298, 304, 248] {
        assert_eq!(x86(number), FilterOutcome::Fails(1), "{number}");
    }
    for (architecture, seccomp) in [(Architecture::X86_64, 317), (Architecture::Aarch64, 277)] {
        assert_eq!(outcome(architecture, seccomp, [1, 8, 0, 0, 0, 0]), FilterOutcome::Fails(1));
        assert_eq!(outcome(architecture, seccomp, [1, 8 | 32, 0, 0, 0, 0]), FilterOutcome::Fails(1));
        assert_eq!(outcome(architecture, seccomp, [1, 0, 0, 0, 0, 0]), FilterOutcome::Passes);
    }
}

#[test]
fn objects_of_an_own_ipc_namespace_are_not_told() {
    let of = |has_own_ipc| {
        let filter = program(Architecture::X86_64, FilterOptions { has_own_ipc });
        run(&filter, CallData::of(Architecture::X86_64, 29, [0; 6]))
    };
    assert_eq!((of(false), of(true)), (FilterOutcome::Told, FilterOutcome::Passes));
}

#[cfg(target_os = "linux")]
#[test]
fn numbers_are_those_of_this_system() {
    let number = |call: ToldCall| Architecture::NATIVE.and_then(|native| call.number(native)).map(i64::from);
    let pairs = [
        (ToldCall::Openat, libc::SYS_openat),
        (ToldCall::Fcntl, libc::SYS_fcntl),
        (ToldCall::Ioctl, libc::SYS_ioctl),
        (ToldCall::Sendto, libc::SYS_sendto),
        (ToldCall::Socket, libc::SYS_socket),
        (ToldCall::Prlimit, libc::SYS_prlimit64),
        (ToldCall::Kill, libc::SYS_kill),
        (ToldCall::PidfdSendSignal, libc::SYS_pidfd_send_signal),
        (ToldCall::Setpriority, libc::SYS_setpriority),
        (ToldCall::MqOpen, libc::SYS_mq_open),
        (ToldCall::Sendmsg, libc::SYS_sendmsg),
        (ToldCall::Sendmmsg, libc::SYS_sendmmsg),
        (ToldCall::Connect, libc::SYS_connect),
        (ToldCall::Bind, libc::SYS_bind),
        (ToldCall::Clone, libc::SYS_clone),
        (ToldCall::Execve, libc::SYS_execve),
        (ToldCall::Execveat, libc::SYS_execveat),
        (ToldCall::Tgkill, libc::SYS_tgkill),
        (ToldCall::Tkill, libc::SYS_tkill),
        (ToldCall::Sigqueue, libc::SYS_rt_sigqueueinfo),
        (ToldCall::Tgsigqueue, libc::SYS_rt_tgsigqueueinfo),
        (ToldCall::Unlinkat, libc::SYS_unlinkat),
        (ToldCall::MqUnlink, libc::SYS_mq_unlink),
        (ToldCall::Truncate, libc::SYS_truncate),
        (ToldCall::Mkdirat, libc::SYS_mkdirat),
        (ToldCall::Linkat, libc::SYS_linkat),
        (ToldCall::Symlinkat, libc::SYS_symlinkat),
        (ToldCall::Mknodat, libc::SYS_mknodat),
        (ToldCall::Renameat2, libc::SYS_renameat2),
        (ToldCall::Fchmod, libc::SYS_fchmod),
        (ToldCall::Fchmodat, libc::SYS_fchmodat),
        (ToldCall::Fchown, libc::SYS_fchown),
        (ToldCall::Fchownat, libc::SYS_fchownat),
        (ToldCall::Utimensat, libc::SYS_utimensat),
        (ToldCall::Setxattr, libc::SYS_setxattr),
        (ToldCall::Lsetxattr, libc::SYS_lsetxattr),
        (ToldCall::Fsetxattr, libc::SYS_fsetxattr),
        (ToldCall::Removexattr, libc::SYS_removexattr),
        (ToldCall::Lremovexattr, libc::SYS_lremovexattr),
        (ToldCall::Fremovexattr, libc::SYS_fremovexattr),
        (ToldCall::Shmget, libc::SYS_shmget),
        (ToldCall::Shmat, libc::SYS_shmat),
        (ToldCall::Shmctl, libc::SYS_shmctl),
        (ToldCall::Semget, libc::SYS_semget),
        (ToldCall::Semop, libc::SYS_semop),
        (ToldCall::Semtimedop, libc::SYS_semtimedop),
        (ToldCall::Semctl, libc::SYS_semctl),
        (ToldCall::Msgget, libc::SYS_msgget),
        (ToldCall::Msgsnd, libc::SYS_msgsnd),
        (ToldCall::Msgrcv, libc::SYS_msgrcv),
        (ToldCall::Msgctl, libc::SYS_msgctl),
        (ToldCall::Mount, libc::SYS_mount),
        (ToldCall::Umount, libc::SYS_umount2),
        (ToldCall::MoveMount, libc::SYS_move_mount),
        (ToldCall::PivotRoot, libc::SYS_pivot_root),
        (ToldCall::Reboot, libc::SYS_reboot),
        (ToldCall::Settimeofday, libc::SYS_settimeofday),
        (ToldCall::ClockSettime, libc::SYS_clock_settime),
        (ToldCall::KexecLoad, libc::SYS_kexec_load),
        (ToldCall::InitModule, libc::SYS_init_module),
    ];
    for (call, system) in pairs {
        assert_eq!(number(call), Some(system), "{call:?}");
    }
}
