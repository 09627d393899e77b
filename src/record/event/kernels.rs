//! Kernel sessions, and the functions that they register.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::cause::KernelCause;
use crate::function::{FunctionPlace, MissingFunctions, UserFunction};
use crate::ids::{AgentId, KernelSessionId};
use crate::json::RawObject;
use crate::open::Open;

/// A kernel is wanted: any runtime agent that offers the kernelspec may claim it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct KernelLaunchRequested {
    /// New; all later events of the session have it.
    pub kernel_session: KernelSessionId,
    /// The kernelspec's name, as in `python3`.
    pub kernelspec: String,
    /// A kernel that code had run in has ended, and nobody had asked for it: what the code had made there is gone. Said once, by the
    /// first launch after it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replaces: Option<LostKernel>,
}

/// A kernel that has ended with all that its code had made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LostKernel {
    /// Its session.
    pub kernel_session: KernelSessionId,
    /// Why it ended.
    pub cause: Open<KernelCause>,
    /// More about it, in a sentence for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
}

/// An agent's claim, before it acts: one wins.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct KernelLaunchClaimed {
    /// Named by KernelLaunchRequested, or as `next` by KernelRestartRequested.
    pub kernel_session: KernelSessionId,
    /// The winner.
    pub agent: AgentId,
}

/// The kernel answers. The version of this event is the fence of every later write about the session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct KernelSessionStarted {
    /// Named by KernelLaunchRequested, or as `next` by KernelRestartRequested.
    pub kernel_session: KernelSessionId,
    /// The runtime agent that has the session.
    pub agent: AgentId,
    /// The kernelspec's name, as in `python3`.
    pub kernelspec: String,
    /// As the kernel's `kernel_info_reply` has it.
    pub language_info: RawObject,
    /// What keeps the kernel's code from the rest of its machine, as its agent says; absent: nothing is known to.
    #[serde(skip_serializing_if = "RawObject::is_empty", default)]
    pub sandbox: RawObject,
    /// Functions of a kernel before it that it does not have, and that a person may register again.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub missing_functions: Vec<MissingFunctions>,
}

/// The session is over before it began.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct KernelLaunchFailed {
    /// Named by KernelLaunchRequested, or as `next` by KernelRestartRequested.
    pub kernel_session: KernelSessionId,
    /// Why, as a word. Show one that you do not know as it stands.
    pub cause: Open<KernelCause>,
    /// More about it, in a sentence for people.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub detail: Option<String>,
}

/// Whatever runs in the kernel is to be interrupted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct KernelInterruptRequested {
    /// Named by KernelLaunchRequested, or as `next` by KernelRestartRequested.
    pub kernel_session: KernelSessionId,
}

/// The kernel is to end, and another to follow in its place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct KernelRestartRequested {
    /// Named by KernelLaunchRequested, or as `next` by KernelRestartRequested.
    pub kernel_session: KernelSessionId,
    /// The session that follows on the same agent.
    pub next: KernelSessionId,
}

/// The kernel is to end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct KernelShutdownRequested {
    /// Named by KernelLaunchRequested, or as `next` by KernelRestartRequested.
    pub kernel_session: KernelSessionId,
}

/// The kernel is gone, and with it all that its code has made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct KernelSessionEnded {
    /// Named by KernelLaunchRequested, or as `next` by KernelRestartRequested.
    pub kernel_session: KernelSessionId,
    /// Why, as a word. Show one that you do not know as it stands.
    pub cause: Open<KernelCause>,
    /// More about it, in a sentence for people.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub detail: Option<String>,
}

/// All functions that the kernel has registered by now, in place of those before.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct KernelFunctionsRegistered {
    /// Named by KernelLaunchRequested, or as `next` by KernelRestartRequested.
    pub kernel_session: KernelSessionId,
    /// At most 64, no two of one name.
    pub functions: Vec<UserFunction>,
    /// Where they stand, as far as the kernel knows. No part of the state.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub places: Vec<FunctionPlace>,
}

/// Functions whose kernels have ended made room for others.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct KernelFunctionsForgotten {
    /// Those that have been without a kernel for longest.
    pub names: Vec<String>,
}
