//! Assistants: permissions, models, grants, conversations and messages; turns, and one turn as a stream for its followers.

use std::collections::BTreeMap;

use notarium_core::{
    Actor, AssistantGrant, Attachment, CellId, Conversation, ConversationId, Effect, GrantId, MessageBlock, MessageId,
    MessageRole, Millis, Open, Policy, RawObject, StopReason, ToolCallId, Turn, TurnId, Usage, Version,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Call, CallState, Confirmation};

/// Policy for assistants' tool calls in a notebook.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PolicyOf {
    /// `guarded` (reading, editing and running held code pass), `ask_for_every_edit` (only reading passes) or `trusted` (everything
    /// passes that is not destructive). Destructive calls need a confirmation under every policy.
    pub policy: Policy,
}

/// Models that assistants of this server use.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Models {
    /// The first is the default. Empty: the server has no assistant.
    pub models: Vec<Model>,
}

/// A model provider in the server's settings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Model {
    /// Provider name, as in records of calls.
    pub provider: String,
    /// The provider's default model.
    pub model: String,
}

/// Grants of a notebook that are valid now.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Grants {
    /// Grants by id: conversation, functions (empty: every function), `expires_at`, issuer.
    pub grants: BTreeMap<GrantId, AssistantGrant>,
}

/// Lets calls of one conversation pass without a confirmation, for a time. Destructive calls always need one.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewGrant {
    /// Grant id, chosen by you; absent: a new one.
    pub id: Option<GrantId>,
    /// The only conversation for which it is valid. Covers calls for the person whom the assistant serves now.
    pub conversation: ConversationId,
    /// Names of functions. Empty: every function that is not destructive.
    #[serde(default)]
    pub functions: Vec<String>,
    /// Kinds of effects that the covered calls may ask for: `create`, `network`, `open`. Empty: none.
    #[serde(default)]
    pub kinds: Vec<Effect>,
    /// Expiry in milliseconds since 1970, within seven days.
    pub expires_at: Millis,
}

/// The issued grant.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct IssuedGrant {
    /// Grant id, for `DELETE …/grants/{grant}`.
    pub id: GrantId,
    /// The notebook's version after the grant.
    pub version: Version,
}

/// The conversations of a notebook, without their messages.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Conversations {
    /// Conversations by id: title, starter, start time, unfinished turn.
    pub conversations: BTreeMap<ConversationId, Conversation>,
    /// Unfinished turns, by id.
    pub turns: BTreeMap<TurnId, Turn>,
}

/// Page of messages of a conversation, the last posted first.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MessagesQuery {
    /// Upper bound: messages posted before this version, as in `next` of the page before.
    pub before: Option<Version>,
    /// 1 to 200; absent: 50.
    pub limit: Option<usize>,
}

/// Messages of one conversation, the last posted first.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct MessagePage {
    /// Messages, at most `limit`.
    pub messages: Vec<Message>,
    /// Value of `before` for the next page; absent when there are no older messages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<Version>,
}

/// A message of a person, an assistant or tools.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Message {
    /// Message id, for `PUT …/messages/{message}/flags`.
    pub id: MessageId,
    /// The version of its MessagePosted event: `before` of the next page.
    pub version: Version,
    /// Milliseconds since 1970.
    pub posted_at: Millis,
    /// The person for a message of a person, else the assistant.
    pub posted_by: Actor,
    /// `user`, `assistant` or `tool`.
    pub role: Open<MessageRole>,
    /// Turn of the message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turn_id: Option<TurnId>,
    /// Texts, tool calls and their results, resolved from other places of the record.
    pub blocks: Vec<Open<MessageBlock>>,
    /// True: the turn ended while this answer was being written.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_partial: bool,
    /// True: always in the assistant's context.
    pub pinned: bool,
    /// True: never in the assistant's context.
    pub skipped: bool,
}

/// Changes the flags of a message. Needs the right to edit.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewFlags {
    /// Always in the assistant's context. Absent: unchanged.
    pub pinned: Option<bool>,
    /// Never in the assistant's context. Absent: unchanged. Excludes `pinned`.
    pub skipped: Option<bool>,
}

/// Filter and page of the turns, the last begun first.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TurnsQuery {
    /// Only turns of this conversation.
    pub conversation: Option<ConversationId>,
    /// Upper bound: turns that began before this version, as in `next` of the page before.
    pub before: Option<Version>,
    /// 1 to 200; absent: 50.
    pub limit: Option<usize>,
}

/// Page of all turns, past ones included, the last begun first.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct TurnPage {
    /// Turns, at most `limit`.
    pub turns: Vec<TurnSummary>,
    /// Value of `before` for the next page; absent when there are no older turns.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<Version>,
}

/// Status of a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TurnStatus {
    /// The assistant works, or waits for a person.
    Running,
    /// The model stopped; see `stop_reason`.
    Finished,
    /// Stopped by a person; see `cancelled_by`.
    Cancelled,
    /// No provider answered, or the server could not continue; see `cause`.
    Failed,
}

/// Summary of one turn, from the record.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TurnSummary {
    /// Turn id, as in `StartTurn.turn_id`, or chosen by the server.
    pub id: TurnId,
    /// Conversation of the turn, which has its messages.
    pub conversation_id: ConversationId,
    /// Current status; an ended turn does not begin again.
    pub status: TurnStatus,
    /// Stop reason of a finished turn: `end_turn`, `max_turns`, `max_tokens` or `refusal`.
    pub stop_reason: Option<Open<StopReason>>,
    /// Cause of a failure.
    pub cause: Option<String>,
    /// The person for whom the assistant acts.
    pub requested_by: Actor,
    /// Actor who stopped it; absent if it was not stopped.
    pub cancelled_by: Option<Actor>,
    /// Milliseconds since 1970, like all times here.
    pub started_at: Millis,
    /// End time: finished, cancelled or failed. Absent while it runs.
    pub ended_at: Option<Millis>,
    /// Version of its TurnStarted event: `before` of the next page.
    pub version: Version,
    /// The prompt cell that the turn answers.
    pub cell_id: Option<CellId>,
    /// `provider/model` of its last model call; before the first call the requested model.
    pub model: Option<String>,
    /// Number of model calls so far, without repeated attempts; at most 10.
    pub model_calls: u32,
    /// Number of attempts of model calls, failed ones included.
    pub attempts: u32,
    /// Tokens of all attempts together: `input_tokens`, `output_tokens`, `cached_tokens`; `estimated` if a part is estimated.
    pub usage: Usage,
}

/// An event of the stream; `type` is also the name of the server-sent event. Blocks are counted from 0 in each model call. A block that
/// begins again replaces its earlier text and all blocks after it.
#[serde_with::skip_serializing_none]
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
        cell_id: Option<CellId>,
        /// The requested model.
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
        tool_id: Option<String>,
        /// The call as `GET …/calls/{call}` shows it.
        call: Box<Call>,
        /// Effects of a confirmation. Absent once the call has started or ended.
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
