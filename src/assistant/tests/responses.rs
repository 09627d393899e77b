//! OpenAI's Responses: reasoning that goes on after calls, requests as OpenAI wants them, and streams of other servers.

use async_openai::types::responses::{CreateResponse, ResponseStreamEvent};
use notarium_assistant::providers::{
    Block, CallLimits, Event, Family, Message, ModelReply, Protocol, ProviderSettings, Request, StopReason, Thinking,
    ToolResult, Usage, connect_with,
};
use notarium_scripted::{Script, ScriptedReply, ScriptedServer};
use serde_json::{Value, json};

use crate::support::{Call, FAST_RETRY, KEY, RESPONSES, ReplyParts, Run, kind, request, rich, run, text};

fn stream(events: &[Value]) -> ScriptedReply {
    let lines: Vec<String> = events.iter().map(|event| format!("data: {event}\n\n")).collect();
    ScriptedReply { raw: Some(lines.concat()), ..ScriptedReply::default() }
}

async fn read(events: &[Value]) -> Run {
    Call::once(RESPONSES, stream(events)).await.ask().await
}

/// The request with the reply, and a result of each of its calls.
fn answered(mut request: Request, reply: &ModelReply) -> Request {
    let results = reply.calls().map(|call| {
        let call_id = call.id.clone();
        ToolResult { call_id, text: "done".to_owned(), is_error: false }
    });
    let results = Message::results(results.collect());
    request.messages.extend([Message::assistant(reply.blocks.clone()), results]);
    request
}

fn kinds(items: &Value) -> Vec<String> {
    let kind = |item: &Value| item["type"].as_str().unwrap_or_default().to_owned();
    items.as_array().unwrap().iter().map(kind).collect()
}

fn sealed(reply: &ModelReply) -> Vec<&Thinking> {
    let thoughts = reply.blocks.iter().filter_map(|block| match block {
        Block::Thinking(thinking) if thinking.sealed.is_some() => Some(thinking),
        _ => None,
    });
    thoughts.collect()
}

#[tokio::test]
async fn a_model_thinks_and_calls_and_its_reasoning_goes_back_encrypted() {
    let call = Call::of(RESPONSES, Script::of([rich(), text("Done."), text("Other.")])).await;
    let asked = Request { cache_key: Some("talk".into()), ..request("delete it") };
    let reply = call.run(asked.clone()).await.reply().clone();
    let [thinking] = sealed(&reply)[..] else { panic!("{reply:?}") };
    // The scripted server refuses reasoning that was changed, or that nothing follows.
    let next = answered(asked, &reply);
    assert_eq!(call.run(next.clone()).await.reply().text(), "Done.");
    let body = call.server.requests()[1].json();
    let expected = ["message", "reasoning", "message", "function_call", "function_call", "function_call_output"];
    assert_eq!(kinds(&body["input"])[..6], expected);
    assert_eq!(body["input"][1]["encrypted_content"], json!(thinking.sealed));
    assert_eq!(body["input"][1]["summary"][0]["text"], "Hm – naïve?");
    // No other model gets it.
    call.run(Request { model: "another".into(), ..next }).await.reply();
    assert!(!kinds(&call.server.requests()[2].json()["input"]).contains(&"reasoning".to_owned()));
}

#[tokio::test]
async fn encrypted_reasoning_is_never_serialized_and_its_calls_go_on_without_it() {
    let call = Call::of(RESPONSES, Script::of([rich(), text("Done.")])).await;
    let reply = call.ask().await.reply().clone();
    let [thinking] = sealed(&reply)[..] else { panic!("{reply:?}") };
    let recorded = serde_json::to_string(&reply).unwrap();
    assert!(!recorded.contains(thinking.sealed.as_deref().unwrap()), "{recorded}");
    let reply: ModelReply = serde_json::from_str(&recorded).unwrap();
    assert_eq!(call.run(answered(request("hello"), &reply)).await.reply().text(), "Done.");
    let body = call.server.requests()[1].json();
    assert!(!kinds(&body["input"]).contains(&"reasoning".to_owned()), "{body:#}");
}

#[tokio::test]
async fn reasoning_that_nothing_follows_is_left_out() {
    let call = Call::once(RESPONSES, text("ok")).await;
    let thinking = |id: &str| {
        let (id, sealed, origin) = (Some(id.to_owned()), Some("x".to_owned()), "openai/scripted-1".to_owned());
        Block::Thinking(Thinking { id, sealed, origin, ..Thinking::default() })
    };
    let mut asked = request("hello");
    asked.messages.extend([Message::assistant(vec![Block::text("I begin"), thinking("a")]), Message::user("go on")]);
    call.run(asked).await.reply();
    assert_eq!(kinds(&call.server.requests()[0].json()["input"]), ["message", "message", "message"]);
}

