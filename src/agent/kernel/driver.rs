//! Drives one kernel session: requests in, events out.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use futures_util::future::OptionFuture;
use jupyter_protocol::{InputReply, InterruptRequest, JupyterMessage, ShutdownRequest};
use tokio::sync::mpsc;

use super::channels::{Channels, IncomingMessage, MAX_WAITING_REQUESTS};
use super::comms::{CommRequest, OutputWidgets};
use super::executions::Executions;
use super::fence::{Begun, Fence};
use super::kernelspecs::InterruptMode;
use super::messages::KernelMessage;
use super::process::{ProcessExit, ProcessGroup, exited};
use super::questions::{InputQuestion, InputQuestions};
use super::{EndCause, ExecuteRequest, KernelEvent, LossReason};
use crate::connections::Brokers;
use crate::temporary_files::TemporaryFolder;

/// Silence on the sockets of a dead kernel after which everything that it sent counts as read.
const EXIT_SILENCE: Duration = Duration::from_millis(100);

/// Requests that do not queue behind executions.
#[derive(Debug)]
pub(super) enum UrgentRequest {
    /// The kernel is interrupted; the signal, if that is its way, was sent before.
    Interrupt,
    AnswerInput(String),
    Stop,
}

/// State of one session. It ends with [`KernelEvent::Ended`] after the process has ended.
pub(super) struct Driver {
    pub channels: Channels,
    pub executions: Executions,
    pub events: mpsc::Sender<KernelEvent>,
    /// Events that wait for the event channel. While it is not empty, iopub is not read.
    pub outbox: VecDeque<KernelEvent>,
    pub requests: mpsc::Receiver<ExecuteRequest>,
    pub urgent: mpsc::Receiver<UrgentRequest>,
    pub asks: mpsc::Receiver<InputQuestion>,
    pub questions: InputQuestions,
    pub said: mpsc::Receiver<CommRequest>,
    pub output_widgets: OutputWidgets,
    pub fence: Fence,
    pub group: ProcessGroup,
    pub interrupt_mode: InterruptMode,
    pub state: DriverState,
    /// Dropped with the session.
    pub _brokers: Option<Brokers>,
    /// Holds the sockets; removed with the session.
    pub _folder: TemporaryFolder,
    /// Temporary files of a kernel whose effects are held.
    pub _temporary: Option<TemporaryFolder>,
}

/// Progress of a session towards its end.
#[derive(Default)]
pub(super) struct DriverState {
    /// A shutdown was requested.
    is_asked: bool,
    /// Exit of the process, and the time until which its sockets must be silent before the session ends.
    exited: Option<(ProcessExit, Instant)>,
    ended: bool,
}

impl Driver {
    pub async fn run(mut self) {
        while !(self.state.ended && self.outbox.is_empty()) {
            self.step().await;
        }
    }

    async fn step(&mut self) {
        let listening = self.outbox.is_empty();
        let running = self.state.exited.is_none();
        let is_open = !self.fence.is_closed();
        let accepting = running && is_open && self.executions.unfinished_count() < MAX_WAITING_REQUESTS;
        let deadline = self.deadline().map(|deadline| tokio::time::sleep_until(deadline.into()));
        let question_deadline = self.questions.deadline().map(|deadline| tokio::time::sleep_until(deadline.into()));
        tokio::select! {
            Some(urgent) = self.urgent.recv() => self.urgent(urgent),
            () = send_next(&self.events, &mut self.outbox), if !listening => self.sent(),
            exit = exited(&mut self.group.exit), if running => self.state.exited = Some((exit, Instant::now() + EXIT_SILENCE)),
            request = self.requests.recv(), if accepting && !self.state.is_asked => self.request(request),
            Some(incoming) = self.channels.shell.recv() => self.shell(incoming),
            Some(incoming) = self.channels.stdin.recv() => self.stdin(incoming),
            Some((incoming, _)) = self.channels.iopub.recv(), if listening => self.iopub(incoming),
            Some(()) = OptionFuture::from(deadline), if listening => self.deadline_passed(),
            begun = self.fence.begun() => self.begun(begun),
            Some(request) = self.said.recv(), if running && is_open => self.send_other(request.message()),
            Some(question) = self.asks.recv(), if running => self.questions.ask(question),
            Some(()) = OptionFuture::from(question_deadline) => self.questions.expire(Instant::now()),
        }
        self.send_run();
        self.ask_next();
    }

