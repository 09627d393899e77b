//! Independent audit of the growing log, without use of the core. It checks roles, the gate of tool calls, and that no client got events it
//! may not see.

use std::collections::BTreeMap;

use notarium_core::{
    AccessEntry, Actor, Command, CommandId, Document, Event, ExecutionCause, ExecutionId, Hash, Millis, Output,
    RecordAudit, Recorded, Risk, Role, Stored, Subject, Target, ToolCallConfirmed, ToolCallId, ToolCallRequested,
    ToolCallStarted, Version, arguments_hash,
};
use notarium_wire::CommandMessage;

use super::agent::line;
use super::disk::context_notebook;
use super::plans::Plans;

/// Progress of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    Requested,
    Confirmed,
    Started,
    Ended,
}

struct Call {
    asked: ToolCallRequested,
    stage: Stage,
    confirmed_by: Option<Actor>,
}

pub(crate) struct Audit {
    /// State of the log so far.
    document: Document,
    calls: BTreeMap<ToolCallId, Call>,
    /// Access lists, one after each change.
    access: Vec<(Version, Vec<AccessEntry>)>,
    /// Hashes that people confirmed, by command.
    said: BTreeMap<CommandId, Hash>,
    /// Number of executions of each call outside of the log.
    done: BTreeMap<ToolCallId, u32>,
    /// Number of each run's lines in the log.
    printed: BTreeMap<ExecutionId, u64>,
    plans: Plans,
    of_records: RecordAudit,
}

impl Audit {
    pub(crate) fn new() -> Self {
        Self {
            document: Document::new(context_notebook()),
            calls: BTreeMap::new(),
            access: Vec::new(),
            said: BTreeMap::new(),
            done: BTreeMap::new(),
            printed: BTreeMap::new(),
            plans: Plans::default(),
            of_records: RecordAudit::new(context_notebook()),
        }
    }

    /// Notes a command of a person.
    pub(crate) fn hear(&mut self, message: &CommandMessage) {
        if let Ok(Command::ConfirmToolCall { arguments_hash, .. }) = serde_json::from_str(message.body.get()) {
            self.said.insert(message.id.clone(), arguments_hash);
        }
    }

    /// Notes an execution of a call outside of the log.
    pub(crate) fn carry_out(&mut self, call_id: &ToolCallId) -> Result<(), String> {
        let Some(call) = self.calls.get(call_id).filter(|call| call.stage == Stage::Started) else {
            return Err(format!("call {call_id} is done, and has not started"));
        };
        // All other effects are in the log.
        if call.asked.function != "create_notebook" {
            return Ok(());
        }
        let times = self.done.entry(call_id.clone()).or_default();
        *times += 1;
        if *times > 1 { Err(format!("call {call_id} is done twice")) } else { Ok(()) }
    }

    /// Audits new events. The audit of records, which people use, must find nothing either.
    pub(crate) fn follow(&mut self, log: &[Stored]) -> Result<(), String> {
        let seen = self.document.version as usize;
        for stored in log.get(seen..).unwrap_or_default() {
            let recorded = stored.typed().map_err(|error| error.to_string())?;
            self.see(&recorded).map_err(|reason| format!("version {}: {reason}", recorded.envelope.version))?;
            self.document.apply(&recorded);
            self.of_records.see(&recorded).map_err(|found| format!("the audit of records: {found}"))?;
            check(self.of_records.untold().is_empty(), "the audit of records does not know a role")?;
            if matches!(recorded.event, Event::AccessGranted(_) | Event::AccessRevoked(_) | Event::NotebookCreated(_)) {
                self.access.push((recorded.envelope.version, self.document.access.clone()));
            }
        }
        Ok(())
    }

    fn see(&mut self, recorded: &Recorded) -> Result<(), String> {
        let envelope = &recorded.envelope;
        let who = Who { actor: &envelope.actor, now: envelope.recorded_at };
        if let Some(needed) = needed(&recorded.event) {
            who.check(&self.document, needed, &envelope.event_type)?;
        }
        self.plans.see(&self.document, recorded)?;
        match &recorded.event {
            Event::ExecutionOutputAppended(event) if matches!(envelope.actor, Actor::Agent { .. }) => {
                self.print(&event.execution_id, &event.outputs)
            }
            Event::ExecutionCompleted(event) if matches!(envelope.actor, Actor::Agent { .. }) => {
                let (kept, printed) = (self.printed.get(&event.execution_id), event.execution_count.unwrap_or(0));
                let kept = kept.copied().unwrap_or(0);
                check(kept == printed, &format!("a run ends with {kept} lines, and {printed} was printed"))
            }
            Event::ToolCallRequested(event) => self.request(event),
            Event::ToolCallConfirmed(event) => self.confirm(&who, &envelope.command_id, event),
            Event::ToolCallStarted(event) => self.start(&who, event),
            Event::ToolCallDenied(event) => {
                let risk = self.advance(&event.call_id, &[Stage::Requested], Stage::Ended)?.asked.risk.judged();
                who.check(&self.document, deciding(risk), "ToolCallDenied")
            }
            Event::ToolCallExpired(event) => {
                let call = self.advance(&event.call_id, &[Stage::Requested], Stage::Ended)?;
                check(call.asked.gate.until().is_some_and(|at| at <= who.now), "a call expires before its time")
            }
            Event::ToolCallWithdrawn(event) => self.end_unstarted(&event.call_id),
            Event::ToolCallVoided(event) => self.end_unstarted(&event.call_id),
            Event::ToolCallExecuted(event) => self.advance(&event.call_id, &[Stage::Started], Stage::Ended).map(drop),
            _ => self.see_effect(recorded),
        }
    }

