//! Executions in the document: the unfinished ones, and those that a live cell shows. Applies their events.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::access::Actor;
use crate::cause::{BLOCKED, EndCause, sentence};
use crate::document::Document;
use crate::effects::{Effects, RefusedEffect};
use crate::envelope::Recorded;
use crate::event::{Event, ExecutionEffectRefused, ExecutionRequested, MovedOutputs};
use crate::execution::{ExecutionCause, ExecutionOutcome, ExecutionStatus, ExecutionSubject, Output, PastExecution};
use crate::ids::{AgentId, CorrelationId, ExecutionId, KernelSessionId, Millis, Version};
use crate::json::Open;

/// A request for input on stdin that has no answer yet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PendingInput {
    /// The question, as shown to people.
    pub prompt: String,
    /// True: hide the answer while it is typed. It is not recorded.
    pub password: bool,
}

/// One execution: the exact source that it runs, its outputs, and its end.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Execution {
    /// The exact code that the execution runs.
    pub subject: ExecutionSubject,
    /// The execution's status.
    pub status: ExecutionStatus,
    /// The cause of the execution.
    pub cause: Open<ExecutionCause>,
    /// The effects that the execution may have outside the kernel's memory.
    pub effects: Open<Effects>,
    /// The requester. For an imported run: the actor that imported it.
    pub requested_by: Actor,
    /// Time of the request, in milliseconds since 1970.
    pub requested_at: Millis,
    /// The version of the request. Queued runs are executed in this order.
    pub requested_version: Version,
    /// The correlation id of the request. Runs of one batch have the same.
    pub correlation_id: CorrelationId,
    /// The kernel session of the run. Absent for imported runs, and while a run waits for a default kernel whose agent
    /// was away at the request.
    pub kernel_session: Option<KernelSessionId>,
    /// The only agent that may report on the run. Absent: the run is not assigned.
    pub agent: Option<AgentId>,
    /// The fence of the session to which the run is assigned. Reports on the run must carry it. Absent: the run is not assigned.
    pub fence: Option<Version>,
    /// Running time in milliseconds after which the kernel is interrupted. Absent: no limit.
    pub timeout_ms: Option<Millis>,
    /// True: if another run of the same correlation does not succeed while this one is queued, this one is blocked.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub stop_on_error: bool,
    /// True: a cancel was requested, and the agent interrupts the run.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cancel_requested: bool,
    /// Time at which the kernel began the run, in milliseconds since 1970. Absent: it has not begun.
    pub started_at: Option<Millis>,
    /// Time of the end, in milliseconds since 1970. Absent: the run has not ended.
    pub ended_at: Option<Millis>,
    /// The number in `In [3]:`. Absent: the kernel gave none.
    pub execution_count: Option<u64>,
    /// The cause if the run was cancelled, lost, interrupted or timed out. Absent otherwise.
    pub end_cause: Option<Open<EndCause>>,
    /// The earlier run that did not succeed, so that this one is blocked. Absent: the run is not blocked.
    pub blocked_by: Option<ExecutionId>,
    /// A sentence for people about an unusual end. Absent: none.
    pub notice: Option<String>,
    /// The refused effects, one entry for each kind, in the order of their first refusals.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refused: Vec<RefusedEffect>,
    /// The highest number of the agent's reports in the log. 0: none.
    #[serde(default)]
    pub output_seq: u64,
    /// The outputs that are shown, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outputs: Vec<Output>,
    /// True after `clear_output(wait=True)`: the next output replaces all outputs.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub clear_on_next_output: bool,
    /// The open request for input. Absent: none.
    pub pending_input: Option<PendingInput>,
}

impl Execution {
    /// Returns true if the run was imported from a file or a copied notebook: no kernel of this notebook has run it.
    pub fn is_imported(&self) -> bool {
        self.cause == ExecutionCause::Imported
    }

