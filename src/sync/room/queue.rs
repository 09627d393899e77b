//! Queue of commands that wait for their decision, in order; control commands overtake output reports.

use std::collections::VecDeque;

use notarium_core::{Command, CommandId, CorrelationId, ExecutionReport, History, Judgement, RawJson};
use sha2::{Digest, Sha256};

use crate::identity::{ClientId, Identity};
use crate::io::Ticket;
use crate::submission::{ReplyTo, Submission};

/// A submission without an answer, and the progress of its decision.
#[derive(Debug)]
pub(crate) struct Pending {
    pub submission: Submission,
    /// Repeats that arrived before the answer.
    pub also: Vec<ReplyTo>,
    /// Key of the actor, `Actor::key()`.
    pub actor: String,
    pub digest: [u8; 32],
    /// Parsed command. The decision takes it; a repeated decision parses `body` again.
    pub command: Option<Command>,
    /// Arrival number: a subscription waits for its client's earlier commands.
    pub arrival: u64,
    /// Ticket of the question to the store whose answer it needs.
    pub ticket: Option<Ticket>,
    pub history: Option<History>,
    /// Judgement of its code, and the number of judgements so far.
    pub judgement: Option<Judgement>,
    pub judgements: u32,
    /// Number of failed attempts to decide and append it.
    pub attempts: u32,
}

impl Pending {
    pub(crate) fn new(submission: Submission, command: Command, arrival: u64) -> Self {
        Self {
            also: Vec::new(),
            actor: submission.identity.actor.key(),
            digest: digest(&submission.message.body, &command),
            submission,
            command: Some(command),
            arrival,
            ticket: None,
            history: None,
            judgement: None,
            judgements: 0,
            attempts: 0,
        }
    }

    pub(crate) fn id(&self) -> &CommandId {
        &self.submission.message.id
    }

    pub(crate) fn identity(&self) -> &Identity {
        &self.submission.identity
    }

    /// Returns the undo group: the sender's, else a group for this command.
    pub(crate) fn correlation(&self) -> CorrelationId {
        let own = || CorrelationId::new(self.id().as_str()).unwrap_or_else(|_| unreachable!("ids have one shape"));
        self.submission.message.correlation_id.clone().unwrap_or_else(own)
    }

    fn bytes(&self) -> usize {
        self.submission.message.body.get().len()
    }

    fn is_from(&self, client: ClientId) -> bool {
        self.submission.reply_to.client() == Some(client)
    }
}

/// Parses the command of a body; the error is a sentence.
pub(crate) fn parse(body: &RawJson) -> Result<Command, String> {
    Command::decode(body.get())
        .map_err(|error| format!("the body is not a command: {error}; see protocol/schema for the commands"))
}

/// Returns the SHA-256 of the body's text. Answers to input requests are blanked first, so that nobody can guess them from the stored
/// digest.
fn digest(body: &RawJson, command: &Command) -> [u8; 32] {
    if secrets(command).is_empty() {
        return Sha256::digest(body.get()).into();
    }
    let mut command = command.clone();
    blank(&mut command);
    let text = serde_json::to_string(&command).unwrap_or_default();
    Sha256::digest(text).into()
}

fn blank(command: &mut Command) {
    match command {
        Command::AnswerInput { value, .. } => value.clear(),
        Command::Batch { commands } => commands.iter_mut().for_each(blank),
        _ => {}
    }
}

/// Returns the answers to input requests in a command, which reach the kernel beside the log.
pub(crate) fn secrets(command: &Command) -> Vec<(notarium_core::ExecutionId, String)> {
    match command {
        Command::AnswerInput { execution_id, value } => vec![(execution_id.clone(), value.clone())],
        Command::Batch { commands } => commands.iter().flat_map(secrets).collect(),
        _ => Vec::new(),
    }
}

/// Returns true for commands by which people stop work.
fn is_control(command: &Command) -> bool {
    use Command as C;
    matches!(
        command,
        C::InterruptKernel { .. }
            | C::RestartKernel { .. }
            | C::ShutDownKernel { .. }
            | C::StopAll {}
            | C::CancelExecution { .. }
            | C::GiveUpExecution { .. }
    )
}

fn is_output(pending: &Pending) -> bool {
    use ExecutionReport as R;
    matches!(
        pending.command,
        Some(Command::ReportExecution { report: R::Output { .. } | R::UpdateDisplay { .. } | R::Clear { .. }, .. })
    )
}

#[derive(Debug, Default)]
pub(crate) struct Queue {
    commands: VecDeque<Pending>,
    /// Bytes of all bodies.
    bytes: usize,
}

impl Queue {
    /// Adds a command; control goes before the output reports at the end.
    pub(crate) fn push(&mut self, pending: Pending) {
        let is_control = pending.command.as_ref().is_some_and(is_control);
        let overtaken =
            if is_control { self.commands.iter().rev().take_while(|other| is_output(other)).count() } else { 0 };
        self.bytes += pending.bytes();
        self.commands.insert(self.commands.len() - overtaken, pending);
    }

    /// Puts commands back at the front for another decision, in their order.
    pub(crate) fn push_back_to_front(&mut self, again: Vec<Pending>) {
        for pending in again.into_iter().rev() {
            self.push_front(pending);
        }
    }

    /// Returns the bytes of all waiting bodies.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    fn taken(&mut self, pending: Pending) -> Pending {
        self.bytes -= pending.bytes();
        pending
    }

    pub(crate) fn push_front(&mut self, pending: Pending) {
        self.bytes += pending.bytes();
        self.commands.push_front(pending);
    }

    pub(crate) fn pop(&mut self) -> Option<Pending> {
        let pending = self.commands.pop_front()?;
        Some(self.taken(pending))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.commands.is_empty()
    }

    pub(crate) fn drain(&mut self) -> Vec<Pending> {
        self.bytes = 0;
        std::mem::take(&mut self.commands).into()
    }

    /// Removes the command that waits for this ticket; returns it with its position.
    pub(crate) fn remove_waiting(&mut self, ticket: Ticket) -> Option<(usize, Pending)> {
        let index = self.commands.iter().position(|pending| pending.ticket == Some(ticket))?;
        let pending = self.commands.remove(index)?;
        Some((index, self.taken(pending)))
    }

    pub(crate) fn insert(&mut self, index: usize, pending: Pending) {
        self.bytes += pending.bytes();
        self.commands.insert(index.min(self.commands.len()), pending);
    }

    /// Returns true if an earlier command of this client is in the queue.
    pub(crate) fn has_earlier(&self, client: ClientId, arrival: u64) -> bool {
        self.commands.iter().any(|pending| pending.is_from(client) && pending.arrival < arrival)
    }

    pub(crate) fn shrink(&mut self) {
        self.commands.shrink_to_fit();
    }
}
