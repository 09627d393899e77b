//! Reads the stream of a response. Every field may be missing, and unknown events and items are skipped: compatible servers leave
//! out numbers and words, and OpenAI adds new ones.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::super::call::Decoder;
use super::super::error::{CallContext, ProviderError};
use super::super::openai::own_id;
use super::super::reply::{Assembler, MAX_BLOCKS, StopReason, Usage};

/// Reads events, and maps items and their parts to blocks.
#[derive(Default)]
pub(super) struct ResponseEvents {
    items: Vec<OpenItem>,
    /// The model refused in text; the response counts as completed all the same.
    has_refused: bool,
    is_over: bool,
}

/// An item of the response, as far as it is read.
#[derive(Default)]
struct OpenItem {
    /// Position in the response.
    index: Option<u64>,
    id: Option<String>,
    /// Blocks by the index of their part.
    blocks: BTreeMap<u64, usize>,
    /// The part of a summary that grew last.
    summary: u64,
    is_done: bool,
}

/// The kind of text in a part of an item.
#[derive(Clone, Copy, PartialEq, Eq)]
enum PartKind {
    Text,
    Refusal,
    Thinking,
    Arguments,
}

impl Decoder for ResponseEvents {
    fn read(&mut self, data: &str, asked: &CallContext, reply: &mut Assembler) -> Result<(), ProviderError> {
        let event: Value = serde_json::from_str(data).map_err(|error| asked.malformed(&error.to_string()))?;
        if !event.is_object() {
            return Err(asked.malformed("an event that is no object"));
        }
        count(&event["response"]["usage"], reply);
        match text(&event["type"]) {
            "response.output_item.added" => self.open_item(&event, reply),
            "response.output_item.done" => self.close_item(&event, reply),
            "response.output_text.delta" => self.grow(&event, PartKind::Text, &event["delta"], reply),
            "response.output_text.done" => self.fill(&event, PartKind::Text, &event["text"], reply),
            "response.refusal.delta" => self.grow(&event, PartKind::Refusal, &event["delta"], reply),
            "response.refusal.done" => self.fill(&event, PartKind::Refusal, &event["refusal"], reply),
            "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => {
                self.grow(&event, PartKind::Thinking, &event["delta"], reply);
            }
            "response.function_call_arguments.delta" => {
                self.grow(&event, PartKind::Arguments, &event["delta"], reply);
            }
            "response.function_call_arguments.done" => {
                self.fill(&event, PartKind::Arguments, &event["arguments"], reply);
            }
            "response.completed" | "response.incomplete" | "response.failed" | "response.cancelled" => {
                return self.end(&event, asked, reply);
            }
            "error" => return Err(asked.failed_in_stream(&event)),
            _ => {}
        }
        if self.items.len() > MAX_BLOCKS {
            return Err(asked.malformed(&format!("more than {MAX_BLOCKS} blocks in one reply")));
        }
        Ok(())
    }

    fn is_over(&self) -> bool {
        self.is_over
    }
}

impl ResponseEvents {
    /// The item of an event, which is added if it is missing.
    fn item_of(&mut self, event: &Value) -> &mut OpenItem {
        let (index, id) = place_of(event);
        // Events before may have named neither position nor id.
        let unnamed = || self.items.iter().rposition(|item| !item.is_done && item.index.is_none() && item.id.is_none());
        let found = self.find(index, id).or_else(unnamed);
        let at = found.unwrap_or_else(|| self.add_item(index, id));
        &mut self.items[at]
    }

    /// Finds an item by its position, else by its id, else the last one.
    fn find(&self, index: Option<u64>, id: Option<&str>) -> Option<usize> {
        match (index, id) {
            // Some servers encrypt ids anew in every event, so the position decides.
            (Some(_), _) => self.items.iter().position(|item| item.index == index),
            (None, Some(id)) => self.items.iter().position(|item| item.id.as_deref() == Some(id)),
            (None, None) => self.items.iter().rposition(|item| !item.is_done),
        }
    }

