//! Renders a reply as a server-sent event stream, in any protocol.

mod responses;

use serde_json::{Value, json};

use self::responses::response_events;
use crate::conversation::{RequestContent, signature};
use crate::script::{ScriptedBlock, ScriptedCall, ScriptedReply, ScriptedUsage, fill, fill_json};
use crate::{RequestProtocol, StopReason};

const DEFAULT_PIECE_CHARACTERS: usize = 12;
const BROKEN_JSON: &str = "{\"broken\": [1, ";

/// Content of a reply with placeholders filled in.
pub(crate) struct Filled {
    /// Blocks; calls have their ids, and their arguments as text.
    pub(crate) blocks: Vec<ScriptedBlock>,
    pub(crate) stop: StopReason,
    pub(crate) usage: ScriptedUsage,
    piece_characters: usize,
    /// Reasoning is sent encrypted too (Responses).
    pub(crate) is_sealed: bool,
}

impl Filled {
    /// Fills in a reply; `number` makes the ids of calls unique.
    pub(crate) fn new(reply: &ScriptedReply, asked: &RequestContent, number: u64) -> Result<Self, String> {
        let mut blocks = all_blocks(reply);
        for (index, block) in blocks.iter_mut().enumerate() {
            match block {
                ScriptedBlock::Thinking(text) | ScriptedBlock::Text(text) => *text = fill(text, asked)?,
                ScriptedBlock::Call(call) => {
                    call.id.get_or_insert_with(|| format!("call_{number}_{index}"));
                    call.raw_arguments = Some(arguments(call, asked)?);
                }
            }
        }
        let has_call = blocks.iter().any(|block| matches!(block, ScriptedBlock::Call(_)));
        let fitting = if has_call { StopReason::ToolUse } else { StopReason::EndTurn };
        Ok(Self {
            stop: reply.stop.unwrap_or(fitting),
            usage: reply.usage.unwrap_or_else(|| estimate(&blocks, asked)),
            blocks,
            is_sealed: asked.is_sealed,
            piece_characters: reply.piece_characters.unwrap_or(DEFAULT_PIECE_CHARACTERS).max(1),
        })
    }

    /// Splits a text into deltas of the scripted size.
    pub(crate) fn deltas(&self, text: &str, delta: impl Fn(String) -> Value) -> Vec<Value> {
        let characters: Vec<char> = text.chars().collect();
        characters.chunks(self.piece_characters).map(|piece| delta(piece.iter().collect())).collect()
    }
}

fn all_blocks(reply: &ScriptedReply) -> Vec<ScriptedBlock> {
    let thinking = reply.thinking.iter().cloned().map(ScriptedBlock::Thinking);
    let text = reply.text.iter().cloned().map(ScriptedBlock::Text);
    let calls = reply.calls.iter().cloned().map(ScriptedBlock::Call);
    thinking.chain(text).chain(calls).chain(reply.blocks.iter().cloned()).collect()
}

fn arguments(call: &ScriptedCall, asked: &RequestContent) -> Result<String, String> {
    match (&call.raw_arguments, &call.arguments) {
        (Some(raw), _) => fill(raw, asked),
        (None, Some(value)) => Ok(fill_json(value, asked)?.to_string()),
        (None, None) => Ok("{}".to_owned()),
    }
}

/// Counts the tokens of a request: one per four bytes of text.
pub(crate) fn count(asked: &RequestContent) -> u64 {
    asked.all_text.len() as u64 / 4 + 1
}

fn estimate(blocks: &[ScriptedBlock], asked: &RequestContent) -> ScriptedUsage {
    let length = |block: &ScriptedBlock| match block {
        ScriptedBlock::Thinking(text) | ScriptedBlock::Text(text) => text.len(),
        ScriptedBlock::Call(call) => call.name.len() + call.raw_arguments.as_ref().map_or(0, String::len),
    };
    let output: usize = blocks.iter().map(length).sum();
    ScriptedUsage { input_tokens: count(asked), output_tokens: output as u64 / 4 + 1 }
}

/// One event: name, if the protocol has it, and data.
pub(crate) struct SseEvent {
    pub(crate) name: Option<&'static str>,
    pub(crate) data: String,
}

/// Renders the events of a reply, each as bytes.
pub(crate) fn render(protocol: RequestProtocol, filled: &Filled, reply: &ScriptedReply, model: &str) -> Vec<Vec<u8>> {
    if let Some(raw) = &reply.raw {
        return vec![raw.clone().into_bytes()];
    }
    let mut events = match protocol {
        RequestProtocol::Responses => response_events(filled, reply, model),
        RequestProtocol::ChatCompletions => chat_events(filled, reply, model),
        RequestProtocol::Messages => anthropic_events(filled, reply, model),
    };
    if let Some(event) = reply.malformed_event.and_then(|index| events.get_mut(index)) {
        event.data = BROKEN_JSON.to_owned();
    }
    events.iter().map(SseEvent::bytes).collect()
}

impl SseEvent {
    fn bytes(&self) -> Vec<u8> {
        let name = self.name.map(|name| format!("event: {name}\n")).unwrap_or_default();
        format!("{name}data: {}\n\n", self.data).into_bytes()
    }
}

