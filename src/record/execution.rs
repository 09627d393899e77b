//! Executions: subject, cause and status.

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
    /// A cell's source, as it was when the run was requested.
    Cell {
        /// The cell, which may be deleted meanwhile.
        cell_id: CellId,
        /// The `cell_version` that the source is of.
        cell_version: Version,
        /// In full: this text runs, whatever the cell says later.
        source: Arc<str>,
    },
    /// Code that belongs to no cell.
    Scratch {
        /// In full.
        source: Arc<str>,
        /// What for, in a few words for people.
        purpose: String,
    },
    /// The code of a tool that an assistant called, by its name and SHA-256; the arguments are the call's.
    Tool {
        /// Its name in the table of tools; `call_function` for functions of users.
        tool: String,
        /// Of the code: an agent that has other code refuses to run it.
        digest: Hash,
        /// The call under way.
        call_id: ToolCallId,
    },
}

impl ExecutionSubject {
    /// Source of the run. Empty for a tool, whose code the agent has.
    pub fn source(&self) -> &str {
        match self {
            ExecutionSubject::Cell { source, .. } | ExecutionSubject::Scratch { source, .. } => source,
            ExecutionSubject::Tool { .. } => "",
        }
    }

    /// Cell to which the source belongs; `None` for code of no cell.
    pub fn cell_id(&self) -> Option<&CellId> {
        match self {
            ExecutionSubject::Cell { cell_id, .. } => Some(cell_id),
            ExecutionSubject::Scratch { .. } | ExecutionSubject::Tool { .. } => None,
        }
    }
}

/// Why something was executed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ExecutionCause {
    /// Somebody asked for it.
    Requested,
    /// A file tells that it happened elsewhere.
    Imported,
    /// A new kernel is to have the functions again that the one before it had from this very text.
    FunctionsRestored,
    /// The notebook is reactive: another run reads what this one leaves, this one reads what another leaves, or it removes
    /// variables that no cell defines any more.
    Dependency {
        /// The run that somebody asked for, planned at the same version. Absent: a cell was deleted.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        of: Option<ExecutionId>,
    },
}

/// Whether running a cell brings the cells that hang together with it up to date.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Reactivity {
    /// A run is one cell's, as in Jupyter.
    #[default]
    Off,
    /// Stale cells from which the cell reads run before it. What reads from it is stale afterwards.
    Lazy,
    /// As `lazy`, and what reads from it runs behind it.
    Eager,
}

/// How a run stands. The last five are its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ExecutionStatus {
    /// It waits for a kernel, or for the runs before it.
    Queued,
    /// A kernel session has won it and not begun.
    Assigned,
    /// The kernel has begun with it.
    Running,
    /// It ended without an error.
    Ok,
    /// It failed, was interrupted while it ran, or took too long.
    Error,
    /// It never began, or ended because somebody wanted it.
    Cancelled,
    /// It never began, because one before it did not succeed.
    Blocked,
    /// Nobody knows how it ended, or that it ended.
    Lost,
}

/// How a run came to its own end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ExecutionOutcome {
    /// The kernel reported no error.
    Ok,
    /// The kernel reported an error, which is among the outputs.
    Error,
    /// It failed because its kernel was interrupted.
    Interrupted,
    /// It was interrupted because its time was up.
    TimedOut,
}

impl ExecutionStatus {
    /// Returns true for the states in which an execution has ended.
    pub fn is_finished(self) -> bool {
        matches!(self, Self::Ok | Self::Error | Self::Cancelled | Self::Blocked | Self::Lost)
    }

    /// Returns true while the kernel has not begun the execution.
    pub fn is_queued(self) -> bool {
        matches!(self, Self::Queued | Self::Assigned)
    }
}

/// An execution that has ended, as it comes back with the cell that showed it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PastExecution {
    /// What it ran, word for word.
    pub subject: ExecutionSubject,
    /// How it ended.
    pub status: ExecutionStatus,
    /// Why it was requested.
    pub cause: Open<ExecutionCause>,
    /// The person or assistant; of an imported run who imported it.
    pub requested_by: Actor,
    /// Milliseconds since 1970.
    pub requested_at: Millis,
    /// The version of its ExecutionRequested.
    pub requested_version: Version,
    /// Of its request.
    pub correlation_id: CorrelationId,
    /// Where it ran; absent: it never began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernel_session: Option<KernelSessionId>,
    /// Whose kernel ran it; absent: it was never assigned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<AgentId>,
    /// Of the assignment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fence: Option<Version>,
    /// Milliseconds since 1970; absent: it never began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_at: Option<Millis>,
    /// Milliseconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<Millis>,
    /// The number in `In [3]:`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub execution_count: Option<u64>,
    /// Why it was cancelled or lost, or has no result of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end_cause: Option<Open<EndCause>>,
    /// The run before it that did not succeed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blocked_by: Option<ExecutionId>,
    /// A sentence about an odd end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notice: Option<String>,
    /// The highest write of the agent that is in the log.
    pub output_seq: u64,
    /// Those that it showed at the end.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outputs: Vec<Output>,
}
