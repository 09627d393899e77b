//! Reports on their way to the log: batched, counted until they are answered.

use notarium_core::{Command, ExecutionId, ExecutionReport, RejectionCode};

use super::report::{Displayed, PendingCommand, PendingReport, Report};
use super::{KernelSessionMachine, Output};
use crate::outputs::Emit;

impl KernelSessionMachine {
    /// Turns what the collector gives into reports; outputs that follow each other go in one.
    pub(super) fn emit(&mut self, now_ms: u64, id: &ExecutionId, emits: Vec<Emit>) {
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
    pub(super) fn mark_gap(&mut self, now_ms: u64, id: &ExecutionId) {
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

    pub(super) fn push_report(&mut self, now_ms: u64, id: &ExecutionId, report: PendingReport) {
        let Some(fence) = self.runs.get(id).map(|run| run.fence) else { return };
        let is_large = self.pending_bytes + report.bytes() > self.limits.max_batch_bytes;
        if is_large {
            self.flush();
        }
        self.push(PendingCommand::Execution { execution_id: id.clone(), fence, report });
        self.pending_since.get_or_insert(now_ms);
    }

    pub(super) fn push_command(&mut self, command: Command) {
        self.push(PendingCommand::Kernel(command));
    }

    pub(super) fn push(&mut self, command: PendingCommand) {
        self.pending_bytes += command.bytes();
        self.pending.push(command);
    }

    pub(super) fn flush_if_due(&mut self, now_ms: u64) {
        if self.pending_since.is_some_and(|since| now_ms >= since + self.limits.linger_ms) {
            self.show_busy();
            self.flush();
        }
    }

    /// Short runs need no word beside the log.
    fn show_busy(&mut self) {
        let busy = self.runs.values().any(|run| run.is_started() && !run.is_finished());
        if busy != self.busy_shown {
            self.busy_shown = busy;
            self.out.push(Output::Busy(busy));
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
        self.out.push(Output::Report(report));
    }

    /// It is in the log, or nothing of it will be.
    pub(super) fn answered(&mut self, now_ms: u64, report: Report, refusal: Option<(RejectionCode, String)>) {
        self.unanswered_bytes = self.unanswered_bytes.saturating_sub(report.bytes);
        self.unanswered = self.unanswered.saturating_sub(1);
        match refusal {
            None => {}
            Some((RejectionCode::StaleFence | RejectionCode::Forbidden | RejectionCode::UnknownNotebook, _)) => {
                self.abandon()
            }
            Some((_, message)) => {
                for command in report.commands {
                    if let PendingCommand::Functions { execution_id, .. } = command {
                        self.say_not_registered(now_ms, &execution_id, &message);
                    }
                }
            }
        }
    }
}
