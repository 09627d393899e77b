//! One kernel session of the log, as a pure state machine: what the log says of it and what its kernel does come in;
//! orders to the kernel and reports for the log come out. No I/O, no clock.
//!
//! It is level-triggered: [`View`] is what the log says *now*, so that nothing depends on having heard each event.
//!
//! **Invariants.** Reports of one execution count 1, 2, 3 … in the order in which they are made. What cannot be reported
//! is said in the run. After a stale fence nothing is written any more, and the kernel is killed. Memory for reports that
//! are not answered is bounded; above it output is dropped with a notice, never silently.

mod report;
mod run;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::Arc;

use notarium_core::{
    Command, ExecutionId, ExecutionReport, KernelPhase, KernelSessionId, Millis, Notebook, RawObject, RejectionCode,
    Version,
};
use serde_json::value::RawValue;

use crate::kernel::{EndCause, FinishStatus, KernelEvent, LossReason};
use crate::outputs::{Emit, KernelOutput, OutputLimits};

pub use report::{Displayed, OVERFLOW_POINTER, PendingCommand, PendingReport, Report, blob_part};
use run::{End, Run};

/// Limits and times of a session.
#[derive(Debug, Clone, Copy)]
pub struct SessionLimits {
    pub outputs: OutputLimits,
    /// How long reports wait for others to go in one command, in milliseconds. The end of a run never waits.
    pub linger_ms: u64,
    /// Reports that go in one command, in bytes.
    pub max_batch_bytes: usize,
    /// While connected, the kernel's output waits when this much is not answered, in bytes.
    pub max_unanswered_bytes: usize,
    /// While not connected, output above this is dropped with a notice, in bytes.
    pub max_buffered_bytes: usize,
    /// A kernel without work for so long is shut down; absent: never.
    pub idle_timeout_ms: Option<u64>,
}

impl Default for SessionLimits {
    fn default() -> Self {
        Self {
            outputs: OutputLimits::default(),
            linger_ms: 10,
            max_batch_bytes: 256 << 10,
            max_unanswered_bytes: 8 << 20,
            max_buffered_bytes: 64 << 20,
            idle_timeout_ms: None,
        }
    }
}

/// Finished executions whose late outputs (threads) still find their number.
const MAX_FINISHED_RUNS: usize = 32;
/// Refused parts of one run after which nothing is said again.
const MAX_REFUSALS: u32 = 100;

/// What the log says of the session now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct View {
    /// Absent: the session is over, or never was.
    pub phase: Option<KernelPhase>,
    /// The execution that the session has won and not ended.
    pub assigned: Option<Assigned>,
}

/// An execution that the session is to run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assigned {
    pub execution_id: ExecutionId,
    pub fence: Version,
    pub source: Arc<str>,
    pub timeout_ms: Option<Millis>,
    pub cancel_requested: bool,
}

impl View {
    /// Reads the session off a notebook's state.
    pub fn of(notebook: &Notebook, session: &KernelSessionId) -> Self {
        let assigned = notebook.executions.iter().find_map(|(id, execution)| {
            let fence = execution.fence.filter(|_| !execution.status.is_finished())?;
            (execution.kernel_session.as_ref() == Some(session)).then(|| Assigned {
                execution_id: id.clone(),
                fence,
                source: execution.subject.source().into(),
                timeout_ms: execution.timeout_ms,
                cancel_requested: execution.cancel_requested,
            })
        });
        Self { phase: notebook.kernels.get(session).map(|kernel| kernel.phase), assigned }
    }
}

/// What happens to a session.
#[derive(Debug)]
pub enum Input {
    View(View),
    /// Interrupt what runs; with an id only that execution.
    Interrupt {
        execution_id: Option<ExecutionId>,
    },
    /// The answer to an input request.
    Answer {
        execution_id: ExecutionId,
        value: String,
    },
    Kernel(KernelEvent),
    LaunchFailed {
        cause: String,
    },
    /// A report was answered; `bytes` are what [`Report::bytes`] said.
    Answered {
        report: Report,
        answer: Result<(), RejectionCode>,
        message: String,
    },
    /// The connection came or went.
    Online(bool),
    /// The agent stops.
    Stop {
        cause: String,
    },
    /// [`Session::deadline`] has come.
    Tick,
}

