//! Renders a reply as the events of OpenAI's Responses.

use serde_json::{Value, json};

use crate::StopReason;
use crate::conversation::signature;
use crate::script::{ScriptedBlock, ScriptedCall, ScriptedReply};
use crate::sse::{Filled, SseEvent};

/// Events with their numbers.
#[derive(Default)]
struct Numbered(Vec<SseEvent>);

impl Numbered {
    fn push(&mut self, kind: &'static str, mut data: Value) {
        data["type"] = kind.into();
        data["sequence_number"] = self.0.len().into();
        self.0.push(SseEvent { name: Some(kind), data: data.to_string() });
    }
}

pub(crate) fn response_events(filled: &Filled, reply: &ScriptedReply, model: &str) -> Vec<SseEvent> {
    let response = |status: &str, output: Value, usage: Value| {
        json!({
            "id": "resp_scripted", "object": "response", "created_at": 0, "model": model,
            "status": status, "output": output, "usage": usage, "error": null, "incomplete_details": null,
        })
    };
    let mut events = Numbered::default();
    events.push("response.created", json!({ "response": response("in_progress", json!([]), Value::Null) }));
    let items = filled.blocks.iter().enumerate().map(|(index, block)| item(filled, index, block, &mut events));
    let output: Vec<Value> = items.collect();
    if let Some(kind) = &reply.error_event {
        events.push("error", json!({ "code": kind, "message": "scripted", "param": null }));
        return events.0;
    }
    let (read, written) = (filled.usage.input_tokens, filled.usage.output_tokens);
    let usage = json!({
        "input_tokens": read, "input_tokens_details": { "cached_tokens": 0 },
        "output_tokens": written, "output_tokens_details": { "reasoning_tokens": 0 }, "total_tokens": read + written,
    });
    let (kind, status, reason) = match filled.stop {
        StopReason::EndTurn | StopReason::ToolUse => ("response.completed", "completed", None),
        StopReason::MaxTokens => ("response.incomplete", "incomplete", Some("max_output_tokens")),
        StopReason::Refusal => ("response.incomplete", "incomplete", Some("content_filter")),
    };
    let mut last = response(status, output.into(), usage);
    last["incomplete_details"] = reason.map_or(Value::Null, |reason| json!({ "reason": reason }));
    events.push(kind, json!({ "response": last }));
    events.0
}

/// Adds the events of one item, and returns the whole item.
fn item(filled: &Filled, index: usize, block: &ScriptedBlock, events: &mut Numbered) -> Value {
    let whole = match block {
        ScriptedBlock::Thinking(text) => reasoning(filled, index, text, events),
        ScriptedBlock::Text(text) => message(filled, index, text, events),
        ScriptedBlock::Call(made) => call(filled, index, made, events),
    };
    events.push("response.output_item.done", json!({ "output_index": index, "item": whole }));
    whole
}

fn open(index: usize, item: Value, events: &mut Numbered) {
    events.push("response.output_item.added", json!({ "output_index": index, "item": item }));
}

fn reasoning(filled: &Filled, index: usize, text: &str, events: &mut Numbered) -> Value {
    // Derived from the text, so that each thought has an id of its own, the same for every request.
    let id = format!("rs_{}", signature(&format!("id of {text}")));
    open(index, json!({ "type": "reasoning", "id": id, "summary": [] }), events);
    let part = |text: &str| json!({ "type": "summary_text", "text": text });
    let place =
        |field: &str, value: Value| json!({ "item_id": id, "output_index": index, "summary_index": 0, field: value });
    events.push("response.reasoning_summary_part.added", place("part", part("")));
    for delta in filled.deltas(text, |piece| place("delta", piece.into())) {
        events.push("response.reasoning_summary_text.delta", delta);
    }
    events.push("response.reasoning_summary_text.done", place("text", text.into()));
    events.push("response.reasoning_summary_part.done", place("part", part(text)));
    let mut whole = json!({ "type": "reasoning", "id": id, "summary": [part(text)] });
    if filled.is_sealed {
        whole["encrypted_content"] = signature(text).into();
    }
    whole
}

fn message(filled: &Filled, index: usize, text: &str, events: &mut Numbered) -> Value {
    let id = format!("msg_{index}");
    let message = |status: &str, content: Value| json!({ "type": "message", "id": id, "role": "assistant", "status": status, "content": content });
    open(index, message("in_progress", json!([])), events);
    let part = |text: &str| json!({ "type": "output_text", "text": text, "annotations": [], "logprobs": [] });
    let place =
        |field: &str, value: Value| json!({ "item_id": id, "output_index": index, "content_index": 0, field: value });
    events.push("response.content_part.added", place("part", part("")));
    for delta in filled.deltas(text, |piece| place("delta", piece.into())) {
        events.push("response.output_text.delta", delta);
    }
    events.push("response.output_text.done", place("text", text.into()));
    events.push("response.content_part.done", place("part", part(text)));
    message("completed", json!([part(text)]))
}

fn call(filled: &Filled, index: usize, made: &ScriptedCall, events: &mut Numbered) -> Value {
    let (id, arguments) = (format!("fc_{index}"), made.raw_arguments.as_deref().unwrap_or_default());
    let call = |status: &str, arguments: &str| {
        json!({
            "type": "function_call", "id": id, "call_id": made.id, "name": made.name, "arguments": arguments,
            "status": status,
        })
    };
    open(index, call("in_progress", ""), events);
    let place = |field: &str, value: Value| json!({ "item_id": id, "output_index": index, field: value });
    for delta in filled.deltas(arguments, |piece| place("delta", piece.into())) {
        events.push("response.function_call_arguments.delta", delta);
    }
    events.push("response.function_call_arguments.done", place("arguments", arguments.into()));
    call("completed", arguments)
}
