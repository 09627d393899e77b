//! What is executed, why, and how that stands.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::actor::Actor;
use crate::cause::EndCause;
use crate::hash::Hash;
use crate::ids::{AgentId, CellId, CorrelationId, ExecutionId, KernelSessionId, Millis, ToolCallId, Version};
use crate::open::Open;
use crate::output::Output;

/// What was executed, word for word.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ExecutionSubject {
    Cell {
        cell_id: CellId,
        cell_version: Version,
        source: Arc<str>,
    },
    Scratch {
        source: Arc<str>,
        purpose: String,
    },
    /// The code of a tool that an assistant called, by its name and SHA-256; the arguments are the call's.
    Tool {
        tool: String,
        digest: Hash,
        call_id: ToolCallId,
    },
}

impl ExecutionSubject {
    /// Empty for a tool, whose code is the agent's.
    pub fn source(&self) -> &str {
        match self {
            ExecutionSubject::Cell { source, .. } | ExecutionSubject::Scratch { source, .. } => source,
            ExecutionSubject::Tool { .. } => "",
        }
    }

    pub fn cell_id(&self) -> Option<&CellId> {
        match self {
            ExecutionSubject::Cell { cell_id, .. } => Some(cell_id),
            ExecutionSubject::Scratch { .. } | ExecutionSubject::Tool { .. } => None,
        }
    }
}

/// Why something was executed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ExecutionCause {
    /// Somebody asked for it.
    Requested,
    /// A file tells that it happened elsewhere.
    Imported,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ExecutionStatus {
    Queued,
    /// A kernel session has won it and not begun.
    Assigned,
    Running,
    Ok,
    Error,
    Cancelled,
    /// It never began, because one before it did not succeed.
    Blocked,
    Lost,
}

/// How a run came to its own end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ExecutionOutcome {
    Ok,
    /// The kernel reported an error, which is among the outputs.
    Error,
    /// It failed because its kernel was interrupted.
    Interrupted,
    /// It was interrupted because its time was up.
    TimedOut,
}

impl ExecutionStatus {
    pub fn is_finished(self) -> bool {
        matches!(self, Self::Ok | Self::Error | Self::Cancelled | Self::Blocked | Self::Lost)
    }

    /// The kernel has not begun with it.
    pub fn is_queued(self) -> bool {
        matches!(self, Self::Queued | Self::Assigned)
    }
}

/// An execution that has ended, as it comes back with the cell that showed it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PastExecution {
    pub subject: ExecutionSubject,
    pub status: ExecutionStatus,
    pub cause: Open<ExecutionCause>,
    pub requested_by: Actor,
    pub requested_at: Millis,
    pub requested_version: Version,
    pub correlation_id: CorrelationId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernel_session: Option<KernelSessionId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<AgentId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fence: Option<Version>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_at: Option<Millis>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<Millis>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub execution_count: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end_cause: Option<Open<EndCause>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blocked_by: Option<ExecutionId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notice: Option<String>,
    pub output_seq: u64,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outputs: Vec<Output>,
}
