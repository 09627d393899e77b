//! A question to an assistant, and the stream of its answer.

use notarium_core::{Actor, CellId, ConversationId, Millis, RawObject, ToolCallId, TurnId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Call, CallState, Confirmation};

/// An event of the stream; `type` is also the name of the server-sent event. Blocks are counted from 0 in each model call:
/// one that begins again replaces what it was, and all blocks after it.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ChatEvent {
    /// First of all.
    Turn {
        conversation_id: ConversationId,
        turn_id: TurnId,
        requested_by: Actor,
        /// Milliseconds since 1970.
        started_at: Millis,
        /// The prompt cell that it answers.
        #[serde(skip_serializing_if = "Option::is_none")]
        cell_id: Option<CellId>,
        /// The model that was asked for.
        #[serde(skip_serializing_if = "Option::is_none")]
        model: Option<String>,
    },
    /// The second model call of the turn begins, or a later one.
    TurnStart {
        turn: u32,
        max_turns: u32,
    },
    TextStart {
        model_call: u32,
        block: usize,
    },
    TextDelta {
        model_call: u32,
        block: usize,
        text: String,
    },
    ContentBlockStop {
        model_call: u32,
        block: usize,
    },
    /// The model begins to write a call; `tool_id` is its own name for it.
    ToolStart {
        model_call: u32,
        block: usize,
        tool_id: String,
        tool_name: String,
    },
    /// Nothing that this model call wrote so far counts: it is tried again, or the turn fails.
    AttemptFailed {
        model_call: u32,
        attempt: u32,
        error: String,
    },
    /// A person is asked: the call in full, and while it has not started what it would do.
    ToolConfirmation {
        #[serde(skip_serializing_if = "Option::is_none")]
        tool_id: Option<String>,
        call: Box<Call>,
        #[serde(skip_serializing_if = "Option::is_none")]
        confirmation: Option<Box<Confirmation>>,
    },
    /// A person has decided.
    ToolDecision {
        call_id: ToolCallId,
        /// `confirmed` or `denied`.
        decision: CallState,
        decided_by: Actor,
        #[serde(default, skip_serializing_if = "String::is_empty")]
        reason: String,
    },
    ToolExecute {
        call_id: ToolCallId,
        #[serde(skip_serializing_if = "Option::is_none")]
        tool_id: Option<String>,
        tool_name: String,
        tool_input: RawObject,
    },
    /// Once for a call, after it has run for five seconds.
    ToolUpdate {
        call_id: ToolCallId,
        tool_name: String,
        message: String,
    },
    /// What the assistant is told.
    ToolResult {
        call_id: ToolCallId,
        #[serde(skip_serializing_if = "Option::is_none")]
        tool_id: Option<String>,
        tool_name: String,
        result: String,
        is_error: bool,
    },
    /// The end: `end_turn`, `max_turns`, `max_tokens`, `refusal` or `cancelled`.
    Done {
        stop_reason: String,
    },
    /// The end: the turn failed.
    Error {
        error: String,
    },
}

impl ChatEvent {
    /// The name of the server-sent event.
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

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Question {
    /// What you say; or `cell_id`.
    pub text: Option<String>,
    /// A prompt cell: its source is what you say.
    pub cell_id: Option<CellId>,
    /// Goes on in this conversation, or begins it under this id; absent: a new one.
    pub conversation: Option<ConversationId>,
    /// One of the models that the server has; absent: its default.
    pub model: Option<String>,
    /// The id of the turn, chosen by you; absent: a new one.
    pub turn: Option<TurnId>,
}
