//! Routes for tool calls of assistants: waiting calls, the history of calls, and people's decisions.
//!
//! Names the person who decided on a call first: the core knows only the id of that person.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use notarium_core::{
    Actor, Command, Document, Event, HistoryQuery, NotebookId, Operation, Recorded, Rejection, RejectionCode, Scope,
    ToolCall, ToolCallId, ToolCallPhase, TurnId, Usage, Version, may_decide,
};
use notarium_store::CatalogQuery;
use notarium_wire::rest::{
    Because, Call, CallInFull, CallPage, CallState, CallsQuery, Confirmations, WaitingCall, Yes,
};

use super::answers::{Accepted, NotebookReader, Submit, backwards, command};
use super::chat::events_of;
use crate::app::App;
use crate::assistants::calls;
use crate::auth::Authenticated;
use crate::http::extract::{JsonBody, OptionalJson, Params, QueryOf};
use crate::http::guard::{Guard, GuardedRouter, route_table};
use crate::http::problem::Problem;
use crate::notebooks::listing::{sees, sees_by_coverage, subjects_of};

/// Notebooks that one request for waiting calls reads.
const MAX_READ: usize = 500;
/// Calls that one request for waiting calls returns.
const MAX_SHOWN: usize = 500;
/// Bytes of all their previews together: a call may run every cell.
const MAX_SHOWN_BYTES: usize = 8 << 20;

type CallPath = (NotebookId, ToolCallId);

pub fn routes(router: GuardedRouter<App>) -> GuardedRouter<App> {
    let of = Guard::Notebook;
    route_table!(router; "assistants" "/api" {
        /// Everything that waits for your decision, in all notebooks; the longest waiting first.
        GET "/confirmations", Guard::User(Scope::Read) => list_confirmations;
    } "assistants" "/api/notebooks/{notebook}/calls" {
        /// Calls that assistants requested, with decisions and results: first those that wait, then the last requested
        /// first.
        ///
        /// A page filtered by state may be short or empty; go on while there is a `next`.
        GET "", of(Operation::Read) => list_calls;
        /// One call of any time, in full; of one that has not started also what it would do, for who is to decide.
        GET "/{call}", of(Operation::Read) => read_call;
        /// Lets the call happen, once, if what it touches is still as it was. Only people, and tokens with the scope
        /// `confirm`.
        POST "/{call}/confirm", of(Operation::ConfirmEdit) => confirm_call;
        /// Refuses the call; the assistant is told, with the reason.
        POST "/{call}/deny", of(Operation::ConfirmEdit) =>
            command(|(_, call_id): CallPath, OptionalJson(Because { reason })|
                Command::DenyToolCall { call_id, detail: Some(reason) });
        // The core checks who may withdraw: the call's person, or an editor.
        /// Takes a call back that has not started: by the person it is for, or by who may edit.
        POST "/{call}/withdraw", of(Operation::Read) =>
            command(|(_, call_id): CallPath, OptionalJson(Because { reason })|
                Command::WithdrawToolCall { call_id, detail: Some(reason) });
        /// Undoes what a call did, also after others edited on top. Runs are not undone.
        POST "/{call}/undo", of(Operation::Edit) => undo_call;
    })
}

fn waiting(state: &Document) -> impl Iterator<Item = (&ToolCallId, &Arc<ToolCall>)> {
    state.tool_calls.iter().filter(|(_, call)| matches!(call.phase, ToolCallPhase::Waiting))
}

// --- everywhere ---

async fn list_confirmations(
    State(app): State<App>,
    authenticated: Authenticated,
) -> Result<Json<Confirmations>, Problem> {
    let (notebooks, mut is_cut) = with_waiting_calls(&app, &authenticated).await?;
    let mut found = Vec::new();
    for notebook in notebooks {
        // Rights may have changed since the catalog was written, so they are checked per notebook and call.
        let Some(document) = looked_at(&app, &authenticated, &notebook).await? else { continue };
        found.extend(waiting_for(&app, &authenticated, &document));
    }
    found.sort_by_key(|(_, call, _)| call.requested_at);
    is_cut |= found.len() > MAX_SHOWN;
    found.truncate(MAX_SHOWN);
    let (mut calls, mut bytes) = (Vec::new(), 0);
    for (id, call, state) in found {
        let confirmation = calls::preview(&state, &call);
        bytes += calls::preview_bytes(&confirmation);
        if bytes > MAX_SHOWN_BYTES && !calls.is_empty() {
            is_cut = true;
            break;
        }
        let (notebook, title) = (state.notebook_id.clone(), state.title.clone());
        calls.push(WaitingCall { notebook, title, call: calls::waiting(&id, &call), confirmation });
    }
    Ok(Json(Confirmations { calls, is_cut }))
}

