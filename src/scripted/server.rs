//! The server: routes, checks, replies cut into chunks as scripted, and a record of requests.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::{DefaultBodyLimit, State};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, post};
use axum::serve::ListenerExt;
use axum::{Json, Router};
use bytes::Bytes;
use futures_util::{Stream, stream};
use http::{HeaderMap, HeaderValue, StatusCode, header};
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::RequestProtocol;
use crate::conversation::RequestContent;
use crate::script::{Play, Script, ScriptedReply};
use crate::sse::{Filled, count, render};

const MAX_BODY_BYTES: usize = 64 * 1024 * 1024;
const RESPONSES: &str = "/v1/responses";
const CHAT_COMPLETIONS: &str = "/v1/chat/completions";
const MESSAGES: &str = "/v1/messages";
const COUNT_TOKENS: &str = "/v1/messages/count_tokens";
/// Maximum number of recorded requests; older ones are dropped.
const MAX_RECORDED: usize = 1_000;

/// A scripted provider on its own port. Dropping it stops the server and ends open streams.
#[derive(Debug)]
pub struct ScriptedServer {
    address: SocketAddr,
    shared: Arc<Shared>,
    _stop: DropGuard,
}

/// A received request.
#[derive(Debug, Clone)]
pub struct RecordedRequest {
    /// Number of the request, from 0, including refused ones.
    pub number: u64,
    pub path: &'static str,
    /// Headers with lower-case names, including the key.
    pub headers: Vec<(String, String)>,
    pub body: String,
    pub outcome: AnswerOutcome,
}

impl RecordedRequest {
    /// Returns the body as JSON; `null` if it is not JSON.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_default()
    }
}

/// Outcome of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AnswerOutcome {
    /// The stream is in progress.
    Streaming,
    /// The stream was sent to its end.
    Streamed,
    /// The script broke the connection.
    Cut,
    /// The client disconnected before the end.
    Cancelled,
    /// The request counted tokens.
    Counted,
    /// The answer was this status instead of a stream.
    Refused(u16),
}

#[derive(Debug)]
struct Shared {
    play: Mutex<Play>,
    requests: watch::Sender<Vec<RecordedRequest>>,
    stop: CancellationToken,
}

impl ScriptedServer {
    /// Starts a server on a free port of 127.0.0.1.
    pub async fn start(script: Script) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        let stop = CancellationToken::new();
        let play = Mutex::new(Play::new(script));
        let shared = Arc::new(Shared { play, requests: watch::Sender::new(Vec::new()), stop: stop.clone() });
        let routes = Router::new()
            .route(RESPONSES, answering(RequestProtocol::Responses))
            .route(CHAT_COMPLETIONS, answering(RequestProtocol::ChatCompletions))
            .route(MESSAGES, answering(RequestProtocol::Messages))
            .route(COUNT_TOKENS, post(count_tokens))
            .layer(DefaultBodyLimit::max(MAX_BODY_BYTES))
            .with_state(shared.clone());
        // Sends each chunk immediately, so that cuts are kept.
        let listener = listener.tap_io(|connection| {
            if let Err(error) = connection.set_nodelay(true) {
                tracing::debug!(%error, "chunks may be joined");
            }
        });
        let stopped = stop.clone().cancelled_owned();
        tokio::spawn(async move { axum::serve(listener, routes).with_graceful_shutdown(stopped).await });
        Ok(Self { address, shared, _stop: stop.drop_guard() })
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns the `base_url` for a provider's settings, for any protocol.
    pub fn base_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// Returns the last thousand requests, oldest first.
    pub fn requests(&self) -> Vec<RecordedRequest> {
        self.shared.requests.borrow().clone()
    }

    /// Waits until the requests match, and returns them.
    pub async fn wait_for(&self, is_wanted: impl FnMut(&Vec<RecordedRequest>) -> bool) -> Vec<RecordedRequest> {
        let mut requests = self.shared.requests.subscribe();
        // Cannot fail: the sender is in `self`.
        requests.wait_for(is_wanted).await.map(|requests| requests.clone()).unwrap_or_default()
    }
}

fn answering(protocol: RequestProtocol) -> MethodRouter<Arc<Shared>> {
    post(async move |State(shared): State<Arc<Shared>>, headers: HeaderMap, body: Bytes| {
        shared.answer(protocol, &headers, &body).await
    })
}

