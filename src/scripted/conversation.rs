//! Reads requests of all protocols: the parts that scripts match, and the checks that real servers make.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::RequestProtocol;

/// Content of a request.
#[derive(Debug, Default)]
pub(crate) struct RequestContent {
    pub(crate) model: String,
    pub(crate) system: String,
    pub(crate) last_user_text: String,
    /// Tool results at the end of the request.
    pub(crate) last_results: Vec<ToolOutcome>,
    /// All tool results, in order.
    pub(crate) results: Vec<ToolOutcome>,
    /// All text, in order, for placeholders.
    pub(crate) all_text: String,
    tools_of_calls: BTreeMap<String, String>,
    /// Calls of the last assistant message without a result so far.
    waiting: BTreeSet<String>,
    /// The request asks for encrypted reasoning (Responses).
    pub(crate) is_sealed: bool,
    /// Reasoning that is not followed by a message or a call yet (Responses).
    reasoning: Option<String>,
}

#[derive(Debug, Clone)]
pub(crate) struct ToolOutcome {
    pub(crate) tool: String,
    pub(crate) text: String,
}

impl RequestContent {
    /// Reads a body; the error is the message of a real server.
    pub(crate) fn read(protocol: RequestProtocol, body: &Value) -> Result<Self, String> {
        let mut read = Self { model: text_of(&body["model"]), ..Self::default() };
        let (system, messages) = match protocol {
            RequestProtocol::Responses => ("instructions", "input"),
            _ => ("system", "messages"),
        };
        read.system = text_of(&body[system]);
        read.all_text = read.system.clone();
        let mut include = body["include"].as_array().into_iter().flatten();
        read.is_sealed = include.any(|what| what == "reasoning.encrypted_content");
        for message in body[messages].as_array().ok_or_else(|| format!("{messages} must be a list"))? {
            match protocol {
                RequestProtocol::Responses => read.item(message)?,
                RequestProtocol::ChatCompletions => read.chat_message(message)?,
                RequestProtocol::Messages => read.anthropic_message(message)?,
            }
        }
        read.all_answered()?;
        read.all_followed()?;
        Ok(read)
    }

    /// An item of Responses.
    fn item(&mut self, item: &Value) -> Result<(), String> {
        let id = text_of(&item["call_id"]);
        match item["type"].as_str().unwrap_or("message") {
            "message" => self.message_item(item),
            "reasoning" => {
                self.all_followed()?;
                self.reasoning = Some(text_of(&item["id"]));
                check_sealed(item)
            }
            "function_call" => {
                self.reasoning = None;
                let arguments = text_of(&item["arguments"]);
                serde_json::from_str::<Value>(&arguments).map_err(|_| "tool call arguments must be JSON")?;
                self.call(&id, &text_of(&item["name"]));
                Ok(())
            }
            "function_call_output" => {
                self.all_followed()?;
                let text = text_of(&item["output"]);
                self.write(&text);
                self.result(&id, text)
            }
            other => Err(format!("unknown item type {other:?}")),
        }
    }

    fn message_item(&mut self, item: &Value) -> Result<(), String> {
        let text = text_of(&item["content"]);
        self.write(&text);
        self.all_answered()?;
        match item["role"].as_str().unwrap_or_default() {
            "assistant" => {
                self.reasoning = None;
                Ok(())
            }
            role => {
                self.all_followed()?;
                match role {
                    "user" => self.user(text),
                    "system" | "developer" => Ok(()),
                    other => Err(format!("unknown role {other:?}")),
                }
            }
        }
    }

    /// Checks that reasoning is followed by what the model did with it.
    fn all_followed(&self) -> Result<(), String> {
        match &self.reasoning {
            Some(id) => {
                Err(format!("item {id:?} of type 'reasoning' was provided without its required following item"))
            }
            None => Ok(()),
        }
    }

