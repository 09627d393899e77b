//! Conversations with assistants: messages and turns.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::access::Scopes;
use crate::cause::TurnFailure;
use crate::ids::{CellId, ConversationId, InstanceId, MessageId, TokenId, TurnId};
use crate::message::{MessageBlock, MessageFlags, MessageRole, StopReason, Usage};
use crate::open::Open;

/// A conversation began: a person wrote to an assistant, or an outside assistant called its first tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ConversationStarted {
    /// The new conversation's id. Messages, turns and grants name it.
    pub conversation_id: ConversationId,
    /// 1 to 255 characters on one line.
    pub title: String,
}

/// The idle conversation of an outside assistant was closed to make room for another. Its next call begins it again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ConversationClosed {
    /// Named by ConversationStarted.
    pub conversation_id: ConversationId,
}

/// A message was posted in a conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MessagePosted {
    /// Named by ConversationStarted.
    pub conversation_id: ConversationId,
    /// The new message's id.
    pub message_id: MessageId,
    /// The turn that the message begins or belongs to. This server always sets it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub turn_id: Option<TurnId>,
    /// The author: a person, the assistant, or its tools.
    pub role: Open<MessageRole>,
    /// The message's content. Show an unknown block by its name; models do not get it.
    pub blocks: Vec<Open<MessageBlock>>,
    /// Length of the text that the prompt cell shows, in UTF-16 code units. Absent: all of it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub reply_units: Option<usize>,
    /// True: the beginning of an answer whose turn ended while the model wrote it. The end of the turn follows. Absent:
    /// the message is complete.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub is_partial: bool,
}

impl MessagePosted {
    /// Blocks that this version knows.
    pub fn known_blocks(&self) -> impl DoubleEndedIterator<Item = &MessageBlock> {
        self.blocks.iter().filter_map(Open::known)
    }
}

/// The flags of a message changed: always in the assistant's context, never, or as there is room.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MessageFlagged {
    /// Named by ConversationStarted.
    pub conversation_id: ConversationId,
    /// Named by MessagePosted.
    pub message_id: MessageId,
    /// Both flags. A flag that is left out is not set.
    pub flags: MessageFlags,
    /// The previous flags.
    pub previous: MessageFlags,
}

/// An assistant began to work on a message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TurnStarted {
    /// The new turn's id.
    pub turn_id: TurnId,
    /// Named by ConversationStarted.
    pub conversation_id: ConversationId,
    /// The message that the turn answers.
    pub message_id: MessageId,
    /// The prompt cell that the turn answers. Absent: the message came from a chat.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub cell_id: Option<CellId>,
    /// The model that the person chose. Absent: the server's default.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub model: Option<String>,
    /// Scopes of the token or session that began the turn, of read, edit and run. Calls that need another scope are refused.
    pub scopes: Scopes,
    /// True: that token is bound to some notebooks, so the turn cannot create or list notebooks.
    pub is_bound: bool,
    /// Id of the token or session that began the turn. The turn ends when it is revoked. Absent: not known.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub token: Option<TokenId>,
}

/// A server instance claimed a model call, before it calls the model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TurnModelCallStarted {
    /// Named by TurnStarted.
    pub turn_id: TurnId,
    /// The server instance that calls the model. Another instance that reads this claim knows that the claimant has died.
    pub claimant: InstanceId,
    /// Number of the model call in its turn: 1, 2, 3 …
    pub number: u32,
    /// Number of the attempt of this model call: 1, 2, 3 …
    pub attempt: u32,
    /// The provider's name, such as `anthropic`.
    pub provider: String,
    /// The provider's name of the model.
    pub model: String,
}

/// A model call ended, with or without an answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TurnModelCallFinished {
    /// Named by TurnStarted.
    pub turn_id: TurnId,
    /// Number of the model call in its turn: 1, 2, 3 …
    pub number: u32,
    /// Number of the attempt of this model call: 1, 2, 3 …
    pub attempt: u32,
    /// The cause if there is no answer. Absent: the model has answered.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub failure: Option<Open<TurnFailure>>,
    /// More about the cause, in a sentence for people. Absent: the cause is all that is known.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub detail: Option<String>,
    /// Tokens that this attempt used.
    pub usage: Usage,
}

/// A turn ended by itself: the model finished or had to stop.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TurnFinished {
    /// Named by TurnStarted.
    pub turn_id: TurnId,
    /// The reason why the model stopped.
    pub stop_reason: Open<StopReason>,
}

/// A person stopped a turn: nothing more of it starts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TurnCancelled {
    /// Named by TurnStarted.
    pub turn_id: TurnId,
}

/// A turn could not continue.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TurnFailed {
    /// Named by TurnStarted.
    pub turn_id: TurnId,
    /// The cause, as a word. Show an unknown word as it is.
    pub cause: Open<TurnFailure>,
    /// More about the cause, in a sentence for people. Absent: the cause is all that is known.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub detail: Option<String>,
}
