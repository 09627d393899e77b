//! Keeps the code of kernels from the rest of their machine: from Notarium's own files first of all.
//!
//! The agent starts each kernel through the program's own hidden command [`LAUNCHER_COMMAND`], which restricts itself and
//! then becomes the kernel, so that nothing of the kernel ever runs outside. On Linux it uses namespaces (empty read-only
//! mounts cover the hidden places) and Landlock (nothing changes mounts, looks into processes outside or signals them).
//! Where namespaces are not allowed, Landlock alone grants everything but the hidden places and what would be new beside
//! them.
//!
//! **Invariants.** What the agent says of a kernel is what the launcher saw of itself with the same plan. A launcher that
//! cannot do what was promised ends, and no kernel starts.

pub mod launcher;
mod places;
#[cfg(target_os = "linux")]
mod system;
#[cfg(not(target_os = "linux"))]
#[path = "sandbox/no_system.rs"]
mod system;

use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::str::FromStr;

use notarium_core::{RawJson, RawObject};
use serde::de::IntoDeserializer;
use serde::de::value::StrDeserializer;
use serde::{Deserialize, Serialize};
use tokio::process::Command;

use launcher::Promise;
pub use places::{LOCAL_PACKAGES, named_places, private_sockets, secret_places, startup_files};

/// The program's hidden command that becomes a kernel.
pub const LAUNCHER_COMMAND: &str = "kernel-launcher";

/// How far a kernel's code reaches over the network.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KernelNetwork {
    #[default]
    All,
    /// A loopback of its own: its processes reach each other, and nothing else.
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

/// What a kernel may reach. Paths are absolute; those that do not exist are passed over.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// Cannot be read, written or listed.
    pub hidden: Vec<PathBuf>,
    /// Can be reached although it lies in a hidden place.
    pub shown: Vec<PathBuf>,
    /// Can be read, not written.
    pub read_only: Vec<PathBuf>,
    pub network: KernelNetwork,
    /// Whether to use namespaces. The first check says whether the system allows it.
    pub namespaces: bool,
    /// Whether the kernel has a PID namespace and `/proc` of its own besides. As above.
    #[serde(default)]
    pub own_processes: bool,
}

/// By which of the system's means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Mounts over what is hidden, processes of its own, Landlock where there is one.
    Full,
    /// The same among the machine's processes.
    Namespaces,
    /// Landlock alone.
    Landlock,
}

/// What stands between a kernel's code and the rest of its machine. As `KernelSessionStarted` records it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Standing {
    /// Absent: an older version recorded it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<Kind>,
    /// Hidden places cannot be reached, by path or through a socket in them.
    pub file_system: bool,
    /// Processes outside cannot be looked into, traced or signalled.
    pub processes: bool,
    /// Abstract sockets of others cannot be connected to. Older versions counted them among `processes`.
    #[serde(default = "stands")]
    pub sockets: bool,
    pub network: KernelNetwork,
    /// What does it, for people to read.
    pub by: Vec<String>,
    /// What is within reach all the same, for people to read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub open: Vec<String>,
}

fn stands() -> bool {
    true
}

impl Standing {
    /// Whether what can confirm is out of the kernel's reach.
    pub fn holds(&self) -> bool {
        self.file_system && self.processes && self.sockets
    }

    /// One or two words for people.
    pub fn word(&self) -> &'static str {
        match (self.holds(), self.kind) {
            (true, Some(Kind::Full)) => "full",
            (true, Some(Kind::Namespaces)) => "namespaces",
            (true, Some(Kind::Landlock)) => "Landlock only",
            (true, None) => "whole",
            (false, Some(Kind::Landlock)) => "Landlock only, not whole",
            (false, _) => "not whole",
        }
    }

    /// As it is recorded.
    pub fn record(&self) -> RawObject {
        RawJson::of(self).ok().and_then(|raw| RawObject::parse(raw.get()).ok()).unwrap_or_default()
    }
}

/// How kernels are launched: by what, with which plan, and what then stands.
#[derive(Debug, Clone)]
pub struct Sandbox {
    launcher: PathBuf,
    plan: Plan,
    standing: Standing,
}

impl Sandbox {
    /// Finds out what this system can do of a plan, with namespaces and then without. `Err` says why nothing stands.
    pub async fn check(launcher: PathBuf, plan: Plan) -> Result<Self, String> {
        Self::first(launcher, plan, &[(true, true), (true, false), (false, false)]).await
    }

    /// The same with Landlock alone.
    pub async fn check_without_namespaces(launcher: PathBuf, plan: Plan) -> Result<Self, String> {
        Self::first(launcher, plan, &[(false, false)]).await
    }

    async fn first(launcher: PathBuf, plan: Plan, ways: &[(bool, bool)]) -> Result<Self, String> {
        let mut reasons = Vec::new();
        for &(namespaces, own_processes) in ways {
            let plan = Plan { namespaces, own_processes, ..plan.clone() };
            match try_out(&launcher, &plan).await {
                Ok(standing) => return Ok(Self { launcher, plan, standing }),
                Err(reason) => reasons.push(reason),
            }
        }
        reasons.dedup();
        Err(reasons.join("; "))
    }

    pub fn standing(&self) -> &Standing {
        &self.standing
    }

    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Only what lies in the kernel's own folder reaches it: no port of this machine.
    pub fn needs_sockets_in_files(&self) -> bool {
        self.plan.network != KernelNetwork::All
    }

    /// The plan of one kernel, which sees its own folder.
    pub(crate) fn plan_of(&self, own: &Path) -> Vec<u8> {
        let shown = self.plan.shown.iter().cloned().chain([own.to_owned()]).collect();
        let plan = Plan { shown, ..self.plan.clone() };
        serde_json::to_vec(&Promise { plan, standing: Some(self.standing.clone()) }).unwrap_or_default()
    }

    /// What starts the kernel instead of its own command line.
    pub(crate) fn command_line(&self, plan: PathBuf) -> [std::ffi::OsString; 3] {
        [self.launcher.clone().into(), LAUNCHER_COMMAND.into(), plan.into()]
    }
}

async fn try_out(launcher: &Path, plan: &Plan) -> Result<Standing, String> {
    use tokio::io::AsyncWriteExt;
    let failed = |error: std::io::Error| format!("{} does not start: {error}", launcher.display());
    let mut command = Command::new(launcher);
    command.arg(LAUNCHER_COMMAND).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.kill_on_drop(true).spawn().map_err(failed)?;
    if let Some(mut stdin) = child.stdin.take() {
        let promise = Promise { plan: plan.clone(), standing: None };
        // One that has ended already says why on its standard error.
        let _ = stdin.write_all(&serde_json::to_vec(&promise).unwrap_or_default()).await;
    }
    let output = child.wait_with_output().await.map_err(failed)?;
    match output.status.success() {
        true => serde_json::from_slice(&output.stdout).map_err(|error| format!("the launcher's answer: {error}")),
        false => Err(String::from_utf8_lossy(&output.stderr).trim().to_owned()),
    }
}
