//! Commands that wait to be decided, in order; control overtakes output.

use std::collections::VecDeque;
use std::sync::Arc;

use notarium_core::{Command, CommandId, CorrelationId, ExecutionReport, History, Judgement, RawJson, Version};
use notarium_wire::CommandMessage;
use sha2::{Digest, Sha256};

use crate::identity::{ClientId, Identity};
use crate::io::{ReplyTo, Ticket};

/// A command on its way.
#[derive(Debug)]
pub(crate) struct Queued {
    pub reply_to: ReplyTo,
    /// Repeats of it that came before it was answered.
    pub also: Vec<ReplyTo>,
    pub identity: Arc<Identity>,
    /// `Actor::key()`.
    pub actor: String,
    pub id: CommandId,
    pub expected_version: Option<Version>,
    pub correlation_id: Option<CorrelationId>,
    pub digest: [u8; 32],
    pub body: RawJson,
    /// Taken when it is decided; parsed again from `body` when it must be decided again.
    pub command: Option<Command>,
    /// Counts arrivals: a subscription waits for its client's earlier commands.
    pub arrival: u64,
    /// The question to the store that it waits for.
    pub ticket: Option<Ticket>,
    pub history: Option<History>,
    /// What its code could do, and how often that was asked.
    pub judgement: Option<Judgement>,
    pub judgements: u32,
    /// How often it was decided in vain.
    pub attempts: u32,
}

impl Queued {
    /// Parses the body; the error is a sentence.
    pub(crate) fn new(
        reply_to: ReplyTo,
        identity: Arc<Identity>,
        message: CommandMessage,
        arrival: u64,
    ) -> Result<Self, String> {
        let command = parse(&message.body)?;
        Ok(Self {
            reply_to,
            also: Vec::new(),
            actor: identity.actor.key(),
            identity,
            id: message.id,
            expected_version: message.expected_version,
            correlation_id: message.correlation_id,
            digest: digest(&message.body, &command),
            body: message.body,
            command: Some(command),
            arrival,
            ticket: None,
            history: None,
            judgement: None,
            judgements: 0,
            attempts: 0,
        })
    }

    /// The undo group: the sender's, else the command is a group of its own.
    pub(crate) fn correlation(&self) -> CorrelationId {
        let own = || CorrelationId::new(self.id.as_str()).unwrap_or_else(|_| unreachable!("ids have one shape"));
        self.correlation_id.clone().unwrap_or_else(own)
    }

    fn is_from(&self, client: ClientId) -> bool {
        self.reply_to == ReplyTo::Client(client)
    }
}

/// The command of a body; the error is a sentence.
pub(crate) fn parse(body: &RawJson) -> Result<Command, String> {
    serde_json::from_str(body.get())
        .map_err(|error| format!("the body is not a command: {error}; see protocol/schema for the commands"))
}

/// SHA-256 of the body's text. What an answer says must not be guessable from what is stored: it is left out.
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

/// The answers to input requests in a command: they reach the kernel beside the log.
pub(crate) fn secrets(command: &Command) -> Vec<(notarium_core::ExecutionId, String)> {
    match command {
        Command::AnswerInput { execution_id, value } => vec![(execution_id.clone(), value.clone())],
        Command::Batch { commands } => commands.iter().flat_map(secrets).collect(),
        _ => Vec::new(),
    }
}

/// What people use to stop things.
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

/// Whether a body is one of the commands that may overtake: by its tag alone, cheaply, before it is parsed.
pub fn is_control_body(body: &str) -> bool {
    const TAGS: [&str; 6] =
        ["InterruptKernel", "RestartKernel", "ShutDownKernel", "StopAll", "CancelExecution", "GiveUpExecution"];
    let tag = body.trim_start_matches(|character: char| character == '{' || character.is_ascii_whitespace());
    let tag = tag.strip_prefix('"').and_then(|rest| rest.split('"').next());
    body.len() < 1_024 && tag.is_some_and(|tag| TAGS.contains(&tag))
}

fn is_output(queued: &Queued) -> bool {
    use ExecutionReport as R;
    matches!(
        queued.command,
        Some(Command::ReportExecution { report: R::Output { .. } | R::UpdateDisplay { .. } | R::Clear { .. }, .. })
    )
}

#[derive(Debug, Default)]
pub(crate) struct Queue {
    commands: VecDeque<Queued>,
    /// Of all bodies.
    bytes: usize,
}

impl Queue {
    /// Control goes before the outputs that wait at the end.
    pub(crate) fn push(&mut self, queued: Queued) {
        let is_control = queued.command.as_ref().is_some_and(is_control);
        let overtaken =
            if is_control { self.commands.iter().rev().take_while(|other| is_output(other)).count() } else { 0 };
        self.bytes += queued.body.get().len();
        self.commands.insert(self.commands.len() - overtaken, queued);
    }

    /// Puts commands back that must be decided again, in their order.
    pub(crate) fn push_back_to_front(&mut self, again: Vec<Queued>) {
        for queued in again.into_iter().rev() {
            self.push_front(queued);
        }
    }

    /// Bytes of the bodies that wait.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    fn taken(&mut self, queued: Queued) -> Queued {
        self.bytes -= queued.body.get().len();
        queued
    }

    pub(crate) fn push_front(&mut self, queued: Queued) {
        self.bytes += queued.body.get().len();
        self.commands.push_front(queued);
    }

    pub(crate) fn pop(&mut self) -> Option<Queued> {
        let queued = self.commands.pop_front()?;
        Some(self.taken(queued))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.commands.is_empty()
    }

    pub(crate) fn drain(&mut self) -> Vec<Queued> {
        self.bytes = 0;
        std::mem::take(&mut self.commands).into()
    }

    /// Where the command is that waits for this answer.
    pub(crate) fn remove_waiting(&mut self, ticket: Ticket) -> Option<(usize, Queued)> {
        let index = self.commands.iter().position(|queued| queued.ticket == Some(ticket))?;
        let queued = self.commands.remove(index)?;
        Some((index, self.taken(queued)))
    }

    pub(crate) fn insert(&mut self, index: usize, queued: Queued) {
        self.bytes += queued.body.get().len();
        self.commands.insert(index.min(self.commands.len()), queued);
    }

    /// Whether a command of this client arrived earlier and waits.
    pub(crate) fn has_earlier(&self, client: ClientId, arrival: u64) -> bool {
        self.commands.iter().any(|queued| queued.is_from(client) && queued.arrival < arrival)
    }

    pub(crate) fn shrink(&mut self) {
        self.commands.shrink_to_fit();
    }
}
