//! Kernel sessions, and the functions that they register.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::cause::KernelCause;
use crate::function::{FunctionPlace, MissingFunctions, UserFunction};
use crate::ids::{AgentId, KernelSessionId};
use crate::json::RawObject;
use crate::open::Open;

/// A kernel was requested. Any runtime agent that offers the kernelspec may claim it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct KernelLaunchRequested {
    /// The new session's id, which later events of the session carry.
    pub kernel_session: KernelSessionId,
    /// The kernelspec's name, such as `python3`.
    pub kernelspec: String,
    /// The last kernel that had run code and ended unrequested: its variables are lost. Present only in the first
    /// launch after that end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replaces: Option<LostKernel>,
}

/// A kernel that has ended with all its variables.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LostKernel {
    /// The session that has ended.
    pub kernel_session: KernelSessionId,
    /// The cause of the end.
    pub cause: Open<KernelCause>,
    /// More about the cause, in a sentence for people. Absent: the cause is all that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
}

/// An agent claimed the launch, before it starts the kernel. Only one claim is accepted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct KernelLaunchClaimed {
    /// Named by KernelLaunchRequested, or as `next` by KernelRestartRequested.
    pub kernel_session: KernelSessionId,
    /// The runtime agent that starts the kernel.
    pub agent: AgentId,
}

/// The kernel started. The version of this event is the fence that all later reports on the session must carry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct KernelSessionStarted {
    /// Named by KernelLaunchRequested, or as `next` by KernelRestartRequested.
    pub kernel_session: KernelSessionId,
    /// The runtime agent that runs the session's kernel.
    pub agent: AgentId,
    /// The kernelspec's name, such as `python3`.
    pub kernelspec: String,
    /// The `language_info` of the kernel's `kernel_info_reply`.
    pub language_info: RawObject,
    /// The isolation of the kernel's code from the rest of its machine, as its agent reports it. Absent: no isolation is known.
    #[serde(skip_serializing_if = "RawObject::is_empty", default)]
    pub sandbox: RawObject,
    /// Functions of an earlier kernel that this one lacks. A person can register them again.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub missing_functions: Vec<MissingFunctions>,
}

/// The kernel could not be started, so the session has ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct KernelLaunchFailed {
    /// Named by KernelLaunchRequested, or as `next` by KernelRestartRequested.
    pub kernel_session: KernelSessionId,
    /// The cause, as a word. Show an unknown word as it is.
    pub cause: Open<KernelCause>,
    /// More about the cause, in a sentence for people. Absent: the cause is all that is known.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub detail: Option<String>,
}

/// An interrupt of the kernel's running code was requested.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct KernelInterruptRequested {
    /// Named by KernelLaunchRequested, or as `next` by KernelRestartRequested.
    pub kernel_session: KernelSessionId,
}

/// A restart was requested: the kernel ends, and another session replaces it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct KernelRestartRequested {
    /// Named by KernelLaunchRequested, or as `next` by KernelRestartRequested.
    pub kernel_session: KernelSessionId,
    /// The new session, on the same agent.
    pub next: KernelSessionId,
}

/// The end of the kernel was requested.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct KernelShutdownRequested {
    /// Named by KernelLaunchRequested, or as `next` by KernelRestartRequested.
    pub kernel_session: KernelSessionId,
}

/// The kernel ended with all its variables.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct KernelSessionEnded {
    /// Named by KernelLaunchRequested, or as `next` by KernelRestartRequested.
    pub kernel_session: KernelSessionId,
    /// The cause, as a word. Show an unknown word as it is.
    pub cause: Open<KernelCause>,
    /// More about the cause, in a sentence for people. Absent: the cause is all that is known.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub detail: Option<String>,
}

/// A kernel registered functions. They replace all that it had registered before.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct KernelFunctionsRegistered {
    /// Named by KernelLaunchRequested, or as `next` by KernelRestartRequested.
    pub kernel_session: KernelSessionId,
    /// All functions of the kernel: at most 64, with different names.
    pub functions: Vec<UserFunction>,
    /// Places in the code that define the functions, as far as the kernel knows them. The document does not keep them.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub places: Vec<FunctionPlace>,
}

/// Functions whose kernels have ended were removed to make room for others.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct KernelFunctionsForgotten {
    /// Names of the removed functions: the oldest without a kernel.
    pub names: Vec<String>,
}
