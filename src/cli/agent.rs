//! `agent`: a runtime agent, and agents in this process.

pub mod connections;
pub mod environment;
pub mod sandbox;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use futures_util::FutureExt;
use notarium_agent::agent::{self as runtime, AgentError, AgentNotice, AgentOptions};
use notarium_agent::connection::{ConnectError, ConnectOptions};
use notarium_agent::kernel::LaunchOptions;
use notarium_agent::outputs::OutputLimits;
use notarium_agent::session::KernelSessionLimits;
use notarium_core::{Labels, Scope, checked_labels};
use tokio::sync::{Notify, oneshot};
use tokio::task::JoinHandle;

use crate::cli::agent::connections::ConnectionArgs;
use crate::cli::agent::sandbox::{KernelRestrictions, SandboxArgs, Surroundings};
use crate::cli::connection::client::RestClient;
use crate::cli::connection::context::{self, Config, PROGRAM, ServerAccess, http_address, runtime_dir, state_dir};
use crate::cli::terminal::input::stopped;
use crate::cli::terminal::values::{Size, label};
use crate::cli::{CommonOptions, Ended, Failure};

/// Timeout for a program's own agent to be ready; then the program goes on.
const READY_PATIENCE: Duration = Duration::from_secs(5);

#[derive(Debug, Args)]
pub struct AgentArgs {
    /// Name of this agent in the record.
    #[arg(long, value_name = "NAME", env = "NOTARIUM_AGENT_NAME")]
    name: Option<String>,
    /// A label of this machine, as in gpu=a100, for which kernels can ask; may be repeated, in the variable with commas.
    #[arg(long = "label", value_name = "KEY=VALUE", env = "NOTARIUM_AGENT_LABELS", value_delimiter = ',', value_parser = label)]
    labels: Vec<(String, String)>,
    /// Say what keeps kernels from the rest of this machine, and end. The exit code is 0 where what can confirm is out of reach.
    #[arg(long)]
    check: bool,
    #[command(flatten)]
    kernels: KernelArgs,
}

/// Which kernels, and how they are run.
#[derive(Debug, Args)]
pub struct KernelArgs {
    #[command(flatten)]
    pub setup: KernelSetup,
    /// Folder in which kernels begin.
    #[arg(long, value_name = "DIR", env = "NOTARIUM_WORKING_DIR", default_value = ".", value_parser = existing_folder)]
    working_dir: PathBuf,
    /// Shut a kernel down after so many minutes without work; absent: never.
    #[arg(long, value_name = "MINUTES", env = "NOTARIUM_IDLE_TIMEOUT")]
    idle_timeout: Option<u64>,
    /// Most output of one run in the record; what is more is cut, with a notice. Absent: 10 MiB; 1 GiB for `run`.
    #[arg(long, value_name = "SIZE", env = "NOTARIUM_MAX_RUN_OUTPUT")]
    pub max_run_output: Option<Size>,
}

/// Places of kernels, and what their code may reach.
#[derive(Debug, Args)]
pub struct KernelSetup {
    /// A virtual environment (or other prefix) with kernels, searched before the usual places; may be repeated, in the variable with colons.
    #[arg(long = "kernel-path", value_name = "DIR", env = "NOTARIUM_KERNEL_PATH", value_delimiter = ':', value_parser = existing_folder)]
    pub kernel_paths: Vec<PathBuf>,
    /// Most memory (address space) of one kernel, in MiB.
    #[arg(long, value_name = "MIB", env = "NOTARIUM_MAX_MEMORY")]
    max_memory: Option<u64>,
    /// A variable of this environment that kernels get besides the usual harmless ones; may be repeated, in the variable with commas.
    #[arg(long = "pass-env", value_name = "NAME", env = "NOTARIUM_PASS_ENV", value_delimiter = ',')]
    pass_environment: Vec<String>,
    #[command(flatten)]
    connections: ConnectionArgs,
    #[command(flatten)]
    pub sandbox: SandboxArgs,
}

/// Checks that the folder exists: a wrong path would otherwise silently select another kernel.
fn existing_folder(text: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(text);
    if path.is_dir() { Ok(path) } else { Err("there is no such folder".to_owned()) }
}

