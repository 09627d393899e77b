//! A question to an assistant, and the stream of its answer.

use notarium_core::{Actor, Attachment, CellId, ConversationId, Millis, RawObject, ToolCallId, TurnId};
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
        /// The conversation that the turn belongs to: go on in it with `Question.conversation`.
        conversation_id: ConversationId,
        /// The turn: stop it with `POST …/turns/{turn}/cancel`, follow it again with `GET …/turns/{turn}/stream`.
        turn_id: TurnId,
        /// The person who asked, and for whom the assistant acts.
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
        /// The number of the model call: 2 or more.
        turn: u32,
        /// No turn has more model calls than this: 10.
        max_turns: u32,
    },
    /// The model begins a block of text.
    TextStart {
        /// The number of the model call in the turn, from 1.
        model_call: u32,
        /// The number of the block in its reply, from 0.
        block: usize,
    },
    /// More text of a block.
    TextDelta {
        /// The number of the model call in the turn, from 1.
        model_call: u32,
        /// The number of the block in its reply, from 0.
        block: usize,
        /// To be joined to what the block has; never empty.
        text: String,
    },
    /// The block has all of its text.
    ContentBlockStop {
        /// The number of the model call in the turn, from 1.
        model_call: u32,
        /// The number of the block in its reply, from 0.
        block: usize,
    },
    /// The model begins to write a call; `tool_id` is its own name for it.
    ToolStart {
        /// The number of the model call in the turn, from 1.
        model_call: u32,
        /// The number of the block in its reply, from 0.
        block: usize,
        /// The model's own name for the call: the same in the later events about it.
        tool_id: String,
        /// The function that it calls.
        tool_name: String,
    },
    /// Nothing that this model call wrote so far counts: it is tried again, or the turn fails.
    AttemptFailed {
        /// The number of the model call in the turn, from 1.
        model_call: u32,
        /// The attempt that failed, from 1.
        attempt: u32,
        /// What went wrong, in a sentence for people.
        error: String,
    },
    /// A person is asked: the call in full, and while it has not started what it would do.
    ToolConfirmation {
        /// As in `tool_start`; absent where the model gave none.
        #[serde(skip_serializing_if = "Option::is_none")]
        tool_id: Option<String>,
        /// As `GET …/calls/{call}` shows it.
        call: Box<Call>,
        /// What confirming would do. Absent once the call has started or is over.
        #[serde(skip_serializing_if = "Option::is_none")]
        confirmation: Option<Box<Confirmation>>,
    },
    /// A person has decided.
    ToolDecision {
        /// The call that it is about.
        call_id: ToolCallId,
        /// `confirmed` or `denied`.
        decision: CallState,
        /// Somebody who may decide: often the person who asked.
        decided_by: Actor,
        /// Of a denial, where one was given: the assistant reads it.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        reason: String,
    },
    /// A call starts, after whatever confirmation it needed.
    ToolExecute {
        /// Names it under `…/calls/{call}`.
        call_id: ToolCallId,
        /// As in `tool_start`; absent where the model gave none.
        #[serde(skip_serializing_if = "Option::is_none")]
        tool_id: Option<String>,
        /// The function that runs.
        tool_name: String,
        /// All of its arguments.
        tool_input: RawObject,
    },
    /// Once for a call, after it has run for five seconds.
    ToolUpdate {
        /// The call that takes long.
        call_id: ToolCallId,
        /// The function that runs.
        tool_name: String,
        /// A sentence for people.
        message: String,
    },
    /// What the assistant is told.
    ToolResult {
        /// The call that has ended.
        call_id: ToolCallId,
        /// As in `tool_start`; absent where the model gave none.
        #[serde(skip_serializing_if = "Option::is_none")]
        tool_id: Option<String>,
        /// The function that was called.
        tool_name: String,
        /// The text that the model reads: the tool's answer, or why there is none.
        result: String,
        /// The call failed, was refused, or nobody knows what came of it.
        is_error: bool,
    },
    /// The end: `end_turn`, `max_turns`, `max_tokens`, `refusal` or `cancelled`.
    Done {
        /// The stop reason, as listed above.
        stop_reason: String,
    },
    /// The end: the turn failed.
    Error {
        /// Why, in a sentence for people.
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

/// What you ask an assistant: either `text` or `cell_id`. Needs the right to converse.
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
    /// Pictures and text that go with it, at most 8: blobs of this notebook, uploaded before (`PUT …/blobs/{sha256}`).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attachments: Vec<Attachment>,
    /// The id of the turn, chosen by you; absent: a new one.
    pub turn: Option<TurnId>,
}
