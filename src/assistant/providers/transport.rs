//! HTTP transport to a provider: one POST, a stream of server-sent events, and limits on both.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bytes::Bytes;
use eventsource_stream::{Event, EventStreamError, Eventsource};
use futures_util::{Stream, StreamExt, stream};
use http::{HeaderMap, StatusCode};
use notarium_telemetry::pass_on;
use reqwest::Response;
use serde_json::{Map, Value};
use tokio::time::{Instant, timeout_at};

use super::error::{CallContext, ProviderError};

notarium_core::with_defaults! {
    /// Limits of one attempt.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct CallLimits {
        pub connect_timeout: Duration = Duration::from_secs(10),
        /// Longest silence, before the first byte and between two. Models may think for minutes.
        pub idle_timeout: Duration = Duration::from_secs(300),
        /// Longest attempt as a whole, even if bytes come steadily.
        pub max_duration: Duration = Duration::from_secs(1_800),
        pub max_reply_bytes: u64 = 32 * 1024 * 1024,
        pub max_error_bytes: usize = 64 * 1024,
        /// Wait for the end of the stream after the model has stopped: the usage may follow.
        pub end_wait: Duration = Duration::from_secs(3),
    }
}

/// One client for all calls of a provider. It follows no redirect, so that the key goes only to the configured address.
pub(super) fn http_client(limits: &CallLimits) -> Result<reqwest::Client, reqwest::Error> {
    // Fails only if a TLS provider is already installed, which is equally good.
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder()
        .connect_timeout(limits.connect_timeout)
        .redirect(reqwest::redirect::Policy::none())
        .user_agent(concat!("notarium/", env!("CARGO_PKG_VERSION")))
        .tcp_nodelay(true)
        .build()
}

type ServerEvents = Pin<Box<dyn Stream<Item = Result<Event, EventStreamError<ProviderError>>> + Send>>;

/// The events of an attempt as they arrive; yields the data of each.
pub(super) struct RawStream {
    events: ServerEvents,
    received: Arc<AtomicU64>,
    asked: Arc<CallContext>,
}

/// Data of the event that ends a stream in OpenAI's protocol.
const DONE: &str = "[DONE]";
/// Name of events that only keep the connection open.
const KEEPALIVE: &str = "keepalive";

impl RawStream {
    pub(super) fn received_bytes(&self) -> u64 {
        self.received.load(Ordering::Relaxed)
    }

    /// The data of the next event; `None` at the end of the bytes, which need not be the end of the reply.
    pub(super) async fn next(&mut self) -> Option<Result<String, ProviderError>> {
        loop {
            return match self.events.next().await? {
                Ok(event) if event.data == DONE => None,
                Ok(event) if event.event == KEEPALIVE => continue,
                Ok(event) => Some(Ok(event.data)),
                Err(EventStreamError::Transport(error)) => Some(Err(error)),
                // The parser's own message would repeat the whole chunk.
                Err(_) => Some(Err(self.asked.malformed("bytes that are no stream of events"))),
            };
        }
    }
}

/// The innermost cause, which is the most precise ("connection refused"); outer ones repeat the address.
fn reason(error: reqwest::Error) -> String {
    let error = error.without_url();
    let mut cause: &dyn std::error::Error = &error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    cause.to_string()
}

/// One attempt, with its limits.
pub(super) struct Attempt {
    http: reqwest::Client,
    limits: CallLimits,
    deadline: Instant,
    asked: Arc<CallContext>,
    received: Arc<AtomicU64>,
}

impl Attempt {
    /// Starts the clock of the attempt.
    pub(super) fn new(http: reqwest::Client, limits: CallLimits, asked: Arc<CallContext>) -> Self {
        Self { http, limits, deadline: Instant::now() + limits.max_duration, asked, received: Arc::default() }
    }

    /// Reads a response that must be a stream.
    pub(super) fn stream(self, answer: Response) -> Result<RawStream, ProviderError> {
        self.check_type(&answer)?;
        let (received, asked) = (self.received.clone(), self.asked.clone());
        let events = self.limited(answer.bytes_stream()).eventsource();
        Ok(RawStream { events: Box::pin(events), received, asked })
    }

