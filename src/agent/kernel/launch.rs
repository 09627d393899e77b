//! Launches a kernel process and waits until it answers.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::net::{IpAddr, Ipv4Addr};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jupyter_protocol::ConnectionInfo;
use jupyter_protocol::connection_info::Transport;
use jupyter_zmq_client::peek_ports_with_listeners;
use notarium_core::{ExplainedCause, KernelCause};
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::net::TcpListener;
use tokio::process::Command;
use tokio::sync::mpsc;

use super::channels::{Channels, MAX_WAITING_REQUESTS};
use super::comms::{MAX_WAITING_COMMS, OutputWidgets};
use super::driver::{Driver, DriverState};
use super::executions::Executions;
use super::fence::Fence;
use super::held_kernel::{HeldKernel, StartedKernel};
use super::kernelspecs::Kernelspec;
use super::process::{ExitStatus, KernelProcess, ProcessInput, exited};
use super::questions::{InputQuestions, MAX_WAITING_QUESTIONS};
use super::{Kernel, KernelEvent, LaunchOptions, TransportChoice, environment, python_package};
use crate::connections::schemas::Schemas;
use crate::connections::{self, BrokerListener, TOLD_TO_KERNELS};
use crate::sandbox;
use crate::supervisor::Supervisor;
use crate::temporary_files::TemporaryFolder;

/// Longest path of a Unix socket on Linux; macOS has 103.
const MAX_SOCKET_PATH_BYTES: usize = if cfg!(target_os = "linux") { 107 } else { 103 };
/// Most starts of a kernel whose port was taken by another process.
const MAX_ATTEMPTS: usize = 3;
const LAUNCHER: &str = include_str!("launcher.py");
/// Variables that lead to the person's desktop; absent in a sandbox.
const DESKTOP_ENVIRONMENT: &[&str] = &["DISPLAY", "WAYLAND_DISPLAY", "XDG_RUNTIME_DIR"];

/// Variables of the agent that every kernel gets. Deliberately absent: any that may hold a secret.
const PASSED_ENVIRONMENT: &str = include_str!("passed_environment.txt");
const PASSED_PREFIXES: &[&str] = &["LC_", "NVIDIA_", "ROCM_", "HIP_"];

/// Reasons why a kernel did not start; each message says what to do.
#[derive(Debug, thiserror::Error)]
pub enum LaunchError {
    #[error(
        "the kernel {kernel:?} is started by {program:?}, which is not on this machine: install it or correct the kernelspec"
    )]
    MissingExecutable { kernel: String, program: String },
    #[error("the working folder {} does not exist", .0.display())]
    MissingWorkingDir(PathBuf),
    #[error("the kernel's private folder under {} cannot be made: {source}", path.display())]
    RuntimeFolder { path: PathBuf, source: std::io::Error },
    #[error("secret places that are missing cannot be covered: {0}")]
    StandIns(std::io::Error),
    #[error("no loopback ports for the kernel: {0}")]
    Ports(String),
    #[error("a kernel without the network needs sockets in files, and the path of {} is too long for them", .0.display())]
    NoPorts(PathBuf),
    #[error("the kernel process cannot be started: {0}")]
    Spawn(std::io::Error),
    #[error("the kernel process {status} before it answered{}", tail(output_tail))]
    Exited { status: ExitStatus, output_tail: String },
    #[error("the kernel did not answer within {seconds} s{}", tail(output_tail))]
    Timeout { seconds: u64, output_tail: String },
    #[error("the kernel's sockets cannot be reached: {0}")]
    Connect(String),
}

impl LaunchError {
    /// The cause in the log's form.
    pub fn because(&self) -> ExplainedCause<KernelCause> {
        let cause = match self {
            Self::MissingExecutable { .. } => KernelCause::NotInstalled,
            Self::Exited { .. } => KernelCause::Died,
            Self::Timeout { .. } => KernelCause::NoAnswer,
            _ => KernelCause::CannotStart,
        };
        ExplainedCause::new(cause, self.to_string())
    }
}

fn tail(output_tail: &str) -> String {
    if output_tail.is_empty() { ", and it wrote nothing".to_owned() } else { format!("; it wrote:\n{output_tail}") }
}

impl Kernel {
    /// Starts the kernel and waits until it answers. [`KernelEvent::Ready`] is the first event.
    pub async fn launch(
        kernelspec: Kernelspec,
        options: LaunchOptions,
        events: mpsc::Sender<KernelEvent>,
    ) -> Result<Self, LaunchError> {
        let mut attempts = 1;
        loop {
            match start(&kernelspec, &options, events.clone()).await {
                Err(LaunchError::Exited { output_tail, .. })
                    if attempts < MAX_ATTEMPTS && lost_its_port(&output_tail) =>
                {
                    attempts += 1;
                }
                started => return started,
            }
        }
    }
}

