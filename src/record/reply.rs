//! What an assistant answered in a prompt cell, as events carry it.

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
    Running,
    Finished,
    /// A person stopped it.
    Stopped,
    /// `cause` says why.
    Failed,
}

/// What an assistant has answered to a prompt cell, as far as it had come.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CellReply {
    /// The turn that gave it; absent: a file or another notebook brought it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn_id: Option<TurnId>,
    pub status: ReplyStatus,
    /// Why the model stopped, when it finished.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop_reason: Option<StopReason>,
    /// Why there is no more of it, when it failed or was cut off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<Open<TurnFailure>>,
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
