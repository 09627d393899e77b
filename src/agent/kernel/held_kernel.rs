//! A kernel whose effects are held: its folder for temporary files, the settings that keep refusals out of cells, its supervisor.

use std::ffi::OsString;
use std::os::fd::OwnedFd;
use std::os::unix::fs::DirBuilderExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

use jupyter_protocol::ConnectionInfo;
use jupyter_protocol::connection_info::Transport;
use notarium_core::KernelSurprises;
use tokio::process::Command;

use super::LaunchOptions;
use super::kernelspecs::Kernelspec;
use super::process::{KernelProcess, ProcessInput};
use crate::supervisor::{Holding, SupervisedKernel, Supervisor};
use crate::temporary_files::TemporaryFolder;

/// Folders below the temporary folder, with the variables that name them.
const FOLDERS: &[(&str, &str)] = &[("IPYTHONDIR", "ipython"), ("MPLCONFIGDIR", "matplotlib")];
/// Prefix of matplotlib's cache of fonts: finding them anew takes seconds.
const FONTS_PREFIX: &str = "fontlist-";
const MATPLOTLIB_SETTINGS: &str = "matplotlibrc";

/// A kernel that is about to start.
#[derive(Debug)]
pub(super) struct HeldKernel {
    holding: Holding,
    kernel: SupervisedKernel,
    has_own_ipc: bool,
    /// Not below the private folder: that may lie in memory, and temporary files may be large.
    temporary: TemporaryFolder,
}

/// A started kernel whose effects are held.
#[derive(Debug)]
pub(super) struct StartedKernel {
    pub process: KernelProcess,
    pub supervisor: Supervisor,
    /// Removed when dropped.
    pub temporary: TemporaryFolder,
}

impl HeldKernel {
    /// Makes the folders of a kernel, of which the temporary one ends in `name`. `None`: it is not held.
    pub fn prepare(
        kernelspec: &Kernelspec,
        options: &LaunchOptions,
        folder: &TemporaryFolder,
        info: &ConnectionInfo,
        name: &str,
    ) -> std::io::Result<Option<Self>> {
        let Ok(holding) = options.holding(kernelspec).cloned() else { return Ok(None) };
        let private_folder = folder.path.canonicalize()?;
        let temporary = TemporaryFolder::create(&std::env::temp_dir(), name)?;
        let temporary_folder = temporary.path.canonicalize()?.join("tmp");
        make_private(&temporary_folder)?;
        for (variable, name) in FOLDERS {
            make_private(&temporary_folder.join(name))?;
            if *variable == "MPLCONFIGDIR" {
                copy_matplotlib(&temporary_folder.join(name));
            }
        }
        let plan = options.sandbox.as_ref().map(|sandbox| sandbox.plan());
        let plans = plan.into_iter().flat_map(|plan| plan.hidden.iter().chain(&plan.read_only));
        let kernel = SupervisedKernel {
            temporary_folder,
            working_folder: options.working_dir.canonicalize()?,
            owns_working_folder: options.owns_working_dir,
            private_folder,
            closed: options.hidden.iter().chain(&options.read_only).chain(plans).cloned().collect(),
            ports: ports(info),
            has_namespace: options.has_own_processes(),
            runs_in_child: kernelspec.runs_in_child(),
            refuses_surprises: options.surprises == KernelSurprises::Ask,
        };
        make_private(&kernel.shared_memory())?;
        Ok(Some(Self { holding, kernel, has_own_ipc: plan.is_some_and(|plan| plan.namespaces), temporary }))
    }

    /// Variables of the kernel.
    pub fn environment(&self) -> Vec<(OsString, OsString)> {
        let temporary = &self.kernel.temporary_folder;
        let folders = FOLDERS.iter().map(|(variable, name)| (OsString::from(*variable), temporary.join(name).into()));
        let settings = [("TMPDIR".into(), temporary.clone().into()), ("NOTARIUM_HELD".into(), "1".into())];
        folders.chain(settings).collect()
    }

    /// The folder that its sandbox shows besides the private one.
    pub fn temporary_folder(&self) -> &Path {
        &self.temporary.path
    }

    /// Start of the command line.
    pub fn arguments(&self) -> [OsString; 3] {
        self.holding.arguments(&self.kernel, self.has_own_ipc)
    }

    /// Starts the kernel with its supervisor. When one ends, so does the other.
    pub fn spawn(self, mut command: Command) -> std::io::Result<StartedKernel> {
        let (ours, theirs) = UnixStream::pair()?;
        let input = ProcessInput::Socket { theirs: theirs.into(), ours: ours.try_clone()?.into() };
        let process = KernelProcess::spawn(&mut command, input)?;
        // It holds the kernel's end of the socket as well.
        drop(command);
        let group = process.group.clone();
        let supervisor = Supervisor::start(self.kernel, OwnedFd::from(ours), move || group.kill())?;
        Ok(StartedKernel { process, supervisor, temporary: self.temporary })
    }
}

fn make_private(folder: &Path) -> std::io::Result<()> {
    std::fs::DirBuilder::new().mode(0o700).create(folder)
}

fn ports(info: &ConnectionInfo) -> Vec<u16> {
    match info.transport {
        Transport::TCP => vec![info.shell_port, info.iopub_port, info.stdin_port, info.control_port, info.hb_port],
        Transport::IPC => Vec::new(),
    }
}

/// Copies the person's settings of matplotlib and its cache of fonts, as far as they exist.
fn copy_matplotlib(to: &Path) {
    let own = std::env::var_os("MPLCONFIGDIR").map(PathBuf::from);
    let usual = [dirs_of("XDG_CACHE_HOME", ".cache"), dirs_of("XDG_CONFIG_HOME", ".config")];
    let folders = match own {
        Some(own) => vec![own],
        None => usual.into_iter().flatten().map(|folder| folder.join("matplotlib")).collect(),
    };
    for entry in folders.iter().filter_map(|folder| std::fs::read_dir(folder).ok()).flatten().flatten() {
        let name = entry.file_name();
        let text = name.to_string_lossy();
        if text.starts_with(FONTS_PREFIX) || text == MATPLOTLIB_SETTINGS {
            // Without them matplotlib uses its defaults.
            let _ = std::fs::copy(entry.path(), to.join(&name));
        }
    }
}

fn dirs_of(variable: &str, usual: &str) -> Option<PathBuf> {
    let named = std::env::var_os(variable).map(PathBuf::from).filter(|path| path.is_absolute());
    named.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(usual)))
}
