//! Signals that the supervisor sends for held threads, to processes that it has checked itself.

use std::collections::BTreeSet;

use notarium_seccomp::{Notification, ToldAnswer, ToldCall};
use rustix::io::Errno;

use super::arguments::{ToldOperation, operation};
use super::attribution::ThreadId;
use super::processes::{self, ProcessTree, status};

/// A told signal.
#[derive(Debug, Clone, Copy)]
pub struct SignalCall<'a> {
    pub tree: ProcessTree,
    pub told: &'a Notification,
}

/// A signal to the own process passes: its number is in a register. One to a process of the run (`is_its`) is sent here. `None`: refused.
pub fn answer(call: &SignalCall, seen: &BTreeSet<u32>, is_its: impl Fn(ThreadId) -> bool) -> Option<ToldAnswer> {
    let (told, own) = (call.told, status(call.told.thread)?);
    match (told.call?, operation(told.call?, &told.arguments)) {
        (_, ToldOperation::SignalThread { process, .. }) if process == own.own_process => Some(ToldAnswer::Continue),
        (ToldCall::Tkill, _) if lower(told.arguments[0]) == own.own_thread => Some(ToldAnswer::Continue),
        (_, ToldOperation::Signal { process, .. }) if process == own.own_process => Some(ToldAnswer::Continue),
        (ToldCall::Kill, ToldOperation::Signal { process, signal }) if process > 0 => {
            send(call, seen, process, signal, is_its)
        }
        (ToldCall::PidfdSendSignal, _) => {
            let text = format!("/proc/{}/fdinfo/{}", told.thread, lower(told.arguments[0]));
            let text = std::fs::read_to_string(text).ok()?;
            let process = text.lines().find_map(|line| line.strip_prefix("NSpid:"))?;
            let process = process.rsplit(char::is_whitespace).next()?.parse().ok()?;
            send(call, seen, process, lower(told.arguments[1]), is_its)
        }
        _ => None,
    }
}

#[allow(clippy::cast_possible_truncation, clippy::cast_possible_wrap, reason = "the system reads lower halves as well")]
fn lower(register: u64) -> i32 {
    register as u32 as i32
}

fn send(
    call: &SignalCall,
    seen: &BTreeSet<u32>,
    process: i32,
    signal: i32,
    is_its: impl Fn(ThreadId) -> bool,
) -> Option<ToldAnswer> {
    let named = |leader: &ThreadId| status(leader.number).is_some_and(|status| status.own_process == process);
    let Some(target) = call.tree.leaders(seen).into_iter().find(named) else {
        // In a namespace of its own there is no other process than the first. Outside, numbers are the same here.
        let number = u32::try_from(process).ok().filter(|number| *number > 1)?;
        let is_gone = call.tree.has_namespace || processes::stat(number).is_none();
        return is_gone.then_some(ToldAnswer::Fail(Errno::SRCH.raw_os_error()));
    };
    if !is_its(target) {
        return None;
    }
    // One that has ended takes a signal without effect.
    let is_sent = processes::signal(target, signal) || processes::stat(target.number).is_some();
    Some(if is_sent { ToldAnswer::Done(0) } else { ToldAnswer::Fail(Errno::SRCH.raw_os_error()) })
}
