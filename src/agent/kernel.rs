//! One Jupyter kernel: launched, driven, interrupted, shut down.
//!
//! A [`Kernel`] has one owner. Everything that the kernel does comes out as [`KernelEvent`]s, in order. The event channel may be
//! slow: then the kernel's output waits (up to [`LaunchOptions::max_waiting_bytes`] in memory, then in the kernel). Interrupts,
//! shutdown and the notice of a dead process never queue behind output.
//!
//! **Invariants.** Each launch has new sockets. An execution ends once: by `Finished`, or by being named in `Ended`.
//! It is finished when both the reply and `idle` have come. No process outlives its kernel.

mod channels;
mod comms;
mod driver;
mod environment;
mod executions;
mod fence;
mod held_kernel;
pub mod kernelspecs;
mod launch;
mod messages;
mod payloads;
pub(crate) mod process;
mod python_package;
mod questions;

use notarium_core::{
    Effects, ExplainedCause, KernelCause, KernelEffects, KernelSurprises, NotebookId, RawObject, UnheldCause,
};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use notarium_wire::QuestionRefusal;
use serde_json::value::RawValue;
use tokio::sync::mpsc;

use crate::connections::Connections;
use crate::connections::schemas::Schemas;
use crate::connections::server_requests::ServerRequest;
use crate::outputs::KernelOutput;
use crate::sandbox::Sandbox;
use crate::supervisor::{EffectRefusal, Holding, Supervisor};
use kernelspecs::{InterruptMode, Kernelspec};

pub use comms::{CommKind, CommRequest, CommTarget, KernelComm};
pub use launch::LaunchError;
pub(crate) use payloads::shown_text;
pub use process::ExitStatus;
pub use questions::InputQuestion;

/// Names an execution; opaque here.
pub type ExecutionId = String;

/// Code to run, with its options.
#[derive(Debug, Clone)]
pub struct ExecuteRequest {
    pub execution_id: ExecutionId,
    pub source: String,
    pub store_history: bool,
    /// False: no person can answer, and code that asks for input fails.
    pub allow_stdin: bool,
    /// Passed to the kernel, which records the cell of registered functions.
    pub cell_id: Option<String>,
    /// The effects that the run may have. A kernel without a supervisor holds nothing.
    pub effects: Effects,
}

impl ExecuteRequest {
    /// A plain run: recorded in the history, may ask for input, does not abort queued runs if it fails.
    pub fn new(execution_id: impl Into<ExecutionId>, source: impl Into<String>) -> Self {
        let (execution_id, source) = (execution_id.into(), source.into());
        Self { execution_id, source, store_history: true, allow_stdin: true, cell_id: None, effects: Effects::Free }
    }
}

/// Result of an execution.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FinishStatus {
    Ok,
    /// The code raised; the error is among the outputs.
    Error,
    /// The kernel did not run it, because an earlier execution failed.
    Aborted,
}

/// Reason for the end of a kernel session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EndCause {
    /// [`Kernel::shutdown`] was called.
    Shutdown,
    /// The process exited or was killed from outside. `output_tail` is the end of its standard output and error.
    Died { status: ExitStatus, output_tail: String },
}

impl std::fmt::Display for EndCause {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Shutdown => formatter.write_str("shut down"),
            Self::Died { status, output_tail } if output_tail.is_empty() => {
                write!(formatter, "the kernel process {status}")
            }
            Self::Died { status, output_tail } => {
                write!(formatter, "the kernel process {status}; it wrote last:\n{output_tail}")
            }
        }
    }
}

impl EndCause {
    /// The cause in the log's form.
    pub fn because(&self) -> ExplainedCause<KernelCause> {
        match self {
            Self::Shutdown => KernelCause::ShutDown.into(),
            Self::Died { .. } => ExplainedCause::new(KernelCause::Died, self.to_string()),
        }
    }
}

/// Reasons for missing output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LossReason {
    /// The kernel replied that the execution is over, but its `idle` never came: its output channel has dropped messages.
    EndMissing,
    /// The kernel is idle again, but did not reply how the execution ended. ipykernel omits the reply when an interrupt
    /// hits it between two steps of its own.
    ReplyMissing,
    /// A message could not be read.
    Unreadable,
}

