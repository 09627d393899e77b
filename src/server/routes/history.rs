//! The record: events as pages, as lines, as a stream; the trash; proof that nothing was changed.

use std::collections::BTreeSet;

use axum::Json;
use axum::body::Body;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use http::{HeaderMap, header};
use notarium_core::{
    CellContent, CellId, ChainError, Event, Hash, Head, Millis, NotebookId, Operation, Recorded, Stored, Version,
    verify_chain,
};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::routes;

use super::answers::AtVersion;
use super::live;
use super::scan::{SCAN_PAGE, backwards};
use crate::app::App;
use crate::auth::Authenticated;
use crate::extract::{Params, QueryOf, accepts};
use crate::guard::{Guard, GuardedRouter};
use crate::problem::Problem;
use crate::replay;

const MAX_PAGE: usize = 1_000;
/// Events that one look into the trash goes back.
const MAX_SCANNED_EVENTS: usize = 50_000;

pub fn routes(router: GuardedRouter<App>) -> GuardedRouter<App> {
    router
        .routes(Guard::Notebook(Operation::Read), routes!(read_events))
        .routes(Guard::Notebook(Operation::Read), routes!(list_trash))
        .routes(Guard::Notebook(Operation::Read), routes!(verify))
}

// --- events ---

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct EventsQuery {
    /// Events after this version; absent: from the beginning, or for a stream from now on.
    #[serde(alias = "since")]
    pub after: Option<Version>,
    /// Of a page: 1 to 1,000; absent: 200.
    pub limit: Option<usize>,
}

#[derive(Debug, Serialize, ToSchema)]
struct EventPage {
    /// With everything that is hashed: see `protocol/README.md`, The record.
    #[schema(value_type = Vec<Object>)]
    events: Vec<Stored>,
    /// The notebook's end now.
    #[schema(value_type = Object)]
    head: Head,
    /// Ask again with this as `after`; absent when this is the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<Version>,
}

/// Events: a page of JSON; `Accept: application/x-ndjson` gives all as JSON Lines; `Accept: text/event-stream` those to come.
///
/// The stream honours `Last-Event-ID`; each event's `id` is its version. A slow reader misses nothing.
#[utoipa::path(get, path = "/api/notebooks/{notebook}/events", tag = "history",
    params(("notebook" = String, Path), EventsQuery),
    responses((status = 200, body = EventPage), (status = "default", body = Problem)))]
async fn read_events(
    State(app): State<App>,
    authenticated: Authenticated,
    Params(notebook): Params<NotebookId>,
    QueryOf(query): QueryOf<EventsQuery>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let head = app.read(&authenticated, &notebook).await?.head;
    if accepts(&headers, "text/event-stream") {
        let since = live::last_event_id(&headers)?.or(query.after).unwrap_or(head.version);
        return live::stream(app, authenticated, notebook, since, head).await;
    }
    let after = query.after.unwrap_or(0);
    if accepts(&headers, "application/x-ndjson") {
        return Ok(lines(app, notebook, after, head.version));
    }
    let limit = query.limit.unwrap_or(200).clamp(1, MAX_PAGE);
    let events = app.store.read(&notebook, after, limit).await?;
    let last = events.last().map(|stored| stored.envelope.version);
    let next = last.filter(|version| *version < head.version);
    Ok(Json(EventPage { events, head, next }).into_response())
}

/// All events up to a version, one JSON object a line.
fn lines(app: App, notebook: NotebookId, after: Version, to: Version) -> Response {
    let pages = stream::try_unfold(after, move |after| {
        let (app, notebook) = (app.clone(), notebook.clone());
        async move {
            let mut events = app.store.read(&notebook, after, SCAN_PAGE).await?;
            events.retain(|stored| stored.envelope.version <= to);
            let Some(last) = events.last().map(|stored| stored.envelope.version) else { return Ok(None) };
            Ok::<_, notarium_store::StoreError>(Some((text_of(&events), last)))
        }
    });
    ([(header::CONTENT_TYPE, "application/x-ndjson")], Body::from_stream(pages)).into_response()
}

fn text_of(events: &[Stored]) -> String {
    let mut text = String::new();
    for stored in events {
        text.push_str(&serde_json::to_string(stored).unwrap_or_default());
        text.push('\n');
    }
    text
}

// --- trash ---

#[derive(Debug, Serialize, ToSchema)]
struct Trash {
    cells: Vec<TrashedCell>,
    /// There may be older ones: the log was not read to its beginning.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    incomplete: bool,
}