    /// Sends the run that waits, if the kernel has finished what must not overlap with it.
    fn send_run(&mut self) {
        if let Some(request) = self.fence.next() {
            send(&self.channels.shell_out, request);
        }
    }

    fn begun(&mut self, begun: Begun) {
        match begun {
            Begun::Send(request) => send(&self.channels.shell_out, *request),
            Begun::Refused(execution_id, open) => {
                self.executions.forget(&execution_id);
                self.outbox.push_back(KernelEvent::HoldsOpen { execution_id, open });
            }
        }
    }

    /// Sends a message that is no run.
    fn send_other(&mut self, message: JupyterMessage) {
        self.fence.sent(&message);
        send(&self.channels.shell_out, message);
    }

    fn ask_next(&mut self) {
        let is_busy = self.executions.unfinished_count() > 0;
        if let Some(request) = self.questions.next(is_busy) {
            self.send_other(request);
        }
    }

    fn deadline(&self) -> Option<Instant> {
        match &self.state.exited {
            Some((_, silent_until)) => Some(*silent_until),
            None => self.executions.deadline(),
        }
    }

    /// Restarts the silence timer when the outbox is empty: silence due to a slow event channel does not count.
    fn sent(&mut self) {
        if self.outbox.is_empty() {
            self.heard();
        }
    }

    fn heard(&mut self) {
        self.executions.listening(Instant::now());
        if let Some((_, silent_until)) = &mut self.state.exited {
            *silent_until = Instant::now() + EXIT_SILENCE;
        }
    }

    fn deadline_passed(&mut self) {
        if self.executions.interrupt_is_due(Instant::now()) {
            self.interrupt();
        }
        if !self.channels.iopub.is_empty() || !self.channels.shell.is_empty() {
            return;
        }
        match self.state.exited.take() {
            Some((exit, _)) => self.end(exit),
            None => {
                let events = self.executions.expire(Instant::now());
                self.outbox.extend(self.fence.pass(events));
            }
        }
    }

    fn end(&mut self, exit: ProcessExit) {
        let cause = match self.state.is_asked {
            true => EndCause::Shutdown,
            false => EndCause::Died { status: exit.status, output_tail: exit.output_tail.clone() },
        };
        // Closes the channels of open questions.
        self.asks.close();
        self.questions = InputQuestions::default();
        let mut unfinished = self.executions.end();
        // Queued executions that never reached the kernel count as unfinished.
        self.requests.close();
        while let Ok(request) = self.requests.try_recv() {
            unfinished.push(request.execution_id);
        }
        self.outbox.push_back(KernelEvent::Ended { cause, unfinished });
        self.state.exited = Some((exit, Instant::now()));
        self.state.ended = true;
    }

    fn urgent(&mut self, urgent: UrgentRequest) {
        match urgent {
            UrgentRequest::Interrupt => {
                // Takes executions that were queued before the interrupt, so that it applies to them.
                while !self.fence.is_closed()
                    && let Ok(request) = self.requests.try_recv()
                {
                    self.request(Some(request));
                    self.send_run();
                }
                self.executions.interrupted();
                if self.interrupt_mode == InterruptMode::Message {
                    self.interrupt();
                }
            }
            UrgentRequest::AnswerInput(value) => self.answer_input(value),
            UrgentRequest::Stop => {
                self.state.is_asked = true;
                send(&self.channels.control_out, JupyterMessage::new(ShutdownRequest { restart: false }, None));
            }
        }
    }

    fn interrupt(&mut self) {
        match self.interrupt_mode {
            InterruptMode::Message => send(&self.channels.control_out, JupyterMessage::new(InterruptRequest {}, None)),
            // A failed signal means that the process has ended.
            InterruptMode::Signal => drop(self.group.interrupt()),
        }
    }