/// What a session wants.
#[derive(Debug)]
pub enum Output {
    Launch,
    Execute {
        execution_id: ExecutionId,
        source: Arc<str>,
    },
    Interrupt,
    AnswerInput(String),
    /// Stop the kernel, politely first; its end is an input.
    Stop,
    /// End the kernel at once; nothing more is expected of it.
    Kill,
    /// To be sent after those before it; the answer is an input.
    Report(Report),
    /// Bytes for the overflow file of a run.
    Spill {
        execution_id: ExecutionId,
        bytes: bytes::Bytes,
    },
    /// For those who look beside the log.
    Busy(bool),
    /// Everything is said and answered: forget the session.
    Over,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// Claimed in the log, no kernel yet.
    New,
    Launching,
    Running,
    /// Asked to stop; its end has not come.
    Stopping,
    /// No kernel any more; reports may be unanswered.
    Ended,
    Over,
}

/// See the module's documentation.
#[derive(Debug)]
pub struct Session {
    id: KernelSessionId,
    limits: SessionLimits,
    phase: Phase,
    runs: BTreeMap<ExecutionId, Run>,
    /// The execution that began last: output without an owner is put down to it.
    latest: Option<ExecutionId>,
    run_count: u64,
    /// Why the agent itself ends the kernel.
    own_cause: Option<String>,
    pending: Vec<PendingCommand>,
    pending_bytes: usize,
    pending_since: Option<u64>,
    unanswered_bytes: usize,
    unanswered: usize,
    online: bool,
    busy_told: bool,
    /// Since when there is no work.
    idle_since: u64,
    out: Vec<Output>,
}

impl Session {
    /// A session that this agent has claimed at `now_ms` (any monotonic clock). [`Input::View`] starts it.
    pub fn new(id: KernelSessionId, limits: SessionLimits, now_ms: u64) -> Self {
        Self {
            id,
            limits,
            phase: Phase::New,
            runs: BTreeMap::new(),
            latest: None,
            run_count: 0,
            own_cause: None,
            pending: Vec::new(),
            pending_bytes: 0,
            pending_since: None,
            unanswered_bytes: 0,
            unanswered: 0,
            online: true,
            busy_told: false,
            idle_since: now_ms,
            out: Vec::new(),
        }
    }

    /// Takes what happened and returns what is to be done, in order.
    pub fn handle(&mut self, now_ms: u64, input: Input) -> Vec<Output> {
        if self.phase != Phase::Over {
            self.dispatch(now_ms, input);
            self.flush_if_due(now_ms);
            self.close_if_done();
        }
        std::mem::take(&mut self.out)
    }

    /// When [`Input::Tick`] has something to do.
    pub fn deadline(&self) -> Option<u64> {
        let linger = self.pending_since.map(|since| since + self.limits.linger_ms);
        let runs = self.runs.values().filter_map(Run::deadline);
        let idle = self.idle_deadline();
        linger.into_iter().chain(runs).chain(idle).min()
    }

    /// Whether the kernel's next output may come in now. While it may not, it waits in the driver and then the kernel.
    pub fn takes_output(&self) -> bool {
        !self.online || self.unanswered_bytes + self.pending_bytes < self.limits.max_unanswered_bytes
    }

    /// Whether a kernel of this session lives or is being started.
    pub fn is_alive(&self) -> bool {
        matches!(self.phase, Phase::New | Phase::Launching | Phase::Running | Phase::Stopping)
    }

    fn dispatch(&mut self, now_ms: u64, input: Input) {
        match input {
            Input::View(view) => self.view(now_ms, view),
            Input::Interrupt { execution_id } => self.interrupt(execution_id.as_ref()),
            Input::Answer { execution_id, value } => self.answer_input(&execution_id, value),
            Input::Kernel(event) => self.kernel(now_ms, event),
            Input::LaunchFailed { cause } => self.launch_failed(cause),
            Input::Answered { report, answer, message } => self.answered(now_ms, report, answer, &message),
            Input::Online(online) => self.online = online,
            Input::Stop { cause } => self.stop(Some(cause)),
            Input::Tick => self.tick(now_ms),
        }
    }

    // --- the log ---

    fn view(&mut self, now_ms: u64, view: View) {
        match (view.phase, self.phase) {
            (None, phase) if phase != Phase::Ended => self.abandon(),
            (Some(KernelPhase::Ending), Phase::New) => {
                self.end_reported("shut down before it was started".to_owned());
            }
            (Some(KernelPhase::Ending), Phase::Launching | Phase::Running) => self.stop(None),
            (Some(KernelPhase::Claimed), Phase::New) => {
                self.phase = Phase::Launching;
                self.out.push(Output::Launch);
            }
            _ => {}
        }
        if let Some(assigned) = view.assigned.filter(|_| self.phase == Phase::Running) {
            self.execute(now_ms, assigned);
        }
    }

