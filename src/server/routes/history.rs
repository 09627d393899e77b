//! Routes for the record: events as pages, lines, a stream or server-sent events; the trash; verification of the hash
//! chain.

use std::collections::{BTreeSet, VecDeque};
use std::convert::Infallible;
use std::sync::Arc;

use axum::Json;
use axum::response::sse::{Event as SseEvent, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use http::{HeaderMap, header};
use notarium_core::{Event, Head, NotebookId, Operation, RecordCheck, Recorded, RedactionTarget, Stored, Version};
use notarium_wire::EventMessage;
use notarium_wire::rest::{
    BlameQuery, ContentToRedact, DiffQuery, EventPage, EventsQuery, FoundPlaces, NewRedaction, NotebookBlame,
    NotebookDiff, PlacesQuery, Redaction, Trash, TrashedCell, Verification, VerificationQuery,
};
use notarium_wire::signed_head::StatedHead;

use super::answers::{NotebookCaller, NotebookReader, SCAN_PAGE, backwards};
use crate::app::App;
use crate::auth::Authenticated;
use crate::http::extract::{JsonBody, QueryOf, accepts};
use crate::http::guard::{Guard, GuardedRouter, route_table};
use crate::http::guarded_stream;
use crate::http::problem::Problem;
use crate::notebooks::Notebooks;
use crate::notebooks::history::{self, KEEP_ALIVE, LogWatch};
use crate::notebooks::past_text;
use crate::notebooks::proof;

const MAX_PAGE: usize = 1_000;

pub fn routes(router: GuardedRouter<App>) -> GuardedRouter<App> {
    let read = Guard::Notebook(Operation::Read);
    route_table!(router; "history" "/api/notebooks/{notebook}" {
        /// Events: a page of JSON; `Accept: application/x-ndjson` gives all as JSON Lines; `Accept: text/event-stream`
        /// those to come.
        ///
        /// The stream honours `Last-Event-ID`; each event's `id` is its version. A slow reader misses nothing.
        GET "/events", read =>
            read_events, answers::<EventPage>("200", "application/json"), answers_plain("200", "application/x-ndjson"),
            answers_plain("200", "text/event-stream");
        /// The cells in the trash, the last deleted first. `POST …/cells/{cell}/restore` brings one back where it was.
        GET "/trash", read => list_trash;
        /// Cells that differ between two versions, or since one.
        GET "/diff", read => diff;
        /// Authors of the characters of the cells, now or at a version.
        GET "/blame", read => blame;
        /// Finds a text in the cells, and with `ever=true` where it stood once, with the versions.
        GET "/find", read => find;
        /// Proves the chain of hashes up to a version, replays the state from nothing, and audits who might do what is recorded.
        /// Compares the kept answers to commands, and snapshots, with the events.
        GET "/verify", read => verify;
        /// Removes content from the record for good: `█` stands in its place, and an event says who did it and why. With
        /// `preview` nothing is changed.
        ///
        /// The answer comes when the content is gone from the server's files.
        POST "/redactions", Guard::Notebook(Operation::Redact) => redact;
        /// The head of the record, signed: a note to keep elsewhere. It proves later that the record was neither cut nor
        /// rewritten.
        GET "/signed-head", read => signed_head, answers_plain("200", "text/plain; charset=utf-8");
    })
}

// --- events ---

async fn read_events(
    NotebookReader { app, who, notebook, now }: NotebookReader,
    QueryOf(query): QueryOf<EventsQuery>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let head = now.head;
    if accepts(&headers, "text/event-stream") {
        let since = last_event_id(&headers)?.or(query.after).unwrap_or(head.version);
        return stream(app.notebooks.clone(), who, notebook, since, head).await;
    }
    let after = query.after.unwrap_or(0);
    if accepts(&headers, "application/x-ndjson") {
        return lines(app, who, notebook, after, head.version).await;
    }
    let limit = query.limit.unwrap_or(200).clamp(1, MAX_PAGE);
    let events = app.store.read(&notebook, after, limit).await?;
    Ok(Json(page(events, head)).into_response())
}

/// Leaves out events after `head`: verifiers compare the last event with the head.
fn page(mut events: Vec<Stored>, head: Head) -> EventPage {
    events.retain(|stored| stored.envelope.version <= head.version);
    let last = events.last().map(|stored| stored.envelope.version);
    let next = last.filter(|version| *version < head.version);
    EventPage { events, head, next }
}

/// Streams all events up to a version, one JSON object a line, while the caller may read them. If the token ends, the
/// download is aborted visibly.
async fn lines(
    app: App,
    authenticated: Authenticated,
    notebook: NotebookId,
    after: Version,
    to: Version,
) -> Result<Response, Problem> {
    let (reading, of) = (app.clone(), notebook.clone());
    let pages = stream::try_unfold(after, move |after| {
        let (app, notebook) = (reading.clone(), of.clone());
        async move {
            let mut events = app.store.read(&notebook, after, SCAN_PAGE).await?;
            events.retain(|stored| stored.envelope.version <= to);
            let Some(last) = events.last().map(|stored| stored.envelope.version) else { return Ok(None) };
            Ok::<_, notarium_store::StoreError>(Some((text_of(&events), last)))
        }
    });
    let body = guarded_stream::body(app.readers(), &authenticated, &notebook, pages).await?;
    Ok(([(header::CONTENT_TYPE, "application/x-ndjson")], body).into_response())
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

async fn list_trash(NotebookReader { app, notebook, now, .. }: NotebookReader) -> Result<Json<Trash>, Problem> {
    let state = now.notebook;
    let mut seen: BTreeSet<_> = state.cells.keys().cloned().collect();
    let mut cells = Vec::new();
    let older = backwards(&*app.store, &notebook, "CellDeleted", Some(state.version + 1), |recorded| {
        cells.extend(trashed(recorded).filter(|cell| seen.insert(cell.cell_id.clone())));
        cells.len() == MAX_PAGE
    });
    let incomplete = older.await?.is_some();
    Ok(Json(Trash { cells, incomplete }))
}

fn trashed(recorded: Recorded) -> Option<TrashedCell> {
    let Recorded { envelope, event: Event::CellDeleted(event) } = recorded else { return None };
    Some(TrashedCell {
        cell_id: event.cell_id,
        cell: event.cell,
        deleted_by: envelope.actor,
        deleted_at: envelope.recorded_at,
        deleted_version: envelope.version,
    })
}

// --- find, diff, blame ---

async fn diff(
    NotebookReader { app, notebook, now, .. }: NotebookReader,
    QueryOf(DiffQuery { from, to }): QueryOf<DiffQuery>,
) -> Result<Json<NotebookDiff>, Problem> {
    let at = async |version: Version| match version == now.notebook.version {
        true => Ok(now.notebook.clone()),
        false => app.replays.state_at(&*app.store, &notebook, version).await.map(Arc::new),
    };
    let (before, after) = (at(from).await?, at(to.unwrap_or(now.notebook.version)).await?);
    let compared = tokio::task::spawn_blocking(move || crate::notebooks::diff::between(&before, &after)).await;
    compared.map(Json).map_err(|error| Problem::invalid(format!("the versions were not compared: {error}")))
}

async fn blame(
    NotebookReader { app, now, .. }: NotebookReader,
    QueryOf(BlameQuery { cell, at }): QueryOf<BlameQuery>,
) -> Result<Json<NotebookBlame>, Problem> {
    crate::notebooks::blame::of(&app, now.notebook, cell, at).await.map(Json)
}

async fn find(
    NotebookReader { app, now, .. }: NotebookReader,
    QueryOf(PlacesQuery { text, ever }): QueryOf<PlacesQuery>,
) -> Result<Json<FoundPlaces>, Problem> {
    past_text::find(&app, &now.notebook, &text, ever).await.map(Json)
}

// --- redaction ---

async fn redact(
    NotebookCaller { app, who, notebook }: NotebookCaller,
    JsonBody(NewRedaction { target, reason, preview }): JsonBody<NewRedaction>,
) -> Result<Json<Redaction>, Problem> {
    let target = match target {
        ContentToRedact::Event { version } => RedactionTarget::Event { version },
        ContentToRedact::Text { text } => RedactionTarget::Text { text },
        ContentToRedact::Cell { cell_id } => RedactionTarget::Cell { cell_id },
    };
    if preview {
        return app.preview_redaction(&notebook, target).await.map(Json);
    }
    app.redact(&who, &notebook, target, reason).await.map(Json)
}

// --- proof ---

async fn verify(
    NotebookReader { app, notebook, now, .. }: NotebookReader,
    QueryOf(query): QueryOf<VerificationQuery>,
) -> Result<Json<Verification>, Problem> {
    let (served, end) = (now.notebook, now.head.version);
    let to = query.at.unwrap_or(end).min(end);
    let proven = proof::of(&*app.store, &notebook, to, end, query.unproven.unwrap_or(true)).await?;
    let RecordCheck { head, broken, audit } = proven.check;
    let mut answer = Verification {
        ok: broken.is_none() && proven.contradiction.is_none(),
        version: head.version,
        hash: head.hash,
        state_hash: None,
        state_is_replayed: None,
        untold: audit.as_ref().map(|audit| audit.untold().clone()),
        problem: broken,
        contradiction: proven.contradiction,
        commands: Some(proven.commands),
        snapshots: Some(proven.snapshots),
    };
    // The chain of events that this server does not know can be verified, but not the state after them.
    if let Some(audit) = audit.filter(|_| answer.problem.is_none()) {
        let state = audit.into_document();
        answer.state_is_replayed = (to == served.version).then(|| state == *served);
        answer.state_hash = Some(history::state_hash(&state));
    }
    Ok(Json(answer))
}

async fn signed_head(NotebookReader { app, notebook, now, .. }: NotebookReader) -> Response {
    let stated = StatedHead::new(notebook, now.head, app.clock.now());
    ([(header::CONTENT_TYPE, "text/plain; charset=utf-8")], app.signer.sign(&stated)).into_response()
}

/// The version in `Last-Event-ID`.
pub fn last_event_id(headers: &HeaderMap) -> Result<Option<Version>, Problem> {
    let Some(value) = headers.get("last-event-id") else { return Ok(None) };
    let version = value.to_str().ok().and_then(|text| text.parse().ok());
    version.map(Some).ok_or_else(|| Problem::invalid("Last-Event-ID is the version of the last event that you have"))
}

/// Streams events after `since`, while the caller may read the notebook.
pub async fn stream(
    notebooks: Arc<Notebooks>,
    authenticated: Authenticated,
    notebook: NotebookId,
    since: Version,
    head: Head,
) -> Result<Response, Problem> {
    if since > head.version {
        let detail = format!("version {since} is not reached: the notebook is at {}", head.version);
        return Err(Problem::new(http::StatusCode::BAD_REQUEST, "version_in_future", detail));
    }
    let watch = LogWatch::start(notebooks, authenticated, &notebook, since).await?;
    let listener = Listener { watch, ready: VecDeque::new() };
    let events = stream::unfold(listener, |mut listener| async move {
        let event = listener.next().await?;
        Some((Ok::<_, Infallible>(event), listener))
    });
    Ok(Sse::new(events).keep_alive(KeepAlive::new().interval(KEEP_ALIVE)).into_response())
}

/// State of one stream.
struct Listener {
    watch: LogWatch,
    ready: VecDeque<SseEvent>,
}

impl Listener {
    /// `None`: the caller may read no more, or the server stops.
    async fn next(&mut self) -> Option<SseEvent> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Some(event);
            }
            self.read_log().await?;
            if self.ready.is_empty() {
                self.watch.wait().await?;
            }
        }
    }

    async fn read_log(&mut self) -> Option<()> {
        let stored = self.watch.read().await?;
        self.ready.extend(stored.iter().map(|stored| {
            let message = EventMessage::from(stored);
            let data = serde_json::to_string(&message).unwrap_or_default();
            SseEvent::default().id(message.version.to_string()).event(message.event_type).data(data)
        }));
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use notarium_core::{RawJson, Salt};
    use serde_json::json;

    use super::*;

    fn three() -> (Vec<Stored>, Vec<Head>) {
        let mut head = Head::START;
        let sealed = (1..=3_u64).map(|version| {
            let envelope = serde_json::from_value(json!({
                "id": format!("e{version}"), "notebook_id": "n", "version": version, "type": "CellDeleted", "schema": 1,
                "actor": {"kind": "system"}, "command_id": "c", "correlation_id": "c", "recorded_at": 5,
            }));
            let stored = Stored::seal(&mut head, envelope.unwrap(), RawJson::parse("{}").unwrap(), Salt([0; 16]));
            (stored, head)
        });
        sealed.unzip()
    }

    #[test]
    fn a_page_ends_where_its_head_does() {
        let (events, heads) = three();
        let of_two = page(events.clone(), heads[1]);
        assert_eq!((of_two.events.last().unwrap().hash, of_two.next), (heads[1].hash, None));
        let of_all = page(events[..2].to_vec(), heads[2]);
        assert_eq!((of_all.events.len(), of_all.next), (2, Some(2)));
    }
}
