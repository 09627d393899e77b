//! Requests to a model and its answers, in a vendor-neutral form. Serializable, so that a turn can be recorded.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// One model call.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// The model's name as its provider spells it.
    pub model: String,
    /// The system text; empty for none.
    pub system: String,
    pub messages: Vec<Message>,
    pub tools: Vec<ToolDeclaration>,
    /// Most tokens of the reply, thinking included.
    pub max_tokens: u32,
    /// The conversation: calls under the same key find their common beginning in the provider's cache.
    pub cache_key: Option<String>,
}

/// A tool as the model sees it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolDeclaration {
    pub name: String,
    pub description: String,
    /// JSON Schema of the arguments, an object.
    pub schema: Value,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SpeakerRole {
    /// Messages of people, and results of tools.
    User,
    Assistant,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    pub role: SpeakerRole,
    pub blocks: Vec<Block>,
}

impl Message {
    /// A person's text.
    pub fn user(text: impl Into<String>) -> Self {
        Self { role: SpeakerRole::User, blocks: vec![Block::text(text)] }
    }

    /// The model's answer, as [`super::ModelReply`] holds it.
    pub fn assistant(blocks: Vec<Block>) -> Self {
        Self { role: SpeakerRole::Assistant, blocks }
    }

    /// The results of the calls of the assistant's last message, all of them.
    pub fn results(results: Vec<ToolResult>) -> Self {
        Self { role: SpeakerRole::User, blocks: results.into_iter().map(Block::ToolResult).collect() }
    }
}

/// A part of a message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Block {
    Text {
        text: String,
    },
    /// An image. In messages of the role user only.
    Image {
        /// MIME type, such as `image/png`.
        media_type: String,
        /// Base64 with padding.
        base64: String,
    },
    Thinking(Thinking),
    ToolCall(ToolCall),
    ToolResult(ToolResult),
}

impl Block {
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text { text: text.into() }
    }

    /// True if a block that grows has no text.
    pub(super) fn is_blank(&self) -> bool {
        match self {
            Self::Text { text } => text.is_empty(),
            Self::Thinking(thinking) => thinking.text.is_empty(),
            Self::ToolCall(call) => call.arguments.text.is_empty(),
            Self::Image { .. } | Self::ToolResult(_) => false,
        }
    }
}

/// Thinking of a model. It is sent back unchanged, and only to the model that produced it: its signature covers both.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Thinking {
    /// May be empty despite a signature: some models hide the text.
    pub text: String,
    pub signature: Option<String>,
    /// The data of a block that its provider encrypted; `text` is empty then.
    pub redacted: Option<String>,
    /// The provider's id of encrypted reasoning, which finds [`Self::sealed`] again.
    pub id: Option<String>,
    /// Encrypted reasoning (Responses). It is kept in memory while its turn lasts: it is never serialized, so never recorded.
    #[serde(skip)]
    #[serialize_always]
    pub sealed: Option<String>,
    /// `provider/model` that produced it.
    pub origin: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCall {
    /// The provider's id, unique within the conversation.
    pub id: String,
    pub name: String,
    pub arguments: CallArguments,
    /// JSON text of other data that the provider attached and expects back unchanged (Gemini's thought signature).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extra: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolResult {
    pub call_id: String,
    pub text: String,
    pub is_error: bool,
}

/// The arguments of a call exactly as the model wrote them, which need not be JSON.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CallArguments {
    text: String,
}

impl CallArguments {
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into() }
    }

    pub(super) fn push(&mut self, text: &str) {
        self.text.push_str(text);
    }

    /// The arguments as written; `{}` if the model wrote none, as models do for tools without arguments.
    pub fn text(&self) -> &str {
        if self.text.trim().is_empty() { "{}" } else { &self.text }
    }

    /// The arguments as a JSON object. The error is a sentence for the model.
    pub fn parse(&self) -> Result<Map<String, Value>, String> {
        serde_json::from_str(self.text()).map_err(|error| {
            format!("The arguments are not a JSON object ({error}). Call the tool again with valid JSON.")
        })
    }
}
