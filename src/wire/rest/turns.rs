//! Turns of assistants.

use notarium_core::{Actor, CellId, ConversationId, Millis, Open, StopReason, TurnId, Usage, Version};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Which turns are listed, the last begun first.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TurnsQuery {
    /// Only of this conversation.
    pub conversation: Option<ConversationId>,
    /// Turns that began before this version: `next` of the page before.
    pub before: Option<Version>,
    /// 1 to 200; absent: 50.
    pub limit: Option<usize>,
}

/// Turns of all times, the last begun first.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct TurnPage {
    /// At most `limit` of them.
    pub turns: Vec<TurnSummary>,
    /// Ask again with this as `before`; absent when there are no older ones.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<Version>,
}

/// Where a turn stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TurnStatus {
    /// The assistant is at work, or waits for a person.
    Running,
    /// The model stopped; `stop_reason` says why.
    Finished,
    /// A person stopped it; `cancelled_by` says who.
    Cancelled,
    /// No provider gave an answer, or the server could not go on; `cause` says why.
    Failed,
}

/// One turn, as the record has it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TurnSummary {
    /// As in `StartTurn.turn_id`, or chosen by the server.
    pub id: TurnId,
    /// The conversation that the turn belongs to; its messages are read there.
    pub conversation_id: ConversationId,
    /// At this moment; a turn that is over does not begin again.
    pub status: TurnStatus,
    /// Of a finished one: `end_turn`, `max_turns`, `max_tokens` or `refusal`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop_reason: Option<Open<StopReason>>,
    /// Why it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cause: Option<String>,
    /// The person for whom the assistant acts.
    pub requested_by: Actor,
    /// Who stopped it, where somebody did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cancelled_by: Option<Actor>,
    /// Milliseconds since 1970, like all times here.
    pub started_at: Millis,
    /// When it finished, was cancelled or failed. Absent while it runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<Millis>,
    /// The version of its TurnStarted event: `before` of the next page.
    pub version: Version,
    /// The prompt cell that it answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cell_id: Option<CellId>,
    /// `provider/model` of its last model call; before the first the model that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Calls of the model so far, each answered once; at most 10.
    pub model_calls: u32,
    /// With those that failed and were repeated.
    pub attempts: u32,
    /// Of all attempts together: `input_tokens`, `output_tokens`; `estimated` when a part of it is.
    pub usage: Usage,
}