    fn execute(&mut self, now_ms: u64, assigned: Assigned) {
        let Assigned { execution_id, fence, source, timeout_ms, cancel_requested } = assigned;
        if self.runs.contains_key(&execution_id) {
            return;
        }
        self.run_count += 1;
        let mut run = Run::new(self.run_count, fence, timeout_ms, self.limits.outputs);
        run.interrupt_wanted = cancel_requested;
        self.runs.insert(execution_id.clone(), run);
        self.idle_since = now_ms;
        self.out.push(Output::Execute { execution_id, source });
    }

    fn interrupt(&mut self, execution_id: Option<&ExecutionId>) {
        for (id, run) in self.runs.iter_mut().filter(|(_, run)| !run.is_finished()) {
            if execution_id.is_none_or(|wanted| wanted == id) {
                // A kernel that has not begun with it ignores the signal: it is sent again when it begins.
                run.interrupt_wanted = !run.is_started();
            }
        }
        let concerns = |id: &ExecutionId| self.runs.get(id).is_some_and(|run| !run.is_finished());
        if self.phase == Phase::Running && execution_id.is_none_or(concerns) {
            self.out.push(Output::Interrupt);
        }
    }

    fn answer_input(&mut self, execution_id: &ExecutionId, value: String) {
        let Some(run) = self.runs.get_mut(execution_id) else { return };
        if std::mem::take(&mut run.waits_for_input) {
            self.out.push(Output::AnswerInput(value));
        }
    }

    /// The log knows of no such session: nothing is to be written any more.
    fn abandon(&mut self) {
        self.runs.clear();
        self.pending.clear();
        self.pending_bytes = 0;
        self.pending_since = None;
        self.out.push(Output::Kill);
        self.phase = Phase::Over;
        self.out.push(Output::Over);
    }

    fn stop(&mut self, own_cause: Option<String>) {
        self.own_cause = self.own_cause.take().or(own_cause);
        match self.phase {
            Phase::New => {
                let cause = self.own_cause.clone().unwrap_or_default();
                self.end_reported(cause);
            }
            Phase::Launching | Phase::Running => {
                self.phase = Phase::Stopping;
                self.out.push(Output::Stop);
            }
            Phase::Stopping | Phase::Ended | Phase::Over => {}
        }
    }

    // --- the kernel ---

    fn kernel(&mut self, now_ms: u64, event: KernelEvent) {
        match event {
            KernelEvent::Ready { language_info, .. } => self.ready(now_ms, language_info.as_deref()),
            KernelEvent::Started { execution_id } => self.started(now_ms, &id_of(&execution_id)),
            KernelEvent::Output { execution_id, output } => self.output(now_ms, execution_id.as_ref(), output),
            KernelEvent::InputRequest { execution_id, prompt, password } => {
                self.input_request(now_ms, execution_id.as_ref(), prompt, password);
            }
            KernelEvent::Finished { execution_id, status, execution_count, .. } => {
                self.finished(now_ms, &id_of(&execution_id), status, execution_count);
            }
            KernelEvent::OutputsLost { execution_id, reason } => self.outputs_lost(execution_id.as_ref(), reason),
            KernelEvent::Ended { cause, .. } => self.ended(now_ms, &cause),
        }
    }

    fn ready(&mut self, now_ms: u64, language_info: Option<&RawValue>) {
        self.idle_since = now_ms;
        if self.phase != Phase::Launching {
            return;
        }
        self.phase = Phase::Running;
        let language_info = language_info.and_then(|info| RawObject::parse(info.get()).ok()).unwrap_or_default();
        self.push_command(Command::ReportKernelStarted { kernel_session: self.id.clone(), language_info });
        self.flush();
    }

    fn launch_failed(&mut self, cause: String) {
        match self.phase {
            Phase::Launching => {
                self.push_command(Command::ReportKernelLaunchFailed { kernel_session: self.id.clone(), cause });
                self.phase = Phase::Ended;
                self.flush();
            }
            Phase::Stopping => {
                let cause = self.own_cause.clone().unwrap_or_else(|| "shut down while it was started".to_owned());
                self.end_reported(cause);
            }
            _ => {}
        }
    }

