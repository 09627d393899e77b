//! One kernel session of the log, as a pure state machine. The log's state and the kernel's events come in;
//! orders to the kernel and reports for the log come out. No I/O, no clock.
//!
//! It is level-triggered: [`SessionView`] is the log's *current* state, so that nothing depends on having seen each event.
//!
//! [`SessionInput`] and [`SessionOutput`] are the whole boundary to its host (`session/host.rs`), which has the kernel and the connection.
//!
//! **Invariants.** Reports go out in the order in which they are made, the end of a run after all of its outputs. After a
//! stale fence nothing more is written, and the kernel is killed. Memory for unanswered reports is bounded;
//! above the bound output is dropped with a notice, never silently.

mod comms;
pub(crate) mod host;
mod next_input;
pub(crate) mod reports;
mod runs;
pub(crate) mod server_relay;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use hashlink::LruCache;
use notarium_core::{
    Actor, CellId, Document, Effects, ExecutionId, ExplainedCause, KernelCause, KernelPhase, KernelSessionId, Millis,
    RejectionCode, Version,
};
use notarium_wire::{CommChange, KernelCallers, KernelRequestOrigin, OpenComm, SendCommMessage};
use serde_json::value::RawValue;

use crate::kernel::KernelEvent;
use crate::outputs::{OutputCollector, OutputLimits};
use comms::Comms;
pub use reports::{Report, ReportCommand, ToStore, blobs_of, overflow_output};
use runs::SessionRun;

/// Results that a kernel can update later, at most; of the oldest an update makes displays.
const MAX_NAMED_RESULTS: usize = 1_000;

notarium_core::with_defaults! {
    /// Limits and times of a session.
    #[derive(Debug, Clone, Copy)]
    pub struct KernelSessionLimits {
        pub outputs: OutputLimits = OutputLimits::default(),
        /// Time for which reports are collected into one command, in milliseconds. The end of a run never waits.
        pub linger_ms: u64 = 10,
        /// Most bytes of reports in one command.
        pub max_batch_bytes: usize = 256 << 10,
        /// Most unanswered bytes while connected; above it the kernel's output waits.
        // Above what one run puts in the log: its text never waits for the server, and the rest goes to the disk.
        pub max_unanswered_bytes: usize = 16 << 20,
        /// Most buffered bytes while not connected; above it output is dropped with a notice.
        pub max_buffered_bytes: usize = 64 << 20,
        /// Time without work after which a kernel is shut down; absent: never.
        pub idle_timeout_ms: Option<u64> = None,
        /// False: kernels are told that nobody can answer `input()`, and code can catch their error.
        pub may_ask: bool = true,
        /// The server takes the environments of kernels.
        pub reports_environment: bool = false,
    }
}

/// The log's current state of the session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionView {
    /// Absent: the session is over, or never existed.
    pub phase: Option<KernelPhase>,
    /// The execution that the session has won and not ended.
    pub assigned: Option<AssignedRun>,
}

/// An execution that the session is to run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AssignedRun {
    pub execution_id: ExecutionId,
    pub fence: Version,
    pub source: Arc<str>,
    /// Absent: code without a cell, which is not in the kernel's history.
    pub cell_id: Option<CellId>,
    pub timeout_ms: Option<Millis>,
    pub cancel_requested: bool,
    /// The effects that it may have outside the kernel's memory.
    pub effects: Effects,
    pub requested_by: Actor,
}

impl AssignedRun {
    /// True if an assistant requested it: no person can answer input requests of its code, and keys are masked in its record.
    fn is_assistants(&self) -> bool {
        matches!(self.requested_by, Actor::Assistant { .. })
    }
}

impl SessionView {
    /// Reads the session from a notebook's state. `hidden`: paths that tools refuse.
    pub fn of(notebook: &Document, session: &KernelSessionId, hidden: &[PathBuf]) -> Self {
        let assigned = notebook.executions.iter().find_map(|(id, execution)| {
            let fence = execution.fence.filter(|_| !execution.status.is_finished())?;
            (execution.kernel_session.as_ref() == Some(session)).then(|| AssignedRun {
                execution_id: id.clone(),
                fence,
                source: notarium_wire::kernel_tools::text_to_run(notebook, &execution.subject, hidden).into(),
                cell_id: execution.subject.cell_id().cloned(),
                timeout_ms: execution.timeout_ms,
                cancel_requested: execution.cancel_requested,
                effects: execution.effects.judged(),
                requested_by: execution.requested_by.clone(),
            })
        });
        Self { phase: notebook.kernels.get(session).map(|kernel| kernel.phase), assigned }
    }
}

