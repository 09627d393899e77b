//! Turns events of the kernel into reports for the log.

use notarium_core::{Because, Command, ExecutionId, ExecutionOutcome, ExecutionReport, KernelCause, RawObject};
use serde_json::value::RawValue;

use super::run::RunEnd;
use super::{KernelSessionMachine, Phase, SessionOutput};
use crate::kernel::{EndCause, FinishStatus, KernelEvent, LossReason};
use crate::outputs::KernelOutput;

/// Longest prompt of an input request; the rest is cut.
const MAX_PROMPT_CHARACTERS: usize = 4_000;
/// Finished executions that are remembered for late outputs of their threads.
const MAX_FINISHED_RUNS: usize = 32;

impl KernelSessionMachine {
    pub(super) fn kernel(&mut self, now_ms: u64, event: KernelEvent) {
        match event {
            KernelEvent::Ready { language_info, sandbox } => self.ready(now_ms, language_info.as_deref(), sandbox),
            KernelEvent::Started { execution_id } => self.started(now_ms, &id_of(&execution_id)),
            KernelEvent::Output { execution_id, output } => self.output(now_ms, execution_id.as_ref(), output),
            KernelEvent::Functions { execution_id, data } => self.functions(now_ms, execution_id.as_ref(), &data),
            KernelEvent::Comm(comm) => self.comm(now_ms, comm),
            KernelEvent::InputRequest { execution_id, prompt, password } => {
                self.input_request(now_ms, execution_id.as_ref(), prompt, password);
            }
            KernelEvent::Finished { execution_id, status, execution_count } => {
                self.finished(now_ms, &id_of(&execution_id), status, execution_count);
            }
            KernelEvent::OutputsLost { execution_id, reason } => self.outputs_lost(execution_id.as_ref(), reason),
            KernelEvent::Ended { cause, .. } => self.ended(now_ms, &cause),
        }
    }

    fn ready(&mut self, now_ms: u64, language_info: Option<&RawValue>, sandbox: RawObject) {
        self.idle_since = now_ms;
        if self.phase != Phase::Launching {
            return;
        }
        self.phase = Phase::Running;
        let language_info = language_info.and_then(|info| RawObject::parse(info.get()).ok()).unwrap_or_default();
        self.push_command(Command::ReportKernelStarted { kernel_session: self.id.clone(), language_info, sandbox });
        self.flush();
    }

    pub(super) fn launch_failed(&mut self, why: Because<KernelCause>) {
        match self.phase {
            Phase::Launching => {
                let (kernel_session, Because { cause, detail }) = (self.id.clone(), why);
                self.push_command(Command::ReportKernelLaunchFailed { kernel_session, cause, detail });
                self.phase = Phase::Ended;
                self.flush();
            }
            Phase::Stopping => {
                let shut_down = || Because::new(KernelCause::ShutDown, "shut down while it was started");
                self.end_reported(self.own_cause.clone().unwrap_or_else(shut_down));
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
        self.push_report(now_ms, &id, ExecutionReport::Started {});
        if wants_interrupt {
            self.out.push(SessionOutput::Interrupt);
        }
    }

    fn output(&mut self, now_ms: u64, id: Option<&String>, output: KernelOutput) {
        let known = id.and_then(|id| id_of(id)).filter(|id| self.runs.contains_key(id)).or_else(|| self.latest.clone());
        let Some(id) = known else {
            // Output while a kernel starts belongs to its launch, not to a run.
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
        let prompt: String = prompt.chars().take(MAX_PROMPT_CHARACTERS).collect();
        let emits = run.collector.finish(now_ms);
        self.emit(now_ms, &id, emits);
        self.push_report(now_ms, &id, ExecutionReport::InputRequest { prompt, password });
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
        // Some kernels (bash, R) reply "aborted" to an interrupt.
        if status == FinishStatus::Aborted && run.failure() == ExecutionOutcome::Error {
            run.note("the kernel did not run it, because one before it failed");
        }
        let outcome = if status == FinishStatus::Ok { ExecutionOutcome::Ok } else { run.failure() };
        run.end = Some(RunEnd { outcome, execution_count });
        self.close_progress(now_ms, id);
        self.complete(now_ms, id);
        self.forget_old_runs();
        self.idle_since = now_ms;
        self.flush();
        self.save_widgets(false);
    }

    /// Reports the run's queued outputs, and its end.
    fn complete(&mut self, now_ms: u64, id: &ExecutionId) {
        let Some(run) = self.runs.get_mut(id) else { return };
        let emits = run.collector.finish(now_ms);
        let needs_start = !run.is_started();
        if needs_start {
            run.start(now_ms);
            self.push_report(now_ms, id, ExecutionReport::Started {});
        }
        self.emit(now_ms, id, emits);
        self.mark_gap(now_ms, id);
        let Some(run) = self.runs.get_mut(id) else { return };
        let Some(end) = run.end else { return };
        let notice = run.notice();
        self.push_overflow(now_ms, id);
        let RunEnd { outcome, execution_count } = end;
        let completed = ExecutionReport::Completed { outcome, execution_count, notice };
        self.push_report(now_ms, id, completed);
    }

    fn ended(&mut self, now_ms: u64, cause: &EndCause) {
        let open: Vec<ExecutionId> =
            self.runs.iter().filter(|(_, run)| !run.is_finished()).map(|(id, _)| id.clone()).collect();
        for id in open {
            let emits = self.runs.get_mut(&id).map(|run| run.collector.finish(now_ms)).unwrap_or_default();
            self.emit(now_ms, &id, emits);
            self.mark_gap(now_ms, &id);
            self.push_overflow(now_ms, &id);
        }
        let why = match (&self.own_cause, cause) {
            (Some(own), EndCause::Shutdown) => own.clone(),
            (_, cause) => cause.because(),
        };
        self.save_widgets(true);
        self.end_reported(why);
    }

    pub(super) fn end_reported(&mut self, Because { cause, detail }: Because<KernelCause>) {
        self.push_command(Command::ReportKernelEnded { kernel_session: self.id.clone(), cause, detail });
        self.phase = Phase::Ended;
        self.flush();
    }

    /// Forgets the oldest finished runs; recent ones are kept for the outputs of their threads.
    fn forget_old_runs(&mut self) {
        while self.runs.values().filter(|run| run.is_finished()).count() > MAX_FINISHED_RUNS {
            let oldest = self.runs.iter().filter(|(_, run)| run.is_finished()).min_by_key(|(_, run)| run.number);
            let Some(id) = oldest.map(|(id, _)| id.clone()) else { return };
            self.runs.remove(&id);
        }
    }
}

/// The driver passes our ids on as text.
fn id_of(text: &str) -> Option<ExecutionId> {
    ExecutionId::new(text).ok()
}
