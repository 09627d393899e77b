//! Audit of a record: every event was written by somebody who might, and every call passed the gate as the record says.
//!
//! A record does not hold everything: the workspace of a notebook gives its members roles, and administrators may take notebooks over. So a person
//! whose role does not follow from the access list is named and never called wrong; guests, assistants and runtime agents have no such way.

use std::collections::{BTreeMap, BTreeSet};

use crate::assistants::gate::arguments_hash;
use crate::authority::Operation;
use crate::values::decision::word;
use notarium_record::{
    Actor, CommandId, ContentRedacted, Document, Event, ExecutionCause, Hash, NotebookId, Recorded, Risk,
    ScheduledRunEnded, ScheduledRunOutcome, Subject, Target, ToolCallConfirmed, ToolCallId, ToolCallRequested,
    ToolCallStarted, UserId, Version,
};

/// The first event that nobody might have written so.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("version {version}: {reason}")]
pub struct AuditBreak {
    /// Version of the event.
    pub version: Version,
    /// Sentence about it, without the version.
    pub reason: String,
}

/// Progress of a call that has not ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    Requested,
    Confirmed,
    Started,
}

#[derive(Debug, Clone)]
struct AuditedCall {
    asked: ToolCallRequested,
    stage: Stage,
    confirmed_by: Option<Actor>,
}

/// Audit that follows a record event by event.
#[derive(Debug, Clone)]
pub struct RecordAudit {
    document: Document,
    /// The command that made the notebook, whose events need no role and no call.
    making: Option<CommandId>,
    open: BTreeMap<ToolCallId, AuditedCall>,
    ended: BTreeSet<ToolCallId>,
    /// People whose rights do not follow from the record, with their events that need more.
    untold: BTreeMap<UserId, u64>,
    /// Events without a salt, with the digest of what stands there, and whether a redaction has named it.
    stand_ins: BTreeMap<Version, (Hash, bool)>,
}

impl RecordAudit {
    /// Audit of a record that begins.
    pub fn new(notebook_id: NotebookId) -> Self {
        let (open, ended, untold, stand_ins) = Default::default();
        Self { document: Document::new(notebook_id), making: None, open, ended, untold, stand_ins }
    }

    /// The state after the events so far.
    pub fn document(&self) -> &Document {
        &self.document
    }

    /// Takes the state.
    pub fn into_document(self) -> Document {
        self.document
    }

    /// People whose rights do not follow from the record alone (members of a workspace, administrators), with the count of their events that
    /// needed more than the access list gives.
    pub fn untold(&self) -> &BTreeMap<UserId, u64> {
        &self.untold
    }

    /// Notes that the next event has lost its salt, with the digest of its payload.
    pub fn note_stand_in(&mut self, version: Version, digest: Hash) {
        self.stand_ins.insert(version, (digest, false));
    }

    /// The first event whose payload was replaced without a redaction that names it. Ask at the end of the record.
    pub fn unredacted(&self) -> Option<Version> {
        self.stand_ins.iter().find(|(_, (_, is_named))| !is_named).map(|(version, _)| *version)
    }

    /// Events whose content was redacted.
    pub fn redacted(&self) -> usize {
        self.stand_ins.len()
    }

    /// Audits the next event, and folds it in.
    ///
    /// # Errors
    /// Nobody might have written the event so. It is folded in all the same.
    pub fn see(&mut self, recorded: &Recorded) -> Result<(), AuditBreak> {
        let checked = self.check(recorded);
        self.document.apply(recorded);
        checked.map_err(|reason| AuditBreak { version: recorded.envelope.version, reason })
    }

    fn check(&mut self, recorded: &Recorded) -> Result<(), String> {
        let envelope = &recorded.envelope;
        if matches!(recorded.event, Event::NotebookCreated(_)) {
            self.making = Some(envelope.command_id.clone());
        }
        if self.making.as_ref() == Some(&envelope.command_id) {
            return Ok(());
        }
        if let Event::NotebookErased(event) = &recorded.event
            && !self.document.exists()
        {
            // All events before it were deleted.
            self.document.access.clone_from(&event.access);
        }
        if let Some(needed) = needed(&recorded.event) {
            self.demand(recorded, &envelope.actor, needed)?;
            self.belongs_to_a_call(recorded)?;
        }
        match &recorded.event {
            Event::ContentRedacted(event) => {
                self.name_stand_ins(event);
                Ok(())
            }
            Event::ToolCallRequested(event) => self.request(envelope.version, event),
            Event::ToolCallConfirmed(event) => self.confirm(recorded, event),
            Event::ToolCallDenied(event) => {
                let call = self.end(&event.call_id, &[Stage::Requested, Stage::Confirmed])?;
                self.demand(recorded, &envelope.actor, deciding(&call))
            }
            Event::ToolCallStarted(event) => self.start(recorded, event),
            Event::ToolCallExpired(event) => self.end(&event.call_id, &[Stage::Requested]).map(drop),
            Event::ToolCallWithdrawn(event) => self.end(&event.call_id, UNSTARTED).map(drop),
            Event::ToolCallVoided(event) => self.end(&event.call_id, UNSTARTED).map(drop),
            Event::ToolCallExecuted(event) => self.end(&event.call_id, &[Stage::Started]).map(drop),
            event => report(event, &envelope.actor),
        }
    }