    /// Checks that lines come in order, each once.
    fn print(&mut self, id: &ExecutionId, outputs: &[Output]) -> Result<(), String> {
        let printed = self.printed.entry(id.clone()).or_default();
        for output in outputs {
            *printed += 1;
            let expected = line(*printed);
            let is_next = output.content.get().contains(&format!("\"{expected}\""));
            check(is_next, &format!("{expected} of a run was to come, and this came: {}", output.content.get()))?;
        }
        Ok(())
    }

    fn request(&mut self, asked: &ToolCallRequested) -> Result<(), String> {
        check(arguments_hash(&asked.function, &asked.arguments) == asked.arguments_hash, "another hash of a call")?;
        check(asked.gate.waits() || asked.risk.judged() < Risk::Destructive, "what destroys asks nobody")?;
        let call = Call { asked: asked.clone(), stage: Stage::Requested, confirmed_by: None };
        check(self.calls.insert(asked.call_id.clone(), call).is_none(), "a call is requested twice")
    }

    fn confirm(&mut self, who: &Who<'_>, command: &CommandId, event: &ToolCallConfirmed) -> Result<(), String> {
        let said = self.said.get(command) == Some(&event.arguments_hash);
        let call = self.advance(&event.call_id, &[Stage::Requested], Stage::Confirmed)?;
        call.confirmed_by = Some(who.actor.clone());
        let asked = call.asked.clone();
        check(matches!(who.actor, Actor::User { .. }), "a confirmation by somebody who is no person")?;
        check(said && event.arguments_hash == asked.arguments_hash, "other arguments were confirmed")?;
        check(asked.gate.until().is_some_and(|at| who.now < at), "a call is confirmed after its time")?;
        who.check(&self.document, deciding(asked.risk.judged()), "ToolCallConfirmed")
    }

    fn start(&mut self, who: &Who<'_>, event: &ToolCallStarted) -> Result<(), String> {
        let id = &event.call_id;
        let call = self.advance(id, &[Stage::Requested, Stage::Confirmed], Stage::Started)?;
        let (asked, confirmed_by) = (call.asked.clone(), call.confirmed_by.clone());
        if asked.gate.waits() {
            let Some(by) = &confirmed_by else { return Err(format!("call {id} started without a confirmation")) };
            Who { actor: by, now: who.now }.check(
                &self.document,
                deciding(asked.risk.judged()),
                "the confirmation of a start",
            )?;
        }
        let is_as_it_was = asked.targets.iter().all(|target| match target.known() {
            Some(Target::Cell { cell_id, cell_version }) => {
                self.document.cells.get(cell_id).is_some_and(|cell| cell.cell_version == *cell_version)
            }
            Some(Target::Kernel { kernel_session }) => self.document.kernels.contains_key(kernel_session),
            Some(_) => true,
            None => false,
        });
        check(is_as_it_was, "a call starts although what it touches has changed")
    }

    fn end_unstarted(&mut self, id: &ToolCallId) -> Result<(), String> {
        self.advance(id, &[Stage::Requested, Stage::Confirmed], Stage::Ended).map(drop)
    }

    fn advance(&mut self, id: &ToolCallId, from: &[Stage], to: Stage) -> Result<&mut Call, String> {
        let call = self.calls.get_mut(id).ok_or_else(|| format!("nobody asked for call {id}"))?;
        if !from.contains(&call.stage) {
            return Err(format!("call {id} becomes {to:?} and is {:?}: twice, or too late", call.stage));
        }
        call.stage = to;
        Ok(call)
    }

    /// Checks that an assistant's effects on cells and kernels belong to one of its calls.
    fn see_effect(&self, recorded: &Recorded) -> Result<(), String> {
        let envelope = &recorded.envelope;
        let is_effect = matches!(needed(&recorded.event), Some(Needed::Edit | Needed::Run));
        if !is_effect || !matches!(envelope.actor, Actor::Assistant { .. }) {
            return Ok(());
        }
        let mut started = self.calls.iter().filter(|(_, call)| call.stage == Stage::Started);
        let is_inside = match &envelope.undoes {
            Some(_) => started.any(|(_, call)| call.asked.function == "undo"),
            None => started.any(|(id, _)| id.as_str() == envelope.correlation_id.as_str()),
        };
        check(is_inside, "an assistant acts outside of its calls")
    }

