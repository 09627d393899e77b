//! A command on its way from its source (a socket, REST, the assistants' host, the room itself) to its decision.

use std::fmt;
use std::sync::Arc;

use notarium_core::{AccountStatuses, Rejection};
use notarium_wire::{AckMessage, CommandMessage};

use crate::identity::{ClientId, Identity};

/// A command on its way: the same value passes the room's inbox and queue up to its decision.
#[derive(Debug)]
pub struct Submission {
    pub identity: Arc<Identity>,
    pub message: CommandMessage,
    pub reply_to: ReplyTo,
    /// Account status of subjects, as requested by [`notarium_core::required_account_status`].
    pub standings: AccountStatuses,
}

impl Submission {
    /// Creates a submission of a command that grants no rights.
    pub fn new(identity: Arc<Identity>, message: CommandMessage, reply_to: ReplyTo) -> Self {
        Self { identity, message, reply_to, standings: AccountStatuses::default() }
    }

    /// Returns true if it may overtake waiting commands. Looks only at the command's tag, which is cheap before parsing.
    pub fn is_control(&self) -> bool {
        const TAGS: [&str; 6] =
            ["InterruptKernel", "RestartKernel", "ShutDownKernel", "StopAll", "CancelExecution", "GiveUpExecution"];
        let body = self.message.body.get();
        let tag = body.trim_start_matches(|character: char| character == '{' || character.is_ascii_whitespace());
        let tag = tag.strip_prefix('"').and_then(|rest| rest.split('"').next());
        body.len() < 1_024 && tag.is_some_and(|tag| TAGS.contains(&tag))
    }
}

/// Receiver of a command's answer.
#[derive(Debug)]
pub enum ReplyTo {
    Client(ClientId),
    Caller(Caller<Result<AckMessage, Rejection>>),
    /// No receiver: the room itself submitted it.
    Nobody,
}

impl ReplyTo {
    pub(crate) fn client(&self) -> Option<ClientId> {
        match self {
            ReplyTo::Client(client) => Some(*client),
            ReplyTo::Caller(_) | ReplyTo::Nobody => None,
        }
    }
}

/// A caller that waits for one answer. The room passes it back to its driver with the answer; if it is dropped, there is no answer.
pub struct Caller<T>(Box<dyn FnOnce(T) + Send>);

impl<T> Caller<T> {
    pub fn new(answer: impl FnOnce(T) + Send + 'static) -> Self {
        Self(Box::new(answer))
    }

    pub fn answer(self, answer: T) {
        (self.0)(answer);
    }
}

impl<T> fmt::Debug for Caller<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Caller")
    }
}

#[cfg(test)]
impl Submission {
    /// Creates a submission for which all named subjects are active.
    pub(crate) fn where_all_are_active(identity: Arc<Identity>, message: CommandMessage, reply_to: ReplyTo) -> Self {
        let command = crate::room::queue::parse(&message.body);
        let named = command.map(|command| notarium_core::required_account_status(&command)).unwrap_or_default();
        let standings =
            AccountStatuses::new(named.into_iter().map(|subject| (subject, notarium_core::AccountStatus::Active)));
        Self { standings, ..Self::new(identity, message, reply_to) }
    }
}
