//! Conversations with assistants: messages and turns.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::access::Scopes;
use crate::cause::TurnFailure;
use crate::ids::{CellId, ConversationId, InstanceId, MessageId, TokenId, TurnId};
use crate::message::{MessageBlock, MessageFlags, MessageRole, StopReason, Usage};
use crate::open::Open;

/// Somebody speaks to an assistant, or an assistant outside calls its first tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ConversationStarted {
    /// New; messages, turns and grants name it.
    pub conversation_id: ConversationId,
    /// 1 to 255 characters on one line.
    pub title: String,
}

/// The conversation of an outside assistant that had been idle made room for another. It begins anew with its next call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ConversationClosed {
    /// Named by ConversationStarted.
    pub conversation_id: ConversationId,
}

/// Something was said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MessagePosted {
    /// Named by ConversationStarted.
    pub conversation_id: ConversationId,
    /// New.
    pub message_id: MessageId,
    /// The turn that it belongs to; absent for the message of a person that begins one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub turn_id: Option<TurnId>,
    /// Who said it: a person, the assistant, or its tools.
    pub role: Open<MessageRole>,
    /// One that a reader does not know is shown by its name, and not told to models.
    pub blocks: Vec<Open<MessageBlock>>,
    /// How much of its text the prompt cell shows, in UTF-16 code units; absent: all.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub reply_units: Option<usize>,
    /// The beginning of an answer whose turn ended while it was written: its end follows. Absent: the message is whole.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub is_partial: bool,
}

impl MessagePosted {
    /// Blocks that this version knows.
    pub fn known_blocks(&self) -> impl DoubleEndedIterator<Item = &MessageBlock> {
        self.blocks.iter().filter_map(Open::known)
    }
}

/// It is always in the assistant's context, or never, or as there is room for it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MessageFlagged {
    /// Named by ConversationStarted.
    pub conversation_id: ConversationId,
    /// Named by MessagePosted.
    pub message_id: MessageId,
    /// Both; what is left out is not set.
    pub flags: MessageFlags,
    /// What it was before, for undo.
    pub previous: MessageFlags,
}

/// An assistant begins to work on a message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TurnStarted {
    /// New; it is the correlation id of what the turn does.
    pub turn_id: TurnId,
    /// Named by ConversationStarted.
    pub conversation_id: ConversationId,
    /// The message that it answers.
    pub message_id: MessageId,
    /// The prompt cell that it answers, where it was not asked in a chat.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub cell_id: Option<CellId>,
    /// Which model, as the person chose; absent: the server's default.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub model: Option<String>,
    /// What the token or session of who began it allows, of read, edit and run: nothing in the turn goes beyond.
    pub scopes: Scopes,
    /// That token is good for some notebooks only: the turn makes no notebook and lists none.
    pub is_bound: bool,
    /// Which token or session that was, by its id; absent: not known. When it is revoked, the turn goes on no more.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub token: Option<TokenId>,
}

/// The claim before a model is called.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TurnModelCallStarted {
    /// Named by TurnStarted.
    pub turn_id: TurnId,
    /// The server instance that calls the model. Another one that finds the claim knows that it is a dead one's.
    pub claimant: InstanceId,
    /// Of the turn's model calls, 1, 2, 3 …
    pub number: u32,
    /// Of the same call, 1, 2, 3 …
    pub attempt: u32,
    /// The provider's name, as in `anthropic`.
    pub provider: String,
    /// The provider's name of the model.
    pub model: String,
}

/// The model has answered, or failed to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TurnModelCallFinished {
    /// Named by TurnStarted.
    pub turn_id: TurnId,
    /// Of the turn's model calls, 1, 2, 3 …
    pub number: u32,
    /// Of the same call, 1, 2, 3 …
    pub attempt: u32,
    /// Absent: it answered. Else why there is no answer.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub failure: Option<Open<TurnFailure>>,
    /// More about it, in a sentence for people.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub detail: Option<String>,
    /// What this attempt took, in tokens.
    pub usage: Usage,
}

/// The model has said what it had to say, or had to stop.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TurnFinished {
    /// Named by TurnStarted.
    pub turn_id: TurnId,
    /// Why the model stopped.
    pub stop_reason: Open<StopReason>,
}

/// A person stopped it: nothing of it starts any more.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TurnCancelled {
    /// Named by TurnStarted.
    pub turn_id: TurnId,
}

/// The turn could not go on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TurnFailed {
    /// Named by TurnStarted.
    pub turn_id: TurnId,
    /// Why, as a word. Show one that you do not know as it stands.
    pub cause: Open<TurnFailure>,
    /// More about it, in a sentence for people.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub detail: Option<String>,
}
