//! Routes for turns of assistants: usage, outcome, cancelling, undo.

use axum::Json;
use axum::extract::State;
use http::Method;
use notarium_core::{Command, Event, NotebookId, Operation, Recorded, TurnId, Usage};
use notarium_wire::rest::{TurnPage, TurnStatus, TurnSummary, TurnsQuery};

use super::chat::events_of;
use super::scan::{Wanted, latest};
use crate::app::App;
use crate::http::extract::{NoBody, Params, QueryOf};
use crate::http::guard::{Guard, GuardedRouter};
use crate::http::problem::Problem;

pub fn routes(router: GuardedRouter<App>) -> GuardedRouter<App> {
    router
        .group("assistants", "/api/notebooks/{notebook}/turns")
        .says(
            "What assistants were asked, how it ended and what it took, the latest first.\n\n\
             A page may be short or empty; go on while there is a `next`.",
        )
        .on(Guard::Notebook(Operation::Read), Method::GET, "", list_turns)
        .says(
            "Stops the assistant at once. What it did stays, and can be undone; what waits for a person is taken back.",
        )
        .command(
            Guard::Notebook(Operation::Converse),
            Method::POST,
            "/{turn}/cancel",
            |(_, turn_id): (NotebookId, TurnId), _: NoBody| Ok(Command::CancelTurn { turn_id }),
        )
        .says("Undoes what the assistant did in one turn, also after others edited on top. Runs are not undone.")
        .command(
            Guard::Notebook(Operation::Edit),
            Method::POST,
            "/{turn}/undo",
            |(_, turn): (NotebookId, TurnId), _: NoBody| {
                Ok(Command::Undo { steps: 1, correlation_id: None, turn_id: Some(turn), cell_id: None })
            },
        )
}

/// Summary of a turn from its events; `None` without its start.
fn summary(events: &[Recorded]) -> Option<TurnSummary> {
    let (first, rest) = events.split_first()?;
    let Event::TurnStarted(event) = &first.event else { return None };
    let mut turn = TurnSummary {
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
    rest.iter().for_each(|recorded| follow(&mut turn, recorded));
    Some(turn)
}

fn follow(turn: &mut TurnSummary, recorded: &Recorded) {
    let mut end = |status| (turn.status, turn.ended_at) = (status, Some(recorded.envelope.recorded_at));
    match &recorded.event {
        Event::TurnModelCallStarted(event) => {
            (turn.model_calls, turn.attempts) = (event.number, turn.attempts + 1);
            turn.model = Some(format!("{}/{}", event.provider, event.model));
        }
        Event::TurnModelCallFinished(event) => {
            turn.usage.input_tokens = turn.usage.input_tokens.saturating_add(event.usage.input_tokens);
            turn.usage.output_tokens = turn.usage.output_tokens.saturating_add(event.usage.output_tokens);
            turn.usage.estimated |= event.usage.estimated;
        }
        Event::TurnFinished(event) => {
            end(TurnStatus::Finished);
            turn.stop_reason = Some(event.stop_reason.clone());
        }
        Event::TurnCancelled(_) => {
            end(TurnStatus::Cancelled);
            turn.cancelled_by = Some(recorded.envelope.actor.clone());
        }
        Event::TurnFailed(event) => {
            end(TurnStatus::Failed);
            turn.cause = Some(event.sentence());
        }
        _ => {}
    }
}

async fn list_turns(
    State(app): State<App>,
    Params(notebook): Params<NotebookId>,
    QueryOf(query): QueryOf<TurnsQuery>,
) -> Result<Json<TurnPage>, Problem> {
    let wanted = Wanted::page(query.before, query.limit);
    let (ids, next) = latest(&*app.store, &notebook, "TurnStarted", wanted, |recorded| match recorded.event {
        Event::TurnStarted(event) => {
            let is_wanted = query.conversation.as_ref().is_none_or(|wanted| *wanted == event.conversation_id);
            is_wanted.then_some(event.turn_id)
        }
        _ => None,
    })
    .await?;
    let mut turns = Vec::with_capacity(ids.len());
    for id in ids {
        turns.extend(summary(&events_of(&app, &notebook, &id).await?));
    }
    Ok(Json(TurnPage { turns, next }))
}
