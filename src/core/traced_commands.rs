//! Accepted commands as their events show them: sender, last version, and the ids that the sender learned. Compared with the answers that the
//! store keeps, they show an answer that is missing or was changed.

use std::collections::BTreeSet;

use crate::values::decision::Outcome;
use notarium_record::{
    Actor, CommandId, CommandRecord, Envelope, Event, ExecutionCause, ExecutionId, KernelSessionId, RawJson, Stored,
    ToolCallId, Version,
};

/// Id of the one row that stands for all commands of an imported record. Their own rows stay on the server that accepted them.
const IMPORT: &str = "import-record";

/// The row for the commands of a record that is imported up to a version.
pub fn import_row(version: Version) -> CommandRecord {
    let outcome = RawJson::parse("{}").unwrap_or_else(|_| unreachable!("it is JSON"));
    CommandRecord { actor: Actor::System.key(), command_id: import_id(), digest: [0; 32], version, outcome }
}

/// Id of that row.
pub fn import_id() -> CommandId {
    CommandId::new(IMPORT).unwrap_or_else(|_| unreachable!("it is an id"))
}

/// A command whose events are in the record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TracedCommand {
    /// Key of the sender, from `Actor::key()`.
    pub sender: String,
    /// Id of the command, which its events name.
    pub command_id: CommandId,
    /// Version of its last event.
    pub version: Version,
    /// Parts of the answer that follow from the events. `None`: one of them is unknown to this build.
    answer: Option<Outcome>,
    /// Kernel sessions that the events name.
    sessions: BTreeSet<KernelSessionId>,
    /// Calls that became void.
    voided: BTreeSet<ToolCallId>,
}

impl TracedCommand {
    /// Names what the kept answer says else than the events; `None` if they agree. Sentences for people do not follow from events.
    pub fn contradiction(&self, kept: &CommandRecord) -> Option<String> {
        if kept.version != self.version {
            return Some(format!(
                "its row names version {}, and its last event is version {}",
                kept.version, self.version
            ));
        }
        let outcome: Outcome = match serde_json::from_str(kept.outcome.get()) {
            Ok(outcome) => outcome,
            Err(error) => return Some(format!("its row has no answer that can be read ({error})")),
        };
        let told = self.answer.as_ref()?;
        let parts = [
            ("cells", told.cells == outcome.cells),
            ("executions", are_requested(&told.executions, &outcome.executions)),
            ("thread", told.thread == outcome.thread),
            ("comment", told.comment == outcome.comment),
            ("turn", told.turn == outcome.turn),
            ("tool_call", told.tool_call == outcome.tool_call || self.has_voided(&outcome)),
            ("kernel_session", self.may_name(outcome.kernel_session.as_ref())),
        ];
        let wrong = parts.iter().find(|(_, agrees)| !agrees).map(|(part, _)| part)?;
        Some(format!("the answer in its row has other {wrong} than its events"))
    }

    /// A command that was to confirm or start a call, and voided it, names the call; one that sweeps calls does not.
    fn has_voided(&self, outcome: &Outcome) -> bool {
        outcome.tool_call.as_ref().is_some_and(|call_id| self.voided.contains(call_id))
    }

    /// A run that is bound to no kernel names no session, although its sender learned one.
    fn may_name(&self, session: Option<&KernelSessionId>) -> bool {
        session.is_none_or(|session| self.sessions.is_empty() || self.sessions.contains(session))
    }

    fn begins(envelope: &Envelope) -> Self {
        Self {
            sender: String::new(),
            command_id: envelope.command_id.clone(),
            version: envelope.version,
            answer: Some(Outcome::default()),
            sessions: BTreeSet::new(),
            voided: BTreeSet::new(),
        }
    }

    fn note(&mut self, event: &Event, envelope: &Envelope) {
        let Some(answer) = &mut self.answer else { return };
        match event {
            // An undo does not name the cells that it brings back.
            Event::CellInserted(event) if envelope.undoes.is_none() => answer.cells.push(event.cell_id.clone()),
            Event::CellRestored(event) if envelope.undoes.is_none() => answer.cells.push(event.cell_id.clone()),
            Event::ExecutionRequested(event) if ANSWERED.iter().any(|cause| event.cause == *cause) => {
                answer.executions.push(event.execution_id.clone());
                self.sessions.extend(event.kernel_session.clone());
            }
            Event::KernelLaunchRequested(event) => _ = self.sessions.insert(event.kernel_session.clone()),
            Event::KernelRestartRequested(event) => _ = self.sessions.insert(event.next.clone()),
            Event::CommentPosted(event) => {
                answer.thread = Some(event.thread_id.clone());
                answer.comment = Some(event.comment_id.clone());
            }
            Event::TurnStarted(event) => answer.turn = Some(event.turn_id.clone()),
            Event::ToolCallRequested(event) => answer.tool_call = Some(event.call_id.clone()),
            Event::ToolCallStarted(event) => answer.tool_call = Some(event.call_id.clone()),
            Event::ToolCallConfirmed(event) => answer.tool_call = Some(event.call_id.clone()),
            Event::ToolCallVoided(event) => _ = self.voided.insert(event.call_id.clone()),
            _ => {}
        }
    }
}

/// A plan has its own order, and runs a cell once that was requested twice.
fn are_requested(told: &[ExecutionId], answered: &[ExecutionId]) -> bool {
    told.iter().all(|id| answered.contains(id)) && told.is_empty() == answered.is_empty()
}

/// Causes of runs whose ids the sender learns.
const ANSWERED: [ExecutionCause; 2] = [ExecutionCause::Requested, ExecutionCause::Imported];

/// Groups events in the order of the record into commands.
#[derive(Debug, Clone, Default)]
pub struct CommandTracer {
    current: Option<TracedCommand>,
}

impl CommandTracer {
    /// Takes the next event; returns the command before it, if that has ended. `event`: `None` if this build does not know it.
    pub fn see(&mut self, stored: &Stored, event: Option<&Event>) -> Option<TracedCommand> {
        let envelope = &stored.envelope;
        // Partial answers of stopped turns have the assistant as their author, whoever stopped the turn.
        let is_other_s = matches!(event, Some(Event::MessagePosted(posted)) if posted.is_partial);
        let author = envelope.actor.key();
        let is_same = |command: &&mut TracedCommand| {
            command.command_id == envelope.command_id
                && (is_other_s || command.sender.is_empty() || command.sender == author)
        };
        let ended = match self.current.as_mut().filter(is_same) {
            Some(_) => None,
            None => self.current.replace(TracedCommand::begins(envelope)),
        };
        if let Some(command) = &mut self.current {
            command.version = envelope.version;
            if command.sender.is_empty() && !is_other_s {
                command.sender = author;
            }
            match event {
                Some(event) => command.note(event, envelope),
                None => command.answer = None,
            }
        }
        ended
    }

    /// Ends the record; returns its last command.
    pub fn finish(self) -> Option<TracedCommand> {
        self.current
    }
}
