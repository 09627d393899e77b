//! Executions: subject, cause and status. Their outputs are nbformat's, opaque; large parts are in blobs.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::access::Actor;
use crate::cause::EndCause;
use crate::effects::{Effects, RefusedEffect};
use crate::ids::{AgentId, CellId, CorrelationId, ExecutionId, Hash, KernelSessionId, Millis, ToolCallId, Version};
use crate::json::{Open, RawJson};

/// The exact code of an execution.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ExecutionSubject {
    /// A cell's source, as it was when the run was requested.
    Cell {
        /// The cell, which may have been deleted since.
        cell_id: CellId,
        /// The `cell_version` that had this source.
        cell_version: Version,
        /// The complete text to run. Later edits of the cell do not change it.
        source: Arc<str>,
    },
    /// Code that belongs to no cell.
    Scratch {
        /// The complete text to run.
        source: Arc<str>,
        /// The purpose of the run, for people.
        purpose: String,
    },
    /// The code of a tool that an assistant called, by name and SHA-256. The call has the arguments.
    Tool {
        /// The tool's name; `call_function` for functions of users.
        tool: String,
        /// SHA-256 of the tool's code. An agent with other code refuses the run.
        digest: Hash,
        /// The tool call that this run belongs to.
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

/// Cause of an execution.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ExecutionCause {
    /// A person or assistant requested the run.
    Requested,
    /// The run happened elsewhere; an imported file has it.
    Imported,
    /// The run restores functions in a new kernel, which an earlier kernel had registered by the same text.
    FunctionsRestored,
    /// The notebook is reactive. The run is an input of another run, depends on another run, or removes variables that
    /// no cell defines any more.
    Dependency {
        /// The requested run of the same plan. Absent: the run follows the deletion of a cell.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        of: Option<ExecutionId>,
    },
}

/// Setting of a notebook: which other cells a run of a cell also updates.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Reactivity {
    /// Only the cell itself runs, as in Jupyter.
    #[default]
    Off,
    /// Stale cells from which the cell reads run before it. Cells that read from it become stale.
    Lazy,
    /// Stale cells from which the cell reads run before it, and cells that read from it run after it.
    Eager,
}

/// Status of an execution. The last five values are ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ExecutionStatus {
    /// The run waits for a kernel, or for earlier runs.
    Queued,
    /// The run is assigned to a kernel session, and the kernel has not begun it.
    Assigned,
    /// The kernel has begun the run.
    Running,
    /// The run ended without an error.
    Ok,
    /// The run failed, was interrupted, or timed out.
    Error,
    /// The run was cancelled before it began, or ended early on request.
    Cancelled,
    /// The run never began, because an earlier run did not succeed.
    Blocked,
    /// The run ended without a result, or its end is not known.
    Lost,
}

/// Result of a run that the kernel has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ExecutionOutcome {
    /// The kernel reported no error.
    Ok,
    /// The kernel reported an error, which is among the outputs.
    Error,
    /// The run failed because its kernel was interrupted.
    Interrupted,
    /// The run was interrupted because it reached its time limit.
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

/// A finished execution, which is restored together with the cell that showed it.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PastExecution {
    /// The exact code that the execution ran.
    pub subject: ExecutionSubject,
    /// The execution's final status.
    pub status: ExecutionStatus,
    /// The cause of the execution.
    pub cause: Open<ExecutionCause>,
    /// The effects that the execution was allowed to have outside the kernel's memory.
    pub effects: Open<Effects>,
    /// The requester. For an imported run: the actor that imported it.
    pub requested_by: Actor,
    /// Time of the request, in milliseconds since 1970.
    pub requested_at: Millis,
    /// The version of the execution's ExecutionRequested.
    pub requested_version: Version,
    /// The correlation id of the request.
    pub correlation_id: CorrelationId,
    /// The kernel session of the run. Absent: the run was imported, or never bound to a session.
    pub kernel_session: Option<KernelSessionId>,
    /// The agent of that session. Absent: the run was never assigned.
    pub agent: Option<AgentId>,
    /// The fence of that session. Absent: the run was never assigned.
    pub fence: Option<Version>,
    /// Time at which the kernel began the run, in milliseconds since 1970. Absent: it never began.
    pub started_at: Option<Millis>,
    /// Time of the end, in milliseconds since 1970.
    pub ended_at: Option<Millis>,
    /// The number in `In [3]:`. Absent: the kernel gave none.
    pub execution_count: Option<u64>,
    /// The cause if the run was cancelled, lost, interrupted or timed out. Absent otherwise.
    pub end_cause: Option<Open<EndCause>>,
    /// The earlier run that did not succeed, so that this one was blocked. Absent: the run was not blocked.
    pub blocked_by: Option<ExecutionId>,
    /// A sentence for people about an unusual end. Absent: none.
    pub notice: Option<String>,
    /// The refused effects, one entry for each kind, in the order of their first refusals.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refused: Vec<RefusedEffect>,
    /// The highest number of the agent's reports in the log. 0: none.
    pub output_seq: u64,
    /// The outputs at the end, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outputs: Vec<Output>,
}

// --- outputs ---

/// One part of an output that is stored in a blob instead of the event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BlobPart {
    /// JSON pointer (RFC 6901) into `content`, to the place of the missing value.
    pub pointer: String,
    /// Lower-case hex of the SHA-256 of the blob's bytes.
    pub sha256: String,
    /// Size of the blob, in bytes.
    pub size_bytes: u64,
    /// False: the bytes are the UTF-8 text of a JSON string. True: the bytes are JSON.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub json: bool,
}

impl BlobPart {
    /// The MIME type whose value is in the blob. None: something else of the output, such as a stream's text.
    pub fn mime(&self) -> Option<String> {
        self.pointer.strip_prefix("/data/").map(unescape_key)
    }
}

/// An object's key as a token of a JSON pointer (RFC 6901).
pub fn escape_key(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

/// The key that a token of a JSON pointer stands for.
pub fn unescape_key(token: &str) -> String {
    token.replace("~1", "/").replace("~0", "~")
}

/// One output of a run, as in nbformat.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Output {
    /// An nbformat 4 output object (`output_type` …) without the parts that are in `blobs`.
    #[serde(deserialize_with = "crate::json::compact")]
    pub content: RawJson,
    /// The parts that are missing in `content`: each part above 8 KiB is a blob.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub blobs: Vec<BlobPart>,
    /// The id by which later updates name this `display_data`. Absent: it has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub display_id: Option<String>,
}

impl Output {
    /// Approximate size in an event, in bytes.
    pub fn size_bytes(&self) -> usize {
        self.content.get().len() + self.blobs.iter().map(|blob| blob.pointer.len() + 128).sum::<usize>()
    }

    /// Returns true for nbformat's `error`.
    pub fn is_error(&self) -> bool {
        self.output_type().as_deref() == Some("error")
    }

    /// Returns true if the output has this `display_id`.
    pub fn is_display(&self, display_id: &str) -> bool {
        self.display_id.as_deref() == Some(display_id)
    }

    /// nbformat's `output_type`, if the content has one.
    pub fn output_type(&self) -> Option<String> {
        #[derive(serde::Deserialize)]
        struct Typed {
            output_type: String,
        }
        serde_json::from_str::<Typed>(self.content.get()).ok().map(|typed| typed.output_type)
    }
}