    // --- visibility ---

    /// Returns true if the actor may see the events up to `version` at this time.
    pub(crate) fn may_see(&self, actor: &Actor, version: Version, now: Millis) -> bool {
        let entries = self.access.iter().rev().find(|(at, _)| *at <= version);
        matches!(actor, Actor::Agent { .. }) || entries.is_some_and(|(_, entries)| role(entries, actor, now).is_some())
    }

    /// Checks that every call and every turn has ended.
    pub(crate) fn check_end(&self) -> Result<(), String> {
        let open = self.calls.iter().filter(|(_, call)| call.stage != Stage::Ended);
        let open: Vec<String> = open.map(|(id, call)| format!("{id} {:?}", call.stage)).collect();
        check(open.is_empty(), &format!("calls have not ended: {open:?}"))?;
        check(self.document.turns.is_empty(), &format!("turns have not ended: {:?}", self.document.turns))
    }
}

fn check(holds: bool, broken: &str) -> Result<(), String> {
    if holds { Ok(()) } else { Err(broken.to_owned()) }
}

/// Right that the actor of an event needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Needed {
    AnyRole,
    Converse,
    Edit,
    Run,
    /// The event follows from an edit or a run.
    EditOrRun,
    Confirm,
    Own,
}

impl Needed {
    /// Written by hand, as the core's table is under test.
    fn is_met_by(self, role: Role) -> bool {
        use Role as R;
        match self {
            Needed::AnyRole => true,
            Needed::Converse => !matches!(role, R::Viewer | R::Agent),
            Needed::Edit => matches!(role, R::Author | R::Editor | R::Owner),
            Needed::Run => matches!(role, R::Runner | R::Editor | R::Owner),
            Needed::EditOrRun => matches!(role, R::Author | R::Runner | R::Editor | R::Owner),
            Needed::Confirm => matches!(role, R::Editor | R::Owner),
            Needed::Own => role == R::Owner,
        }
    }
}

fn deciding(risk: Risk) -> Needed {
    if risk <= Risk::Edit { Needed::Edit } else { Needed::Confirm }
}

fn needed(event: &Event) -> Option<Needed> {
    use Event as E;
    Some(match event {
        E::NotebookCreated(_) => return None,
        E::NotebookReactivitySet(_) | E::NotebookKernelSettingsSet(_) => Needed::Confirm,
        E::AccessGranted(_) | E::AccessRevoked(_) | E::NotebookPolicyChanged(_) => Needed::Own,
        E::CellInserted(_) | E::CellSourceEdited(_) | E::CellMoved(_) | E::CellDeleted(_) | E::CellRestored(_) => {
            Needed::Edit
        }
        E::ContentRedacted(_) => Needed::Own,
        E::CellFlagsSet(_) | E::NotebookRenamed(_) | E::NotebookRestored(_) | E::UndoSkipped(_) => Needed::Edit,
        E::ExecutionRequested(event) if event.cause == ExecutionCause::Imported => Needed::Edit,
        E::ExecutionRequested(_) | E::KernelLaunchRequested(_) | E::KernelRestartRequested(_) => Needed::Run,
        E::ScheduleSet(_) | E::ScheduleRemoved(_) | E::ScheduledRunStarted(_) => Needed::Run,
        E::KernelInterruptRequested(_) | E::KernelShutdownRequested(_) | E::ExecutionCancelRequested(_) => Needed::Run,
        E::ExecutionCancelled(_) | E::ExecutionAssigned(_) | E::ExecutionBlocked(_) => Needed::EditOrRun,
        E::ConversationStarted(_) | E::TurnStarted(_) | E::TurnCancelled(_) => Needed::Converse,
        _ => Needed::AnyRole,
    })
}

/// Actor of an event, and its time.
struct Who<'a> {
    actor: &'a Actor,
    now: Millis,
}

impl Who<'_> {
    fn check(&self, document: &Document, needed: Needed, what: &str) -> Result<(), String> {
        if matches!(self.actor, Actor::Agent { .. } | Actor::System) {
            return Ok(());
        }
        match role(&document.access, self.actor, self.now) {
            Some(role) if needed.is_met_by(role) => Ok(()),
            role => Err(format!("{what} by {} is beyond the role {role:?}", self.actor.key())),
        }
    }
}

fn role(entries: &[AccessEntry], actor: &Actor, now: Millis) -> Option<Role> {
    let subject = match actor {
        Actor::User { id } | Actor::Assistant { for_user: id, .. } => Subject::User { id: id.clone() },
        Actor::Guest { share_link } => Subject::ShareLink { id: share_link.clone() },
        Actor::Agent { .. } | Actor::System => return None,
    };
    let entry = entries.iter().find(|entry| entry.subject == subject)?;
    entry.grant.expires_at.is_none_or(|at| now < at).then_some(entry.grant.role)
}