fn chat_events(filled: &Filled, reply: &ScriptedReply, model: &str) -> Vec<SseEvent> {
    let event = |data: Value| SseEvent { name: None, data: data.to_string() };
    let chunk = |choices: Value, usage: Value| {
        event(json!({
            "id": "chatcmpl-scripted", "object": "chat.completion.chunk", "created": 0, "model": model,
            "choices": choices, "usage": usage,
        }))
    };
    let delta = |delta: Value, reason: Value| {
        chunk(json!([{ "index": 0, "delta": delta, "finish_reason": reason }]), Value::Null)
    };
    let mut events = vec![delta(json!({ "role": "assistant", "content": "" }), Value::Null)];
    events.extend(chat_deltas(filled).into_iter().map(|piece| delta(piece, Value::Null)));
    if let Some(kind) = &reply.error_event {
        events.push(event(json!({ "error": { "type": kind, "message": "scripted" } })));
        return events;
    }
    let reason = chat_reason(filled.stop);
    events.push(delta(json!({}), reason.into()));
    let (read, written) = (filled.usage.input_tokens, filled.usage.output_tokens);
    let usage = json!({ "prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written });
    events.push(chunk(json!([]), usage));
    events.push(SseEvent { name: None, data: "[DONE]".to_owned() });
    events
}

fn chat_reason(stop: StopReason) -> &'static str {
    match stop {
        StopReason::EndTurn => "stop",
        StopReason::ToolUse => "tool_calls",
        StopReason::MaxTokens => "length",
        StopReason::Refusal => "content_filter",
    }
}

fn chat_deltas(filled: &Filled) -> Vec<Value> {
    let mut calls = 0..;
    let deltas = |block: &ScriptedBlock| match block {
        ScriptedBlock::Thinking(text) => filled.deltas(text, |piece| json!({ "reasoning_content": piece })),
        ScriptedBlock::Text(text) => filled.deltas(text, |piece| json!({ "content": piece })),
        ScriptedBlock::Call(ScriptedCall { id, name, raw_arguments, .. }) => {
            let index = calls.next();
            let delta = |call: Value| json!({ "tool_calls": [call] });
            let function = json!({ "name": name, "arguments": "" });
            let first = delta(json!({ "index": index, "id": id, "type": "function", "function": function }));
            let more = |piece| delta(json!({ "index": index, "function": { "arguments": piece } }));
            [vec![first], filled.deltas(raw_arguments.as_deref().unwrap_or_default(), more)].concat()
        }
    };
    filled.blocks.iter().flat_map(deltas).collect()
}

fn anthropic_events(filled: &Filled, reply: &ScriptedReply, model: &str) -> Vec<SseEvent> {
    let usage = json!({ "input_tokens": filled.usage.input_tokens, "output_tokens": 1 });
    let message = json!({
        "id": "msg_scripted", "type": "message", "role": "assistant", "model": model, "content": [],
        "stop_reason": null, "stop_sequence": null, "usage": usage,
    });
    let mut events = vec![anthropic("message_start", json!({ "message": message })), anthropic("ping", json!({}))];
    for (index, block) in filled.blocks.iter().enumerate() {
        anthropic_block(filled, index, block, &mut events);
    }
    if let Some(kind) = &reply.error_event {
        events.push(anthropic("error", json!({ "error": { "type": kind, "message": "scripted" } })));
        return events;
    }
    let stop = serde_json::to_value(filled.stop).unwrap_or_default();
    let delta = json!({ "stop_reason": stop, "stop_sequence": null });
    let usage = json!({ "output_tokens": filled.usage.output_tokens });
    events.push(anthropic("message_delta", json!({ "delta": delta, "usage": usage })));
    events.push(anthropic("message_stop", json!({})));
    events
}

fn anthropic(kind: &'static str, mut data: Value) -> SseEvent {
    data["type"] = kind.into();
    SseEvent { name: Some(kind), data: data.to_string() }
}

fn anthropic_block(filled: &Filled, index: usize, block: &ScriptedBlock, events: &mut Vec<SseEvent>) {
    let (start, deltas) = match block {
        ScriptedBlock::Thinking(text) => {
            let mut deltas = filled.deltas(text, |piece| json!({ "type": "thinking_delta", "thinking": piece }));
            deltas.push(json!({ "type": "signature_delta", "signature": signature(text) }));
            (json!({ "type": "thinking", "thinking": "", "signature": "" }), deltas)
        }
        ScriptedBlock::Text(text) => {
            let deltas = filled.deltas(text, |piece| json!({ "type": "text_delta", "text": piece }));
            (json!({ "type": "text", "text": "" }), deltas)
        }
        ScriptedBlock::Call(ScriptedCall { id, name, raw_arguments, .. }) => {
            let delta = |piece| json!({ "type": "input_json_delta", "partial_json": piece });
            let deltas = filled.deltas(raw_arguments.as_deref().unwrap_or_default(), delta);
            (json!({ "type": "tool_use", "id": id, "name": name, "input": {} }), deltas)
        }
    };
    events.push(anthropic("content_block_start", json!({ "index": index, "content_block": start })));
    let delta = |delta| anthropic("content_block_delta", json!({ "index": index, "delta": delta }));
    events.extend(deltas.into_iter().map(delta));
    events.push(anthropic("content_block_stop", json!({ "index": index })));
}
