//! Routes for chats with an assistant: ask, follow the answer, resume following; usage, outcome, cancelling and undo of
//! turns.

use axum::Json;
use axum::response::{IntoResponse, Response};
use http::{HeaderMap, StatusCode};
use notarium_core::{
    Command, ConversationId, Event, NotebookId, Operation, Recorded, StartTurn, TurnId, Usage, Version,
};
use notarium_wire::rest::{ChatEvent, Question, TurnPage, TurnStatus, TurnSummary, TurnsQuery};
use sha2::{Digest, Sha256};

use super::answers::{NotebookCaller, Submit, WantedPage, command, latest};
use crate::app::App;
use crate::assistants::chat::{self, TurnCursor};
use crate::http::extract::{Conditions, JsonBody, NoBody, Params, QueryOf};
use crate::http::guard::{Guard, GuardedRouter, route_table};
use crate::http::problem::Problem;

const STREAM: &str = "text/event-stream";

pub fn routes(router: GuardedRouter<App>) -> GuardedRouter<App> {
    route_table!(router; "assistants" "/api/notebooks/{notebook}" {
        /// Asks an assistant, which acts for you, and follows its answer as server-sent events, each with its name as
        /// `event` and an `id`. The answer goes on when you leave: `GET …/turns/{turn}/stream` with `Last-Event-ID`
        /// gives the rest.
        POST "/chat", Guard::Notebook(Operation::Converse) => ask, answers::<ChatEvent>("200", STREAM);
        /// Follows a turn, from its beginning or from the header `Last-Event-ID` (the `id` of the last event that you
        /// have) on; one that is over is told from the record. Leaving stops nothing. 204: you have it all.
        GET "/turns/{turn}/stream", Guard::Notebook(Operation::Read) =>
            follow_turn, answers::<ChatEvent>("200", STREAM), answers_empty("204");
    } "assistants" "/api/notebooks/{notebook}/turns" {
        /// Turns of assistants: question, end and usage, the latest first.
        ///
        /// A page may be short or empty; go on while there is a `next`.
        GET "", Guard::Notebook(Operation::Read) => list_turns;
        /// Stops the assistant at once. What it did stays, and can be undone; what waits for a person is taken back.
        POST "/{turn}/cancel", Guard::Notebook(Operation::Converse) =>
            command(|(_, turn_id): (NotebookId, TurnId), _: NoBody| Command::CancelTurn { turn_id });
        /// Undoes what the assistant did in one turn, also after others edited on top. Runs are not undone.
        POST "/{turn}/undo", Guard::Notebook(Operation::Edit) =>
            command(|(_, turn): (NotebookId, TurnId), _: NoBody|
                Command::Undo { steps: 1, correlation_id: None, turn_id: Some(turn), cell_id: None });
    })
}

async fn ask(submit: Submit, JsonBody(question): JsonBody<Question>) -> Result<Response, Problem> {
    require_assistants(&submit.app)?;
    // Ids are made from the command's id, so that a repeat asks the same question.
    let command_id = submit.conditions.command_id.clone().unwrap_or_else(|| ulid::Ulid::generate().into());
    let named = |what: &str| hex::encode(Sha256::digest(format!("{what}:{command_id}")))[..32].to_owned();
    let named_conversation = || ConversationId::new(named("conversation")).map_err(|error| invalid(&error));
    let named_turn = || TurnId::new(named("turn")).map_err(|error| invalid(&error));
    let turn_id = question.turn.map_or_else(named_turn, Ok)?;
    let command = Command::StartTurn(StartTurn {
        conversation_id: question.conversation.map_or_else(named_conversation, Ok)?,
        turn_id: Some(turn_id.clone()),
        text: question.text,
        cell_id: question.cell_id,
        model: question.model,
        attachments: question.attachments,
    });
    let conditions = Conditions { command_id: Some(command_id), ..submit.conditions };
    let (app, who, notebook) = (submit.app.clone(), submit.who.clone(), submit.notebook.clone());
    Submit { conditions, ..submit }.command(&command).await?;
    let found = find(&app, &notebook, &turn_id).await?;
    chat::stream(app.notebooks.clone(), who, notebook, turn_id, found.started, None).await
}

