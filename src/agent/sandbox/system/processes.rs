//! The kernel's own PID namespace, in which it sees, signals and traces only its own processes.
//!
//! Three processes. The launcher stays outside and has the id that the agent knows; its exit status is the kernel's. Its child is
//! the first process inside: it restricts itself, starts the kernel, and reaps orphans. It exits with the kernel; then
//! the system kills all other processes inside. A socket between the two carries the command and the exit status. When the agent
//! ends, the launcher's standard input is closed, which ends all three. The kernel has the same input; if its effects are held,
//! that is the socket to its supervisor.
//!
//! Signals for the group reach the kernel, which is in the launcher's group. The launcher blocks them, and the first process
//! of a namespace ignores them.

use std::ffi::{OsStr, OsString};
use std::io::{BufRead, Read, Write};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, ExitCode, ExitStatus, Stdio};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::resource::{Resource, setrlimit};
use nix::sys::signal::{SigSet, Signal, raise};
use rustix::process::{DumpableBehavior, WaitOptions, WaitStatus};

use super::super::{LauncherOrder, LauncherPromise, fulfil, spawn_error};
use super::{close_inherited, enter_namespaces, rights};
use crate::supervisor::launcher::EFFECTS_COMMAND;

/// The program's hidden command for the first process of a kernel's namespace.
pub const INIT_COMMAND: &str = "kernel-init";
/// This program.
const PROGRAM: &str = "/proc/self/exe";
/// Prefix of the number on the socket between the two.
const EXITED: u8 = b'e';
const KILLED: u8 = b's';

/// The launcher: waits outside for the process inside.
pub fn launch(order: &LauncherOrder) -> Result<ExitCode, String> {
    let failed = |error: std::io::Error| format!("the kernel's own processes do not start: {error}");
    close_inherited(None);
    // Blocked from the beginning: an interrupt is for the kernel.
    SigSet::all().thread_block().map_err(|error| failed(error.into()))?;
    enter_namespaces(&order.promise.plan)?;
    rights::hand_on().map_err(|error| failed(error.into()))?;
    let (mut inside, theirs) = UnixStream::pair().map_err(failed)?;
    let mut init = Command::new(PROGRAM);
    init.arg(INIT_COMMAND).args(&order.command).stdin(OwnedFd::from(theirs));
    // Inherited by the process inside, which takes it by its number.
    let input = rustix::io::dup(std::io::stdin()).map_err(|error| failed(error.into()))?;
    let child = init.spawn().map_err(failed)?;
    // `init` holds the other end as well.
    drop(init);
    rights::drop_all().map_err(|error| failed(error.into()))?;
    let promise = LauncherPromise { input: Some(input.as_raw_fd()), ..order.promise.clone() };
    drop(input);
    let mut line = serde_json::to_vec(&promise).map_err(|error| failed(error.into()))?;
    line.push(b'\n');
    // If the process has ended already, its standard error has the reason.
    let _ = inside.write_all(&line);
    let is_check = order.command.is_empty();
    let end = wait(child, inside, is_check).map_err(failed)?;
    Ok(end_as(end))
}

enum ProcessEnd {
    Code(u8),
    Signal(i32),
}

/// Waits until the first process inside has ended; kills it when the agent has ended.
fn wait(mut init: Child, mut inside: UnixStream, is_check: bool) -> std::io::Result<ProcessEnd> {
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
        [EXITED, code] => ProcessEnd::Code(code),
        [KILLED, signal] => ProcessEnd::Signal(signal.into()),
        _ => own_end(ended),
    })
}

fn own_end(init: ExitStatus) -> ProcessEnd {
    match init.signal() {
        Some(signal) => ProcessEnd::Signal(signal),
        None => ProcessEnd::Code(init.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1)),
    }
}

/// Ends the launcher as the kernel ended, for the agent to see.
fn end_as(end: ProcessEnd) -> ExitCode {
    let signal = match end {
        ProcessEnd::Code(code) => return code.into(),
        ProcessEnd::Signal(signal) => signal,
    };
    // A core dump of the kernel is useful, one of the launcher is not.
    let _ = setrlimit(Resource::RLIMIT_CORE, 0, 0);
    if let Ok(signal) = Signal::try_from(signal) {
        // Unblocks only this signal: an interrupt that was meant for the kernel may be pending.
        let _ = SigSet::from(signal).thread_unblock();
        // The Rust runtime's handler of SIGSEGV takes the first signal and uninstalls itself.
        let _ = raise(signal).and_then(|()| raise(signal));
    }
    // Reached only if the signal does not end a process.
    ExitCode::FAILURE
}

/// The first process inside.
pub fn init(command: impl Iterator<Item = OsString>) -> Result<ExitCode, String> {
    let failed = |error: std::io::Error| format!("the kernel's first process: {error}");
    let mut line = String::new();
    std::io::stdin().lock().read_line(&mut line).map_err(failed)?;
    let mut promise: LauncherPromise =
        serde_json::from_str(&line).map_err(|error| format!("the kernel's plan cannot be read: {error}"))?;
    let input = promise.input.map(notarium_seccomp::inherited).transpose().map_err(failed)?;
    promise.input = input.as_ref().map(AsRawFd::as_raw_fd);
    rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL))
        .map_err(|error| failed(error.into()))?;
    let command: Vec<OsString> = command.collect();
    fulfil(&promise)?;
    let Some((program, arguments)) = command.split_first() else { return Ok(ExitCode::SUCCESS) };
    let mut launcher = UnixStream::from(std::io::stdin().as_fd().try_clone_to_owned().map_err(failed)?);
    // If the launcher ended before its death was watched, no signal comes.
    if !is_open(&launcher) {
        return Err("the kernel's launcher has ended".to_owned());
    }
    // Protects this process's memory and descriptors from the kernel.
    rustix::process::set_dumpable_behavior(DumpableBehavior::NotDumpable).map_err(|error| failed(error.into()))?;
    SigSet::all().thread_unblock().map_err(|error| failed(error.into()))?;
    let is_held = arguments.first().is_some_and(|first| first == EFFECTS_COMMAND);
    let mut kernel = Command::new(if is_held { OsStr::new(PROGRAM) } else { program });
    // Only the program that holds the kernel's effects reads it.
    kernel.args(arguments).stdin(input.filter(|_| is_held).map_or_else(Stdio::null, Stdio::from));
    let started = kernel.spawn().map_err(|error| spawn_error(program, &error))?;
    drop(kernel);
    let end = reap_until(started.id()).map_err(failed)?;
    // If the launcher has ended, this process is killed anyway.
    let _ = launcher.write_all(&end);
    Ok(ExitCode::SUCCESS)
}

fn is_open(launcher: &UnixStream) -> bool {
    let mut waited = [PollFd::new(launcher.as_fd(), PollFlags::empty())];
    // A closed end is reported without being requested.
    poll(&mut waited, PollTimeout::ZERO).is_ok() && waited[0].any() == Some(false)
}

/// Reaps all orphaned processes until the kernel exits; returns its exit.
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