    // --- rights ---

    /// Demands that the actor might do an operation when the event was recorded.
    fn demand(&mut self, recorded: &Recorded, actor: &Actor, needed: Operation) -> Result<(), String> {
        let subject = match actor {
            Actor::User { id } | Actor::Assistant { for_user: id, .. } => Subject::User { id: id.clone() },
            Actor::Guest { share_link } => Subject::ShareLink { id: share_link.clone() },
            // Their rights come from the server.
            Actor::Agent { .. } | Actor::System => return Ok(()),
        };
        let entry = self.document.access.iter().find(|entry| entry.subject == subject);
        // An expiry is no proof: the clock of a decision may have been behind the record's.
        if entry.is_some_and(|entry| needed.is_open_to(entry.grant.role)) {
            return Ok(());
        }
        if let Subject::User { id } = subject {
            *self.untold.entry(id).or_default() += 1;
            return Ok(());
        }
        let role = entry.map_or_else(|| "no role".to_owned(), |entry| format!("the role {}", word(&entry.grant.role)));
        Err(format!("{} by {} with {role}", recorded.envelope.event_type, actor.key()))
    }

    // --- calls ---

    /// An event may be redacted twice: then only the later redaction names what stands there.
    fn name_stand_ins(&mut self, event: &ContentRedacted) {
        for redacted in &event.redactions {
            if let Some((digest, is_named)) = self.stand_ins.get_mut(&redacted.version) {
                *is_named |= *digest == redacted.stand_in;
            }
        }
    }

    fn request(&mut self, version: Version, asked: &ToolCallRequested) -> Result<(), String> {
        let is_redacted = self.stand_ins.contains_key(&version);
        let is_same = is_redacted || arguments_hash(&asked.function, &asked.arguments) == asked.arguments_hash;
        when(is_same, || format!("call {} has the hash of other arguments", asked.call_id))?;
        let may_pass = asked.gate.waits() || asked.risk.judged() < Risk::Destructive;
        when(may_pass, || format!("call {} destroys, and asks nobody", asked.call_id))?;
        let is_new = !self.open.contains_key(&asked.call_id) && !self.ended.contains(&asked.call_id);
        when(is_new, || format!("call {} is requested twice", asked.call_id))?;
        let call = AuditedCall { asked: asked.clone(), stage: Stage::Requested, confirmed_by: None };
        self.open.insert(asked.call_id.clone(), call);
        Ok(())
    }

    fn confirm(&mut self, recorded: &Recorded, event: &ToolCallConfirmed) -> Result<(), String> {
        let actor = &recorded.envelope.actor;
        when(matches!(actor, Actor::User { .. }), || {
            format!("{} confirmed call {}: no person", actor.key(), event.call_id)
        })?;
        let call = self.call(&event.call_id, &[Stage::Requested])?;
        let is_same = call.asked.arguments_hash == event.arguments_hash;
        when(is_same, || format!("other arguments of call {} were confirmed", event.call_id))?;
        call.stage = Stage::Confirmed;
        call.confirmed_by = Some(actor.clone());
        let needed = deciding(call);
        self.demand(recorded, actor, needed)
    }

    fn start(&mut self, recorded: &Recorded, event: &ToolCallStarted) -> Result<(), String> {
        let call = self.call(&event.call_id, UNSTARTED)?;
        call.stage = Stage::Started;
        let call = call.clone();
        if call.asked.gate.waits() {
            let by = call.confirmed_by.as_ref();
            let by = by.ok_or_else(|| format!("call {} started without a confirmation", event.call_id))?;
            self.demand(recorded, by, deciding(&call))?;
        }
        let is_as_it_was = call.asked.targets.iter().all(|target| match target.known() {
            Some(Target::Cell { cell_id, cell_version }) => {
                self.document.cells.get(cell_id).is_some_and(|cell| cell.cell_version == *cell_version)
            }
            _ => true,
        });
        when(is_as_it_was, || format!("call {} started although what it touches had changed", event.call_id))
    }

