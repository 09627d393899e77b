//! Places where kernels of a notebook may start, and their fate if the runtime agent of one is gone.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ids::AgentId;

/// Labels of a runtime agent, or labels that a launch asks for: `gpu` to `a100`.
pub type Labels = BTreeMap<String, String>;

/// Runtime agents that may start a kernel.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct KernelPlacement {
    /// The only agent that may start it. Absent: any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<AgentId>,
    /// Labels that the agent must have. Empty: none.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: Labels,
}

impl KernelPlacement {
    /// Any agent that has the labels.
    pub fn labelled(labels: Labels) -> Self {
        Self { agent: None, labels }
    }

    /// Returns true if an agent with this id and these labels may start the kernel.
    pub fn allows(&self, agent: &AgentId, labels: &Labels) -> bool {
        self.agent.as_ref().is_none_or(|wanted| wanted == agent) && self.is_met_by(labels)
    }

    /// Returns true if these are all the labels that the launch asks for, or more.
    pub fn is_met_by(&self, labels: &Labels) -> bool {
        self.labels.iter().all(|(key, value)| labels.get(key) == Some(value))
    }
}

/// Setting of a notebook: what happens to a kernel with variables if its runtime agent is unreachable.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum KernelReplacement {
    /// Runs wait. People may give the kernel up. If they do not, the server does after its lease of an absent agent.
    #[default]
    Ask,
    /// If a run waits and none has begun, the kernel is given up as soon as its agent is unreachable.
    Replace,
    /// Runs wait until the agent is back or a person gives the kernel up.
    Wait,
}

/// Settings of a notebook about its kernels.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct KernelSettings {
    /// The fate of a kernel with variables if its runtime agent is unreachable.
    pub replacement: KernelReplacement,
    /// Labels that a launch asks for if it names neither an agent nor labels.
    pub labels: Labels,
}
