//! Kernels.

use std::collections::BTreeMap;

use notarium_core::{KernelNotice, KernelSession, KernelSessionId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{KernelStatus, OfferedKernelspec};

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
}

/// Launches a kernel. A runtime agent that offers the kernelspec claims it.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Launch {
    /// Absent: the notebook's own, else `python3`.
    pub kernelspec: Option<String>,
}
