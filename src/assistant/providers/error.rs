//! Errors of a model call, with advice, and whether a retry can help.
//!
//! An HTTP error response, or an error inside a stream, becomes a typed error. Providers spell their errors differently: the
//! status decides first, words in the text second.

use std::time::Duration;

use chrono::{DateTime, Utc};
use http::{HeaderMap, StatusCode};
use notarium_core::{ExplainedCause, TurnFailure};
use serde_json::Value;

use super::reply::{StopReason, Usage};
use super::settings::{Secret, redact};

/// Cause of a model call's failure. Details are the provider's own words with keys masked, at most 500 characters.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ProviderError {
    #[error("{provider} does not accept the key ({detail}). Check the key and that it may use this model.")]
    WrongKey { provider: String, detail: String },
    #[error("{provider} says that there is no credit or quota left ({detail}). Top up the account, or use another.")]
    QuotaExhausted { provider: String, detail: String },
    #[error(
        "{provider} does not know the model `{model}` at {base_url} ({detail}). Check the model's name and the base URL."
    )]
    UnknownModel { provider: String, model: Box<str>, base_url: Box<str>, detail: String },
    #[error("{provider} limits the rate of calls ({detail}). {}", wait_advice(*retry_after))]
    RateLimited { provider: String, retry_after: Option<Duration>, detail: String },
    #[error("{provider} is overloaded or broken (HTTP {status}: {detail}). {}", wait_advice(*retry_after))]
    Unavailable { provider: String, status: u16, retry_after: Option<Duration>, detail: String },
    #[error(
        "The conversation is too long for the model ({detail}). Skip or shorten messages, or take a model with a larger \
         context."
    )]
    ContextTooLong { detail: String },
    #[error("{provider} refused the request (HTTP {status}: {detail}). Repeating it will not help.")]
    BadRequest { provider: String, status: u16, detail: String },
    #[error(
        "{provider} cannot be reached at {base_url} ({detail}). Check the address and the network, then try again."
    )]
    Unreachable { provider: String, base_url: Box<str>, detail: String },
    #[error("{provider} sent nothing for {} s. Try again.", idle.as_secs())]
    TimedOut { provider: String, idle: Duration },
    #[error("{provider} was not done after {} s. Ask for less at once, or try again.", max.as_secs())]
    TookTooLong { provider: String, max: Duration },
    #[error(
        "The stream of {provider} was cut after {received_bytes} bytes, before the model said that it is done. Try again."
    )]
    CutStream { provider: String, received_bytes: u64 },
    #[error("{provider} sent what cannot be read ({detail}). Try again; if it repeats, check the base URL.")]
    MalformedStream { provider: String, detail: String },
    #[error("{provider} sent more than {max_bytes} bytes in one reply. Ask for less at once.")]
    ReplyTooLong { provider: String, max_bytes: u64 },
    #[error("The model answered nothing ({}). {}", stop_word(stop), empty_advice(stop))]
    EmptyReply { stop: StopReason },
}

impl ProviderError {
    /// True if the same request may succeed later. Executed tool calls are never part of a retry.
    pub fn is_transient(&self) -> bool {
        match self {
            Self::RateLimited { .. }
            | Self::Unavailable { .. }
            | Self::Unreachable { .. }
            | Self::TimedOut { .. }
            | Self::CutStream { .. }
            | Self::MalformedStream { .. } => true,
            Self::EmptyReply { stop } => matches!(stop, StopReason::EndTurn | StopReason::ToolUse),
            _ => false,
        }
    }

    /// Wait that the provider requested.
    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::RateLimited { retry_after, .. } | Self::Unavailable { retry_after, .. } => *retry_after,
            _ => None,
        }
    }

    /// The cause in the log's form.
    fn failure(&self) -> TurnFailure {
        match self {
            Self::WrongKey { .. } => TurnFailure::WrongKey,
            Self::QuotaExhausted { .. } => TurnFailure::QuotaExhausted,
            Self::UnknownModel { .. } => TurnFailure::UnknownModel,
            Self::RateLimited { .. } => TurnFailure::RateLimited,
            Self::Unavailable { .. } => TurnFailure::Unavailable,
            Self::ContextTooLong { .. } => TurnFailure::ContextTooLong,
            Self::BadRequest { .. } => TurnFailure::BadRequest,
            Self::Unreachable { .. } => TurnFailure::Unreachable,
            Self::TimedOut { .. } => TurnFailure::TimedOut,
            Self::TookTooLong { .. } => TurnFailure::TookTooLong,
            Self::CutStream { .. } => TurnFailure::CutStream,
            Self::MalformedStream { .. } => TurnFailure::MalformedStream,
            Self::ReplyTooLong { .. } => TurnFailure::ReplyTooLong,
            Self::EmptyReply { .. } => TurnFailure::EmptyReply,
        }
    }

    /// The cause and the message, for the log.
    pub fn because(&self) -> ExplainedCause<TurnFailure> {
        ExplainedCause::new(self.failure(), self.to_string())
    }
}