    fn started(&mut self, now_ms: u64, id: &Option<ExecutionId>) {
        let Some((id, run)) = id.as_ref().and_then(|id| Some((id, self.runs.get_mut(id)?))) else { return };
        run.start(now_ms);
        let wants_interrupt = std::mem::take(&mut run.interrupt_wanted);
        self.latest = Some(id.clone());
        let id = id.clone();
        self.push_report(now_ms, &id, PendingReport::Plain(ExecutionReport::Started {}));
        if wants_interrupt {
            self.out.push(Output::Interrupt);
        }
    }

    fn output(&mut self, now_ms: u64, id: Option<&String>, output: KernelOutput) {
        let known = id.and_then(|id| id_of(id)).filter(|id| self.runs.contains_key(id)).or_else(|| self.latest.clone());
        let Some(id) = known else {
            // What a kernel says while it starts is part of its launch, not of a run.
            tracing::debug!(kernel_session = %self.id, "output of a kernel that has run nothing is not kept");
            return;
        };
        let Some(run) = self.runs.get_mut(&id) else { return };
        let mut emits = run.collector.handle(now_ms, output);
        if run.is_finished() {
            emits.extend(run.collector.finish(now_ms));
        }
        self.emit(now_ms, &id, emits);
    }

    fn input_request(&mut self, now_ms: u64, id: Option<&String>, prompt: String, password: bool) {
        let Some(id) = id.and_then(|id| id_of(id)).or_else(|| self.latest.clone()) else { return };
        let Some(run) = self.runs.get_mut(&id) else { return };
        run.waits_for_input = true;
        let emits = run.collector.finish(now_ms);
        self.emit(now_ms, &id, emits);
        self.push_report(now_ms, &id, PendingReport::Plain(ExecutionReport::InputRequest { prompt, password }));
        self.flush();
    }

    fn outputs_lost(&mut self, id: Option<&String>, reason: LossReason) {
        let id = id.and_then(|id| id_of(id)).or_else(|| self.latest.clone());
        if let Some(run) = id.and_then(|id| self.runs.get_mut(&id)) {
            run.note(match reason {
                LossReason::ReplyMissing => "the kernel did not say how this run ended: it may have been interrupted",
                LossReason::EndMissing | LossReason::Unreadable => "the kernel lost some of this run's output",
            });
        }
    }

    fn finished(&mut self, now_ms: u64, id: &Option<ExecutionId>, status: FinishStatus, execution_count: Option<u64>) {
        let Some((id, run)) = id.as_ref().and_then(|id| Some((id, self.runs.get_mut(id)?))) else { return };
        if status == FinishStatus::Aborted {
            run.note("the kernel did not run it, because one before it failed");
        }
        run.end = Some(End { ok: status == FinishStatus::Ok, execution_count });
        self.complete(now_ms, id);
        self.forget_old_runs();
        self.idle_since = now_ms;
        self.flush();
    }

    /// Reports what the run still holds, and its end.
    fn complete(&mut self, now_ms: u64, id: &ExecutionId) {
        let Some(run) = self.runs.get_mut(id) else { return };
        let emits = run.collector.finish(now_ms);
        let needs_start = !run.is_started();
        if needs_start {
            run.start(now_ms);
            self.push_report(now_ms, id, PendingReport::Plain(ExecutionReport::Started {}));
        }
        self.emit(now_ms, id, emits);
        self.mark_gap(now_ms, id);
        let Some(run) = self.runs.get_mut(id) else { return };
        let Some(end) = run.end else { return };
        let notice = run.notice();
        if std::mem::take(&mut run.has_spilled) {
            self.push_report(now_ms, id, PendingReport::Overflow);
        }
        let End { ok, execution_count } = end;
        let completed = ExecutionReport::Completed { ok, execution_count, notice };
        self.push_report(now_ms, id, PendingReport::Plain(completed));
    }

    fn ended(&mut self, now_ms: u64, cause: &EndCause) {
        let open: Vec<ExecutionId> =
            self.runs.iter().filter(|(_, run)| !run.is_finished()).map(|(id, _)| id.clone()).collect();
        for id in open {
            let emits = self.runs.get_mut(&id).map(|run| run.collector.finish(now_ms)).unwrap_or_default();
            self.emit(now_ms, &id, emits);
            self.mark_gap(now_ms, &id);
            if self.runs.get_mut(&id).is_some_and(|run| std::mem::take(&mut run.has_spilled)) {
                self.push_report(now_ms, &id, PendingReport::Overflow);
            }
        }
        let cause = match (&self.own_cause, cause) {
            (Some(own), EndCause::Shutdown) => own.clone(),
            (_, cause) => cause.to_string(),
        };
        self.end_reported(cause);
    }