/// An event of a kernel.
#[derive(Debug, Clone)]
pub enum KernelEvent {
    /// The kernel answers. `language_info` is from its `kernel_info_reply`.
    Ready {
        language_info: Option<Box<RawValue>>,
        /// The sandbox around its code and the holding of effects, as recorded.
        sandbox: RawObject,
        /// The text of its environment; absent: it is not known.
        environment: Option<String>,
    },
    /// The kernel has begun with this execution.
    Started { execution_id: ExecutionId },
    /// An output, or a change of outputs. Without `execution_id` it belongs to no execution that is remembered.
    Output { execution_id: Option<ExecutionId>, output: KernelOutput },
    /// The kernel registers functions as tools for assistants. `data` is the kernel's JSON.
    Functions { execution_id: Option<ExecutionId>, data: Box<RawValue> },
    /// A comm of a widget or of progress was opened, has a message, or was closed.
    Comm(KernelComm),
    /// The code asks for a line of input; see [`Kernel::answer_input`].
    InputRequest { execution_id: Option<ExecutionId>, prompt: String, password: bool },
    /// Effects of one kind that were refused in an execution. It comes before the execution's end.
    EffectRefused { execution_id: ExecutionId, refusal: EffectRefusal },
    /// A held execution was not begun, because its code could change what the kernel holds open. It has no other end.
    HoldsOpen { execution_id: ExecutionId, open: Vec<String> },
    /// The execution offers text for its cell, or for a new one below. It comes before the execution's end.
    NextInput { execution_id: ExecutionId, text: String, replace: bool },
    /// The execution is over. Outputs of its threads may still come.
    Finished { execution_id: ExecutionId, status: FinishStatus, execution_count: Option<u64> },
    /// Output is missing.
    OutputsLost { execution_id: Option<ExecutionId>, reason: LossReason },
    /// The session is over; `unfinished` executions will not finish.
    Ended { cause: EndCause, unfinished: Vec<ExecutionId> },
}

/// Choice of the kernel's sockets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TransportChoice {
    /// IPC for ipykernel, TCP on loopback for kernels that may not know IPC or when the folder's path is too long.
    #[default]
    Automatic,
    Ipc,
    Tcp,
}

notarium_core::with_defaults! {
    /// Options for launching and stopping kernels.
    #[derive(Debug, Clone)]
    pub struct LaunchOptions {
        /// The notebook of the kernel, for its code.
        pub notebook: Option<NotebookId> = None,
        /// The kernel's working folder.
        pub working_dir: PathBuf = PathBuf::from("."),
        /// The working folder is this kernel's alone: held code writes and removes files in it, as in its temporary folder.
        pub owns_working_dir: bool = false,
        /// Parent of each kernel's private folder (mode 0700: sockets, connection file). Keep it short: socket paths
        /// have at most 107 bytes.
        pub runtime_dir: PathBuf = std::env::temp_dir(),
        pub transport: TransportChoice = TransportChoice::Automatic,
        /// Paths of keys and of credentials that could confirm calls: tools of assistants refuse them, sandbox or not.
        pub hidden: Vec<PathBuf> = Vec::new(),
        /// Paths that programs outside run or trust: uploads of people cannot write there, sandbox or not.
        pub read_only: Vec<PathBuf> = Vec::new(),
        /// Sandbox for the kernel's code; absent: none.
        pub sandbox: Option<Sandbox> = None,
        /// Ability to hold the effects of runs. `Err`: it is off, or the system does not have it.
        pub holding: Result<Holding, UnheldCause> = Err(UnheldCause::SwitchedOff),
        /// Effects of a person's run that its text does not lead to, where effects are held.
        pub surprises: KernelSurprises = KernelSurprises::Ask,
        /// Databases that SQL cells can name.
        pub connections: Arc<Connections> = Arc::default(),
        /// Variables of the agent that kernels get besides the fixed harmless ones.
        pub pass_environment: Vec<String> = Vec::new(),
        /// Most address space of the kernel process, in bytes (`ulimit -v`).
        pub max_memory_bytes: Option<u64> = None,
        /// Timeout for a launched kernel to answer.
        pub launch_timeout: Duration = Duration::from_secs(60),
        /// Timeout of a requested shutdown, and again after SIGTERM; then comes SIGKILL.
        pub shutdown_timeout: Duration = Duration::from_secs(5),
        /// Timeout after the reply for `idle` while no output comes, and after `idle` for the reply.
        pub idle_timeout: Duration = Duration::from_secs(5),
        /// Most output in memory for a slow event channel, in bytes.
        pub max_waiting_bytes: usize = 16 << 20,
    }
}

impl LaunchOptions {
    /// True if a kernel has its own PID namespace, with its launcher outside.
    pub(crate) fn has_own_processes(&self) -> bool {
        self.sandbox.as_ref().is_some_and(|sandbox| sandbox.plan().own_processes)
    }