/// Input of a session.
#[derive(Debug)]
pub enum SessionInput {
    View(SessionView),
    /// Interrupt the running code; with an id only that execution.
    Interrupt {
        execution_id: Option<ExecutionId>,
    },
    /// The answer to an input request.
    Answer {
        execution_id: ExecutionId,
        value: String,
    },
    Kernel(KernelEvent),
    LaunchFailed(ExplainedCause<KernelCause>),
    /// The report is in the log, with the server's notices, or replaced by a notice in the run; a refusal ends the session or its
    /// registration.
    Answered {
        report: Report,
        answer: Result<Vec<String>, (RejectionCode, String)>,
    },
    /// The connection was made or lost.
    Online(bool),
    /// A client follows the kernel's widgets; absent: none follows any more.
    CommsWanted {
        asker: Option<String>,
    },
    /// A person who may run code sends a message on a comm.
    SendComm(SendCommMessage),
    /// The agent stops.
    Stop(ExplainedCause<KernelCause>),
    /// The deadline ([`super::KernelSessionMachine::deadline`]) has passed.
    Tick,
}

/// Order of a session to its host.
#[derive(Debug)]
pub enum SessionOutput {
    Launch,
    Execute {
        execution_id: ExecutionId,
        source: Arc<str>,
        /// Absent: code without a cell.
        cell_id: Option<CellId>,
        may_ask: bool,
        effects: Effects,
    },
    Interrupt,
    AnswerInput(String),
    /// Stop the kernel, politely first; its end is an input. `in_a_hurry`: the agent stops too.
    Stop {
        in_a_hurry: bool,
    },
    /// Kill the kernel; no event of it is expected any more.
    Kill,
    /// Send this report after earlier ones; the answer is an input.
    Report(Report),
    /// Bytes for the overflow file of a run.
    Spill {
        execution_id: ExecutionId,
        bytes: bytes::Bytes,
    },
    /// The open comms, for a new follower.
    Comms {
        asker: String,
        comms: Vec<OpenComm>,
    },
    /// Changes of comms, for all followers.
    Comm(Vec<CommChange>),
    /// A message to the kernel.
    SendComm(SendCommMessage),
    /// Busy state for followers, outside the log.
    Busy(bool),
    /// All reports are sent and answered: forget the session.
    Over,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SessionPhase {
    /// Claimed in the log, no kernel yet.
    New,
    Launching,
    Running,
    /// Asked to stop; the kernel has not ended.
    Stopping,
    /// The kernel has ended; reports may be unanswered.
    Ended,
    Over,
}

/// See the module's documentation.
#[derive(Debug)]
pub struct KernelSessionMachine {
    id: KernelSessionId,
    limits: KernelSessionLimits,
    phase: SessionPhase,
    runs: BTreeMap<ExecutionId, SessionRun>,
    /// The execution that began last: output without an owner is attributed to it.
    latest: Option<ExecutionId>,
    run_count: u64,
    /// Requesters of the kernel's runs.
    callers: KernelCallers,
    /// Reason for which the agent itself ends the kernel.
    own_cause: Option<ExplainedCause<KernelCause>>,
    pending: Vec<ReportCommand>,
    pending_bytes: usize,
    pending_since: Option<u64>,
    unanswered_bytes: usize,
    unanswered: usize,
    online: bool,
    busy_shown: bool,
    comms: Comms,
    /// `execution_count` of results that have a `display_id`: updates leave them results.
    results: LruCache<String, Box<RawValue>>,
    /// Start of the time without work.
    idle_since: u64,
    out: Vec<SessionOutput>,
}

impl KernelSessionMachine {
    /// A session that this agent has claimed at `now_ms` (any monotonic clock). [`SessionInput::View`] starts it.
    pub fn new(id: KernelSessionId, limits: KernelSessionLimits, now_ms: u64) -> Self {
        Self {
            id,
            limits,
            phase: SessionPhase::New,
            runs: BTreeMap::new(),
            latest: None,
            run_count: 0,
            callers: KernelCallers::default(),
            own_cause: None,
            pending: Vec::new(),
            pending_bytes: 0,
            pending_since: None,
            unanswered_bytes: 0,
            unanswered: 0,
            online: true,
            busy_shown: false,
            comms: Comms::default(),
            results: LruCache::new(MAX_NAMED_RESULTS),
            idle_since: now_ms,
            out: Vec::new(),
        }
    }