    fn call(&mut self, id: &ToolCallId, from: &[Stage]) -> Result<&mut AuditedCall, String> {
        let call = self.open.get_mut(id).ok_or_else(|| format!("nobody asked for call {id}, or it had ended"))?;
        let stage = call.stage;
        if from.contains(&stage) {
            Ok(call)
        } else {
            Err(format!("call {id} went on from {stage:?}: twice, or too late"))
        }
    }

    fn end(&mut self, id: &ToolCallId, from: &[Stage]) -> Result<AuditedCall, String> {
        let call = self.call(id, from)?.clone();
        self.open.remove(id);
        self.ended.insert(id.clone());
        Ok(call)
    }

    /// Checks that what an assistant changed or ran belongs to a call that had started.
    fn belongs_to_a_call(&self, recorded: &Recorded) -> Result<(), String> {
        let envelope = &recorded.envelope;
        if !matches!(envelope.actor, Actor::Assistant { .. }) {
            return Ok(());
        }
        let mut started = self.open.iter().filter(|(_, call)| call.stage == Stage::Started);
        let is_inside = match &envelope.undoes {
            Some(_) => started.next().is_some(),
            None => started.any(|(id, _)| id.as_str() == envelope.correlation_id.as_str()),
        };
        when(is_inside, || format!("{} of an assistant outside of its calls", envelope.event_type))
    }
}

const UNSTARTED: &[Stage] = &[Stage::Requested, Stage::Confirmed];

fn when(holds: bool, reason: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(reason()) }
}

fn deciding(call: &AuditedCall) -> Operation {
    if call.asked.risk.judged() <= Risk::Edit { Operation::ConfirmEdit } else { Operation::Confirm }
}

/// Operation that a person, or the person of an assistant, needs for an event. `None`: reports, answers and events that follow from others.
fn needed(event: &Event) -> Option<Operation> {
    use Event as E;
    Some(match event {
        E::NotebookRenamed(_) | E::NotebookMetadataSet(_) | E::NotebookRestored(_) => Operation::Edit,
        E::NotebookArchived(_) | E::NotebookUnarchived(_) => Operation::Archive,
        E::NotebookVersionNamed(_) | E::NotebookReactivitySet(_) | E::NotebookKernelSettingsSet(_) => {
            Operation::Organise
        }
        E::AccessGranted(_) | E::AccessRevoked(_) => Operation::Share,
        E::ContentRedacted(_) => Operation::Redact,
        E::NotebookPolicyChanged(_) => Operation::SetPolicy,
        E::NotebookErased(_) => Operation::Erase,
        E::CellInserted(_) | E::CellSourceEdited(_) | E::CellMoved(_) | E::CellTypeChanged(_) => Operation::Edit,
        E::CellDeleted(_) | E::CellRestored(_) | E::CellMetadataSet(_) | E::CellAttachmentsSet(_) => Operation::Edit,
        E::CellFlagsSet(_) | E::CellOutputsCleared(_) => Operation::Edit,
        E::ExecutionRequested(event) if event.cause == ExecutionCause::Imported => Operation::Edit,
        E::ExecutionRequested(event) if event.cause == ExecutionCause::Requested => Operation::Run,
        E::ExecutionCancelRequested(_) => Operation::Run,
        E::ScheduleSet(_) | E::ScheduleRemoved(_) | E::ScheduledRunStarted(_) => Operation::Run,
        E::ScheduledRunEnded(event) if is_cancelled(event) => Operation::Run,
        E::ExecutionInputAnswered(_) => Operation::AnswerInput,
        E::KernelInterruptRequested(_) | E::KernelRestartRequested(_) | E::KernelShutdownRequested(_) => {
            Operation::ControlKernel
        }
        _ => return None,
    })
}

/// True if a person may have ended the run, by removing its schedule.
fn is_cancelled(event: &ScheduledRunEnded) -> bool {
    event.outcome.known() == Some(&ScheduledRunOutcome::Cancelled)
}

/// Checks that only runtime agents and the server report what kernels do.
fn report(event: &Event, actor: &Actor) -> Result<(), String> {
    use Event as E;
    let is_report = match event {
        E::ExecutionStarted(_)
        | E::ExecutionOutputUpdated(_)
        | E::ExecutionInputRequested(_)
        | E::ExecutionEffectRefused(_) => true,
        E::ScheduledRunEnded(event) => !is_cancelled(event),
        _ => false,
    };
    let may = matches!(actor, Actor::Agent { .. } | Actor::System);
    when(!is_report || may, || format!("{} by {}, which is no runtime agent", event.event_type(), actor.key()))
}
