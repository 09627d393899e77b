//! What the follower of a turn is sent.

use notarium_core::{Actor, CellId, ConversationId, Millis, RawObject, ToolCallId, TurnId};
use serde::Serialize;
use utoipa::ToSchema;

use crate::routes::calls::confirmation::Confirmation;
use crate::routes::calls::record::{Call, CallState};

/// An event of the stream; `type` is also the name of the server-sent event. Blocks are counted from 0 in each model call:
/// one that begins again replaces what it was, and all blocks after it.
#[derive(Debug, Serialize, ToSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ChatEvent {
    /// First of all.
    Turn {
        #[schema(value_type = String)]
        conversation_id: ConversationId,
        #[schema(value_type = String)]
        turn_id: TurnId,
        #[schema(value_type = Object)]
        requested_by: Actor,
        /// Milliseconds since 1970.
        started_at: Millis,
        /// The prompt cell that it answers.
        #[schema(value_type = Option<String>)]
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
        #[schema(value_type = String)]
        call_id: ToolCallId,
        /// `confirmed` or `denied`.
        decision: CallState,
        #[schema(value_type = Object)]
        decided_by: Actor,
        #[serde(skip_serializing_if = "String::is_empty")]
        reason: String,
    },
    ToolExecute {
        #[schema(value_type = String)]
        call_id: ToolCallId,
        #[serde(skip_serializing_if = "Option::is_none")]
        tool_id: Option<String>,
        tool_name: String,
        #[schema(value_type = Object)]
        tool_input: RawObject,
    },
    /// Once for a call, after it has run for five seconds.
    ToolUpdate {
        #[schema(value_type = String)]
        call_id: ToolCallId,
        tool_name: String,
        message: String,
    },
    /// What the assistant is told.
    ToolResult {
        #[schema(value_type = String)]
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
