//! Tool calls that have not ended, and grants for those to come.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::actor::Actor;
use crate::hash::Hash;
use crate::ids::{ConversationId, InstanceId, Millis, ToolCallId, TurnId, UserId, Version};
use crate::json::RawObject;
use crate::open::Open;
use crate::tool_call::{Gate, Risk, Target};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "phase", rename_all = "snake_case")]
pub enum ToolCallPhase {
    /// For a person.
    Waiting,
    Confirmed {
        by: Actor,
    },
    /// Nobody need be asked: it can start.
    Passed,
    Started {
        at: Millis,
        /// The server instance that executes it.
        claimant: InstanceId,
    },
}

/// A call that has not ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ToolCall {
    pub function: String,
    pub arguments: RawObject,
    pub arguments_hash: Hash,
    pub risk: Open<Risk>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reasons: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub targets: Vec<Open<Target>>,
    pub requested_by: Actor,
    pub requested_at: Millis,
    pub requested_version: Version,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn_id: Option<TurnId>,
    pub gate: Open<Gate>,
    /// It does not start before this call has ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<ToolCallId>,
    pub phase: ToolCallPhase,
}

/// A person's leave for the calls of one conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AssistantGrant {
    pub conversation_id: ConversationId,
    /// The person for whom the assistant acted when it was issued: another one who goes on in the conversation has no part
    /// in it.
    pub for_user: UserId,
    /// Empty: every function.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub functions: Vec<String>,
    pub expires_at: Millis,
    pub issued_by: Actor,
}
