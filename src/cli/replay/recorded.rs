//! Runs of a record, in the order in which their kernels began them, with their sessions and outputs.

use std::collections::BTreeMap;
use std::sync::Arc;

use notarium_core::{
    Actor, CellId, Document, Event, ExecutionCause, ExecutionId, ExecutionOutcome, ExecutionRequested,
    ExecutionSubject, KernelEnvironment, KernelSessionId, Millis, Output, Recorded, Stored, Version,
};

use crate::cli::Failure;
use crate::cli::replay::run_outputs::RunOutputs;

/// End of a run in the record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecordedEnd {
    Ok,
    Error,
    /// It has no outputs that another run must have; the words follow "it".
    Unclear(&'static str),
}

/// A run of the record.
#[derive(Debug, Clone)]
pub struct RecordedRun {
    pub id: ExecutionId,
    /// The exact text; of a tool, its name.
    pub source: Arc<str>,
    pub cell: Option<CellId>,
    pub is_tool: bool,
    pub is_imported: bool,
    /// An assistant requested it: keys are masked in its outputs.
    pub is_assistants: bool,
    pub session: Option<KernelSessionId>,
    /// Version and time of its start. Absent: no kernel began it.
    pub started: Option<(Version, Millis)>,
    /// Version and time of its assignment to a kernel.
    assigned: Option<(Version, Millis)>,
    pub ended_at: Option<Millis>,
    /// Absent: the record ends before the run.
    pub end: Option<RecordedEnd>,
    /// Answers to its questions, in their order.
    pub answers: Vec<String>,
    /// True if it asked for input.
    pub asked: bool,
    pub asked_password: bool,
    /// Its text was redacted.
    pub is_redacted: bool,
    /// Some of its outputs were redacted.
    pub has_redacted_outputs: bool,
}

impl RecordedRun {
    fn requested(event: &ExecutionRequested, actor: &Actor) -> Self {
        let (source, is_tool) = match &event.subject {
            ExecutionSubject::Tool { tool, .. } => (Arc::from(tool.as_str()), true),
            subject => (Arc::from(subject.source()), false),
        };
        Self {
            cell: event.subject.cell_id().cloned(),
            is_tool,
            is_imported: event.cause.known() == Some(&ExecutionCause::Imported),
            is_assistants: matches!(actor, Actor::Assistant { .. }),
            session: event.kernel_session.clone(),
            ..Self::new(event.execution_id.clone(), source)
        }
    }

    /// A cell that no run of the record shows.
    pub fn of_cell(cell: &CellId, source: &str) -> Self {
        Self { cell: Some(cell.clone()), ..Self::new(ulid::Ulid::generate().into(), source.into()) }
    }

    fn new(id: ExecutionId, source: Arc<str>) -> Self {
        Self {
            id,
            source,
            cell: None,
            is_tool: false,
            is_imported: false,
            is_assistants: false,
            session: None,
            started: None,
            assigned: None,
            ended_at: None,
            end: None,
            answers: Vec::new(),
            asked: false,
            asked_password: false,
            is_redacted: false,
            has_redacted_outputs: false,
        }
    }

    /// Milliseconds that it took.
    pub fn took(&self) -> Option<Millis> {
        Some(self.ended_at?.saturating_sub(self.started?.1))
    }

    /// The first line of its source.
    pub fn first_line(&self) -> &str {
        self.source.lines().find(|line| !line.trim().is_empty()).unwrap_or_default().trim()
    }
}

/// A kernel of the record.
#[derive(Debug, Clone)]
pub struct RecordedSession {
    pub kernelspec: String,
    pub environment: Option<KernelEnvironment>,
}

/// Runs, kernels and outputs of a record.
#[derive(Debug, Default)]
pub struct Recording {
    pub runs: BTreeMap<ExecutionId, RecordedRun>,
    pub sessions: BTreeMap<KernelSessionId, RecordedSession>,
    pub outputs: RunOutputs,
    /// The notebook at the end of the record; kept on request.
    pub document: Option<Document>,
    keeps_document: bool,
}

impl Recording {
    /// `keeps_document`: the state at the end is wanted too.
    pub fn new(keeps_document: bool) -> Self {
        Self { keeps_document, ..Self::default() }
    }

