//! OpenAI's chat completions, for OpenAI, Gemini, Grok, Ollama and vLLM. Each omits or renames some fields,
//! so every field of an answer is optional here.

use std::collections::BTreeMap;

use http::header::AUTHORIZATION;
use http::{HeaderMap, HeaderValue};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::call::{Decoder, Dialect};
use super::capabilities::Capabilities;
use super::error::{CallContext, ProviderError};
use super::message::{Block, Message, Request, SpeakerRole, ToolCall, ToolDeclaration, ToolResult};
use super::reply::{Assembler, StopReason, Usage};
use super::settings::Secret;

pub(super) struct ChatCompletions;

impl Dialect for ChatCompletions {
    fn path(&self) -> &'static str {
        "/chat/completions"
    }

    fn headers(&self, key: Option<&Secret>) -> HeaderMap {
        bearer(key)
    }

    fn body(&self, request: &Request, can: &Capabilities, _: &str) -> Map<String, Value> {
        let mut body = Map::new();
        body.insert("model".into(), request.model.clone().into());
        body.insert("messages".into(), messages(request, can).into());
        body.insert("stream".into(), true.into());
        body.insert("stream_options".into(), json!({ "include_usage": true }));
        let limit = if can.completion_limit { "max_completion_tokens" } else { "max_tokens" };
        body.insert(limit.into(), request.max_tokens.min(can.max_output_tokens).into());
        // Servers refuse an empty list.
        if !request.tools.is_empty() {
            body.insert("tools".into(), request.tools.iter().map(tool).collect());
            // Sent only if needed: it is refused without tools, and by some reasoning models always.
            if !can.parallel_calls {
                body.insert("parallel_tool_calls".into(), false.into());
            }
            if can.tools_need_no_effort {
                body.insert("reasoning_effort".into(), "none".into());
            }
        }
        body
    }

    fn decoder(&self) -> Box<dyn Decoder> {
        Box::new(Chunks::default())
    }
}

/// The header with the key.
pub(super) fn bearer(key: Option<&Secret>) -> HeaderMap {
    let value = key.and_then(|key| HeaderValue::from_str(&format!("Bearer {}", key.expose())).ok());
    HeaderMap::from_iter(value.map(|mut value| {
        value.set_sensitive(true);
        (AUTHORIZATION, value)
    }))
}

fn tool(tool: &ToolDeclaration) -> Value {
    json!({
        "type": "function",
        "function": { "name": tool.name, "description": tool.description, "parameters": tool.schema },
    })
}

fn messages(request: &Request, can: &Capabilities) -> Vec<Value> {
    let system = Some(&request.system).filter(|text| !text.is_empty());
    let system = system.map(|text| json!({ "role": "system", "content": text }));
    let rest = request.messages.iter().flat_map(|message| match message.role {
        SpeakerRole::User => user_messages(message, can),
        SpeakerRole::Assistant => assistant_message(message).into_iter().collect(),
    });
    system.into_iter().chain(rest).collect()
}

/// Messages of the role user. Each result is a separate message, and comes before the person's text.
fn user_messages(message: &Message, can: &Capabilities) -> Vec<Value> {
    let results = message.blocks.iter().filter_map(|block| match block {
        Block::ToolResult(result) => Some(tool_message(result)),
        _ => None,
    });
    let parts: Vec<Value> = message.blocks.iter().filter_map(|block| user_part(block, can)).collect();
    let written = match parts.as_slice() {
        [] => None,
        // Every server understands the plain form.
        [only] if only["type"] == "text" => Some(json!({ "role": "user", "content": only["text"] })),
        _ => Some(json!({ "role": "user", "content": parts })),
    };
    results.chain(written).collect()
}

fn tool_message(result: &ToolResult) -> Value {
    json!({ "role": "tool", "tool_call_id": result.call_id, "content": result_text(result) })
}

/// The text of a result. OpenAI's protocols have no field for errors.
pub(super) fn result_text(result: &ToolResult) -> String {
    let is_marked = !result.is_error || result.text.starts_with("Error");
    if is_marked { result.text.clone() } else { format!("Error: {}", result.text) }
}

