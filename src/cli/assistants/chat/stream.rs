//! The events of a turn, across cut connections.

use std::time::Duration;

use eventsource_stream::{Event, EventStreamError, Eventsource};
use futures_util::StreamExt;
use futures_util::stream::BoxStream;
use reqwest::{Method, Response, StatusCode};
use serde_json::Value;

use crate::cli::Failure;
use crate::cli::connection::client::NotebookClient;
use crate::cli::terminal::failure::FailureKind;

/// Most consecutive reconnects without an event in between.
const MAX_RECONNECTS: u32 = 8;
/// Pause before the first reconnect; it doubles each time, up to [`MAX_PAUSE`].
const FIRST_PAUSE: Duration = Duration::from_millis(200);
const MAX_PAUSE: Duration = Duration::from_secs(10);

/// The events of one turn.
pub struct TurnStream {
    notebook: NotebookClient,
    /// `None`: the connection is cut.
    events: Option<Events>,
    last_id: String,
    turn: String,
    reconnects: u32,
}

type Events = BoxStream<'static, Result<Event, EventStreamError<reqwest::Error>>>;

impl TurnStream {
    /// A stream from the response to a question.
    pub fn new(notebook: NotebookClient, response: Response) -> Self {
        let (last_id, turn) = (String::new(), String::new());
        Self { notebook, events: Some(events_of(response)), last_id, turn, reconnects: 0 }
    }

    /// The turn's id; empty until its first event has come.
    pub fn turn(&self) -> &str {
        &self.turn
    }

    /// The next event; `None` at the end. Cancel safe.
    pub async fn next(&mut self) -> Result<Option<Value>, Failure> {
        loop {
            let Some(events) = &mut self.events else {
                if !self.reconnect().await? {
                    return Ok(None);
                }
                continue;
            };
            let Some(Ok(Event { id, data, .. })) = events.next().await else {
                self.events = None;
                continue;
            };
            let data: Value = serde_json::from_str(&data).map_err(Failure::not_understood)?;
            if let Some(turn) = data["turn_id"].as_str() {
                turn.clone_into(&mut self.turn);
            }
            (self.last_id, self.reconnects) = (id, 0);
            return Ok(Some(data));
        }
    }

    /// Rejoins the turn after the last event. False: all events have come.
    async fn reconnect(&mut self) -> Result<bool, Failure> {
        if self.turn.is_empty() || self.reconnects == MAX_RECONNECTS {
            let message =
                "the connection to the server is lost; the assistant goes on: see `notarium log` and `notarium calls`";
            return Err(Failure::connection(message));
        }
        let pause = FIRST_PAUSE.saturating_mul(1 << self.reconnects).min(MAX_PAUSE);
        self.reconnects += 1;
        tokio::time::sleep(pause).await;
        let request =
            self.notebook.client.request(Method::GET, &self.notebook.path(&format!("/turns/{}/stream", self.turn)));
        match self.notebook.client.send(request.header("last-event-id", &self.last_id)).await {
            Ok(response) if response.status() == StatusCode::NO_CONTENT => return Ok(false),
            Ok(response) => self.events = Some(events_of(response)),
            // A refusal is final; an unreachable server is retried.
            Err(failure) if failure.kind != FailureKind::Connection => return Err(failure),
            Err(_) => {}
        }
        Ok(true)
    }
}

fn events_of(response: Response) -> Events {
    response.bytes_stream().eventsource().boxed()
}
