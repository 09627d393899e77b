//! Machines of runtime agents: what an agent offers besides kernels, its load, and why a launch waits.

use notarium_core::{AgentId, KernelEffects, Labels};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Feature of a server that takes `labels` and `machine` in offers, and `machine_load`.
pub const AGENT_MACHINES: &str = "agent_machines";

/// Kernels, databases and the machine that a runtime agent offers.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OfferMessage {
    /// Kernelspecs, at most 200.
    pub kernelspecs: Vec<OfferedKernelspec>,
    /// Databases that SQL cells can name, at most 200.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub connections: Vec<OfferedConnection>,
    /// Labels for which launches can ask, at most 16. Send them only to a server with the feature `agent_machines`.
    #[serde(default, skip_serializing_if = "Labels::is_empty")]
    pub labels: Labels,
    /// The machine, for people. Send it only to a server with the feature `agent_machines`.
    pub machine: Option<OfferedMachine>,
}

/// The machine of a runtime agent.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OfferedMachine {
    /// Processors that kernels may use.
    pub cores: u32,
    /// Main memory.
    pub memory_bytes: u64,
    /// Graphics processors, at most 64.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gpus: Vec<OfferedGpu>,
}

/// A graphics processor.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OfferedGpu {
    /// Name as its driver has it.
    pub name: String,
    /// Its own memory.
    pub memory_bytes: u64,
}

/// Load of a machine, by all its programs.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MachineLoad {
    /// Use of all processors together, 0 to 100. Absent: not measured yet.
    pub cpu_percent: Option<u32>,
    /// Used main memory.
    pub memory_used_bytes: u64,
    /// Load of each graphics processor, in the order of the offer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gpus: Vec<GpuLoad>,
}

/// Load of a graphics processor.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GpuLoad {
    /// Use of the processor, 0 to 100. Absent: the driver does not say.
    pub busy_percent: Option<u32>,
    /// Used memory.
    pub memory_used_bytes: u64,
}

/// A runtime agent that may run kernels of a notebook.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NotebookAgent {
    /// Its id: a launch names it.
    pub id: AgentId,
    /// Display name.
    pub name: String,
    /// False: it is not connected now. A launch that names it waits.
    pub connected: bool,
    /// Names of the kernelspecs that it offers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kernelspecs: Vec<String>,
    /// Its labels.
    #[serde(default, skip_serializing_if = "Labels::is_empty")]
    pub labels: Labels,
    /// Its machine. Absent: an older agent, or not connected.
    pub machine: Option<OfferedMachine>,
    /// Load of its machine, some seconds old. Absent: not measured.
    pub load: Option<MachineLoad>,
}

/// Cause for which a launch waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LaunchWaitCause {
    /// No runtime agent that covers the notebook is connected.
    NoAgent,
    /// The named agent is not connected, or does not cover the notebook.
    AgentNotConnected,
    /// No connected agent has the labels.
    NoSuchLabels,
    /// The agents that the launch allows do not offer the kernelspec.
    KernelspecNotOffered,
}

/// The reason for which a launch waits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LaunchWait {
    /// The cause, as a word.
    pub cause: LaunchWaitCause,
    /// The same as a sentence for people.
    pub detail: String,
}

/// A kernel that a runtime agent can launch, as Jupyter describes it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OfferedKernelspec {
    /// Directory name of the kernelspec, as in `python3`; `LaunchKernel` takes it.
    pub name: String,
    /// Display name, as in `Python 3 (ipykernel)`.
    pub display_name: String,
    /// Language of the code, as in `python`.
    pub language: String,
    /// Says that the agent holds the effects of these kernels' runs, or why it does not. Absent: an older agent, which
    /// holds none. Send it only to a server with the feature `kernel_effects`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effects: Option<KernelEffects>,
}

/// A database connection that the operator of a runtime agent has named: the part that people and programs may see.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OfferedConnection {
    /// Name as an SQL cell has it in its first line: `-- @warehouse`.
    pub name: String,
    /// `postgresql`, `sqlite` or `duckdb`.
    pub kind: String,
    /// True if a cell with `write` after the name, as in `-- @warehouse write`, may write.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub writes: bool,
}
