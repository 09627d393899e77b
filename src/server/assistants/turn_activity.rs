//! Live activity of assistants, for followers of a turn. It is kept for the current model call of each turn, so that a
//! late follower sees that call from its beginning. It is in memory alone; the result is in the log.
//!
//! Followers read at their own pace and delay no other task: they get everything unread in one piece.

use std::sync::Arc;

use hashlink::LinkedHashMap;
use notarium_core::{NotebookId, ToolCallId, TurnId};
use notarium_wire::{ActivityKind, TurnActivity};
use parking_lot::{Mutex, MutexGuard};
use tokio::sync::watch;

/// Bytes of text kept of one model call; the rest comes with the message in the log.
const MAX_REPLY_BYTES: usize = 256 << 10;
/// Blocks kept of one model call.
const MAX_BLOCKS: usize = 512;
/// Notices of slow calls kept per turn.
const MAX_UPDATES: usize = 64;
/// Turns above which the longest unused one without followers is removed.
const MAX_UNFOLLOWED: usize = 256;

/// A block of a live reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LiveBlock {
    pub content: LiveContent,
    pub is_stopped: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LiveContent {
    Text(String),
    /// Thoughts, which followers are not shown.
    Hidden,
    Call {
        provider_id: String,
        function: String,
    },
}

/// The reply of one model call so far.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LiveReply {
    /// Changes when the reply starts over; unique in the process.
    pub generation: u64,
    pub model_call: u32,
    pub attempt: u32,
    /// Blocks by number; missing ones are hidden.
    pub blocks: Vec<LiveBlock>,
    bytes: usize,
    is_cut: bool,
    /// Notices of calls that take long.
    pub updates: Vec<(ToolCallId, String)>,
}

impl LiveReply {
    fn take(&mut self, activity: TurnActivity, next_generation: impl FnOnce() -> u64) {
        if let ActivityKind::ToolUpdate { call_id, message } = activity.what {
            if self.updates.len() < MAX_UPDATES {
                self.updates.push((call_id, message));
            }
            return;
        }
        let is_other = (self.model_call, self.attempt) != (activity.model_call, activity.attempt);
        if is_other || matches!(activity.what, ActivityKind::AttemptFailed { .. }) {
            *self = Self {
                generation: next_generation(),
                model_call: activity.model_call,
                attempt: activity.attempt,
                updates: std::mem::take(&mut self.updates),
                ..Self::default()
            };
        }
        if !self.is_cut {
            self.write(activity.what);
        }
    }

    fn write(&mut self, what: ActivityKind) {
        match what {
            ActivityKind::TextStart { block } => self.begin(block, LiveContent::Text(String::new())),
            ActivityKind::TextDelta { block, text } => {
                self.begin_absent(block, || LiveContent::Text(String::new()));
                self.grow(block, &text);
            }
            ActivityKind::ThinkingDelta { block, .. } => self.begin_absent(block, || LiveContent::Hidden),
            ActivityKind::ToolStart { block, provider_id, function } => {
                self.begin(block, LiveContent::Call { provider_id, function });
            }
            ActivityKind::BlockStop { block } => {
                if let Some(block) = self.blocks.get_mut(block) {
                    block.is_stopped = true;
                }
            }
            ActivityKind::AttemptFailed { .. } | ActivityKind::ToolUpdate { .. } => {}
        }
    }

    fn begin(&mut self, block: usize, content: LiveContent) {
        if block >= MAX_BLOCKS {
            self.is_cut = true;
            return;
        }
        // Blocks whose start was missed are hidden.
        while self.blocks.len() <= block {
            self.blocks.push(LiveBlock { content: LiveContent::Hidden, is_stopped: true });
        }
        self.blocks[block] = LiveBlock { content, is_stopped: false };
    }

    fn begin_absent(&mut self, block: usize, content: impl FnOnce() -> LiveContent) {
        if self.blocks.len() <= block {
            self.begin(block, content());
        }
    }

    /// Appends text. At the limit all further activity of this reply is dropped, because a gap would be worse than an
    /// early end.
    fn grow(&mut self, block: usize, more: &str) {
        self.is_cut |= self.bytes + more.len() > MAX_REPLY_BYTES;
        if let Some(LiveBlock { content: LiveContent::Text(text), .. }) = self.blocks.get_mut(block)
            && !self.is_cut
        {
            text.push_str(more);
            self.bytes += more.len();
        }
    }
}

type TurnKey = (NotebookId, TurnId);

/// Live activity of one turn.
#[derive(Debug, Default)]
pub struct LiveTurn {
    reply: Mutex<LiveReply>,
    changed: watch::Sender<()>,
}

impl LiveTurn {
    /// The live reply, locked: hold it only to read.
    pub fn reply(&self) -> MutexGuard<'_, LiveReply> {
        self.reply.lock()
    }

    /// Notified of every change from now on.
    pub fn changes(&self) -> watch::Receiver<()> {
        self.changed.subscribe()
    }
}

/// Live activity of all turns of a server.
#[derive(Debug, Default)]
pub struct TurnActivityHub(Mutex<Turns>);