/// Launches the kernel and starts its driver.
async fn start(
    kernelspec: &Kernelspec,
    options: &LaunchOptions,
    events: mpsc::Sender<KernelEvent>,
) -> Result<Kernel, LaunchError> {
    let folder = TemporaryFolder::create(&options.runtime_dir, &random_hex::<6>());
    let folder = folder.map_err(|source| LaunchError::RuntimeFolder { path: options.runtime_dir.clone(), source })?;
    if let Some(sandbox) = &options.sandbox {
        sandbox.stand_in().await.map_err(LaunchError::StandIns)?;
    }
    let (info, ports) = connection_info(kernelspec, options, &folder).await?;
    // Listeners are closed before the spawn: a child holds copies until just after the spawn returns, and would answer.
    drop(ports);
    let Spawned { process, databases, supervisor, temporary } = spawn(kernelspec, options, &folder, &info)?;
    let (channels, kernel_info) = answer(&process, &info, options).await?;
    let supervisor = supervisor.map(Arc::new);
    if let Some(supervisor) = &supervisor {
        supervisor.kernel_is_ready();
    }
    let interrupt_mode = kernelspec.interrupt_mode;
    let (requests, requests_receiver) = mpsc::channel(MAX_WAITING_REQUESTS);
    let (urgent, urgent_receiver) = mpsc::channel(64);
    let (questions, asks) = mpsc::channel(MAX_WAITING_QUESTIONS);
    let (comms, said) = mpsc::channel(MAX_WAITING_COMMS);
    let right = databases.as_ref().map(|it| it.right.clone()).unwrap_or_default();
    let mut server_requests = None;
    let (brokers, schemas) = databases
        .map(|it| {
            server_requests = Some(it.requests);
            (it.brokers, Arc::new(Schemas::new(options.connections.clone(), it.python, it.coming)))
        })
        .unzip();
    let driver = Driver {
        channels,
        executions: Executions::new(options.idle_timeout),
        events,
        outbox: VecDeque::from([ready(&kernel_info, kernelspec, options, &folder)]),
        requests: requests_receiver,
        urgent: urgent_receiver,
        asks,
        questions: InputQuestions::default(),
        said,
        output_widgets: OutputWidgets::default(),
        fence: Fence::new(supervisor.clone(), right),
        group: process.group.clone(),
        interrupt_mode,
        state: DriverState::default(),
        _brokers: brokers,
        _folder: folder,
        _temporary: temporary,
    };
    tokio::spawn(driver.run());
    let has_own_processes = options.has_own_processes();
    Ok(Kernel {
        interrupt_mode,
        has_own_processes,
        process,
        requests,
        urgent,
        questions,
        comms,
        schemas,
        server_requests,
        supervisor,
    })
}

/// True if another process took the kernel's TCP port before the kernel bound it.
fn lost_its_port(output_tail: &str) -> bool {
    ["Address already in use", "EADDRINUSE", "address in use"].iter().any(|text| output_tail.contains(text))
}

/// Waits until the kernel answers, ends or times out.
async fn answer(
    process: &KernelProcess,
    info: &ConnectionInfo,
    options: &LaunchOptions,
) -> Result<(Channels, String), LaunchError> {
    let mut exit = process.group.exit.clone();
    let session_id = random_hex::<16>();
    let connect = async {
        let mut channels = Channels::connect(info, &session_id, options.max_waiting_bytes).await?;
        let kernel_info = channels.handshake().await.unwrap_or_default();
        Ok((channels, kernel_info))
    };
    tokio::select! {
        exit = exited(&mut exit) => Err(LaunchError::Exited { status: exit.status, output_tail: exit.output_tail }),
        connected = connect => connected.map_err(|error: jupyter_zmq_client::RuntimeError| LaunchError::Connect(error.to_string())),
        () = tokio::time::sleep(options.launch_timeout) => {
            process.group.kill();
            let output_tail = exited(&mut exit).await.output_tail;
            Err(LaunchError::Timeout { seconds: options.launch_timeout.as_secs(), output_tail })
        }
    }
}