#[tokio::test]
async fn a_request_is_stateless_names_its_conversation_and_asks_for_reasoning_where_there_is_any() {
    for (model, has_reasoning) in [("gpt-5.4", true), ("gpt-4.1", false)] {
        let server = ScriptedServer::start(Script::of([text("ok"), text("ok")])).await.unwrap();
        let settings = ProviderSettings {
            base_url: Some(server.base_url()),
            protocol: Some(Protocol::Responses),
            extra_body: json!({ "reasoning_effort": "low", "service_tier": "flex" }).as_object().unwrap().clone(),
            ..ProviderSettings::new(Family::OpenAi)
        };
        let provider = connect_with(&settings, |_| Some(KEY.to_owned()), FAST_RETRY, CallLimits::default()).unwrap();
        let key = "conversation-".repeat(20);
        let asked = Request { model: model.into(), cache_key: Some(key.clone()), ..request("hello") };
        run(&*provider, asked.clone()).await.reply();
        run(&*provider, Request { tools: Vec::new(), cache_key: None, system: String::new(), ..asked }).await.reply();
        let bodies: Vec<Value> = server.requests().iter().map(|sent| sent.json()).collect();
        let body = &bodies[0];
        assert_eq!(
            (&body["store"], &body["stream"], &body["max_output_tokens"]),
            (&json!(false), &json!(true), &json!(1_000))
        );
        assert_eq!(body["prompt_cache_key"], key[..64]);
        let include = if has_reasoning { json!(["reasoning.encrypted_content"]) } else { Value::Null };
        assert_eq!(body["include"], include, "{model}");
        // Settings for chat completions hold on.
        assert_eq!((&body["reasoning"], &body["service_tier"]), (&json!({ "effort": "low" }), &json!("flex")));
        assert!(body.get("parallel_tool_calls").is_none() && body.get("reasoning_effort").is_none(), "{body:#}");
        for absent in ["tools", "prompt_cache_key", "instructions", "parallel_tool_calls"] {
            assert!(bodies[1].get(absent).is_none(), "{absent}: {:#}", bodies[1]);
        }
        // The request is one that the types of the protocol read.
        serde_json::from_value::<CreateResponse>(body.clone()).unwrap();
    }
}

#[tokio::test]
async fn a_model_that_makes_one_call_at_a_time_is_asked_so_over_responses() {
    let server = ScriptedServer::start(Script::of([text("ok")])).await.unwrap();
    let settings = ProviderSettings {
        base_url: Some(server.base_url()),
        model: Some("small".into()),
        protocol: Some(Protocol::Responses),
        ..ProviderSettings::new(Family::Ollama)
    };
    let provider = connect_with(&settings, |_| None, FAST_RETRY, CallLimits::default()).unwrap();
    let mut asked = request("hello");
    asked.messages[0].blocks.push(Block::Image { media_type: "image/png".into(), base64: "iVBORw0KGgo=".into() });
    run(&*provider, asked).await.reply();
    let body = server.requests()[0].json();
    assert_eq!(body["parallel_tool_calls"], false);
    assert!(!body.to_string().contains("iVBOR") && body.to_string().contains("An image is left out"), "{body:#}");
}

#[tokio::test]
async fn the_scripted_server_speaks_as_the_types_of_the_protocol_say() {
    let call = Call::of(RESPONSES, Script::of([rich(), text("x")])).await;
    let body = json!({
        "model": "scripted-1", "stream": true, "input": [{ "role": "user", "content": "hello" }],
        "include": ["reasoning.encrypted_content"],
    });
    let http = reqwest::Client::new();
    let sent = http.post(format!("{}/responses", call.server.base_url())).json(&body).send().await.unwrap();
    let stream = sent.text().await.unwrap();
    let events: Vec<&str> = stream.lines().filter_map(|line| line.strip_prefix("data: ")).collect();
    assert!(events.len() > 20, "{stream}");
    for event in events {
        serde_json::from_str::<ResponseStreamEvent>(event).unwrap_or_else(|error| panic!("{error}: {event}"));
    }
}