async fn count_tokens(State(shared): State<Arc<Shared>>, headers: HeaderMap, body: Bytes) -> Response {
    let number = shared.record(COUNT_TOKENS, &headers, &body);
    let read = shared.read(RequestProtocol::Messages, &headers, &body);
    let outcome =
        read.as_ref().map_or_else(|refusal| AnswerOutcome::Refused(refusal.status), |_| AnswerOutcome::Counted);
    shared.set_outcome(number, outcome);
    match read {
        Ok((asked, _)) => Json(json!({ "input_tokens": count(&asked) })).into_response(),
        Err(refusal) => refusal.response(),
    }
}

/// An answer that is not a stream.
struct Refusal {
    status: u16,
    kind: &'static str,
    message: String,
    retry_after: Option<String>,
    body: Option<Box<Value>>,
}

impl Refusal {
    fn new(status: u16, kind: &'static str, message: impl Into<String>) -> Self {
        Self { status, kind, message: message.into(), retry_after: None, body: None }
    }

    fn scripted(status: u16, reply: ScriptedReply) -> Self {
        let (retry_after, body) = (reply.retry_after, reply.body.map(Box::new));
        let kind = if status == 429 { "rate_limit_error" } else { "api_error" };
        Self { retry_after, body, ..Self::new(status, kind, format!("scripted status {status}")) }
    }

    fn response(self) -> Response {
        let error = json!({ "type": self.kind, "message": self.message, "code": self.kind });
        let body = self.body.unwrap_or_else(|| Box::new(json!({ "type": "error", "error": error })));
        let status = StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let mut response = (status, Json(body)).into_response();
        if let Some(value) = self.retry_after.and_then(|text| HeaderValue::from_str(&text).ok()) {
            response.headers_mut().insert(header::RETRY_AFTER, value);
        }
        response
    }
}

impl Shared {
    async fn answer(self: Arc<Self>, protocol: RequestProtocol, headers: &HeaderMap, body: &Bytes) -> Response {
        let path = match protocol {
            RequestProtocol::Messages => MESSAGES,
            RequestProtocol::Responses => RESPONSES,
            RequestProtocol::ChatCompletions => CHAT_COMPLETIONS,
        };
        let number = self.record(path, headers, body);
        match self.choose(protocol, headers, body, number) {
            Ok((reply, chunks)) => {
                let ending = Ending { shared: self, number, outcome: AnswerOutcome::Cancelled };
                ending.shared.delay(reply.delay_ms).await;
                let content_type = [(header::CONTENT_TYPE, "text/event-stream; charset=utf-8")];
                (content_type, Body::from_stream(play(reply, chunks, ending))).into_response()
            }
            Err(refusal) => {
                self.set_outcome(number, AnswerOutcome::Refused(refusal.status));
                refusal.response()
            }
        }
    }

    /// Waits; a stop of the server ends the delay.
    async fn delay(&self, millis: u64) {
        if millis > 0 {
            let _ = tokio::time::timeout(Duration::from_millis(millis), self.stop.cancelled()).await;
        }
    }

    fn record(&self, path: &'static str, headers: &HeaderMap, body: &Bytes) -> u64 {
        let text = |value: &HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
        let headers = headers.iter().map(|(name, value)| (name.to_string(), text(value))).collect();
        let body = String::from_utf8_lossy(body).into_owned();
        let mut number = 0;
        self.requests.send_modify(|requests| {
            number = requests.last().map_or(0, |last| last.number + 1);
            if requests.len() == MAX_RECORDED {
                requests.remove(0);
            }
            requests.push(RecordedRequest { number, path, headers, body, outcome: AnswerOutcome::Streaming });
        });
        number
    }

    fn set_outcome(&self, number: u64, outcome: AnswerOutcome) {
        self.requests.send_modify(|requests| {
            if let Some(request) = requests.iter_mut().find(|request| request.number == number) {
                request.outcome = outcome;
            }
        });
    }

    /// Reads a request and makes the checks of real servers.
    fn read(
        &self,
        protocol: RequestProtocol,
        headers: &HeaderMap,
        body: &Bytes,
    ) -> Result<(RequestContent, Value), Refusal> {
        let play = self.play.lock();
        check_key(protocol, headers, play.script.key.as_deref())?;
        let body: Value = serde_json::from_slice(body).map_err(|error| bad(error.to_string()))?;
        check_model(&body, &play.script.models)?;
        let asked = RequestContent::read(protocol, &body).map_err(bad)?;
        Ok((asked, body))
    }

