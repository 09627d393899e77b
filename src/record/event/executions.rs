//! Events of executions, from the request to the end, and of kernel sessions with the functions that they register.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::cause::{EndCause, KernelCause};
use crate::effects::{Effect, Effects};
use crate::environment::KernelEnvironment;
use crate::execution::{ExecutionCause, ExecutionOutcome, ExecutionSubject, Output};
use crate::ids::{AgentId, ExecutionId, KernelSessionId, Millis, Version};
use crate::json::{Open, RawObject};
use crate::placement::{KernelPlacement, Labels};
use crate::tool_call::{FunctionPlace, MissingFunctions, UserFunction};

/// A run was requested. It is queued after earlier runs of its kernel.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExecutionRequested {
    /// The new execution's id, which later events of the run carry.
    pub execution_id: ExecutionId,
    /// The exact code to run; for a tool, its name and digest.
    pub subject: ExecutionSubject,
    /// The cause of the run. `imported`: it has run elsewhere.
    pub cause: Open<ExecutionCause>,
    /// The effects that the run may have outside the kernel's memory. Treat unknown ones as held, with nothing allowed.
    pub effects: Open<Effects>,
    /// The session in whose queue the run is. Absent for imported runs, and if the agent of the default kernel was
    /// away. Such a run waits until that kernel, or its replacement, gets it.
    pub kernel_session: Option<KernelSessionId>,
    /// Running time in milliseconds after which the kernel is interrupted. Absent: no limit.
    pub timeout_ms: Option<Millis>,
    /// True: if another run of the same correlation does not succeed while this one is queued, this one is blocked.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub stop_on_error: bool,
    /// Runs from which this one reads, in a reactive notebook. If one of them does not succeed, this one is blocked.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub waits_for: Vec<ExecutionId>,
    /// Names that the source binds in the kernel, in a reactive notebook. Absent: they are not known.
    pub leaves: Option<Vec<String>>,
}

impl ExecutionRequested {
    /// A run that is bound to no kernel, has no timeout, and depends on no other run.
    pub fn new(execution_id: ExecutionId, subject: ExecutionSubject, cause: ExecutionCause, effects: Effects) -> Self {
        Self {
            execution_id,
            subject,
            cause: cause.into(),
            effects: effects.into(),
            kernel_session: None,
            timeout_ms: None,
            stop_on_error: false,
            waits_for: Vec::new(),
            leaves: None,
        }
    }
}

/// A run was assigned to one kernel session. Reports on the run must carry that session's fence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExecutionAssigned {
    /// Named by ExecutionRequested.
    pub execution_id: ExecutionId,
    /// The started session that executes this run now.
    pub kernel_session: KernelSessionId,
    /// The runtime agent that runs the session's kernel.
    pub agent: AgentId,
    /// The version of the session's KernelSessionStarted.
    pub fence: Version,
}

/// The kernel began the run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExecutionStarted {
    /// Named by ExecutionRequested.
    pub execution_id: ExecutionId,
    /// Number of the agent's report: 1, 2, 3 … for each execution.
    pub output_seq: u64,
}

/// Outputs were appended to those of the run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExecutionOutputAppended {
    /// Named by ExecutionRequested.
    pub execution_id: ExecutionId,
    /// Number of the agent's report: 1, 2, 3 … for each execution.
    pub output_seq: u64,
    /// The new outputs in order. Parts above 8 KiB are in blobs.
    pub outputs: Vec<Output>,
    /// True: the output is the server's notice that the run has reached its output quota.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_limit_notice: bool,
}

/// All outputs of the notebook with this `display_id` got new content.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExecutionOutputUpdated {
    /// Named by ExecutionRequested.
    pub execution_id: ExecutionId,
    /// Number of the agent's report: 1, 2, 3 … for each execution.
    pub output_seq: u64,
    /// The id that the kernel has chosen.
    pub display_id: String,
    /// The output whose content replaces the present one.
    pub output: Output,
}

/// The outputs of the run were cleared.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExecutionOutputsCleared {
    /// Named by ExecutionRequested.
    pub execution_id: ExecutionId,
    /// Number of the agent's report: 1, 2, 3 … for each execution.
    pub output_seq: u64,
    /// True: they are cleared when the next output comes. False: now.
    pub wait: bool,
}

/// The code requested a line of input, and waits for it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExecutionInputRequested {
    /// Named by ExecutionRequested.
    pub execution_id: ExecutionId,
    /// Number of the agent's report: 1, 2, 3 … for each execution.
    pub output_seq: u64,
    /// The question, as shown to people.
    pub prompt: String,
    /// True: hide the answer while it is typed. It is not recorded.
    pub password: bool,
}

