//! Conversations with assistants, and their unfinished turns.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::access::Scopes;
use crate::actor::Actor;
use crate::ids::{CellId, ConversationId, InstanceId, MessageId, Millis, TurnId, Version};
use crate::message::MessageFlags;

/// A conversation. Its messages are a projection.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Conversation {
    /// What the first message begins with, or the name of the assistant outside.
    pub title: String,
    /// The person who spoke first, or the assistant outside.
    pub started_by: Actor,
    /// Milliseconds since 1970.
    pub started_at: Millis,
    /// The unfinished turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<TurnId>,
    /// It began with a call of an outside assistant, and nobody has spoken in it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_outside: bool,
    /// Messages that are pinned or skipped.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub flagged: BTreeMap<MessageId, MessageFlags>,
}

/// A turn that has not ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Turn {
    /// The conversation that it belongs to.
    pub conversation_id: ConversationId,
    /// The message that it answers.
    pub message_id: MessageId,
    /// The person for whom the assistant acts.
    pub requested_by: Actor,
    /// The version of its TurnStarted.
    pub started_version: Version,
    /// Milliseconds since 1970.
    pub started_at: Millis,
    /// The prompt cell that it answers; absent: it was asked in a chat.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cell_id: Option<CellId>,
    /// As the person chose; absent: the server's default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Its calls do nothing beyond these.
    pub scopes: Scopes,
    /// Its calls reach no other notebook.
    pub is_bound: bool,
    /// Model calls that have begun.
    pub model_calls: u32,
    /// Attempts of the last one.
    pub attempts: u32,
    /// The server instance that makes the last one; absent: it is over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model_call_claimant: Option<InstanceId>,
    /// The last one failed: the next is another attempt of it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_model_call_failed: bool,
}
