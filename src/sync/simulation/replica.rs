//! State of every client: the document at a version, and the unanswered commands.

use std::collections::BTreeMap;
use std::sync::Arc;

use notarium_core::{Command, CommandId, CorrelationId, Document, EventId, RawJson, Recorded, RejectionCode, Version};
use notarium_wire::{
    AckMessage, CommandMessage, EventMessage, LastEvent, RejectMessage, ServerMessage, SubscribeMessage,
    SubscribedMessage, UnconfirmedText,
};

use super::disk::context_notebook;
use crate::io::Identity;
use crate::ring::recorded;

pub(crate) struct Replica {
    pub identity: Arc<Identity>,
    pub notebook: Document,
    /// Event that led to this state.
    last_event: Option<EventId>,
    /// Number of the connection; `None` while disconnected.
    pub connection: Option<u64>,
    pub is_subscribed: bool,
    pub pending: Vec<CommandMessage>,
    /// Received acks, for the final checks.
    pub acked: BTreeMap<CommandId, Version>,
    name: String,
    next_command: u64,
}

/// Effect of a message.
pub(crate) enum Received {
    Applied(Box<Recorded>),
    /// A new state replaced the old one, with the events of unconfirmed cells up to it.
    Replaced {
        unconfirmed: Vec<Recorded>,
    },
    Acked(AckMessage),
    Rejected(RejectMessage),
}

impl Replica {
    pub(crate) fn new(identity: Identity) -> Self {
        Self {
            name: identity.connection.clone(),
            identity: Arc::new(identity),
            notebook: Document::new(context_notebook()),
            last_event: None,
            connection: None,
            is_subscribed: false,
            pending: Vec::new(),
            acked: BTreeMap::new(),
            next_command: 0,
        }
    }

    pub(crate) fn subscription(&self, unconfirmed: Vec<UnconfirmedText>) -> SubscribeMessage {
        let last = |event_id| LastEvent { version: self.notebook.version, event_id };
        let since = self.last_event.clone().map(last);
        SubscribeMessage { notebook: context_notebook(), since, unconfirmed }
    }

    /// Creates a command and keeps it until it is answered.
    pub(crate) fn command(&mut self, command: &Command, correlation: Option<CorrelationId>) -> CommandMessage {
        self.next_command += 1;
        let message = CommandMessage {
            id: format!("{}-{}", self.name, self.next_command).parse().expect("an id"),
            notebook: context_notebook(),
            expected_version: None,
            correlation_id: correlation,
            body: RawJson::of(command).expect("a command serialises"),
        };
        self.pending.push(message.clone());
        message
    }

    /// Takes a message; the error is a violation by the server.
    pub(crate) fn take(&mut self, message: ServerMessage) -> Result<Vec<Received>, String> {
        match message {
            ServerMessage::Subscribed(subscribed) => self.subscribed(*subscribed),
            // Events after a state that was not taken.
            ServerMessage::Events(_) if !self.is_subscribed => Ok(Vec::new()),
            ServerMessage::Events(message) => message.events.into_iter().map(|event| self.event(event)).collect(),
            ServerMessage::Ack(ack) => Ok(self.ack(ack)),
            ServerMessage::Reject(reject) => Ok(self.reject(reject)),
            _ => Ok(Vec::new()),
        }
    }

    fn subscribed(&mut self, message: SubscribedMessage) -> Result<Vec<Received>, String> {
        self.is_subscribed = true;
        match message.snapshot {
            Some(snapshot) => {
                if snapshot.version != message.version {
                    return Err(format!("snapshot {} is called {}", snapshot.version, message.version));
                }
                if message.digest != snapshot.digest().ok() {
                    return Err(format!("the digest at {} is another's", message.version));
                }
                if message.diverged {
                    return Err("there is one log, and it is called another branch".to_owned());
                }
                self.notebook = *snapshot;
                self.last_event = Some(message.event_id);
                let unconfirmed = message.unconfirmed_events.into_iter().map(typed).collect::<Result<_, _>>()?;
                Ok(vec![Received::Replaced { unconfirmed }])
            }
            None if message.version == self.notebook.version => Ok(Vec::new()),
            None => {
                Err(format!("events are to follow {}, the client is at {}", message.version, self.notebook.version))
            }
        }
    }

    fn event(&mut self, message: EventMessage) -> Result<Received, String> {
        if message.version != self.notebook.version + 1 {
            return Err(format!("{} follows {}: a gap", message.version, self.notebook.version));
        }
        let recorded = typed(message)?;
        self.notebook.apply(&recorded);
        self.last_event = Some(recorded.envelope.id.clone());
        Ok(Received::Applied(Box::new(recorded)))
    }

    fn answered(&mut self, id: &CommandId) -> bool {
        let before = self.pending.len();
        self.pending.retain(|pending| pending.id != *id);
        self.pending.len() < before
    }

    fn ack(&mut self, ack: AckMessage) -> Vec<Received> {
        self.answered(&ack.id);
        self.acked.insert(ack.id.clone(), ack.version);
        vec![Received::Acked(ack)]
    }

    /// Handles a refusal; after `Unavailable` the command is sent again with the same id.
    fn reject(&mut self, reject: RejectMessage) -> Vec<Received> {
        if reject.code == RejectionCode::Unavailable || !self.answered(&reject.id) {
            return Vec::new();
        }
        vec![Received::Rejected(reject)]
    }
}

fn typed(message: EventMessage) -> Result<Recorded, String> {
    recorded(&context_notebook(), message).ok_or_else(|| "an event does not parse".to_owned())
}
