//! What assistants may do unasked, and what was said to them and by them.

use std::collections::BTreeMap;

use notarium_core::{
    Actor, AssistantGrant, Conversation, ConversationId, GrantId, MessageBlock, MessageId, MessageRole, Millis, Policy,
    Turn, TurnId, Version,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PolicyOf {
    /// `guarded` (reading, editing and running harmless code pass), `ask_for_every_edit` (only reading passes) or
    /// `trusted` (all passes that destroys nothing). What destroys asks under every policy.
    pub policy: Policy,
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Grants {
    /// By id: conversation, functions (none: every function), `expires_at`, who issued it.
    pub grants: BTreeMap<GrantId, AssistantGrant>,
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewGrant {
    /// Chosen by you; absent: a new one.
    pub id: Option<GrantId>,
    pub conversation: ConversationId,
    /// Empty: every function but those that destroy.
    #[serde(default)]
    pub functions: Vec<String>,
    /// Milliseconds since 1970, within seven days.
    pub expires_at: Millis,
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct IssuedGrant {
    pub id: GrantId,
    pub version: Version,
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Conversations {
    /// By id: title, who started it and when, the unfinished turn.
    pub conversations: BTreeMap<ConversationId, Conversation>,
    /// The unfinished turns, by id.
    pub turns: BTreeMap<TurnId, Turn>,
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MessagesQuery {
    /// Messages posted before this version: `next` of the page before.
    pub before: Option<Version>,
    /// 1 to 200; absent: 50.
    pub limit: Option<usize>,
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct MessagePage {
    pub messages: Vec<Message>,
    /// Ask again with this as `before`; absent when there are no older ones.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<Version>,
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Message {
    pub id: MessageId,
    pub version: Version,
    /// Milliseconds since 1970.
    pub posted_at: Millis,
    pub posted_by: Actor,
    /// `user`, `assistant` or `tool`.
    pub role: MessageRole,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turn_id: Option<TurnId>,
    /// Texts, calls of tools and their results.
    pub blocks: Vec<MessageBlock>,
    /// Always in the assistant's context.
    pub pinned: bool,
    /// Never in the assistant's context.
    pub skipped: bool,
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewFlags {
    /// Always in the assistant's context. Absent: as it is.
    pub pinned: Option<bool>,
    /// Never in the assistant's context. Absent: as it is. Not both.
    pub skipped: Option<bool>,
}
