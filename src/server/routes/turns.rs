//! Turns of assistants: what they took, how they ended, and stopping them.

use axum::Json;
use axum::extract::State;
use notarium_core::{
    Actor, CellId, Command, ConversationId, Event, Millis, NotebookId, Operation, Recorded, StopReason, Stored, TurnId,
    Usage, Version,
};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::routes;

use super::answers::{Answer, execute};
use super::chat::events_of;
use super::scan::backwards;
use crate::app::App;
use crate::auth::Authenticated;
use crate::extract::{Conditions, Params, QueryOf};
use crate::guard::{Guard, GuardedRouter};
use crate::problem::Problem;

/// Events that one page of turns looks through.
const MAX_SCANNED_EVENTS: usize = 20_000;

pub fn routes(router: GuardedRouter<App>) -> GuardedRouter<App> {
    router
        .routes(Guard::Notebook(Operation::Read), routes!(list_turns))
        .routes(Guard::Notebook(Operation::Converse), routes!(cancel_turn))
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct TurnsQuery {
    /// Only of this conversation.
    #[param(value_type = Option<String>)]
    conversation: Option<ConversationId>,
    /// Turns that began before this version: `next` of the page before.
    before: Option<Version>,
    /// 1 to 200; absent: 50.
    limit: Option<usize>,
}

#[derive(Debug, Serialize, ToSchema)]
struct TurnPage {
    turns: Vec<TurnSummary>,
    /// Ask again with this as `before`; absent when there are no older ones.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<Version>,
}

/// Where a turn stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
enum TurnStatus {
    /// The assistant is at work, or waits for a person.
    Running,
    Finished,
    Cancelled,
    Failed,
}

/// One turn, as the record has it.
#[derive(Debug, PartialEq, Serialize, ToSchema)]
struct TurnSummary {
    #[schema(value_type = String)]
    id: TurnId,
    #[schema(value_type = String)]
    conversation_id: ConversationId,
    status: TurnStatus,
    /// Of a finished one: `end_turn`, `max_turns`, `max_tokens` or `refusal`.
    #[schema(value_type = Option<String>)]
    #[serde(skip_serializing_if = "Option::is_none")]
    stop_reason: Option<StopReason>,
    /// Why it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    cause: Option<String>,
    /// The person for whom the assistant acts.
    #[schema(value_type = Object)]
    requested_by: Actor,
    /// Who stopped it, where somebody did.
    #[schema(value_type = Option<Object>)]
    #[serde(skip_serializing_if = "Option::is_none")]
    cancelled_by: Option<Actor>,
    /// Milliseconds since 1970, like all times here.
    started_at: Millis,
    #[serde(skip_serializing_if = "Option::is_none")]
    ended_at: Option<Millis>,
    version: Version,
    /// The prompt cell that it answers.
    #[schema(value_type = Option<String>)]
    #[serde(skip_serializing_if = "Option::is_none")]
    cell_id: Option<CellId>,
    /// `provider/model` of its last model call; before the first the model that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<String>,
    model_calls: u32,
    /// With those that failed and were repeated.
    attempts: u32,
    /// Of all attempts together: `input_tokens`, `output_tokens`; `estimated` when a part of it is.
    #[schema(value_type = Object)]
    usage: Usage,
}

impl TurnSummary {
    /// `None` without the turn's start.
    fn of(events: &[Recorded]) -> Option<Self> {
        let (first, rest) = events.split_first()?;
        let Event::TurnStarted(event) = &first.event else { return None };
        let mut turn = Self {
            id: event.turn_id.clone(),
            conversation_id: event.conversation_id.clone(),
            status: TurnStatus::Running,
            stop_reason: None,
            cause: None,
            requested_by: first.envelope.actor.clone(),
            cancelled_by: None,
            started_at: first.envelope.recorded_at,
            ended_at: None,
            version: first.envelope.version,
            cell_id: event.cell_id.clone(),
            model: event.model.clone(),
            model_calls: 0,
            attempts: 0,
            usage: Usage::default(),
        };
        rest.iter().for_each(|recorded| turn.follow(recorded));
        Some(turn)
    }

    fn follow(&mut self, recorded: &Recorded) {
        match &recorded.event {
            Event::ModelCallStarted(event) => {
                (self.model_calls, self.attempts) = (event.number, self.attempts + 1);
                self.model = Some(format!("{}/{}", event.provider, event.model));
            }
            Event::ModelCallFinished(event) => {
                self.usage.input_tokens = self.usage.input_tokens.saturating_add(event.usage.input_tokens);
                self.usage.output_tokens = self.usage.output_tokens.saturating_add(event.usage.output_tokens);
                self.usage.estimated |= event.usage.estimated;
            }
            Event::TurnFinished(event) => {
                self.end(TurnStatus::Finished, recorded);
                self.stop_reason = Some(event.stop_reason);
            }
            Event::TurnCancelled(_) => {
                self.end(TurnStatus::Cancelled, recorded);
                self.cancelled_by = Some(recorded.envelope.actor.clone());
            }
            Event::TurnFailed(event) => {
                self.end(TurnStatus::Failed, recorded);
                self.cause = Some(event.cause.clone());
            }
            _ => {}
        }
    }

    fn end(&mut self, status: TurnStatus, recorded: &Recorded) {
        (self.status, self.ended_at) = (status, Some(recorded.envelope.recorded_at));
    }
}

/// What assistants were asked, how it ended and what it took, the latest first.
///
/// A page may be short or empty; go on while there is a `next`.
#[utoipa::path(get, path = "/api/notebooks/{notebook}/turns", tag = "assistants",
    params(("notebook" = String, Path), TurnsQuery),
    responses((status = 200, body = TurnPage), (status = "default", body = Problem)))]
async fn list_turns(
    State(app): State<App>,
    Params(notebook): Params<NotebookId>,
    QueryOf(query): QueryOf<TurnsQuery>,
) -> Result<Json<TurnPage>, Problem> {
    let limit = query.limit.unwrap_or(50).clamp(1, 200);
    let mut ids = Vec::new();
    let next = backwards(&*app.store, &notebook, query.before, MAX_SCANNED_EVENTS, |stored| {
        ids.extend(begun_by(stored, query.conversation.as_ref()));
        ids.len() == limit
    });
    let next = next.await?;
    let mut turns = Vec::with_capacity(ids.len());
    for id in ids {
        turns.extend(TurnSummary::of(&events_of(&app, &notebook, &id).await?));
    }
    Ok(Json(TurnPage { turns, next }))
}

/// The turn that an event begins, if it is of the wanted conversation.
fn begun_by(stored: &Stored, wanted: Option<&ConversationId>) -> Option<TurnId> {
    if stored.envelope.event_type != "TurnStarted" {
        return None;
    }
    let Ok(Recorded { event: Event::TurnStarted(event), .. }) = stored.typed() else { return None };
    wanted.is_none_or(|wanted| *wanted == event.conversation_id).then_some(event.turn_id)
}

/// Stops the assistant at once. What it did stays, and can be undone; what waits for a person is taken back.
#[utoipa::path(post, path = "/api/notebooks/{notebook}/turns/{turn}/cancel", tag = "assistants",
    params(("notebook" = String, Path), ("turn" = String, Path)),
    responses((status = 200, body = Answer), (status = "default", body = Problem)))]
async fn cancel_turn(
    State(app): State<App>,
    authenticated: Authenticated,
    Params((notebook, turn_id)): Params<(NotebookId, TurnId)>,
    conditions: Conditions,
) -> Result<Answer, Problem> {
    execute(&app, &authenticated, &notebook, conditions, &Command::CancelTurn { turn_id }).await
}
