//! Runs one [`KernelSessionMachine`] against a real kernel, in one task per session, so that notebooks do not block each other.

use std::collections::BTreeMap;
use std::panic::AssertUnwindSafe;
use std::time::{Duration, Instant};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use futures_util::FutureExt;
use futures_util::future::OptionFuture;
use notarium_core::{Command, ExecutionId, KernelCause, KernelSessionId, NotebookId};
use notarium_wire::{
    ClientMessage, CommMessage, KernelAnswer, KernelQuestionMessage, QuestionKind, QuestionRefusal, SendCommMessage,
};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

use super::reports::blobs::OverflowFile;
use super::reports::delivery::{ReportJob, Reporter};
use super::server_relay::ServerRelay;
use super::{KernelSessionLimits, KernelSessionMachine, Report, SessionInput, SessionOutput, ToStore};
use crate::connections::server_requests::ServerRequest;
use crate::kernel::kernelspecs::Kernelspec;
use crate::kernel::process::Meter;
use crate::kernel::{CommRequest, ExecuteRequest, InputQuestion, Kernel, KernelEvent, LaunchError, LaunchOptions};

/// Events that the driver may queue ahead. Few, because each may be megabytes (a flood is flushed five times a second). Later
/// events wait in the driver and count against its limit.
const MAX_WAITING_EVENTS: usize = 8;

/// Timeout of each step of a kernel's shutdown when the agent stops, so that time remains for the report.
const HURRIED_SHUTDOWN: Duration = Duration::from_secs(2);

/// Longest timeout of a question, whatever the server requests.
const MAX_QUESTION_TIME: Duration = Duration::from_secs(60);

/// Options of a host.
pub(crate) struct HostOptions {
    pub kernel_session: KernelSessionId,
    pub kernelspec: Option<Kernelspec>,
    pub launch: LaunchOptions,
    pub limits: KernelSessionLimits,
    pub reporter: Reporter,
    pub relay: ServerRelay,
}

/// Result of a host's task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct HostEnd {
    pub kernel_session: KernelSessionId,
    /// The host panicked: its kernel has ended, and that is not reported yet.
    pub is_fault: bool,
}

/// A handle to a host's task.
#[derive(Debug)]
pub(crate) struct HostHandle {
    inputs: mpsc::UnboundedSender<SessionInput>,
    /// Unbounded: the server limits the open questions.
    questions: mpsc::UnboundedSender<KernelQuestionMessage>,
    measured: watch::Sender<bool>,
}

impl HostHandle {
    /// Turns the measuring of the kernel's usage on or off.
    pub fn measure(&self, wanted: bool) {
        self.measured.send_replace(wanted);
    }

    pub fn ask(&self, question: KernelQuestionMessage) {
        let _ = self.questions.send(question);
    }

    pub fn send(&self, input: SessionInput) {
        let _ = self.inputs.send(input);
    }
}

enum HostedKernel {
    No,
    Starting(AbortOnDropHandle<Result<Kernel, LaunchError>>),
    Yes(Kernel),
}

impl HostedKernel {
    /// A launch that fails.
    fn fails(why: &str) -> Self {
        let failed = LaunchError::Connect(why.to_owned());
        Self::Starting(AbortOnDropHandle::new(tokio::spawn(async { Err(failed) })))
    }
}

pub(crate) struct Host {
    options: HostOptions,
    session: KernelSessionMachine,
    inputs: mpsc::UnboundedReceiver<SessionInput>,
    questions: mpsc::UnboundedReceiver<KernelQuestionMessage>,
    jobs: mpsc::UnboundedSender<ReportJob>,
    launched: HostedKernel,
    events: Option<mpsc::Receiver<KernelEvent>>,
    /// Requests of the kernel's code to the server.
    server_requests: Option<mpsc::Receiver<ServerRequest>>,
    /// Absent value: writing to the disk failed, and the run's overflow is dropped.
    spills: BTreeMap<ExecutionId, Option<OverflowFile>>,
    meter: Meter,
    clock: Instant,
    stop_reporter: CancellationToken,
    is_over: bool,
}

/// Starts a host for a session that this agent has claimed. Its task ends when everything is reported.
pub(crate) fn start(options: HostOptions, running: &mut JoinSet<HostEnd>) -> HostHandle {
    start_as(options, running, Host::run)
}

