//! No server can make us keep or wait for more than we said.

use notarium_assistant::providers::scripted::{Script, ScriptedCall, ScriptedReply};
use notarium_assistant::providers::{CallLimits, ProviderError, RetryPolicy};
use serde_json::json;

use crate::support::{Call, FAMILIES, status, text};

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
