//! A PID namespace of the kernel's own, in which it sees, signals and traces its own processes alone.
//!
//! Three processes: the launcher stays outside and has the id that the agent knows; it ends as the kernel ended. Its child is
//! the first process inside, which restricts itself, starts the kernel, reaps what the kernel leaves, and ends with it: then
//! the system ends all that is left inside. A socket between the two tells what to start and how it ended. When the agent
//! ends, its end of the launcher's standard input goes, and all of this with it.
//!
//! Signals for the group reach the kernel, which is in the launcher's group; the launcher blocks them, and the first process
//! of a namespace ignores them.

use std::ffi::OsString;
use std::io::{BufRead, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, ExitCode, ExitStatus, Stdio};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::resource::{Resource, setrlimit};
use nix::sys::signal::{SigSet, Signal, raise};
use rustix::process::{DumpableBehavior, WaitOptions, WaitStatus};

use super::super::launcher::{Order, fulfil, spawn_error};
use super::{capabilities, close_inherited, enter_namespaces};

/// The program's hidden command that is the first process of a kernel's namespace.
pub const INIT_COMMAND: &str = "kernel-init";
/// This very program.
const PROGRAM: &str = "/proc/self/exe";
/// What precedes the number on the socket between the two.
const EXITED: u8 = b'e';
const KILLED: u8 = b's';

/// The launcher: waits outside for what it starts inside.
pub fn launch(order: &Order) -> Result<ExitCode, String> {
    let failed = |error: std::io::Error| format!("the kernel's own processes do not start: {error}");
    close_inherited();
    // From the beginning: an interrupt is for the kernel.
    SigSet::all().thread_block().map_err(|error| failed(error.into()))?;
    enter_namespaces(&order.promise.plan)?;
    capabilities::hand_on().map_err(|error| failed(error.into()))?;
    let (mut inside, theirs) = UnixStream::pair().map_err(failed)?;
    let mut init = Command::new(PROGRAM);
    init.arg(INIT_COMMAND).args(&order.command).stdin(OwnedFd::from(theirs));
    let child = init.spawn().map_err(failed)?;
    // It holds the other end as well.
    drop(init);
    capabilities::drop_all().map_err(|error| failed(error.into()))?;
    let mut line = serde_json::to_vec(&order.promise).map_err(|error| failed(error.into()))?;
    line.push(b'\n');
    // One that has ended already says why on its standard error.
    let _ = inside.write_all(&line);
    let is_check = order.command.is_empty();
    let end = wait(child, inside, is_check).map_err(failed)?;
    Ok(end_as(end))
}

enum End {
    Code(u8),
    Signal(i32),
}

/// Until the first process inside has ended; it is ended when the agent is gone.
fn wait(mut init: Child, mut inside: UnixStream, is_check: bool) -> std::io::Result<End> {
    let agent = std::io::stdin();
    loop {
        let mut waited = vec![PollFd::new(inside.as_fd(), PollFlags::POLLIN)];
        if !is_check {
            waited.push(PollFd::new(agent.as_fd(), PollFlags::POLLIN));
        }
        poll(&mut waited, PollTimeout::NONE)?;
        let is_told = |at: usize| waited.get(at).and_then(PollFd::any).unwrap_or(false);
        if is_told(0) {
            break;
        }
        if is_told(1) && agent.lock().read(&mut [0; 64]).unwrap_or(0) == 0 {
            init.kill()?;
            break;
        }
    }
    let mut told = Vec::new();
    inside.read_to_end(&mut told)?;
    let ended = init.wait()?;
    Ok(match *told.as_slice() {
        [EXITED, code] => End::Code(code),
        [KILLED, signal] => End::Signal(signal.into()),
        _ => own_end(ended),
    })
}

fn own_end(init: ExitStatus) -> End {
    match init.signal() {
        Some(signal) => End::Signal(signal),
        None => End::Code(init.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1)),
    }
}

/// The agent sees of the launcher what it would see of the kernel.
fn end_as(end: End) -> ExitCode {
    let signal = match end {
        End::Code(code) => return code.into(),
        End::Signal(signal) => signal,
    };
    // The kernel's memory is worth a dump, not this one's.
    let _ = setrlimit(Resource::RLIMIT_CORE, 0, 0);
    if let Ok(signal) = Signal::try_from(signal) {
        // This one alone: an interrupt that was for the kernel still waits.
        let _ = SigSet::from(signal).thread_unblock();
        // The runtime's own handler of SIGSEGV takes the first, and itself away.
        let _ = raise(signal).and_then(|()| raise(signal));
    }
    // A signal that does not end a process does not come from the end of one.
    ExitCode::FAILURE
}

/// The first process inside.
pub fn init(command: impl Iterator<Item = OsString>) -> Result<ExitCode, String> {
    let failed = |error: std::io::Error| format!("the kernel's first process: {error}");
    let mut line = String::new();
    std::io::stdin().lock().read_line(&mut line).map_err(failed)?;
    let promise = serde_json::from_str(&line).map_err(|error| format!("the kernel's plan cannot be read: {error}"))?;
    rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL))
        .map_err(|error| failed(error.into()))?;
    let command: Vec<OsString> = command.collect();
    fulfil(&promise)?;
    let Some((program, arguments)) = command.split_first() else { return Ok(ExitCode::SUCCESS) };
    let mut launcher = UnixStream::from(std::io::stdin().as_fd().try_clone_to_owned().map_err(failed)?);
    // A launcher that ended before it was watched would not be missed.
    if !is_open(&launcher) {
        return Err("the kernel's launcher has ended".to_owned());
    }
    // Its memory and descriptors are no kernel's.
    rustix::process::set_dumpable_behavior(DumpableBehavior::NotDumpable).map_err(|error| failed(error.into()))?;
    SigSet::all().thread_unblock().map_err(|error| failed(error.into()))?;
    let kernel = Command::new(program).args(arguments).stdin(Stdio::null()).spawn();
    let kernel = kernel.map_err(|error| spawn_error(program, &error))?;
    let end = reap_until(kernel.id()).map_err(failed)?;
    // A launcher that is gone ends this process.
    let _ = launcher.write_all(&end);
    Ok(ExitCode::SUCCESS)
}

fn is_open(launcher: &UnixStream) -> bool {
    let mut waited = [PollFd::new(launcher.as_fd(), PollFlags::empty())];
    // Closed ends are told unasked.
    poll(&mut waited, PollTimeout::ZERO).is_ok() && waited[0].any() == Some(false)
}

/// Takes the ends of all processes that nobody else waits for, until the kernel's comes.
fn reap_until(kernel: u32) -> std::io::Result<[u8; 2]> {
    let byte = |number: i32| u8::try_from(number).unwrap_or(u8::MAX);
    let told = |status: WaitStatus| match status.terminating_signal() {
        Some(signal) => [KILLED, byte(signal)],
        None => [EXITED, byte(status.exit_status().unwrap_or(1))],
    };
    loop {
        match rustix::process::wait(WaitOptions::empty()) {
            Ok(Some((process, status))) if process.as_raw_pid().unsigned_abs() == kernel => return Ok(told(status)),
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}
