//! Errors are reported precisely, and a partial reply is never taken for a complete one.

use std::time::Duration;

use futures_util::StreamExt;
use notarium_assistant::providers::{CallLimits, Event, Family, ProviderError, RetryPolicy, StopReason};
use notarium_scripted::{AnswerOutcome, Script, ScriptedReply};

use crate::support::{
    CHAT, Call, FAMILIES, MESSAGES, RESPONSES, ReplyParts, Spoken, kind, request, rich, small, status, text,
};

/// The length in bytes of a call's stream, over plain HTTP.
pub async fn stream_length(call: &Call, family: Spoken) -> usize {
    let (path, field) = match family {
        MESSAGES => ("messages", "messages"),
        RESPONSES => ("responses", "input"),
        _ => ("chat/completions", "messages"),
    };
    let body = serde_json::json!({
        "model": "scripted-1", "stream": true, field: [{ "role": "user", "content": "hello" }],
        "include": ["reasoning.encrypted_content"],
    });
    let http = reqwest::Client::new();
    let sent = http.post(format!("{}/{path}", call.server.base_url())).json(&body).send().await.unwrap();
    sent.bytes().await.unwrap().len()
}

#[tokio::test]
async fn a_cut_at_any_byte_is_never_a_whole_reply() {
    for family in FAMILIES {
        let whole = Call::once(family, small()).await.ask().await;
        let length = stream_length(&Call::once(family, small()).await, family).await;
        let places = family.places(length);
        let cuts = places.iter().map(|at| ScriptedReply { cut_after_bytes: Some(*at), ..small() });
        let call = Call::with(family, Script::of(cuts), RetryPolicy::never(), CallLimits::default()).await;
        let mut is_whole = false;
        for at in places {
            let run = call.ask().await;
            let common = whole.events.iter().zip(&run.events).take_while(|(one, other)| one == other).count();
            match &run.end {
                Ok(found) => {
                    is_whole = true;
                    assert_eq!(found.blocks, whole.reply().blocks, "{family:?}, cut after {at} bytes");
                }
                Err(failure) => {
                    assert!(!is_whole, "{family:?}: a later cut is less complete, after {at} bytes");
                    let ProviderError::CutStream { received_bytes, .. } = failure.error else {
                        panic!("{family:?}, cut after {at} bytes: {failure:?}")
                    };
                    assert_eq!(received_bytes, at as u64, "{family:?}");
                    assert_eq!(common, run.events.len(), "{family:?}, cut after {at} bytes: {run:?}");
                    assert_eq!(failure.handed_out, !run.events.is_empty());
                }
            }
        }
        assert!(is_whole, "{family:?}: nothing is missing at the end");
    }
}

#[tokio::test]
async fn a_stream_that_ends_without_a_reason_to_stop_is_cut() {
    let openai = "data: {\"choices\":[{\"delta\":{\"content\":\"half\"}}]}\n\ndata: [DONE]\n\n";
    let reply = ScriptedReply { raw: Some(openai.into()), ..ScriptedReply::default() };
    let run = Call::once(Family::OpenAi, reply).await.ask().await;
    assert_eq!(kind(&run.failure().error), "CutStream");
    let anthropic =
        "data: {\"type\":\"content_block_start\",\"content_block\":{\"type\":\"text\",\"text\":\"half\"}}\n\n";
    let reply = ScriptedReply { raw: Some(anthropic.into()), ..ScriptedReply::default() };
    let run = Call::once(Family::Anthropic, reply).await.ask().await;
    assert_eq!(kind(&run.failure().error), "CutStream");
    let responses = "data: {\"type\":\"response.output_text.delta\",\"delta\":\"half\"}\n\ndata: [DONE]\n\n";
    let reply = ScriptedReply { raw: Some(responses.into()), ..ScriptedReply::default() };
    let run = Call::once(RESPONSES, reply).await.ask().await;
    assert_eq!(kind(&run.failure().error), "CutStream");
}

