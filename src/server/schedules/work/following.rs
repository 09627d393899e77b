//! Follows the cells of a scheduled run until they have ended.

use std::time::Duration;

use notarium_core::{
    CellId, Command, Document, EndCause, EndScheduledRun, Event, Execution, ExecutionId, ExecutionStatus, KernelPhase,
    Millis, ScheduledRunOutcome,
};

use super::{RunInProgress, RunStep, RunStop};
use crate::rooms::{News, Subscription};
use crate::schedules::plan::RunPart;

/// Time that a run waits for a runtime agent to take its kernel.
const KERNEL_WAIT_MS: Millis = 30 * 60 * 1_000;
/// Interval of looks at the person's rights, and at a notebook whose room another node has.
const RIGHTS_EVERY_MS: Millis = 30_000;
const LOOK_ELSEWHERE_MS: Millis = 1_000;
/// Time for stopped cells to end.
const STOP_PATIENCE: Duration = Duration::from_secs(10);

impl RunInProgress {
    /// Waits until all cells of the part have ended. `Err`: the run goes no further.
    pub(super) async fn follow(&self, part: &RunPart) -> RunStep<()> {
        let mut subscription = self.subscription().await;
        let mut rights_at = self.notebooks.clock.now() + RIGHTS_EVERY_MS;
        loop {
            let state = self.state().await?;
            if let Some(runs) = self.ended_runs(&state, part).await? {
                return self.judge(&state, part, &runs);
            }
            let now = self.notebooks.clock.now();
            self.check_time(&state, now).await?;
            if now >= rights_at {
                if let Some(outcome) = self.lost_rights().await? {
                    return Err(self.stopped(outcome, "the rights of the person in whose name it ran ended").await);
                }
                rights_at = now + RIGHTS_EVERY_MS;
            }
            self.answer_input(&state).await?;
            let wake_at = rights_at
                .min(self.deadline())
                .min(now + if subscription.is_some() { RIGHTS_EVERY_MS } else { LOOK_ELSEWHERE_MS });
            let is_lost = tokio::select! {
                () = self.over.cancelled() => {
                    return Err(self.stopped(ScheduledRunOutcome::Cancelled, "its schedule was removed").await);
                }
                is_lost = news(&mut subscription) => is_lost,
                () = self.notebooks.clock.sleep_until(wake_at) => subscription.is_none(),
            };
            if is_lost {
                subscription = self.subscription().await;
            }
        }
    }

    /// Follows the run's room, if this node owns it.
    async fn subscription(&self) -> Option<Subscription> {
        let is_here = self.notebooks.cluster.owns(&self.run.notebook).await.unwrap_or(false);
        is_here.then(|| self.notebooks.follow_by_server(&self.run.notebook))
    }

    /// Ends a run that takes too long, or whose kernel no agent takes.
    async fn check_time(&self, state: &Document, now: Millis) -> RunStep<()> {
        if now >= self.deadline() {
            let minutes = self.run.settings.max_run_minutes;
            return Err(self
                .stopped(ScheduledRunOutcome::TimedOut, format!("it was stopped after {minutes} min"))
                .await);
        }
        let waits = state.kernels.values().all(|kernel| kernel.phase == KernelPhase::Requested);
        if waits && now >= self.run.started_at + KERNEL_WAIT_MS {
            let minutes = KERNEL_WAIT_MS / 60_000;
            let detail = format!("no runtime agent took its kernel within {minutes} min: connect one that offers it");
            return Err(self.stopped(ScheduledRunOutcome::NotStarted, detail).await);
        }
        Ok(())
    }

    /// Stops what runs, and waits a little for its end.
    async fn stopped(&self, outcome: ScheduledRunOutcome, detail: impl Into<String>) -> RunStop {
        let stopping = async {
            if !self.is_here().await {
                return;
            }
            let mut subscription = self.subscription().await;
            // A run that has just ended needs no stop.
            let _ = self.notebooks.execute_by_server(&self.run.notebook, Command::StopAll {}).await;
            while let Ok(state) = self.state().await
                && state.executions.values().any(|execution| !execution.status.is_finished())
                && !news(&mut subscription).await
            {}
        };
        // Shutting the kernel down ends what is left.
        let _ = tokio::time::timeout(STOP_PATIENCE, stopping).await;
        self.stop(outcome, detail)
    }

    /// Runs of the part, in order, if all have ended.
    async fn ended_runs(&self, state: &Document, part: &RunPart) -> RunStep<Option<Vec<Execution>>> {
        let mut runs = Vec::new();
        for (_, id) in &part.cells {
            let Some(execution) = self.execution(state, id).await? else {
                // A repetition of the command changed nothing, as a person had changed the cells before it.
                continue;
            };
            if !execution.status.is_finished() {
                return Ok(None);
            }
            runs.push(execution);
        }
        Ok(Some(runs))
    }