impl KernelSetup {
    /// Names of the connections to databases.
    pub fn connections(&self) -> Result<Vec<String>, Failure> {
        Ok(self.connections.read()?.list.into_iter().map(|connection| connection.name).collect())
    }

    /// The sandbox and connections of kernels in `working_dir`; `own` are folders of Notarium besides the usual ones.
    pub async fn kept(
        &self,
        working_dir: &Path,
        kernel_paths: &[PathBuf],
        mut own: Vec<PathBuf>,
    ) -> Result<KernelRestrictions, Failure> {
        let connections = self.connections.read()?;
        own.extend(self.connections.secret_files());
        let drivers = self.connections.places_of_drivers(&connections, kernel_paths).await?;
        let around = Surroundings { working_dir, kernel_paths, own, drivers, passed: &self.pass_environment };
        Ok(KernelRestrictions { connections: Arc::new(connections), ..self.sandbox.kept(&around).await? })
    }

    /// Options for kernels that begin in `working_dir`.
    pub fn launch_options(&self, working_dir: PathBuf, kept: KernelRestrictions) -> LaunchOptions {
        LaunchOptions {
            working_dir,
            runtime_dir: runtime_dir(),
            hidden: kept.hidden,
            read_only: kept.read_only,
            sandbox: kept.sandbox.ok(),
            holding: kept.holding.map_err(|(cause, _)| cause),
            surprises: kept.surprises,
            connections: kept.connections,
            pass_environment: connections::harmless(&self.pass_environment),
            max_memory_bytes: self.max_memory.map(|mebibytes| mebibytes.saturating_mul(1 << 20)),
            ..LaunchOptions::default()
        }
    }
}

impl KernelArgs {
    /// The sandbox and connections of the kernels; `own` are folders of Notarium besides the usual ones.
    pub async fn kept(&self, kernel_paths: &[PathBuf], own: Vec<PathBuf>) -> Result<KernelRestrictions, Failure> {
        self.setup.kept(&self.working_dir, kernel_paths, own).await
    }

    pub fn options(
        &self,
        connect: ConnectOptions,
        kernel_paths: Vec<PathBuf>,
        state_dir: Option<PathBuf>,
        kept: KernelRestrictions,
    ) -> AgentOptions {
        let launch = self.setup.launch_options(self.working_dir.clone(), kept);
        let idle_timeout_ms = self.idle_timeout.map(|minutes| minutes.saturating_mul(60_000));
        let mut outputs = OutputLimits::default();
        if let Some(most) = &self.max_run_output {
            outputs.max_log_bytes = most.bytes() as u64;
        }
        let limits = KernelSessionLimits { outputs, idle_timeout_ms, ..KernelSessionLimits::default() };
        let (displaced_patience, stop_timeout) = (runtime::DISPLACED_PATIENCE, runtime::STOP_TIMEOUT);
        let labels = Labels::new();
        AgentOptions { connect, kernel_paths, labels, launch, limits, state_dir, displaced_patience, stop_timeout }
    }
}

pub async fn agent(args: AgentArgs, context: &CommonOptions) -> Ended {
    let token_file = context.token_file.iter().filter(|file| file.is_file()).cloned().collect();
    let kernel_paths = args.kernels.setup.kernel_paths.clone();
    let kept = args.kernels.kept(&kernel_paths, token_file).await?;
    if args.check {
        return sandbox::show(&kept);
    }
    eprintln!("kernels run {}", kept.sentence());
    if !kept.holds() {
        refuse_stored_right_to_confirm().await?;
    }
    let ServerAccess { server, token } = context.access()?;
    let name = args.name.map_or_else(|| PROGRAM.to_owned(), |name| format!("{PROGRAM} ({name})"));
    let connect = ConnectOptions::new(server, token, name);
    let labels = checked_labels(args.labels.into_iter().collect());
    let labels = labels.map_err(|rejection| Failure::usage(rejection.message))?;
    let options = args.kernels.options(connect, kernel_paths, state_dir(), kept);
    let options = AgentOptions { labels, ..options };
    let mut printer = NoticePrinter::default();
    runtime::run(options, stopped(), move |notice| {
        if let Some(line) = printer.line(notice) {
            eprintln!("{line}");
        }
    })
    .await
    .map_err(failure)
}