/// Notebooks where a call may wait, and a flag if there are more. Open notebooks are included, because the catalog lags
/// behind them.
async fn with_waiting_calls(app: &App, authenticated: &Authenticated) -> Result<(BTreeSet<NotebookId>, bool), Problem> {
    let subjects = subjects_of(authenticated);
    let query = CatalogQuery {
        subjects: if sees_by_coverage(authenticated) { None } else { Some(subjects.clone()) },
        has_waiting_calls: Some(true),
        limit: MAX_READ,
        ..CatalogQuery::default()
    };
    let page = app.store.catalog(query).await?;
    let seen = page.entries.into_iter().filter(|entry| sees(authenticated, &subjects, entry));
    let open = app.rooms.open_ids().into_iter().filter(|id| authenticated.may_see(id));
    Ok((seen.map(|entry| entry.notebook_id).chain(open).collect(), page.next.is_some()))
}

/// The notebook's state, if the caller may read it. A notebook that is not open is replayed from disk, and not opened.
async fn looked_at(
    app: &App,
    authenticated: &Authenticated,
    notebook: &NotebookId,
) -> Result<Option<Arc<Document>>, Problem> {
    if let Some(read) = app.rooms.read_if_open(authenticated, notebook).await {
        return Ok(read.ok().map(|state| state.notebook));
    }
    let Some(head) = app.store.head(notebook).await? else { return Ok(None) };
    match app.replays.state_at(&*app.store, notebook, head.version).await {
        Ok(document) => Ok(Some(Arc::new(document))),
        // Damaged, or written by a newer server: its room returns the readable part.
        Err(_) => Ok(app.read(authenticated, notebook).await.ok().map(|state| state.notebook)),
    }
}

/// Waiting calls of one notebook that the caller may decide.
fn waiting_for(
    app: &App,
    authenticated: &Authenticated,
    state: &Arc<Document>,
) -> Vec<(ToolCallId, Arc<ToolCall>, Arc<Document>)> {
    let (authority, now) = (authenticated.authority_for(&state.notebook_id), app.clock.now());
    let mine = waiting(state).filter(|(_, call)| may_decide(state, &authenticated.actor, &authority, now, call));
    mine.map(|(id, call)| (id.clone(), call.clone(), state.clone())).collect()
}

// --- list ---

fn is_wanted(query: &CallsQuery, call: &Call) -> bool {
    wants_function(query, &call.function)
        && query.since.is_none_or(|since| call.requested_at >= since)
        && query.state.is_none_or(|state| call.state == state)
}

fn wants_function(query: &CallsQuery, function: &str) -> bool {
    query.function.as_deref().is_none_or(|wanted| wanted == function)
}

async fn list_calls(
    NotebookReader { app, notebook, now, .. }: NotebookReader,
    QueryOf(query): QueryOf<CallsQuery>,
) -> Result<Json<CallPage>, Problem> {
    let shown_first: Vec<Call> = waiting(&now.notebook).map(|(id, call)| calls::waiting(id, call)).collect();
    let elsewhere: BTreeSet<ToolCallId> = shown_first.iter().map(|call| call.id.clone()).collect();
    let (ids, next) = requested(&app, &notebook, &query, &elsewhere).await?;
    let mut calls = if query.before.is_none() { shown_first } else { Vec::new() };
    for id in ids {
        calls.extend(recorded(&app, &notebook, &id).await?);
    }
    calls.retain(|call| is_wanted(&query, call));
    let mut usages = Usages { app: &app, notebook: &notebook, turns: HashMap::new() };
    for call in &mut calls {
        call.model_usage = usages.of(call).await?;
    }
    Ok(Json(CallPage { calls, next }))
}

/// Token usage of model calls by turn, each with the version of its end.
struct Usages<'a> {
    app: &'a App,
    notebook: &'a NotebookId,
    turns: HashMap<TurnId, Vec<(Version, Usage)>>,
}

impl Usages<'_> {
    /// Usage of the last model call that ended before the tool call was requested.
    async fn of(&mut self, call: &Call) -> Result<Option<Usage>, Problem> {
        let Some(turn_id) = &call.turn_id else { return Ok(None) };
        if !self.turns.contains_key(turn_id) {
            let events = events_of(self.app, self.notebook, turn_id).await?;
            let ends = events.iter().filter_map(|recorded| match &recorded.event {
                Event::TurnModelCallFinished(event) => Some((recorded.envelope.version, event.usage)),
                _ => None,
            });
            self.turns.insert(turn_id.clone(), ends.collect());
        }
        let ends = self.turns.get(turn_id).map_or(&[][..], Vec::as_slice);
        Ok(ends.iter().rfind(|(version, _)| *version < call.requested_version).map(|(_, usage)| *usage))
    }
}

