//! Requests and replies keep their content unchanged, in both protocols.

use std::path::Path;

use notarium_assistant::providers::{
    Block, CallArguments, CallLimits, Event, Family, Message, ProviderSettings, Request, StopReason, Thinking,
    ToolCall, ToolResult, Usage, connect_with,
};
use notarium_scripted::{Rule, Script, ScriptedCall, ScriptedReply, ScriptedServer, When};
use serde_json::json;

use crate::support::{
    CHAT, Call, FAMILIES, FAST_RETRY, KEY, MESSAGES, RESPONSES, ReplyParts, kind, request, rich, run, text,
};

fn example() -> Script {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/scripts/tidy-up.json");
    Script::parse(&std::fs::read_to_string(path).unwrap()).unwrap()
}

#[tokio::test]
async fn text_streams_in_deltas_and_ends_with_usage() {
    for family in FAMILIES {
        let run = Call::once(family, text("Hello, dear world!")).await.ask().await;
        let deltas: Vec<&str> = run
            .events
            .iter()
            .filter_map(|event| match event {
                Event::TextDelta { block: 0, text } => Some(text.as_str()),
                _ => None,
            })
            .collect();
        assert_eq!(deltas, ["Hello, dear ", "world!"]);
        let reply = run.reply();
        assert_eq!(reply.text(), "Hello, dear world!");
        assert_eq!((reply.stop.clone(), reply.attempts), (StopReason::EndTurn, 1));
        let usage = reply.usage.unwrap();
        assert!(usage.input_tokens > 0 && usage.output_tokens > 0, "{usage:?}");
        assert_eq!(run.events.last(), Some(&Event::BlockStop { block: 0 }));
    }
}

#[tokio::test]
async fn thinking_text_and_calls_arrive_whole_and_in_order() {
    for family in FAMILIES {
        let run = Call::once(family, rich()).await.ask().await;
        let reply = run.reply();
        assert_eq!(reply.stop, StopReason::ToolUse);
        let kinds: Vec<&str> = reply
            .blocks
            .iter()
            .map(|block| match block {
                Block::Thinking(thinking) if thinking.text == "Hm – naïve?" => "thinking",
                Block::Text { text } if text == "Zwölf \"Töne\" 🎵\n\n" => "text",
                Block::ToolCall(call) => call.name.as_str(),
                other => panic!("{other:?}"),
            })
            .collect();
        assert_eq!(kinds, ["thinking", "text", "get_notebook_state", "delete_cell"]);
        let arguments: Vec<_> = reply.calls().map(|call| call.arguments.parse().unwrap()).collect();
        assert!(arguments[0].is_empty());
        assert_eq!(json!(arguments[1]), json!({ "cell_id": "c1 ключ", "n": 12 }));
        assert_eq!(run.events.iter().filter(|event| matches!(event, Event::BlockStop { .. })).count(), 4);
    }
}

/// Adds the results of a reply's calls, and asks again.
fn answer(request: &mut Request, blocks: &[Block], results: &[(&str, bool)]) {
    let calls = blocks.iter().filter_map(|block| match block {
        Block::ToolCall(call) => Some(call.id.clone()),
        _ => None,
    });
    let results = calls.zip(results).map(|(call_id, (text, is_error))| ToolResult {
        call_id,
        text: (*text).to_owned(),
        is_error: *is_error,
    });
    let results = Message::results(results.collect());
    request.messages.extend([Message::assistant(blocks.to_vec()), results]);
}

#[tokio::test]
async fn the_example_script_plays_a_whole_conversation() {
    let state = r#"{"cells":[{"id":"c7","version":3}]}"#;
    for (family, (result, is_error), last) in [
        (CHAT, ("deleted", false), "The cell is gone. 🧹"),
        (MESSAGES, ("deleted", false), "The cell is gone. 🧹"),
        (RESPONSES, ("deleted", false), "The cell is gone. 🧹"),
        (MESSAGES, ("denied by ada: I need it", true), "You said no, so the cell stays."),
    ] {
        let call = Call::of(family, example()).await;
        let mut request = request("Delete the empty cell, please");
        let looked = call.run(request.clone()).await.reply().clone();
        answer(&mut request, &looked.blocks, &[(state, false)]);
        let deleting = call.run(request.clone()).await.reply().clone();
        let made = deleting.calls().next().unwrap();
        assert_eq!(made.name, "delete_cell");
        assert_eq!(json!(made.arguments.parse().unwrap()), json!({ "cell_id": "c7", "expected_version": 3 }));
        answer(&mut request, &deleting.blocks, &[(result, is_error)]);
        assert_eq!(call.run(request).await.reply().text(), last);
    }
}

