//! HTML that a dialog pushes: `add_html_` sends it, `html_stream_` delivers it to each browser as server-sent events.

use std::collections::HashMap;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::{RawQuery, State};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::{Stream, StreamExt, stream};
use http::{HeaderMap, StatusCode};
use notarium_core::NotebookId;
use notarium_wire::DOOR_NOTEBOOK;
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::sync::broadcast::{self, error::RecvError};

use crate::DialoghelperDoor;
use crate::call::{DialogCall, Reply};
use crate::dialogs;
use crate::error::DoorError;
use crate::forms::Form;
use crate::session::Session;

/// Largest HTML of one push.
const MAX_HTML_BYTES: usize = 256 << 10;
/// Pushes that a slow browser may be behind. Beyond, it misses some, and is told so.
const MAX_BEHIND: usize = 16;
/// Open streams of one dialog, and of all.
const MAX_STREAMS: usize = 1_024;
const MAX_DIALOGS: usize = 4_096;
/// A stream looks again at its right to read after this time without a loss of it.
const LOOK_AGAIN: Duration = Duration::from_secs(3_600);

/// Streams by notebook.
#[derive(Default)]
pub struct HtmlStreams {
    dialogs: Mutex<HashMap<NotebookId, broadcast::Sender<Arc<str>>>>,
}

impl HtmlStreams {
    /// Sends HTML to all open streams of the dialog, and returns their number.
    fn push(&self, notebook: &NotebookId, html: &str) -> usize {
        let sender = self.dialogs.lock().get(notebook).cloned();
        sender.and_then(|sender| sender.send(html.into()).ok()).unwrap_or(0)
    }

    fn open(&self, notebook: &NotebookId) -> Result<broadcast::Receiver<Arc<str>>, DoorError> {
        let mut dialogs = self.dialogs.lock();
        dialogs.retain(|_, sender| sender.receiver_count() > 0);
        let is_new = !dialogs.contains_key(notebook);
        if is_new && dialogs.len() >= MAX_DIALOGS {
            return Err(DoorError::new(format!("more than {MAX_DIALOGS} dialogs have streams: close some")));
        }
        let sender = dialogs.entry(notebook.clone()).or_insert_with(|| broadcast::channel(MAX_BEHIND).0);
        if sender.receiver_count() >= MAX_STREAMS {
            return Err(DoorError::new(format!("a dialog has at most {MAX_STREAMS} streams: close some")));
        }
        Ok(sender.subscribe())
    }
}

/// `add_html_`: pushes HTML to every browser of the dialog. It is not recorded.
pub async fn push(call: &DialogCall) -> Result<Reply, DoorError> {
    let notebook = call.pushing().await?;
    let html = call.form.sent("content").unwrap_or_default();
    if html.len() > MAX_HTML_BYTES {
        return Err(DoorError::new(format!("pushed HTML has at most {MAX_HTML_BYTES} bytes: push less")));
    }
    let browsers = call.door.html.push(&notebook, html);
    Ok(Reply::Json(json!({ "success": "complete", "browsers": browsers })))
}

/// `html_stream_`: each event has `{"content": HTML}` from now on. Ends when the caller may no longer read the dialog.
pub async fn stream(
    State(door): State<Arc<DialoghelperDoor>>,
    headers: HeaderMap,
    RawQuery(query): RawQuery,
) -> Response {
    match opened(&door, &headers, &query.unwrap_or_default()).await {
        Ok(events) => Sse::new(events).keep_alive(KeepAlive::default()).into_response(),
        Err(error) => error.into_response(),
    }
}

async fn opened(
    door: &DialoghelperDoor,
    headers: &HeaderMap,
    query: &str,
) -> Result<impl Stream<Item = Result<Event, Infallible>> + use<>, DoorError> {
    let session = door.sessions.of(headers, None).await?;
    let notebook = dialogs::resolve(door, &session, Form::parse(query.as_bytes())?.required("dlg_name")?).await?.id;
    let pushes = events(door.html.open(&notebook)?);
    let stopping = door.stopping.clone();
    let ended = async move { stopping.run_until_cancelled(lost(session, notebook)).await.unwrap_or_default() };
    Ok(pushes.take_until(Box::pin(ended)))
}

/// The same for a page of the notebook that the server names: the server has checked the reader, and ends the stream with the reader's
/// right.
pub async fn stream_for_page(State(door): State<Arc<DialoghelperDoor>>, headers: HeaderMap) -> Response {
    let notebook = headers.get(DOOR_NOTEBOOK).and_then(|id| id.to_str().ok()).and_then(|id| NotebookId::new(id).ok());
    let Some(notebook) = notebook else { return StatusCode::BAD_REQUEST.into_response() };
    match door.html.open(&notebook) {
        Ok(pushes) => {
            let stopping = door.stopping.clone().cancelled_owned();
            Sse::new(events(pushes).take_until(stopping)).keep_alive(KeepAlive::default()).into_response()
        }
        Err(error) => error.with_status(StatusCode::SERVICE_UNAVAILABLE).into_response(),
    }
}

/// An event for each push. The first one tells the browser that the stream is open.
fn events(pushes: broadcast::Receiver<Arc<str>>) -> impl Stream<Item = Result<Event, Infallible>> {
    let events = stream::unfold(pushes, |mut pushes| async move {
        let data = match pushes.recv().await {
            Ok(html) => json!({ "content": &*html }),
            Err(RecvError::Lagged(missed)) => json!({ "missed": missed }),
            Err(RecvError::Closed) => return None,
        };
        Some((Ok(event(&data)), pushes))
    });
    stream::iter([Ok(Event::default().comment("open"))]).chain(events)
}

fn event(data: &Value) -> Event {
    // JSON has no line breaks, which data of an event may not contain.
    Event::default().event("html").data(data.to_string())
}

/// Returns when the caller may no longer read the notebook, or the connection to the server has failed.
async fn lost(session: Arc<Session>, notebook: NotebookId) {
    while session.is_open() {
        let began = tokio::time::Instant::now();
        let lost = session.wait(&notebook, LOOK_AGAIN, |_| None::<()>).await;
        if lost.is_err() && began.elapsed() < LOOK_AGAIN {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn every_stream_of_the_dialog_gets_everything() {
        let streams = HtmlStreams::default();
        let (notebook, other): (NotebookId, NotebookId) = ("n".parse().unwrap(), "m".parse().unwrap());
        assert_eq!(streams.push(&notebook, "nobody"), 0);
        let mut one = streams.open(&notebook).unwrap();
        let mut two = streams.open(&notebook).unwrap();
        assert_eq!(streams.push(&notebook, "<b>1</b>"), 2);
        assert_eq!(streams.push(&other, "x"), 0);
        assert_eq!((&*one.recv().await.unwrap(), &*two.recv().await.unwrap()), ("<b>1</b>", "<b>1</b>"));
        for number in 0..=MAX_BEHIND {
            streams.push(&notebook, &number.to_string());
        }
        assert_eq!(one.recv().await, Err(RecvError::Lagged(1)));
    }

    #[tokio::test]
    async fn streams_are_limited() {
        let streams = HtmlStreams::default();
        let notebook: NotebookId = "n".parse().unwrap();
        let open: Vec<_> = (0..MAX_STREAMS).map(|_| streams.open(&notebook).unwrap()).collect();
        assert!(streams.open(&notebook).is_err());
        drop(open);
        assert!(streams.open(&notebook).is_ok());
    }
}