    /// Takes an input and returns the resulting outputs, in order.
    pub fn handle(&mut self, now_ms: u64, input: SessionInput) -> Vec<SessionOutput> {
        if self.phase != SessionPhase::Over {
            self.dispatch(now_ms, input);
            self.flush_if_due(now_ms);
            self.flush_comms_if_due(now_ms);
            self.close_if_done();
        }
        std::mem::take(&mut self.out)
    }

    /// Time of the next [`SessionInput::Tick`].
    pub fn deadline(&self) -> Option<u64> {
        let linger = self.pending_since.map(|since| since + self.limits.linger_ms);
        let runs = self.runs.values().filter_map(SessionRun::deadline);
        let idle = self.idle_deadline();
        linger.into_iter().chain(runs).chain(idle).chain(self.comms_deadline()).min()
    }

    /// True if the session accepts the kernel's next output. Otherwise it waits in the driver, and then in the kernel.
    pub fn takes_output(&self) -> bool {
        !self.online || self.unanswered_bytes + self.pending_bytes < self.limits.max_unanswered_bytes
    }

    /// The run that has the kernel now, and everybody whose code may run in it. `None`: no run has it.
    pub fn origin(&self) -> Option<KernelRequestOrigin> {
        let run = self.runs.iter().find(|(_, run)| !run.is_finished()).map(|(id, _)| id.clone())?;
        Some(KernelRequestOrigin { run, callers: self.callers.clone() })
    }

    fn dispatch(&mut self, now_ms: u64, input: SessionInput) {
        match input {
            SessionInput::View(view) => self.view(now_ms, view),
            SessionInput::Interrupt { execution_id } => self.interrupt(execution_id.as_ref()),
            SessionInput::Answer { execution_id, value } => self.answer_input(&execution_id, value),
            SessionInput::Kernel(event) => self.kernel(now_ms, event),
            SessionInput::LaunchFailed(why) => self.launch_failed(why),
            SessionInput::Answered { report, answer } => self.answered(now_ms, report, answer),
            SessionInput::Online(online) => self.now_online(online),
            SessionInput::CommsWanted { asker } => self.comms_wanted(asker),
            SessionInput::SendComm(message) => self.send_comm(now_ms, message),
            SessionInput::Stop(why) => self.stop(Some(why)),
            SessionInput::Tick => self.tick(now_ms),
        }
    }

    /// Notes the connection's state. When it is lost, following of widgets ends; the server requests it again later.
    fn now_online(&mut self, online: bool) {
        self.online = online;
        if !online {
            self.comms_wanted(None);
        }
    }

    // --- the log ---

    fn view(&mut self, now_ms: u64, view: SessionView) {
        match (view.phase, self.phase) {
            (None, phase) if phase != SessionPhase::Ended => self.abandon(),
            (Some(KernelPhase::Ending), SessionPhase::New) => {
                self.end_reported(ExplainedCause::new(KernelCause::ShutDown, "shut down before it was started"));
            }
            (Some(KernelPhase::Ending), SessionPhase::Launching | SessionPhase::Running) => self.stop(None),
            (Some(KernelPhase::Claimed), SessionPhase::New) => {
                self.phase = SessionPhase::Launching;
                self.out.push(SessionOutput::Launch);
            }
            _ => {}
        }
        if let Some(assigned) = view.assigned.filter(|_| self.phase == SessionPhase::Running) {
            self.execute(now_ms, assigned);
        }
    }

