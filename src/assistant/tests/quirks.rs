//! Streams of real endpoints that differ from the specification.

use notarium_assistant::providers::{Block, Family, Message, StopReason, ToolResult};
use notarium_scripted::{Script, ScriptedReply};
use serde_json::json;

use crate::support::{Call, ReplyParts, Run, request, text};

fn raw(events: &[serde_json::Value]) -> ScriptedReply {
    let lines: Vec<String> = events.iter().map(|event| format!("data: {event}\n\n")).collect();
    ScriptedReply { raw: Some(lines.concat()), ..ScriptedReply::default() }
}

async fn read(family: Family, events: &[serde_json::Value]) -> Run {
    Call::once(family, raw(events)).await.ask().await
}

fn delta(delta: serde_json::Value) -> serde_json::Value {
    json!({ "choices": [{ "delta": delta }] })
}

fn calls(run: &Run) -> Vec<(String, String)> {
    run.reply().calls().map(|call| (call.id.clone(), call.arguments.text().to_owned())).collect()
}

#[tokio::test]
async fn gemini_sends_whole_calls_without_index_and_wants_its_signature_back() {
    let call = |id: &str, city: &str| {
        json!({
            "id": id, "type": "function", "function": { "name": "weather", "arguments": format!("{{\"city\":\"{city}\"}}") },
            "extra_content": { "google": { "thought_signature": format!("sig-{id}") } },
        })
    };
    let events = [
        json!({ "choices": [{ "index": 0, "delta": { "role": "assistant", "tool_calls": [call("a", "Oslo")] } }], "usage": {} }),
        delta(json!({ "tool_calls": [call("b", "Rom")] })),
        json!({ "choices": [{ "delta": {}, "finish_reason": "stop" }], "usage": { "prompt_tokens": 9 } }),
    ];
    let scripted = Call::of(Family::Gemini, Script::of([raw(&events), text("ok")])).await;
    let run = scripted.ask().await;
    assert_eq!(calls(&run), [("a".into(), "{\"city\":\"Oslo\"}".into()), ("b".into(), "{\"city\":\"Rom\"}".into())]);
    assert_eq!(run.reply().stop, StopReason::ToolUse, "it says stop although it calls");
    assert_eq!(run.reply().usage.unwrap().input_tokens, 9);

    let mut next = request("hello");
    let results = ["a", "b"].map(|id| ToolResult { call_id: id.into(), text: "cold".into(), is_error: false });
    next.messages.push(Message::assistant(run.reply().blocks.clone()));
    next.messages.push(Message::results(results.to_vec()));
    scripted.run(next).await.reply();
    let sent = scripted.server.requests()[1].json();
    let signature = &sent["messages"][2]["tool_calls"][1]["extra_content"]["google"]["thought_signature"];
    assert_eq!(signature, "sig-b");
}

#[tokio::test]
async fn ollama_sends_several_calls_under_one_index() {
    let call = |id: &str| json!({ "index": 0, "id": id, "function": { "name": "run", "arguments": "{}" } });
    let events = [
        delta(json!({ "role": "assistant", "content": "", "tool_calls": [call("x"), call("y")] })),
        json!({ "choices": [{ "delta": { "content": "" }, "finish_reason": "tool_calls" }] }),
    ];
    let run = read(Family::Ollama, &events).await;
    assert_eq!(calls(&run), [("x".into(), "{}".into()), ("y".into(), "{}".into())]);
}

#[tokio::test]
async fn calls_may_grow_side_by_side_and_repeat_their_id() {
    let part = |index: u64, id: &str, more: &str| {
        delta(json!({ "tool_calls": [{ "index": index, "id": id, "function": { "name": "run", "arguments": more } }] }))
    };
    let events = [
        part(0, "x", "{\"a\""),
        part(1, "y", "{\"b\""),
        part(0, "x", ":1}"),
        part(1, "y", ":2}"),
        json!({ "choices": [{ "delta": {}, "finish_reason": "tool_calls" }] }),
    ];
    let run = read(Family::Vllm, &events).await;
    assert_eq!(calls(&run), [("x".into(), "{\"a\":1}".into()), ("y".into(), "{\"b\":2}".into())]);
}

#[tokio::test]
async fn a_call_without_id_gets_one_and_arguments_may_be_an_object() {
    let events = [
        delta(json!({ "tool_calls": [{ "function": { "name": "run", "arguments": { "a": 1 } } }] })),
        json!({ "choices": [{ "delta": null, "finish_reason": "tool_calls" }] }),
    ];
    let run = read(Family::Compatible, &events).await;
    let found = calls(&run);
    assert!(found[0].0.starts_with("call_") && found[0].1 == "{\"a\":1}", "{found:?}");
}

