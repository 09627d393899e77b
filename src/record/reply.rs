//! Reply of an assistant in a prompt cell, as events carry it.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::cause::TurnFailure;
use crate::ids::TurnId;
use crate::message::StopReason;
use crate::open::Open;

/// Status of a reply in a prompt cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReplyStatus {
    /// The turn has not ended.
    Running,
    /// The turn has ended by itself; `stop_reason` says why.
    Finished,
    /// A person stopped the turn, or the reply was cut off; `cause` then says why.
    Stopped,
    /// The turn failed; `cause` says why.
    Failed,
}

/// Reply of an assistant in a prompt cell, as far as it was recorded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CellReply {
    /// The turn that gave the reply. Absent: the reply came from a file or another notebook.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn_id: Option<TurnId>,
    /// The reply's status. `running`: the cell was deleted or copied while the turn was running.
    pub status: Open<ReplyStatus>,
    /// The reason why the model stopped, for the status `finished`. Absent otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop_reason: Option<Open<StopReason>>,
    /// The cause if the reply failed or was cut off. Absent otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<Open<TurnFailure>>,
    /// More about the cause, in a sentence for people. Absent: the cause is all that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// The cell's source at the start of the turn. If the cell's source differs now, the reply is stale.
    pub prompt: Arc<str>,
    /// The texts of the turn's messages so far, separated by empty lines.
    pub text: String,
    /// True: the conversation's messages have more text than `text`.
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