fn wait_advice(retry_after: Option<Duration>) -> String {
    match retry_after {
        Some(wait) => format!("Try again in {} s.", wait.as_secs_f64().ceil()),
        None => "Try again in a moment.".to_owned(),
    }
}

fn stop_word(stop: &StopReason) -> &str {
    match stop {
        StopReason::EndTurn => "it ended its turn",
        StopReason::ToolUse => "it announced a tool call and made none",
        StopReason::MaxTokens => "its tokens were used up",
        StopReason::Refusal => "it refused",
        StopReason::Other(word) => word,
    }
}

fn empty_advice(stop: &StopReason) -> &'static str {
    match stop {
        StopReason::MaxTokens => "Allow more tokens.",
        _ => "Ask again, in other words.",
    }
}

/// Failure of a whole call, after all attempts.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{error}")]
pub struct CallFailure {
    #[source]
    pub error: ProviderError,
    /// Count of attempts; 1 means no retry.
    pub attempts: u32,
    /// True if deltas of the failed attempt were handed out: they are no answer.
    pub handed_out: bool,
    /// Tokens of the last attempt, as far as its provider had counted them.
    pub usage: Option<Usage>,
}

const MAX_DETAIL_CHARACTERS: usize = 500;

/// Provider, model and key of a request, for error messages.
#[derive(Debug, Clone)]
pub(super) struct CallContext {
    pub(super) provider: String,
    pub(super) base_url: String,
    pub(super) model: String,
    pub(super) key: Option<Secret>,
}

impl CallContext {
    /// A provider's message without keys, cut to 500 characters.
    pub(super) fn clean(&self, text: &str) -> String {
        let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let clean = redact(&flat, self.key.as_ref());
        match clean.char_indices().nth(MAX_DETAIL_CHARACTERS) {
            Some((end, _)) => format!("{}…", &clean[..end]),
            None => clean,
        }
    }

    pub(super) fn malformed(&self, detail: &str) -> ProviderError {
        ProviderError::MalformedStream { provider: self.provider.clone(), detail: self.clean(detail) }
    }

    /// The error for a response with another status than 200.
    pub(super) fn refused(&self, status: StatusCode, headers: &HeaderMap, body: &[u8]) -> ProviderError {
        let words = ErrorWords::of_body(body);
        let retry_after = retry_after(headers, Utc::now());
        self.error(status.as_u16(), &words, retry_after)
    }

    /// The error for an error object inside a stream.
    pub(super) fn failed_in_stream(&self, error: &Value) -> ProviderError {
        let words = ErrorWords::of_error(error);
        let code = error.get("code").and_then(Value::as_u64).and_then(|code| u16::try_from(code).ok());
        let status = code.filter(|code| (400..600).contains(code)).unwrap_or_else(|| words.status());
        self.error(status, &words, None)
    }

    fn error(&self, status: u16, words: &ErrorWords, retry_after: Option<Duration>) -> ProviderError {
        let provider = self.provider.clone();
        let detail = match self.clean(&words.message) {
            empty if empty.is_empty() => format!("HTTP {status}, without a word"),
            message => message,
        };
        match status {
            _ if words.mean_no_quota() => ProviderError::QuotaExhausted { provider, detail },
            402 => ProviderError::QuotaExhausted { provider, detail },
            401 | 403 => ProviderError::WrongKey { provider, detail },
            400 if words.mean_wrong_key() => ProviderError::WrongKey { provider, detail },
            400 | 413 | 422 if status == 413 || words.mean_too_long() => ProviderError::ContextTooLong { detail },
            404 | 405 => self.unknown_model(detail),
            400 | 422 if words.mean_unknown_model() => self.unknown_model(detail),
            429 => ProviderError::RateLimited { provider, retry_after, detail },
            408 | 409 | 425 | 500.. => ProviderError::Unavailable { provider, status, retry_after, detail },
            _ => ProviderError::BadRequest { provider, status, detail },
        }
    }