/// Refuses to start if a stored login could confirm calls: without a sandbox, kernels can read everything of this account.
async fn refuse_stored_right_to_confirm() -> Ended {
    let Config { server: Some(server), token: Some(token), .. } = Config::load()? else { return Ok(()) };
    let client = RestClient::new(ServerAccess { server: http_address(&server)?, token })?;
    // If the server is unreachable or rejects the token, it cannot confirm anything.
    let may_confirm = client.me().await.is_ok_and(|me| me.scopes.contains(&Scope::Confirm));
    if !may_confirm {
        return Ok(());
    }
    Err(Failure::usage(format!(
        "kernels here could confirm in your name: there is no sandbox, and {} holds a login of {server} that confirms. Log out \
         (`notarium logout`), or start that server with --confirm-with password",
        context::config_path()?.display()
    )))
}

/// Puts notices in words. A cause that each attempt meets again, every second or so, is told once.
#[derive(Debug, Default)]
struct NoticePrinter {
    told_cause: Option<String>,
}

impl NoticePrinter {
    fn line(&mut self, notice: AgentNotice) -> Option<String> {
        match notice {
            AgentNotice::Connected { server } => {
                self.told_cause = None;
                Some(format!("connected to {server}"))
            }
            AgentNotice::Ready => None,
            AgentNotice::Disconnected { cause } => {
                let is_new = self.told_cause.as_ref() != Some(&cause);
                is_new.then(|| format!("{}; trying again, kernels stay", self.told_cause.insert(cause)))
            }
            AgentNotice::KernelWanted { notebook, kernelspec } => {
                Some(format!("notebook {notebook} wants a {kernelspec} kernel"))
            }
        }
    }
}

fn failure(error: AgentError) -> Failure {
    match error {
        AgentError::Connection(ConnectError::Unauthenticated(reason)) => Failure::connection(format!(
            "the server does not accept the token ({reason}): `notarium agent-token new` makes one for an agent"
        )),
        AgentError::Connection(error) => error.into(),
        AgentError::NotAnAgent => Failure::connection(error.to_string()),
        _ => Failure::failed(error.to_string()),
    }
}

/// A runtime agent in this process.
pub struct LocalAgent {
    stop: oneshot::Sender<()>,
    ready: Arc<Notify>,
    task: JoinHandle<Result<(), AgentError>>,
}

impl LocalAgent {
    pub fn start(options: AgentOptions) -> Self {
        let (stop, stopped) = oneshot::channel();
        let ready = Arc::new(Notify::new());
        let is_ready = ready.clone();
        let notice = move |notice: AgentNotice| match notice {
            AgentNotice::Ready => is_ready.notify_one(),
            AgentNotice::Disconnected { cause } => tracing::warn!(cause, "the agent lost its server"),
            notice => tracing::debug!(?notice, "agent"),
        };
        Self { stop, ready, task: tokio::spawn(runtime::run(options, stopped.map(drop), notice)) }
    }

    /// Waits until kernels can be requested and ends of lost kernels are reported, or until a timeout. Later faults
    /// show in the runs.
    pub async fn ready(&self) {
        let _ = tokio::time::timeout(READY_PATIENCE, self.ready.notified()).await;
    }

    /// Shuts the agent's kernels down.
    pub async fn stop(self) -> Ended {
        let _ = self.stop.send(());
        match self.task.await {
            Ok(result) => result.map_err(failure),
            Err(error) => Err(Failure::failed(format!("the agent broke ({error}): please report it"))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cause_that_comes_again_is_told_once() {
        let mut printer = NoticePrinter::default();
        let mut lost = |cause: &str| printer.line(AgentNotice::Disconnected { cause: cause.to_owned() });
        assert_eq!(lost("refused").unwrap(), "refused; trying again, kernels stay");
        assert_eq!(lost("refused"), None);
        assert!(lost("no route").is_some());
        assert!(lost("refused").is_some());
        let connected = AgentNotice::Connected { server: "here".to_owned() };
        assert!(printer.line(connected).is_some());
        assert!(printer.line(AgentNotice::Disconnected { cause: "refused".to_owned() }).is_some());
    }
}