    fn answer_input(&mut self, value: String) {
        let Some(request) = self.executions.take_input_request() else {
            return;
        };
        let mut reply = JupyterMessage::new(InputReply { value, ..InputReply::default() }, None);
        reply.parent_header = serde_json::from_str(&request.json).ok();
        send(&self.channels.stdin_out, reply);
    }

    fn request(&mut self, request: Option<ExecuteRequest>) {
        let Some(request) = request else {
            // The owner has dropped the kernel, and so its process.
            self.state.is_asked = true;
            return;
        };
        let content = jupyter_protocol::ExecuteRequest {
            code: request.source,
            silent: false,
            store_history: request.store_history,
            user_expressions: None,
            allow_stdin: request.allow_stdin,
            stop_on_error: false,
        };
        let mut message = JupyterMessage::new(content, None);
        if let Some(cell) = request.cell_id {
            message.metadata = serde_json::json!({"cellId": cell});
        }
        self.executions.requested(message.header.msg_id.clone(), request.execution_id.clone());
        self.fence.run(request.execution_id, request.effects, message);
    }

    fn shell(&mut self, incoming: IncomingMessage) {
        self.heard_after_exit();
        match read(incoming) {
            Some(message) if self.questions.is_of_question(&message) => self.questions.shell(&message),
            Some(message) => {
                let events = self.executions.shell(Instant::now(), &message);
                self.outbox.extend(self.fence.pass(events));
            }
            None => {}
        }
    }

    fn stdin(&mut self, incoming: IncomingMessage) {
        if let Some(message) = read(incoming) {
            self.outbox.extend(self.executions.stdin(message));
        }
    }

    fn iopub(&mut self, incoming: IncomingMessage) {
        self.heard_after_exit();
        let message = read(incoming).inspect(|message| self.fence.heard(message));
        match message {
            Some(message) if self.questions.is_of_question(&message) => {}
            Some(message) => self.output(&message),
            None => {
                self.outbox.push_back(KernelEvent::OutputsLost { execution_id: None, reason: LossReason::Unreadable })
            }
        }
    }

    /// Passes an output to the widget that captures it, else to the run.
    fn output(&mut self, message: &KernelMessage) {
        if let Some(taken) = self.output_widgets.take(message) {
            self.send_other(taken.to_kernel());
            return self.outbox.push_back(KernelEvent::Comm(taken));
        }
        let events = self.executions.iopub(Instant::now(), message);
        for event in &events {
            if let KernelEvent::Comm(comm) = event {
                self.output_widgets.hear(comm);
            }
        }
        self.outbox.extend(self.fence.pass(events));
    }

    fn heard_after_exit(&mut self) {
        if self.state.exited.is_some() {
            self.heard();
        }
    }
}

fn read(incoming: IncomingMessage) -> Option<KernelMessage> {
    let message = incoming
        .map_err(|error| error.to_string())
        .and_then(|raw| KernelMessage::read(&raw).map_err(|error| error.to_string()));
    message.inspect_err(|error| tracing::warn!(error, "a message of the kernel cannot be read")).ok()
}

/// Queues a message; the queues are larger than the number of open requests of a session.
fn send(queue: &mpsc::Sender<JupyterMessage>, message: JupyterMessage) {
    if queue.try_send(message).is_err() {
        tracing::warn!("the kernel takes no messages");
    }
}

/// Sends as many events as fit. If the receiver is dropped, the events are dropped too.
async fn send_next(events: &mpsc::Sender<KernelEvent>, outbox: &mut VecDeque<KernelEvent>) {
    let Ok(permit) = events.reserve().await else {
        outbox.clear();
        return;
    };
    if let Some(event) = outbox.pop_front() {
        permit.send(event);
    }
    while let Some(event) = outbox.pop_front() {
        if let Err(error) = events.try_send(event) {
            outbox.push_front(error.into_inner());
            return;
        }
    }
}