    fn unknown_model(&self, detail: String) -> ProviderError {
        ProviderError::UnknownModel {
            provider: self.provider.clone(),
            model: self.model.as_str().into(),
            base_url: self.base_url.as_str().into(),
            detail,
        }
    }
}

/// A provider's error message, and the whole error in lower case for matching.
struct ErrorWords {
    message: String,
    all: String,
}

impl ErrorWords {
    fn of_body(body: &[u8]) -> Self {
        let text = String::from_utf8_lossy(body);
        match serde_json::from_str::<Value>(&text) {
            // Gemini wraps its errors in an array.
            Ok(Value::Array(errors)) => Self::of_error(errors.first().unwrap_or(&Value::Null)),
            Ok(value) => Self::of_error(&value),
            Err(_) => Self { message: text.clone().into_owned(), all: text.to_lowercase() },
        }
    }

    /// `{error: {message}}`, `{error: "…"}`, `{message}`, `{detail}`.
    fn of_error(value: &Value) -> Self {
        let inner = value.get("error").filter(|error| !error.is_null()).unwrap_or(value);
        let text = |name: &str| inner.get(name).and_then(Value::as_str);
        let message = inner.as_str().or_else(|| text("message")).or_else(|| text("detail"));
        let all = value.to_string().to_lowercase();
        Self { message: message.map_or_else(|| value.to_string(), str::to_owned), all }
    }

    fn have_any(&self, words: &[&str]) -> bool {
        words.iter().any(|word| self.all.contains(word))
    }

    fn mean_no_quota(&self) -> bool {
        self.have_any(&[
            "insufficient_quota",
            "credit balance is too low",
            "billing_error",
            "exceeded your current quota, please check your plan and billing",
        ])
    }

    fn mean_wrong_key(&self) -> bool {
        self.have_any(&[
            "api key not valid",
            "incorrect api key",
            "invalid api key",
            "api_key_invalid",
            "invalid_api_key",
            "authentication_error",
        ])
    }

    fn mean_too_long(&self) -> bool {
        self.have_any(&[
            "context_length_exceeded",
            "maximum context length",
            "prompt is too long",
            "input token count",
            "exceeds the available context size",
            "exceed context limit",
            "context window",
            "request_too_large",
            "maximum prompt length",
        ])
    }

    fn mean_unknown_model(&self) -> bool {
        self.have_any(&["model_not_found", "model not found", "unknown model", "invalid model"])
            || (self.all.contains("model") && self.have_any(&["does not exist", "is not found"]))
    }

    /// The status that an error inside a stream would have as a response.
    fn status(&self) -> u16 {
        let kinds: [(&str, u16); 8] = [
            ("overloaded", 529),
            ("rate_limit", 429),
            ("authentication_error", 401),
            ("permission_error", 403),
            ("not_found_error", 404),
            ("invalid_", 400),
            ("_policy", 400),
            ("image_too_", 400),
        ];
        let known = kinds.iter().find(|(word, _)| self.all.contains(word));
        known.map_or(if self.mean_too_long() { 400 } else { 500 }, |(_, status)| *status)
    }
}

/// `retry-after-ms`, or `Retry-After` in seconds or as a date.
fn retry_after(headers: &HeaderMap, now: DateTime<Utc>) -> Option<Duration> {
    let text = |name: &str| headers.get(name)?.to_str().ok().map(str::trim);
    let millis = text("retry-after-ms").and_then(|text| text.parse::<f64>().ok()).map(|millis| millis / 1_000.0);
    let seconds = millis.or_else(|| seconds_until(text("retry-after")?, now))?;
    // At most a day, so that no number can panic.
    Duration::try_from_secs_f64(seconds.clamp(0.0, 86_400.0)).ok()
}