    fn end_reported(&mut self, cause: String) {
        self.push_command(Command::ReportKernelEnded { kernel_session: self.id.clone(), cause });
        self.phase = Phase::Ended;
        self.flush();
    }

    /// Finished runs are kept a while for the outputs of their threads.
    fn forget_old_runs(&mut self) {
        while self.runs.values().filter(|run| run.is_finished()).count() > MAX_FINISHED_RUNS {
            let oldest = self.runs.iter().filter(|(_, run)| run.is_finished()).min_by_key(|(_, run)| run.number);
            let Some(id) = oldest.map(|(id, _)| id.clone()) else { return };
            self.runs.remove(&id);
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
                self.out.push(Output::Interrupt);
            }
        }
        if let Some(limit) =
            self.idle_deadline().filter(|deadline| now_ms >= *deadline).and(self.limits.idle_timeout_ms)
        {
            self.stop(Some(format!("shut down after {} without work", run::spoken(limit))));
        }
    }

    fn idle_deadline(&self) -> Option<u64> {
        let is_idle = self.phase == Phase::Running && self.runs.values().all(Run::is_finished);
        self.limits.idle_timeout_ms.filter(|_| is_idle).map(|timeout| self.idle_since + timeout)
    }

    // --- reports ---

    /// Turns what the collector gives into reports; outputs that follow each other go in one.
    fn emit(&mut self, now_ms: u64, id: &ExecutionId, emits: Vec<Emit>) {
        let mut outputs: Vec<Displayed> = Vec::new();
        for emit in emits {
            match emit {
                Emit::Append { object, display_id } => {
                    outputs.push(Displayed { object, display_id });
                    continue;
                }
                Emit::Overflow(bytes) => {
                    if let Some(run) = self.runs.get_mut(id) {
                        run.has_spilled = true;
                    }
                    self.out.push(Output::Spill { execution_id: id.clone(), bytes });
                    continue;
                }
                Emit::Update { display_id, object } => {
                    self.push_outputs(now_ms, id, &mut outputs);
                    self.push_output(
                        now_ms,
                        id,
                        PendingReport::Update(Displayed { object, display_id: Some(display_id) }),
                    );
                }
                Emit::Clear => {
                    self.push_outputs(now_ms, id, &mut outputs);
                    self.push_report(now_ms, id, PendingReport::Plain(ExecutionReport::Clear { wait: false }));
                }
            }
        }
        self.push_outputs(now_ms, id, &mut outputs);
    }

    fn push_outputs(&mut self, now_ms: u64, id: &ExecutionId, outputs: &mut Vec<Displayed>) {
        if !outputs.is_empty() {
            self.push_output(now_ms, id, PendingReport::Outputs(std::mem::take(outputs)));
        }
    }

    /// Outputs are dropped, and counted, when too much waits for a server that cannot be reached.
    fn push_output(&mut self, now_ms: u64, id: &ExecutionId, report: PendingReport) {
        let bytes = report.bytes();
        let held = self.unanswered_bytes + self.pending_bytes;
        let Some(run) = self.runs.get_mut(id) else { return };
        if !self.online && held + bytes > self.limits.max_buffered_bytes {
            run.dropped_bytes += bytes;
            return;
        }
        self.mark_gap(now_ms, id);
        self.push_report(now_ms, id, report);
    }

    /// Says where output was dropped, before anything that follows.
    fn mark_gap(&mut self, now_ms: u64, id: &ExecutionId) {
        let Some(run) = self.runs.get_mut(id) else { return };
        let dropped = std::mem::take(&mut run.dropped_bytes);
        if dropped > 0 {
            let limit = self.limits.max_buffered_bytes >> 20;
            let text = format!(
                "\n[notarium: {dropped} bytes of output are missing here: the server could not be reached, and the \
                 agent keeps at most {limit} MiB meanwhile]\n"
            );
            self.push_report(now_ms, id, PendingReport::Outputs(vec![Displayed::notice(&text)]));
        }
    }

    fn push_report(&mut self, now_ms: u64, id: &ExecutionId, report: PendingReport) {
        let Some(run) = self.runs.get_mut(id) else { return };
        let (fence, seq) = (run.fence, run.next_seq());
        let is_large = self.pending_bytes + report.bytes() > self.limits.max_batch_bytes;
        if is_large {
            self.flush();
        }
        self.push(PendingCommand::Execution { execution_id: id.clone(), fence, seq, report });
        self.pending_since.get_or_insert(now_ms);
    }

    fn push_command(&mut self, command: Command) {
        self.push(PendingCommand::Kernel(command));
    }

    fn push(&mut self, command: PendingCommand) {
        self.pending_bytes += command.bytes();
        self.pending.push(command);
    }

    fn flush_if_due(&mut self, now_ms: u64) {
        if self.pending_since.is_some_and(|since| now_ms >= since + self.limits.linger_ms) {
            self.tell_busy();
            self.flush();
        }
    }

    /// Short runs need no word beside the log.
    fn tell_busy(&mut self) {
        let busy = self.runs.values().any(|run| run.is_started() && !run.is_finished());
        if busy != self.busy_told {
            self.busy_told = busy;
            self.out.push(Output::Busy(busy));
        }
    }

    fn flush(&mut self) {
        if self.busy_told {
            self.tell_busy();
        }
        self.pending_since = None;
        if self.pending.is_empty() {
            return;
        }
        let report =
            Report { commands: std::mem::take(&mut self.pending), bytes: std::mem::take(&mut self.pending_bytes) };
        self.unanswered_bytes += report.bytes;
        self.unanswered += 1;
        self.out.push(Output::Report(report));
    }

    fn answered(&mut self, now_ms: u64, report: Report, answer: Result<(), RejectionCode>, message: &str) {
        self.unanswered_bytes = self.unanswered_bytes.saturating_sub(report.bytes);
        self.unanswered = self.unanswered.saturating_sub(1);
        match answer {
            Ok(()) | Err(RejectionCode::UnknownExecution | RejectionCode::UnknownKernelSession) => {}
            Err(RejectionCode::StaleFence | RejectionCode::Forbidden | RejectionCode::UnknownNotebook) => {
                self.abandon()
            }
            Err(RejectionCode::Unavailable) => self.report_again(now_ms, report),
            Err(_) => self.report_refused(now_ms, report, message),
        }
    }

    /// The server could not store it: the same again, under later numbers, because those behind it may have arrived.
    fn report_again(&mut self, now_ms: u64, report: Report) {
        for command in report.commands {
            match command {
                PendingCommand::Execution { execution_id, report, .. } => {
                    self.push_report(now_ms, &execution_id, report)
                }
                PendingCommand::Kernel(command) => {
                    self.push_command(command);
                    self.pending_since.get_or_insert(now_ms);
                }
            }
        }
    }

    /// A limit: the outputs go, everything else is said again with the reason.
    fn report_refused(&mut self, now_ms: u64, report: Report, message: &str) {
        tracing::warn!(kernel_session = %self.id, message, "the server refused a report");
        let is_alone = report.commands.len() == 1;
        for command in report.commands {
            let (execution_id, report) = match command {
                PendingCommand::Execution { execution_id, report, .. } => (execution_id, report),
                PendingCommand::Kernel(_) if is_alone => continue,
                PendingCommand::Kernel(command) => {
                    self.push_command(command);
                    self.pending_since.get_or_insert(now_ms);
                    continue;
                }
            };
            let Some(run) = self.runs.get_mut(&execution_id) else { continue };
            run.refusals += 1;
            match report {
                _ if run.refusals > MAX_REFUSALS => {}
                PendingReport::Plain(ExecutionReport::Completed { ok, execution_count, .. }) => {
                    run.note(&format!("some output was refused: {message}"));
                    let notice = run.notice();
                    let completed = ExecutionReport::Completed { ok, execution_count, notice };
                    self.push_report(now_ms, &execution_id, PendingReport::Plain(completed));
                }
                PendingReport::Plain(plain) => self.push_report(now_ms, &execution_id, PendingReport::Plain(plain)),
                _ => run.note(&format!("some output was refused: {message}")),
            }
        }
    }

    fn close_if_done(&mut self) {
        if self.phase == Phase::Ended && self.unanswered == 0 && self.pending.is_empty() {
            self.phase = Phase::Over;
            self.out.push(Output::Over);
        }
    }
}

/// The driver carries our ids as text.
fn id_of(text: &str) -> Option<ExecutionId> {
    ExecutionId::new(text).ok()
}
