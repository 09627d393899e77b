//! Messages of a conversation: roles, blocks, attachments, token usage, flags.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ids::ToolCallId;
use crate::json::RawJson;

/// Who said something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MessageRole {
    /// A person.
    User,
    /// The model, tools that it calls included.
    Assistant,
    /// What tools answered.
    Tool,
}

/// A part of a message. Externally tagged: serde cannot read raw JSON out of an internally tagged enum.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MessageBlock {
    /// What is said.
    Text {
        /// Markdown.
        text: String,
    },
    /// What a provider wants back word for word in the next model call: a signed thought, for instance.
    Opaque {
        /// The provider whose it is: others are not sent it.
        provider: String,
        /// As the provider sent it.
        #[serde(deserialize_with = "crate::json::compact")]
        data: RawJson,
    },
    /// The model's call of a tool. `provider_id` is the model's own name for it.
    ToolCall {
        /// The model's own name for the call; its result carries it too.
        provider_id: String,
        /// As in ToolCallRequested.
        call_id: ToolCallId,
        /// The tool that is called.
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
        /// As in the call.
        provider_id: String,
        /// As in ToolCallRequested.
        call_id: ToolCallId,
        /// Absent: it is the `result` of the ToolCallExecuted of that call, word for word.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        text: Option<String>,
        /// The call failed, was refused, or nobody knows what came of it.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        is_error: bool,
    },
    /// A picture or a file that goes with what a person asks.
    Attachment(Attachment),
}

/// A picture or a file that goes with a question: a blob of the notebook.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Attachment {
    /// Of its bytes, in lower-case hex: the name of the blob.
    pub sha256: String,
    /// How large it is.
    pub size_bytes: u64,
    /// What it is, as in `image/png`.
    pub media_type: String,
    /// As the person's file is called.
    pub name: String,
}

/// What a model call took, in tokens.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Usage {
    /// Of what the model read.
    pub input_tokens: u64,
    /// Of what the model wrote.
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
    /// The reply reached the length that the model or the request allows.
    MaxTokens,
    /// The model refused to answer.
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
