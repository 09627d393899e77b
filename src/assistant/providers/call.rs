//! One model call: attempts, the pauses between them, and the events.

use std::sync::Arc;
use std::time::Duration;

use futures_util::stream;
use http::HeaderMap;
use serde_json::{Map, Value, json};
use tokio::time::{sleep, timeout};

use super::assemble::{Assembler, MAX_BLOCKS};
use super::capabilities::Capabilities;
use super::classify::Asked;
use super::error::{Failure, ProviderError};
use super::event::Event;
use super::message::{Arguments, Request};
use super::retry::{RetryPolicy, chance};
use super::secret::Secret;
use super::settings::ProviderSettings;
use super::transport::{Attempt, CallLimits, RawStream};
use super::{Counting, EventStream, Provider};

/// Text in place of an image for a model that takes none.
pub(super) const IMAGE_LEFT_OUT: &str = "[An image is left out: this model takes none.]";

/// Request and stream format of one protocol.
pub(super) trait Dialect: Send + Sync {
    fn path(&self) -> &'static str;
    fn headers(&self, key: Option<&Secret>) -> HeaderMap;
    /// `origin` is `provider/model`: thinking of another origin is left out.
    fn body(&self, request: &Request, can: &Capabilities, origin: &str) -> Map<String, Value>;
    fn decoder(&self) -> Box<dyn Decoder>;
    /// Path for counting tokens, and the fields of its body, if the provider counts.
    fn counting(&self) -> Option<(&'static str, &'static [&'static str])>;
}

/// Reads the events of one stream.
pub(super) trait Decoder: Send {
    /// `data` is the JSON text of one event.
    fn read(&mut self, data: &str, asked: &Asked, reply: &mut Assembler) -> Result<(), ProviderError>;
    /// True when no further event is expected, although bytes may follow.
    fn is_over(&self) -> bool;
}

/// Arguments in the form for a model: servers refuse invalid JSON, so that is wrapped.
pub(super) fn arguments_to_send(arguments: &Arguments) -> String {
    match arguments.parse() {
        Ok(_) => arguments.text().to_owned(),
        Err(_) => json!({ "malformed_arguments": arguments.text() }).to_string(),
    }
}

/// Address, key and settings of a provider's calls.
#[derive(Clone)]
pub(super) struct HttpProvider {
    pub(super) name: String,
    pub(super) base_url: String,
    pub(super) key: Option<Secret>,
    pub(super) http: reqwest::Client,
    pub(super) limits: CallLimits,
    pub(super) dialect: Arc<dyn Dialect>,
    pub(super) retry: RetryPolicy,
    pub(super) model: String,
    pub(super) settings: ProviderSettings,
}

impl Provider for HttpProvider {
    fn name(&self) -> &str {
        &self.name
    }

    fn default_model(&self) -> &str {
        &self.model
    }

    fn capabilities(&self, model: &str) -> Capabilities {
        let mut can = self.settings.family.capabilities(model);
        can.context_tokens = self.settings.context_tokens.unwrap_or(can.context_tokens);
        can.images = self.settings.images.unwrap_or(can.images);
        can.parallel_calls = self.settings.parallel_calls.unwrap_or(can.parallel_calls);
        can.chaining = self.settings.chaining.unwrap_or(can.chaining);
        can
    }

    fn stream(&self, request: Request) -> EventStream {
        let call = self.call(request);
        Box::pin(stream::unfold(call, |mut call| async move { call.next().await.map(|event| (event, call)) }))
    }

    fn count_tokens(&self, request: Request) -> Counting {
        let call = self.call(request);
        Box::pin(async move { call.count().await })
    }
}

impl HttpProvider {
    fn call(&self, request: Request) -> Call {
        let origin = format!("{}/{}", self.name, request.model);
        let mut body = self.dialect.body(&request, &self.capabilities(&request.model), &origin);
        body.extend(self.settings.extra_body.clone());
        let asked = Asked {
            provider: self.name.clone(),
            base_url: self.base_url.clone(),
            model: request.model,
            key: self.key.clone(),
        };
        Call {
            provider: self.clone(),
            asked: Arc::new(asked),
            body,
            origin,
            attempts: 0,
            wait: None,
            open: None,
            failed: None,
            handed_out: false,
            is_done: false,
        }
    }
}

/// A running call. Dropping it drops the connection.
struct Call {
    provider: HttpProvider,
    asked: Arc<Asked>,
    body: Map<String, Value>,
    origin: String,
    attempts: u32,
    /// Pause before the next attempt.
    wait: Option<Duration>,
    open: Option<Open>,
    /// Error that ended the attempt, returned after all its events.
    failed: Option<ProviderError>,
    /// An event of the present attempt was handed out: no retry follows.
    handed_out: bool,
    is_done: bool,
}

/// An attempt whose response is streaming.
struct Open {
    stream: RawStream,
    decoder: Box<dyn Decoder>,
    reply: Assembler,
}

impl Call {
    async fn next(&mut self) -> Option<Result<Event, Failure>> {
        loop {
            if let Some(event) = self.open.as_mut().and_then(|open| open.reply.next_event()) {
                return Some(Ok(self.hand_out(event)));
            }
            if self.is_done {
                return None;
            }
            if let Some(error) = self.failed.take() {
                return Some(self.after(error));
            }
            if let Err(error) = self.advance().await {
                self.failed = Some(error);
            }
        }
    }

    fn hand_out(&mut self, event: Event) -> Event {
        self.handed_out = true;
        self.is_done = matches!(event, Event::Finished(_));
        event
    }

    /// Announces another attempt, or returns the failure of the call.
    fn after(&mut self, error: ProviderError) -> Result<Event, Failure> {
        let usage = self.open.take().and_then(|open| open.reply.usage());
        let wait = self.provider.retry.wait_after(self.attempts, &error, chance()).filter(|_| !self.handed_out);
        let attempt = self.attempts;
        tracing::warn!(provider = %self.asked.provider, model = %self.asked.model, attempt, ?wait, %error, "model call failed");
        match wait {
            Some(wait) => {
                self.wait = Some(wait);
                Ok(Event::AttemptFailed { attempt, error, wait })
            }
            None => {
                self.is_done = true;
                Err(Failure { error, attempts: attempt, handed_out: self.handed_out, usage })
            }
        }
    }

    /// Waits for one step: the pause, the head of the response, or an event.
    async fn advance(&mut self) -> Result<(), ProviderError> {
        if let Some(wait) = self.wait.take() {
            sleep(wait).await;
        }
        match &mut self.open {
            Some(open) => open.read_one(&self.asked, &self.provider.limits, self.attempts).await,
            None => {
                self.open = Some(self.send().await?);
                Ok(())
            }
        }
    }

    fn attempt(&self) -> Attempt {
        Attempt::new(self.provider.http.clone(), self.provider.limits, self.asked.clone())
    }

    fn headers(&self) -> HeaderMap {
        self.provider.dialect.headers(self.asked.key.as_ref())
    }

    async fn count(self) -> Result<Option<u64>, ProviderError> {
        let Some((path, fields)) = self.provider.dialect.counting() else { return Ok(None) };
        let wanted = self.body.iter().filter(|(name, _)| fields.contains(&name.as_str()));
        let body = wanted.map(|(name, value)| (name.clone(), value.clone())).collect();
        let attempt = self.attempt();
        let answer = attempt.post(path, self.headers(), &body).await?;
        let count = attempt.value(answer).await?["input_tokens"].as_u64();
        count.map(Some).ok_or_else(|| self.asked.malformed("an answer without input_tokens"))
    }

    async fn send(&mut self) -> Result<Open, ProviderError> {
        self.attempts += 1;
        let (attempt, dialect) = (self.attempt(), self.provider.dialect.clone());
        let answer = attempt.post(dialect.path(), self.headers(), &self.body).await?;
        let (stream, reply) = (attempt.stream(answer)?, Assembler::new(self.origin.clone()));
        Ok(Open { stream, decoder: dialect.decoder(), reply })
    }
}

impl Open {
    async fn read_one(&mut self, asked: &Asked, limits: &CallLimits, attempts: u32) -> Result<(), ProviderError> {
        match self.next_data(limits).await {
            Ok(Some(data)) => self.read(&data, asked, attempts),
            // The reply is complete, so an error at the end of its stream does not matter.
            _ if self.reply.is_complete() => self.reply.finish(attempts),
            Ok(None) => Err(ProviderError::CutStream {
                provider: asked.provider.clone(),
                received_bytes: self.stream.received_bytes(),
            }),
            Err(error) => Err(error),
        }
    }

    async fn next_data(&mut self, limits: &CallLimits) -> Result<Option<String>, ProviderError> {
        let next = self.stream.next();
        let next = match self.reply.is_complete() {
            true => timeout(limits.end_wait, next).await.unwrap_or(None),
            false => next.await,
        };
        next.transpose()
    }

    fn read(&mut self, data: &str, asked: &Asked, attempts: u32) -> Result<(), ProviderError> {
        match self.decoder.read(data, asked, &mut self.reply) {
            Err(_) if self.reply.is_complete() => return self.reply.finish(attempts),
            read => read?,
        }
        if self.reply.is_full() {
            return Err(asked.malformed(&format!("more than {MAX_BLOCKS} blocks in one reply")));
        }
        if self.decoder.is_over() && self.reply.is_complete() {
            return self.reply.finish(attempts);
        }
        Ok(())
    }
}
