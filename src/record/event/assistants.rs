//! Events of conversations with assistants (messages, turns), and of tool calls with the decisions on them and grants.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::access::Scopes;
use crate::cause::{TurnFailure, VoidCause, WithdrawalCause};
use crate::effects::Effect;
use crate::ids::{
    CellId, ConversationId, GrantId, Hash, InstanceId, MessageId, Millis, TokenId, ToolCallId, TurnId, UserId,
};
use crate::json::{Open, RawObject};
use crate::message::{MessageBlock, MessageFlags, MessageRole, StopReason, Usage};
use crate::tool_call::{Gate, Means, Passed, Risk, Target, ToolCallEnd};

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
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MessagePosted {
    /// Named by ConversationStarted.
    pub conversation_id: ConversationId,
    /// The new message's id.
    pub message_id: MessageId,
    /// The turn that the message begins or belongs to. This server always sets it.
    pub turn_id: Option<TurnId>,
    /// The author: a person, the assistant, or its tools.
    pub role: Open<MessageRole>,
    /// The message's content. Show an unknown block by its name; models do not get it.
    pub blocks: Vec<Open<MessageBlock>>,
    /// Length of the text that the prompt cell shows, in UTF-16 code units. Absent: all of it.
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
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TurnStarted {
    /// The new turn's id.
    pub turn_id: TurnId,
    /// Named by ConversationStarted.
    pub conversation_id: ConversationId,
    /// The message that the turn answers.
    pub message_id: MessageId,
    /// The prompt cell that the turn answers. Absent: the message came from a chat.
    pub cell_id: Option<CellId>,
    /// The model that the person chose. Absent: the server's default.
    pub model: Option<String>,
    /// Scopes of the token or session that began the turn, of read, edit and run. Calls that need another scope are refused.
    pub scopes: Scopes,
    /// True: that token is bound to some notebooks, so the turn cannot create or list notebooks.
    pub is_bound: bool,
    /// Id of the token or session that began the turn. The turn ends when it is revoked. Absent: not known.
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
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TurnModelCallFinished {
    /// Named by TurnStarted.
    pub turn_id: TurnId,
    /// Number of the model call in its turn: 1, 2, 3 …
    pub number: u32,
    /// Number of the attempt of this model call: 1, 2, 3 …
    pub attempt: u32,
    /// The cause if there is no answer. Absent: the model has answered.
    pub failure: Option<Open<TurnFailure>>,
    /// More about the cause, in a sentence for people. Absent: the cause is all that is known.
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

/// An assistant requested a tool call. It has had no effect yet.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ToolCallRequested {
    /// The new call's id, which is the correlation id of the call's effects.
    pub call_id: ToolCallId,
    /// The turn that requested the call. Absent for outside assistants.
    pub turn_id: Option<TurnId>,
    /// The name of a built-in tool or of a registered function.
    pub function: String,
    /// The complete arguments.
    pub arguments: RawObject,
    /// SHA-256 of the function's name and the arguments in canonical form. A confirmation names this hash.
    pub arguments_hash: Hash,
    /// The risk of the call. Treat an unknown risk as `destructive`.
    pub risk: Open<Risk>,
    /// The reasons for the risk, as sentences for people.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub reasons: Vec<String>,
    /// The objects that the call touches, in the versions that the assistant and the confirming person see.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub targets: Vec<Open<Target>>,
    /// The decision at the request: the call passes, or waits for a person until a time. Treat an unknown gate as waiting.
    pub gate: Open<Gate>,
    /// The call that must end before this one starts. Absent: none.
    pub after: Option<ToolCallId>,
    /// Id of the token or session behind the request: that of the turn, or of the outside assistant's client. When it
    /// is revoked, a call that has not started is withdrawn. Absent: not known.
    pub token: Option<TokenId>,
}

/// A person with the right to confirm has confirmed the call, once and for exactly these arguments.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ToolCallConfirmed {
    /// Named by ToolCallRequested.
    pub call_id: ToolCallId,
    /// The hash of the request, whose arguments the person has seen.
    pub arguments_hash: Hash,
    /// The program and the session or token with which the person decided. Absent: not known.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub by_means: Option<Means>,
}

/// A person with the right to confirm has denied the call. It never starts.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ToolCallDenied {
    /// Named by ToolCallRequested.
    pub call_id: ToolCallId,
    /// The program and the session or token with which the person decided. Absent: not known.
    pub by_means: Option<Means>,
    /// The person's reason. Absent: none given.
    pub detail: Option<String>,
}

/// The call was withdrawn before it started, by a user or assistant or because its turn or its access ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ToolCallWithdrawn {
    /// Named by ToolCallRequested.
    pub call_id: ToolCallId,
    /// The cause, as a word. Show an unknown word as it is.
    pub cause: Open<WithdrawalCause>,
    /// More about the cause, in a sentence for people. Absent: the cause is all that is known.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub detail: Option<String>,
}

/// The call became void: a target has changed, or a needed right has ended. A confirmation no longer counts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ToolCallVoided {
    /// Named by ToolCallRequested.
    pub call_id: ToolCallId,
    /// The cause, as a word. Show an unknown word as it is.
    pub cause: Open<VoidCause>,
    /// More about the cause, in a sentence for people. Absent: the cause is all that is known.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub detail: Option<String>,
}

/// The call expired without a decision. It never starts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ToolCallExpired {
    /// Named by ToolCallRequested.
    pub call_id: ToolCallId,
}

/// A server instance claimed the call and executes it now. A call starts only once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ToolCallStarted {
    /// Named by ToolCallRequested.
    pub call_id: ToolCallId,
    /// The reason why the call may start: the policy, a grant, or a person's confirmation.
    pub passed_by: Open<Passed>,
    /// The server instance that executes the call. Another instance that reads this claim knows that the claimant has died.
    pub claimant: InstanceId,
}

/// A started call ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ToolCallExecuted {
    /// Named by ToolCallRequested.
    pub call_id: ToolCallId,
    /// The end: success, failure, or an unknown outcome.
    pub end: Open<ToolCallEnd>,
    /// The complete result for the model.
    pub result: String,
    /// Time from ToolCallStarted to this event, in milliseconds.
    pub duration_ms: Millis,
}

/// A person lets calls of one conversation pass without confirmation for a limited time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GrantIssued {
    /// The new grant's id.
    pub grant_id: GrantId,
    /// The only conversation that the grant covers.
    pub conversation_id: ConversationId,
    /// Names of the tools that the grant covers. Empty: all. Destructive calls still wait.
    pub functions: Vec<String>,
    /// Kinds of effects that the covered calls may ask for, of those that destroy nothing. Empty: none.
    pub kinds: Vec<Open<Effect>>,
    /// Time at which the grant ends, in milliseconds since 1970.
    pub expires_at: Millis,
    /// The person for whom the assistant acts.
    pub for_user: UserId,
}

/// A person revoked the grant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GrantRevoked {
    /// Named by GrantIssued.
    pub grant_id: GrantId,
}

/// A grant expired. The event is recorded when the next grant is issued; before, `expires_at` counts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GrantExpired {
    /// Named by GrantIssued.
    pub grant_id: GrantId,
}
