//! Server-sent events: the log from a version on, for consumers that only listen.
//!
//! The room's frames say only that there is something new; the events are read from the log at the consumer's own pace,
//! so that a slow one costs nothing and misses nothing.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::time::Duration;

use axum::extract::ws::Utf8Bytes;
use axum::response::sse::{Event as SseEvent, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use http::HeaderMap;
use notarium_core::{Head, NotebookId, Version};
use notarium_wire::{EventMessage, SubscribeMessage};

use crate::app::{App, identity};
use crate::auth::Authenticated;
use crate::problem::Problem;
use crate::rooms::{ClientId, Outbox, OutboxReceiver, RoomHandle};
use crate::socket::Follow;

/// Events that are read at once.
const PAGE: usize = 500;
/// Frames that say "something is new": one is enough.
const MAX_WAITING_FRAMES: usize = 4;
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// The version in `Last-Event-ID`.
pub fn last_event_id(headers: &HeaderMap) -> Result<Option<Version>, Problem> {
    let Some(value) = headers.get("last-event-id") else { return Ok(None) };
    let version = value.to_str().ok().and_then(|text| text.parse().ok());
    version.map(Some).ok_or_else(|| Problem::invalid("Last-Event-ID is the version of the last event that you have"))
}

/// Events after `since`, for as long as the consumer may read the notebook.
pub async fn stream(
    app: App,
    authenticated: Authenticated,
    notebook: NotebookId,
    since: Version,
    head: Head,
) -> Result<Response, Problem> {
    if since > head.version {
        let detail = format!("version {since} is not reached: the notebook is at {}", head.version);
        return Err(Problem::new(http::StatusCode::BAD_REQUEST, "version_in_future", detail));
    }
    let room = app.room(&authenticated, &notebook)?;
    let follow = Follow::new(&app.accounts, &authenticated).await?;
    let (outbox, receiver) = Outbox::new(MAX_WAITING_FRAMES);
    let client = app.next_client();
    // Nothing is resent by the room: what was before is read from the log.
    let subscribe = SubscribeMessage { notebook: notebook.clone(), since: Some(head.version), unconfirmed: Vec::new() };
    room.subscribe(client, identity(&authenticated, &notebook, &format!("sse{}", client.0)), outbox, subscribe);
    let listener = Listener { app, room, client, receiver, follow, version: since, ready: VecDeque::new() };
    let events = stream::unfold(listener, |mut listener| async move {
        let event = listener.next().await?;
        Some((Ok::<_, Infallible>(event), listener))
    });
    Ok(Sse::new(events).keep_alive(KeepAlive::new().interval(KEEP_ALIVE)).into_response())
}

/// One consumer. Dropping it leaves the room.
struct Listener {
    app: App,
    room: RoomHandle,
    client: ClientId,
    receiver: OutboxReceiver,
    follow: Follow,
    /// Of the last event that was read.
    version: Version,
    ready: VecDeque<SseEvent>,
}

impl Listener {
    /// `None`: it may hear no more.
    async fn next(&mut self) -> Option<SseEvent> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Some(event);
            }
            self.read_log().await?;
            if self.ready.is_empty() {
                self.wait().await?;
            }
        }
    }

    async fn read_log(&mut self) -> Option<()> {
        let stored = self.app.store.read(self.room.notebook_id(), self.version, PAGE).await.ok()?;
        self.version = stored.last().map_or(self.version, |stored| stored.envelope.version);
        self.ready.extend(stored.iter().map(|stored| {
            let message = EventMessage::from(stored);
            let data = serde_json::to_string(&message).unwrap_or_default();
            SseEvent::default().id(message.version.to_string()).event(message.event_type).data(data)
        }));
        Some(())
    }

    /// Until there is something new, or nothing is allowed any more.
    async fn wait(&mut self) -> Option<()> {
        let mut frames = Vec::new();
        tokio::select! {
            is_open = self.receiver.recv_many(&mut frames) => (is_open && !frames.iter().any(ends_it)).then_some(()),
            changed = self.follow.changed() => {
                let authenticated = changed.ok()?;
                let notebook = self.room.notebook_id();
                self.room.identity_changed(self.client, identity(&authenticated, notebook, ""));
                self.app.read(&authenticated, notebook).await.ok().map(|_| ())
            }
            () = self.app.stopping.cancelled() => None,
        }
    }
}

/// The role was taken away, or the room refuses.
fn ends_it(frame: &Utf8Bytes) -> bool {
    frame.starts_with("{\"error\"") || (frame.starts_with("{\"access\"") && frame.contains("\"role\":null"))
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.room.unsubscribe(self.client);
    }
}
