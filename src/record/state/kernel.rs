//! Kernel sessions, and the functions that they have registered.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::cause::KernelCause;
use crate::function::UserFunction;
use crate::ids::{AgentId, KernelSessionId, Version};
use crate::json::RawObject;
use crate::open::Open;

/// Phase of a kernel session that has not ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum KernelPhase {
    /// The session waits for an agent to claim it.
    Requested,
    /// An agent is starting the kernel.
    Claimed,
    /// The kernel has started.
    Started,
    /// A shutdown or restart was requested.
    Ending,
}

/// One life of a kernel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct KernelSession {
    /// The kernelspec's name, such as `python3`.
    pub kernelspec: String,
    /// The session's phase. Code runs only in phase `started`.
    pub phase: KernelPhase,
    /// The version of the launch request; a restart keeps it. The session with the lowest version is the default kernel.
    pub requested_version: Version,
    /// The runtime agent that has claimed the session. Absent: none has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<AgentId>,
    /// The version of KernelSessionStarted, which reports on the session must carry. Absent: the kernel has not started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fence: Option<Version>,
    /// The `language_info` of the kernel's `kernel_info_reply`. Absent: the kernel has not started.
    #[serde(default, skip_serializing_if = "RawObject::is_empty")]
    pub language_info: RawObject,
    /// The isolation of the kernel's code, from KernelSessionStarted. Absent: no isolation is known.
    #[serde(default, skip_serializing_if = "RawObject::is_empty")]
    pub sandbox: RawObject,
}

/// The last unrequested end or failed launch of a kernel, for people. The next start of a kernel removes it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct KernelNotice {
    /// The session that ended or failed to start.
    pub kernel_session: KernelSessionId,
    /// The cause of the end or of the failed launch.
    pub cause: Open<KernelCause>,
    /// More about the cause, in a sentence for people. Absent: the cause is all that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// The version of the event of the end or failure.
    pub version: Version,
}

impl KernelSession {
    /// Returns true if the session accepts new executions.
    pub fn is_usable(&self) -> bool {
        self.phase != KernelPhase::Ending
    }
}

/// A function that a kernel has registered as a tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RegisteredFunction {
    /// The function, as its kernel describes it.
    pub function: UserFunction,
    /// The version of the event that registered the function in its present form.
    pub registered_version: Version,
    /// The kernel that runs the function. Absent: that kernel has ended, and the function cannot be called until a
    /// kernel registers it again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernel_session: Option<KernelSessionId>,
}
