//! Describes events in sentences for people. Finds the actor who requested the end of a kernel or run, from the event that led
//! to it or from the end itself.

mod assistants;
mod schedules;
mod undos;

use std::collections::BTreeMap;

use notarium_core::{
    Actor, CellId, Document, EndCause, Event, EventId, Execution, ExecutionCause, ExecutionEffectRefused, ExecutionId,
    ExecutionOutcome, ExecutionSubject, KernelCause, KernelPlacement, KernelReplacement, KernelSettings, Millis,
    MissingFunctions, NotebookKernelSettingsSet, Reactivity, Recorded, Stored, Subject, wire_word as word,
};
use notarium_wire::EventMessage;

use crate::record_source::RecordSource;
use crate::words::{self, labels_text};
use assistants::Work;
use undos::GroupKinds;

/// Describes events one after another, and remembers data for later ones.
#[derive(Debug)]
pub struct EventNarrator<R> {
    record: R,
    runs: BTreeMap<ExecutionId, NarratedRun>,
    asked: EndRequests,
    work: Work,
    groups: GroupKinds,
}

/// Data of a run until it ends.
#[derive(Debug, Clone, Default)]
struct NarratedRun {
    /// Name such as `cell 3f2a`.
    name: String,
    started_at: Option<Millis>,
    /// The run was imported.
    is_imported: bool,
}

/// An event, typed if this program knows its type.
#[derive(Debug, Clone)]
pub struct NarratedEvent {
    /// The event as clients get it.
    pub message: EventMessage,
    /// The typed event.
    pub recorded: Option<Recorded>,
}

impl From<&Stored> for NarratedEvent {
    fn from(stored: &Stored) -> Self {
        Self { message: EventMessage::from(stored), recorded: stored.typed().ok() }
    }
}

impl<R: RecordSource> EventNarrator<R> {
    /// Begins before the first event.
    pub fn new(record: R) -> Self {
        let (asked, work, groups) = Default::default();
        Self { record, runs: BTreeMap::new(), asked, work, groups }
    }

    /// The record that is told.
    pub fn record(&mut self) -> &mut R {
        &mut self.record
    }

    /// Remembers the runs and assistants' work of a state.
    pub fn learn(&mut self, notebook: &Document) {
        self.work.learn(notebook);
        for (id, execution) in &notebook.executions {
            self.runs.insert(id.clone(), NarratedRun::from(&**execution));
        }
    }

    /// Remembers an event that is not shown, for later ones.
    pub fn note(&mut self, stored: &Stored) {
        self.groups.note(stored.envelope.undoes.as_ref(), &stored.envelope.correlation_id);
        if let Ok(recorded) = stored.typed() {
            self.remember(&recorded);
        }
    }

    /// Actor and sentence.
    pub async fn told(&mut self, event: &NarratedEvent) -> (String, String) {
        let who = self.record.actor_name(&event.message.actor).await;
        let what = match &event.recorded {
            Some(recorded) => self.sentence(recorded).await,
            None => {
                format!("{} (an event that this program is too old to know)", words::clean(&event.message.event_type))
            }
        };
        let EventMessage { version, undoes, correlation_id, .. } = &event.message;
        let undone = self.groups.kind(&self.record, *version, undoes.as_ref(), correlation_id).await.remark();
        (who, format!("{what}{undone}"))
    }

    async fn sentence(&mut self, recorded: &Recorded) -> String {
        self.remember(recorded);
        let asked_for = self.asked_for(recorded).await;
        match &recorded.event {
            Event::AccessGranted(event) => {
                let whom = self.record.subject_name(&event.subject).await;
                if let Some(id) = &event.taken_over_from {
                    let from = self.record.subject_name(&Subject::User { id: id.clone() }).await;
                    return format!("put {whom} in the place of the owner {from}, who has left");
                }
                let until = event.expires_at.map(|at| format!(" until {}", words::time(at))).unwrap_or_default();
                format!("gave {whom} the role {}{until}", word(&event.role))
            }
            Event::AccessRevoked(event) => {
                format!("took away the access of {}", self.record.subject_name(&event.subject).await)
            }
            event => notebook_sentence(event)
                .or_else(|| cell_sentence(event))
                .or_else(|| comment_sentence(event))
                .or_else(|| self.run_sentence(event, recorded.envelope.recorded_at, asked_for.as_deref()))
                .or_else(|| kernel_sentence(event, asked_for.as_deref()))
                .or_else(|| self.work.sentence(event))
                .or_else(|| schedules::sentence(event))
                .unwrap_or_else(|| event.event_type().to_owned()),
        }
    }

