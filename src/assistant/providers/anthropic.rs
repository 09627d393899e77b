//! Anthropic's Messages: typed blocks with an index, thinking that goes back signed, tool results inside user messages.

use std::collections::BTreeMap;

use http::{HeaderMap, HeaderName, HeaderValue};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::call::{Decoder, Dialect, IMAGE_LEFT_OUT, arguments_to_send};
use super::capabilities::Capabilities;
use super::error::{CallContext, ProviderError};
use super::message::{Block, Message, Request, SpeakerRole, Thinking, ToolCall, ToolDeclaration, ToolResult};
use super::reply::{Assembler, StopReason, Usage};
use super::settings::Secret;

const VERSION: &str = "2023-06-01";

pub(super) struct Messages;

impl Dialect for Messages {
    fn path(&self) -> &'static str {
        "/messages"
    }

    fn headers(&self, key: Option<&Secret>) -> HeaderMap {
        let version = (HeaderName::from_static("anthropic-version"), HeaderValue::from_static(VERSION));
        let key = key.and_then(|key| HeaderValue::from_str(key.expose()).ok()).map(|mut value| {
            value.set_sensitive(true);
            (HeaderName::from_static("x-api-key"), value)
        });
        HeaderMap::from_iter(std::iter::once(version).chain(key))
    }

    fn body(&self, request: &Request, can: &Capabilities, origin: &str) -> Map<String, Value> {
        let mut body = Map::new();
        body.insert("model".into(), request.model.clone().into());
        body.insert("max_tokens".into(), request.max_tokens.min(can.max_output_tokens).into());
        body.insert("stream".into(), true.into());
        if !request.system.is_empty() {
            // Tools and system text are the same in every call of a conversation, so later calls read them from the cache.
            let cache = json!({ "type": "ephemeral" });
            body.insert("system".into(), json!([{ "type": "text", "text": request.system, "cache_control": cache }]));
        }
        let messages = request.messages.iter().filter_map(|sent| message(sent, can, origin));
        body.insert("messages".into(), messages.collect());
        if !request.tools.is_empty() {
            body.insert("tools".into(), request.tools.iter().map(tool).collect());
            if !can.parallel_calls {
                let one_by_one = json!({ "type": "auto", "disable_parallel_tool_use": true });
                body.insert("tool_choice".into(), one_by_one);
            }
        }
        body
    }

    fn decoder(&self) -> Box<dyn Decoder> {
        Box::new(EventReader::default())
    }

    fn counting(&self) -> Option<(&'static str, &'static [&'static str])> {
        Some(("/messages/count_tokens", &["model", "system", "messages", "tools", "tool_choice", "thinking"]))
    }
}

fn tool(tool: &ToolDeclaration) -> Value {
    json!({ "name": tool.name, "description": tool.description, "input_schema": tool.schema })
}

fn message(message: &Message, can: &Capabilities, origin: &str) -> Option<Value> {
    let mut blocks: Vec<&Block> = message.blocks.iter().collect();
    // Results must come first; the sort keeps the order otherwise.
    if message.role == SpeakerRole::User {
        blocks.sort_by_key(|block| !matches!(block, Block::ToolResult(_)));
    }
    let content: Vec<Value> = blocks.into_iter().filter_map(|sent| block(sent, can, origin)).collect();
    let role = if message.role == SpeakerRole::User { "user" } else { "assistant" };
    (!content.is_empty()).then(|| json!({ "role": role, "content": content }))
}

fn block(block: &Block, can: &Capabilities, origin: &str) -> Option<Value> {
    match block {
        // The API refuses text of nothing but spaces.
        Block::Text { text } => (!text.trim().is_empty()).then(|| json!({ "type": "text", "text": text })),
        Block::Image { media_type, base64 } if can.images => {
            let source = json!({ "type": "base64", "media_type": media_type, "data": base64 });
            Some(json!({ "type": "image", "source": source }))
        }
        Block::Image { .. } => Some(json!({ "type": "text", "text": IMAGE_LEFT_OUT })),
        Block::Thinking(thinking) => thought(thinking, origin),
        Block::ToolCall(call) => Some(tool_use(call)),
        Block::ToolResult(result) => Some(tool_result(result)),
    }
}

/// Leaves out thinking of another model, or without a signature: the API would refuse it.
fn thought(thinking: &Thinking, origin: &str) -> Option<Value> {
    if thinking.origin != origin {
        return None;
    }
    match (&thinking.redacted, &thinking.signature) {
        (Some(data), _) => Some(json!({ "type": "redacted_thinking", "data": data })),
        (None, Some(signature)) => {
            Some(json!({ "type": "thinking", "thinking": thinking.text, "signature": signature }))
        }
        (None, None) => None,
    }
}

fn tool_use(call: &ToolCall) -> Value {
    let input: Value = serde_json::from_str(&arguments_to_send(&call.arguments)).unwrap_or_else(|_| json!({}));
    json!({ "type": "tool_use", "id": call.id, "name": call.name, "input": input })
}

fn tool_result(result: &ToolResult) -> Value {
    let mut value = json!({ "type": "tool_result", "tool_use_id": result.call_id, "content": result.text });
    if result.is_error {
        value["is_error"] = true.into();
    }
    value
}

