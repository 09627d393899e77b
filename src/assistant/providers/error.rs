//! Errors of a model call, with advice, and whether a retry can help.

use std::time::Duration;

use notarium_core::{Because, TurnFailure};

use super::reply::{StopReason, Usage};

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
    pub fn because(&self) -> Because<TurnFailure> {
        Because::new(self.failure(), self.to_string())
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
pub struct Failure {
    #[source]
    pub error: ProviderError,
    /// Count of attempts; 1 means no retry.
    pub attempts: u32,
    /// True if deltas of the failed attempt were handed out: they are no answer.
    pub handed_out: bool,
    /// Tokens of the last attempt, as far as its provider had counted them.
    pub usage: Option<Usage>,
}
