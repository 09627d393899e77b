//! Tool calls of assistants, decisions on them, and grants.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::cause::{VoidCause, WithdrawalCause};
use crate::hash::Hash;
use crate::ids::{ConversationId, GrantId, InstanceId, Millis, TokenId, ToolCallId, TurnId, UserId};
use crate::json::RawObject;
use crate::open::Open;
use crate::tool_call::{Gate, Means, Passed, Risk, Target, ToolCallEnd};

/// An assistant requested a tool call. It has had no effect yet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ToolCallRequested {
    /// The new call's id, which is the correlation id of the call's effects.
    pub call_id: ToolCallId,
    /// The turn that requested the call. Absent for outside assistants.
    #[serde(skip_serializing_if = "Option::is_none", default)]
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
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub after: Option<ToolCallId>,
    /// Id of the token or session behind the request: that of the turn, or of the outside assistant's client. When it
    /// is revoked, a call that has not started is withdrawn. Absent: not known.
    #[serde(skip_serializing_if = "Option::is_none", default)]
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
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ToolCallDenied {
    /// Named by ToolCallRequested.
    pub call_id: ToolCallId,
    /// The program and the session or token with which the person decided. Absent: not known.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub by_means: Option<Means>,
    /// The person's reason. Absent: none given.
    #[serde(skip_serializing_if = "Option::is_none", default)]
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