fn user_part(block: &Block, can: &Capabilities) -> Option<Value> {
    match block {
        Block::Text { text } if !text.is_empty() => Some(json!({ "type": "text", "text": text })),
        Block::Image { media_type, base64 } if can.images => {
            let url = format!("data:{media_type};base64,{base64}");
            Some(json!({ "type": "image_url", "image_url": { "url": url } }))
        }
        Block::Image { .. } => Some(json!({ "type": "text", "text": super::call::IMAGE_LEFT_OUT })),
        _ => None,
    }
}

fn assistant_message(message: &Message) -> Option<Value> {
    let mut text = String::new();
    let mut calls = Vec::new();
    for block in &message.blocks {
        match block {
            Block::Text { text: more } => text.push_str(more),
            Block::ToolCall(made) => calls.push(call(made)),
            _ => {}
        }
    }
    let content = if text.is_empty() { Value::Null } else { Value::String(text) };
    match (content.is_null(), calls.is_empty()) {
        (true, true) => None,
        (_, true) => Some(json!({ "role": "assistant", "content": content })),
        _ => Some(json!({ "role": "assistant", "content": content, "tool_calls": calls })),
    }
}

fn call(call: &ToolCall) -> Value {
    let arguments = super::call::arguments_to_send(&call.arguments);
    let function = json!({ "name": call.name, "arguments": arguments });
    let mut value = json!({ "id": call.id, "type": "function", "function": function });
    let extra = call.extra.as_deref().and_then(|extra| serde_json::from_str::<Value>(extra).ok());
    if let Some(extra) = extra {
        value["extra_content"] = extra;
    }
    value
}

#[derive(Deserialize)]
struct Chunk {
    choices: Option<Vec<Choice>>,
    usage: Option<RawUsage>,
    error: Option<Value>,
}

#[derive(Deserialize)]
struct Choice {
    delta: Option<Delta>,
    finish_reason: Option<String>,
}

#[derive(Deserialize, Default)]
struct Delta {
    content: Option<Value>,
    refusal: Option<String>,
    /// Name of the field in vLLM, Ollama and DeepSeek …
    reasoning_content: Option<String>,
    /// … and in newer versions of them.
    reasoning: Option<String>,
    tool_calls: Option<Vec<CallDelta>>,
}

#[derive(Deserialize)]
struct CallDelta {
    index: Option<u64>,
    id: Option<String>,
    function: Option<FunctionDelta>,
    extra_content: Option<Box<RawValue>>,
}

#[derive(Deserialize)]
struct FunctionDelta {
    name: Option<String>,
    arguments: Option<Value>,
}

#[derive(Deserialize)]
struct RawUsage {
    prompt_tokens: Option<u64>,
    completion_tokens: Option<u64>,
    prompt_tokens_details: Option<PromptDetails>,
}

#[derive(Deserialize)]
struct PromptDetails {
    cached_tokens: Option<u64>,
}

/// Reads chunks, and maps their indexes to blocks.
#[derive(Default)]
struct Chunks {
    calls: BTreeMap<u64, OpenCall>,
    /// The model refused in text; its stop reason may be `stop` all the same.
    has_refused: bool,
}

struct OpenCall {
    id: String,
    block: usize,
}

impl Decoder for Chunks {
    fn read(&mut self, data: &str, asked: &CallContext, reply: &mut Assembler) -> Result<(), ProviderError> {
        let chunk: Chunk = serde_json::from_str(data).map_err(|error| asked.malformed(&error.to_string()))?;
        if let Some(error) = chunk.error {
            return Err(asked.failed_in_stream(&error));
        }
        if let Some(usage) = chunk.usage {
            reply.count(usage.into());
        }
        // Only one choice was requested.
        if let Some(choice) = chunk.choices.unwrap_or_default().into_iter().next() {
            self.read_choice(choice, reply);
        }
        Ok(())
    }

    fn is_over(&self) -> bool {
        // The usage follows the stop reason.
        false
    }
}