    fn chat_message(&mut self, message: &Value) -> Result<(), String> {
        let text = text_of(&message["content"]);
        self.write(&text);
        match message["role"].as_str().unwrap_or_default() {
            "system" | "developer" => self.system = text,
            "user" => self.user(text)?,
            "assistant" => {
                self.all_answered()?;
                for call in message["tool_calls"].as_array().into_iter().flatten() {
                    let arguments = text_of(&call["function"]["arguments"]);
                    serde_json::from_str::<Value>(&arguments).map_err(|_| "tool call arguments must be JSON")?;
                    self.call(&text_of(&call["id"]), &text_of(&call["function"]["name"]));
                }
            }
            "tool" => self.result(&text_of(&message["tool_call_id"]), text)?,
            other => return Err(format!("unknown role {other:?}")),
        }
        Ok(())
    }

    fn anthropic_message(&mut self, message: &Value) -> Result<(), String> {
        let is_user = message["role"] == "user";
        let plain = [serde_json::json!({ "type": "text", "text": message["content"] })];
        let blocks = message["content"].as_array().map_or(&plain[..], Vec::as_slice);
        if !is_user {
            self.all_answered()?;
        }
        for block in blocks {
            self.anthropic_block(block, is_user)?;
        }
        Ok(())
    }

    fn anthropic_block(&mut self, block: &Value, is_user: bool) -> Result<(), String> {
        let text = text_of(&block["text"]);
        match (block["type"].as_str().unwrap_or_default(), is_user) {
            ("text", _) if text.trim().is_empty() => Err("text content blocks must be non-empty".to_owned()),
            ("text", _) => {
                self.write(&text);
                if is_user { self.user(text) } else { Ok(()) }
            }
            ("image", true) | ("redacted_thinking", false) => Ok(()),
            ("tool_result", true) => {
                let text = text_of(&block["content"]);
                self.write(&text);
                self.result(&text_of(&block["tool_use_id"]), text)
            }
            ("tool_use", false) if block["input"].is_object() => {
                self.call(&text_of(&block["id"]), &text_of(&block["name"]));
                Ok(())
            }
            ("thinking", false) => check_thinking(block),
            (kind, _) => Err(format!("a block of type {kind:?} is not allowed here")),
        }
    }

    fn write(&mut self, text: &str) {
        self.all_text.push('\n');
        self.all_text.push_str(text);
    }

    fn user(&mut self, text: String) -> Result<(), String> {
        self.all_answered()?;
        self.last_user_text = text;
        self.last_results.clear();
        Ok(())
    }

    fn call(&mut self, id: &str, tool: &str) {
        self.last_results.clear();
        self.tools_of_calls.insert(id.to_owned(), tool.to_owned());
        self.waiting.insert(id.to_owned());
    }

    fn result(&mut self, id: &str, text: String) -> Result<(), String> {
        let tool = self.tools_of_calls.get(id).ok_or_else(|| format!("no call has the id {id:?}"))?.clone();
        if !self.waiting.remove(id) {
            return Err(format!("the call {id:?} has a result already"));
        }
        let result = ToolOutcome { tool, text };
        self.last_results.push(result.clone());
        self.results.push(result);
        Ok(())
    }

    /// Checks that every call is directly followed by its result.
    fn all_answered(&self) -> Result<(), String> {
        match self.waiting.first() {
            Some(id) => Err(format!("the call {id:?} must be followed by its result")),
            None => Ok(()),
        }
    }
}

/// Signature of a thinking block, which must come back with it.
pub(crate) fn signature(thinking: &str) -> String {
    // FNV-1a is enough, as there is no protection against forgery.
    let hash = thinking
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    format!("scripted-{hash:016x}")
}

fn check_thinking(block: &Value) -> Result<(), String> {
    let is_ours = block["signature"] == signature(&text_of(&block["thinking"]));
    if is_ours { Ok(()) } else { Err("invalid signature in thinking block".to_owned()) }
}

fn check_sealed(item: &Value) -> Result<(), String> {
    let is_ours = item["encrypted_content"] == signature(&text_of(&item["summary"]));
    if is_ours { Ok(()) } else { Err("the encrypted content of a reasoning item could not be verified".to_owned()) }
}

/// Returns a string, or the joined texts of a list of parts.
fn text_of(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            let texts: Vec<&str> = parts.iter().filter_map(|part| part["text"].as_str()).collect();
            texts.join("\n")
        }
        _ => String::new(),
    }
}