#[derive(Debug, Default)]
struct Turns {
    /// The longest unused turn is first.
    turns: LinkedHashMap<TurnKey, Arc<LiveTurn>>,
    /// Number of the last generation.
    generation: u64,
}

impl TurnActivityHub {
    pub fn publish(&self, notebook: &NotebookId, activity: TurnActivity) {
        let key = (notebook.clone(), activity.turn_id.clone());
        let mut turns = self.0.lock();
        let turn = turns.turn(key);
        turn.reply().take(activity, || {
            turns.generation += 1;
            turns.generation
        });
        turns.forget_some();
        drop(turns);
        turn.changed.send_replace(());
    }

    /// Live activity of one turn. It is shared while it is held.
    pub fn follow(&self, notebook: &NotebookId, turn: &TurnId) -> Arc<LiveTurn> {
        let mut turns = self.0.lock();
        turns.forget_some();
        turns.turn((notebook.clone(), turn.clone()))
    }

    /// Removes the activity of a turn that has ended.
    pub fn forget(&self, notebook: &NotebookId, turn: &TurnId) {
        self.0.lock().turns.remove(&(notebook.clone(), turn.clone()));
    }
}

impl Turns {
    fn turn(&mut self, key: TurnKey) -> Arc<LiveTurn> {
        self.turns.entry(key).or_insert_with(Arc::default).clone()
    }

    /// Removes the longest unused turn without followers, above the limit.
    fn forget_some(&mut self) {
        if self.turns.len() <= MAX_UNFOLLOWED {
            return;
        }
        let oldest = self.turns.iter().find(|(_, turn)| turn.changed.receiver_count() == 0);
        if let Some(key) = oldest.map(|(key, _)| key.clone()) {
            self.turns.remove(&key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn activity(turn: &str, model_call: u32, attempt: u32, what: ActivityKind) -> TurnActivity {
        TurnActivity {
            conversation_id: "c".parse().unwrap(),
            turn_id: turn.parse().unwrap(),
            model_call,
            attempt,
            what,
        }
    }

    fn delta(block: usize, text: &str) -> ActivityKind {
        ActivityKind::TextDelta { block, text: text.to_owned() }
    }

    fn text_of(reply: &LiveReply) -> String {
        let texts = reply.blocks.iter().filter_map(|block| match &block.content {
            LiveContent::Text(text) => Some(text.as_str()),
            _ => None,
        });
        texts.collect()
    }

    #[test]
    fn a_reply_is_kept_from_its_beginning_and_another_attempt_begins_anew() {
        let hub = TurnActivityHub::default();
        let notebook: NotebookId = "nb".parse().unwrap();
        for what in [ActivityKind::TextStart { block: 0 }, delta(0, "Hel"), delta(0, "lo")] {
            hub.publish(&notebook, activity("t", 1, 1, what));
        }
        let turn = hub.follow(&notebook, &"t".parse().unwrap());
        assert_eq!(text_of(&turn.reply()), "Hello");
        let first = turn.reply().generation;
        hub.publish(&notebook, activity("t", 1, 1, ActivityKind::AttemptFailed { cause: "cut".into() }));
        assert_eq!(text_of(&turn.reply()), "");
        hub.publish(&notebook, activity("t", 1, 2, delta(0, "Hi")));
        assert_eq!(text_of(&turn.reply()), "Hi");
        assert!(turn.reply().generation > first);
    }

    #[test]
    fn what_is_kept_has_a_limit_and_no_gap() {
        let hub = TurnActivityHub::default();
        let notebook: NotebookId = "nb".parse().unwrap();
        let turn = hub.follow(&notebook, &"t".parse().unwrap());
        hub.publish(&notebook, activity("t", 1, 1, delta(0, &"x".repeat(MAX_REPLY_BYTES - 1))));
        hub.publish(&notebook, activity("t", 1, 1, delta(0, "yy")));
        hub.publish(&notebook, activity("t", 1, 1, delta(0, "z")));
        assert_eq!(text_of(&turn.reply()).len(), MAX_REPLY_BYTES - 1);
        hub.publish(&notebook, activity("t", 2, 1, delta(MAX_BLOCKS, "far out")));
        assert!(turn.reply().blocks.is_empty());
    }

    #[test]
    fn turns_that_nobody_follows_are_forgotten_and_followed_ones_are_not() {
        let hub = TurnActivityHub::default();
        let notebook: NotebookId = "nb".parse().unwrap();
        let followed = hub.follow(&notebook, &"followed".parse().unwrap());
        let _changes = followed.changes();
        hub.publish(&notebook, activity("followed", 1, 1, delta(0, "here")));
        for number in 0..MAX_UNFOLLOWED + 10 {
            hub.publish(&notebook, activity(&format!("t{number}"), 1, 1, delta(0, "x")));
        }
        assert_eq!(hub.0.lock().turns.len(), MAX_UNFOLLOWED);
        assert!(Arc::ptr_eq(&followed, &hub.follow(&notebook, &"followed".parse().unwrap())));
    }
}
