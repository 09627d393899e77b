//! Server-sent events: the log from a version on, for clients that only listen.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::Arc;

use axum::response::sse::{Event as SseEvent, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use http::HeaderMap;
use notarium_core::{Head, NotebookId, Version};
use notarium_wire::EventMessage;

use crate::auth::Authenticated;
use crate::http::problem::Problem;
use crate::notebooks::Notebooks;
use crate::notebooks::log_watch::{KEEP_ALIVE, LogWatch};

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
    let watch = LogWatch::start(notebooks, authenticated, &notebook, head.version, since).await?;
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
