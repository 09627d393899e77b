//! What people, assistants and tools say in a conversation.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::event::MessagePosted;
use crate::ids::ToolCallId;
use crate::json::RawJson;
use crate::open::Open;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MessageRole {
    User,
    Assistant,
    /// What tools answered.
    Tool,
}

/// A part of a message. Externally tagged: serde cannot read raw JSON out of an internally tagged enum.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MessageBlock {
    Text {
        text: String,
    },
    /// What a provider wants back word for word in the next model call: a signed thought, for instance.
    Opaque {
        provider: String,
        #[serde(deserialize_with = "crate::json::compact")]
        data: RawJson,
    },
    /// The model's call of a tool. `provider_id` is the model's own name for it.
    ToolCall {
        provider_id: String,
        call_id: ToolCallId,
        function: String,
        /// As the model wrote them; not always JSON. ToolCallRequested has them once more: this message is recorded before its
        /// calls are requested one after the other, and a server that dies in between must not lose what the model wrote.
        arguments: String,
        /// What else the provider attached and wants back word for word.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        extra: Option<String>,
    },
    /// What the model is told of a call's end.
    ToolResult {
        provider_id: String,
        call_id: ToolCallId,
        /// Absent: it is the `result` of the ToolCallExecuted of that call, word for word.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        text: Option<String>,
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        is_error: bool,
    },
}

impl MessagePosted {
    /// The parts that this version knows.
    pub fn known_blocks(&self) -> impl DoubleEndedIterator<Item = &MessageBlock> {
        self.blocks.iter().filter_map(Open::known)
    }
}

/// What a model call took, in tokens.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Usage {
    pub input_tokens: u64,
    pub output_tokens: u64,
    /// The provider did not say: this is our estimate.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub estimated: bool,
}

/// Why a turn came to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    /// The model has said what it had to say.
    EndTurn,
    /// It called tools in the last model call that a turn has.
    MaxTurns,
    MaxTokens,
    Refusal,
}

/// Marks on a message that say whether it is in the assistant's context.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct MessageFlags {
    /// Always.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub pinned: bool,
    /// Never.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub skipped: bool,
}
