//! The answers to recent commands, so that a retry gets the same one without the store.

use std::collections::{BTreeMap, VecDeque};

use notarium_core::{CommandId, NotebookId, Outcome, Rejection, RejectionCode, Version};
use notarium_wire::AckMessage;

use crate::io::CommandRecord;

type Key = (String, CommandId);

#[derive(Debug)]
struct Answer {
    digest: [u8; 32],
    version: Version,
    outcome: Outcome,
}

#[derive(Debug, Default)]
pub(crate) struct Answers {
    by_command: BTreeMap<Key, Answer>,
    oldest_first: VecDeque<Key>,
}

impl Answers {
    pub(crate) fn remember(&mut self, record: CommandRecord, limit: usize) {
        let CommandRecord { actor, command_id, digest, version, outcome } = record;
        let key = (actor, command_id);
        if self.by_command.insert(key.clone(), Answer { digest, version, outcome }).is_none() {
            self.oldest_first.push_back(key);
        }
        while self.oldest_first.len() > limit {
            let Some(key) = self.oldest_first.pop_front() else { return };
            self.by_command.remove(&key);
        }
    }

    /// The answer to a repeated command, or `None`: not known here.
    pub(crate) fn find(
        &self,
        notebook: &NotebookId,
        actor: &str,
        id: &CommandId,
        digest: &[u8; 32],
    ) -> Option<Result<AckMessage, Rejection>> {
        // A retry is rare: the key is made for the look-up only when there is anything to find.
        if self.by_command.is_empty() {
            return None;
        }
        let answer = self.by_command.get(&(actor.to_owned(), id.clone()))?;
        Some(answer_of(notebook, id, digest, answer.digest, answer.version, answer.outcome.clone()))
    }

    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }
}

/// The answer that a record gives to a repeat of its command.
pub(crate) fn recorded_answer(
    notebook: &NotebookId,
    digest: &[u8; 32],
    record: CommandRecord,
) -> Result<AckMessage, Rejection> {
    answer_of(notebook, &record.command_id, digest, record.digest, record.version, record.outcome)
}

fn answer_of(
    notebook: &NotebookId,
    id: &CommandId,
    digest: &[u8; 32],
    recorded: [u8; 32],
    version: Version,
    outcome: Outcome,
) -> Result<AckMessage, Rejection> {
    if *digest == recorded {
        return Ok(AckMessage { id: id.clone(), notebook: notebook.clone(), version, outcome });
    }
    Err(reused(id))
}

pub(crate) fn reused(id: &CommandId) -> Rejection {
    let message = format!("command {id} was sent before with another body: choose a new id for every command");
    Rejection::new(RejectionCode::CommandIdReused, message)
}
