//! Kernels: list, launch, questions.

use std::collections::BTreeMap;

use notarium_core::{KernelNotice, KernelSession, KernelSessionId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{KernelStatus, OfferedConnection, OfferedKernelspec, ReadTable, SummarizeColumn};

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
}

/// Launches a kernel. A runtime agent that offers the kernelspec claims it.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Launch {
    /// Kernelspec name; absent: the notebook's, else `python3`.
    pub kernelspec: Option<String>,
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
