//! State of one execution in a session.

use notarium_core::{Command, ExecutionId, ExecutionOutcome, ExecutionReport, Millis, Version};

use super::reports::{PendingCommand, ToStore};
use crate::outputs::{OutputCollector, OutputLimits};

/// Result of an execution, as the kernel reported it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RunEnd {
    pub outcome: ExecutionOutcome,
    pub execution_count: Option<u64>,
}

#[derive(Debug)]
pub(super) struct SessionRun {
    /// Number of the run in its session.
    pub number: u64,
    pub fence: Version,
    pub collector: OutputCollector,
    pub end: Option<RunEnd>,
    /// True: interrupt when the kernel has begun the run.
    pub interrupt_wanted: bool,
    /// The run, or its kernel, was interrupted.
    pub is_interrupted: bool,
    pub waits_for_input: bool,
    /// The overflow file has output that is not reported.
    pub has_spilled: bool,
    /// Bytes of dropped output that are not reported.
    pub dropped_bytes: usize,
    timeout_ms: Option<Millis>,
    started_ms: Option<u64>,
    timed_out: bool,
    notices: Vec<String>,
}

/// Most notices that one run keeps; further ones would repeat the same.
const MAX_NOTICES: usize = 4;

impl SessionRun {
    pub fn new(number: u64, fence: Version, timeout_ms: Option<Millis>, limits: OutputLimits) -> Self {
        Self {
            number,
            fence,
            collector: OutputCollector::new(limits),
            end: None,
            interrupt_wanted: false,
            is_interrupted: false,
            waits_for_input: false,
            has_spilled: false,
            dropped_bytes: 0,
            timeout_ms,
            started_ms: None,
            timed_out: false,
            notices: Vec::new(),
        }
    }

    /// A report of the run, which is numbered when it is sent.
    pub fn report(&self, id: &ExecutionId, report: ExecutionReport, to_store: ToStore) -> PendingCommand {
        let command = Command::ReportExecution { execution_id: id.clone(), fence: self.fence, seq: 0, report };
        PendingCommand { to_store, ..PendingCommand::plain(command) }
    }

    pub fn start(&mut self, now_ms: u64) {
        self.started_ms.get_or_insert(now_ms);
    }

    pub fn is_started(&self) -> bool {
        self.started_ms.is_some()
    }

    pub fn is_finished(&self) -> bool {
        self.end.is_some()
    }

    /// Time of the next flush of outputs, or of the timeout.
    pub fn deadline(&self) -> Option<u64> {
        self.collector.deadline().into_iter().chain(self.timeout_deadline()).min()
    }

    fn timeout_deadline(&self) -> Option<u64> {
        let is_running = self.end.is_none() && !self.timed_out;
        Some(self.started_ms.filter(|_| is_running)?.saturating_add(self.timeout_ms?))
    }

    /// Returns true once, when the timeout of the request has passed.
    pub fn time_out(&mut self, now_ms: u64) -> bool {
        let is_over = self.timeout_deadline().is_some_and(|deadline| now_ms >= deadline);
        if is_over {
            self.timed_out = true;
            self.note(&format!(
                "interrupted after {}, as its request said",
                spoken(self.timeout_ms.unwrap_or_default())
            ));
        }
        is_over
    }

    /// Outcome if the kernel reports a failure.
    pub fn failure(&self) -> ExecutionOutcome {
        match (self.timed_out, self.is_interrupted) {
            (true, _) => ExecutionOutcome::TimedOut,
            (false, true) => ExecutionOutcome::Interrupted,
            (false, false) => ExecutionOutcome::Error,
        }
    }

    /// Adds a notice for people about the end of the run.
    pub fn note(&mut self, notice: &str) {
        if self.notices.len() < MAX_NOTICES && !self.notices.iter().any(|known| known == notice) {
            self.notices.push(notice.to_owned());
        }
    }

    pub fn notice(&self) -> Option<String> {
        (!self.notices.is_empty()).then(|| self.notices.join("; "))
    }
}

/// A duration in words.
pub(super) fn spoken(milliseconds: u64) -> String {
    match milliseconds {
        0..1000 => format!("{milliseconds} ms"),
        1000..120_000 => format!("{} s", milliseconds / 1000),
        120_000..7_200_000 => format!("{} minutes", milliseconds / 60_000),
        _ => format!("{} hours", milliseconds / 3_600_000),
    }
}