    fn choose(
        &self,
        protocol: RequestProtocol,
        headers: &HeaderMap,
        body: &Bytes,
        number: u64,
    ) -> Result<(ScriptedReply, Vec<Bytes>), Refusal> {
        let (asked, body) = self.read(protocol, headers, body)?;
        if body["stream"] != Value::Bool(true) {
            return Err(bad("only streams are spoken here: stream must be true"));
        }
        let reply = self.play.lock().answer(&asked);
        let nothing = || bad(format!("the script has no reply to {:?}", asked.last_user_text));
        let reply = reply.ok_or_else(nothing)?;
        if let Some(status) = reply.status {
            return Err(Refusal::scripted(status, reply));
        }
        let filled = Filled::new(&reply, &asked, number).map_err(bad)?;
        let chunks = chunks(&reply, render(protocol, &filled, &reply, &asked.model));
        Ok((reply, chunks))
    }
}

fn bad(message: impl Into<String>) -> Refusal {
    Refusal::new(400, "invalid_request_error", message)
}

fn check_key(protocol: RequestProtocol, headers: &HeaderMap, key: Option<&str>) -> Result<(), Refusal> {
    let name = if protocol == RequestProtocol::Messages { "x-api-key" } else { "authorization" };
    let found = headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let found = found.strip_prefix("Bearer ").unwrap_or(found);
    // Repeats the key in the error, as some real servers do.
    let wrong = || Refusal::new(401, "authentication_error", format!("Incorrect API key provided: {found}"));
    if key.is_some_and(|key| key != found) { Err(wrong()) } else { Ok(()) }
}

fn check_model(body: &Value, models: &[String]) -> Result<(), Refusal> {
    let model = body["model"].as_str().unwrap_or_default();
    if models.is_empty() || models.iter().any(|known| known == model) {
        return Ok(());
    }
    Err(Refusal::new(404, "not_found_error", format!("The model `{model}` does not exist")))
}

/// Cuts the bytes of all events as scripted.
fn chunks(reply: &ScriptedReply, events: Vec<Vec<u8>>) -> Vec<Bytes> {
    if let Some(size) = reply.chunk_bytes {
        return events.concat().chunks(size.max(1)).map(Bytes::copy_from_slice).collect();
    }
    let Some(sizes) = &reply.chunks else { return events.into_iter().map(Bytes::from).collect() };
    let mut rest = Bytes::from(events.concat());
    let mut cut: Vec<Bytes> = sizes.iter().map(|size| rest.split_to((*size).min(rest.len()))).collect();
    cut.push(rest);
    cut.retain(|chunk| !chunk.is_empty());
    cut
}

/// Records the outcome of an answer when dropped.
struct Ending {
    shared: Arc<Shared>,
    number: u64,
    outcome: AnswerOutcome,
}

impl Drop for Ending {
    fn drop(&mut self) {
        self.shared.set_outcome(self.number, self.outcome);
    }
}

struct Playing {
    reply: ScriptedReply,
    chunks: std::vec::IntoIter<Bytes>,
    sent_bytes: usize,
    ending: Ending,
    is_broken: bool,
}

fn play(reply: ScriptedReply, chunks: Vec<Bytes>, ending: Ending) -> impl Stream<Item = io::Result<Bytes>> {
    let playing = Playing { reply, chunks: chunks.into_iter(), sent_bytes: 0, ending, is_broken: false };
    stream::unfold(playing, |mut playing| async move {
        let item = playing.next().await?;
        Some((item, playing))
    })
}

impl Playing {
    async fn next(&mut self) -> Option<io::Result<Bytes>> {
        if self.sent_bytes > 0 {
            self.pause().await;
        }
        let limit = self.reply.cut_after_bytes.or(self.reply.hang_after_bytes).unwrap_or(usize::MAX);
        let room = limit.saturating_sub(self.sent_bytes);
        match self.chunks.next().filter(|_| room > 0) {
            Some(chunk) => {
                let chunk = chunk.slice(..chunk.len().min(room));
                self.sent_bytes += chunk.len();
                Some(Ok(chunk))
            }
            None => self.end().await,
        }
    }

    /// Lets sent bytes reach the wire before more follow, or before the connection breaks.
    async fn pause(&self) {
        tokio::task::yield_now().await;
        self.ending.shared.delay(self.reply.chunk_delay_ms).await;
    }

    async fn end(&mut self) -> Option<io::Result<Bytes>> {
        if self.reply.cut_after_bytes.is_some() && !self.is_broken {
            self.is_broken = true;
            self.ending.outcome = AnswerOutcome::Cut;
            return Some(Err(io::Error::other("the script cuts here")));
        }
        if self.reply.hang_after_bytes.is_some() {
            self.ending.shared.stop.cancelled().await;
            return None;
        }
        self.ending.outcome = AnswerOutcome::Streamed;
        None
    }
}