fn invalid(error: &impl ToString) -> Problem {
    Problem::invalid(error.to_string())
}

/// Refuses a question on a server where no assistant would answer.
fn require_assistants(app: &App) -> Result<(), Problem> {
    if app.assistants.are_here {
        return Ok(());
    }
    let detail = "no assistant is set up on this server: its operator names a provider, a model and a key when it is \
                  started (`notarium serve --help`, \"Assistants\")";
    Err(Problem::new(StatusCode::SERVICE_UNAVAILABLE, "no_assistant", detail))
}

async fn follow_turn(
    NotebookCaller { app, who, notebook }: NotebookCaller,
    Params((_, turn)): Params<(NotebookId, TurnId)>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let resume = resumed_at(&headers)?;
    let found = find(&app, &notebook, &turn).await?;
    let has_all = |ended: Version| resume.as_ref().is_some_and(|cursor| cursor.version >= ended);
    if found.ended.is_some_and(has_all) {
        return Ok(StatusCode::NO_CONTENT.into_response());
    }
    chat::stream(app.notebooks.clone(), who, notebook, turn, found.started, resume).await
}

fn resumed_at(headers: &HeaderMap) -> Result<Option<TurnCursor>, Problem> {
    let Some(value) = headers.get("last-event-id") else { return Ok(None) };
    let cursor = value.to_str().ok().and_then(TurnCursor::parse);
    let refused = || Problem::invalid("Last-Event-ID is the `id` of the last event that you have, as it came");
    cursor.map(Some).ok_or_else(refused)
}

/// Versions of a turn's start and end in the log.
struct TurnVersions {
    started: Version,
    ended: Option<Version>,
}

async fn find(app: &App, notebook: &NotebookId, turn: &TurnId) -> Result<TurnVersions, Problem> {
    let events = events_of(app, notebook, turn).await?;
    let version_of = |is_it: fn(&Event) -> bool| {
        events.iter().find(|recorded| is_it(&recorded.event)).map(|recorded| recorded.envelope.version)
    };
    let started = version_of(|event| matches!(event, Event::TurnStarted(_)));
    let ended =
        version_of(|event| matches!(event, Event::TurnFinished(_) | Event::TurnCancelled(_) | Event::TurnFailed(_)));
    match started {
        Some(started) => Ok(TurnVersions { started, ended }),
        None => {
            let detail = format!("no turn {turn} here: list them under …/turns");
            Err(Problem::new(StatusCode::NOT_FOUND, "unknown_turn", detail))
        }
    }
}

/// Events of the turn itself: its start, its model calls, its end.
pub(super) async fn events_of(app: &App, notebook: &NotebookId, turn: &TurnId) -> Result<Vec<Recorded>, Problem> {
    let stored = app.store.events_of_subject(notebook, &[turn.to_string()]).await?;
    let events = stored.iter().filter_map(|stored| stored.typed().ok());
    let mut events: Vec<Recorded> = events.filter(|recorded| recorded.event.turn_id() == Some(turn)).collect();
    // An id that was reused after its turn had ended names the later turn.
    let begins = events.iter().rposition(|recorded| matches!(recorded.event, Event::TurnStarted(_)));
    Ok(begins.map(|begins| events.split_off(begins)).unwrap_or_default())
}

// --- turns ---

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
            turn.usage.cached_tokens = turn.usage.cached_tokens.saturating_add(event.usage.cached_tokens);
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
    NotebookCaller { app, notebook, .. }: NotebookCaller,
    QueryOf(query): QueryOf<TurnsQuery>,
) -> Result<Json<TurnPage>, Problem> {
    let wanted = WantedPage::page(query.before, query.limit);
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
