//! Questions to an assistant, and the event stream of the answer.

use notarium_core::{Actor, Attachment, CellId, ConversationId, Millis, RawObject, ToolCallId, TurnId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Call, CallState, Confirmation};

/// An event of the stream; `type` is also the name of the server-sent event. Blocks are counted from 0 in each model call. A block that
/// begins again replaces its earlier text and all blocks after it.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ChatEvent {
    /// First event of the stream.
    Turn {
        /// Conversation of the turn: continue it with `Question.conversation`.
        conversation_id: ConversationId,
        /// Turn id: stop it with `POST …/turns/{turn}/cancel`, follow it again with `GET …/turns/{turn}/stream`.
        turn_id: TurnId,
        /// The person who asked, and for whom the assistant acts.
        requested_by: Actor,
        /// Milliseconds since 1970.
        started_at: Millis,
        /// The prompt cell that the turn answers.
        #[serde(skip_serializing_if = "Option::is_none")]
        cell_id: Option<CellId>,
        /// The requested model.
        #[serde(skip_serializing_if = "Option::is_none")]
        model: Option<String>,
    },
    /// A further model call of the turn begins, the second or a later one.
    TurnStart {
        /// Number of the model call: 2 or more.
        turn: u32,
        /// Maximum number of model calls in a turn: 10.
        max_turns: u32,
    },
    /// The model begins a block of text.
    TextStart {
        /// Number of the model call in the turn, from 1.
        model_call: u32,
        /// Index of the block in its reply, from 0.
        block: usize,
    },
    /// More text of a block.
    TextDelta {
        /// Number of the model call in the turn, from 1.
        model_call: u32,
        /// Index of the block in its reply, from 0.
        block: usize,
        /// Text to append to the block; never empty.
        text: String,
    },
    /// The block is complete.
    ContentBlockStop {
        /// Number of the model call in the turn, from 1.
        model_call: u32,
        /// Index of the block in its reply, from 0.
        block: usize,
    },
    /// The model begins to write a call; `tool_id` is the model's name for it.
    ToolStart {
        /// Number of the model call in the turn, from 1.
        model_call: u32,
        /// Index of the block in its reply, from 0.
        block: usize,
        /// The model's name for the call: the same in later events about it.
        tool_id: String,
        /// Function that it calls.
        tool_name: String,
    },
    /// An attempt of the model call failed: discard its text. Another attempt follows, or the turn fails.
    AttemptFailed {
        /// Number of the model call in the turn, from 1.
        model_call: u32,
        /// Number of the failed attempt, from 1.
        attempt: u32,
        /// Cause, in a sentence for people.
        error: String,
    },
    /// A call needs a confirmation by a person.
    ToolConfirmation {
        /// The `tool_id` of `tool_start`; absent if the model gave none.
        #[serde(skip_serializing_if = "Option::is_none")]
        tool_id: Option<String>,
        /// The call as `GET …/calls/{call}` shows it.
        call: Box<Call>,
        /// Effects of a confirmation. Absent once the call has started or ended.
        #[serde(skip_serializing_if = "Option::is_none")]
        confirmation: Option<Box<Confirmation>>,
    },
    /// A person has decided.
    ToolDecision {
        /// The call.
        call_id: ToolCallId,
        /// `confirmed` or `denied`.
        decision: CallState,
        /// The person who decided: often the one who asked.
        decided_by: Actor,
        /// Reason of a denial, if any: the assistant reads it.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        reason: String,
    },
    /// A call starts, after its confirmation if it needed one.
    ToolExecute {
        /// Call id, for `…/calls/{call}`.
        call_id: ToolCallId,
        /// The `tool_id` of `tool_start`; absent if the model gave none.
        #[serde(skip_serializing_if = "Option::is_none")]
        tool_id: Option<String>,
        /// Function that runs.
        tool_name: String,
        /// All of its arguments.
        tool_input: RawObject,
    },
    /// Sent once per call, after it has run for five seconds.
    ToolUpdate {
        /// The slow call.
        call_id: ToolCallId,
        /// Function that runs.
        tool_name: String,
        /// Notice, a sentence for people.
        message: String,
    },
    /// A call ended: its result for the assistant.
    ToolResult {
        /// The call that ended.
        call_id: ToolCallId,
        /// The `tool_id` of `tool_start`; absent if the model gave none.
        #[serde(skip_serializing_if = "Option::is_none")]
        tool_id: Option<String>,
        /// Function that was called.
        tool_name: String,
        /// Text that the model reads: the tool's answer, or the reason why there is none.
        result: String,
        /// True if the call failed, was refused, or has an unknown outcome.
        is_error: bool,
    },
    /// Last event of a turn that did not fail.
    Done {
        /// Stop reason: `end_turn`, `max_turns`, `max_tokens`, `refusal` or `cancelled`.
        stop_reason: String,
    },
    /// Last event of a failed turn.
    Error {
        /// Cause, in a sentence for people.
        error: String,
    },
}

impl ChatEvent {
    /// Returns the name of the server-sent event.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Turn { .. } => "turn",
            Self::TurnStart { .. } => "turn_start",
            Self::TextStart { .. } => "text_start",
            Self::TextDelta { .. } => "text_delta",
            Self::ContentBlockStop { .. } => "content_block_stop",
            Self::ToolStart { .. } => "tool_start",
            Self::AttemptFailed { .. } => "attempt_failed",
            Self::ToolConfirmation { .. } => "tool_confirmation",
            Self::ToolDecision { .. } => "tool_decision",
            Self::ToolExecute { .. } => "tool_execute",
            Self::ToolUpdate { .. } => "tool_update",
            Self::ToolResult { .. } => "tool_result",
            Self::Done { .. } => "done",
            Self::Error { .. } => "error",
        }
    }
}

/// A question to an assistant: either `text` or `cell_id`. Needs the right to converse.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Question {
    /// Text of the question; excludes `cell_id`.
    pub text: Option<String>,
    /// A prompt cell whose source is the question.
    pub cell_id: Option<CellId>,
    /// Conversation to continue, or to begin under this id; absent: a new one.
    pub conversation: Option<ConversationId>,
    /// One of the server's models; absent: the default.
    pub model: Option<String>,
    /// Images and texts attached to the question, at most 8: blobs of this notebook, uploaded before (`PUT …/blobs/{sha256}`).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attachments: Vec<Attachment>,
    /// Turn id, chosen by you; absent: a new one.
    pub turn: Option<TurnId>,
}
