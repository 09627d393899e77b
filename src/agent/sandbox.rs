//! Sandbox: keeps the code of kernels from the rest of their machine, first of all from Notarium's own files.
//!
//! The agent starts each kernel through the program's own hidden command [`LAUNCHER_COMMAND`], which restricts itself and
//! then becomes the kernel, so that no code of the kernel runs outside. The command runs before any thread is started, because a
//! process with threads cannot enter a user namespace. On Linux it uses namespaces (empty read-only
//! mounts cover the hidden paths) and Landlock (no process changes mounts, or inspects or signals processes outside).
//! Without namespaces, Landlock alone grants everything except the hidden paths and new entries beside them.
//! With namespaces, folders and links that lead to a covered path cannot be moved (`system/mounts/pins`), and missing secret places
//! and startup files have stand-ins while kernels run (`stand_ins`).
//!
//! **Invariants.** The agent reports the restrictions that the launcher measured on itself with the same plan. A launcher that
//! cannot meet them exits, and no kernel starts.

mod paths;
mod stand_ins;
#[cfg(target_os = "linux")]
mod system;

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{ExitCode, Stdio};
use std::str::FromStr;
use std::sync::Arc;

use notarium_core::{KernelEffects, KernelSurprises, RawJson, RawObject};
use serde::de::IntoDeserializer;
use serde::de::value::StrDeserializer;
use serde::{Deserialize, Serialize};
use system::processes;
use tokio::process::Command;
use tokio::sync::OnceCell;

use crate::supervisor::launcher::{EFFECTS_COMMAND, enter as enter_effects};
use stand_ins::{CleanUpPause, Keeper};

pub use paths::{
    LOCAL_PACKAGES, missing_places, named_places, own_folders, private_sockets, secret_places, startup_files,
    system_folders,
};
pub use stand_ins::{MissingPlace, StandIns};

/// The program's hidden command that restricts itself and becomes a kernel.
pub const LAUNCHER_COMMAND: &str = "kernel-launcher";

/// Network access of a kernel's code.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KernelNetwork {
    #[default]
    All,
    /// Its own loopback: its processes reach each other only.
    Loopback,
    None,
}

impl FromStr for KernelNetwork {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let word: StrDeserializer<'_, serde::de::value::Error> = text.into_deserializer();
        Self::deserialize(word).map_err(|_| "choose all, loopback or none".to_owned())
    }
}

impl fmt::Display for KernelNetwork {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(formatter)
    }
}

/// Paths and network that a kernel may reach. Paths are absolute; missing ones are skipped.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// Paths that cannot be read, written or listed.
    pub hidden: Vec<PathBuf>,
    /// Paths within hidden ones that can be reached.
    pub shown: Vec<PathBuf>,
    /// Paths that can be read but not written.
    pub read_only: Vec<PathBuf>,
    /// Paths that can be reached, besides the shown ones. Empty: all that are not hidden.
    #[serde(default)]
    pub reads: Vec<PathBuf>,
    pub network: KernelNetwork,
    /// True to use namespaces. The first check finds whether the system allows it.
    pub namespaces: bool,
    /// True for the kernel's own PID namespace and `/proc` besides. Checked likewise.
    #[serde(default)]
    pub own_processes: bool,
}

/// Means of the restriction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SandboxMeans {
    /// Mounts over hidden paths, separate PID namespace, Landlock if the system has it.
    Full,
    /// The same without a separate PID namespace.
    Namespaces,
    /// Landlock alone.
    Landlock,
}

/// Restrictions of a kernel's code, as `KernelSessionStarted` records them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AppliedSandbox {
    /// Absent: an older version recorded it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<SandboxMeans>,
    /// Hidden paths cannot be reached, by path or through a socket in them.
    pub file_system: bool,
    /// Processes outside cannot be inspected, traced or signalled.
    pub processes: bool,
    /// Abstract sockets of other programs cannot be connected to. Older versions counted them among `processes`.
    #[serde(default = "stands")]
    pub sockets: bool,
    pub network: KernelNetwork,
    /// Means in use, for people to read.
    pub by: Vec<String>,
    /// Gaps: what the code can still reach, for people to read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub open: Vec<String>,
}

fn stands() -> bool {
    true
}

impl AppliedSandbox {
    /// True if the kernel cannot reach the credentials that confirm calls.
    pub fn holds(&self) -> bool {
        self.file_system && self.processes && self.sockets
    }

