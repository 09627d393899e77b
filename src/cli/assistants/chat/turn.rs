//! The events of a turn, and their text: the answer on standard output, everything else on standard error.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use eventsource_stream::{Event, EventStreamError, Eventsource};
use futures_util::StreamExt;
use futures_util::stream::BoxStream;
use reqwest::{Method, Response, StatusCode};
use serde_json::Value;

use crate::cli::connection::client::NotebookClient;
use crate::cli::terminal::failure::FailureKind;
use crate::cli::terminal::print::{self, style};
use crate::cli::{Ended, Failure};

// --- the screen ---

/// Longest excerpt of arguments or results on a line.
const MAX_SHOWN: usize = 120;

/// Result of a turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TurnResult {
    Done,
    Cancelled,
    Failed(String),
}

/// State of the screen.
#[derive(Debug, Default)]
pub struct Screen {
    as_json: bool,
    is_within_line: bool,
    /// Text blocks that were begun.
    begun: BTreeSet<BlockKey>,
    /// Texts of the present attempt, and those of the previous, failed one.
    written: BTreeMap<BlockKey, String>,
    failed: BTreeMap<BlockKey, String>,
}

/// Key of a block: `(model_call, block)`.
type BlockKey = (u64, u64);

impl Screen {
    pub fn new(as_json: bool) -> Self {
        Self { as_json, ..Self::default() }
    }

    /// Shows one event; returns the turn's end if it is one.
    pub fn show(&mut self, event: &Value) -> Result<Option<TurnResult>, Failure> {
        if self.as_json {
            print::json_line(event)?;
        } else {
            self.show_to_people(event)?;
        }
        let text = |name: &str| event[name].as_str().unwrap_or_default();
        Ok(match text("type") {
            "done" if text("stop_reason") == "cancelled" => Some(TurnResult::Cancelled),
            "done" => Some(TurnResult::Done),
            "error" => Some(TurnResult::Failed(text("error").to_owned())),
            _ => None,
        })
    }

    /// Shows a remark between the texts.
    pub fn note(&mut self, text: &str) -> Ended {
        self.end_line()?;
        print::noted(text)
    }

    /// Begins a new line if the text has not ended one.
    pub fn end_line(&mut self) -> Ended {
        if std::mem::take(&mut self.is_within_line) {
            print::raw("\n")?;
        }
        Ok(())
    }

    fn show_to_people(&mut self, event: &Value) -> Ended {
        let text = |name: &str| event[name].as_str().unwrap_or_default();
        let name = style(print::clean(text("tool_name"))).cyan();
        match text("type") {
            "text_start" => {
                self.written.remove(&block_of(event));
                self.end_line()
            }
            "text_delta" => self.write(block_of(event), text("text")),
            "content_block_stop" => self.end_line(),
            "attempt_failed" => {
                self.failed = std::mem::take(&mut self.written);
                self.note(&format!("(no answer: {})", print::clean(text("error"))))
            }
            "tool_execute" => self.note(&format!("● {name} {}", short(&event["tool_input"].to_string()))),
            "tool_update" => self.note(&format!("  … {}", short(text("message")))),
            "tool_result" => {
                let (mark, result) = (if event["is_error"] == true { "✗" } else { "→" }, short(text("result")));
                self.note(format!("  {mark} {name} {result}").trim_end())
            }
            "done" if text("stop_reason") == "cancelled" => self.note("(stopped)"),
            "done" if text("stop_reason") != "end_turn" => {
                self.note(&format!("(it stopped: {})", text("stop_reason").replace('_', " ")))
            }
            _ => Ok(()),
        }
    }

    fn write(&mut self, block: BlockKey, text: &str) -> Ended {
        // The text of a failed attempt is final if no other attempt follows, and it is on the screen already.
        if self.failed.remove(&block).is_some_and(|failed| failed == text) {
            return Ok(());
        }
        if !self.written.contains_key(&block) && !self.begun.insert(block) {
            self.note("(it begins anew)")?;
        }
        self.written.entry(block).or_default().push_str(text);
        let text = print::clean_block(text);
        if let Some(last) = text.chars().last() {
            self.is_within_line = last != '\n';
        }
        print::raw(&text)
    }
}

fn block_of(event: &Value) -> BlockKey {
    (event["model_call"].as_u64().unwrap_or(0), event["block"].as_u64().unwrap_or(0))
}

/// The first line, cut to [`MAX_SHOWN`] characters.
fn short(text: &str) -> String {
    let mut lines = text.lines();
    let line = print::clean(lines.next().unwrap_or_default());
    let is_cut = lines.next().is_some() || line.chars().count() > MAX_SHOWN;
    let shown: String = line.chars().take(MAX_SHOWN).collect();
    if is_cut { format!("{shown} …") } else { shown }
}

// --- the events, across cut connections ---

/// Most consecutive reconnects without an event in between.
const MAX_RECONNECTS: u32 = 8;
/// Pause before the first reconnect; it doubles each time, up to [`MAX_PAUSE`].
const FIRST_PAUSE: Duration = Duration::from_millis(200);
const MAX_PAUSE: Duration = Duration::from_secs(10);

/// The events of one turn.
pub struct TurnStream {
    notebook: NotebookClient,
    /// `None`: the connection is cut.
    events: Option<TurnEvents>,
    last_id: String,
    turn: String,
    reconnects: u32,
}

type TurnEvents = BoxStream<'static, Result<Event, EventStreamError<reqwest::Error>>>;

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
        let request = self.notebook.request(Method::GET, &format!("/turns/{}/stream", self.turn));
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

fn events_of(response: Response) -> TurnEvents {
    response.bytes_stream().eventsource().boxed()
}