/// Starts a host with this work as its task; a panic there is reported as its end.
pub(crate) fn start_as<Work: Future<Output = ()> + Send + 'static>(
    options: HostOptions,
    running: &mut JoinSet<HostEnd>,
    work: impl FnOnce(Host) -> Work + Send + 'static,
) -> HostHandle {
    let (sender, inputs) = mpsc::unbounded_channel();
    let (questions_sender, questions) = mpsc::unbounded_channel();
    let (measured, wanted) = watch::channel(false);
    let stop_reporter = CancellationToken::new();
    let jobs = options.reporter.clone().start(sender.clone(), stop_reporter.clone());
    let session = KernelSessionMachine::new(options.kernel_session.clone(), options.limits, 0);
    let host = Host {
        options,
        session,
        inputs,
        questions,
        jobs,
        launched: HostedKernel::No,
        events: None,
        server_requests: None,
        spills: BTreeMap::new(),
        meter: Meter::new(wanted),
        clock: Instant::now(),
        stop_reporter,
        is_over: false,
    };
    running.spawn(async move {
        let kernel_session = host.options.kernel_session.clone();
        let _stop_reporter = host.stop_reporter.clone().drop_guard();
        // Unwinding drops the kernel, which kills its process.
        let is_fault = AssertUnwindSafe(work(host)).catch_unwind().await.is_err();
        HostEnd { kernel_session, is_fault }
    });
    HostHandle { inputs: sender, questions: questions_sender, measured }
}

impl Host {
    async fn run(mut self) {
        while !self.is_over {
            let Some(input) = self.next().await else { continue };
            let now_ms = self.now_ms();
            let outputs = self.session.handle(now_ms, input);
            for output in outputs {
                self.act(output).await;
            }
        }
    }