#[tokio::test]
async fn reasoning_has_two_names_and_content_may_be_parts() {
    let events = [
        delta(json!({ "reasoning_content": "hm" })),
        delta(json!({ "reasoning": ", well" })),
        delta(json!({ "content": [{ "type": "text", "text": "So" }] })),
        delta(json!({ "content": "." })),
        json!({ "choices": [], "usage": null }),
        json!({ "choices": [{ "delta": {}, "finish_reason": "stop" }] }),
    ];
    let run = read(Family::Vllm, &events).await;
    let Block::Thinking(thinking) = &run.reply().blocks[0] else { panic!("{run:?}") };
    assert_eq!((thinking.text.as_str(), run.reply().text().as_str()), ("hm, well", "So."));
}

#[tokio::test]
async fn comments_keepalives_and_windows_line_ends_are_no_trouble() {
    let stream = concat!(
        ": PROCESSING\r\n\r\n",
        "event: keepalive\r\ndata: {}\r\n\r\n",
        "data: {\"choices\":[{\"delta\":{\"content\":\"hi\"}}]}\r\n\r\n",
        "data:{\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\r\n\r\n",
        "data: [DONE]\r\n\r\n",
    );
    for size in [1, 7, 1_000] {
        let reply = ScriptedReply { raw: Some(stream.into()), chunk_bytes: Some(size), ..ScriptedReply::default() };
        let run = Call::once(Family::OpenAi, reply).await.ask().await;
        assert_eq!(run.reply().text(), "hi", "chunks of {size} bytes");
        assert_eq!(run.reply().usage, None);
    }
}

#[tokio::test]
async fn unknown_blocks_and_events_of_messages_are_skipped() {
    let events = [
        json!({ "type": "message_start", "message": { "usage": null } }),
        json!({ "type": "content_block_start", "index": 0, "content_block": { "type": "server_tool_use", "id": "s" } }),
        json!({ "type": "content_block_delta", "index": 0, "delta": { "type": "input_json_delta", "partial_json": "{}" } }),
        json!({ "type": "content_block_stop", "index": 0 }),
        json!({ "type": "content_block_start", "index": 1, "content_block": { "type": "redacted_thinking", "data": "xyz" } }),
        json!({ "type": "content_block_stop", "index": 1 }),
        json!({ "type": "news", "index": 7 }),
        json!({ "type": "content_block_start", "index": 2, "content_block": { "type": "text", "text": "" } }),
        json!({ "type": "content_block_delta", "index": 2, "delta": { "type": "text_delta", "text": "hi" } }),
        json!({ "type": "message_delta", "delta": { "stop_reason": "pause_turn" } }),
        json!({ "type": "message_stop" }),
    ];
    let scripted = Call::of(Family::Anthropic, Script::of([raw(&events), text("ok")])).await;
    let run = scripted.ask().await;
    assert_eq!(run.reply().text(), "hi");
    assert_eq!(run.reply().stop, StopReason::Other("pause_turn".into()));
    let mut next = request("hello");
    next.messages.extend([Message::assistant(run.reply().blocks.clone()), Message::user("go on")]);
    scripted.run(next).await.reply();
    let sent = scripted.server.requests()[1].json()["messages"][1]["content"][0].clone();
    assert_eq!(sent, json!({ "type": "redacted_thinking", "data": "xyz" }));
}

#[tokio::test]
async fn models_that_take_tools_only_without_effort_are_asked_so() {
    let call = Call::of(Family::OpenAi, Script::of([text("ok"), text("ok")])).await;
    let mut asked = request("hello");
    asked.model = "gpt-5.6-terra".into();
    call.run(asked.clone()).await.reply();
    asked.tools.clear();
    call.run(asked).await.reply();
    let bodies: Vec<_> = call.server.requests().iter().map(|sent| sent.json()).collect();
    assert_eq!(bodies[0]["reasoning_effort"], "none");
    assert_eq!(bodies[0]["max_completion_tokens"], 1_000);
    assert!(bodies[1].get("reasoning_effort").is_none());
}

#[tokio::test]
async fn refusals_in_words_are_refusals() {
    let events = [
        delta(json!({ "refusal": "I can't help with that." })),
        json!({ "choices": [{ "delta": {}, "finish_reason": "stop" }] }),
    ];
    let run = read(Family::OpenAi, &events).await;
    assert_eq!(
        (run.reply().stop.clone(), run.reply().text().as_str()),
        (StopReason::Refusal, "I can't help with that.")
    );
}