    /// A sentence such as `Ann restarted the kernel`, if that led to this end; empty if this line's actor requested it.
    async fn asked_for(&mut self, end: &Recorded) -> Option<String> {
        let (actor, did) = self.asked.led_to(end)?;
        if *actor != end.envelope.actor {
            return Some(format!("{} {did}", self.record.actor_name(actor).await));
        }
        let is_plain = matches!(&end.event, Event::ExecutionCancelled(event) if event.cause == EndCause::Requested);
        is_plain.then(String::new)
    }

    fn remember(&mut self, recorded: &Recorded) {
        self.asked.note(recorded);
        self.work.note(&recorded.event);
        match &recorded.event {
            Event::ExecutionRequested(event) => {
                let is_imported = event.cause == ExecutionCause::Imported;
                let run = NarratedRun { name: subject_name(&event.subject), started_at: None, is_imported };
                self.runs.insert(event.execution_id.clone(), run);
            }
            Event::ExecutionStarted(event) => {
                let run = self.runs.entry(event.execution_id.clone()).or_default();
                run.started_at = Some(recorded.envelope.recorded_at);
            }
            _ => {}
        }
    }

    fn run_name(&self, id: &ExecutionId) -> String {
        let known = self.runs.get(id);
        let name = known.map(|run| run.name.clone()).filter(|name| !name.is_empty());
        let name = name.unwrap_or_else(|| format!("run {}", words::short(id.as_str())));
        if known.is_some_and(|run| run.is_imported) { format!("an earlier run of {name}") } else { name }
    }

    fn is_imported(&self, id: &ExecutionId) -> bool {
        self.runs.get(id).is_some_and(|run| run.is_imported)
    }

    fn run_sentence(&self, event: &Event, at: Millis, asked_for: Option<&str>) -> Option<String> {
        let run = self.run_name(event.execution_id()?);
        Some(match event {
            Event::ExecutionRequested(event) => match event.cause.known() {
                Some(ExecutionCause::Requested) => format!("asked to run {run}"),
                None => format!("asked to run {run} ({})", words::clean(&event.cause.to_string())),
                Some(ExecutionCause::Dependency { of: Some(of) }) => {
                    format!("asked to run {run}, because {} runs", self.run_name(of))
                }
                Some(ExecutionCause::Dependency { of: None }) => {
                    format!("asked to run {run}, because a cell moved to the trash")
                }
                Some(ExecutionCause::Imported) => format!("brought {run}, which happened elsewhere"),
                Some(ExecutionCause::FunctionsRestored) => {
                    format!("runs {run} again, for the functions that it registers")
                }
            },
            Event::ExecutionAssigned(_) => format!("gave {run} to the kernel"),
            Event::ExecutionStarted(_) => format!("started {run}"),
            Event::ExecutionOutputAppended(event) => {
                let reported = if self.is_imported(&event.execution_id) { "brought" } else { "reported" };
                format!("{reported} {} of {run}", words::count(event.outputs.len(), "output"))
            }
            Event::ExecutionOutputUpdated(_) => format!("updated a display of {run}"),
            Event::ExecutionOutputsCleared(_) => format!("cleared the outputs of {run}"),
            Event::ExecutionInputRequested(event) => {
                format!("reported that {run} is waiting for input: {}", words::clean(&event.prompt))
            }
            Event::ExecutionInputAnswered(event) => match &event.value {
                Some(value) => format!("answered the input of {run}: {}", words::clean(value)),
                None => format!("answered the input of {run} with a password"),
            },
            Event::ExecutionEffectRefused(event) => refusal_sentence(&run, event),
            Event::ExecutionCompleted(event) => {
                let how = match event.outcome.known() {
                    Some(ExecutionOutcome::Ok) => "finished".to_owned(),
                    Some(ExecutionOutcome::Error) => "ended with an error".to_owned(),
                    _ => format!("ended ({})", event.outcome.to_string().replace('_', " ")),
                };
                let how = if self.is_imported(&event.execution_id) { format!("brought that it {how}") } else { how };
                let took = self.runs.get(&event.execution_id).and_then(|run| run.started_at);
                let took = took.map(|began| format!(" after {}", words::duration(at.saturating_sub(began))));
                let notice = asked_for.or(event.notice.as_deref());
                let notice = notice.map(|notice| format!(" ({})", words::clean(notice)));
                format!("{how}: {run}{}{}", took.unwrap_or_default(), notice.unwrap_or_default())
            }
            Event::ExecutionCancelled(event) => match asked_for.map_or_else(|| event.sentence(), str::to_owned) {
                reason if reason.is_empty() => format!("cancelled {run}"),
                reason => format!("cancelled {run}: {}", words::clean(&reason)),
            },
            Event::ExecutionBlocked(event) => format!("did not run {run}: {}", words::clean(&event.sentence())),
            Event::ExecutionLost(event) => format!("lost {run}: {}", words::clean(&event.sentence())),
            Event::ExecutionOutputsMoved(event) => {
                format!("moved {} of {run} out of the notebook's state", words::count(event.moved.len(), "output"))
            }
            Event::ExecutionOutputRecovered(_) => format!("recovered output of {run}, which had been lost"),
            Event::ExecutionCancelRequested(_) => format!("interrupted {run}"),
            _ => return None,
        })
    }
}