    fn add_item(&mut self, index: Option<u64>, id: Option<&str>) -> usize {
        self.items.push(OpenItem { index, id: id.map(str::to_owned), ..OpenItem::default() });
        self.items.len() - 1
    }

    fn open_item(&mut self, event: &Value, reply: &mut Assembler) {
        let (item, (index, id)) = (&event["item"], place_of(event));
        if (index, id) == (None, None) || self.find(index, id).is_none() {
            self.add_item(index, id);
        }
        let open = self.item_of(event);
        // Without a name the call is opened when the item is done.
        if item["type"] == "function_call" && open.blocks.is_empty() && !text(&item["name"]).is_empty() {
            let block = open_call(item, reply);
            open.blocks.insert(0, block);
            reply.grow(block, &arguments_of(&item["arguments"]));
        }
    }

    /// Adds to the block of a part, which is opened if it is missing.
    fn grow(&mut self, event: &Value, kind: PartKind, more: &Value, reply: &mut Assembler) {
        let more = if kind == PartKind::Arguments { arguments_of(more) } else { text(more).to_owned() };
        self.has_refused |= kind == PartKind::Refusal && !more.is_empty();
        if more.is_empty() {
            return;
        }
        let open = self.item_of(event);
        let Some(block) = open.part(event, kind, reply) else { return };
        if kind == PartKind::Thinking {
            let summary = event["summary_index"].as_u64().unwrap_or(open.summary);
            let is_new = summary != open.summary;
            open.summary = summary;
            if is_new && !reply.is_blank(block) {
                reply.grow(block, "\n\n");
            }
        }
        reply.grow(block, &more);
    }

    /// Gives a block its whole text, if none of it was streamed.
    fn fill(&mut self, event: &Value, kind: PartKind, whole: &Value, reply: &mut Assembler) {
        let block = self.item_of(event).blocks.get(&part_of(event, kind));
        if block.is_none_or(|block| reply.is_blank(*block)) {
            self.grow(event, kind, whole, reply);
        }
    }

    /// Takes what was not streamed from the whole item, and closes its blocks.
    fn close_item(&mut self, event: &Value, reply: &mut Assembler) {
        let item = &event["item"];
        match text(&item["type"]) {
            "message" => self.fill_message(event, reply),
            "function_call" => {
                let open = self.item_of(event);
                let block = *open.blocks.entry(0).or_insert_with(|| open_call(item, reply));
                self.fill(event, PartKind::Arguments, &item["arguments"], reply);
                reply.close(block);
            }
            "reasoning" => self.fill_reasoning(event, reply),
            _ => {}
        }
        let open = self.item_of(event);
        open.is_done = true;
        open.blocks.values().for_each(|block| reply.close(*block));
    }

    fn fill_message(&mut self, event: &Value, reply: &mut Assembler) {
        let (content, (index, id)) = (&event["item"]["content"], place_of(event));
        let plain = [json!({ "text": content })];
        let parts = content.as_array().map_or(&plain[..], Vec::as_slice);
        for (number, part) in parts.iter().enumerate().take(MAX_BLOCKS + 1) {
            let place = json!({ "output_index": index, "item_id": id, "content_index": number });
            self.fill(&place, PartKind::Refusal, &part["refusal"], reply);
            self.fill(&place, PartKind::Text, &part["text"], reply);
        }
    }

    fn fill_reasoning(&mut self, event: &Value, reply: &mut Assembler) {
        let item = &event["item"];
        let parts = |name: &str| item[name].as_array().into_iter().flatten().filter_map(|part| part["text"].as_str());
        let whole: Vec<&str> = parts("summary").chain(parts("content")).collect();
        self.fill(event, PartKind::Thinking, &whole.join("\n\n").into(), reply);
        let sealed = item["encrypted_content"].as_str().filter(|sealed| !sealed.is_empty());
        if let Some(sealed) = sealed
            && let Some(block) = self.item_of(event).part(event, PartKind::Thinking, reply)
        {
            let id = item["id"].as_str().map_or_else(|| own_id("rs"), str::to_owned);
            reply.seal(block, id, sealed.to_owned());
        }
    }

