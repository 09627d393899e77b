//! The launcher's side: the program's hidden command that filters itself and becomes a kernel, and the check that it works.
//!
//! `PROGRAM kernel-effects ORDER COMMAND…` has a Unix socket to the supervisor as its standard input. It comes after the namespaces,
//! so that the folders that it opens are those that the kernel sees.

use std::ffi::OsString;
use std::fs::File;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::Duration;

use notarium_core::UnheldCause;
use notarium_seccomp::{FilterOptions, HandoverError, hand_over};
use serde::{Deserialize, Serialize};

use super::held::open_folder;
use super::{SupervisedKernel, Supervisor};
use crate::temporary_files::TemporaryFolder;

/// The program's hidden command.
pub(crate) const EFFECTS_COMMAND: &str = "kernel-effects";
/// Names of the mounts that a sandbox makes for one kernel, as `/proc/self/mounts` lists them.
pub(crate) const SHARED_MEMORY_MOUNT: &str = "notarium-shm";
pub(crate) const TERMINALS_MOUNT: &str = "notarium-pts";
/// Exit code of a launcher whose system refuses the filter, and of one whose system does not have it.
const NOT_PERMITTED: u8 = 77;
const NOT_SUPPORTED: u8 = 78;
/// Timeout of the check.
const CHECK_TIMEOUT: Duration = Duration::from_secs(20);

/// Order to the launcher.
#[derive(Debug, Serialize, Deserialize)]
struct EffectsOrder {
    temporary_folder: PathBuf,
    working_folder: PathBuf,
    has_own_ipc: bool,
}

/// Ability to hold the effects of kernels: the program whose hidden command does it.
#[derive(Debug, Clone)]
pub struct Holding {
    launcher: PathBuf,
}

impl Holding {
    /// Finds whether this system can do it, with a launcher that becomes nothing. `Err` has the cause, and words about it.
    pub async fn check(launcher: PathBuf, runtime_dir: &Path) -> Result<Self, (UnheldCause, String)> {
        let failed =
            |error: std::io::Error| (UnheldCause::NotPermitted, format!("{} fails: {error}", launcher.display()));
        let folder = TemporaryFolder::create(runtime_dir, &ulid::Ulid::generate().to_string()).map_err(failed)?;
        let holding = Self { launcher: launcher.clone() };
        let kernel = SupervisedKernel {
            temporary_folder: folder.path.clone(),
            working_folder: folder.path.clone(),
            owns_working_folder: false,
            private_folder: folder.path.clone(),
            closed: Vec::new(),
            ports: Vec::new(),
            has_namespace: false,
            runs_in_child: false,
            refuses_surprises: false,
        };
        std::fs::create_dir(kernel.shared_memory()).map_err(failed)?;
        let (ours, theirs) = UnixStream::pair().map_err(failed)?;
        let mut command = tokio::process::Command::new(&launcher);
        command.args(&holding.arguments(&kernel, false)[1..]).stdin(OwnedFd::from(theirs));
        command.stdout(Stdio::null()).stderr(Stdio::piped()).kill_on_drop(true);
        let child = command.spawn().map_err(failed)?;
        drop(command);
        let _supervisor = Supervisor::start(kernel, ours.into(), || ()).map_err(failed)?;
        let output = tokio::time::timeout(CHECK_TIMEOUT, child.wait_with_output()).await;
        let output = output.map_err(|_| (UnheldCause::NotPermitted, "the check does not end".to_owned()))?;
        let output = output.map_err(failed)?;
        let words = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        match output.status.code() {
            Some(0) => Ok(holding),
            Some(code) if code == i32::from(NOT_SUPPORTED) => Err((UnheldCause::NotSupported, words)),
            _ => Err((UnheldCause::NotPermitted, words)),
        }
    }

    /// Start of the command line of a kernel that is held.
    pub(crate) fn arguments(&self, kernel: &SupervisedKernel, has_own_ipc: bool) -> [OsString; 3] {
        let SupervisedKernel { temporary_folder, working_folder, .. } = kernel.clone();
        let order = EffectsOrder { temporary_folder, working_folder, has_own_ipc };
        let order = serde_json::to_string(&order).unwrap_or_default();
        [self.launcher.clone().into(), EFFECTS_COMMAND.into(), order.into()]
    }
}

/// Carries out the hidden command: filters this process, and becomes the command.
pub(crate) fn enter(mut arguments: impl Iterator<Item = OsString>) -> Result<ExitCode, String> {
    let order = arguments.next().unwrap_or_default();
    let order: EffectsOrder =
        serde_json::from_str(&order.to_string_lossy()).map_err(|error| format!("the order cannot be read: {error}"))?;
    let failed = |error: std::io::Error| format!("the kernel's effects cannot be held: {error}");
    let socket = take_input().map_err(failed)?;
    let folders = folders(&order).map_err(failed)?;
    if let Err(error) = hand_over(socket, folders, FilterOptions { has_own_ipc: order.has_own_ipc }) {
        eprintln!("the kernel's effects cannot be held: {error}");
        return Ok(exit_code(&error));
    }
    let command: Vec<OsString> = arguments.collect();
    let Some((program, arguments)) = command.split_first() else { return Ok(ExitCode::SUCCESS) };
    let error = Command::new(program).args(arguments).exec();
    Err(format!("{} cannot be started: {error}", program.to_string_lossy()))
}

/// Takes the socket out of the standard input, which the kernel has nothing to read from.
fn take_input() -> std::io::Result<OwnedFd> {
    let socket = std::io::stdin().as_fd().try_clone_to_owned()?;
    rustix::stdio::dup2_stdin(File::open("/dev/null")?)?;
    Ok(socket)
}

/// The folders in the order in which the supervisor expects them.
fn folders(order: &EffectsOrder) -> std::io::Result<Vec<File>> {
    let mounts = std::fs::read_to_string("/proc/self/mounts").unwrap_or_default();
    let has = |name: &str| mounts.lines().any(|line| line.split(' ').next() == Some(name));
    let mut paths = vec![order.temporary_folder.as_path(), &order.working_folder];
    if has(SHARED_MEMORY_MOUNT) {
        paths.push(Path::new("/dev/shm"));
        if has(TERMINALS_MOUNT) {
            paths.push(Path::new("/dev/pts"));
        }
    }
    paths.into_iter().map(|path| open_folder(path).map(File::from)).collect()
}

fn exit_code(error: &HandoverError) -> ExitCode {
    /// `EINVAL`: an unknown flag. `ENOSYS`: no filter at all.
    const UNKNOWN: [i32; 2] = [22, 38];
    match error {
        HandoverError::Refused(error) if error.raw_os_error().is_some_and(|it| UNKNOWN.contains(&it)) => {
            NOT_SUPPORTED.into()
        }
        _ => NOT_PERMITTED.into(),
    }
}
