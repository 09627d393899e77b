//! Permissions of assistants, their models, grants, conversations and messages.

use std::collections::BTreeMap;

use notarium_core::{
    Actor, AssistantGrant, Conversation, ConversationId, GrantId, MessageBlock, MessageId, MessageRole, Millis, Open,
    Policy, Turn, TurnId, Version,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Policy for assistants' tool calls in a notebook.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PolicyOf {
    /// `guarded` (reading, editing and running harmless code pass), `ask_for_every_edit` (only reading passes) or `trusted` (everything
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