impl Chunks {
    fn read_choice(&mut self, choice: Choice, reply: &mut Assembler) {
        let delta = choice.delta.unwrap_or_default();
        for thought in [delta.reasoning_content, delta.reasoning].into_iter().flatten().take(1) {
            grow_last(reply, &thought, |block| matches!(block, Block::Thinking(_)), |reply| reply.open_thinking(None));
        }
        let text = delta.content.map(|content| text_of(&content)).unwrap_or_default();
        grow_last(reply, &text, |block| matches!(block, Block::Text { .. }), Assembler::open_text);
        let refusal = delta.refusal.unwrap_or_default();
        self.has_refused |= !refusal.is_empty();
        grow_last(reply, &refusal, |block| matches!(block, Block::Text { .. }), Assembler::open_text);
        for call in delta.tool_calls.unwrap_or_default() {
            self.read_call(call, reply);
        }
        if let Some(reason) = choice.finish_reason.filter(|reason| !reason.is_empty()) {
            reply.stop(if self.has_refused { StopReason::Refusal } else { stop_reason(reason) });
        }
    }

    fn read_call(&mut self, delta: CallDelta, reply: &mut Assembler) {
        let index = delta.index.unwrap_or_else(|| self.implied_index(delta.id.as_deref()));
        let id = delta.id.filter(|id| !id.is_empty());
        let function = delta.function.unwrap_or(FunctionDelta { name: None, arguments: None });
        // Ollama and Gemini send several calls under one index, each complete and with its own id.
        let known = self.calls.get(&index).filter(|open| id.as_ref().is_none_or(|id| *id == open.id));
        let block = match known {
            Some(open) => open.block,
            None => self.open_call(index, id, function.name.unwrap_or_default(), reply),
        };
        if let Some(extra) = delta.extra_content {
            reply.attach(block, extra.get());
        }
        match function.arguments {
            Some(Value::String(more)) => reply.grow(block, &more),
            // Some servers send the object in place of its text.
            Some(object @ Value::Object(_)) => reply.grow(block, &object.to_string()),
            _ => {}
        }
    }

    /// The index of a call without one: a new id is a new call, and no id means the last call.
    fn implied_index(&self, id: Option<&str>) -> u64 {
        let next = self.calls.last_key_value().map_or(0, |(index, _)| index + 1);
        match id {
            Some(id) => self.calls.iter().find(|(_, open)| open.id == id).map_or(next, |(index, _)| *index),
            None => next.saturating_sub(1),
        }
    }

    fn open_call(&mut self, index: u64, id: Option<String>, name: String, reply: &mut Assembler) -> usize {
        let id = id.unwrap_or_else(|| own_id("call"));
        let block = reply.open_call(id.clone(), name);
        self.calls.insert(index, OpenCall { id, block });
        block
    }
}

/// An id for servers that send none: the result must name one.
pub(super) fn own_id(kind: &str) -> String {
    let number = getrandom::u64().unwrap_or_default();
    format!("{kind}_{number:016x}")
}

/// Adds to the last block if it is of the right kind, else to a new one.
fn grow_last(
    reply: &mut Assembler,
    more: &str,
    is_kind: impl Fn(&Block) -> bool,
    open: impl Fn(&mut Assembler) -> usize,
) {
    if more.is_empty() {
        return;
    }
    let block = match reply.last_open(is_kind) {
        Some(block) => block,
        None => open(reply),
    };
    reply.grow(block, more);
}

/// The text of a string, or of a list of parts.
fn text_of(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().filter_map(|part| part.get("text")?.as_str()).collect(),
        _ => String::new(),
    }
}

fn stop_reason(word: String) -> StopReason {
    match word.as_str() {
        "stop" | "end_turn" => StopReason::EndTurn,
        "tool_calls" | "function_call" => StopReason::ToolUse,
        "length" | "max_tokens" => StopReason::MaxTokens,
        "content_filter" | "refusal" => StopReason::Refusal,
        _ => StopReason::Other(word),
    }
}

impl From<RawUsage> for Usage {
    fn from(raw: RawUsage) -> Self {
        Self {
            input_tokens: raw.prompt_tokens.unwrap_or_default(),
            output_tokens: raw.completion_tokens.unwrap_or_default(),
            cached_tokens: raw.prompt_tokens_details.and_then(|details| details.cached_tokens).unwrap_or_default(),
        }
    }
}
