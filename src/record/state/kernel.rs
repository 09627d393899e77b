//! Kernel sessions and the functions that they have registered.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::cause::KernelCause;
use crate::function::UserFunction;
use crate::ids::{AgentId, KernelSessionId, Version};
use crate::json::RawObject;
use crate::open::Open;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum KernelPhase {
    /// Waits for an agent.
    Requested,
    /// An agent is starting it.
    Claimed,
    /// It answers.
    Started,
    /// It was asked to shut down or is being replaced by a restart.
    Ending,
}

/// One life of a kernel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct KernelSession {
    pub kernelspec: String,
    pub phase: KernelPhase,
    /// Version of the launch request, kept over restarts: the lowest is the default kernel.
    pub requested_version: Version,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<AgentId>,
    /// Version of `KernelSessionStarted`; every write about the session carries it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fence: Option<Version>,
    #[serde(default, skip_serializing_if = "RawObject::is_empty")]
    pub language_info: RawObject,
    /// As `KernelSessionStarted` says.
    #[serde(default, skip_serializing_if = "RawObject::is_empty")]
    pub sandbox: RawObject,
}

/// The last thing that went wrong with a kernel, so that everybody sees the cause. Cleared by the next start.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct KernelNotice {
    pub kernel_session: KernelSessionId,
    pub cause: Open<KernelCause>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    pub version: Version,
}

impl KernelSession {
    /// Whether new executions may be meant for it.
    pub fn is_usable(&self) -> bool {
        self.phase != KernelPhase::Ending
    }
}

/// A function that the notebook knows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RegisteredFunction {
    pub function: UserFunction,
    /// Version of the event since which it is as it is.
    pub registered_version: Version,
    /// The kernel that runs it. Absent: it ended, and the function cannot be called until a kernel registers it again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernel_session: Option<KernelSessionId>,
}