    fn execute(&mut self, now_ms: u64, assigned: AssignedRun) {
        let is_assistants = assigned.is_assistants();
        let AssignedRun { execution_id, fence, source, cell_id, timeout_ms, cancel_requested, effects, requested_by } =
            assigned;
        if self.runs.contains_key(&execution_id) {
            return;
        }
        self.callers.note(&requested_by);
        self.run_count += 1;
        let mut run = SessionRun::new(self.run_count, fence, timeout_ms, self.limits.outputs);
        run.interrupt_wanted = cancel_requested;
        run.may_fill_cell = cell_id.is_some() && !is_assistants;
        if is_assistants {
            run.collector = OutputCollector::new(self.limits.outputs).masking_keys();
        }
        self.runs.insert(execution_id.clone(), run);
        self.idle_since = now_ms;
        let may_ask = self.limits.may_ask && !is_assistants;
        self.out.push(SessionOutput::Execute { execution_id, source, cell_id, may_ask, effects });
    }

    fn interrupt(&mut self, execution_id: Option<&ExecutionId>) {
        for (id, run) in self.runs.iter_mut().filter(|(_, run)| !run.is_finished()) {
            if execution_id.is_none_or(|wanted| wanted == id) {
                // A kernel that has not begun the run ignores the signal: it is sent again when the run begins.
                run.interrupt_wanted = !run.is_started();
                run.is_interrupted = true;
            }
        }
        let concerns = |id: &ExecutionId| self.runs.get(id).is_some_and(|run| !run.is_finished());
        if self.phase == SessionPhase::Running && execution_id.is_none_or(concerns) {
            self.out.push(SessionOutput::Interrupt);
        }
    }

    fn answer_input(&mut self, execution_id: &ExecutionId, value: String) {
        let Some(run) = self.runs.get_mut(execution_id) else { return };
        if std::mem::take(&mut run.waits_for_input) {
            self.out.push(SessionOutput::AnswerInput(value));
        }
    }

    /// Drops everything and kills the kernel: the log knows no such session, so nothing more can be written.
    fn abandon(&mut self) {
        self.runs.clear();
        self.pending.clear();
        self.pending_bytes = 0;
        self.pending_since = None;
        self.out.push(SessionOutput::Kill);
        self.phase = SessionPhase::Over;
        self.out.push(SessionOutput::Over);
    }

    fn stop(&mut self, own_cause: Option<ExplainedCause<KernelCause>>) {
        self.own_cause = self.own_cause.take().or(own_cause);
        match self.phase {
            SessionPhase::New => {
                let cause = self.own_cause.clone().unwrap_or_else(|| KernelCause::ShutDown.into());
                self.end_reported(cause);
            }
            SessionPhase::Launching | SessionPhase::Running => {
                self.phase = SessionPhase::Stopping;
                let in_a_hurry = self.own_cause.as_ref().is_some_and(|why| why.cause == KernelCause::AgentStopped);
                self.out.push(SessionOutput::Stop { in_a_hurry });
            }
            SessionPhase::Stopping | SessionPhase::Ended | SessionPhase::Over => {}
        }
    }

    // --- time ---

    fn tick(&mut self, now_ms: u64) {
        let ids: Vec<ExecutionId> = self.runs.keys().cloned().collect();
        for id in ids {
            let Some(run) = self.runs.get_mut(&id) else { continue };
            let emits = run.collector.tick(now_ms);
            let timed_out = run.time_out(now_ms);
            self.emit(now_ms, &id, emits);
            if timed_out {
                self.out.push(SessionOutput::Interrupt);
            }
        }
        if let Some(limit) =
            self.idle_deadline().filter(|deadline| now_ms >= *deadline).and(self.limits.idle_timeout_ms)
        {
            let detail = format!("shut down after {} without work", runs::spoken(limit));
            self.stop(Some(ExplainedCause::new(KernelCause::Idle, detail)));
        }
    }

    fn idle_deadline(&self) -> Option<u64> {
        let is_idle = self.phase == SessionPhase::Running && self.runs.values().all(SessionRun::is_finished);
        self.limits.idle_timeout_ms.filter(|_| is_idle).map(|timeout| self.idle_since + timeout)
    }

    fn close_if_done(&mut self) {
        if self.phase == SessionPhase::Ended && self.unanswered == 0 && self.pending.is_empty() {
            self.phase = SessionPhase::Over;
            self.out.push(SessionOutput::Over);
        }
    }
}
