//! Messages of a conversation: roles, blocks, attachments, token usage, flags. The reply of an assistant in a prompt cell,
//! as events carry it.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::cause::TurnFailure;
use crate::ids::{ToolCallId, TurnId};
use crate::json::{Open, RawJson};

/// Author of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MessageRole {
    /// A person.
    User,
    /// The assistant: the message has the model's text and its tool calls.
    Assistant,
    /// Tools: the message has results of tool calls.
    Tool,
}

/// One block of a message. In JSON: an object whose only key is the block's kind.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MessageBlock {
    /// Text of the message.
    Text {
        /// Markdown.
        text: String,
    },
    /// Data that the provider must get back unchanged in the next model call, for example a signed thought.
    Opaque {
        /// The provider that sent the data. Other providers do not get it.
        provider: String,
        /// The provider's data, unchanged.
        #[serde(deserialize_with = "crate::json::compact")]
        data: RawJson,
    },
    /// The model's call of a tool. `provider_id` is the model's own name for it.
    ToolCall {
        /// The model's own name for the call; its result carries it too.
        provider_id: String,
        /// The call's id, as in ToolCallRequested.
        call_id: ToolCallId,
        /// The name of the tool or function.
        function: String,
        /// The arguments as the model wrote them; not always valid JSON. ToolCallRequested has them too, but this
        /// message is recorded before its calls are requested.
        arguments: String,
        /// Further data of the provider, which it must get back unchanged. Absent: none.
        extra: Option<String>,
    },
    /// Result of a tool call, for the model.
    ToolResult {
        /// The model's own name for the call.
        provider_id: String,
        /// The call's id, as in ToolCallRequested.
        call_id: ToolCallId,
        /// The result. Absent: the same text as `result` in the call's ToolCallExecuted.
        text: Option<String>,
        /// True: the call failed, was refused, or its outcome is unknown.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        is_error: bool,
    },
    /// A picture or file that a person attached to the message.
    Attachment(Attachment),
}

/// A picture or file that is attached to a message, stored as a blob of the notebook.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Attachment {
    /// SHA-256 of the bytes, in lower-case hex, which names the blob.
    pub sha256: String,
    /// Size in bytes.
    pub size_bytes: u64,
    /// Media type, such as `image/png`.
    pub media_type: String,
    /// Name of the person's file, 1 to 255 characters.
    pub name: String,
}

/// Tokens that a model call used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Usage {
    /// Number of tokens that the model read.
    pub input_tokens: u64,
    /// Number of tokens that the model wrote.
    pub output_tokens: u64,
    /// The part of `input_tokens` that came from the provider's cache. Absent: none, or the provider reported none.
    #[serde(skip_serializing_if = "is_zero")]
    pub cached_tokens: u64,
    /// True: the server's estimate, because the provider reported no numbers.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub estimated: bool,
}

// The signature is serde's.
#[expect(clippy::trivially_copy_pass_by_ref)]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// Reason why the model stopped, at the end of a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    /// The model has finished its answer.
    EndTurn,
    /// The model called tools in the last model call that a turn may have.
    MaxTurns,
    /// The reply reached the length that the model or the request allows.
    MaxTokens,
    /// The model refused to answer.
    Refusal,
}

/// Flags of a message for the assistant's context.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct MessageFlags {
    /// True: the message is always in the assistant's context.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub pinned: bool,
    /// True: the message is never in the assistant's context.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub skipped: bool,
}

// --- replies in prompt cells ---

/// Status of a reply in a prompt cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReplyStatus {
    /// The turn has not ended.
    Running,
    /// The turn has ended by itself; `stop_reason` says why.
    Finished,
    /// A person stopped the turn, or the reply was cut off; `cause` then says why.
    Stopped,
    /// The turn failed; `cause` says why.
    Failed,
}

/// Reply of an assistant in a prompt cell, as far as it was recorded.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CellReply {
    /// The turn that gave the reply. Absent: the reply came from a file or another notebook.
    pub turn_id: Option<TurnId>,
    /// The reply's status. `running` in an event: the cell was deleted or copied while the turn was running.
    pub status: Open<ReplyStatus>,
    /// The reason why the model stopped, for the status `finished`. Absent otherwise.
    pub stop_reason: Option<Open<StopReason>>,
    /// The cause if the reply failed or was cut off. Absent otherwise.
    pub cause: Option<Open<TurnFailure>>,
    /// More about the cause, in a sentence for people. Absent: the cause is all that is known.
    pub detail: Option<String>,
    /// The cell's source at the start of the turn. If the cell's source differs now, the reply is stale.
    pub prompt: Arc<str>,
    /// The texts of the turn's messages so far, separated by empty lines.
    pub text: String,
    /// True: the conversation's messages have more text than `text`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_cut: bool,
}

impl CellReply {
    /// Returns the reply in a form that a command accepts. Unknown words are left out; an unknown status becomes
    /// `stopped`.
    #[must_use]
    pub fn closed(self) -> Self {
        let status = Open::Known(self.status.known().copied().unwrap_or(ReplyStatus::Stopped));
        let stop_reason = self.stop_reason.filter(|reason| reason.known().is_some());
        let cause = self.cause.filter(|cause| cause.known().is_some());
        Self { status, stop_reason, cause, ..self }
    }

    /// The first word in the reply that this version does not know.
    pub fn unknown_word(&self) -> Option<String> {
        let status = self.status.known().is_none().then(|| self.status.to_string());
        let stop_reason = self.stop_reason.as_ref().filter(|it| it.known().is_none()).map(ToString::to_string);
        let cause = self.cause.as_ref().filter(|it| it.known().is_none()).map(ToString::to_string);
        status.or(stop_reason).or(cause)
    }
}
