//! Runs.

use std::sync::Arc;

use notarium_core::{Actor, CellId, Execution, ExecutionId, KernelSessionId, Millis, Reactivity, Version};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One of `cells`, `all` and `scratch`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RunRequest {
    /// Cells, in this order.
    pub cells: Option<Vec<CellId>>,
    /// True: every code cell with some source, from top to bottom.
    #[serde(default)]
    pub all: bool,
    /// Code that belongs to no cell.
    pub scratch: Option<Scratch>,
    /// Absent: the notebook's first kernel; one is launched when there is none.
    pub kernel_session: Option<KernelSessionId>,
    /// Interrupt a run after so many milliseconds; absent: never.
    pub timeout_ms: Option<Millis>,
    /// When one fails the rest is cancelled; absent: true for several.
    pub stop_on_error: Option<bool>,
}

/// Code that runs in the notebook's kernel without a cell.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Scratch {
    /// In the kernel's language, at most 1 MiB. It is recorded with the run.
    pub source: String,
    /// In a few words, what for.
    pub purpose: String,
}

/// Which runs are listed, the last requested first.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RunsQuery {
    /// Runs requested before this version: `next` of the page before.
    pub before: Option<Version>,
    /// 1 to 200; absent: 50.
    pub limit: Option<usize>,
    /// Only of this cell.
    pub cell: Option<CellId>,
}

/// Runs of all times, the last requested first, without their outputs.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct RunPage {
    /// At most `limit` of them.
    pub runs: Vec<Run>,
    /// Ask again with this as `before`; absent when there are no older ones.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<Version>,
}

/// Who ran what, when, and how it ended.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Run {
    /// As in `outcome.executions` of the request.
    pub id: ExecutionId,
    /// Subject (with its source), status, requester, times, outputs: `execution` of `protocol/schema/notebook.json`.
    pub execution: Arc<Execution>,
    /// It has not ended, and the runtime agent of its kernel cannot be reached: since when, in milliseconds since 1970. It goes on if
    /// the agent comes back; `POST …/give-up` does not wait for that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unreachable_since: Option<Millis>,
    /// It was cancelled: who wanted that, by cancelling it, or by interrupting, restarting or shutting down its kernel. In lists
    /// absent of runs that wrote much, in a comparison always.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_by: Option<Actor>,
}

/// Questions that a run asked on stdin, in order.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct RunInputs {
    /// With their answers.
    pub inputs: Vec<RunInput>,
}

/// A question of a run, and its answer.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct RunInput {
    /// The version of the question's event.
    pub version: Version,
    /// As it is to be shown.
    pub prompt: String,
    /// The answer was hidden, and is not in the record.
    pub password: bool,
    /// Who answered; absent: nobody did, or has yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answered_by: Option<Actor>,
    /// The answer; absent for a password.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
}

/// What differs between two runs.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Comparison {
    /// The older one as asked for, without outputs.
    pub left: Run,
    /// The run that it is compared with, without outputs.
    pub right: Run,
    /// Whether both ran the same text, character by character.
    pub same_source: bool,
    /// Whether both ended alike (`ok`, `error`, `cancelled` …).
    pub same_status: bool,
    /// Whether both showed the same outputs, large parts compared by their hash; the execution count does not matter.
    pub same_outputs: bool,
    /// From the left source to the right one; empty when they are the same.
    pub source_diff: String,
    /// From the left outputs' text to the right one's.
    pub output_diff: String,
}

/// The answer to a question of running code, as Python's `input()` asks it.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct InputValue {
    /// Without the line break at its end; at most 64 KiB. Of a password the record keeps nothing.
    pub value: String,
}

/// Whether running a cell brings the cells that hang together with it up to date.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReactivityOf {
    /// `off`, `lazy` (what is stale of that from which a cell reads runs before it) or `eager` (and what reads from it runs
    /// behind it).
    pub reactivity: Reactivity,
}