#[tokio::test]
async fn refusals_say_what_to_do() {
    for family in FAMILIES {
        let ask = async |reply| Call::once(family, reply).await.ask().await.failure().error.clone();
        for (reply, code, advice) in [
            (status(401), "WrongKey", "Check the key"),
            (status(404), "UnknownModel", "Check the model's name"),
            (status(413), "ContextTooLong", "larger context"),
            (status(418), "BadRequest", "will not help"),
            (status(500), "Unavailable", "Try again"),
            (ScriptedReply { retry_after: Some("7".into()), ..status(429) }, "RateLimited", "in 7 s"),
        ] {
            let error = ask(reply).await;
            assert_eq!(kind(&error), code, "{error}");
            assert!(error.to_string().contains(advice), "{error}");
        }
    }
}

#[tokio::test]
async fn an_unknown_model_is_named() {
    for family in FAMILIES {
        let script = Script { models: vec!["other".into()], ..Script::of([text("hi")]) };
        let run = Call::of(family, script).await.ask().await;
        assert!(matches!(&run.failure().error, ProviderError::UnknownModel { model, .. } if **model == *"scripted-1"));
        assert_eq!(run.failure().attempts, 1);
    }
}

#[tokio::test]
async fn errors_inside_a_stream_are_errors() {
    for family in FAMILIES {
        let reply = ScriptedReply { error_event: Some("overloaded_error".into()), ..text("I begin and") };
        let run = Call::once(family, reply).await.ask().await;
        assert_eq!(kind(&run.failure().error), "Unavailable");
        assert!(run.failure().handed_out);
        let has_counted = run.failure().usage.is_some_and(|usage| usage.input_tokens > 0);
        assert_eq!(has_counted, family == MESSAGES, "OpenAI counts at the end only");
        assert!(matches!(run.events.first(), Some(Event::TextDelta { .. })));
    }
}

#[tokio::test]
async fn a_malformed_chunk_is_told() {
    for family in FAMILIES {
        let reply = ScriptedReply { malformed_event: Some(2), ..text("hello there, you") };
        let run = Call::once(family, reply).await.ask().await;
        assert_eq!(kind(&run.failure().error), "MalformedStream", "{:?}", run.end);
    }
    // Invalid UTF-8 cannot be scripted in JSON, but a wrong shape can.
    let raw = "data: {\"choices\": \"none\"}\n\n";
    let reply = ScriptedReply { raw: Some(raw.into()), ..ScriptedReply::default() };
    let run = Call::once(Family::OpenAi, reply).await.ask().await;
    assert_eq!(kind(&run.failure().error), "MalformedStream");
}

#[tokio::test]
async fn an_empty_reply_is_an_error_and_a_refusal_is_not() {
    for family in FAMILIES {
        for empty in [text(""), text(" \n"), ScriptedReply { thinking: Some("hm".into()), ..ScriptedReply::default() }]
        {
            let run = Call::once(family, empty).await.ask().await;
            assert_eq!(run.failure().error, ProviderError::EmptyReply { stop: StopReason::EndTurn });
        }
        let used_up = ScriptedReply { stop: Some(notarium_scripted::StopReason::MaxTokens), ..text("") };
        let error = Call::once(family, used_up).await.ask().await.failure().error.clone();
        assert!(error.to_string().contains("Allow more tokens") && !error.is_transient(), "{error}");
        let refused = ScriptedReply { stop: Some(notarium_scripted::StopReason::Refusal), ..text("") };
        assert_eq!(Call::once(family, refused).await.ask().await.reply().stop, StopReason::Refusal);
    }
}

#[tokio::test]
async fn tokens_that_run_out_leave_arguments_that_do_not_parse() {
    for family in FAMILIES {
        let mut reply = ScriptedReply { stop: Some(notarium_scripted::StopReason::MaxTokens), ..rich() };
        reply.calls[1].raw_arguments = Some("{\"cell_id\": \"c".into());
        let run = Call::once(family, reply).await.ask().await;
        assert_eq!(run.reply().stop, StopReason::MaxTokens);
        assert!(run.reply().calls().last().unwrap().arguments.parse().is_err());
    }
}

