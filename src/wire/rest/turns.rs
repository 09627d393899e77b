//! Turns of assistants: list and status.

use notarium_core::{Actor, CellId, ConversationId, Millis, Open, StopReason, TurnId, Usage, Version};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Filter and page of the turns, the last begun first.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TurnsQuery {
    /// Only turns of this conversation.
    pub conversation: Option<ConversationId>,
    /// Upper bound: turns that began before this version, as in `next` of the page before.
    pub before: Option<Version>,
    /// 1 to 200; absent: 50.
    pub limit: Option<usize>,
}

/// Page of all turns, past ones included, the last begun first.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct TurnPage {
    /// Turns, at most `limit`.
    pub turns: Vec<TurnSummary>,
    /// Value of `before` for the next page; absent when there are no older turns.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<Version>,
}

/// Status of a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TurnStatus {
    /// The assistant works, or waits for a person.
    Running,
    /// The model stopped; see `stop_reason`.
    Finished,
    /// Stopped by a person; see `cancelled_by`.
    Cancelled,
    /// No provider answered, or the server could not continue; see `cause`.
    Failed,
}

/// Summary of one turn, from the record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TurnSummary {
    /// Turn id, as in `StartTurn.turn_id`, or chosen by the server.
    pub id: TurnId,
    /// Conversation of the turn, which has its messages.
    pub conversation_id: ConversationId,
    /// Current status; an ended turn does not begin again.
    pub status: TurnStatus,
    /// Stop reason of a finished turn: `end_turn`, `max_turns`, `max_tokens` or `refusal`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop_reason: Option<Open<StopReason>>,
    /// Cause of a failure.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cause: Option<String>,
    /// The person for whom the assistant acts.
    pub requested_by: Actor,
    /// Actor who stopped it; absent if it was not stopped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cancelled_by: Option<Actor>,
    /// Milliseconds since 1970, like all times here.
    pub started_at: Millis,
    /// End time: finished, cancelled or failed. Absent while it runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<Millis>,
    /// Version of its TurnStarted event: `before` of the next page.
    pub version: Version,
    /// The prompt cell that the turn answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cell_id: Option<CellId>,
    /// `provider/model` of its last model call; before the first call the requested model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Number of model calls so far, without repeated attempts; at most 10.
    pub model_calls: u32,
    /// Number of attempts of model calls, failed ones included.
    pub attempts: u32,
    /// Tokens of all attempts together: `input_tokens`, `output_tokens`; `estimated` if a part is estimated.
    pub usage: Usage,
}
