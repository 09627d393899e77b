//! The hidden command: restricts its own process and becomes the kernel.
//!
//! It runs before any thread is started, because a process with threads cannot enter a user namespace.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::Read;
use std::process::ExitCode;

use serde::{Deserialize, Serialize};

use super::system::{self, processes};
use super::{LAUNCHER_COMMAND, Plan, Standing};

/// A plan, and the restrictions required before the kernel starts. Without them the launcher prints what it measured and starts nothing.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct LauncherPromise {
    pub plan: Plan,
    pub standing: Option<Standing>,
}

/// A launcher's input: a plan, and the command to start, if any.
#[derive(Debug)]
pub(super) struct LauncherOrder {
    pub promise: LauncherPromise,
    pub command: Vec<OsString>,
}

/// Carries out the hidden command; `None` for any other command.
///
/// `PROGRAM kernel-launcher PLAN COMMAND…` becomes the command, or with a separate PID namespace waits for it. Without
/// arguments it reads the plan from standard input, and writes the resulting restrictions to standard output.
pub fn enter(mut arguments: impl Iterator<Item = OsString>) -> Option<ExitCode> {
    let command = arguments.nth(1)?;
    let done = if command == LAUNCHER_COMMAND {
        order(arguments).and_then(|order| launch(&order))
    } else if command == processes::INIT_COMMAND {
        processes::init(arguments)
    } else {
        return None;
    };
    let failed = |reason| {
        eprintln!("{reason}");
        ExitCode::FAILURE
    };
    Some(done.unwrap_or_else(failed))
}

fn order(mut arguments: impl Iterator<Item = OsString>) -> Result<LauncherOrder, String> {
    let unreadable = |error: std::io::Error| format!("the kernel's plan cannot be read: {error}");
    let path = arguments.next();
    let mut text = Vec::new();
    let read = match &path {
        Some(path) => File::open(path).and_then(|mut file| file.read_to_end(&mut text)),
        None => std::io::stdin().read_to_end(&mut text),
    };
    read.map_err(unreadable)?;
    let promise = serde_json::from_slice(&text).map_err(|error| unreadable(error.into()))?;
    let command: Vec<OsString> = arguments.collect();
    if path.is_some() && command.is_empty() {
        return Err("no command for the kernel".to_owned());
    }
    Ok(LauncherOrder { promise, command })
}

fn launch(order: &LauncherOrder) -> Result<ExitCode, String> {
    use std::os::unix::process::CommandExt;
    if order.promise.plan.own_processes {
        return processes::launch(order);
    }
    fulfil(&order.promise)?;
    let Some((program, arguments)) = order.command.split_first() else { return Ok(ExitCode::SUCCESS) };
    Err(spawn_error(program, &std::process::Command::new(program).args(arguments).exec()))
}

pub(super) fn spawn_error(program: &OsStr, error: &std::io::Error) -> String {
    format!("{} cannot be started: {error}", program.to_string_lossy())
}

/// Restricts this process as promised; without a promise prints the result.
pub(super) fn fulfil(promise: &LauncherPromise) -> Result<(), String> {
    let found = system::restrict(&promise.plan)?;
    match &promise.standing {
        None => println!("{}", serde_json::to_string(&found).map_err(|error| error.to_string())?),
        Some(standing) if *standing == found => {}
        Some(standing) => {
            return Err(format!("the sandbox is not as it was promised: {found:?} instead of {standing:?}"));
        }
    }
    Ok(())
}
