//! What an assistant is doing this moment, beside the log: model text as it is written, and word of calls that take long.
//! What it comes to is in the log; who misses this misses nothing that lasts.

use notarium_core::{ConversationId, ToolCallId, TurnId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One piece of news of a turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TurnNews {
    pub conversation_id: ConversationId,
    pub turn_id: TurnId,
    /// The model call of the turn, from 1, and its attempt: another attempt writes its text anew.
    pub model_call: u32,
    pub attempt: u32,
    pub what: TurnActivity,
}

/// `block` counts the blocks of one model call's reply, from 0.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum TurnActivity {
    TextStart {
        block: usize,
    },
    TextDelta {
        block: usize,
        text: String,
    },
    ThinkingDelta {
        block: usize,
        text: String,
    },
    /// The model begins to write a call; `provider_id` is its own name for it.
    ToolStart {
        block: usize,
        provider_id: String,
        function: String,
    },
    BlockStop {
        block: usize,
    },
    /// An attempt failed and another follows: what it wrote does not count.
    AttemptFailed {
        cause: String,
    },
    /// Once for a call, after it has run for five seconds.
    ToolUpdate {
        call_id: ToolCallId,
        message: String,
    },
}