#[tokio::test]
async fn thinking_goes_back_signed_to_the_model_that_thought_it_and_to_no_other() {
    let call = Call::of(Family::Anthropic, example()).await;
    let mut request = request("delete it");
    let reply = call.run(request.clone()).await.reply().clone();
    answer(&mut request, &reply.blocks, &[(r#"{"cells":[{"id":"c7","version":3}]}"#, false)]);
    // The server refuses thinking that was changed.
    call.run(request.clone()).await.reply();
    let Block::Thinking(thinking) = &reply.blocks[0] else { panic!("{reply:?}") };
    let sent = call.server.requests()[1].json()["messages"][1]["content"][0].clone();
    assert_eq!(sent["thinking"], json!(thinking.text));
    assert_eq!(sent["signature"], json!(thinking.signature));

    request.model = "another".into();
    call.run(request).await.reply();
    let body = &call.server.requests()[2].body;
    assert!(!body.contains("\"thinking\"") && !body.contains("which cell is meant"), "{body}");
}

#[tokio::test]
async fn a_changed_thought_is_refused_by_the_server() {
    let call = Call::of(Family::Anthropic, example()).await;
    let mut request = request("delete it");
    let forged = Thinking {
        text: "other words".into(),
        signature: Some("scripted-0000".into()),
        origin: "anthropic/scripted-1".into(),
        ..Thinking::default()
    };
    request.messages.push(Message::assistant(vec![Block::Thinking(forged), Block::text("so")]));
    request.messages.push(Message::user("delete it"));
    let error = call.run(request).await.failure().error.clone();
    assert_eq!(kind(&error), "BadRequest", "{error}");
}

#[tokio::test]
async fn a_recorded_reply_can_be_read_back_and_sent_again() {
    for family in FAMILIES {
        let call = Call::of(family, example()).await;
        let mut request = request("delete it");
        let reply = call.run(request.clone()).await.reply().clone();
        let recorded = serde_json::to_string(&reply).unwrap();
        let reply: notarium_assistant::providers::ModelReply = serde_json::from_str(&recorded).unwrap();
        answer(&mut request, &reply.blocks, &[(r#"{"cells":[{"id":"c7","version":3}]}"#, false)]);
        assert_eq!(call.run(request).await.reply().stop, StopReason::ToolUse);
    }
}

#[tokio::test]
async fn fifty_parallel_calls_keep_their_order_and_their_arguments() {
    for family in FAMILIES {
        let calls = (0..50).map(|number| ScriptedCall {
            name: "create_cell".into(),
            arguments: Some(json!({ "source": format!("print({number})") })),
            ..ScriptedCall::default()
        });
        let many = ScriptedReply { calls: calls.collect(), ..ScriptedReply::default() };
        let call = Call::of(family, Script::of([many, text("done")])).await;
        let mut request = request("fifty cells");
        let reply = call.run(request.clone()).await.reply().clone();
        let sources: Vec<_> = reply.calls().map(|call| call.arguments.parse().unwrap()["source"].clone()).collect();
        let expected: Vec<_> = (0..50).map(|number| json!(format!("print({number})"))).collect();
        assert_eq!(sources, expected);
        let ids: std::collections::BTreeSet<_> = reply.calls().map(|call| &call.id).collect();
        assert_eq!(ids.len(), 50);
        answer(&mut request, &reply.blocks, &[("created", false); 50]);
        assert_eq!(call.run(request).await.reply().text(), "done");
    }
}

#[tokio::test]
async fn malformed_arguments_are_handed_over_and_can_be_sent_back() {
    for family in FAMILIES {
        let broken = ScriptedCall {
            name: "delete_cell".into(),
            raw_arguments: Some("{\"cell_id\": \"c1\", oops".into()),
            ..ScriptedCall::default()
        };
        let first = ScriptedReply { calls: vec![broken], ..ScriptedReply::default() };
        let call = Call::of(family, Script::of([first, text("I try again.")])).await;
        let mut request = request("delete c1");
        let reply = call.run(request.clone()).await.reply().clone();
        let made = reply.calls().next().unwrap();
        assert_eq!(made.arguments.text(), "{\"cell_id\": \"c1\", oops");
        let told = made.arguments.parse().unwrap_err().to_string();
        assert!(told.contains("not a JSON object"), "{told}");
        // Real servers refuse a history with broken JSON, and so does this one.
        answer(&mut request, &reply.blocks, &[(&told, true)]);
        assert_eq!(call.run(request).await.reply().text(), "I try again.");
        assert!(call.server.requests()[1].body.contains("oops"));
    }
}

#[test]
fn arguments_must_be_an_object() {
    assert!(CallArguments::new("  ").parse().unwrap().is_empty());
    for text in ["[1]", "null", "\"{}\"", "{\"a\":1}}", "{"] {
        assert!(CallArguments::new(text).parse().is_err(), "{text}");
    }
}

#[tokio::test]
async fn images_results_and_errors_are_written_as_each_protocol_wants_them() {
    let call_made = ToolCall {
        id: "call_1".into(),
        name: "run".into(),
        arguments: CallArguments::new(r#"{"big":12345678901234567890}"#),
        extra: None,
    };
    let result = ToolResult { call_id: "call_1".into(), text: "no such cell".into(), is_error: true };
    let image = Block::Image { media_type: "image/png".into(), base64: "iVBORw0KGgo=".into() };
    for family in FAMILIES {
        let call = Call::once(family, text("ok")).await;
        let mut request = request("run it");
        request.messages.push(Message::assistant(vec![Block::ToolCall(call_made.clone())]));
        let mut answered = Message::results(vec![result.clone()]);
        // A person's message that was added while the call was waiting comes after the result.
        answered.blocks.splice(0..0, [Block::text("and look"), image.clone()]);
        request.messages.push(answered);
        call.run(request).await.reply();
        let body = call.server.requests()[0].json();
        let messages = &body["messages"];
        match family {
            RESPONSES => {
                assert_eq!(body["instructions"], "Be brief.");
                let items = &body["input"];
                assert_eq!(items[1]["arguments"], r#"{"big":12345678901234567890}"#);
                assert_eq!((&items[1]["call_id"], items[1].get("id")), (&json!("call_1"), None));
                assert_eq!(
                    (&items[2]["type"], &items[2]["call_id"]),
                    (&json!("function_call_output"), &json!("call_1"))
                );
                assert_eq!(items[2]["output"], "Error: no such cell");
                assert_eq!(items[3]["content"][1]["image_url"], "data:image/png;base64,iVBORw0KGgo=");
                assert_eq!(
                    (&body["tools"][0]["name"], &body["tools"][0]["strict"]),
                    (&json!("get_notebook_state"), &json!(false))
                );
            }
            MESSAGES => {
                assert_eq!(body["system"][0]["text"], "Be brief.");
                assert_eq!(messages[1]["content"][0]["input"].to_string(), r#"{"big":12345678901234567890}"#);
                assert_eq!(messages[2]["content"][0]["type"], "tool_result");
                assert_eq!(messages[2]["content"][0]["is_error"], true);
                assert_eq!(messages[2]["content"][2]["source"]["data"], "iVBORw0KGgo=");
                assert_eq!(body["tools"][0]["input_schema"]["type"], "object");
            }
            _ => {
                assert_eq!(messages[0], json!({ "role": "system", "content": "Be brief." }));
                let function = &messages[2]["tool_calls"][0]["function"];
                assert_eq!(function["arguments"], r#"{"big":12345678901234567890}"#);
                assert_eq!(messages[3]["content"], "Error: no such cell");
                let url = &messages[4]["content"][1]["image_url"]["url"];
                assert_eq!(url, "data:image/png;base64,iVBORw0KGgo=");
                assert_eq!(body["tools"][0]["function"]["name"], "get_notebook_state");
            }
        }
    }
}

#[tokio::test]
async fn what_a_model_cannot_take_is_left_out() {
    let call = Call::once(Family::Ollama, text("ok")).await;
    let mut request = request("look");
    request.messages[0].blocks.push(Block::Image { media_type: "image/png".into(), base64: "iVBORw0KGgo=".into() });
    request.max_tokens = 1_000_000;
    call.run(request).await.reply();
    let body = call.server.requests()[0].json();
    assert!(!body.to_string().contains("iVBOR") && body.to_string().contains("An image is left out"), "{body}");
    assert_eq!(body["max_tokens"], 4_096);

    let call = Call::once(Family::Anthropic, text("ok")).await;
    let mut request = crate::support::request("hello");
    request.tools.clear();
    call.run(request).await.reply();
    let body = call.server.requests()[0].json();
    assert!(body.get("tools").is_none(), "{body}");
}

#[tokio::test]
async fn a_model_that_makes_one_call_at_a_time_is_asked_so() {
    // Family, model, setting, and the expected request.
    for (family, model, setting, is_asked) in [
        (Family::OpenAi, "gpt-5.4", None, false),
        (Family::Ollama, "qwen3", None, false),
        (Family::Ollama, "llama3.2", None, true),
        (Family::Ollama, "llama3.2", Some(true), false),
        (Family::Compatible, "small", Some(false), true),
        (Family::Anthropic, "claude-sonnet-5-5", None, false),
        (Family::Anthropic, "claude-sonnet-5-5", Some(false), true),
    ] {
        let server = ScriptedServer::start(Script::of([text("ok"), text("ok")])).await.unwrap();
        let settings = ProviderSettings {
            base_url: Some(server.base_url()),
            model: Some(model.into()),
            parallel_calls: setting,
            ..ProviderSettings::new(family)
        };
        let provider = connect_with(&settings, |_| Some(KEY.to_owned()), FAST_RETRY, CallLimits::default()).unwrap();
        let asked = Request { model: model.into(), ..request("hello") };
        run(&*provider, asked.clone()).await.reply();
        run(&*provider, Request { tools: Vec::new(), ..asked }).await.reply();
        let bodies: Vec<_> = server.requests().iter().map(|sent| sent.json()).collect();
        let said = [&bodies[0]["parallel_tool_calls"], &bodies[0]["tool_choice"]];
        let one_by_one = json!({ "type": "auto", "disable_parallel_tool_use": true });
        let expected = match (is_asked, family) {
            (false, _) => [json!(null), json!(null)],
            (true, Family::Anthropic) => [json!(null), one_by_one],
            (true, _) => [json!(false), json!(null)],
        };
        assert_eq!(said, [&expected[0], &expected[1]], "{family:?} {model} {setting:?}");
        // Both fields would be refused without tools.
        assert_eq!((bodies[1].get("parallel_tool_calls"), bodies[1].get("tool_choice")), (None, None));
    }
}

#[tokio::test]
async fn settings_can_add_to_the_body() {
    let server = ScriptedServer::start(Script::of([text("ok")])).await.unwrap();
    let settings = ProviderSettings {
        base_url: Some(format!("{}/", server.base_url())),
        name: Some("ours".into()),
        extra_body: json!({ "reasoning_effort": "low", "temperature": 1 }).as_object().unwrap().clone(),
        ..ProviderSettings::new(Family::Vllm)
    };
    let settings = ProviderSettings { model: Some("local".into()), ..settings };
    let provider = notarium_assistant::providers::connect(&settings).unwrap();
    assert_eq!((provider.name(), provider.default_model()), ("ours", "local"));
    run(&*provider, request("hi")).await.reply();
    let recorded = &server.requests()[0];
    assert_eq!(recorded.json()["reasoning_effort"], "low");
    assert_eq!(recorded.json()["temperature"], 1);
    assert!(!recorded.headers.iter().any(|(name, _)| name == "authorization"), "no key, no header");
}

#[tokio::test]
async fn usage_counts_what_came_from_the_cache() {
    let raw = concat!(
        "data: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":10,",
        "\"cache_read_input_tokens\":70,\"cache_creation_input_tokens\":20,\"output_tokens\":1}}}\n\n",
        "data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"hi\"}}\n\n",
        "data: {\"type\":\"content_block_stop\",\"index\":0}\n\n",
        "data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{\"output_tokens\":5}}\n\n",
        "data: {\"type\":\"message_stop\"}\n\n",
    );
    let reply = ScriptedReply { raw: Some(raw.into()), ..ScriptedReply::default() };
    let run = Call::once(Family::Anthropic, reply).await.ask().await;
    let expected = Usage { input_tokens: 100, output_tokens: 5, cached_tokens: 70 };
    assert_eq!(run.reply().usage, Some(expected));
}

#[tokio::test]
async fn endless_calls_can_be_scripted() {
    let again = ScriptedReply {
        calls: vec![ScriptedCall { name: "get_notebook_state".into(), ..ScriptedCall::default() }],
        ..ScriptedReply::default()
    };
    let rule = Rule { when: Some(When::default()), times: None, reply: again };
    let call = Call::of(Family::OpenAi, Script { replies: vec![rule], ..Script::default() }).await;
    let mut request = request("go");
    for _ in 0..15 {
        let reply = call.run(request.clone()).await.reply().clone();
        assert_eq!(reply.calls().count(), 1);
        answer(&mut request, &reply.blocks, &[("{}", false)]);
    }
}