impl From<&Execution> for NarratedRun {
    fn from(execution: &Execution) -> Self {
        let is_imported = execution.is_imported();
        Self { name: subject_name(&execution.subject), started_at: execution.started_at, is_imported }
    }
}

/// Refused effect of a run, with its first target and the number.
fn refusal_sentence(run: &str, event: &ExecutionEffectRefused) -> String {
    let (kind, target) = (words::clean(&event.kind.to_string()), words::cut(&words::clean(&event.target), 80));
    match event.count {
        1 => format!("refused {run} an effect ({kind}): {target}"),
        count => format!("refused {run} {count} effects ({kind}): first {target}"),
    }
}

fn cell_name(id: &CellId) -> String {
    format!("cell {}", words::short(id.as_str()))
}

/// Name of a run's subject.
pub fn subject_name(subject: &ExecutionSubject) -> String {
    match subject {
        ExecutionSubject::Cell { cell_id, .. } => cell_name(cell_id),
        ExecutionSubject::Scratch { purpose, .. } => format!("scratch code ({})", words::clean(purpose)),
        ExecutionSubject::Tool { tool, .. } => format!("tool {}", words::clean(tool)),
    }
}

/// Functions that the new kernel lacks, with advice.
fn missing_sentence(missing: &MissingFunctions) -> String {
    let names = words::clean(&missing.names.join(", "));
    match &missing.cell_id {
        Some(cell) => format!(
            "; it has not {names}: run cell {}, which was not run by itself because {}",
            words::short(cell.as_str()),
            missing.reason
        ),
        None => format!("; it has not {names}: {}", missing.reason),
    }
}

fn notebook_sentence(event: &Event) -> Option<String> {
    Some(match event {
        Event::NotebookCreated(event) => {
            let origin = event.forked_from.as_ref();
            let origin = origin.map(|from| format!(", a copy of {} at version {}", from.notebook, from.version));
            format!("made the notebook \"{}\"{}", words::clean(&event.title), origin.unwrap_or_default())
        }
        Event::NotebookRenamed(event) => {
            format!("renamed it from \"{}\" to \"{}\"", words::clean(&event.previous), words::clean(&event.title))
        }
        Event::NotebookMetadataSet(_) => "changed the metadata".to_owned(),
        Event::NotebookArchived(_) => "archived it".to_owned(),
        Event::NotebookUnarchived(_) => "took it out of the archive".to_owned(),
        Event::NotebookReactivitySet(event) => match event.reactivity {
            Reactivity::Off => "made it not reactive".to_owned(),
            mode => format!("made it reactive ({})", word(&mode)),
        },
        Event::NotebookKernelSettingsSet(event) => kernel_settings(event),
        Event::NotebookVersionNamed(event) => {
            format!("called version {} \"{}\"", event.version, words::clean(&event.name))
        }
        Event::ContentRedacted(event) => {
            let events = words::count(event.redactions.len(), "event");
            format!("redacted content of {events}: \"{}\"", words::clean(&event.reason))
        }
        Event::NotebookErased(event) => format!("erased the notebook: {}", words::clean(&event.reason)),
        Event::NotebookRestored(event) => format!("took the notebook back to version {}", event.version),
        Event::UndoSkipped(_) => "had nothing left to undo there".to_owned(),
        _ => return None,
    })
}

