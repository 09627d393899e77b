//! Runs: start, list, compare, input on stdin. Kernels, and questions to them.

use std::collections::BTreeMap;
use std::sync::Arc;

use notarium_core::{
    Actor, AgentId, CellId, Execution, ExecutionId, KernelNotice, KernelReplacement, KernelSession, KernelSessionId,
    KernelSettings, Labels, Millis, Reactivity, RequestedEffects, Version,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    KernelStatus, LaunchWait, NotebookAgent, OfferedConnection, OfferedKernelspec, ReadTable, SummarizeColumn,
};

/// Run request: exactly one of `cells`, `all` and `scratch`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RunRequest {
    /// Cells to run, in this order.
    pub cells: Option<Vec<CellId>>,
    /// True: runs every code cell that is not empty, from top to bottom.
    #[serde(default)]
    pub all: bool,
    /// Code without a cell.
    pub scratch: Option<Scratch>,
    /// Kernel session; absent: the notebook's first kernel, which is launched if there is none.
    pub kernel_session: Option<KernelSessionId>,
    /// Timeout of a run in milliseconds, after which it is interrupted; absent: none.
    pub timeout_ms: Option<Millis>,
    /// True: a failed run cancels the following ones. Absent: true for several cells.
    pub stop_on_error: Option<bool>,
    /// `free`: the runs may have all effects that the kernel's sandbox leaves to them. Absent: in a kernel that ran an
    /// assistant's code, those to which their text can lead.
    pub effects: Option<RequestedEffects>,
}

/// Code that runs in the notebook's kernel without a cell.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Scratch {
    /// Code in the kernel's language, at most 1 MiB. It is recorded with the run.
    pub source: String,
    /// Purpose, in a few words.
    pub purpose: String,
}

/// Filter and page of the runs, the last requested first.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RunsQuery {
    /// Upper bound: runs requested before this version, as in `next` of the page before.
    pub before: Option<Version>,
    /// 1 to 200; absent: 50.
    pub limit: Option<usize>,
    /// Only runs of this cell.
    pub cell: Option<CellId>,
}

/// Page of all runs, past ones included, the last requested first, without outputs.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct RunPage {
    /// Runs, at most `limit`.
    pub runs: Vec<Run>,
    /// Value of `before` for the next page; absent when there are no older runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<Version>,
}

/// A run: its subject, requester, times and result.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Run {
    /// Run id, as in `outcome.executions` of the request.
    pub id: ExecutionId,
    /// Subject (with its source), status, requester, times, outputs: `execution` of `protocol/schema/notebook.json`.
    pub execution: Arc<Execution>,
    /// Time since when the kernel's runtime agent is unreachable, for a run that has not ended; milliseconds since 1970. The run continues
    /// if the agent comes back; `POST …/give-up` ends it without waiting.
    pub unreachable_since: Option<Millis>,
    /// Actor who cancelled the run, directly or by an interrupt, restart or shutdown of its kernel. Lists omit it for runs with large
    /// outputs; a comparison always has it.
    pub ended_by: Option<Actor>,
}

/// Input requests of a run on stdin, in order.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct RunInputs {
    /// Input requests with their answers.
    pub inputs: Vec<RunInput>,
}

/// An input request of a run, and its answer.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct RunInput {
    /// Version of the request's event.
    pub version: Version,
    /// Prompt to show.
    pub prompt: String,
    /// True: the answer is hidden, and not in the record.
    pub password: bool,
    /// Actor who answered; absent: no answer so far.
    pub answered_by: Option<Actor>,
    /// The answer; absent for a password.
    pub value: Option<String>,
}

/// Differences between two runs.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Comparison {
    /// The older run by default, without outputs.
    pub left: Run,
    /// The other run, without outputs.
    pub right: Run,
    /// True if both ran exactly the same text.
    pub same_source: bool,
    /// True if both have the same final status (`ok`, `error`, `cancelled` …).
    pub same_status: bool,
    /// True if both have the same outputs. Large parts are compared by hash; the execution count is ignored.
    pub same_outputs: bool,
    /// Diff of the sources, from left to right; empty if they are the same.
    pub source_diff: String,
    /// Diff of the outputs' text, from left to right.
    pub output_diff: String,
}

/// The answer to a question of running code, as Python's `input()` asks it.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct InputValue {
    /// Answer without the line break at its end; at most 64 KiB. A password is not recorded.
    pub value: String,
}