#[tokio::test]
async fn nobody_there_is_unreachable() {
    let call = Call::once(Family::OpenAi, text("hi")).await;
    let base_url = call.server.base_url();
    let Call { server, provider } = call;
    let address = server.address();
    drop(server);
    // The port closes a moment after the server is dropped.
    while tokio::net::TcpStream::connect(address).await.is_ok() {}
    let run = crate::support::run(&*provider, request("hi")).await;
    let error = &run.failure().error;
    assert_eq!(kind(error), "Unreachable", "{error}");
    assert!(error.to_string().contains(&base_url) && error.is_transient(), "{error}");
}

#[tokio::test]
async fn dropping_the_stream_cancels_the_request() {
    for family in FAMILIES {
        let mid_stream = ScriptedReply { hang_after_bytes: Some(1_500), ..text(&"words ".repeat(100)) };
        let before_the_head = ScriptedReply { delay_ms: 3_600_000, ..text("late") };
        for (reply, is_streaming) in [(mid_stream, true), (before_the_head, false)] {
            let call = Call::once(family, reply).await;
            let mut stream = call.provider.stream(request("hello"));
            if is_streaming {
                assert!(matches!(stream.next().await, Some(Ok(Event::TextDelta { .. }))));
            } else {
                let arrived = call.server.wait_for(|requests| !requests.is_empty());
                tokio::select! {
                    item = stream.next() => panic!("{item:?}"),
                    _ = arrived => {}
                }
            }
            drop(stream);
            call.server.wait_for(|requests| requests[0].outcome == AnswerOutcome::Cancelled).await;
        }
    }
}

#[tokio::test]
async fn silence_ends_after_the_idle_timeout() {
    for family in FAMILIES {
        let limits = CallLimits { idle_timeout: Duration::from_millis(50), ..CallLimits::default() };
        let silent = ScriptedReply { hang_after_bytes: Some(1_500), ..text(&"words ".repeat(100)) };
        let mute = ScriptedReply { delay_ms: 3_600_000, ..text("late") };
        for reply in [silent, mute] {
            let call = Call::with(family, Script::of([reply]), RetryPolicy::never(), limits).await;
            let run = call.ask().await;
            let expected = ProviderError::TimedOut { provider: call.provider.name().into(), idle: limits.idle_timeout };
            assert_eq!(run.failure().error, expected);
        }
    }
}

#[tokio::test]
async fn a_stream_that_hangs_after_its_end_is_whole() {
    let reply = || text("all said");
    let length = stream_length(&Call::once(CHAT, reply()).await, CHAT).await;
    let hanging = ScriptedReply { hang_after_bytes: Some(length - "data: [DONE]\n\n".len()), ..reply() };
    let limits = CallLimits { end_wait: Duration::from_millis(50), ..CallLimits::default() };
    let call = Call::with(Family::OpenAi, Script::of([hanging]), RetryPolicy::never(), limits).await;
    assert_eq!(call.ask().await.reply().text(), "all said");
}

#[tokio::test]
async fn a_server_that_speaks_no_tls_is_unreachable_over_https() {
    let server = notarium_scripted::ScriptedServer::start(Script::default()).await.unwrap();
    let settings = notarium_assistant::providers::ProviderSettings {
        base_url: Some(server.base_url().replace("http:", "https:")),
        model: Some("scripted-1".into()),
        ..notarium_assistant::providers::ProviderSettings::new(Family::Ollama)
    };
    let provider =
        notarium_assistant::providers::connect_with(&settings, |_| None, RetryPolicy::never(), CallLimits::default());
    let run = crate::support::run(&*provider.unwrap(), request("hi")).await;
    assert_eq!(kind(&run.failure().error), "Unreachable", "{:?}", run.end);
}
