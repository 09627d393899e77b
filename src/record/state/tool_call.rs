//! Tool calls that have not ended, and grants for future ones.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::actor::Actor;
use crate::hash::Hash;
use crate::ids::{ConversationId, InstanceId, Millis, ToolCallId, TurnId, UserId, Version};
use crate::json::RawObject;
use crate::open::Open;
use crate::tool_call::{Gate, Risk, Target};

/// Phase of a tool call that has not ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "phase", rename_all = "snake_case")]
pub enum ToolCallPhase {
    /// The call waits for a person's decision.
    Waiting,
    /// A person has confirmed the call; it can start.
    Confirmed {
        /// The person who confirmed the call.
        by: Actor,
    },
    /// The call needs no confirmation; it can start.
    Passed,
    /// The call is being executed.
    Started {
        /// Time of the start, in milliseconds since 1970.
        at: Millis,
        /// The server instance that executes the call.
        claimant: InstanceId,
    },
}

/// A tool call that has not ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ToolCall {
    /// The name of a built-in tool or of a registered function.
    pub function: String,
    /// The complete arguments.
    pub arguments: RawObject,
    /// SHA-256 of the function's name and the arguments in canonical form. A confirmation names this hash.
    pub arguments_hash: Hash,
    /// The risk of the call, judged by tool, arguments, targets and code. Treat an unknown risk as `destructive`.
    pub risk: Open<Risk>,
    /// The reasons for the risk, as sentences for people.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reasons: Vec<String>,
    /// The objects that the call touches, in the versions that they had at the request.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub targets: Vec<Open<Target>>,
    /// The assistant, and the person for whom it acts.
    pub requested_by: Actor,
    /// Time of the request, in milliseconds since 1970.
    pub requested_at: Millis,
    /// The version of the call's ToolCallRequested.
    pub requested_version: Version,
    /// The turn that requested the call. Absent for outside assistants.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn_id: Option<TurnId>,
    /// The decision at the request: the call passes, or waits for a person until a time. Treat an unknown gate as waiting.
    pub gate: Open<Gate>,
    /// The call that must end before this one starts. Absent: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<ToolCallId>,
    /// The call's phase, as an object such as `{"phase": "waiting"}`.
    pub phase: ToolCallPhase,
}

/// A person's permission for calls of one conversation, for a limited time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AssistantGrant {
    /// The only conversation that the grant covers.
    pub conversation_id: ConversationId,
    /// The person for whom the assistant acted when the grant was issued. Calls for other persons in the conversation
    /// are not covered.
    pub for_user: UserId,
    /// Names of the functions that the grant covers. Empty: every function.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub functions: Vec<String>,
    /// Time at which the grant ends, in milliseconds since 1970.
    pub expires_at: Millis,
    /// The person who issued the grant. The grant counts only while this person could confirm the call.
    pub issued_by: Actor,
}
