//! Tool calls of assistants, decisions on them, and grants.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::cause::{VoidCause, WithdrawalCause};
use crate::hash::Hash;
use crate::ids::{ConversationId, GrantId, InstanceId, Millis, TokenId, ToolCallId, TurnId, UserId};
use crate::json::RawObject;
use crate::open::Open;
use crate::tool_call::{Gate, Means, Passed, Risk, Target, ToolCallEnd};

/// An assistant wants to call a tool. Nothing has happened yet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ToolCallRequested {
    /// New; it is the correlation id of what the call does.
    pub call_id: ToolCallId,
    /// The turn that asked for it; absent for assistants outside.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub turn_id: Option<TurnId>,
    /// A built-in tool, or a function that a user has registered.
    pub function: String,
    /// In full, as they came.
    pub arguments: RawObject,
    /// SHA-256 of the function and its arguments in canonical form: what a confirmation names.
    pub arguments_hash: Hash,
    /// One that a reader does not know is `destructive`.
    pub risk: Open<Risk>,
    /// Sentences: why the risk is what it is.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub reasons: Vec<String>,
    /// What it touches, in the version that the assistant and the confirming person see.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub targets: Vec<Open<Target>>,
    /// Whether it passes, or waits for a person and until when. One that you do not know waits.
    pub gate: Open<Gate>,
    /// Present: it starts when that call has ended, not before.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub after: Option<ToolCallId>,
    /// The token or session by which it was asked for, by its id: of an outside assistant's client, or of who began the turn.
    /// When it is revoked, a call that has not started is withdrawn. Absent: not known.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub token: Option<TokenId>,
}

/// A permitted person said yes, once, to exactly these arguments.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ToolCallConfirmed {
    /// Named by ToolCallRequested.
    pub call_id: ToolCallId,
    /// That of the request: what the person saw.
    pub arguments_hash: Hash,
    /// Where the person came in, and with which session or token; absent: not known.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub by_means: Option<Means>,
}

/// A permitted person said no: it never starts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ToolCallDenied {
    /// Named by ToolCallRequested.
    pub call_id: ToolCallId,
    /// Where the person came in, and with which session or token; absent: not known.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub by_means: Option<Means>,
    /// The person's own reason.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub detail: Option<String>,
}

/// Taken back before it started: by who asked, or because the turn was stopped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ToolCallWithdrawn {
    /// Named by ToolCallRequested.
    pub call_id: ToolCallId,
    /// Why, as a word. Show one that you do not know as it stands.
    pub cause: Open<WithdrawalCause>,
    /// More about it, in a sentence for people.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub detail: Option<String>,
}

/// What it would touch changed, or a right that it needs is gone: a confirmation counts no more.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ToolCallVoided {
    /// Named by ToolCallRequested.
    pub call_id: ToolCallId,
    /// Why, as a word. Show one that you do not know as it stands.
    pub cause: Open<VoidCause>,
    /// More about it, in a sentence for people.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub detail: Option<String>,
}

/// Nobody decided in time: it never starts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ToolCallExpired {
    /// Named by ToolCallRequested.
    pub call_id: ToolCallId,
}

/// The claim: from here on it happens, once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ToolCallStarted {
    /// Named by ToolCallRequested.
    pub call_id: ToolCallId,
    /// What let it through: the policy, a grant, or a person.
    pub passed_by: Open<Passed>,
    /// The server instance that executes it. Another one that finds the claim knows that it is a dead one's.
    pub claimant: InstanceId,
}

/// The call has ended after its start.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ToolCallExecuted {
    /// Named by ToolCallRequested.
    pub call_id: ToolCallId,
    /// Whether it did what it was to do, failed, or nobody knows.
    pub end: Open<ToolCallEnd>,
    /// What the model is told, in full.
    pub result: String,
    /// From ToolCallStarted to this event, in milliseconds.
    pub duration_ms: Millis,
}

/// A person lets calls of one conversation pass for a while.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GrantIssued {
    /// New.
    pub grant_id: GrantId,
    /// The only one that it is for.
    pub conversation_id: ConversationId,
    /// Tools by name; empty: all. What is destructive waits all the same.
    pub functions: Vec<String>,
    /// Milliseconds since 1970.
    pub expires_at: Millis,
    /// The person for whom the assistant acts.
    pub for_user: UserId,
}

/// A person ended the grant before its time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GrantRevoked {
    /// Named by GrantIssued.
    pub grant_id: GrantId,
}

/// The time of a grant came. Recorded when the next one is issued: `expires_at` counts before.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GrantExpired {
    /// Named by GrantIssued.
    pub grant_id: GrantId,
}
