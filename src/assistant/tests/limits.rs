//! Limits on a server's replies in size and time, and counts of tokens.

use std::time::Duration;

use notarium_assistant::providers::{CallLimits, Family, ProviderError, Request, RetryPolicy};
use notarium_scripted::{AnswerOutcome, Script, ScriptedCall, ScriptedReply};
use serde_json::json;

use crate::support::{Call, FAMILIES, kind, request, status, text};

#[tokio::test]
async fn a_reply_that_is_too_long_is_ended() {
    for family in FAMILIES {
        let limits = CallLimits { max_reply_bytes: 10_000, ..CallLimits::default() };
        let script = Script::of([text(&"many words ".repeat(10_000))]);
        let call = Call::with(family, script, RetryPolicy::never(), limits).await;
        let error = call.ask().await.failure().error.clone();
        assert!(matches!(error, ProviderError::ReplyTooLong { max_bytes: 10_000, .. }), "{error}");
    }
}

#[tokio::test]
async fn a_reply_of_too_many_blocks_is_ended() {
    for family in FAMILIES {
        let call = ScriptedCall { name: "again".into(), ..ScriptedCall::default() };
        let reply = ScriptedReply { calls: vec![call; 600], ..ScriptedReply::default() };
        let error = Call::once(family, reply).await.ask().await.failure().error.clone();
        assert!(error.to_string().contains("more than 512 blocks"), "{error}");
    }
}

#[tokio::test]
async fn a_long_error_is_cut() {
    for family in FAMILIES {
        let body = json!({ "error": { "message": "x ".repeat(1_000_000) } });
        let reply = ScriptedReply { body: Some(body), ..status(500) };
        let error = Call::once(family, reply).await.ask().await.failure().error.to_string();
        assert!(error.len() < 1_000, "{}", error.len());
    }
}

#[tokio::test]
async fn a_stream_that_never_ends_is_ended() {
    for family in FAMILIES {
        let limits = CallLimits { max_duration: Duration::from_millis(100), ..CallLimits::default() };
        let slow = ScriptedReply { chunk_delay_ms: 5, ..text(&"and so on ".repeat(10_000)) };
        let call = Call::with(family, Script::of([slow]), RetryPolicy::default(), limits).await;
        let failure = call.ask().await.failure().clone();
        assert_eq!((kind(&failure.error).as_str(), failure.attempts), ("TookTooLong", 1));
    }
}

#[tokio::test]
async fn anthropic_counts_tokens_and_others_do_not() {
    let call = Call::of(Family::Anthropic, Script { models: vec!["scripted-1".into()], ..Script::default() }).await;
    let count = call.provider.count_tokens(request("hello")).await.unwrap();
    assert!(count.is_some_and(|count| count > 0), "{count:?}");
    let sent = &call.server.requests()[0];
    assert_eq!((sent.path, sent.outcome), ("/v1/messages/count_tokens", AnswerOutcome::Counted));
    assert!(sent.json().get("max_tokens").is_none() && sent.json()["tools"].is_array());
    let unknown = Request { model: "other".into(), ..request("hello") };
    assert_eq!(kind(&call.provider.count_tokens(unknown).await.unwrap_err()), "UnknownModel");

    let call = Call::of(Family::OpenAi, Script::default()).await;
    assert_eq!(call.provider.count_tokens(request("hello")).await.unwrap(), None);
    assert!(call.server.requests().is_empty());
}