    /// Folds the events of one execution, from its request on. `None`: there is no request.
    pub fn replay<'a>(events: impl IntoIterator<Item = &'a Recorded>) -> Option<Execution> {
        events.into_iter().fold(None, Self::with)
    }

    pub(crate) fn with(before: Option<Execution>, recorded: &Recorded) -> Option<Execution> {
        match (&recorded.event, before) {
            (Event::ExecutionRequested(event), _) => Some(Execution::begin(recorded, event)),
            (_, Some(mut execution)) => {
                execution.advance(recorded);
                Some(execution)
            }
            (_, None) => None,
        }
    }

    pub(crate) fn begin(recorded: &Recorded, event: &ExecutionRequested) -> Execution {
        let envelope = &recorded.envelope;
        Execution {
            subject: event.subject.clone(),
            status: ExecutionStatus::Queued,
            cause: event.cause.clone(),
            effects: event.effects.clone(),
            requested_by: envelope.actor.clone(),
            requested_at: envelope.recorded_at,
            requested_version: envelope.version,
            correlation_id: envelope.correlation_id.clone(),
            kernel_session: event.kernel_session.clone(),
            agent: None,
            fence: None,
            timeout_ms: event.timeout_ms,
            stop_on_error: event.stop_on_error,
            cancel_requested: false,
            started_at: None,
            ended_at: None,
            execution_count: None,
            end_cause: None,
            blocked_by: None,
            notice: None,
            refused: Vec::new(),
            output_seq: 0,
            outputs: Vec::new(),
            clear_on_next_output: false,
            pending_input: None,
        }
    }

    pub(crate) fn advance(&mut self, recorded: &Recorded) {
        let at = recorded.envelope.recorded_at;
        match &recorded.event {
            Event::ExecutionAssigned(event) => {
                self.status = ExecutionStatus::Assigned;
                self.kernel_session = Some(event.kernel_session.clone());
                self.agent = Some(event.agent.clone());
                self.fence = Some(event.fence);
            }
            Event::ExecutionStarted(event) => {
                self.status = ExecutionStatus::Running;
                self.started_at = Some(at);
                self.output_seq = event.output_seq;
            }
            Event::ExecutionOutputAppended(event) => self.append(&event.outputs, event.output_seq),
            Event::ExecutionOutputUpdated(event) => {
                self.output_seq = self.output_seq.max(event.output_seq);
                self.update_display(&event.display_id, &event.output);
            }
            Event::ExecutionOutputRecovered(event) => self.output_seq = self.output_seq.max(event.output_seq),
            Event::ExecutionOutputsCleared(event) => {
                self.output_seq = self.output_seq.max(event.output_seq);
                self.clear(event.wait);
            }
            Event::ExecutionOutputsMoved(event) => self.move_outputs(&event.moved),
            Event::ExecutionInputRequested(event) => {
                self.output_seq = self.output_seq.max(event.output_seq);
                self.pending_input = Some(PendingInput { prompt: event.prompt.clone(), password: event.password });
            }
            Event::ExecutionInputAnswered(_) => self.pending_input = None,
            Event::ExecutionEffectRefused(event) => self.refuse(event),
            Event::ExecutionCancelRequested(_) => self.cancel_requested = true,
            Event::ExecutionCompleted(event) => {
                self.output_seq = self.output_seq.max(event.output_seq);
                self.execution_count = event.execution_count;
                let is_ok = event.outcome == ExecutionOutcome::Ok;
                let status = if is_ok { ExecutionStatus::Ok } else { ExecutionStatus::Error };
                self.end(status, at, end_cause(&event.outcome), &event.notice);
            }
            Event::ExecutionCancelled(event) => {
                self.end(ExecutionStatus::Cancelled, at, Some(event.cause.clone()), &event.detail);
            }
            Event::ExecutionBlocked(event) => {
                self.end(ExecutionStatus::Blocked, at, None, &None);
                self.blocked_by = Some(event.blocked_by.clone());
            }
            Event::ExecutionLost(event) => {
                self.end(ExecutionStatus::Lost, at, Some(event.cause.clone()), &event.detail);
            }
            _ => {}
        }
    }

    pub(crate) fn update_display(&mut self, display_id: &str, output: &Output) {
        for shown in self.outputs.iter_mut().filter(|shown| shown.is_display(display_id)) {
            shown.content = output.content.clone();
            shown.blobs.clone_from(&output.blobs);
        }
    }

    /// Keeps one entry for each kind: a later event of the kind replaces it.
    fn refuse(&mut self, event: &ExecutionEffectRefused) {
        let ExecutionEffectRefused { kind, target, count, .. } = event;
        let refused = RefusedEffect { kind: kind.clone(), target: target.clone(), count: *count };
        match self.refused.iter_mut().find(|known| known.kind == *kind) {
            Some(known) => *known = refused,
            None => self.refused.push(refused),
        }
    }

    fn append(&mut self, outputs: &[Output], output_seq: u64) {
        if std::mem::take(&mut self.clear_on_next_output) {
            self.outputs.clear();
        }
        self.outputs.extend_from_slice(outputs);
        self.output_seq = self.output_seq.max(output_seq);
    }

    /// From the last to the first: the places before stay.
    fn move_outputs(&mut self, moved: &[MovedOutputs]) {
        for MovedOutputs { first, count, output } in moved.iter().rev() {
            let end = first.saturating_add(*count);
            if first <= &end && end <= self.outputs.len() {
                self.outputs.splice(*first..end, [output.clone()]);
            }
        }
    }

    fn clear(&mut self, wait: bool) {
        self.clear_on_next_output = wait;
        if !wait {
            self.outputs.clear();
        }
    }

    fn end(&mut self, status: ExecutionStatus, at: Millis, end_cause: Option<Open<EndCause>>, notice: &Option<String>) {
        self.status = status;
        self.ended_at = Some(at);
        self.end_cause = end_cause;
        self.notice.clone_from(notice);
        self.pending_input = None;
    }

    /// Sentence for people about an end that is more than a result.
    pub fn end_sentence(&self) -> Option<String> {
        let blocked = || self.blocked_by.as_ref().map(|_| BLOCKED.to_owned());
        let caused = self.end_cause.as_ref().map(|cause| sentence(cause, self.notice.as_deref()));
        let sentence = caused.or_else(blocked).or_else(|| self.notice.clone());
        match (self.status, self.started_at) {
            // The agent may have begun the run without a report of it.
            (ExecutionStatus::Lost, None) => {
                sentence.map(|sentence| format!("{sentence}; nobody knows whether it began"))
            }
            _ => sentence,
        }
    }
}

