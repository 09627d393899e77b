//! One model call over HTTP: the provider that makes it, its attempts, the pauses between them, and the events.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use futures_util::stream;
use http::HeaderMap;
use reqwest::Url;
use serde_json::{Map, Value, json};
use tokio::time::{sleep, timeout};

use super::anthropic::Messages;
use super::capabilities::{Capabilities, Protocol};
use super::error::{CallContext, CallFailure, ProviderError};
use super::message::{CallArguments, Request};
use super::openai::ChatCompletions;
use super::reply::{Assembler, Event, MAX_BLOCKS};
use super::responses::Responses;
use super::settings::{ProviderSettings, Secret, SetupError};
use super::transport::{Attempt, CallLimits, RawStream, http_client};
use super::{Counting, EventStream, ModelProvider};

/// Text in place of an image for a model that takes none.
pub(super) const IMAGE_LEFT_OUT: &str = "[An image is left out: this model takes none.]";

/// Request and stream format of one protocol.
pub(super) trait Dialect: Send + Sync {
    fn path(&self) -> &'static str;
    fn headers(&self, key: Option<&Secret>) -> HeaderMap;
    /// `origin` is `provider/model`: thinking of another origin is left out.
    fn body(&self, request: &Request, can: &Capabilities, origin: &str) -> Map<String, Value>;
    /// Adds the fields of the settings to a body.
    fn add(&self, body: &mut Map<String, Value>, extra: Map<String, Value>) {
        body.extend(extra);
    }
    fn decoder(&self) -> Box<dyn Decoder>;
    /// Path for counting tokens, and the fields of its body, if the provider counts.
    fn counting(&self) -> Option<(&'static str, &'static [&'static str])> {
        None
    }
}

/// Reads the events of one stream.
pub(super) trait Decoder: Send {
    /// `data` is the JSON text of one event.
    fn read(&mut self, data: &str, asked: &CallContext, reply: &mut Assembler) -> Result<(), ProviderError>;
    /// True when no further event is expected, although bytes may follow.
    fn is_over(&self) -> bool;
}

/// Arguments in the form for a model: servers refuse invalid JSON, so that is wrapped.
pub(super) fn arguments_to_send(arguments: &CallArguments) -> String {
    match arguments.parse() {
        Ok(_) => arguments.text().to_owned(),
        Err(_) => json!({ "malformed_arguments": arguments.text() }).to_string(),
    }
}

/// Address, key and settings of a provider's calls.
#[derive(Clone)]
struct HttpProvider {
    name: String,
    base_url: String,
    key: Option<Secret>,
    http: reqwest::Client,
    limits: CallLimits,
    dialect: Arc<dyn Dialect>,
    retry: RetryPolicy,
    model: String,
    settings: ProviderSettings,
}

impl ModelProvider for HttpProvider {
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
        can.encrypted_reasoning = self.settings.encrypted_reasoning.unwrap_or(can.encrypted_reasoning);
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
    fn call(&self, request: Request) -> RunningCall {
        let origin = format!("{}/{}", self.name, request.model);
        let mut body = self.dialect.body(&request, &self.capabilities(&request.model), &origin);
        self.dialect.add(&mut body, self.settings.extra_body.clone());
        let asked = CallContext {
            provider: self.name.clone(),
            base_url: self.base_url.clone(),
            model: request.model,
            key: self.key.clone(),
        };
        RunningCall {
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
struct RunningCall {
    provider: HttpProvider,
    asked: Arc<CallContext>,
    body: Map<String, Value>,
    origin: String,
    attempts: u32,
    /// Pause before the next attempt.
    wait: Option<Duration>,
    open: Option<OpenAttempt>,
    /// Error that ended the attempt, returned after all its events.
    failed: Option<ProviderError>,
    /// An event of the present attempt was handed out: no retry follows.
    handed_out: bool,
    is_done: bool,
}

/// An attempt whose response is streaming.
struct OpenAttempt {
    stream: RawStream,
    decoder: Box<dyn Decoder>,
    reply: Assembler,
}

impl RunningCall {
    async fn next(&mut self) -> Option<Result<Event, CallFailure>> {
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
    fn after(&mut self, error: ProviderError) -> Result<Event, CallFailure> {
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
                Err(CallFailure { error, attempts: attempt, handed_out: self.handed_out, usage })
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

    async fn send(&mut self) -> Result<OpenAttempt, ProviderError> {
        self.attempts += 1;
        let (attempt, dialect) = (self.attempt(), self.provider.dialect.clone());
        let answer = attempt.post(dialect.path(), self.headers(), &self.body).await?;
        let (stream, reply) = (attempt.stream(answer)?, Assembler::new(self.origin.clone()));
        Ok(OpenAttempt { stream, decoder: dialect.decoder(), reply })
    }
}

impl OpenAttempt {
    async fn read_one(&mut self, asked: &CallContext, limits: &CallLimits, attempts: u32) -> Result<(), ProviderError> {
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

    fn read(&mut self, data: &str, asked: &CallContext, attempts: u32) -> Result<(), ProviderError> {
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

/// A provider as configured, with the environment of this process, default retries and limits.
pub fn connect(settings: &ProviderSettings) -> Result<Arc<dyn ModelProvider>, SetupError> {
    connect_with(settings, |name| std::env::var(name).ok(), RetryPolicy::default(), CallLimits::default())
}

/// Like [`connect`], with an environment, retries and limits of the caller's choice.
pub fn connect_with(
    settings: &ProviderSettings,
    variable: impl Fn(&str) -> Option<String>,
    retry: RetryPolicy,
    limits: CallLimits,
) -> Result<Arc<dyn ModelProvider>, SetupError> {
    let dialect: Arc<dyn Dialect> = match settings.protocol()? {
        Protocol::Responses => Arc::new(Responses),
        Protocol::ChatCompletions => Arc::new(ChatCompletions),
        Protocol::Messages => Arc::new(Messages),
    };
    let provider = HttpProvider {
        name: settings.name.clone().unwrap_or_else(|| settings.family.name().to_owned()),
        base_url: settings.base_url()?,
        key: settings.key(variable)?,
        http: http_client(&limits).map_err(SetupError::Http)?,
        limits,
        dialect,
        retry,
        model: settings.model()?,
        settings: settings.clone(),
    };
    warn_of_open_lines(&provider);
    Ok(Arc::new(provider))
}

fn warn_of_open_lines(provider: &HttpProvider) {
    let is_local = |url: Url| {
        let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
        host == "localhost" || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
    };
    let is_open = provider.base_url.starts_with("http:") && !Url::parse(&provider.base_url).is_ok_and(is_local);
    if is_open && provider.key.is_some() {
        tracing::warn!(provider = %provider.name, "the key of this provider travels without encryption: use https");
    }
}

notarium_core::with_defaults! {
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct RetryPolicy {
        /// Most attempts of one call, including the first.
        pub max_attempts: u32 = 4,
        /// Longest pause before the second attempt; doubles with each further one.
        pub first_wait: Duration = Duration::from_millis(500),
        /// Longest pause of our own choice.
        pub max_wait: Duration = Duration::from_secs(20),
        /// Longest pause that a provider may request; above it the call fails.
        pub max_retry_after: Duration = Duration::from_secs(60),
    }
}

impl RetryPolicy {
    /// One attempt, no more.
    pub fn never() -> Self {
        Self { max_attempts: 1, ..Self::default() }
    }

    /// Pause before another attempt; `None` if there is no further one. `chance` is between 0 and 1.
    pub fn wait_after(&self, attempt: u32, error: &ProviderError, chance: f64) -> Option<Duration> {
        if attempt >= self.max_attempts || !error.is_transient() {
            return None;
        }
        let own = self.backoff(attempt).mul_f64(0.5 + chance.clamp(0.0, 1.0) / 2.0);
        match error.retry_after() {
            Some(asked) if asked > self.max_retry_after => None,
            // A little later than requested, so that refused clients do not all return at the same time.
            Some(asked) => Some(asked + self.first_wait.mul_f64(chance.clamp(0.0, 1.0) / 2.0)),
            None => Some(own),
        }
    }

    fn backoff(&self, attempt: u32) -> Duration {
        let doublings = attempt.saturating_sub(1).min(16);
        self.first_wait.saturating_mul(1 << doublings).min(self.max_wait)
    }
}

/// A number between 0 and 1 from the system's randomness.
fn chance() -> f64 {
    let number = getrandom::u32().unwrap_or(u32::MAX / 2);
    f64::from(number) / f64::from(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limited(retry_after: Option<u64>) -> ProviderError {
        let retry_after = retry_after.map(Duration::from_secs);
        ProviderError::RateLimited { provider: "test".into(), retry_after, detail: String::new() }
    }

    #[test]
    fn waits_double_up_to_a_limit_and_vary() {
        let policy = RetryPolicy { max_attempts: 40, ..RetryPolicy::default() };
        let millis = |attempt, chance| policy.wait_after(attempt, &limited(None), chance).unwrap().as_millis();
        assert_eq!([millis(1, 0.0), millis(1, 1.0)], [250, 500]);
        assert_eq!([millis(2, 1.0), millis(3, 1.0), millis(4, 1.0)], [1_000, 2_000, 4_000]);
        assert_eq!(millis(39, 1.0), 20_000);
    }

    #[test]
    fn what_the_provider_asks_for_is_kept_unless_it_is_too_long() {
        let policy = RetryPolicy::default();
        let wait = policy.wait_after(1, &limited(Some(7)), 0.5).unwrap();
        assert!(wait >= Duration::from_secs(7) && wait < Duration::from_secs(8), "{wait:?}");
        assert_eq!(policy.wait_after(1, &limited(Some(61)), 0.5), None);
    }

    #[test]
    fn what_cannot_succeed_is_not_repeated() {
        let wrong = ProviderError::WrongKey { provider: "test".into(), detail: String::new() };
        assert_eq!(RetryPolicy::default().wait_after(1, &wrong, 0.5), None);
        assert_eq!(RetryPolicy::never().wait_after(1, &limited(None), 0.5), None);
        assert_eq!(RetryPolicy::default().wait_after(4, &limited(None), 0.5), None);
    }
}