/// Reactivity of a notebook: automatic runs of cells that depend on each other.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReactivityOf {
    /// `off`, `lazy` (stale inputs of a cell run before it) or `eager` (also, its dependents run after it).
    pub reactivity: Reactivity,
}

/// Kernels of a notebook, and the kernelspecs available to it.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Kernels {
    /// Kernels by session: kernelspec, phase, agent.
    pub kernels: BTreeMap<KernelSessionId, KernelSession>,
    /// Reachability and activity of each kernel.
    pub status: Vec<KernelStatus>,
    /// The most recent problem.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub notice: Option<KernelNotice>,
    /// Kernelspecs that the connected runtime agents can launch for this notebook.
    pub kernelspecs: Vec<OfferedKernelspec>,
    /// Databases that SQL cells on these agents can name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub connections: Vec<OfferedConnection>,
    /// Runtime agents that may run kernels of the notebook, by name; also those of its access list that are not connected.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub agents: Vec<NotebookAgent>,
    /// Launches that no connected agent can start, with the reason.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub waiting: BTreeMap<KernelSessionId, LaunchWait>,
    /// The settings of the notebook's kernels.
    #[serde(default)]
    pub settings: KernelSettings,
}

/// Launches a kernel. A runtime agent that offers the kernelspec claims it.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Launch {
    /// Kernelspec name; absent: the notebook's, else `python3`.
    pub kernelspec: Option<String>,
    /// The only agent that may start the kernel. If it is not connected, the launch waits. Absent: any.
    pub agent: Option<AgentId>,
    /// Labels that the agent must have. Absent: those of the notebook's settings, or none if `agent` is named.
    pub labels: Option<Labels>,
}

/// Place of a restarted kernel. Without a field it stays on its agent.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Restart {
    /// The only agent that may start the new kernel. If it is not connected, the launch waits.
    pub agent: Option<AgentId>,
    /// Labels that the agent of the new kernel must have. Empty: any agent may start it.
    pub labels: Option<Labels>,
}

/// Changes of the settings of a notebook's kernels. Absent settings stay.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct KernelSettingChanges {
    /// The fate of a kernel with variables if its runtime agent is unreachable: `ask`, `replace` or `wait`.
    pub replacement: Option<KernelReplacement>,
    /// Labels that a launch asks for if it names neither an agent nor labels. Empty: none.
    pub labels: Option<Labels>,
}

/// Asks for completions at a place in code that is being written.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AskCompletion {
    /// Text around the cursor.
    pub code: String,
    /// Cursor position in `code`, in UTF-16 code units.
    pub cursor: u32,
}

/// Asks for documentation of the name at the cursor; after an open bracket, of the called function.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AskInspection {
    /// Text around the cursor.
    pub code: String,
    /// Cursor position in `code`, in UTF-16 code units.
    pub cursor: u32,
    /// 0: signature and documentation; 1: the source too, where the kernel has it.
    #[serde(default)]
    #[schemars(range(max = 1))]
    pub detail: u8,
}

/// Asks for the tables and columns of a database connection.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DescribeConnection {
    /// A connection that the kernel's runtime agent offers, `duckdb` (in the kernel's memory), or a file of the working folder.
    pub connection: String,
    /// Returns only tables whose `schema.name` contains this text, ignoring case.
    #[serde(default)]
    pub matching: String,
    /// Kernel that is asked; absent: the kernel that a cell would run on now.
    pub kernel: Option<KernelSessionId>,
}

/// Kernel of the notebook.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OfKernel {
    /// Kernel that is asked; absent: the kernel that a cell would run on now.
    pub kernel: Option<KernelSessionId>,
}

/// Asks for rows of a table in a kernel's memory.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AskTable {
    /// Table and rows to read.
    pub read: ReadTable,
    /// Kernel that is asked; absent: the kernel that a cell would run on now.
    #[serde(default)]
    pub kernel: Option<KernelSessionId>,
}

/// Asks for a summary of a column of a table in a kernel's memory.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AskColumn {
    /// Table and column to summarize.
    pub summarize: SummarizeColumn,
    /// Kernel that is asked; absent: the kernel that a cell would run on now.
    #[serde(default)]
    pub kernel: Option<KernelSessionId>,
}
