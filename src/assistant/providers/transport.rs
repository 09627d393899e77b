//! The way to a provider and back: one POST, a stream of server-sent events, limits on both. `async-openai` sends and
//! splits the stream; its own retries are not installed.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use async_openai::Client;
use async_openai::config::Config;
use async_openai::error::OpenAIError;
use async_openai::middleware::HttpRequestFactory;
use async_openai::types::stream::StreamResponse;
use bytes::Bytes;
use futures_util::{Stream, StreamExt, stream};
use http::{HeaderMap, StatusCode};
use reqwest::Response;
use secrecy::SecretString;
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use tokio::time::{Instant, timeout_at};

use super::classify::Asked;
use super::error::ProviderError;

/// Limits of one attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallLimits {
    pub connect_timeout: Duration,
    /// The longest silence: before the first byte and between two. Models may think for minutes.
    pub idle_timeout: Duration,
    /// The longest attempt as a whole, however steadily bytes come in.
    pub max_duration: Duration,
    pub max_reply_bytes: u64,
    pub max_error_bytes: usize,
    /// How long the end of the stream is waited for once the model has stopped: the usage may follow.
    pub end_wait: Duration,
}

impl Default for CallLimits {
    fn default() -> Self {
        Self {
            connect_timeout: Duration::from_secs(10),
            idle_timeout: Duration::from_secs(300),
            max_duration: Duration::from_secs(1_800),
            max_reply_bytes: 32 * 1024 * 1024,
            max_error_bytes: 64 * 1024,
            end_wait: Duration::from_secs(3),
        }
    }
}

/// One client for all calls of a provider. It follows no redirect: a key must not go where nobody configured it.
pub(super) fn http_client(limits: &CallLimits) -> Result<reqwest::Client, reqwest::Error> {
    // Fails only if there is a TLS provider already, which is as good.
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder()
        .connect_timeout(limits.connect_timeout)
        .redirect(reqwest::redirect::Policy::none())
        .user_agent(concat!("notarium/", env!("CARGO_PKG_VERSION")))
        .tcp_nodelay(true)
        .build()
}

/// One attempt, ready to be sent.
pub(super) struct Attempt {
    pub(super) http: reqwest::Client,
    pub(super) limits: CallLimits,
    pub(super) asked: Arc<Asked>,
    pub(super) path: &'static str,
    pub(super) headers: HeaderMap,
}

/// The events of an attempt as they arrive, each the JSON text of one.
pub(super) struct RawStream {
    events: StreamResponse<Box<RawValue>>,
    /// Why the bytes ended, if not by themselves. The HTTP client below keeps only the text of it.
    cause: Cause,
    received: Arc<AtomicU64>,
    asked: Arc<Asked>,
}

type Cause = Arc<OnceLock<ProviderError>>;

impl RawStream {
    pub(super) fn received_bytes(&self) -> u64 {
        self.received.load(Ordering::Relaxed)
    }

    /// The next event, or none at the end of the bytes, which need not be the end of the reply.
    pub(super) async fn next(&mut self) -> Option<Result<Box<RawValue>, ProviderError>> {
        let event = self.events.next().await?;
        Some(event.map_err(|error| self.cause.get().cloned().unwrap_or_else(|| malformed(&self.asked, &error))))
    }
}

fn malformed(asked: &Asked, error: &OpenAIError) -> ProviderError {
    match error {
        // Its text would repeat the whole chunk.
        OpenAIError::JSONDeserialize(error, _) => asked.malformed(&error.to_string()),
        error => asked.malformed(&error.to_string()),
    }
}

impl Attempt {
    /// Sends the request and waits for the head of the answer.
    pub(super) async fn send(self, body: &Map<String, Value>) -> Result<RawStream, ProviderError> {
        let sender = self.sender();
        let (cause, received, asked) = (sender.cause.clone(), sender.received.clone(), self.asked.clone());
        let address = Address { url: self.url(), headers: self.headers, no_key: "".into() };
        let service = tower::service_fn(move |request| sender.clone().send(request));
        let client = Client::build(self.http, address).with_http_service(service);
        match client.chat().create_stream_byot(body).await {
            Ok(events) => Ok(RawStream { events, cause, received, asked }),
            Err(error) => Err(unboxed(error, &asked)),
        }
    }

    /// Sends the request and reads an answer that is one small JSON value.
    pub(super) async fn ask(self, body: &Map<String, Value>) -> Result<Value, ProviderError> {
        let sender = self.sender();
        let request = self.http.post(self.url()).headers(self.headers.clone()).json(body).build();
        let request = request.map_err(|error| unreachable_error(&self.asked, &reason(error)))?;
        let answer = sender.execute(request).await?;
        let body = sender.small_body(answer).await;
        serde_json::from_slice(&body).map_err(|error| self.asked.malformed(&error.to_string()))
    }

    fn url(&self) -> String {
        format!("{}{}", self.asked.base_url, self.path)
    }

    fn sender(&self) -> Sender {
        Sender {
            http: self.http.clone(),
            limits: self.limits,
            deadline: Instant::now() + self.limits.max_duration,
            asked: self.asked.clone(),
            cause: Cause::default(),
            received: Arc::default(),
        }
    }
}