fn ready(kernel_info: &str, kernelspec: &Kernelspec, options: &LaunchOptions, folder: &TemporaryFolder) -> KernelEvent {
    #[derive(Deserialize)]
    struct KernelInfo {
        language_info: Option<Box<RawValue>>,
    }
    let info = serde_json::from_str::<KernelInfo>(kernel_info);
    let sandbox = sandbox::record(options.sandbox.as_ref(), &options.kernel_effects(kernelspec), options.surprises);
    let language_info = info.ok().and_then(|info| info.language_info);
    KernelEvent::Ready { language_info, sandbox, environment: environment::read(&folder.path) }
}

async fn connection_info(
    kernelspec: &Kernelspec,
    options: &LaunchOptions,
    folder: &TemporaryFolder,
) -> Result<(ConnectionInfo, Vec<TcpListener>), LaunchError> {
    let prefix = folder.path.join("s");
    let fits = prefix.as_os_str().len() + "-5".len() <= MAX_SOCKET_PATH_BYTES && prefix.to_str().is_some();
    // A kernel with its own network has no port that the agent can reach.
    let needs_files = options.sandbox.as_ref().is_some_and(|sandbox| sandbox.needs_sockets_in_files());
    let ipc = match options.transport {
        TransportChoice::Automatic => fits && (kernelspec.is_ipykernel() || needs_files),
        TransportChoice::Ipc => fits,
        TransportChoice::Tcp => false,
    };
    if ipc {
        let ip = prefix.to_string_lossy().into_owned();
        return Ok((with_ports(Transport::IPC, ip, &[1, 2, 3, 4, 5], kernelspec), Vec::new()));
    }
    if needs_files {
        return Err(LaunchError::NoPorts(folder.path.clone()));
    }
    let loopback = IpAddr::V4(Ipv4Addr::LOCALHOST);
    let (ports, listeners) =
        peek_ports_with_listeners(loopback, 5).await.map_err(|error| LaunchError::Ports(error.to_string()))?;
    Ok((with_ports(Transport::TCP, loopback.to_string(), &ports, kernelspec), listeners))
}

fn with_ports(transport: Transport, ip: String, ports: &[u16], kernelspec: &Kernelspec) -> ConnectionInfo {
    let port = |index: usize| ports.get(index).copied().unwrap_or_default();
    ConnectionInfo {
        ip,
        transport,
        shell_port: port(0),
        iopub_port: port(1),
        stdin_port: port(2),
        control_port: port(3),
        hb_port: port(4),
        key: random_hex::<32>(),
        signature_scheme: "hmac-sha256".to_owned(),
        kernel_name: Some(kernelspec.name.clone()),
    }
}

fn random_hex<const BYTES: usize>() -> String {
    let mut bytes = [0; BYTES];
    // Without random bytes the kernel's key would be guessable.
    getrandom::fill(&mut bytes).unwrap_or_else(|error| panic!("the system gives no random bytes: {error}"));
    hex::encode(bytes)
}

/// A started kernel.
struct Spawned {
    process: KernelProcess,
    databases: Option<BrokerListener>,
    supervisor: Option<Supervisor>,
    temporary: Option<TemporaryFolder>,
}

fn spawn(
    kernelspec: &Kernelspec,
    options: &LaunchOptions,
    folder: &TemporaryFolder,
    info: &ConnectionInfo,
) -> Result<Spawned, LaunchError> {
    if !options.working_dir.is_dir() {
        return Err(LaunchError::MissingWorkingDir(options.working_dir.clone()));
    }
    let failed = |source| LaunchError::RuntimeFolder { path: folder.path.clone(), source };
    let connection_file = folder.write("kernel.json", &serde_json::to_vec(info).unwrap_or_default()).map_err(failed)?;
    let mut arguments = kernelspec.command_line(&connection_file);
    if kernelspec.is_ipykernel() {
        if options.sandbox.is_some() || options.holding(kernelspec).is_ok() {
            // The history file in the home folder is hidden, or its writing would be refused.
            arguments.push("--HistoryManager.hist_file=:memory:".into());
        }
        use_launcher(&mut arguments, folder.write("launcher.py", LAUNCHER.as_bytes()).map_err(failed)?);
        python_package::write(&folder.path).map_err(failed)?;
    }
    let mut environment = environment(kernelspec, options);
    let mut databases = None;
    if kernelspec.is_ipykernel() {
        let python = arguments.first().map(PathBuf::from).unwrap_or_default();
        match connections::listen(options.connections.clone(), folder.path.join("sql"), python) {
            Ok(listening) => {
                environment.push((TOLD_TO_KERNELS.into(), listening.told.clone().into()));
                databases = Some(listening);
            }
            Err(source) if !options.connections.list.is_empty() => return Err(failed(source)),
            Err(error) => tracing::warn!(%error, "nobody can ask this kernel for the tables of its databases"),
        }
    }
    let held = HeldKernel::prepare(kernelspec, options, folder, info, &random_hex::<6>()).map_err(failed)?;
    environment.extend(held.iter().flat_map(HeldKernel::environment));
    check_executable(kernelspec, &arguments, &environment, &options.working_dir)?;
    if let Some(bytes) = options.max_memory_bytes {
        limit_memory(&mut arguments, bytes);
    }
    if let Some(held) = &held {
        arguments.splice(0..0, held.arguments());
    }
    if let Some(sandbox) = &options.sandbox {
        let own: Vec<&Path> = held.iter().map(HeldKernel::temporary_folder).chain([folder.path.as_path()]).collect();
        let plan = folder.write("plan.json", &sandbox.plan_of(&own)).map_err(failed)?;
        arguments.splice(0..0, sandbox.command_line(plan));
    }
    let mut command = Command::new(&arguments[0]);
    command.args(&arguments[1..]).current_dir(&options.working_dir).env_clear().envs(environment);
    let Some(held) = held else {
        let input = if options.has_own_processes() { ProcessInput::Open } else { ProcessInput::None };
        let process = KernelProcess::spawn(&mut command, input).map_err(LaunchError::Spawn)?;
        return Ok(Spawned { process, databases, supervisor: None, temporary: None });
    };
    let StartedKernel { process, supervisor, temporary } = held.spawn(command).map_err(LaunchError::Spawn)?;
    Ok(Spawned { process, databases, supervisor: Some(supervisor), temporary: Some(temporary) })
}

