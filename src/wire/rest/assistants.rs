//! What assistants may do unasked, and what was said to them and by them.

use std::collections::BTreeMap;

use notarium_core::{
    Actor, AssistantGrant, Conversation, ConversationId, GrantId, MessageBlock, MessageId, MessageRole, Millis, Open,
    Policy, Turn, TurnId, Version,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What assistants may do unasked in a notebook.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PolicyOf {
    /// `guarded` (reading, editing and running harmless code pass), `ask_for_every_edit` (only reading passes) or
    /// `trusted` (all passes that destroys nothing). What destroys asks under every policy.
    pub policy: Policy,
}

/// The models that assistants of this server ask.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Models {
    /// The first is asked where nobody names one. Empty: nobody answers here.
    pub models: Vec<Model>,
}

/// A provider that this server was set up with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Model {
    /// Its name, as calls are recorded under it.
    pub provider: String,
    /// The model of it that is asked where nobody names another.
    pub model: String,
}

/// The grants of a notebook that hold now.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Grants {
    /// By id: conversation, functions (none: every function), `expires_at`, who issued it.
    pub grants: BTreeMap<GrantId, AssistantGrant>,
}

/// Lets the calls of one conversation pass that would wait for a person, for a time. Never those that are destructive.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewGrant {
    /// Chosen by you; absent: a new one.
    pub id: Option<GrantId>,
    /// The only conversation that it is for, and in it the calls for the person whom the assistant serves now.
    pub conversation: ConversationId,
    /// Empty: every function but those that destroy.
    #[serde(default)]
    pub functions: Vec<String>,
    /// Milliseconds since 1970, within seven days.
    pub expires_at: Millis,
}

/// The grant that was issued.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct IssuedGrant {
    /// As asked for, or chosen by the server. Names it in `DELETE …/grants/{grant}`.
    pub id: GrantId,
    /// The notebook's version after it.
    pub version: Version,
}

/// The conversations of a notebook, without their messages.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Conversations {
    /// By id: title, who started it and when, the unfinished turn.
    pub conversations: BTreeMap<ConversationId, Conversation>,
    /// The unfinished turns, by id.
    pub turns: BTreeMap<TurnId, Turn>,
}

/// Which messages of a conversation are read, the last posted first.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MessagesQuery {
    /// Messages posted before this version: `next` of the page before.
    pub before: Option<Version>,
    /// 1 to 200; absent: 50.
    pub limit: Option<usize>,
}

/// Messages of one conversation, the last posted first.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct MessagePage {
    /// At most `limit` of them.
    pub messages: Vec<Message>,
    /// Ask again with this as `before`; absent when there are no older ones.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<Version>,
}

/// What a person, an assistant or tools said.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Message {
    /// Names it in `PUT …/messages/{message}/flags`.
    pub id: MessageId,
    /// The version of its MessagePosted event: `before` of the next page.
    pub version: Version,
    /// Milliseconds since 1970.
    pub posted_at: Millis,
    /// Of a person's message the person; of the others the assistant.
    pub posted_by: Actor,
    /// `user`, `assistant` or `tool`.
    pub role: Open<MessageRole>,
    /// The turn that it belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turn_id: Option<TurnId>,
    /// Texts, calls of tools and their results, with all that the record has at another place.
    pub blocks: Vec<Open<MessageBlock>>,
    /// The beginning of an answer whose turn ended while it was written.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_partial: bool,
    /// Always in the assistant's context.
    pub pinned: bool,
    /// Never in the assistant's context.
    pub skipped: bool,
}

/// Marks a message. Needs the right to edit.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewFlags {
    /// Always in the assistant's context. Absent: as it is.
    pub pinned: Option<bool>,
    /// Never in the assistant's context. Absent: as it is. Not both.
    pub skipped: Option<bool>,
}
