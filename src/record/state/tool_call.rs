//! Tool calls that have not ended, and grants for future ones.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::actor::Actor;
use crate::hash::Hash;
use crate::ids::{ConversationId, InstanceId, Millis, ToolCallId, TurnId, UserId, Version};
use crate::json::RawObject;
use crate::open::Open;
use crate::tool_call::{Gate, Risk, Target};

/// How far a call has come that has not ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "phase", rename_all = "snake_case")]
pub enum ToolCallPhase {
    /// For a person.
    Waiting,
    /// A person said yes; it can start.
    Confirmed {
        /// Who.
        by: Actor,
    },
    /// Nobody need be asked: it can start.
    Passed,
    /// It happens now.
    Started {
        /// Milliseconds since 1970.
        at: Millis,
        /// The server instance that executes it.
        claimant: InstanceId,
    },
}

/// A call that has not ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ToolCall {
    /// A built-in tool, or a function that a user has registered.
    pub function: String,
    /// In full, as they came.
    pub arguments: RawObject,
    /// What a confirmation names: exactly these arguments of this function.
    pub arguments_hash: Hash,
    /// What it could do, judged by tool, arguments, targets and code.
    pub risk: Open<Risk>,
    /// Sentences: why the risk is what it is.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reasons: Vec<String>,
    /// What it touches, as it was when the call was requested.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub targets: Vec<Open<Target>>,
    /// The assistant, and the person for whom it acts.
    pub requested_by: Actor,
    /// Milliseconds since 1970.
    pub requested_at: Millis,
    /// The version of its ToolCallRequested.
    pub requested_version: Version,
    /// The turn that asked for it; absent for assistants outside.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn_id: Option<TurnId>,
    /// Whether it passed, or waits for a person and until when, as judged at the request.
    pub gate: Open<Gate>,
    /// It does not start before this call has ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<ToolCallId>,
    /// How far it has come. In JSON: `{"phase": "waiting"}` and the like.
    pub phase: ToolCallPhase,
}

/// A person's leave for the calls of one conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AssistantGrant {
    /// The only one that it is for.
    pub conversation_id: ConversationId,
    /// The person for whom the assistant acted when it was issued: another one who goes on in the conversation has no part
    /// in it.
    pub for_user: UserId,
    /// Empty: every function.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub functions: Vec<String>,
    /// Milliseconds since 1970.
    pub expires_at: Millis,
    /// It counts only while this person could confirm the call.
    pub issued_by: Actor,
}
