//! What the tasks of a notebook's worker report to it.

use notarium_core::{Because, ToolCallId, TurnFailure, TurnId, Usage};

use super::executor::Done;
use crate::providers::Reply;

/// What a task of the worker reports.
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
    /// Final: it cannot succeed, however often it is tried.
    Failed {
        why: Because<TurnFailure>,
        usage: Usage,
        is_final: bool,
    },
}

impl ModelCallUpdate {
    /// Nothing could be asked at all.
    pub fn not_asked(detail: impl Into<String>) -> Self {
        let why = Because::new(TurnFailure::NotAsked, detail);
        Self::Failed { why, usage: Usage::default(), is_final: true }
    }
}