/// Latest requests before a version, without those in `elsewhere`, and the version to go on from.
async fn requested(
    app: &App,
    notebook: &NotebookId,
    query: &CallsQuery,
    elsewhere: &BTreeSet<ToolCallId>,
) -> Result<(Vec<ToolCallId>, Option<Version>), Problem> {
    let limit = query.limit.unwrap_or(50).clamp(1, 200);
    let (mut ids, mut is_before_since) = (Vec::new(), false);
    let next = backwards(&*app.store, notebook, "ToolCallRequested", query.before, |recorded| {
        is_before_since = query.since.is_some_and(|since| recorded.envelope.recorded_at < since);
        let Event::ToolCallRequested(event) = recorded.event else { return false };
        if !is_before_since && wants_function(query, &event.function) && !elsewhere.contains(&event.call_id) {
            ids.push(event.call_id);
        }
        ids.len() == limit || is_before_since
    });
    let next = next.await?.filter(|_| !is_before_since);
    Ok((ids, next))
}

// --- one call ---

async fn recorded(app: &App, notebook: &NotebookId, id: &ToolCallId) -> Result<Option<Call>, Problem> {
    let query = HistoryQuery::ToolCall { call_id: id.clone() };
    let stored = app.store.history(notebook, &query).await?;
    let events: Vec<Recorded> = stored.events.iter().filter_map(|stored| stored.typed().ok()).collect();
    Ok(calls::replay(&events))
}

async fn read_call(
    NotebookReader { app, who, notebook, now }: NotebookReader,
    Params((_, id)): Params<CallPath>,
) -> Result<Json<CallInFull>, Problem> {
    let state = now.notebook;
    let unknown = || Rejection::new(RejectionCode::UnknownToolCall, format!("no tool call {id} here: check the id"));
    let mut call = recorded(&app, &notebook, &id).await?.ok_or_else(unknown)?;
    call.model_usage = Usages { app: &app, notebook: &notebook, turns: HashMap::new() }.of(&call).await?;
    let open = state.tool_calls.get(&id).filter(|open| !matches!(open.phase, ToolCallPhase::Started { .. }));
    let authority = who.authority_for(&notebook);
    let may_decide = open.is_some_and(|open| {
        matches!(open.phase, ToolCallPhase::Waiting)
            // A caller who is asked for the password again may decide after that.
            && (authority.scopes.contains(&Scope::Confirm) || who.asks_again)
            && may_decide(&state, &who.actor, &authority, app.clock.now(), open)
    });
    let confirmation = open.map(|open| calls::preview(&state, open));
    Ok(Json(CallInFull { title: state.title.clone(), call, confirmation, may_decide }))
}

// --- decide ---

async fn confirm_call(
    submit: Submit,
    Params((_, call_id)): Params<CallPath>,
    JsonBody(Yes { arguments_hash }): JsonBody<Yes>,
) -> Result<Accepted, Problem> {
    let accepted = submit.command(&Command::ConfirmToolCall { call_id, arguments_hash }).await?;
    // Confirming a call whose target has changed voids the call: that is an error for the caller.
    match accepted.0.outcome.notices.first() {
        Some(void) => Err(Rejection::new(RejectionCode::ToolCallState, void.clone()).into()),
        None => Ok(accepted),
    }
}

async fn undo_call(submit: Submit, Params((_, call)): Params<CallPath>) -> Result<Accepted, Problem> {
    // All changes of a call have the call's id as their undo group.
    let group = call.as_str().parse().map_err(|_| Problem::invalid("that is no id of a call: check it"))?;
    submit.command(&Command::Undo { steps: 1, correlation_id: Some(group), turn_id: None, cell_id: None }).await
}

/// Adds the name of the earlier decider to the refusal of a decision.
pub async fn named(
    app: &App,
    actor: &Actor,
    notebook: &NotebookId,
    command: &Command,
    refused: Rejection,
) -> Rejection {
    let (Command::ConfirmToolCall { call_id, .. }
    | Command::DenyToolCall { call_id, .. }
    | Command::WithdrawToolCall { call_id, .. }) = command
    else {
        return refused;
    };
    if refused.code != RejectionCode::ToolCallState {
        return refused;
    }
    let Ok(Some(call)) = recorded(app, notebook, call_id).await else { return refused };
    let message = told(app, actor, call_id, &call).await.unwrap_or(refused.message);
    Rejection { message, ..refused }
}

async fn told(app: &App, actor: &Actor, id: &ToolCallId, call: &Call) -> Option<String> {
    // For the caller's own decision the core's text says "you".
    let Actor::User { id: decider } = call.decided_by.as_ref().filter(|by| *by != actor)? else { return None };
    let name = app.accounts.store().user(decider).await.ok()??.name;
    match call.state {
        CallState::Denied => Some(format!("call {id} is over: {name} denied it")),
        CallState::Withdrawn => Some(format!("call {id} is over: {name} took it back")),
        CallState::Confirmed => Some(format!("{name} has confirmed call {id} already")),
        CallState::Running => Some(format!("{name} has confirmed call {id}, and it has started")),
        CallState::Succeeded | CallState::Failed | CallState::OutcomeUnknown => {
            Some(format!("call {id} is over: {name} confirmed it, and it was done"))
        }
        _ => None,
    }
}
