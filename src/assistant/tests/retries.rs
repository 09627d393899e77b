//! Attempts are retried while nothing was handed out, and counted; the HTTP client itself does not retry.

use std::time::{Duration, Instant};

use futures_util::StreamExt;
use notarium_assistant::providers::{CallLimits, Event, Family, ProviderError, RetryPolicy};
use notarium_scripted::{Script, ScriptedReply};

use crate::support::{Call, FAMILIES, ReplyParts, kind, request, status, text};

fn failed_attempts(events: &[Event]) -> Vec<(u32, String)> {
    let attempts = events.iter().filter_map(|event| match event {
        Event::AttemptFailed { attempt, error, .. } => Some((*attempt, kind(error))),
        _ => None,
    });
    attempts.collect()
}

#[tokio::test]
async fn broken_servers_are_asked_again() {
    for family in FAMILIES {
        let cut = ScriptedReply { cut_after_bytes: Some(20), ..text("never read") };
        let malformed = ScriptedReply { malformed_event: Some(0), ..text("never read") };
        let call = Call::of(family, Script::of([status(500), cut, malformed, text("at last")])).await;
        let run = call.ask().await;
        let expected = [(1, "Unavailable"), (2, "CutStream"), (3, "MalformedStream")];
        assert_eq!(failed_attempts(&run.events), expected.map(|(attempt, kind)| (attempt, kind.to_owned())));
        assert_eq!((run.reply().text().as_str(), run.reply().attempts), ("at last", 4));
        assert_eq!(call.server.requests().len(), 4);
        assert!(call.server.requests().iter().all(|sent| sent.body == call.server.requests()[0].body));
    }
}

#[tokio::test]
async fn each_attempt_is_one_request_and_they_end() {
    for family in FAMILIES {
        let call = Call::of(family, Script::of([429, 503, 529, 500, 500, 500].map(status))).await;
        let run = call.ask().await;
        assert_eq!(run.failure().attempts, 4);
        assert_eq!(call.server.requests().len(), 4, "nobody else retries");
        assert_eq!(failed_attempts(&run.events).len(), 3);
    }
}

#[tokio::test]
async fn what_cannot_succeed_is_asked_once() {
    for family in FAMILIES {
        for code in [400, 401, 403, 404, 413] {
            let call = Call::of(family, Script::of([status(code), text("never")])).await;
            assert_eq!(call.ask().await.failure().attempts, 1);
            assert_eq!(call.server.requests().len(), 1, "{code}");
        }
    }
}

#[tokio::test]
async fn nothing_is_repeated_once_something_was_handed_out() {
    for family in FAMILIES {
        let cut = ScriptedReply { cut_after_bytes: Some(1_500), ..text(&"words and more ".repeat(60)) };
        let call = Call::of(family, Script::of([cut, text("never")])).await;
        let run = call.ask().await;
        assert!(run.failure().handed_out && run.failure().error.is_transient(), "{:?}", run.end);
        assert!(matches!(run.events.first(), Some(Event::TextDelta { .. })));
        assert_eq!(call.server.requests().len(), 1);
    }
}

#[tokio::test]
async fn retry_after_is_waited_for() {
    for family in FAMILIES {
        let limited = ScriptedReply { retry_after: Some("0.2".into()), ..status(429) };
        let script = Script::of([limited, text("hello")]);
        let call = Call::with(family, script, RetryPolicy::default(), CallLimits::default()).await;
        let start = Instant::now();
        let run = call.ask().await;
        assert_eq!(run.reply().attempts, 2);
        assert!(start.elapsed() >= Duration::from_millis(200), "{:?}", start.elapsed());
        let Event::AttemptFailed { error, wait, .. } = &run.events[0] else { panic!("{:?}", run.events) };
        assert!(
            matches!(error, ProviderError::RateLimited { retry_after: Some(asked), .. } if asked.as_millis() == 200)
        );
        assert!(*wait >= Duration::from_millis(200));
    }
}

#[tokio::test]
async fn a_wait_that_is_too_long_is_told_instead() {
    let limited = ScriptedReply { retry_after: Some("3600".into()), ..status(429) };
    let call = Call::of(Family::OpenAi, Script::of([limited, text("never")])).await;
    let run = call.ask().await;
    assert_eq!(run.failure().error.retry_after(), Some(Duration::from_secs(3_600)));
    assert_eq!(call.server.requests().len(), 1);
}

#[tokio::test]
async fn an_empty_reply_is_asked_for_again() {
    for family in FAMILIES {
        let call = Call::of(family, Script::of([text(""), text("here")])).await;
        let run = call.ask().await;
        assert_eq!(failed_attempts(&run.events), [(1, "EmptyReply".to_owned())]);
        assert_eq!(run.reply().text(), "here");
    }
}

#[tokio::test]
async fn a_call_that_is_dropped_while_it_waits_is_not_sent_again() {
    let limited = ScriptedReply { retry_after: Some("50".into()), ..status(429) };
    let call = Call::of(Family::Anthropic, Script::of([limited, text("never")])).await;
    let mut stream = call.provider.stream(request("hello"));
    assert!(matches!(stream.next().await, Some(Ok(Event::AttemptFailed { attempt: 1, .. }))));
    drop(stream);
    assert_eq!(call.server.requests().len(), 1);
}

#[tokio::test]
async fn a_stream_that_is_never_polled_sends_nothing() {
    let call = Call::of(Family::OpenAi, Script::of([text("hi")])).await;
    drop(call.provider.stream(request("hello")));
    assert!(call.server.requests().is_empty());
}
