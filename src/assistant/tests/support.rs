//! A scripted server, a provider that calls it, and the result of a call.

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use notarium_assistant::providers::{
    Block, CallFailure, CallLimits, Event, Family, Message, ModelProvider, ModelReply, Protocol, ProviderError,
    ProviderSettings, Request, RetryPolicy, ToolCall, ToolDeclaration, connect_with,
};
use notarium_scripted::{Script, ScriptedReply, ScriptedServer};

pub const KEY: &str = "planted-key-0123456789";

/// A family, and the protocol if it is not the default of a compatible server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Spoken {
    pub family: Family,
    pub protocol: Option<Protocol>,
}

pub const CHAT: Spoken = Spoken { family: Family::OpenAi, protocol: None };
pub const MESSAGES: Spoken = Spoken { family: Family::Anthropic, protocol: None };
pub const RESPONSES: Spoken = Spoken { family: Family::OpenAi, protocol: Some(Protocol::Responses) };
/// One family for each protocol.
pub const FAMILIES: [Spoken; 3] = [CHAT, MESSAGES, RESPONSES];

impl Spoken {
    /// Bytes of a stream of `length` at which tests cut it. Responses are verbose: every seventh byte is enough.
    pub fn places(self, length: usize) -> Vec<usize> {
        let step = if self == RESPONSES { 7 } else { 1 };
        (0..length).step_by(step).chain([length]).collect()
    }
}

impl From<Family> for Spoken {
    fn from(family: Family) -> Self {
        Self { family, protocol: None }
    }
}

/// Pauses that are short enough for tests in real time.
pub const FAST_RETRY: RetryPolicy = RetryPolicy {
    max_attempts: 4,
    first_wait: Duration::from_millis(1),
    max_wait: Duration::from_millis(4),
    max_retry_after: Duration::from_secs(60),
};

pub struct Call {
    pub server: ScriptedServer,
    pub provider: Arc<dyn ModelProvider>,
}

impl Call {
    pub async fn of(family: impl Into<Spoken>, script: Script) -> Self {
        Self::with(family, script, FAST_RETRY, CallLimits::default()).await
    }

    pub async fn once(family: impl Into<Spoken>, reply: ScriptedReply) -> Self {
        Self::with(family, Script::of([reply]), RetryPolicy::never(), CallLimits::default()).await
    }

    pub async fn with(family: impl Into<Spoken>, script: Script, retry: RetryPolicy, limits: CallLimits) -> Self {
        let Spoken { family, protocol } = family.into();
        let server = ScriptedServer::start(script).await.unwrap();
        let settings = ProviderSettings {
            base_url: Some(server.base_url()),
            model: Some("scripted-1".into()),
            protocol,
            encrypted_reasoning: Some(true),
            ..ProviderSettings::new(family)
        };
        let provider = connect_with(&settings, |_| Some(KEY.to_owned()), retry, limits).unwrap();
        Self { server, provider }
    }

    pub async fn run(&self, request: Request) -> Run {
        run(&*self.provider, request).await
    }

    /// Sends any question.
    pub async fn ask(&self) -> Run {
        self.run(request("hello")).await
    }
}

/// Events of a call's stream, and its result.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    /// All events but the last, [`Event::Finished`].
    pub events: Vec<Event>,
    pub end: Result<ModelReply, CallFailure>,
}

impl Run {
    pub fn reply(&self) -> &ModelReply {
        self.end.as_ref().unwrap_or_else(|failure| panic!("the call failed: {failure:?}"))
    }

    pub fn failure(&self) -> &CallFailure {
        self.end.as_ref().expect_err("the call succeeded")
    }
}

pub async fn run(provider: &dyn ModelProvider, request: Request) -> Run {
    let mut stream = provider.stream(request);
    let mut events = Vec::new();
    while let Some(item) = stream.next().await {
        let end = match item {
            Ok(Event::Finished(reply)) => Ok(reply),
            Ok(event) => {
                events.push(event);
                continue;
            }
            Err(failure) => Err(failure),
        };
        assert!(stream.next().await.is_none(), "nothing follows the end");
        return Run { events, end };
    }
    panic!("the stream ended without an end: {events:?}");
}

pub fn request(text: &str) -> Request {
    Request {
        model: "scripted-1".into(),
        system: "Be brief.".into(),
        messages: vec![Message::user(text)],
        tools: vec![tool("get_notebook_state"), tool("delete_cell")],
        max_tokens: 1_000,
        cache_key: None,
    }
}

/// The name of the error's variant.
pub fn kind(error: &ProviderError) -> String {
    format!("{error:?}").split([' ', '{']).next().unwrap_or_default().to_owned()
}

pub fn tool(name: &str) -> ToolDeclaration {
    let schema = serde_json::json!({ "type": "object", "properties": {} });
    ToolDeclaration { name: name.into(), description: format!("Does {name}."), schema }
}

pub fn text(text: &str) -> ScriptedReply {
    ScriptedReply { text: Some(text.into()), ..ScriptedReply::default() }
}

pub fn status(status: u16) -> ScriptedReply {
    ScriptedReply { status: Some(status), ..ScriptedReply::default() }
}

/// Thinking, text and two calls, with characters of one to four bytes.
pub fn rich() -> ScriptedReply {
    let call = |name: &str, arguments: serde_json::Value| notarium_scripted::ScriptedCall {
        name: name.into(),
        arguments: Some(arguments),
        ..Default::default()
    };
    ScriptedReply {
        thinking: Some("Hm – naïve?".into()),
        text: Some("Zwölf \"Töne\" 🎵\n\n".into()),
        calls: vec![
            call("get_notebook_state", serde_json::json!({})),
            call("delete_cell", serde_json::json!({ "cell_id": "c1 ключ", "n": 12 })),
        ],
        piece_characters: Some(4),
        ..ScriptedReply::default()
    }
}

/// A short stream with all kinds of blocks, the same for every request.
pub fn small() -> ScriptedReply {
    let call = notarium_scripted::ScriptedCall {
        name: "run".into(),
        id: Some("call_x".into()),
        arguments: Some(serde_json::json!({ "id": "ключ" })),
        ..Default::default()
    };
    ScriptedReply {
        thinking: Some("naïve?".into()),
        text: Some("\"Töne\" 🎵".into()),
        calls: vec![call],
        piece_characters: Some(20),
        ..ScriptedReply::default()
    }
}

/// Parts of a reply that tests check.
pub trait ReplyParts {
    /// The calls in the order of their execution.
    fn calls(&self) -> impl Iterator<Item = &ToolCall>;
    /// All text.
    fn text(&self) -> String;
}

impl ReplyParts for ModelReply {
    fn calls(&self) -> impl Iterator<Item = &ToolCall> {
        self.blocks.iter().filter_map(|block| match block {
            Block::ToolCall(call) => Some(call),
            _ => None,
        })
    }

    fn text(&self) -> String {
        let texts = self.blocks.iter().filter_map(|block| match block {
            Block::Text { text } => Some(text.as_str()),
            _ => None,
        });
        texts.collect()
    }
}