/// `python -m ipykernel_launcher …` becomes `python launcher.py …`.
fn use_launcher(arguments: &mut Vec<OsString>, launcher: PathBuf) {
    let module = arguments
        .windows(2)
        .position(|pair| pair[0] == "-m" && (pair[1] == "ipykernel_launcher" || pair[1] == "ipykernel"));
    if let Some(at) = module {
        arguments.splice(at..at + 2, [launcher.into_os_string()]);
    }
}

/// Wraps the command in a shell that sets the limit and execs the kernel, which keeps the process id.
fn limit_memory(arguments: &mut Vec<OsString>, bytes: u64) {
    let kibibytes = (bytes / 1024).to_string();
    let shell = ["/bin/sh", "-c", r#"ulimit -v "$0" && exec "$@""#, &kibibytes].map(OsString::from);
    arguments.splice(0..0, shell);
}

fn environment(kernelspec: &Kernelspec, options: &LaunchOptions) -> Vec<(OsString, OsString)> {
    let is_closed = |name: &str| options.sandbox.is_some() && DESKTOP_ENVIRONMENT.contains(&name);
    let is_passed = |name: &str| {
        (PASSED_ENVIRONMENT.lines().any(|passed| passed == name) && !is_closed(name))
            || PASSED_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
            || options.pass_environment.iter().any(|passed| passed == name)
    };
    let own = std::env::vars_os().filter(|(name, _)| name.to_str().is_some_and(is_passed));
    let kernels = kernelspec.environment(&|name| std::env::var_os(name));
    // A kernel in its own PID namespace has process 1 as its parent, which it does not outlive.
    let parent = if options.has_own_processes() { 1 } else { std::process::id() };
    own.chain(kernels.into_iter().map(|(name, value)| (OsString::from(name), value)))
        .chain([("JPY_PARENT_PID".into(), parent.to_string().into())])
        // Without this variable the module `notarium` sends nothing.
        .chain([("NOTARIUM_KERNEL".into(), "1".into())])
        .chain(options.notebook.iter().map(|id| ("NOTARIUM_NOTEBOOK".into(), id.as_str().into())))
        .collect()
}

/// Checks that the program exists; behind a wrapper the system's error would not name it.
fn check_executable(
    kernelspec: &Kernelspec,
    arguments: &[OsString],
    environment: &[(OsString, OsString)],
    working_dir: &Path,
) -> Result<(), LaunchError> {
    let program = arguments.first().map(OsString::as_os_str).unwrap_or_default();
    let path =
        environment.iter().rfind(|(name, _)| name == "PATH").map(|(_, value)| value.as_os_str()).unwrap_or_default();
    let found = if program.as_encoded_bytes().contains(&b'/') {
        is_executable(&working_dir.join(program))
    } else {
        std::env::split_paths(path).any(|folder| is_executable(&folder.join(program)))
    };
    if found {
        return Ok(());
    }
    let program = program.to_string_lossy().into_owned();
    Err(LaunchError::MissingExecutable { kernel: kernelspec.name.clone(), program })
}

fn is_executable(path: &Path) -> bool {
    path.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
}