    /// Takes the next event of the record.
    pub fn take(&mut self, stored: &Stored) -> Result<(), Failure> {
        let is_redacted = stored.salt.is_none();
        let recorded = match stored.typed() {
            Ok(recorded) => recorded,
            // Its stand-in need not have the form of its type.
            Err(_) if is_redacted => return Ok(()),
            Err(error) => return Err(Failure::usage(format!("the record cannot be replayed: {error}"))),
        };
        if self.keeps_document {
            let new = || Document::new(stored.envelope.notebook_id.clone());
            self.document.get_or_insert_with(new).apply(&recorded);
        }
        self.note(&recorded, is_redacted);
        Ok(())
    }

    fn note(&mut self, Recorded { envelope, event }: &Recorded, is_redacted: bool) {
        match event {
            Event::KernelSessionStarted(event) => {
                let (kernelspec, environment) = (event.kernelspec.clone(), event.environment.clone());
                self.sessions.insert(event.kernel_session.clone(), RecordedSession { kernelspec, environment });
            }
            Event::ExecutionRequested(event) => {
                let run = RecordedRun { is_redacted, ..RecordedRun::requested(event, &envelope.actor) };
                self.runs.insert(event.execution_id.clone(), run);
            }
            Event::ExecutionOutputAppended(event) => self.outputs.append(&event.execution_id, &event.outputs),
            Event::ExecutionOutputUpdated(event) => self.outputs.update(&event.display_id, &event.output),
            Event::ExecutionOutputsCleared(event) => self.outputs.clear(&event.execution_id, event.wait),
            Event::ExecutionOutputsMoved(event) => self.outputs.replace(&event.execution_id, &event.moved),
            _ => {}
        }
        let Some(run) = event.execution_id().and_then(|id| self.runs.get_mut(id)) else { return };
        run.has_redacted_outputs |= is_redacted && !matches!(event, Event::ExecutionRequested(_));
        run.note(event, envelope.version, envelope.recorded_at);
    }

    /// The runs that kernels began, in that order, and then those that none began, in the order of their requests.
    pub fn in_order(&self) -> Vec<&RecordedRun> {
        let mut runs: Vec<&RecordedRun> = self.runs.values().collect();
        runs.sort_by_key(|run| (run.started.is_none(), run.started, run.id.clone()));
        runs
    }

    /// The kernelspec of the record's last kernel.
    pub fn last_kernelspec(&self) -> Option<&str> {
        let last = self.in_order().into_iter().rfind(|run| run.started.is_some()).and_then(|run| run.session.as_ref());
        let last = last.and_then(|id| self.sessions.get(id)).or_else(|| self.sessions.values().next_back());
        last.map(|session| session.kernelspec.as_str())
    }

    /// Outputs of a run at the end of the record.
    pub fn outputs_of(&self, id: &ExecutionId) -> &[Output] {
        self.outputs.of(id)
    }
}

impl RecordedRun {
    fn note(&mut self, event: &Event, version: Version, at: Millis) {
        match event {
            Event::ExecutionAssigned(event) => {
                self.session = Some(event.kernel_session.clone());
                self.assigned = Some((version, at));
            }
            Event::ExecutionStarted(_) => self.started = Some((version, at)),
            Event::ExecutionInputRequested(event) => {
                self.asked = true;
                self.asked_password |= event.password;
            }
            Event::ExecutionInputAnswered(event) => self.answers.extend(event.value.clone()),
            Event::ExecutionCompleted(event) => {
                self.ended(
                    at,
                    match event.outcome.known() {
                        Some(ExecutionOutcome::Ok) => RecordedEnd::Ok,
                        Some(ExecutionOutcome::Interrupted) => RecordedEnd::Unclear("was interrupted"),
                        Some(ExecutionOutcome::TimedOut) => RecordedEnd::Unclear("reached its time limit"),
                        _ => RecordedEnd::Error,
                    },
                );
            }
            Event::ExecutionCancelled(_) => self.ended(at, RecordedEnd::Unclear("was cancelled")),
            Event::ExecutionBlocked(_) => self.ended(at, RecordedEnd::Unclear("was blocked by an earlier run")),
            Event::ExecutionLost(_) => {
                // Its kernel may have begun it, and ended before it could say so.
                self.started = self.started.or(self.assigned);
                self.ended(at, RecordedEnd::Unclear("was lost"));
            }
            _ => {}
        }
    }