    /// An execution of the state, else of the record: a later run of the same cell has taken its place.
    async fn execution(&self, state: &Document, id: &ExecutionId) -> RunStep<Option<Execution>> {
        if let Some(execution) = state.executions.get(id) {
            return Ok(Some((**execution).clone()));
        }
        let replayed = self.notebooks.store.execution(&self.run.notebook, id).await.map_err(super::unread)?;
        Ok(replayed.map(|replayed| replayed.execution))
    }

    /// Says how a part went. `Err`: the run ends with it.
    fn judge(&self, state: &Document, part: &RunPart, runs: &[Execution]) -> RunStep<()> {
        let count = runs.len();
        for (number, execution) in runs.iter().enumerate() {
            let may_fail = part.last_may_fail && number + 1 == count;
            let cell_id = execution.subject.cell_id().cloned();
            let outcome = match execution.status {
                ExecutionStatus::Ok | ExecutionStatus::Blocked => continue,
                ExecutionStatus::Error if is_interrupted(execution) => ScheduledRunOutcome::Cancelled,
                ExecutionStatus::Error if may_fail => continue,
                ExecutionStatus::Error => ScheduledRunOutcome::Failed,
                ExecutionStatus::Cancelled if has_cause(execution, EndCause::KernelNotStarted) => {
                    ScheduledRunOutcome::NotStarted
                }
                ExecutionStatus::Cancelled => ScheduledRunOutcome::Cancelled,
                _ => ScheduledRunOutcome::Lost,
            };
            return Err(RunStop::End(Box::new(self.end_at(state, execution, outcome, cell_id))));
        }
        if count < part.cells.len() {
            return Err(
                self.stop(ScheduledRunOutcome::Cancelled, "cells of the run's notebook were changed before they ran")
            );
        }
        Ok(())
    }

    fn end_at(
        &self,
        state: &Document,
        execution: &Execution,
        outcome: ScheduledRunOutcome,
        cell_id: Option<CellId>,
    ) -> EndScheduledRun {
        let notice = state.kernel_notice.as_ref().map(|notice| notice.sentence());
        let (error, detail) = match outcome {
            ScheduledRunOutcome::Failed => error_of(execution),
            ScheduledRunOutcome::Cancelled => (None, None),
            _ => (None, notice.or_else(|| execution.notice.clone())),
        };
        EndScheduledRun {
            cell_id: cell_id.filter(|_| outcome != ScheduledRunOutcome::NotStarted),
            error,
            detail,
            ..self.end(outcome)
        }
    }
}

/// Waits for news that can change how far the run is; true: the room is gone, or never was here.
async fn news(subscription: &mut Option<Subscription>) -> bool {
    let Some(subscription) = subscription else { return std::future::pending().await };
    loop {
        let Some(news) = subscription.recv().await else { return true };
        if news.iter().any(|news| matters(news)) {
            return false;
        }
    }
}

/// Outputs alone change nothing here.
fn matters(news: &News) -> bool {
    match news {
        News::Committed { events, .. } => events.iter().any(|recorded| {
            !matches!(
                recorded.event,
                Event::ExecutionOutputAppended(_)
                    | Event::ExecutionOutputUpdated(_)
                    | Event::ExecutionOutputsCleared(_)
                    | Event::ExecutionStarted(_)
                    | Event::ExecutionAssigned(_)
            )
        }),
        News::Position { .. } => true,
        News::Activity(_) => false,
    }
}

fn is_interrupted(execution: &Execution) -> bool {
    has_cause(execution, EndCause::Interrupted) || has_cause(execution, EndCause::Requested)
}

fn has_cause(execution: &Execution, cause: EndCause) -> bool {
    execution.end_cause.as_ref().and_then(|found| found.known()) == Some(&cause)
}

/// Name and text of the error that a failed run shows.
fn error_of(execution: &Execution) -> (Option<String>, Option<String>) {
    #[derive(serde::Deserialize)]
    struct ErrorOutput {
        output_type: String,
        #[serde(default)]
        ename: String,
        #[serde(default)]
        evalue: String,
    }
    let read = |output: &notarium_core::Output| serde_json::from_str::<ErrorOutput>(output.content.get()).ok();
    let error = execution.outputs.iter().rev().filter_map(read).find(|output| output.output_type == "error");
    error.map_or((None, None), |error| {
        let text = |text: String| (!text.is_empty()).then_some(text);
        (text(error.ename), text(error.evalue))
    })
}
