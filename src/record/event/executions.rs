//! Runs: from the request to the end.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::cause::EndCause;
use crate::execution::{ExecutionCause, ExecutionOutcome, ExecutionSubject};
use crate::ids::{AgentId, ExecutionId, KernelSessionId, Millis, Version};
use crate::open::Open;
use crate::output::Output;

/// Somebody wants code to run. The run queues behind those of its kernel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExecutionRequested {
    /// New; all later events of the run have it.
    pub execution_id: ExecutionId,
    /// Word for word what is to run; of a tool its name and digest.
    pub subject: ExecutionSubject,
    /// Whether it is to run here, or has run elsewhere.
    pub cause: Open<ExecutionCause>,
    /// The session in whose queue it stands. Absent: a file brought the run, or the agent of the default kernel was away when it
    /// was asked for; the run then waits until that kernel, or another in its place, is given it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub kernel_session: Option<KernelSessionId>,
    /// Interrupt the run after so long; absent means never.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub timeout_ms: Option<Millis>,
    /// When it fails, executions of the same correlation that still wait are blocked.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub stop_on_error: bool,
    /// In a reactive notebook: runs of the same plan from which it reads. If one of them does not succeed, this one is blocked.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub waits_for: Vec<ExecutionId>,
    /// In a reactive notebook: the names that its source binds in the kernel. Absent: nobody has looked.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub leaves: Option<Vec<String>>,
}

impl ExecutionRequested {
    /// A run that is bound to no kernel, has no timeout, and depends on no other run.
    pub fn new(execution_id: ExecutionId, subject: ExecutionSubject, cause: ExecutionCause) -> Self {
        Self {
            execution_id,
            subject,
            cause: cause.into(),
            kernel_session: None,
            timeout_ms: None,
            stop_on_error: false,
            waits_for: Vec::new(),
            leaves: None,
        }
    }
}

/// One winner: the session that runs it. Writes about it must carry that session's fence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExecutionAssigned {
    /// Named by ExecutionRequested.
    pub execution_id: ExecutionId,
    /// A session that has started, and now runs this.
    pub kernel_session: KernelSessionId,
    /// The runtime agent that has the session.
    pub agent: AgentId,
    /// The version of the session's KernelSessionStarted.
    pub fence: Version,
}

/// The kernel has begun.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExecutionStarted {
    /// Named by ExecutionRequested.
    pub execution_id: ExecutionId,
    /// The agent's number of this write: 1, 2, 3 … for each execution.
    pub output_seq: u64,
}

/// New outputs, behind those that the run has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExecutionOutputAppended {
    /// Named by ExecutionRequested.
    pub execution_id: ExecutionId,
    /// The agent's number of this write, 1, 2, 3 … per execution.
    pub output_seq: u64,
    /// In order; parts above 8 KiB are in blobs.
    pub outputs: Vec<Output>,
    /// They are the server's: the notice that the run has written all that is recorded of one run.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_limit_notice: bool,
}

/// All outputs of the notebook that carry this `display_id` show this now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExecutionOutputUpdated {
    /// Named by ExecutionRequested.
    pub execution_id: ExecutionId,
    /// The agent's number of this write: 1, 2, 3 … for each execution.
    pub output_seq: u64,
    /// As the kernel chose it.
    pub display_id: String,
    /// Replaces the content of each.
    pub output: Output,
}

/// The run's outputs go.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExecutionOutputsCleared {
    /// Named by ExecutionRequested.
    pub execution_id: ExecutionId,
    /// The agent's number of this write: 1, 2, 3 … for each execution.
    pub output_seq: u64,
    /// Clear when the next output comes.
    pub wait: bool,
}

/// The code asks for a line of text and waits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExecutionInputRequested {
    /// Named by ExecutionRequested.
    pub execution_id: ExecutionId,
    /// The agent's number of this write: 1, 2, 3 … for each execution.
    pub output_seq: u64,
    /// What it asks, as it is to be shown.
    pub prompt: String,
    /// The answer is to be hidden while it is typed, and does not enter the log.
    pub password: bool,
}

/// The question is answered, and not open any more.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExecutionInputAnswered {
    /// Named by ExecutionRequested.
    pub execution_id: ExecutionId,
    /// Absent for a password: that value never enters the log.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub value: Option<String>,
}

/// The run came to its own end, good or bad.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExecutionCompleted {
    /// Named by ExecutionRequested.
    pub execution_id: ExecutionId,
    /// The agent's number of this write: 1, 2, 3 … for each execution.
    pub output_seq: u64,
    /// `ok`, or how it failed.
    pub outcome: Open<ExecutionOutcome>,
    /// The number in `In [3]:`; absent where the kernel gave none.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub execution_count: Option<u64>,
    /// A sentence about an odd end: outputs lost by the kernel, a timeout.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub notice: Option<String>,
}

/// Somebody wants a run cancelled that its kernel has; the agent interrupts it. A run that waits is cancelled at once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExecutionCancelRequested {
    /// Named by ExecutionRequested.
    pub execution_id: ExecutionId,
}

/// It never began, or ended because somebody wanted it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExecutionCancelled {
    /// Named by ExecutionRequested.
    pub execution_id: ExecutionId,
    /// Why, as a word. Show one that you do not know as it stands.
    pub cause: Open<EndCause>,
    /// More about it, in a sentence for people.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub detail: Option<String>,
}

/// It never began, because that run before it did not succeed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExecutionBlocked {
    /// Named by ExecutionRequested.
    pub execution_id: ExecutionId,
    /// The run that failed, was cancelled or was lost.
    pub blocked_by: ExecutionId,
}

/// Nobody knows how it ended, or that it ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExecutionLost {
    /// Named by ExecutionRequested.
    pub execution_id: ExecutionId,
    /// Why, as a word. Show one that you do not know as it stands.
    pub cause: Open<EndCause>,
    /// More about it, in a sentence for people.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub detail: Option<String>,
}

/// Output that came after the execution was lost: kept, not shown as the run's own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExecutionOutputRecovered {
    /// Named by ExecutionRequested.
    pub execution_id: ExecutionId,
    /// The agent's number of this write: 1, 2, 3 … for each execution.
    pub output_seq: u64,
    /// In order.
    pub outputs: Vec<Output>,
    /// They are the server's: the notice that the run has written all that is recorded of one run.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_limit_notice: bool,
}

/// Outputs of a run that has ended stand shorter, with their large values in blobs: what they show is the same.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExecutionOutputsMoved {
    /// Named by ExecutionRequested.
    pub execution_id: ExecutionId,
    /// In the order of the outputs, none over another.
    pub moved: Vec<MovedOutputs>,
}

/// Outputs that follow one another, and what stands in their place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MovedOutputs {
    /// The place of the first, counted from 0 before anything is moved.
    pub first: usize,
    /// How many; more than one are pieces of the same stream.
    pub count: usize,
    /// What stands there now.
    pub output: Output,
}