/// Cause of an end that the kernel reported; `None`: its result says all.
fn end_cause(outcome: &Open<ExecutionOutcome>) -> Option<Open<EndCause>> {
    match outcome {
        Open::Known(ExecutionOutcome::Ok | ExecutionOutcome::Error) => None,
        Open::Known(ExecutionOutcome::Interrupted) => Some(EndCause::Interrupted.into()),
        Open::Known(ExecutionOutcome::TimedOut) => Some(EndCause::TimedOut.into()),
        Open::Unknown(word) => Some(Open::Unknown(word.clone())),
    }
}

impl From<Execution> for PastExecution {
    fn from(execution: Execution) -> Self {
        Self {
            subject: execution.subject,
            status: execution.status,
            cause: execution.cause,
            effects: execution.effects,
            requested_by: execution.requested_by,
            requested_at: execution.requested_at,
            requested_version: execution.requested_version,
            correlation_id: execution.correlation_id,
            kernel_session: execution.kernel_session,
            agent: execution.agent,
            fence: execution.fence,
            started_at: execution.started_at,
            ended_at: execution.ended_at,
            execution_count: execution.execution_count,
            end_cause: execution.end_cause,
            blocked_by: execution.blocked_by,
            notice: execution.notice,
            refused: execution.refused,
            output_seq: execution.output_seq,
            outputs: execution.outputs,
        }
    }
}

impl From<PastExecution> for Execution {
    fn from(past: PastExecution) -> Self {
        Self {
            subject: past.subject,
            status: past.status,
            cause: past.cause,
            effects: past.effects,
            requested_by: past.requested_by,
            requested_at: past.requested_at,
            requested_version: past.requested_version,
            correlation_id: past.correlation_id,
            kernel_session: past.kernel_session,
            agent: past.agent,
            fence: past.fence,
            timeout_ms: None,
            stop_on_error: false,
            cancel_requested: false,
            started_at: past.started_at,
            ended_at: past.ended_at,
            execution_count: past.execution_count,
            end_cause: past.end_cause,
            blocked_by: past.blocked_by,
            notice: past.notice,
            refused: past.refused,
            output_seq: past.output_seq,
            outputs: past.outputs,
            clear_on_next_output: false,
            pending_input: None,
        }
    }
}

pub(crate) fn apply(document: &mut Document, recorded: &Recorded) {
    match &recorded.event {
        Event::ExecutionRequested(event) => begin(document, recorded, event),
        Event::ExecutionOutputUpdated(event) => {
            update_display(document, &event.display_id, &event.output);
            advance(document, &event.execution_id, recorded);
        }
        event => {
            if let Some(id) = event.execution_id() {
                advance(document, id, recorded);
                forget_unshown(document, id);
            }
        }
    }
}

fn begin(document: &mut Document, recorded: &Recorded, event: &ExecutionRequested) {
    let execution = Arc::new(Execution::begin(recorded, event));
    document.executions.insert(event.execution_id.clone(), execution);
    let Some(cell_id) = event.subject.cell_id().filter(|id| document.cells.contains_key(*id)) else { return };
    if let Some(previous) = document.latest.insert(cell_id.clone(), event.execution_id.clone()) {
        forget_unshown(document, &previous);
    }
}

fn advance(document: &mut Document, id: &ExecutionId, recorded: &Recorded) {
    if let Some(execution) = document.executions.get_mut(id) {
        Arc::make_mut(execution).advance(recorded);
    }
}

fn update_display(document: &mut Document, display_id: &str, output: &Output) {
    let shows = |execution: &Execution| execution.outputs.iter().any(|shown| shown.is_display(display_id));
    for execution in document.executions.values_mut().filter(|execution| shows(execution)) {
        Arc::make_mut(execution).update_display(display_id, output);
    }
}

/// Removes an execution that has ended and that no live cell shows.
pub(crate) fn forget_unshown(document: &mut Document, id: &ExecutionId) {
    let Some(execution) = document.executions.get(id) else { return };
    let is_shown = execution.subject.cell_id().and_then(|cell_id| document.latest.get(cell_id)) == Some(id);
    if execution.status.is_finished() && !is_shown {
        document.executions.remove(id);
    }
}
