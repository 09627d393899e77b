//! Cache of answers to recent commands, so that a retry gets the same answer without a read of the store.

use std::collections::VecDeque;
use std::collections::btree_map::{BTreeMap, Entry};

use notarium_core::{CommandId, CommandRecord, NotebookId, Rejection, RejectionCode};
use notarium_wire::AckMessage;

#[derive(Debug, Default)]
pub(crate) struct Answers {
    /// Records by command id, oldest first. Ids are unique for each actor only, but nearly always there is one record.
    by_id: BTreeMap<CommandId, Vec<CommandRecord>>,
    oldest_first: VecDeque<CommandId>,
}

impl Answers {
    pub(crate) fn remember(&mut self, record: CommandRecord, limit: usize) {
        let id = record.command_id.clone();
        let records = self.by_id.entry(id.clone()).or_insert_with(|| Vec::with_capacity(1));
        match records.iter_mut().find(|known| known.actor == record.actor) {
            Some(known) => *known = record,
            None => {
                records.push(record);
                self.oldest_first.push_back(id);
            }
        }
        while self.oldest_first.len() > limit {
            self.forget_oldest();
        }
    }

    fn forget_oldest(&mut self) {
        let Some(id) = self.oldest_first.pop_front() else { return };
        if let Entry::Occupied(mut records) = self.by_id.entry(id) {
            records.get_mut().remove(0);
            if records.get().is_empty() {
                records.remove();
            }
        }
    }

    /// Returns the answer to a repeated command; `None`: not in the cache.
    pub(crate) fn find(
        &self,
        notebook: &NotebookId,
        actor: &str,
        id: &CommandId,
        digest: &[u8; 32],
    ) -> Option<Result<AckMessage, Rejection>> {
        let record = self.by_id.get(id)?.iter().find(|record| record.actor == actor)?;
        Some(recorded_answer(notebook, digest, record))
    }

    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }
}

/// Returns the recorded answer for a repeat of its command.
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
