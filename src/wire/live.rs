//! What an assistant is doing this moment, beside the log: model text as it is written, and notices of calls that take long.
//! The result is in the log: a client that misses this misses nothing that lasts.

use notarium_core::{ConversationId, ToolCallId, TurnId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One piece of a turn's activity.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TurnActivity {
    /// The conversation that the turn belongs to.
    pub conversation_id: ConversationId,
    /// The turn, which its TurnStarted event has announced.
    pub turn_id: TurnId,
    /// The model call of the turn, from 1, and its attempt: another attempt writes its text anew.
    pub model_call: u32,
    /// Counts from 1 in each model call.
    pub attempt: u32,
    /// What happened.
    pub what: ActivityKind,
}

/// `block` counts the blocks of one model call's reply, from 0.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ActivityKind {
    /// A block of text begins.
    TextStart {
        /// Its number.
        block: usize,
    },
    /// More text of the reply.
    TextDelta {
        /// The block that it belongs to.
        block: usize,
        /// To be joined to what the block has.
        text: String,
    },
    /// More of what the model thinks before it answers. No message holds it.
    ThinkingDelta {
        /// The block that it belongs to.
        block: usize,
        /// To be joined to what the block has.
        text: String,
    },
    /// The model begins to write a call; `provider_id` is its own name for it.
    ToolStart {
        /// The number of the block that the call is.
        block: usize,
        /// The same as in the message's `tool_call` block.
        provider_id: String,
        /// The tool that is called; its arguments are still being written.
        function: String,
    },
    /// A block is complete.
    BlockStop {
        /// Its number.
        block: usize,
    },
    /// An attempt failed and another follows: what it wrote does not count.
    AttemptFailed {
        /// What went wrong, in a sentence for people.
        cause: String,
    },
    /// Once for a call, after it has run for five seconds.
    ToolUpdate {
        /// The call that takes long.
        call_id: ToolCallId,
        /// A sentence for people.
        message: String,
    },
}

/// Activity that waits to be sent together: what continues one text becomes one piece.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PendingActivity(Vec<TurnActivity>);

impl PendingActivity {
    /// Whether nothing waits.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds a piece; text that continues the last piece of its turn is joined to that.
    pub fn push(&mut self, activity: TurnActivity) {
        // Only the last of a turn can be continued: what lies between would come in another order.
        let last = self.0.iter_mut().rev().find(|last| last.turn_id == activity.turn_id);
        if !last.is_some_and(|last| last.continues_as(&activity)) {
            self.0.push(activity);
        }
    }

    /// Hands out what waits, in order, and keeps none of it.
    pub fn take(&mut self) -> Vec<TurnActivity> {
        std::mem::take(&mut self.0)
    }
}

impl TurnActivity {
    /// Takes the text of `next` in, where it goes on with the same block.
    fn continues_as(&mut self, next: &TurnActivity) -> bool {
        use ActivityKind as A;
        if (self.model_call, self.attempt) != (next.model_call, next.attempt) {
            return false;
        }
        match (&mut self.what, &next.what) {
            (A::TextDelta { block, text }, A::TextDelta { block: same, text: more })
            | (A::ThinkingDelta { block, text }, A::ThinkingDelta { block: same, text: more })
                if block == same =>
            {
                text.push_str(more);
                true
            }
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn delta(turn: &str, block: usize, text: &str) -> TurnActivity {
        TurnActivity {
            conversation_id: "c".parse().unwrap(),
            turn_id: turn.parse().unwrap(),
            model_call: 1,
            attempt: 1,
            what: ActivityKind::TextDelta { block, text: text.to_owned() },
        }
    }

    #[test]
    fn what_continues_a_text_becomes_one_piece_and_keeps_the_order_of_its_turn() {
        let mut pending = PendingActivity::default();
        let stop = TurnActivity { what: ActivityKind::BlockStop { block: 0 }, ..delta("a", 0, "") };
        for activity in
            [delta("a", 0, "Hel"), delta("b", 0, "x"), delta("a", 0, "lo"), stop.clone(), delta("a", 1, "!")]
        {
            pending.push(activity);
        }
        let next_attempt = TurnActivity { attempt: 2, ..delta("a", 1, "?") };
        pending.push(next_attempt.clone());
        let expected = [delta("a", 0, "Hello"), delta("b", 0, "x"), stop, delta("a", 1, "!"), next_attempt];
        assert_eq!(pending.take(), expected);
        assert!(pending.is_empty());
    }
}