    /// The strength in one to four words, for people.
    pub fn word(&self) -> &'static str {
        match (self.holds(), self.kind) {
            (true, Some(SandboxMeans::Full)) => "full",
            (true, Some(SandboxMeans::Namespaces)) => "namespaces",
            (true, Some(SandboxMeans::Landlock)) => "Landlock only",
            (true, None) => "whole",
            (false, Some(SandboxMeans::Landlock)) => "Landlock only, not whole",
            (false, _) => "not whole",
        }
    }
}

/// The record of a kernel's sandbox, if any, and of the holding of its effects.
pub(crate) fn record(sandbox: Option<&Sandbox>, effects: &KernelEffects, surprises: KernelSurprises) -> RawObject {
    #[derive(Serialize)]
    struct Record<'a> {
        #[serde(flatten)]
        sandbox: Option<&'a AppliedSandbox>,
        effects: &'a KernelEffects,
        #[serde(skip_serializing_if = "Option::is_none")]
        surprises: Option<KernelSurprises>,
    }
    let surprises = (*effects == KernelEffects::Held).then_some(surprises);
    let record = Record { sandbox: sandbox.map(Sandbox::standing), effects, surprises };
    RawJson::of(&record).ok().and_then(|raw| RawObject::parse(raw.get()).ok()).unwrap_or_default()
}

/// Launcher, plan and resulting restrictions of kernels.
#[derive(Debug, Clone)]
pub struct Sandbox {
    launcher: PathBuf,
    plan: Plan,
    standing: AppliedSandbox,
    stand_ins: Option<StandIns>,
    /// Started with the first kernel, ends with the last copy of this.
    keeper: Arc<OnceCell<Keeper>>,
}

impl Sandbox {
    /// Finds what this system can do of a plan, with namespaces and then without. `Err` has the reasons if all ways fail. Missing places
    /// are covered too if there are `stand_ins` for them.
    pub async fn check(launcher: PathBuf, plan: Plan, stand_ins: Option<StandIns>) -> Result<Self, String> {
        let _pause = match &stand_ins {
            Some(stand_ins) => pause_clean_up(stand_ins).await,
            None => None,
        };
        let found = Self::first(launcher, plan, &[(true, true), (true, false), (false, false)]).await?;
        Ok(Self { stand_ins, ..found })
    }

    /// Like [`check`](Self::check), with Landlock alone.
    pub async fn check_without_namespaces(launcher: PathBuf, plan: Plan) -> Result<Self, String> {
        Self::first(launcher, plan, &[(false, false)]).await
    }

    async fn first(launcher: PathBuf, plan: Plan, ways: &[(bool, bool)]) -> Result<Self, String> {
        let mut reasons = Vec::new();
        for &(namespaces, own_processes) in ways {
            let plan = Plan { namespaces, own_processes, ..plan.clone() };
            match try_out(&launcher, &plan).await {
                Ok(standing) => {
                    return Ok(Self { launcher, plan, standing, stand_ins: None, keeper: Arc::default() });
                }
                Err(reason) => reasons.push(reason),
            }
        }
        reasons.dedup();
        Err(reasons.join("; "))
    }

    /// Makes the stand-ins for missing places, before the first kernel starts. Landlock alone needs none: it lets nobody make new
    /// entries beside hidden places.
    pub(crate) async fn stand_in(&self) -> std::io::Result<()> {
        let Some(stand_ins) = self.stand_ins.as_ref().filter(|_| self.plan.namespaces) else { return Ok(()) };
        self.keeper.get_or_try_init(|| Keeper::start(&self.launcher, stand_ins)).await.map(drop)
    }

    pub fn standing(&self) -> &AppliedSandbox {
        &self.standing
    }

    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// True if the kernel can be reached only through sockets in its own folder, not through a port.
    pub fn needs_sockets_in_files(&self) -> bool {
        self.plan.network != KernelNetwork::All
    }

    /// The plan of one kernel, in which its own folders are shown.
    pub(crate) fn plan_of(&self, own: &[&Path]) -> Vec<u8> {
        let own = own.iter().map(|path| path.to_path_buf());
        let shown = self.plan.shown.iter().cloned().chain(own).collect();
        let plan = Plan { shown, ..self.plan.clone() };
        serde_json::to_vec(&LauncherPromise { plan, standing: Some(self.standing.clone()), input: None })
            .unwrap_or_default()
    }

