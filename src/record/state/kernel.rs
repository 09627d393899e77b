//! Kernel sessions, and the functions that they have registered.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::cause::KernelCause;
use crate::function::UserFunction;
use crate::ids::{AgentId, KernelSessionId, Version};
use crate::json::RawObject;
use crate::open::Open;

/// How far a session has come.
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
    /// The kernelspec's name, as in `python3`.
    pub kernelspec: String,
    /// Code runs in phase `started` alone.
    pub phase: KernelPhase,
    /// Version of the launch request, kept over restarts: the lowest is the default kernel.
    pub requested_version: Version,
    /// The runtime agent that has claimed it. Absent: none has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<AgentId>,
    /// Version of `KernelSessionStarted`; every write about the session carries it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fence: Option<Version>,
    /// As the kernel's `kernel_info_reply` has it; left out until it has started.
    #[serde(default, skip_serializing_if = "RawObject::is_empty")]
    pub language_info: RawObject,
    /// As `KernelSessionStarted` says.
    #[serde(default, skip_serializing_if = "RawObject::is_empty")]
    pub sandbox: RawObject,
}

/// The last thing that went wrong with a kernel, so that everybody sees the cause. Cleared by the next start.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct KernelNotice {
    /// The session that it is about, which may have ended.
    pub kernel_session: KernelSessionId,
    /// Why it ended, or never began.
    pub cause: Open<KernelCause>,
    /// More about it, in a sentence for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// Of the event that says so.
    pub version: Version,
}

impl KernelSession {
    /// Returns true if the session accepts new executions.
    pub fn is_usable(&self) -> bool {
        self.phase != KernelPhase::Ending
    }
}

/// A function that the notebook knows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RegisteredFunction {
    /// As the kernel has described it.
    pub function: UserFunction,
    /// Version of the event since which it is as it is.
    pub registered_version: Version,
    /// The kernel that runs it. Absent: it ended, and the function cannot be called until a kernel registers it again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernel_session: Option<KernelSessionId>,
}