    /// The ability to hold the effects of such a kernel's runs.
    pub fn holding(&self, kernelspec: &Kernelspec) -> Result<&Holding, UnheldCause> {
        let holding = self.holding.as_ref().map_err(|cause| *cause)?;
        if kernelspec.can_be_held() { Ok(holding) } else { Err(UnheldCause::OtherKernel) }
    }

    /// The same, as it is recorded and offered.
    pub fn kernel_effects(&self, kernelspec: &Kernelspec) -> KernelEffects {
        match self.holding(kernelspec) {
            Ok(_) => KernelEffects::Held,
            Err(cause) => KernelEffects::NotHeld { cause: cause.into() },
        }
    }
}

/// The kernel session is over; another launch makes a new session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the kernel is not running: restart it")]
pub struct KernelGone;

/// A kernel that was launched. Dropping it kills its processes.
#[derive(Debug)]
pub struct Kernel {
    interrupt_mode: InterruptMode,
    has_own_processes: bool,
    process: process::KernelProcess,
    requests: mpsc::Sender<ExecuteRequest>,
    urgent: mpsc::Sender<driver::UrgentRequest>,
    questions: mpsc::Sender<InputQuestion>,
    comms: mpsc::Sender<CommRequest>,
    /// Present for kernels that run SQL cells.
    schemas: Option<Arc<Schemas>>,
    /// Requests of its code to the server, until the session's host takes them.
    server_requests: Option<mpsc::Receiver<ServerRequest>>,
    /// Present if the effects of its runs are held.
    supervisor: Option<Arc<Supervisor>>,
}

impl Kernel {
    /// Queues an execution behind earlier ones. Waits while the queue is full.
    pub async fn execute(&self, request: ExecuteRequest) -> Result<(), KernelGone> {
        self.requests.send(request).await.map_err(|_| KernelGone)
    }

    /// Interrupts the running execution, or else the queued one that runs next. Returns when the kernel has been signalled, before
    /// it has stopped.
    pub fn interrupt(&self) -> Result<(), KernelGone> {
        if self.interrupt_mode == InterruptMode::Signal && !self.process.group.interrupt() {
            return Err(KernelGone);
        }
        self.urgent.try_send(driver::UrgentRequest::Interrupt).map_err(|_| KernelGone)
    }

    /// Answers the last [`KernelEvent::InputRequest`]. An answer without an open request is ignored.
    pub fn answer_input(&self, value: impl Into<String>) -> Result<(), KernelGone> {
        self.urgent.try_send(driver::UrgentRequest::AnswerInput(value.into())).map_err(|_| KernelGone)
    }

    /// Sends a message on a comm. If the queue is full, the message is dropped, as a kernel that does not read would lose it.
    pub fn send_comm(&self, request: CommRequest) {
        if self.comms.try_send(request).is_err() {
            tracing::warn!("the kernel takes no messages of widgets");
        }
    }

    /// Asks about code that is being written, beside the runs. The answer comes through the question's channel, which is closed if the
    /// kernel has ended.
    pub fn ask(&self, question: InputQuestion) {
        if let Err(mpsc::error::TrySendError::Full(question)) = self.questions.try_send(question) {
            question.refuse(QuestionRefusal::KernelBusy, "the kernel has too many questions: ask again in a moment");
        }
    }

    /// The schemas of the databases that its SQL cells reach; `None` if it runs no SQL cells.
    pub(crate) fn schemas(&self) -> Option<&Arc<Schemas>> {
        self.schemas.as_ref()
    }

    /// Requests of the kernel's code to the server; the first caller has them.
    pub(crate) fn take_server_requests(&mut self) -> Option<mpsc::Receiver<ServerRequest>> {
        self.server_requests.take()
    }

    /// Refuses requests of its code to a server: there is none.
    pub fn refuse_server_requests(&mut self) {
        self.server_requests = None;
    }

    /// Stops the kernel process: shutdown request, SIGTERM, SIGKILL, with `timeout` for each step. `Ended` is the last
    /// event; it may come after this returns.
    pub async fn shutdown(self, timeout: Duration) {
        // If the driver's queue is closed or full, the signals still end the process.
        let _ = self.urgent.try_send(driver::UrgentRequest::Stop);
        self.process.stop(timeout).await;
    }

    /// Stops the supervisor of its effects, with which the kernel ends.
    pub fn stop_supervisor(&self) {
        if let Some(supervisor) = &self.supervisor {
            supervisor.stop();
        }
    }

    /// The process id of the kernel or of its launcher, which leads its process group.
    pub fn process_id(&self) -> u32 {
        self.process.group.id()
    }

    /// Generations of processes before the kernel, from `process_id` on: its launcher, and the first process inside.
    pub fn launchers(&self) -> usize {
        if self.has_own_processes { 2 } else { 0 }
    }
}
