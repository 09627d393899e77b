//! Encrypted reasoning of unfinished turns, for the next model call of the same turn. It is in memory only: after a restart the
//! model thinks anew.

use std::collections::BTreeMap;

use hashlink::LinkedHashMap;
use notarium_core::{NotebookId, TurnId};
use parking_lot::Mutex;

use crate::providers::{Block, ModelReply};

/// Most bytes for all turns; above it the oldest turns lose theirs.
const MAX_BYTES: usize = 64 << 20;

/// Encrypted reasoning of a turn by the ids of its items. The turn whose last reply is oldest comes first.
#[derive(Default)]
pub(super) struct SealedReasoning(Mutex<LinkedHashMap<(NotebookId, TurnId), BTreeMap<String, String>>>);

fn size_bytes(items: &BTreeMap<String, String>) -> usize {
    items.iter().map(|(id, sealed)| id.len() + sealed.len()).sum()
}

impl SealedReasoning {
    /// Keeps the encrypted reasoning of a reply.
    pub(super) fn keep(&self, notebook: &NotebookId, turn_id: &TurnId, reply: &ModelReply) {
        let items = reply.blocks.iter().filter_map(|block| match block {
            Block::Thinking(thinking) => Some((thinking.id.clone()?, thinking.sealed.clone()?)),
            _ => None,
        });
        let items: BTreeMap<String, String> = items.collect();
        if items.is_empty() {
            return;
        }
        let mut turns = self.0.lock();
        turns.entry((notebook.clone(), turn_id.clone())).or_insert_with(BTreeMap::new).extend(items);
        while turns.values().map(size_bytes).sum::<usize>() > MAX_BYTES {
            turns.pop_front();
        }
    }

    /// The encrypted reasoning of a turn, by the ids of its items.
    pub(super) fn of(&self, notebook: &NotebookId, turn_id: &TurnId) -> BTreeMap<String, String> {
        self.0.lock().get(&(notebook.clone(), turn_id.clone())).cloned().unwrap_or_default()
    }

    /// Forgets the turns of the notebook that are over.
    pub(super) fn retain(&self, notebook: &NotebookId, is_open: impl Fn(&TurnId) -> bool) {
        self.0.lock().retain(|(of, turn_id), _| of != notebook || is_open(turn_id));
    }
}

#[cfg(test)]
mod tests {
    use crate::providers::{StopReason, Thinking};

    use super::*;

    fn reply(id: &str, sealed: String) -> ModelReply {
        let thinking = Thinking { id: Some(id.to_owned()), sealed: Some(sealed), ..Thinking::default() };
        let blocks = vec![Block::Thinking(Thinking::default()), Block::Thinking(thinking), Block::text("so")];
        ModelReply { blocks, stop: StopReason::EndTurn, usage: None, attempts: 1 }
    }

    fn ids(kept: BTreeMap<String, String>) -> Vec<String> {
        kept.into_keys().collect()
    }

    #[test]
    fn reasoning_is_kept_until_its_turn_is_over() {
        let reasoning = SealedReasoning::default();
        let (notebook, other): (NotebookId, NotebookId) = ("n".parse().unwrap(), "o".parse().unwrap());
        let (turn, next): (TurnId, TurnId) = ("t".parse().unwrap(), "u".parse().unwrap());
        for (notebook, turn, id) in [(&notebook, &turn, "a"), (&notebook, &turn, "b"), (&other, &turn, "c")] {
            reasoning.keep(notebook, turn, &reply(id, "sealed".to_owned()));
        }
        assert_eq!(ids(reasoning.of(&notebook, &turn)), ["a", "b"]);
        assert!(reasoning.of(&notebook, &next).is_empty());
        reasoning.retain(&notebook, |open| *open == turn);
        assert_eq!(ids(reasoning.of(&notebook, &turn)), ["a", "b"]);
        reasoning.retain(&notebook, |_| false);
        assert!(reasoning.of(&notebook, &turn).is_empty());
        assert_eq!(ids(reasoning.of(&other, &turn)), ["c"]);
    }

    #[test]
    fn the_oldest_turns_make_room() {
        let reasoning = SealedReasoning::default();
        let notebook: NotebookId = "n".parse().unwrap();
        let turns: Vec<TurnId> = ["a", "b", "c"].map(|id| id.parse().unwrap()).into();
        for turn in &turns {
            reasoning.keep(&notebook, turn, &reply("id", "x".repeat(MAX_BYTES / 2 - 100)));
        }
        let kept = turns.iter().map(|turn| !reasoning.of(&notebook, turn).is_empty());
        assert_eq!(kept.collect::<Vec<_>>(), [false, true, true]);
    }
}