fn cell_sentence(event: &Event) -> Option<String> {
    Some(match event {
        Event::CellInserted(event) => {
            format!("added the {} {}", word(&event.cell.cell_type), cell_name(&event.cell_id))
        }
        Event::CellSourceEdited(event) => {
            let removed: usize = event.removed.iter().map(|text| notarium_core::text::utf16_len(text)).sum();
            let added = (event.change.length_after() + removed).saturating_sub(event.change.length_before());
            format!("edited {} (+{added} −{removed} characters)", cell_name(&event.cell_id))
        }
        Event::CellMoved(event) => format!("moved {}", cell_name(&event.cell_id)),
        Event::CellTypeChanged(event) => {
            let (from, to) = (word(&event.previous), word(&event.cell_type));
            format!("made {} {to} instead of {from}", cell_name(&event.cell_id))
        }
        Event::CellDeleted(event) => format!("deleted {}", cell_name(&event.cell_id)),
        Event::CellRestored(event) => format!("restored {}", cell_name(&event.cell_id)),
        Event::CellMetadataSet(event) => format!("changed the metadata of {}", cell_name(&event.cell_id)),
        Event::CellAttachmentsSet(event) => format!("changed the attachments of {}", cell_name(&event.cell_id)),
        Event::CellFlagsSet(event) => format!("changed the marks on {}", cell_name(&event.cell_id)),
        Event::CellOutputsCleared(event) => format!("cleared the outputs of {}", cell_name(&event.cell_id)),
        _ => return None,
    })
}

fn comment_sentence(event: &Event) -> Option<String> {
    let thread = words::short(event.thread_id()?.as_str()).to_owned();
    let text = |text: &str| words::cut(&words::clean(text), 80);
    Some(match event {
        Event::ThreadStarted(event) => {
            let quote = event.quote.as_deref().map(|quote| format!(" on “{}”", text(quote)));
            format!("began thread {thread} on {}{}", cell_name(&event.cell_id), quote.unwrap_or_default())
        }
        Event::ThreadMoved(event) => format!("took thread {thread} to {}", cell_name(&event.cell_id)),
        Event::ThreadResolved(_) => format!("resolved thread {thread}"),
        Event::ThreadReopened(_) => format!("reopened thread {thread}"),
        Event::CommentPosted(event) => format!("commented in thread {thread}: {}", text(&event.text)),
        Event::CommentEdited(event) => format!("changed a comment in thread {thread}: {}", text(&event.text)),
        Event::CommentDeleted(_) => format!("took a comment in thread {thread} away"),
        _ => return None,
    })
}

/// The machines of a launch, such as ` of an agent with gpu=a100`; empty for any.
fn placement(placement: &KernelPlacement) -> String {
    let agent = placement.agent.as_ref().map(|id| format!(" of the agent {}", words::short(id.as_str())));
    let labels = words::clean(&labels_text(&placement.labels));
    match (agent, labels.is_empty()) {
        (Some(agent), true) => agent,
        (Some(agent), false) => format!("{agent} if it has {labels}"),
        (None, false) => format!(" of an agent with {labels}"),
        (None, true) => String::new(),
    }
}

fn kernel_settings(event: &NotebookKernelSettingsSet) -> String {
    let KernelSettings { replacement, labels: wanted } = &event.settings;
    let machines = match wanted.is_empty() {
        true => "any agent".to_owned(),
        false => format!("an agent with {}", words::clean(&labels_text(wanted))),
    };
    let gone = match replacement {
        KernelReplacement::Ask => "people are asked",
        KernelReplacement::Replace => "another replaces it",
        KernelReplacement::Wait => "runs wait for it",
    };
    format!("set that its kernels start on {machines}, and that {gone} if the agent of one with variables is gone")
}

