//! Reports for the log: collects them into batches, and counts them until they are answered.

use bytes::Bytes;
use notarium_core::{Command, ExecutionId, ExecutionReport, RejectionCode};

use super::reports::{PendingCommand, Report, ToStore, as_display, displayed, notice};
use super::{KernelSessionMachine, SessionOutput};
use crate::outputs::OutputChange;

impl KernelSessionMachine {
    /// Turns the collector's changes into reports; consecutive outputs go in one.
    pub(super) fn emit(&mut self, now_ms: u64, id: &ExecutionId, emits: Vec<OutputChange>) {
        let mut shown = (Vec::new(), Vec::new());
        for emit in emits {
            match emit {
                OutputChange::Append { object, display_id } => {
                    shown.0.push(displayed(object, display_id, &mut shown.1))
                }
                OutputChange::Overflow(bytes) => {
                    if let Some(run) = self.runs.get_mut(id) {
                        run.has_spilled = true;
                    }
                    self.out.push(SessionOutput::Spill { execution_id: id.clone(), bytes });
                }
                OutputChange::Update { display_id, mut object } => {
                    self.push_outputs(now_ms, id, &mut shown);
                    object.output = as_display(&object.output);
                    let mut parts = Vec::new();
                    let output = displayed(object, Some(display_id.clone()), &mut parts);
                    self.push_output(now_ms, id, ExecutionReport::UpdateDisplay { display_id, output }, parts);
                }
                OutputChange::Clear => {
                    self.push_outputs(now_ms, id, &mut shown);
                    self.push_report(now_ms, id, ExecutionReport::Clear { wait: false });
                }
            }
        }
        self.push_outputs(now_ms, id, &mut shown);
    }

    fn push_outputs(&mut self, now_ms: u64, id: &ExecutionId, shown: &mut (Vec<notarium_core::Output>, Vec<Bytes>)) {
        let (outputs, parts) = std::mem::take(shown);
        if !outputs.is_empty() {
            self.push_output(now_ms, id, ExecutionReport::Output { outputs }, parts);
        }
    }

    /// Adds an output. Without a connection, above the buffer limit, it is dropped and counted.
    fn push_output(&mut self, now_ms: u64, id: &ExecutionId, report: ExecutionReport, parts: Vec<Bytes>) {
        let held = self.unanswered_bytes + self.pending_bytes;
        let Some(run) = self.runs.get_mut(id) else { return };
        let pending = run.report(id, report, ToStore::Parts(parts));
        let bytes = pending.bytes();
        if !self.online && held + bytes > self.limits.max_buffered_bytes {
            run.dropped_bytes += bytes;
            return;
        }
        self.mark_gap(now_ms, id);
        self.push_lingering(now_ms, pending);
    }

    /// Adds a notice in place of dropped output, before anything that follows.
    pub(super) fn mark_gap(&mut self, now_ms: u64, id: &ExecutionId) {
        let Some(run) = self.runs.get_mut(id) else { return };
        let dropped = std::mem::take(&mut run.dropped_bytes);
        if dropped > 0 {
            let limit = self.limits.max_buffered_bytes >> 20;
            let text = format!(
                "\n[notarium: {dropped} bytes of output are missing here: the server could not be reached, and the \
                 agent keeps at most {limit} MiB meanwhile]\n"
            );
            self.push_report(now_ms, id, notice(&text));
        }
    }

    /// Adds the output that names the run's overflow, if that has grown.
    pub(super) fn push_overflow(&mut self, now_ms: u64, id: &ExecutionId) {
        let Some(run) = self.runs.get_mut(id) else { return };
        if std::mem::take(&mut run.has_spilled) {
            let pending = run.report(id, ExecutionReport::Output { outputs: Vec::new() }, ToStore::Overflow);
            self.push_lingering(now_ms, pending);
        }
    }

    pub(super) fn push_report(&mut self, now_ms: u64, id: &ExecutionId, report: ExecutionReport) {
        let Some(run) = self.runs.get(id) else { return };
        self.push_lingering(now_ms, run.report(id, report, ToStore::Parts(Vec::new())));
    }

    fn push_lingering(&mut self, now_ms: u64, pending: PendingCommand) {
        if self.pending_bytes + pending.bytes() > self.limits.max_batch_bytes {
            self.flush();
        }
        self.push(pending);
        self.pending_since.get_or_insert(now_ms);
    }

    /// Sends a command in its own report, so that its refusal affects no other.
    pub(super) fn push_alone(&mut self, pending: PendingCommand) {
        self.flush();
        self.push(pending);
        self.flush();
    }

    pub(super) fn push_command(&mut self, command: Command) {
        self.push(PendingCommand::plain(command));
    }

    fn push(&mut self, command: PendingCommand) {
        self.pending_bytes += command.bytes();
        self.pending.push(command);
    }

    pub(super) fn flush_if_due(&mut self, now_ms: u64) {
        if self.pending_since.is_some_and(|since| now_ms >= since + self.limits.linger_ms) {
            self.show_busy();
            self.flush();
        }
    }

    /// Reports the busy state, if it changed. Short runs are not shown.
    fn show_busy(&mut self) {
        let busy = self.runs.values().any(|run| run.is_started() && !run.is_finished());
        if busy != self.busy_shown {
            self.busy_shown = busy;
            self.out.push(SessionOutput::Busy(busy));
        }
    }

    pub(super) fn flush(&mut self) {
        if self.busy_shown {
            self.show_busy();
        }
        self.pending_since = None;
        if self.pending.is_empty() {
            return;
        }
        let report =
            Report { commands: std::mem::take(&mut self.pending), bytes: std::mem::take(&mut self.pending_bytes) };
        self.unanswered_bytes += report.bytes;
        self.unanswered += 1;
        self.out.push(SessionOutput::Report(report));
    }

    /// Takes the answer to a report: it is in the log, or was refused.
    pub(super) fn answered(&mut self, now_ms: u64, report: Report, refusal: Option<(RejectionCode, String)>) {
        self.unanswered_bytes = self.unanswered_bytes.saturating_sub(report.bytes);
        self.unanswered = self.unanswered.saturating_sub(1);
        match refusal {
            None => {}
            Some((RejectionCode::StaleFence | RejectionCode::Forbidden | RejectionCode::UnknownNotebook, _)) => {
                self.abandon()
            }
            Some((_, message)) => {
                for id in report.commands.into_iter().filter_map(|command| command.registered_by) {
                    self.say_not_registered(now_ms, &id, &message);
                }
            }
        }
    }
}