    /// Command line that starts the kernel through the launcher.
    pub(crate) fn command_line(&self, plan: PathBuf) -> [std::ffi::OsString; 3] {
        [self.launcher.clone().into(), LAUNCHER_COMMAND.into(), plan.into()]
    }
}

/// Pauses the keepers of other agents for a check. If the lock fails, the check goes on: it is wrong only if a stand-in vanishes
/// meanwhile.
async fn pause_clean_up(stand_ins: &StandIns) -> Option<CleanUpPause> {
    let paused = stand_ins.pause_clean_up().await;
    paused.inspect_err(|error| tracing::warn!(%error, "stand-ins may vanish while the sandbox is checked")).ok()
}

async fn try_out(launcher: &Path, plan: &Plan) -> Result<AppliedSandbox, String> {
    use tokio::io::AsyncWriteExt;
    let failed = |error: std::io::Error| format!("{} does not start: {error}", launcher.display());
    let mut command = Command::new(launcher);
    command.arg(LAUNCHER_COMMAND).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.kill_on_drop(true).spawn().map_err(failed)?;
    if let Some(mut stdin) = child.stdin.take() {
        let promise = LauncherPromise { plan: plan.clone(), standing: None, input: None };
        // If the launcher has exited already, its standard error has the reason.
        let _ = stdin.write_all(&serde_json::to_vec(&promise).unwrap_or_default()).await;
    }
    let output = child.wait_with_output().await.map_err(failed)?;
    match output.status.success() {
        true => serde_json::from_slice(&output.stdout).map_err(|error| format!("the launcher's answer: {error}")),
        false => Err(String::from_utf8_lossy(&output.stderr).trim().to_owned()),
    }
}

/// A plan, and the restrictions required before the kernel starts. Without them the launcher prints what it measured and starts nothing.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct LauncherPromise {
    pub plan: Plan,
    pub standing: Option<AppliedSandbox>,
    /// Descriptor that becomes the kernel's standard input.
    #[serde(default)]
    pub input: Option<i32>,
}

/// A launcher's input: a plan, and the command to start, if any.
#[derive(Debug)]
struct LauncherOrder {
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
    } else if command == EFFECTS_COMMAND {
        enter_effects(arguments)
    } else if command == stand_ins::KEEPER_COMMAND {
        stand_ins::keep()
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
    if arguments.first().is_some_and(|first| first == EFFECTS_COMMAND) {
        // This program, which the sandbox may have hidden.
        return enter_effects(arguments[1..].iter().cloned());
    }
    Err(spawn_error(program, &std::process::Command::new(program).args(arguments).exec()))
}

fn spawn_error(program: &OsStr, error: &std::io::Error) -> String {
    format!("{} cannot be started: {error}", program.to_string_lossy())
}

/// Restricts this process as promised; without a promise prints the result.
fn fulfil(promise: &LauncherPromise) -> Result<(), String> {
    let found = system::restrict(&promise.plan, promise.input)?;
    match &promise.standing {
        None => println!("{}", serde_json::to_string(&found).map_err(|error| error.to_string())?),
        Some(standing) if *standing == found => {}
        Some(standing) => {
            return Err(format!("the sandbox is not as it was promised: {found:?} instead of {standing:?}"));
        }
    }
    Ok(())
}

/// Stand-in for systems without a sandbox: refuses every request.
#[cfg(not(target_os = "linux"))]
mod system {
    use super::{AppliedSandbox, Plan};

    pub fn restrict(_: &Plan, _: Option<i32>) -> Result<AppliedSandbox, String> {
        Err("this system has no sandbox for kernels: Linux has".to_owned())
    }

    pub fn block_signals() -> std::io::Result<()> {
        Ok(())
    }

    pub mod processes {
        use std::ffi::OsString;
        use std::process::ExitCode;

        use super::super::{LauncherOrder, fulfil};

        pub const INIT_COMMAND: &str = "kernel-init";

        pub fn launch(order: &LauncherOrder) -> Result<ExitCode, String> {
            fulfil(&order.promise).map(|()| ExitCode::SUCCESS)
        }

        pub fn init(_: impl Iterator<Item = OsString>) -> Result<ExitCode, String> {
            super::restrict(&super::Plan::default(), None).map(|_| ExitCode::SUCCESS)
        }
    }
}
