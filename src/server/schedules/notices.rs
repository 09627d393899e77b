//! Notices about ends of scheduled runs: the one place that learns of each.

use notarium_core::{Actor, EndScheduledRun, NotebookId, Schedule, ScheduleId, ScheduledRunOutcome};

/// End of a scheduled run, for the person in whose name the schedule runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScheduleNotice {
    /// The scheduled notebook.
    pub notebook: NotebookId,
    pub schedule_id: ScheduleId,
    /// The person to tell.
    pub maker: Actor,
    /// The notebook of the run; absent: no run was claimed.
    pub run: Option<NotebookId>,
    pub outcome: ScheduledRunOutcome,
    /// Name of the error of a failed run.
    pub error: Option<String>,
    pub detail: Option<String>,
    /// Number of missed runs.
    pub missed: u32,
}

impl ScheduleNotice {
    pub fn of(notebook: &NotebookId, schedule: &Schedule, end: &EndScheduledRun) -> Self {
        Self {
            notebook: notebook.clone(),
            schedule_id: end.schedule_id.clone(),
            maker: schedule.maker.clone(),
            run: end.run.clone(),
            outcome: end.outcome,
            error: end.error.clone(),
            detail: end.detail.clone(),
            missed: end.missed.unwrap_or(1),
        }
    }

    /// True for ends that the maker wants to hear of: all but a success and a cancellation.
    pub fn is_trouble(&self) -> bool {
        use ScheduledRunOutcome::{Cancelled, Succeeded};
        !matches!(self.outcome, Succeeded | Cancelled)
    }

    /// Tells people. The outbox of notices is called from here.
    pub fn tell(&self) {
        let Self { notebook, schedule_id, outcome, run, error, detail, missed, .. } = self;
        if self.is_trouble() {
            tracing::warn!(%notebook, schedule = %schedule_id, ?outcome, ?run, ?error, ?detail, missed, "scheduled run");
        } else {
            tracing::info!(%notebook, schedule = %schedule_id, ?outcome, ?run, "scheduled run");
        }
    }
}
