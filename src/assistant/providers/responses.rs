//! OpenAI's Responses: a request of typed items, which reasoning models answer with thoughts *and* calls. No response is stored at
//! OpenAI: encrypted reasoning travels in the items.
//!
//! Requests are typed by `async-openai`, which only this dialect knows. Its types for answers refuse what compatible servers send,
//! so `stream.rs` has its own decoder.

mod stream;
#[cfg(test)]
mod tests;

use async_openai::types::responses::{
    CreateResponse, EasyInputContent, EasyInputMessage, FunctionCallOutput, FunctionCallOutputItemParam, FunctionTool,
    FunctionToolCall, IncludeEnum, InputContent, InputImageContent, InputItem, InputParam, InputTextContent, Item,
    ReasoningItem, Role as ItemRole, SummaryPart, SummaryTextContent, Tool as ToolItem,
};
use http::HeaderMap;
use serde_json::{Map, Value, json};

use super::call::{Decoder, Dialect, IMAGE_LEFT_OUT, arguments_to_send};
use super::capabilities::Capabilities;
use super::message::{Block, Message, Request, SpeakerRole, Thinking, ToolCall, ToolDeclaration, ToolResult};
use super::openai::{bearer, result_text};
use super::settings::Secret;
use stream::ResponseEvents;

/// Most characters of a cache key.
const MAX_CACHE_KEY: usize = 64;

pub(super) struct Responses;

impl Dialect for Responses {
    fn path(&self) -> &'static str {
        "/responses"
    }

    fn headers(&self, key: Option<&Secret>) -> HeaderMap {
        bearer(key)
    }

    fn body(&self, request: &Request, can: &Capabilities, origin: &str) -> Map<String, Value> {
        let has_tools = !request.tools.is_empty();
        let items = request.messages.iter().flat_map(|message| items(message, can, origin));
        let create = CreateResponse {
            model: Some(request.model.clone()),
            instructions: Some(request.system.clone()).filter(|text| !text.is_empty()),
            input: InputParam::Items(items.collect()),
            tools: has_tools.then(|| request.tools.iter().map(tool).collect()),
            parallel_tool_calls: (has_tools && !can.parallel_calls).then_some(false),
            // Models that do not reason refuse it.
            include: can.encrypted_reasoning.then(|| vec![IncludeEnum::ReasoningEncryptedContent]),
            max_output_tokens: Some(request.max_tokens.min(can.max_output_tokens)),
            prompt_cache_key: request.cache_key.as_ref().map(|key| key.chars().take(MAX_CACHE_KEY).collect()),
            store: Some(false),
            stream: Some(true),
            ..CreateResponse::default()
        };
        match serde_json::to_value(create) {
            Ok(Value::Object(body)) => body,
            _ => Map::new(),
        }
    }

    /// Settings for chat completions name the effort differently.
    fn add(&self, body: &mut Map<String, Value>, mut extra: Map<String, Value>) {
        if let Some(effort) = extra.shift_remove("reasoning_effort") {
            let reasoning = extra.entry("reasoning").or_insert_with(|| json!({}));
            if let Some(reasoning) = reasoning.as_object_mut() {
                reasoning.entry("effort").or_insert(effort);
            }
        }
        body.extend(extra);
    }

    fn decoder(&self) -> Box<dyn Decoder> {
        Box::new(ResponseEvents::default())
    }
}

fn tool(tool: &ToolDeclaration) -> ToolItem {
    ToolItem::Function(FunctionTool {
        name: tool.name.clone(),
        description: Some(tool.description.clone()),
        parameters: Some(tool.schema.clone()),
        // The default is strict, which forbids optional parameters.
        strict: Some(false),
        ..FunctionTool::default()
    })
}

fn items(message: &Message, can: &Capabilities, origin: &str) -> Vec<InputItem> {
    match message.role {
        SpeakerRole::User => user_items(message, can),
        SpeakerRole::Assistant => assistant_items(message, origin),
    }
}

/// Items of the role user. Results come before the person's text.
fn user_items(message: &Message, can: &Capabilities) -> Vec<InputItem> {
    let results = message.blocks.iter().filter_map(|block| match block {
        Block::ToolResult(result) => Some(output(result)),
        _ => None,
    });
    let parts: Vec<InputContent> = message.blocks.iter().filter_map(|block| user_part(block, can)).collect();
    let written = match parts.as_slice() {
        [] => None,
        [InputContent::InputText(only)] => Some(EasyInputContent::Text(only.text.clone())),
        _ => Some(EasyInputContent::ContentList(parts)),
    };
    results.chain(written.map(|content| said(ItemRole::User, content))).collect()
}

fn output(result: &ToolResult) -> InputItem {
    InputItem::Item(Item::FunctionCallOutput(FunctionCallOutputItemParam {
        call_id: Some(result.call_id.clone()),
        output: FunctionCallOutput::Text(result_text(result)),
        id: None,
        status: None,
        name: None,
        namespace: None,
        caller: None,
    }))
}

fn user_part(block: &Block, can: &Capabilities) -> Option<InputContent> {
    let text = |text: &str| InputContent::InputText(InputTextContent { text: text.to_owned(), ..Default::default() });
    match block {
        Block::Text { text: written } if !written.is_empty() => Some(text(written)),
        Block::Image { media_type, base64 } if can.images => {
            let image_url = Some(format!("data:{media_type};base64,{base64}"));
            Some(InputContent::InputImage(InputImageContent { image_url, ..Default::default() }))
        }
        Block::Image { .. } => Some(text(IMAGE_LEFT_OUT)),
        _ => None,
    }
}

fn said(role: ItemRole, content: EasyInputContent) -> InputItem {
    InputItem::EasyMessage(EasyInputMessage { role, content, ..EasyInputMessage::default() })
}

/// Items of the model's answer. Reasoning that nothing follows is left out: the API refuses it.
fn assistant_items(message: &Message, origin: &str) -> Vec<InputItem> {
    let mut items: Vec<InputItem> = message.blocks.iter().filter_map(|block| answer_item(block, origin)).collect();
    while matches!(items.last(), Some(InputItem::Item(Item::Reasoning(_)))) {
        items.pop();
    }
    items
}

fn answer_item(block: &Block, origin: &str) -> Option<InputItem> {
    match block {
        Block::Text { text } if !text.is_empty() => {
            Some(said(ItemRole::Assistant, EasyInputContent::Text(text.clone())))
        }
        Block::Thinking(thinking) if thinking.origin == origin => reasoning(thinking),
        Block::ToolCall(made) => Some(call(made)),
        _ => None,
    }
}

/// `None` for reasoning without its encrypted part, which is lost in a restart: the model then thinks anew.
fn reasoning(thinking: &Thinking) -> Option<InputItem> {
    let encrypted_content = Some(thinking.sealed.clone()?);
    let text = Some(thinking.text.clone()).filter(|text| !text.is_empty());
    let summary = text.map(|text| SummaryPart::SummaryText(SummaryTextContent { text })).into_iter().collect();
    let item = ReasoningItem { id: thinking.id.clone(), summary, encrypted_content, ..ReasoningItem::default() };
    Some(InputItem::Item(Item::Reasoning(item)))
}

/// Without the id of the item, which would bind the call to its reasoning.
fn call(call: &ToolCall) -> InputItem {
    InputItem::Item(Item::FunctionCall(FunctionToolCall {
        call_id: call.id.clone(),
        name: call.name.clone(),
        arguments: arguments_to_send(&call.arguments),
        ..FunctionToolCall::default()
    }))
}
