//! Reply of an assistant in a prompt cell, as events carry it.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::cause::TurnFailure;
use crate::ids::TurnId;
use crate::message::StopReason;
use crate::open::Open;

/// How a reply stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReplyStatus {
    /// The assistant is at work.
    Running,
    /// The turn has ended by itself; `stop_reason` says why.
    Finished,
    /// A person stopped it.
    Stopped,
    /// `cause` says why.
    Failed,
}

/// What an assistant has answered to a prompt cell, as far as it had come.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CellReply {
    /// The turn that gave it; absent: a file or another notebook brought it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn_id: Option<TurnId>,
    /// `running` where the cell was deleted or copied meanwhile.
    pub status: Open<ReplyStatus>,
    /// Why the model stopped, when it finished.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop_reason: Option<Open<StopReason>>,
    /// Why there is no more of it, when it failed or was cut off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<Open<TurnFailure>>,
    /// More about the cause, in a sentence for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// The cell's source when it was asked: another one now means that the reply is stale.
    pub prompt: Arc<str>,
    /// The texts of the turn's messages so far, with an empty line between them.
    pub text: String,
    /// The conversation's messages hold more than `text`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_cut: bool,
}

impl CellReply {
    /// Returns the reply in a form that a command accepts. Unknown words are left out; an unknown status becomes
    /// `stopped`.
    #[must_use]
    pub fn closed(self) -> Self {
        let status = Open::Known(self.status.known().copied().unwrap_or(ReplyStatus::Stopped));
        let stop_reason = self.stop_reason.filter(|reason| reason.known().is_some());
        let cause = self.cause.filter(|cause| cause.known().is_some());
        Self { status, stop_reason, cause, ..self }
    }

    /// The first word in the reply that this version does not know.
    pub fn unknown_word(&self) -> Option<String> {
        let status = self.status.known().is_none().then(|| self.status.to_string());
        let stop_reason = self.stop_reason.as_ref().filter(|it| it.known().is_none()).map(ToString::to_string);
        let cause = self.cause.as_ref().filter(|it| it.known().is_none()).map(ToString::to_string);
        status.or(stop_reason).or(cause)
    }
}