    fn ended(&mut self, at: Millis, end: RecordedEnd) {
        (self.ended_at, self.end) = (Some(at), Some(end));
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn event(version: u64, event_type: &str, schema: u16, payload: Value, is_redacted: bool) -> Stored {
        let mut stored = json!({
            "id": format!("e{version}"), "notebook_id": "nb", "version": version, "type": event_type, "schema": schema,
            "actor": {"kind": "user", "id": "ann"}, "command_id": "c", "correlation_id": "c", "recorded_at": version * 1_000,
            "payload": payload, "salt": "00".repeat(16), "payload_digest": "00".repeat(32), "hash": "00".repeat(32),
        });
        if is_redacted {
            stored.as_object_mut().unwrap().remove("salt");
        }
        serde_json::from_value(stored).unwrap()
    }

    fn requested(version: u64, id: &str, source: &str, is_redacted: bool) -> Stored {
        let subject = json!({"kind": "cell", "cell_id": "c", "cell_version": 1, "source": source});
        let payload = json!({"execution_id": id, "subject": subject, "cause": "requested", "effects": "free"});
        event(version, "ExecutionRequested", 2, payload, is_redacted)
    }

    fn of_run(version: u64, event_type: &str, id: &str, more: Value) -> Stored {
        let mut payload = json!({"execution_id": id, "output_seq": version});
        payload.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        event(version, event_type, 1, payload, false)
    }

    #[test]
    fn runs_come_in_the_order_of_their_starts() {
        let mut recording = Recording::new(false);
        let answered = event(7, "ExecutionInputAnswered", 1, json!({"execution_id": "b", "value": "Ann"}), false);
        let events = [
            requested(1, "a", "x", false),
            requested(2, "b", "y", false),
            requested(3, "c", "z", false),
            of_run(4, "ExecutionStarted", "b", json!({})),
            of_run(5, "ExecutionStarted", "a", json!({})),
            of_run(6, "ExecutionInputRequested", "b", json!({"prompt": "Name?", "password": false})),
            answered,
            of_run(8, "ExecutionCompleted", "b", json!({"outcome": "ok"})),
            of_run(9, "ExecutionCompleted", "a", json!({"outcome": "interrupted"})),
        ];
        events.iter().for_each(|event| recording.take(event).unwrap());
        let runs = recording.in_order();
        assert_eq!(runs.iter().map(|run| run.id.as_str()).collect::<Vec<_>>(), ["b", "a", "c"]);
        assert_eq!((runs[0].end, &runs[0].answers[..]), (Some(RecordedEnd::Ok), &["Ann".to_owned()][..]));
        assert_eq!((runs[0].took(), runs[0].asked_password), (Some(4_000), false));
        assert_eq!(runs[1].end, Some(RecordedEnd::Unclear("was interrupted")));
        assert_eq!((runs[2].end, runs[2].started), (None, None));
    }

    #[test]
    fn redacted_texts_and_outputs_are_known() {
        let mut recording = Recording::new(false);
        let output = json!({"execution_id": "b", "output_seq": 1, "outputs": []});
        let broken = event(4, "ExecutionOutputAppended", 1, json!({"execution_id": "█"}), true);
        let events = [
            requested(1, "a", "█████", true),
            requested(2, "b", "y", false),
            event(3, "ExecutionOutputAppended", 1, output, true),
            broken,
        ];
        events.iter().for_each(|event| recording.take(event).unwrap());
        let flags = |id: &str| {
            let run = &recording.runs[&id.parse::<ExecutionId>().unwrap()];
            (run.is_redacted, run.has_redacted_outputs)
        };
        assert_eq!((flags("a"), flags("b")), ((true, false), (false, true)));
        let unknown = event(5, "FromTomorrow", 9, json!({}), false);
        assert_eq!(recording.take(&unknown).unwrap_err().kind, crate::cli::terminal::failure::FailureKind::Usage);
    }
}