fn kernel_sentence(event: &Event, asked_for: Option<&str>) -> Option<String> {
    Some(match event {
        Event::KernelLaunchRequested(event) => {
            let lost = event
                .replaces
                .as_ref()
                .map(|lost| format!("; what the one before it held is gone ({})", words::clean(&lost.sentence())));
            let place = placement(&event.placement());
            format!("asked for a {} kernel{place}{}", words::clean(&event.kernelspec), lost.unwrap_or_default())
        }
        Event::KernelLaunchClaimed(_) => "began to launch the kernel".to_owned(),
        Event::KernelSessionStarted(event) => {
            let missing: Vec<String> = event.missing_functions.iter().map(missing_sentence).collect();
            format!("started the {} kernel{}", words::clean(&event.kernelspec), missing.concat())
        }
        Event::KernelLaunchFailed(event) => format!("could not start the kernel: {}", words::clean(&event.sentence())),
        Event::KernelInterruptRequested(_) => "interrupted the kernel".to_owned(),
        Event::KernelRestartRequested(_) => "asked to restart the kernel".to_owned(),
        Event::KernelShutdownRequested(_) => "asked to shut the kernel down".to_owned(),
        Event::KernelSessionEnded(event) => {
            format!("ended the kernel: {}", words::clean(asked_for.unwrap_or(&event.sentence())))
        }
        Event::KernelFunctionsRegistered(event) => {
            let names: Vec<&str> = event.functions.iter().map(|function| function.name.as_str()).collect();
            format!("offers assistants these functions: {}", words::clean(&names.join(", ")))
        }
        Event::KernelFunctionsForgotten(event) => {
            format!("forgot functions whose kernel has ended: {}", words::clean(&event.names.join(", ")))
        }
        _ => return None,
    })
}

// --- actors of ends ---

/// Actors of requests that may lead to an end.
#[derive(Debug, Default)]
pub struct EndRequests {
    by: BTreeMap<EventId, Actor>,
}

impl EndRequests {
    /// Remembers a request that may lead to an end.
    pub fn note(&mut self, recorded: &Recorded) {
        if let Event::KernelRestartRequested(_)
        | Event::KernelShutdownRequested(_)
        | Event::KernelInterruptRequested(_)
        | Event::ExecutionCancelRequested(_) = &recorded.event
        {
            self.by.insert(recorded.envelope.id.clone(), recorded.envelope.actor.clone());
        }
    }

    /// Actor and action that led to an end. `None`: it was not requested, or before the first noted event.
    pub fn led_to<'a>(&'a self, end: &'a Recorded) -> Option<(&'a Actor, &'static str)> {
        let did = match &end.event {
            Event::ExecutionCancelled(event) => did(*event.cause.known()?)?,
            Event::KernelSessionEnded(event) => match event.cause.known()? {
                KernelCause::Restarted => did(EndCause::KernelRestarted)?,
                KernelCause::ShutDown => did(EndCause::KernelShutDown)?,
                _ => return None,
            },
            Event::ExecutionCompleted(_) => did(EndCause::Interrupted)?,
            _ => return None,
        };
        let leading = end.envelope.causation_id.as_ref().and_then(|id| self.by.get(id));
        // A queued run ends directly by the command of the person who cancels it.
        let is_own = matches!(end.event, Event::ExecutionCancelled(_)) && is_person(&end.envelope.actor);
        let author = is_own.then_some(&end.envelope.actor);
        Some((leading.or(author)?, did))
    }
}

fn is_person(actor: &Actor) -> bool {
    matches!(actor, Actor::User { .. } | Actor::Guest { .. } | Actor::Assistant { .. })
}

/// The action that leads to this end, for example `restarted the kernel`.
pub fn did(cause: EndCause) -> Option<&'static str> {
    Some(match cause {
        EndCause::Requested => "cancelled it",
        EndCause::Interrupted => "interrupted it",
        EndCause::KernelRestarted => "restarted the kernel",
        EndCause::KernelShutDown => "shut the kernel down",
        EndCause::CellDeleted => "moved its cell to the trash",
        EndCause::GivenUp => "gave it up",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use notarium_core::Version;

    use super::*;

    /// A record of nobody, without events.
    struct NoRecord;

    impl RecordSource for NoRecord {
        type Error = ();

        async fn events(&self, _: Version, _: usize) -> Result<Vec<Stored>, ()> {
            Ok(Vec::new())
        }

        async fn actor_name(&mut self, _: &Actor) -> String {
            "Ann".to_owned()
        }

        async fn subject_name(&mut self, _: &Subject) -> String {
            "Bob".to_owned()
        }
    }

    #[tokio::test]
    async fn every_event_is_told_in_words() {
        let mut narrator = EventNarrator::new(NoRecord);
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../protocol/golden/events");
        for entry in std::fs::read_dir(folder).unwrap() {
            let text = std::fs::read_to_string(entry.unwrap().path()).unwrap();
            let stored: Stored = serde_json::from_str(&text).unwrap();
            let (_, what) = narrator.told(&NarratedEvent::from(&stored)).await;
            let event_type = &stored.envelope.event_type;
            assert!(!what.contains(event_type.as_str()), "{event_type}: {what}");
        }
    }
}
