//! The hidden command: restricts its own process and becomes the kernel.
//!
//! It runs before any thread does: a process with threads enters no user namespace.

use std::ffi::OsString;
use std::io::Read;
use std::process::ExitCode;

use super::{LAUNCHER_COMMAND, Plan, Promise, Standing};

/// Does what the hidden command says, when it was asked for; `None` where this is another command.
///
/// `PROGRAM kernel-launcher PLAN COMMAND…` becomes the command; without arguments the plan is read from standard input, and
/// what then stands is written to standard output.
pub fn enter(mut arguments: impl Iterator<Item = OsString>) -> Option<ExitCode> {
    if arguments.nth(1)? != LAUNCHER_COMMAND {
        return None;
    }
    let done = match arguments.next() {
        Some(plan) => launch(plan, arguments),
        None => check(),
    };
    let Err(reason) = done else { return Some(ExitCode::SUCCESS) };
    eprintln!("{reason}");
    Some(ExitCode::FAILURE)
}

fn check() -> Result<(), String> {
    let mut text = Vec::new();
    std::io::stdin().read_to_end(&mut text).map_err(|error| format!("no plan: {error}"))?;
    let plan: Plan = serde_json::from_slice(&text).map_err(|error| format!("no plan: {error}"))?;
    let standing = restrict(&plan)?;
    println!("{}", serde_json::to_string(&standing).map_err(|error| error.to_string())?);
    Ok(())
}

fn launch(plan: OsString, mut command: impl Iterator<Item = OsString>) -> Result<(), String> {
    use std::os::unix::process::CommandExt;
    let text = std::fs::read(plan).map_err(|error| format!("the kernel's plan cannot be read: {error}"))?;
    let Promise { plan, standing } =
        serde_json::from_slice(&text).map_err(|error| format!("the kernel's plan cannot be read: {error}"))?;
    let found = restrict(&plan)?;
    if found != standing {
        return Err(format!("the sandbox is not as it was promised: {found:?} instead of {standing:?}"));
    }
    let program = command.next().ok_or("no command for the kernel")?;
    let error = std::process::Command::new(&program).args(command).exec();
    Err(format!("{} cannot be started: {error}", program.to_string_lossy()))
}

#[cfg(target_os = "linux")]
fn restrict(plan: &Plan) -> Result<Standing, String> {
    super::system::restrict(plan)
}

#[cfg(not(target_os = "linux"))]
fn restrict(_: &Plan) -> Result<Standing, String> {
    Err("this system has no sandbox for kernels: Linux has".to_owned())
}
