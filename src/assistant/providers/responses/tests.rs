//! The types of `async-openai` are the oracle: whatever they can write, the decoder reads.

use async_openai::types::responses::{OutputItem, ResponseStreamEvent};
use proptest::prelude::*;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::stream::ResponseEvents;
use crate::providers::call::Decoder;
use crate::providers::error::{CallContext, ProviderError};
use crate::providers::reply::{Assembler, Event, ModelReply, StopReason};
use crate::providers::{Block, Usage};

fn asked() -> CallContext {
    CallContext { provider: "openai".into(), base_url: "http://x/v1".into(), model: "m".into(), key: None }
}

/// The words that a type knows for its tag `type`.
fn known<T: DeserializeOwned>() -> Vec<String> {
    let error = serde_json::from_value::<T>(json!({ "type": "?" })).err().expect("no word of the protocol").to_string();
    let (_, listed) = error.split_once("expected one of").expect("the words are listed");
    listed.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

/// An event with all fields that events have; each type reads its own.
fn event(kind: &str, item: &Value, text: &str) -> Value {
    let response = json!({
        "id": "resp", "object": "response", "created_at": 1, "model": "m", "status": "completed", "output": [item],
        "usage": {
            "input_tokens": 3, "input_tokens_details": { "cached_tokens": 1 }, "output_tokens": 2,
            "output_tokens_details": { "reasoning_tokens": 1 }, "total_tokens": 5,
        },
    });
    let mut event = json!({
        "type": kind, "sequence_number": 1, "output_index": 0, "content_index": 0, "summary_index": 0, "command_index": 0,
        "annotation_index": 0, "partial_image_index": 0, "partial_image_b64": "", "item_id": "i", "response_id": "r",
        "delta": text, "text": text, "refusal": text, "arguments": text, "code": text, "input": text, "command": text,
        "message": text, "name": text, "param": null, "annotation": null, "item": item, "response": response,
        "part": { "type": "output_text", "text": text, "annotations": [] }, "output": [],
    });
    if kind.contains("summary_part") {
        event["part"] = json!({ "type": "summary_text", "text": text });
    }
    if kind.contains("output_content.delta") {
        event["delta"] = json!({ "stdout": text });
    }
    event
}

/// An item with all fields that simple items have.
fn item(kind: &str, text: &str) -> Value {
    let content = match kind {
        "message" => {
            json!([{ "type": "output_text", "text": text, "annotations": [] }, { "type": "refusal", "refusal": text }])
        }
        _ => json!([{ "type": "reasoning_text", "text": text }]),
    };
    json!({
        "type": kind, "id": "i", "call_id": "c", "name": "run", "arguments": text, "status": "completed", "role": "assistant",
        "summary": [{ "type": "summary_text", "text": text }], "content": content, "encrypted_content": text, "input": text,
        "queries": [], "output": text, "code": text, "container_id": "x", "result": text, "server_label": "s", "tools": [],
    })
}

/// An event as the oracle writes it, with a random item and text.
fn written() -> impl Strategy<Value = Value> {
    let kinds = prop::sample::select(known::<ResponseStreamEvent>());
    let items = prop::sample::select(known::<OutputItem>());
    (kinds, items, "\\PC{0,12}").prop_filter_map("an event that the oracle knows", |(kind, item_kind, text)| {
        let typed: ResponseStreamEvent = serde_json::from_value(event(&kind, &item(&item_kind, &text), &text)).ok()?;
        serde_json::to_value(typed).ok()
    })
}

fn read(events: &[Value]) -> Result<(Assembler, ResponseEvents), ProviderError> {
    let (mut reply, mut decoder) = (Assembler::new("openai/m".into()), ResponseEvents::default());
    for event in events {
        decoder.read(&event.to_string(), &asked(), &mut reply)?;
    }
    Ok((reply, decoder))
}

fn whole(events: &[Value]) -> ModelReply {
    let (mut reply, decoder) = read(events).expect("a stream that ends well");
    assert!(decoder.is_over());
    reply.finish(1).expect("an answer");
    loop {
        match reply.next_event() {
            Some(Event::Finished(reply)) => return reply,
            Some(_) => {}
            None => panic!("the reply has no end"),
        }
    }
}

#[test]
fn the_oracle_knows_every_event_and_item_that_is_tried() {
    let events = known::<ResponseStreamEvent>();
    assert!(events.len() > 50 && events.contains(&"response.output_text.delta".to_owned()), "{events:?}");
    for kind in &events {
        let typed = serde_json::from_value::<ResponseStreamEvent>(event(kind, &item("message", "x"), "x"));
        assert!(typed.is_ok(), "{kind}: {typed:?}");
    }
    for kind in ["message", "function_call", "reasoning", "custom_tool_call", "compaction"] {
        let typed = serde_json::from_value::<OutputItem>(item(kind, "x"));
        assert!(typed.is_ok(), "{kind}: {typed:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn every_event_that_the_oracle_writes_is_read(events in prop::collection::vec(written(), 1..8)) {
        for event in &events {
            let is_failure = matches!(event["type"].as_str(), Some("error" | "response.failed"));
            let found = read(std::slice::from_ref(event)).map(|_| ());
            prop_assert_eq!(found.is_err(), is_failure, "{}", event);
            if let Err(ProviderError::MalformedStream { detail, .. }) = found {
                prop_assert!(false, "{}: {}", detail, event);
            }
        }
        let _ = read(&events);
    }

    #[test]
    fn a_whole_stream_gives_the_blocks_that_the_oracle_wrote(texts in prop::collection::vec("\\PC{1,20}", 3), cut in 0_usize..20) {
        let [thought, said, arguments] = &texts[..] else { unreachable!() };
        let items = [item("reasoning", thought), item("message", said), item("function_call", arguments)];
        let items = items.map(|item| serde_json::to_value(serde_json::from_value::<OutputItem>(item).unwrap()).unwrap());
        let kinds = ["reasoning_summary_text", "output_text", "function_call_arguments"];
        let mut events = Vec::new();
        for (index, ((item, kind), text)) in items.iter().zip(kinds).zip(&texts).enumerate() {
            let placed = |kind: &str, text: &str| {
                let mut event = event(kind, item, text);
                event["output_index"] = index.into();
                let typed: ResponseStreamEvent = serde_json::from_value(event).unwrap();
                serde_json::to_value(typed).unwrap()
            };
            let mut open = placed("response.output_item.added", "");
            for field in ["summary", "content", "arguments", "encrypted_content"] {
                open["item"].as_object_mut().unwrap().shift_remove(field);
            }
            events.push(open);
            let at = text.char_indices().map(|(at, _)| at).nth(cut).unwrap_or(0);
            for piece in [&text[..at], &text[at..]] {
                events.push(placed(&format!("response.{kind}.delta"), piece));
            }
            events.push(placed("response.output_item.done", ""));
        }
        let mut end = event("response.completed", &items[0], "");
        end["response"]["output"] = items.to_vec().into();
        events.push(serde_json::to_value(serde_json::from_value::<ResponseStreamEvent>(end).unwrap()).unwrap());
        let reply = whole(&events);
        let [Block::Thinking(thinking), Block::Text { text }, Block::Text { text: refusal }, Block::ToolCall(call)] = &reply.blocks[..]
        else { panic!("{reply:?}") };
        prop_assert_eq!(&thinking.text, thought);
        prop_assert_eq!(thinking.sealed.as_ref(), Some(thought));
        prop_assert_eq!((text, refusal), (said, said));
        prop_assert_eq!(call.id.as_str(), "c");
        prop_assert!(call.arguments.text() == arguments || arguments.trim().is_empty());
        prop_assert_eq!(reply.usage, Some(Usage { input_tokens: 3, output_tokens: 2, cached_tokens: 1 }));
        prop_assert_eq!(reply.stop, StopReason::Refusal);
    }
}