#[derive(Debug, Serialize, ToSchema)]
struct TrashedCell {
    #[schema(value_type = String)]
    cell_id: CellId,
    #[schema(value_type = Object)]
    cell: CellContent,
    #[schema(value_type = Object)]
    deleted_by: notarium_core::Actor,
    deleted_at: Millis,
    deleted_version: Version,
}

/// Deleted cells, the last deleted first. `POST …/cells/{cell}/restore` brings one back where it was.
#[utoipa::path(get, path = "/api/notebooks/{notebook}/trash", tag = "history",
    params(("notebook" = String, Path)),
    responses((status = 200, body = Trash), (status = "default", body = Problem)))]
async fn list_trash(
    State(app): State<App>,
    authenticated: Authenticated,
    Params(notebook): Params<NotebookId>,
) -> Result<Json<Trash>, Problem> {
    let state = app.read(&authenticated, &notebook).await?.notebook;
    let mut seen: BTreeSet<CellId> = state.cells.keys().cloned().collect();
    let mut cells = Vec::new();
    let older = backwards(&*app.store, &notebook, None, MAX_SCANNED_EVENTS, |stored| {
        cells.extend(trashed(stored).filter(|cell| seen.insert(cell.cell_id.clone())));
        cells.len() == MAX_PAGE
    });
    let incomplete = older.await?.is_some();
    Ok(Json(Trash { cells, incomplete }))
}

fn trashed(stored: &Stored) -> Option<TrashedCell> {
    if stored.envelope.event_type != "CellDeleted" {
        return None;
    }
    let Ok(Recorded { envelope, event: Event::CellDeleted(event) }) = stored.typed() else { return None };
    Some(TrashedCell {
        cell_id: event.cell_id,
        cell: event.cell,
        deleted_by: envelope.actor,
        deleted_at: envelope.recorded_at,
        deleted_version: envelope.version,
    })
}

// --- proof ---

#[derive(Debug, Serialize, ToSchema)]
struct Verification {
    /// The chain is whole.
    ok: bool,
    /// The last version that is proven.
    version: Version,
    /// The hash of that event.
    #[schema(value_type = String)]
    hash: Hash,
    /// SHA-256 of the state that the events lead to, in JSON: the same on every server that has the same events.
    #[schema(value_type = Option<String>)]
    #[serde(skip_serializing_if = "Option::is_none")]
    state_hash: Option<Hash>,
    /// The state that is served is the one that the events lead to. Absent for the past.
    #[serde(skip_serializing_if = "Option::is_none")]
    state_is_replayed: Option<bool>,
    /// Where and how the chain breaks first.
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<String>,
}

/// Proves the chain of hashes up to a version, and replays the state from nothing.
#[utoipa::path(get, path = "/api/notebooks/{notebook}/verify", tag = "history",
    params(("notebook" = String, Path), AtVersion),
    responses((status = 200, body = Verification), (status = "default", body = Problem)))]
async fn verify(
    State(app): State<App>,
    authenticated: Authenticated,
    Params(notebook): Params<NotebookId>,
    QueryOf(query): QueryOf<AtVersion>,
) -> Result<Json<Verification>, Problem> {
    let served = app.read(&authenticated, &notebook).await?.notebook;
    let to = query.at.unwrap_or(served.version).min(served.version);
    let (head, broken) = proven(&app, &notebook, to).await?;
    let mut answer = Verification {
        ok: broken.is_none(),
        version: head.version,
        hash: head.hash,
        state_hash: None,
        state_is_replayed: None,
        problem: broken.map(|error| error.to_string()),
    };
    if answer.ok {
        let state = replay::replayed(&app, &notebook, to).await?;
        answer.state_is_replayed = (to == served.version).then(|| state == *served);
        answer.state_hash = Some(replay::state_hash(&state));
    }
    Ok(Json(answer))
}

/// The end of what is proven, and the first break.
async fn proven(app: &App, notebook: &NotebookId, to: Version) -> Result<(Head, Option<ChainError>), Problem> {
    let mut head = Head::START;
    while head.version < to {
        let events = app.store.read(notebook, head.version, SCAN_PAGE).await?;
        if events.is_empty() {
            break;
        }
        for stored in events.iter().take_while(|stored| stored.envelope.version <= to) {
            match verify_chain(head, [stored]) {
                Ok(next) => head = next,
                Err(error) => return Ok((head, Some(error))),
            }
        }
        tokio::task::yield_now().await;
    }
    Ok((head, None))
}