/// Fields of all stream events; `type` decides which are present.
#[derive(Deserialize)]
struct StreamEvent {
    #[serde(rename = "type", default)]
    kind: String,
    index: Option<u64>,
    message: Option<StartedMessage>,
    content_block: Option<StartedBlock>,
    delta: Option<Delta>,
    usage: Option<RawUsage>,
    error: Option<Value>,
}

#[derive(Deserialize)]
struct StartedMessage {
    usage: Option<RawUsage>,
}

#[derive(Deserialize)]
struct StartedBlock {
    #[serde(rename = "type", default)]
    kind: String,
    id: Option<String>,
    name: Option<String>,
    text: Option<String>,
    thinking: Option<String>,
    signature: Option<String>,
    data: Option<String>,
    input: Option<Box<RawValue>>,
}

#[derive(Deserialize)]
struct Delta {
    text: Option<String>,
    thinking: Option<String>,
    signature: Option<String>,
    partial_json: Option<String>,
    stop_reason: Option<String>,
}

#[derive(Deserialize)]
struct RawUsage {
    input_tokens: Option<u64>,
    output_tokens: Option<u64>,
    cache_read_input_tokens: Option<u64>,
    cache_creation_input_tokens: Option<u64>,
}

/// Reads events, and maps their indexes to blocks. Unknown kinds of blocks have no entry.
#[derive(Default)]
struct EventReader {
    blocks: BTreeMap<u64, usize>,
    is_over: bool,
}

impl Decoder for EventReader {
    fn read(&mut self, data: &str, asked: &CallContext, reply: &mut Assembler) -> Result<(), ProviderError> {
        let event: StreamEvent = serde_json::from_str(data).map_err(|error| asked.malformed(&error.to_string()))?;
        let index = event.index.unwrap_or_default();
        match event.kind.as_str() {
            "message_start" => count(reply, event.message.and_then(|message| message.usage)),
            "content_block_start" => self.start(index, event.content_block, reply),
            "content_block_delta" => self.grow(index, event.delta, reply),
            "content_block_stop" => self.stop(index, reply),
            "message_delta" => {
                count(reply, event.usage);
                stop_message(event.delta, reply);
            }
            "message_stop" => self.is_over = true,
            "error" => return Err(asked.failed_in_stream(&event.error.unwrap_or_default())),
            // Pings, and unknown events.
            _ => {}
        }
        Ok(())
    }

    fn is_over(&self) -> bool {
        self.is_over
    }
}

impl EventReader {
    fn start(&mut self, index: u64, started: Option<StartedBlock>, reply: &mut Assembler) {
        let Some(started) = started else { return };
        let block = match started.kind.as_str() {
            "text" => reply.open_text(),
            "thinking" => reply.open_thinking(None),
            "redacted_thinking" => reply.open_thinking(started.data),
            "tool_use" => reply.open_call(started.id.unwrap_or_default(), started.name.unwrap_or_default()),
            _ => return,
        };
        self.blocks.insert(index, block);
        for text in [started.text, started.thinking].into_iter().flatten() {
            reply.grow(block, &text);
        }
        if let Some(signature) = started.signature.filter(|signature| !signature.is_empty()) {
            reply.sign(block, &signature);
        }
        // `{}` announces that the arguments follow; compatible servers may send all of them in this event.
        if let Some(input) = started.input.filter(|input| !matches!(input.get().trim(), "{}" | "null")) {
            reply.grow(block, input.get());
        }
    }

    fn grow(&mut self, index: u64, delta: Option<Delta>, reply: &mut Assembler) {
        let (Some(delta), Some(block)) = (delta, self.blocks.get(&index)) else { return };
        for text in [delta.text, delta.thinking, delta.partial_json].into_iter().flatten() {
            reply.grow(*block, &text);
        }
        if let Some(signature) = delta.signature {
            reply.sign(*block, &signature);
        }
    }

    fn stop(&mut self, index: u64, reply: &mut Assembler) {
        if let Some(block) = self.blocks.get(&index) {
            reply.close(*block);
        }
    }
}

fn count(reply: &mut Assembler, usage: Option<RawUsage>) {
    let Some(usage) = usage else { return };
    let cached = usage.cache_read_input_tokens.unwrap_or_default();
    let written = usage.cache_creation_input_tokens.unwrap_or_default();
    reply.count(Usage {
        // Anthropic counts cached tokens separately.
        input_tokens: usage.input_tokens.unwrap_or_default().saturating_add(cached).saturating_add(written),
        output_tokens: usage.output_tokens.unwrap_or_default(),
        cached_tokens: cached,
    });
}

fn stop_message(delta: Option<Delta>, reply: &mut Assembler) {
    let Some(word) = delta.and_then(|delta| delta.stop_reason) else { return };
    reply.stop(match word.as_str() {
        "end_turn" | "stop_sequence" => StopReason::EndTurn,
        "tool_use" => StopReason::ToolUse,
        "max_tokens" | "model_context_window_exceeded" => StopReason::MaxTokens,
        "refusal" => StopReason::Refusal,
        _ => StopReason::Other(word),
    });
}