#[tokio::test]
async fn streams_of_openai_are_read() {
    let usage = json!({
        "input_tokens": 1_200, "input_tokens_details": { "cached_tokens": 1_024 }, "output_tokens": 90,
        "output_tokens_details": { "reasoning_tokens": 64 }, "total_tokens": 1_290,
    });
    let reasoning = json!({ "id": "rs_1", "type": "reasoning", "encrypted_content": "gAAAA", "summary": [] });
    let call = |id: &str, name: &str, arguments: &str| {
        json!({
            "id": format!("fc_{id}"), "type": "function_call", "status": "completed", "arguments": arguments,
            "call_id": format!("call_{id}"), "name": name,
        })
    };
    let done =
        |index: u64, item: &Value| json!({ "type": "response.output_item.done", "output_index": index, "item": item });
    let added =
        |index: u64, item: &Value| json!({ "type": "response.output_item.added", "output_index": index, "item": item });
    let delta = |index: u64, delta: &str| {
        json!({
            "type": "response.function_call_arguments.delta", "item_id": "fc", "output_index": index, "delta": delta,
            "obfuscation": "xJ3k",
        })
    };
    let items = [reasoning.clone(), call("1", "look", "{\"a\":1}"), call("2", "run", "{}")];
    let events = [
        json!({ "type": "response.created", "response": { "status": "in_progress", "usage": null } }),
        json!({ "type": "keepalive", "sequence_number": 3 }),
        added(0, &json!({ "id": "rs_1", "type": "reasoning", "summary": [] })),
        done(0, &items[0]),
        added(1, &call("1", "look", "")),
        added(2, &call("2", "run", "")),
        delta(2, "{}"),
        delta(1, "{\"a\""),
        delta(1, ":1}"),
        json!({ "type": "response.function_call_arguments.done", "output_index": 1, "arguments": "{\"a\":1}" }),
        done(1, &items[1]),
        done(2, &items[2]),
        json!({ "type": "response.completed", "response": { "status": "completed", "output": items, "usage": usage } }),
    ];
    let run = read(&events).await;
    let reply = run.reply();
    assert_eq!(reply.stop, StopReason::ToolUse);
    let calls: Vec<_> =
        reply.calls().map(|call| (call.id.as_str(), call.name.as_str(), call.arguments.text())).collect();
    assert_eq!(calls, [("call_1", "look", "{\"a\":1}"), ("call_2", "run", "{}")]);
    assert_eq!(sealed(reply)[0].sealed.as_deref(), Some("gAAAA"));
    assert_eq!(reply.usage, Some(Usage { input_tokens: 1_200, output_tokens: 90, cached_tokens: 1_024 }));
    assert_eq!(reply.blocks.len(), 3, "the whole response at the end adds nothing: {reply:?}");
}

#[tokio::test]
async fn unknown_events_items_and_missing_fields_are_no_trouble() {
    let events = [
        json!({ "type": "response.magic.delta", "delta": "?" }),
        json!({ "delta": 5 }),
        json!({ "type": "response.output_item.added", "item": { "type": "crystal_ball_call", "id": "cb" } }),
        json!({ "type": "response.output_item.done", "item": { "type": "crystal_ball_call", "id": "cb", "visions": [1] } }),
        json!({ "type": "response.output_item.added", "item": { "type": "message" } }),
        json!({ "type": "response.output_text.delta", "delta": "hi" }),
        json!({ "type": "response.output_text.delta", "delta": null }),
        json!({ "type": "response.output_text.annotation.added", "annotation": { "type": "new" } }),
        json!({ "type": "response.output_item.done", "item": { "type": "message", "id": "late", "content": "hi", "status": "odd" } }),
        json!({ "type": "response.completed", "response": {
            "created_at": 1.5, "usage": { "input_tokens": 3 }, "output": [{ "type": "message", "content": "hi" }],
        } }),
    ];
    let run = read(&events).await;
    assert_eq!((run.reply().text().as_str(), run.reply().blocks.len()), ("hi", 1));
    assert_eq!(run.reply().usage, Some(Usage { input_tokens: 3, ..Usage::default() }));
}