    fn now_ms(&self) -> u64 {
        u64::try_from(self.clock.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    /// The next input of the session; other work is done here. Control goes before output, so that an interrupt never
    /// waits behind a flood.
    async fn next(&mut self) -> Option<SessionInput> {
        let deadline = self.session.deadline();
        let due = deadline.map(|deadline| (self.clock + Duration::from_millis(deadline)).into());
        let is_up = !matches!(self.launched, HostedKernel::Starting(_));
        tokio::select! {
            biased;
            input = self.inputs.recv() => {
                return Some(input.unwrap_or_else(|| SessionInput::Stop(KernelCause::AgentStopped.into())));
            }
            result = launch_result(&mut self.launched) => return Some(self.launch_ended(result)),
            Some(()) = OptionFuture::from(due.map(tokio::time::sleep_until)) => return Some(SessionInput::Tick),
            Some(question) = self.questions.recv() => self.ask(question),
            () = self.meter.due(), if matches!(self.launched, HostedKernel::Yes(_)) => self.measure(),
            event = next_of(&mut self.events), if is_up && self.session.takes_output() => {
                self.heard(&event);
                return Some(SessionInput::Kernel(event));
            }
            // Behind the events: the end of a run comes before a request that a thread of it sends later.
            request = next_of(&mut self.server_requests) => self.pass_on(request),
        }
        None
    }

    /// Invalidates cached schemas when a run has finished.
    fn heard(&self, event: &KernelEvent) {
        if let (KernelEvent::Finished { .. }, HostedKernel::Yes(kernel)) = (event, &self.launched)
            && let Some(schemas) = kernel.schemas()
        {
            schemas.forget();
        }
    }

    fn launch_ended(&mut self, result: Result<Kernel, LaunchError>) -> SessionInput {
        match result {
            Ok(mut kernel) => {
                self.server_requests = kernel.take_server_requests();
                self.launched = HostedKernel::Yes(kernel);
                SessionInput::Tick
            }
            Err(error) => {
                self.launched = HostedKernel::No;
                SessionInput::LaunchFailed(error.because())
            }
        }
    }

    /// Passes a request of the kernel's code on to the server.
    fn pass_on(&self, request: ServerRequest) {
        let HostOptions { kernel_session, reporter, relay, .. } = &self.options;
        let (notebook, kernel) = (reporter.notebook.clone(), kernel_session.clone());
        tokio::spawn(relay.clone().pass_on(notebook, kernel, self.session.origin(), request));
    }

    async fn act(&mut self, output: SessionOutput) {
        match output {
            SessionOutput::Launch => self.launch(),
            SessionOutput::Execute { execution_id, source, cell_id, may_ask, effects } => {
                let request = ExecuteRequest::new(execution_id.as_str(), &*source);
                let (store_history, cell_id) = (cell_id.is_some(), cell_id.map(|id| id.to_string()));
                self.execute(ExecuteRequest { store_history, cell_id, allow_stdin: may_ask, effects, ..request }).await;
            }
            SessionOutput::Interrupt => self.with_kernel(|kernel| kernel.interrupt().is_ok()),
            SessionOutput::AnswerInput(value) => self.with_kernel(|kernel| kernel.answer_input(value).is_ok()),
            SessionOutput::Stop { in_a_hurry } => self.stop(in_a_hurry),
            SessionOutput::Kill => self.kill(),
            SessionOutput::Report(report) => self.report(report),
            SessionOutput::Spill { execution_id, bytes } => self.spill(execution_id, &bytes),
            SessionOutput::Busy(busy) => self.ephemeral(|notebook, kernel_session| ClientMessage::KernelStatus {
                notebook,
                kernel_session,
                busy,
            }),
            SessionOutput::Comms { asker, comms } => self.ephemeral(|notebook, kernel_session| ClientMessage::Comms {
                notebook,
                kernel_session,
                asker,
                comms,
            }),
            SessionOutput::Comm(changes) => {
                self.ephemeral(|notebook, kernel_session| ClientMessage::Comm { notebook, kernel_session, changes })
            }
            SessionOutput::SendComm(message) => self.send_comm(message),
            SessionOutput::Over => self.is_over = true,
        }
    }

    fn launch(&mut self) {
        let Some(kernelspec) = self.options.kernelspec.clone() else {
            return self.launched = HostedKernel::fails("this agent has no such kernelspec any more");
        };
        let (sender, events) = mpsc::channel(MAX_WAITING_EVENTS);
        self.events = Some(events);
        let notebook = Some(self.options.reporter.notebook.clone());
        let options = LaunchOptions { notebook, ..self.options.launch.clone() };
        let launching = tokio::spawn(Kernel::launch(kernelspec, options, sender));
        self.launched = HostedKernel::Starting(AbortOnDropHandle::new(launching));
    }

    async fn execute(&mut self, request: ExecuteRequest) {
        let HostedKernel::Yes(kernel) = &self.launched else { return };
        // If the kernel has ended, the event `Ended` reports it; this execution's session handles that.
        let _ = kernel.execute(request).await;
    }

    /// Passes a question to the kernel without the session: neither the question nor its answer is in the log.
    fn ask(&self, message: KernelQuestionMessage) {
        let (answer, answered) = oneshot::channel();
        let KernelQuestionMessage { id, asker, code, cursor, kind, timeout_ms, .. } = message;
        let within = Duration::from_millis(timeout_ms).min(MAX_QUESTION_TIME);
        match (&self.launched, kind) {
            (HostedKernel::Yes(kernel), QuestionKind::Describe { connection, matching }) => {
                describe(kernel, connection, matching, within, answer);
            }
            (HostedKernel::Yes(kernel), kind) if kind.runs_python() && kernel.schemas().is_none() => {
                drop(
                    answer.send(
                        QuestionRefusal::KernelFailed
                            .because("Only Python kernels show variables and tables, and format code."),
                    ),
                );
            }
            (HostedKernel::Yes(kernel), kind) => {
                kernel.ask(InputQuestion { asker, code, cursor, kind, deadline: Instant::now() + within, answer });
            }
            _ => drop(answer),
        }
        let sender = self.options.reporter.sender.clone();
        tokio::spawn(async move {
            let answer = answered.await.unwrap_or_else(|_| no_kernel());
            sender.ephemeral(ClientMessage::AnswerQuestion { id, answer });
        });
    }

    fn with_kernel(&self, act: impl FnOnce(&Kernel) -> bool) {
        let HostedKernel::Yes(kernel) = &self.launched else { return };
        if !act(kernel) {
            tracing::debug!(kernel_session = %self.options.kernel_session, "the kernel is gone");
        }
    }

    /// Stops the kernel; its end comes as an event. A kernel that is still launching is killed, and its launch fails.
    fn stop(&mut self, in_a_hurry: bool) {
        match std::mem::replace(&mut self.launched, HostedKernel::No) {
            HostedKernel::Yes(kernel) => {
                let usual = self.options.launch.shutdown_timeout;
                let timeout = if in_a_hurry { usual.min(HURRIED_SHUTDOWN) } else { usual };
                tokio::spawn(kernel.shutdown(timeout));
            }
            HostedKernel::Starting(_) => {
                self.events = None;
                self.launched = HostedKernel::fails("stopped while it was started");
            }
            HostedKernel::No => {}
        }
    }

    fn kill(&mut self) {
        self.launched = HostedKernel::No;
        self.events = None;
    }

    fn report(&mut self, report: Report) {
        let told = report.commands.iter().find_map(|pending| match (&pending.command, &pending.to_store) {
            (Command::ReportExecution { execution_id, .. }, ToStore::Overflow) => Some(execution_id),
            _ => None,
        });
        let overflow = told.and_then(|id| self.spills.remove(id)).flatten().map(OverflowFile::finish);
        let _ = self.jobs.send(ReportJob { report, overflow });
    }

    fn spill(&mut self, execution_id: ExecutionId, bytes: &[u8]) {
        let folder = &self.options.launch.runtime_dir;
        let kept = self.spills.entry(execution_id).or_insert_with(|| {
            OverflowFile::create(folder)
                .inspect_err(|error| tracing::error!(%error, "output beyond the limit cannot be kept"))
                .ok()
        });
        if let Some(spill) = kept
            && let Err(error) = spill.write(bytes)
        {
            tracing::error!(%error, "output beyond the limit cannot be kept");
            *kept = None;
        }
    }

    fn measure(&mut self) {
        let HostedKernel::Yes(kernel) = &self.launched else { return };
        let Some(usage) = self.meter.measure(kernel.process_id(), kernel.launchers()) else { return };
        self.ephemeral(|notebook, kernel_session| ClientMessage::KernelUse { notebook, kernel_session, usage });
    }

    fn send_comm(&self, SendCommMessage { sender, id, message, .. }: SendCommMessage) {
        let HostedKernel::Yes(kernel) = &self.launched else { return };
        let decoded = message.buffers.iter().map(|buffer| STANDARD.decode(buffer).map(bytes::Bytes::from));
        let Ok(buffers) = decoded.collect::<Result<Vec<_>, _>>() else {
            return tracing::warn!("the buffers of a widget's message are not base64");
        };
        let CommMessage { comm_id, data, .. } = message;
        kernel.send_comm(CommRequest { name: format!("{}.{id}", sender.unwrap_or_default()), comm_id, data, buffers });
    }

    fn ephemeral(&self, message: impl FnOnce(NotebookId, KernelSessionId) -> ClientMessage) {
        let HostOptions { kernel_session, reporter: Reporter { notebook, sender, .. }, .. } = &self.options;
        sender.ephemeral(message(notebook.clone(), kernel_session.clone()));
    }
}

/// Answers from schemas, not through the kernel's shell channel: this works while a cell runs.
fn describe(
    kernel: &Kernel,
    connection: String,
    matching: String,
    within: Duration,
    answer: oneshot::Sender<KernelAnswer>,
) {
    let Some(schemas) = kernel.schemas().cloned() else {
        let message = "this kernel runs no SQL cells: start one of Python";
        return drop(answer.send(QuestionRefusal::UnknownConnection.because(message)));
    };
    tokio::spawn(async move {
        let _ = answer.send(schemas.describe(connection, matching, within).await);
    });
}

/// The answer if no kernel is running.
pub(crate) fn no_kernel() -> KernelAnswer {
    QuestionRefusal::NoKernel.because("the kernel is not running: run a cell, and ask again")
}

async fn launch_result(launched: &mut HostedKernel) -> Result<Kernel, LaunchError> {
    match launched {
        HostedKernel::Starting(launching) => match launching.await {
            Ok(result) => result,
            Err(error) => Err(LaunchError::Connect(error.to_string())),
        },
        _ => std::future::pending().await,
    }
}

/// The kernel's next event or request. After the last one it never returns: the session ends by the kernel's `Ended`.
async fn next_of<T>(coming: &mut Option<mpsc::Receiver<T>>) -> T {
    if let Some(receiver) = coming {
        if let Some(next) = receiver.recv().await {
            return next;
        }
        *coming = None;
    }
    std::future::pending().await
}