    fn end(&mut self, event: &Value, asked: &CallContext, reply: &mut Assembler) -> Result<(), ProviderError> {
        let response = &event["response"];
        let kind = text(&event["type"]).trim_start_matches("response.");
        let status = match (kind, text(&response["status"])) {
            ("completed", status @ ("incomplete" | "failed" | "cancelled")) => status,
            _ => kind,
        };
        let error = &response["error"];
        if matches!(status, "failed" | "cancelled") {
            let silent = json!({ "message": format!("the response is {status}") });
            return Err(asked.failed_in_stream(if error.is_null() { &silent } else { error }));
        }
        self.take_rest(response, reply);
        reply.stop(match (status, text(&response["incomplete_details"]["reason"])) {
            ("incomplete", "max_output_tokens" | "max_tokens") => StopReason::MaxTokens,
            ("incomplete", "content_filter") => StopReason::Refusal,
            ("incomplete", "") => StopReason::Other("incomplete".to_owned()),
            ("incomplete", reason) => StopReason::Other(reason.to_owned()),
            _ if self.has_refused => StopReason::Refusal,
            _ => StopReason::EndTurn,
        });
        self.is_over = true;
        Ok(())
    }

    /// Takes items that no event showed whole from the end of the stream.
    fn take_rest(&mut self, response: &Value, reply: &mut Assembler) {
        // Without positions, items of the stream cannot be told from those of the whole response.
        if self.items.iter().any(|item| item.index.is_none()) {
            return;
        }
        for (number, item) in response["output"].as_array().into_iter().flatten().enumerate().take(MAX_BLOCKS + 1) {
            let event = json!({ "output_index": number, "item": item });
            if !self.item_of(&event).is_done {
                self.close_item(&event, reply);
            }
        }
    }
}

impl OpenItem {
    /// The block of an event's part. `None` for arguments of a call that is not open: only the whole item has its name.
    fn part(&mut self, event: &Value, kind: PartKind, reply: &mut Assembler) -> Option<usize> {
        let part = part_of(event, kind);
        if let Some(block) = self.blocks.get(&part) {
            return Some(*block);
        }
        let block = match kind {
            PartKind::Text | PartKind::Refusal => reply.open_text(),
            PartKind::Thinking => reply.open_thinking(None),
            PartKind::Arguments => return None,
        };
        self.blocks.insert(part, block);
        Some(block)
    }
}

/// Position and id of an event's item.
fn place_of(event: &Value) -> (Option<u64>, Option<&str>) {
    (event["output_index"].as_u64(), event["item_id"].as_str().or_else(|| event["item"]["id"].as_str()))
}

/// Index of an event's part. Thoughts of an item are one part, and arguments too.
fn part_of(event: &Value, kind: PartKind) -> u64 {
    match kind {
        PartKind::Text | PartKind::Refusal => event["content_index"].as_u64().unwrap_or_default(),
        PartKind::Thinking | PartKind::Arguments => 0,
    }
}

fn open_call(item: &Value, reply: &mut Assembler) -> usize {
    let id = [&item["call_id"], &item["id"]].into_iter().find_map(Value::as_str).filter(|id| !id.is_empty());
    reply.open_call(id.map_or_else(|| own_id("call"), str::to_owned), text(&item["name"]).to_owned())
}

/// A string, else "".
fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// Arguments as text; some servers send the object in place of it.
fn arguments_of(value: &Value) -> String {
    if value.is_object() { value.to_string() } else { text(value).to_owned() }
}

fn count(usage: &Value, reply: &mut Assembler) {
    if usage.is_object() {
        reply.count(Usage {
            input_tokens: usage["input_tokens"].as_u64().unwrap_or_default(),
            output_tokens: usage["output_tokens"].as_u64().unwrap_or_default(),
            cached_tokens: usage["input_tokens_details"]["cached_tokens"].as_u64().unwrap_or_default(),
        });
    }
}
