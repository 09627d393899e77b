//! Reports of a worker's tasks to the worker.

use notarium_core::{Because, ToolCallId, TurnFailure, TurnId, Usage};

use super::executor::Done;
use crate::providers::Reply;

/// A report of one task.
pub(super) enum Report {
    ModelCall(TurnId, ModelCallUpdate),
    ToolCall(ToolCallId, Done),
}

/// A report of a model call to the worker.
pub(super) enum ModelCallUpdate {
    /// This attempt failed; the provider's client makes another one.
    AttemptFailed(Because<TurnFailure>),
    Answered {
        reply: Reply,
        usage: Usage,
    },
    /// The call failed. `is_final`: a retry cannot succeed.
    Failed {
        why: Because<TurnFailure>,
        usage: Usage,
        is_final: bool,
    },
}

impl ModelCallUpdate {
    /// Failure of a call that was never sent.
    pub fn not_asked(detail: impl Into<String>) -> Self {
        let why = Because::new(TurnFailure::NotAsked, detail);
        Self::Failed { why, usage: Usage::default(), is_final: true }
    }
}
