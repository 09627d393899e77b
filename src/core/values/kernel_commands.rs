//! Commands of people about kernels and their machines.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use notarium_record::{AgentId, KernelReplacement, KernelSessionId, KernelSettings, Labels};

/// A launch of a kernel: its kernelspec, and the runtime agents that may start it.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LaunchKernel {
    /// The kernelspec's name. Absent: that of the notebook's metadata, else `python3`.
    pub kernelspec: Option<String>,
    /// The only agent that may start the kernel. If it is not connected, the launch waits for it. Absent: any.
    pub agent: Option<AgentId>,
    /// Labels that the agent must have, at most 16. Absent: those of the notebook's settings, or none if `agent` is named.
    pub labels: Option<Labels>,
}

impl LaunchKernel {
    /// A launch by any agent that the notebook's settings allow. `None`: the notebook's own kernelspec.
    pub fn of(kernelspec: Option<String>) -> Self {
        Self { kernelspec, ..Self::default() }
    }
}

/// A restart of a kernel: on its own agent, or where `agent` and `labels` say. Queued runs are cancelled, unless the kernel was
/// never claimed.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RestartKernel {
    /// A session that has started, or whose agent is unreachable (`kernel_state` otherwise). With `agent` or `labels` also
    /// one that has not started.
    pub kernel_session: KernelSessionId,
    /// The only agent that may start the new kernel. If it is not connected, the launch waits for it.
    pub agent: Option<AgentId>,
    /// Labels that the agent of the new kernel must have, at most 16. Empty: any agent may start it.
    pub labels: Option<Labels>,
}

impl RestartKernel {
    /// A restart on the kernel's own agent.
    pub fn on_its_agent(kernel_session: KernelSessionId) -> Self {
        Self { kernel_session, agent: None, labels: None }
    }
}

/// Changes of the settings of a notebook's kernels. Absent settings stay.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SetKernelSettings {
    /// The fate of a kernel with variables if its runtime agent is unreachable: `ask`, `replace` or `wait`.
    pub replacement: Option<KernelReplacement>,
    /// Labels that a launch asks for if it names neither an agent nor labels, at most 16. Empty: none.
    pub labels: Option<Labels>,
}

impl SetKernelSettings {
    /// The change that gives a new notebook these settings. `None`: it has them.
    pub fn of(settings: &KernelSettings) -> Option<Self> {
        let KernelSettings { replacement, labels } = settings.clone();
        (*settings != KernelSettings::default())
            .then_some(Self { replacement: Some(replacement), labels: Some(labels) })
    }
}