/// The request for input was answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExecutionInputAnswered {
    /// Named by ExecutionRequested.
    pub execution_id: ExecutionId,
    /// The answer. Absent for a password, which is never recorded.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub value: Option<String>,
}

/// An effect of the run was refused, and the run went on. Recorded for the first effect of each kind, and once more
/// with the final number if there were several.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExecutionEffectRefused {
    /// Named by ExecutionRequested.
    pub execution_id: ExecutionId,
    /// The kind of the effect, which a later request may ask for. Show an unknown word as it is.
    pub kind: Open<Effect>,
    /// The target of the first effect of this kind, such as a path or an address, as the code named it. At most 1 KiB.
    pub target: String,
    /// Number of refused effects of this kind so far.
    pub count: u64,
}

/// The run ended with a result, successful or not.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExecutionCompleted {
    /// Named by ExecutionRequested.
    pub execution_id: ExecutionId,
    /// Number of the agent's report: 1, 2, 3 … for each execution.
    pub output_seq: u64,
    /// The result: `ok`, or the kind of failure.
    pub outcome: Open<ExecutionOutcome>,
    /// The number in `In [3]:`. Absent: the kernel gave none.
    pub execution_count: Option<u64>,
    /// A sentence for people about an unusual end, for example a timeout or lost outputs. Absent: none.
    pub notice: Option<String>,
}

/// A cancel was requested for a run that its kernel has. The agent interrupts it. Queued runs get ExecutionCancelled directly.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExecutionCancelRequested {
    /// Named by ExecutionRequested.
    pub execution_id: ExecutionId,
}

/// The run was cancelled before it began, or ended early on request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExecutionCancelled {
    /// Named by ExecutionRequested.
    pub execution_id: ExecutionId,
    /// The cause, as a word. Show an unknown word as it is.
    pub cause: Open<EndCause>,
    /// More about the cause, in a sentence for people. Absent: the cause is all that is known.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub detail: Option<String>,
}

/// The run never began, because an earlier run did not succeed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExecutionBlocked {
    /// Named by ExecutionRequested.
    pub execution_id: ExecutionId,
    /// The earlier run, which failed, was cancelled or was lost.
    pub blocked_by: ExecutionId,
}

/// The run was lost: it ended without a result, or its end is not known.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExecutionLost {
    /// Named by ExecutionRequested.
    pub execution_id: ExecutionId,
    /// The cause, as a word. Show an unknown word as it is.
    pub cause: Open<EndCause>,
    /// More about the cause, in a sentence for people. Absent: the cause is all that is known.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub detail: Option<String>,
}

/// Outputs came after the execution was lost. They are recorded, but not shown as the run's outputs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExecutionOutputRecovered {
    /// Named by ExecutionRequested.
    pub execution_id: ExecutionId,
    /// Number of the agent's report: 1, 2, 3 … for each execution.
    pub output_seq: u64,
    /// The late outputs, in order.
    pub outputs: Vec<Output>,
    /// True: the output is the server's notice that the run has reached its output quota.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_limit_notice: bool,
}

/// Large values of a finished run's outputs were moved to blobs. The outputs show the same.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExecutionOutputsMoved {
    /// Named by ExecutionRequested.
    pub execution_id: ExecutionId,
    /// The replacements, in the order of the outputs, without overlaps.
    pub moved: Vec<MovedOutputs>,
}

/// Consecutive outputs, and the output that replaces them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MovedOutputs {
    /// Index of the first replaced output, from 0, before any replacement of this event.
    pub first: usize,
    /// Number of replaced outputs. Several are pieces of the same stream.
    pub count: usize,
    /// The output that replaces them.
    pub output: Output,
}

/// A kernel was requested. A runtime agent that offers the kernelspec may claim it: any, or the one that is named, or one
/// with these labels.
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
    /// The only agent that may claim the launch. Absent: any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<AgentId>,
    /// Labels that the claiming agent must have. Absent: none.
    #[serde(default, skip_serializing_if = "Labels::is_empty")]
    pub labels: Labels,
}

impl KernelLaunchRequested {
    /// The agents that may claim the launch.
    pub fn placement(&self) -> KernelPlacement {
        KernelPlacement { agent: self.agent.clone(), labels: self.labels.clone() }
    }
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
    /// The software that the kernel finds, in a blob. Absent: it is not known.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub environment: Option<KernelEnvironment>,
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