    /// Reads a response that is one small JSON value.
    pub(super) async fn value(self, answer: Response) -> Result<Value, ProviderError> {
        let body = self.small_body(answer).await;
        serde_json::from_slice(&body).map_err(|error| self.asked.malformed(&error.to_string()))
    }

    /// Sends the request, and waits for the head of a successful response.
    pub(super) async fn post(
        &self,
        path: &str,
        mut headers: HeaderMap,
        body: &Map<String, Value>,
    ) -> Result<Response, ProviderError> {
        pass_on(&mut headers);
        let sending = self.http.post(format!("{}{path}", self.asked.base_url)).headers(headers).json(body).send();
        let answer = timeout_at(self.patience(), sending).await;
        let answer = answer.map_err(|_| self.timed_out())?.map_err(|error| self.not_answered(error))?;
        match answer.status() {
            StatusCode::OK => Ok(answer),
            _ => Err(self.refused(answer).await),
        }
    }

    /// Deadline for the next bytes.
    fn patience(&self) -> Instant {
        self.deadline.min(Instant::now() + self.limits.idle_timeout)
    }

    fn timed_out(&self) -> ProviderError {
        let provider = self.asked.provider.clone();
        if Instant::now() >= self.deadline {
            return ProviderError::TookTooLong { provider, max: self.limits.max_duration };
        }
        ProviderError::TimedOut { provider, idle: self.limits.idle_timeout }
    }

    fn not_answered(&self, error: reqwest::Error) -> ProviderError {
        let (provider, base_url) = (self.asked.provider.clone(), self.asked.base_url.as_str().into());
        if !error.is_connect() && !error.is_builder() {
            return ProviderError::CutStream { provider, received_bytes: 0 };
        }
        ProviderError::Unreachable { provider, base_url, detail: self.asked.clean(&reason(error)) }
    }

    async fn refused(&self, answer: Response) -> ProviderError {
        let (status, headers) = (answer.status(), answer.headers().clone());
        let body = self.small_body(answer).await;
        self.asked.refused(status, &headers, &body)
    }

    /// The first bytes of a body, as many as arrive in time: enough for an error message.
    async fn small_body(&self, answer: Response) -> Vec<u8> {
        let mut body = Vec::new();
        let mut bytes = std::pin::pin!(answer.bytes_stream());
        let end = Instant::now() + self.limits.connect_timeout;
        while body.len() < self.limits.max_error_bytes {
            let Ok(Some(Ok(more))) = timeout_at(end, bytes.next()).await else { break };
            let room = self.limits.max_error_bytes - body.len();
            body.extend_from_slice(&more[..more.len().min(room)]);
        }
        body
    }

    /// Refuses other content types: a wrong base URL often returns a web page.
    fn check_type(&self, answer: &Response) -> Result<(), ProviderError> {
        let found = answer.headers().get(http::header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
        let is_other =
            found.is_some_and(|found| found.starts_with("text/html") || found.starts_with("application/json"));
        match found {
            Some(found) if is_other => Err(self.asked.malformed(&format!("{found} instead of a stream of events"))),
            _ => Ok(()),
        }
    }

    /// Limits the silence and the number of bytes.
    fn limited(
        self,
        bytes: impl Stream<Item = reqwest::Result<Bytes>> + Send + 'static,
    ) -> impl Stream<Item = Result<Bytes, ProviderError>> + Send + 'static {
        stream::unfold((self, Box::pin(bytes)), |(attempt, mut bytes)| async move {
            let item = match timeout_at(attempt.patience(), bytes.next()).await {
                Ok(next) => attempt.counted(next?),
                Err(_) => Err(attempt.timed_out()),
            };
            Some((item, (attempt, bytes)))
        })
    }

    /// Counts the bytes of the whole response.
    fn counted(&self, bytes: reqwest::Result<Bytes>) -> Result<Bytes, ProviderError> {
        let (provider, max_bytes) = (self.asked.provider.clone(), self.limits.max_reply_bytes);
        let more = bytes.as_ref().map_or(0, Bytes::len) as u64;
        let received_bytes = self.received.fetch_add(more, Ordering::Relaxed) + more;
        match bytes {
            Ok(bytes) if received_bytes <= max_bytes => Ok(bytes),
            Ok(_) => Err(ProviderError::ReplyTooLong { provider, max_bytes }),
            Err(_) => Err(ProviderError::CutStream { provider, received_bytes }),
        }
    }
}
