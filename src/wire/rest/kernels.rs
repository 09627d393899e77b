//! Kernels.

use std::collections::BTreeMap;

use notarium_core::{KernelNotice, KernelSession, KernelSessionId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{KernelStatus, OfferedConnection, OfferedKernelspec, ReadTable, SummarizeColumn};

/// The kernels of a notebook, and those that it could have.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Kernels {
    /// By session: kernelspec, phase, agent.
    pub kernels: BTreeMap<KernelSessionId, KernelSession>,
    /// Whether each can be reached and is busy.
    pub status: Vec<KernelStatus>,
    /// The last thing that went wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub notice: Option<KernelNotice>,
    /// What the connected runtime agents can launch for this notebook.
    pub kernelspecs: Vec<OfferedKernelspec>,
    /// Databases that their SQL cells can name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub connections: Vec<OfferedConnection>,
}

/// Launches a kernel. A runtime agent that offers the kernelspec claims it.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Launch {
    /// Absent: the notebook's own, else `python3`.
    pub kernelspec: Option<String>,
}

/// Asks what could stand at a place in code that is being written.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AskCompletion {
    /// The text around the place.
    pub code: String,
    /// The place in `code`, in UTF-16 code units.
    pub cursor: u32,
}

/// Asks what the name at a place in code is; behind an open bracket, what is called.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AskInspection {
    /// The text around the place.
    pub code: String,
    /// The place in `code`, in UTF-16 code units.
    pub cursor: u32,
    /// 0: signature and documentation; 1: the source too, where the kernel has it.
    #[serde(default)]
    #[schemars(range(max = 1))]
    pub detail: u8,
}

/// Asks which tables and columns a connection has.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DescribeConnection {
    /// A connection that the kernel's runtime agent offers, `duckdb` (in the kernel's memory), or a file of the working folder.
    pub connection: String,
    /// Only tables with this in `schema.name`, in small letters or capitals.
    #[serde(default)]
    pub matching: String,
    /// The kernel that is asked; absent: the one that a cell would run on now.
    pub kernel: Option<KernelSessionId>,
}

/// Names a kernel of the notebook.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OfKernel {
    /// The kernel that is asked; absent: the one that a cell would run on now.
    pub kernel: Option<KernelSessionId>,
}

/// Asks for rows of a table in a kernel's memory.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AskTable {
    /// Which rows of which table.
    pub read: ReadTable,
    /// The kernel that is asked; absent: the one that a cell would run on now.
    #[serde(default)]
    pub kernel: Option<KernelSessionId>,
}

/// Asks what a column of a table in a kernel's memory holds.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AskColumn {
    /// Which column of which table.
    pub summarize: SummarizeColumn,
    /// The kernel that is asked; absent: the one that a cell would run on now.
    #[serde(default)]
    pub kernel: Option<KernelSessionId>,
}
