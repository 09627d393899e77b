//! The answers to recent commands, so that a retry gets the same one without the store.

use std::collections::{BTreeMap, VecDeque};

use notarium_core::{CommandId, CommandRecord, NotebookId, Rejection, RejectionCode};
use notarium_wire::AckMessage;

type Key = (String, CommandId);

#[derive(Debug, Default)]
pub(crate) struct Answers {
    by_command: BTreeMap<Key, CommandRecord>,
    oldest_first: VecDeque<Key>,
}

impl Answers {
    pub(crate) fn remember(&mut self, record: CommandRecord, limit: usize) {
        let key = (record.actor.clone(), record.command_id.clone());
        if self.by_command.insert(key.clone(), record).is_none() {
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
        let record = self.by_command.get(&(actor.to_owned(), id.clone()))?;
        Some(recorded_answer(notebook, digest, record))
    }

    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }
}

/// The answer that a record gives to a repeat of its command.
pub(crate) fn recorded_answer(
    notebook: &NotebookId,
    digest: &[u8; 32],
    record: &CommandRecord,
) -> Result<AckMessage, Rejection> {
    if *digest != record.digest {
        return Err(reused(&record.command_id));
    }
    let outcome = serde_json::from_str(record.outcome.get()).unwrap_or_default();
    let (id, notebook) = (record.command_id.clone(), notebook.clone());
    Ok(AckMessage { id, notebook, version: record.version, outcome, undo: None })
}

pub(crate) fn reused(id: &CommandId) -> Rejection {
    let message = format!("command {id} was sent before with another body: choose a new id for every command");
    Rejection::new(RejectionCode::CommandIdReused, message)
}