#[tokio::test]
async fn what_was_not_streamed_is_taken_from_whole_items_or_from_the_end() {
    let message =
        json!({ "type": "message", "content": [{ "type": "output_text", "text": "one" }, { "refusal": "two" }] });
    let call = json!({ "type": "function_call", "call_id": "c", "name": "run", "arguments": { "a": 1 } });
    let thought =
        json!({ "type": "reasoning", "summary": [{ "text": "so" }, { "text": "so" }], "encrypted_content": "s" });
    let output = [thought, message, call];
    let items = output.iter().enumerate();
    let mut dones: Vec<Value> = items
        .map(|(index, item)| json!({ "type": "response.output_item.done", "output_index": index, "item": item }))
        .collect();
    dones.push(json!({ "type": "response.completed", "response": { "output": output } }));
    let end = [json!({ "type": "response.completed", "response": { "output": output } })];
    for events in [&dones[..], &end] {
        let run = read(events).await;
        let reply = run.reply();
        assert_eq!((reply.text().as_str(), &reply.stop), ("onetwo", &StopReason::Refusal), "{reply:?}");
        assert_eq!(reply.calls().next().unwrap().arguments.text(), "{\"a\":1}");
        let [thought] = sealed(reply)[..] else { panic!("{reply:?}") };
        assert!(thought.text == "so\n\nso" && thought.id.as_deref().is_some_and(|id| id.starts_with("rs_")));
        assert_eq!(reply.blocks.len(), 4, "{reply:?}");
    }
}

#[tokio::test]
async fn a_response_of_too_many_items_or_parts_is_ended() {
    let item = |content: Value| json!({ "type": "message", "content": content });
    let output = vec![item(json!("x")); 600];
    let parts = item(vec![json!({ "text": "x" }); 600].into());
    let nothing = vec![json!({ "type": "crystal_ball" }); 600];
    for output in [output, vec![parts], nothing] {
        let whole = json!({ "type": "response.completed", "response": { "output": output } });
        let items = output
            .iter()
            .enumerate()
            .map(|(index, item)| json!({ "type": "response.output_item.done", "output_index": index, "item": item }));
        for events in [vec![whole], items.collect()] {
            let error = read(&events).await.failure().error.to_string();
            assert!(error.contains("more than 512 blocks") || error.contains("answered nothing"), "{error}");
        }
    }
}

#[tokio::test]
async fn parts_of_a_summary_are_paragraphs() {
    let delta = |part: u64, delta: &str| {
        json!({
            "type": "response.reasoning_summary_text.delta", "output_index": 0, "summary_index": part, "delta": delta,
        })
    };
    let events = [
        delta(0, "First"),
        delta(0, " this."),
        delta(1, "Then that."),
        json!({ "type": "response.output_text.delta", "output_index": 1, "delta": "ok" }),
        json!({ "type": "response.completed", "response": {} }),
    ];
    let run = read(&events).await;
    let Block::Thinking(thinking) = &run.reply().blocks[0] else { panic!("{run:?}") };
    assert_eq!(thinking.text, "First this.\n\nThen that.");
    let shown: String = run
        .events
        .iter()
        .filter_map(|event| match event {
            Event::ThinkingDelta { text, .. } => Some(text.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(shown, thinking.text);
}

#[tokio::test]
async fn responses_that_end_otherwise_say_why() {
    let end = async |event: Value| read(&[json!({ "type": "response.output_text.delta", "delta": "hi" }), event]).await;
    let response = |kind: &str, response: Value| json!({ "type": format!("response.{kind}"), "response": response });
    let incomplete = |reason: &str| response("incomplete", json!({ "incomplete_details": { "reason": reason } }));
    assert_eq!(end(incomplete("max_output_tokens")).await.reply().stop, StopReason::MaxTokens);
    assert_eq!(end(incomplete("content_filter")).await.reply().stop, StopReason::Refusal);
    assert_eq!(end(incomplete("boredom")).await.reply().stop, StopReason::Other("boredom".into()));
    let error = |code: &str| json!({ "error": { "code": code, "message": "no" }, "usage": { "input_tokens": 7 } });
    for (event, expected) in [
        (response("failed", error("server_error")), "Unavailable"),
        (response("failed", error("rate_limit_exceeded")), "RateLimited"),
        (response("failed", error("invalid_prompt")), "BadRequest"),
        (response("failed", error("bio_policy")), "BadRequest"),
        (response("failed", json!({})), "Unavailable"),
        (response("cancelled", json!({})), "Unavailable"),
        (json!({ "type": "error", "code": "insufficient_quota", "message": "no" }), "QuotaExhausted"),
        (json!({ "type": "error", "error": { "code": "context_length_exceeded", "message": "no" } }), "ContextTooLong"),
        (json!("text"), "MalformedStream"),
    ] {
        let run = end(event.clone()).await;
        assert_eq!(kind(&run.failure().error), expected, "{event}");
        let counted = event["response"]["usage"].is_object().then(|| Usage { input_tokens: 7, ..Usage::default() });
        assert_eq!(run.failure().usage, counted, "{event}");
    }
}