fn seconds_until(text: &str, now: DateTime<Utc>) -> Option<f64> {
    if let Ok(seconds) = text.parse::<f64>() {
        return Some(seconds);
    }
    let date = DateTime::parse_from_rfc2822(text).ok()?;
    Some((date.with_timezone(&Utc) - now).num_milliseconds() as f64 / 1_000.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked() -> CallContext {
        CallContext {
            provider: "test".into(),
            base_url: "http://x/v1".into(),
            model: "m".into(),
            key: Some(Secret::new("planted-key-123456", "test").unwrap()),
        }
    }

    /// The name of the error's variant.
    fn kind(error: &ProviderError) -> String {
        format!("{error:?}").split([' ', '{']).next().unwrap_or_default().to_owned()
    }

    fn refused(status: u16, body: &str) -> String {
        kind(&asked().refused(StatusCode::from_u16(status).unwrap(), &HeaderMap::new(), body.as_bytes()))
    }

    #[test]
    fn answers_of_real_providers_are_understood() {
        let cases = [
            (401, r#"{"error":{"message":"Incorrect API key provided: sk-x","code":"invalid_api_key"}}"#, "WrongKey"),
            (
                400,
                r#"[{"error":{"code":400,"message":"API key not valid. Please pass a valid API key."}}]"#,
                "WrongKey",
            ),
            (400, r#"{"code":"invalid","error":"Incorrect API key provided: pl***56."}"#, "WrongKey"),
            (403, r#"{"type":"error","error":{"type":"permission_error","message":"no"}}"#, "WrongKey"),
            (404, r#"{"type":"error","error":{"type":"not_found_error","message":"model: claude-x"}}"#, "UnknownModel"),
            (404, r#"{"error":"model 'x' not found, try pulling it first"}"#, "UnknownModel"),
            (404, "404 page not found", "UnknownModel"),
            (400, r#"{"error":{"message":"The model `x` does not exist","code":"model_not_found"}}"#, "UnknownModel"),
            (429, r#"{"error":{"type":"rate_limit_error","message":"slow down"}}"#, "RateLimited"),
            (429, r#"{"error":{"code":"insufficient_quota","message":"You exceeded your quota"}}"#, "QuotaExhausted"),
            (400, r#"{"error":{"message":"Your credit balance is too low to access the API"}}"#, "QuotaExhausted"),
            (529, r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#, "Unavailable"),
            (502, "<html>Bad gateway</html>", "Unavailable"),
            (400, r#"{"error":{"message":"prompt is too long: 210000 tokens > 200000 maximum"}}"#, "ContextTooLong"),
            (400, r#"{"error":{"code":"context_length_exceeded","message":"…"}}"#, "ContextTooLong"),
            (413, "", "ContextTooLong"),
            (400, r#"{"object":"error","message":"messages: bad role","type":"BadRequestError"}"#, "BadRequest"),
            (302, "", "BadRequest"),
        ];
        for (status, body, expected) in cases {
            assert_eq!(refused(status, body), expected, "{status} {body}");
        }
    }

    #[test]
    fn errors_inside_a_stream_are_understood() {
        let failed = |text: &str| kind(&asked().failed_in_stream(&serde_json::from_str(text).unwrap()));
        assert_eq!(failed(r#"{"type":"overloaded_error","message":"Overloaded"}"#), "Unavailable");
        assert_eq!(failed(r#"{"type":"rate_limit_error","message":"…"}"#), "RateLimited");
        assert_eq!(failed(r#"{"code":429,"message":"Resource exhausted"}"#), "RateLimited");
        assert_eq!(failed(r#"{"message":"something broke"}"#), "Unavailable");
    }

    #[test]
    fn no_detail_shows_the_key_or_goes_on_for_ever() {
        let body = format!("{{\"error\":{{\"message\":\"key planted-key-123456 {}\"}}}}", "x ".repeat(5_000));
        let error = asked().refused(StatusCode::UNAUTHORIZED, &HeaderMap::new(), body.as_bytes()).to_string();
        assert!(!error.contains("planted") && error.contains("[key]"), "{error}");
        assert!(error.chars().count() < 700, "{}", error.len());
    }

    #[test]
    fn retry_after_is_read_in_all_its_forms() {
        let now = DateTime::parse_from_rfc2822("Sun, 22 Nov 2026 10:00:00 GMT").unwrap().with_timezone(&Utc);
        let read = |name: &'static str, value: &'static str| {
            let headers = HeaderMap::from_iter([(name.parse().unwrap(), value.parse().unwrap())]);
            retry_after(&headers, now).map(|wait: Duration| wait.as_millis())
        };
        assert_eq!(read("retry-after", "7"), Some(7_000));
        assert_eq!(read("retry-after", "0.25"), Some(250));
        assert_eq!(read("retry-after-ms", "120"), Some(120));
        assert_eq!(read("retry-after", "Sun, 22 Nov 2026 10:00:30 GMT"), Some(30_000));
        assert_eq!(read("retry-after", "Sun, 22 Nov 2026 09:00:00 GMT"), Some(0));
        for odd in ["", "soon", "-5", "inf", "1e300", "NaN"] {
            assert!(read("retry-after", odd).is_none_or(|millis| millis <= 86_400_000), "{odd}");
        }
    }
}