fn unboxed(error: OpenAIError, asked: &Asked) -> ProviderError {
    match error {
        OpenAIError::Boxed(inner) => match inner.downcast::<ProviderError>() {
            Ok(error) => *error,
            Err(other) => unreachable_error(asked, &other.to_string()),
        },
        OpenAIError::Reqwest(error) => unreachable_error(asked, &reason(error)),
        other => unreachable_error(asked, &other.to_string()),
    }
}

fn unreachable_error(asked: &Asked, detail: &str) -> ProviderError {
    ProviderError::Unreachable {
        provider: asked.provider.clone(),
        base_url: asked.base_url.as_str().into(),
        detail: asked.clean(detail),
    }
}

/// The innermost cause says most ("connection refused"); the outer ones repeat the address.
fn reason(error: reqwest::Error) -> String {
    let error = error.without_url();
    let mut cause: &dyn std::error::Error = &error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    cause.to_string()
}

/// Where the request goes and with which headers.
struct Address {
    url: String,
    headers: HeaderMap,
    no_key: SecretString,
}

impl Config for Address {
    fn headers(&self) -> HeaderMap {
        self.headers.clone()
    }

    fn url(&self, _: &str) -> String {
        self.url.clone()
    }

    fn query(&self) -> Vec<(&str, &str)> {
        Vec::new()
    }

    fn api_base(&self) -> &str {
        &self.url
    }

    // Ours is in the headers already.
    fn api_key(&self) -> &SecretString {
        &self.no_key
    }
}

#[derive(Clone)]
struct Sender {
    http: reqwest::Client,
    limits: CallLimits,
    deadline: Instant,
    asked: Arc<Asked>,
    cause: Cause,
    received: Arc<AtomicU64>,
}

impl Sender {
    async fn send(self, request: HttpRequestFactory) -> Result<Response, OpenAIError> {
        let answer = self.execute(request.build().await?).await.map_err(boxed)?;
        self.check_type(&answer).map_err(boxed)?;
        Ok(self.limited(answer))
    }

    /// The answer, if it is none of an error.
    async fn execute(&self, request: reqwest::Request) -> Result<Response, ProviderError> {
        let answer = timeout_at(self.patience(), self.http.execute(request)).await;
        let answer = answer.map_err(|_| self.timed_out())?.map_err(|error| self.not_answered(error))?;
        match answer.status() {
            StatusCode::OK => Ok(answer),
            _ => Err(self.refused(answer).await),
        }
    }

    /// Until when the next bytes are waited for.
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
        if error.is_connect() {
            return unreachable_error(&self.asked, &reason(error));
        }
        ProviderError::CutStream { provider: self.asked.provider.clone(), received_bytes: 0 }
    }

    async fn refused(&self, answer: Response) -> ProviderError {
        let (status, headers) = (answer.status(), answer.headers().clone());
        let body = self.small_body(answer).await;
        self.asked.refused(status, &headers, &body)
    }

    /// The first bytes of a body, as many as arrive in time: of an error they say enough.
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

    /// A web page is what a wrong base URL often gives.
    fn check_type(&self, answer: &Response) -> Result<(), ProviderError> {
        let found = answer.headers().get(http::header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
        let is_other =
            found.is_some_and(|found| found.starts_with("text/html") || found.starts_with("application/json"));
        match found {
            Some(found) if is_other => Err(self.asked.malformed(&format!("{found} instead of a stream of events"))),
            _ => Ok(()),
        }
    }

    /// The answer with limits on its silence and its length.
    fn limited(self, answer: Response) -> Response {
        let body = reqwest::Body::wrap_stream(self.limited_bytes(answer.bytes_stream()));
        http::Response::new(body).into()
    }

    fn limited_bytes(
        self,
        bytes: impl Stream<Item = reqwest::Result<Bytes>> + Send + 'static,
    ) -> impl Stream<Item = io::Result<Bytes>> + Send + 'static {
        stream::unfold((self, Box::pin(bytes)), |(sender, mut bytes)| async move {
            let next = timeout_at(sender.patience(), bytes.next()).await;
            let item = sender.judge(next)?;
            Some((item, (sender, bytes)))
        })
    }

    fn judge(
        &self,
        next: Result<Option<reqwest::Result<Bytes>>, tokio::time::error::Elapsed>,
    ) -> Option<io::Result<Bytes>> {
        let provider = self.asked.provider.clone();
        let max_bytes = self.limits.max_reply_bytes;
        let error = match next {
            Ok(None) => return None,
            Ok(Some(Ok(bytes))) if self.count(&bytes) <= max_bytes => return Some(Ok(bytes)),
            Ok(Some(Ok(_))) => ProviderError::ReplyTooLong { provider, max_bytes },
            Ok(Some(Err(_))) => {
                ProviderError::CutStream { provider, received_bytes: self.received.load(Ordering::Relaxed) }
            }
            Err(_) => self.timed_out(),
        };
        let text = error.code();
        // Only the first cause counts.
        let _ = self.cause.set(error);
        Some(Err(io::Error::other(text)))
    }
}

impl Sender {
    /// All bytes so far, these included.
    fn count(&self, bytes: &Bytes) -> u64 {
        let more = bytes.len() as u64;
        self.received.fetch_add(more, Ordering::Relaxed) + more
    }
}

fn boxed(error: ProviderError) -> OpenAIError {
    OpenAIError::Boxed(Box::new(error))
}
