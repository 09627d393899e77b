//! The events of a turn, across cut connections.

use std::time::Duration;

use notarium_core::NotebookId;
use reqwest::{Method, Response, StatusCode};
use serde_json::Value;

use crate::cli::Failure;
use crate::cli::client::Client;

/// Connections that are tried again without one event between them.
const MAX_RECONNECTS: u32 = 8;
/// Before the first one; each further waits twice as long, at most [`MAX_PAUSE`].
const FIRST_PAUSE: Duration = Duration::from_millis(200);
const MAX_PAUSE: Duration = Duration::from_secs(10);
/// An event is no longer than this.
const MAX_EVENT_BYTES: usize = 64 << 20;

/// The events of one turn.
pub struct TurnStream {
    client: Client,
    notebook: NotebookId,
    /// `None`: the connection is cut.
    response: Option<Response>,
    buffer: Vec<u8>,
    last_id: String,
    turn: String,
    reconnects: u32,
}

impl TurnStream {
    /// From the answer to a question.
    pub fn new(client: Client, notebook: NotebookId, response: Response) -> Self {
        let (buffer, last_id, turn) = (Vec::new(), String::new(), String::new());
        Self { client, notebook, response: Some(response), buffer, last_id, turn, reconnects: 0 }
    }

    /// The turn, once its first event has come.
    pub fn turn(&self) -> &str {
        &self.turn
    }

    /// The next event; `None`: there are no more. Cancel safe.
    pub async fn next(&mut self) -> Result<Option<Value>, Failure> {
        loop {
            if let Some(event) = self.take_event()? {
                self.reconnects = 0;
                return Ok(Some(event));
            }
            let Some(response) = &mut self.response else {
                if !self.reconnect().await? {
                    return Ok(None);
                }
                continue;
            };
            match response.chunk().await {
                Ok(Some(chunk)) if self.buffer.len() + chunk.len() <= MAX_EVENT_BYTES => {
                    self.buffer.extend_from_slice(&chunk);
                }
                Ok(Some(_)) => return Err(Failure::failed("the server sends an event without end")),
                Ok(None) | Err(_) => self.response = None,
            }
        }
    }

    /// A whole event from what has come. Comments only keep the connection alive.
    fn take_event(&mut self) -> Result<Option<Value>, Failure> {
        while let Some(end) = self.buffer.windows(2).position(|two| two == b"\n\n") {
            let event: Vec<u8> = self.buffer.drain(..end + 2).collect();
            let event = String::from_utf8_lossy(&event);
            let field = |name: &str| event.lines().find_map(|line| line.strip_prefix(name));
            let Some(data) = field("data: ") else { continue };
            let data: Value = serde_json::from_str(data).map_err(|error| {
                Failure::failed(format!(
                    "the server's answer is not understood ({error}): is this program as new as it?"
                ))
            })?;
            field("id: ").unwrap_or_default().clone_into(&mut self.last_id);
            if let Some(turn) = data["turn_id"].as_str() {
                turn.clone_into(&mut self.turn);
            }
            return Ok(Some(data));
        }
        Ok(None)
    }

    /// Joins the turn again where it was left. False: everything has come.
    async fn reconnect(&mut self) -> Result<bool, Failure> {
        if self.turn.is_empty() || self.reconnects == MAX_RECONNECTS {
            let message =
                "the connection to the server is lost; the assistant goes on: see `notarium log` and `notarium calls`";
            return Err(Failure::connection(message));
        }
        let pause = FIRST_PAUSE.saturating_mul(1 << self.reconnects).min(MAX_PAUSE);
        self.reconnects += 1;
        tokio::time::sleep(pause).await;
        let path = format!("/api/notebooks/{}/turns/{}/stream", self.notebook, self.turn);
        let request = self.client.request(Method::GET, &path).header("last-event-id", &self.last_id);
        match self.client.send(request).await {
            Ok(response) if response.status() == StatusCode::NO_CONTENT => return Ok(false),
            Ok(response) => {
                self.buffer.clear();
                self.response = Some(response);
            }
            // A refusal is an answer; a server that is away comes back.
            Err(failure) if failure.kind != crate::cli::failure::FailureKind::Connection => return Err(failure),
            Err(_) => {}
        }
        Ok(true)
    }
}
