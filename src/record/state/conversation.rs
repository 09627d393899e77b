//! Conversations with assistants, and their unfinished turns.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::access::Scopes;
use crate::actor::Actor;
use crate::ids::{CellId, ConversationId, InstanceId, MessageId, Millis, TurnId, Version};
use crate::message::MessageFlags;

/// A conversation. Its messages are a projection of the log, not part of the document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Conversation {
    /// The beginning of the first message, or the name of the outside assistant. 1 to 255 characters on one line.
    pub title: String,
    /// The person who wrote the first message, or the outside assistant.
    pub started_by: Actor,
    /// Time of the start, in milliseconds since 1970.
    pub started_at: Millis,
    /// The unfinished turn. Absent: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<TurnId>,
    /// True: the conversation began with a call of an outside assistant, and no person has written in it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_outside: bool,
    /// Flags of the messages that are pinned or skipped, by message.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub flagged: BTreeMap<MessageId, MessageFlags>,
}

/// A turn that has not ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Turn {
    /// The conversation of the turn.
    pub conversation_id: ConversationId,
    /// The message that the turn answers.
    pub message_id: MessageId,
    /// The person for whom the assistant acts.
    pub requested_by: Actor,
    /// The version of the turn's TurnStarted.
    pub started_version: Version,
    /// Time of the start, in milliseconds since 1970.
    pub started_at: Millis,
    /// The prompt cell that the turn answers. Absent: the message came from a chat.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cell_id: Option<CellId>,
    /// The model that the person chose. Absent: the server's default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Scopes of the token or session that began the turn, of read, edit and run. Calls that need another scope are refused.
    pub scopes: Scopes,
    /// True: that token is bound to some notebooks, so the turn cannot create or list notebooks.
    pub is_bound: bool,
    /// Number of model calls that have begun.
    pub model_calls: u32,
    /// Number of attempts of the last model call.
    pub attempts: u32,
    /// The server instance that makes the last model call. Absent: no model call is under way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model_call_claimant: Option<InstanceId>,
    /// True: the last attempt failed, and the next is another attempt of the same model call.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_model_call_failed: bool,
}
