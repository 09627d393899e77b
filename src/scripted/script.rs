//! The script: its format, and the selection of a reply.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::Value;

use crate::StopReason;
use crate::conversation::Conversation;

/// A script; the crate's documentation explains each field.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Script {
    pub key: Option<String>,
    #[serde(default)]
    pub models: Vec<String>,
    pub replies: Vec<Rule>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    pub when: Option<When>,
    pub times: Option<u32>,
    pub reply: ScriptedReply,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct When {
    pub user: Option<String>,
    pub after_tool: Option<String>,
    pub result: Option<String>,
    pub model: Option<String>,
    pub system: Option<String>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ScriptedReply {
    pub thinking: Option<String>,
    pub text: Option<String>,
    pub calls: Vec<ScriptedCall>,
    pub blocks: Vec<ScriptedBlock>,
    pub stop: Option<StopReason>,
    pub usage: Option<ScriptedUsage>,
    pub raw: Option<String>,
    pub piece_characters: Option<usize>,
    pub chunk_bytes: Option<usize>,
    pub chunks: Option<Vec<usize>>,
    pub delay_ms: u64,
    pub chunk_delay_ms: u64,
    pub cut_after_bytes: Option<usize>,
    pub hang_after_bytes: Option<usize>,
    pub malformed_event: Option<usize>,
    pub error_event: Option<String>,
    pub status: Option<u16>,
    pub retry_after: Option<String>,
    pub body: Option<Value>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScriptedCall {
    pub name: String,
    pub id: Option<String>,
    pub arguments: Option<Value>,
    pub raw_arguments: Option<String>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ScriptedBlock {
    Thinking(String),
    Text(String),
    Call(ScriptedCall),
}

#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScriptedUsage {
    pub input_tokens: u64,
    pub output_tokens: u64,
}

/// Reason why a script cannot be loaded.
#[derive(Debug, thiserror::Error)]
pub enum ScriptError {
    #[error("The script {path} cannot be read: {error}")]
    Unreadable { path: PathBuf, error: std::io::Error },
    #[error("The script is not as documented: {0}")]
    Malformed(#[from] serde_json::Error),
}

impl Script {
    pub fn parse(text: &str) -> Result<Self, ScriptError> {
        Ok(serde_json::from_str(text)?)
    }

    pub fn from_file(path: &Path) -> Result<Self, ScriptError> {
        let text = std::fs::read_to_string(path);
        Self::parse(&text.map_err(|error| ScriptError::Unreadable { path: path.to_owned(), error })?)
    }

    /// Creates a queue of replies, each used once, for any request.
    pub fn of(replies: impl IntoIterator<Item = ScriptedReply>) -> Self {
        let rule = |reply| Rule { reply, ..Rule::default() };
        Self { replies: replies.into_iter().map(rule).collect(), ..Self::default() }
    }
}

impl Rule {
    /// Returns how often this rule may answer.
    fn limit(&self) -> u32 {
        self.times.unwrap_or(if self.when.is_some() { u32::MAX } else { 1 })
    }
}

impl When {
    fn matches(&self, asked: &Conversation) -> bool {
        has(&asked.model, self.model.as_deref())
            && has(&asked.system, self.system.as_deref())
            && has(&asked.last_user_text, self.user.as_deref())
            && self.fits_the_end(asked)
    }

    fn fits_the_end(&self, asked: &Conversation) -> bool {
        let Some(tool) = &self.after_tool else {
            return (self.user.is_none() || asked.last_results.is_empty()) && self.result.is_none();
        };
        let mut results = asked.last_results.iter().filter(|result| tool == "*" || *tool == result.tool);
        results.any(|result| has(&result.text, self.result.as_deref()))
    }
}

fn has(text: &str, wanted: Option<&str>) -> bool {
    wanted.is_none_or(|wanted| text.to_lowercase().contains(&wanted.to_lowercase()))
}

/// A script with its state.
#[derive(Debug)]
pub(crate) struct Play {
    pub(crate) script: Script,
    /// Number of answers so far, by rule.
    used: Vec<u32>,
}

impl Play {
    pub(crate) fn new(script: Script) -> Self {
        let used = vec![0; script.replies.len()];
        Self { script, used }
    }

    /// Returns the reply of the first matching rule, and counts its use.
    pub(crate) fn answer(&mut self, asked: &Conversation) -> Option<ScriptedReply> {
        let rules = self.script.replies.iter().zip(&mut self.used);
        let (rule, used) = rules
            .into_iter()
            .find(|(rule, used)| **used < rule.limit() && rule.when.as_ref().is_none_or(|when| when.matches(asked)))?;
        *used += 1;
        Some(rule.reply.clone())
    }
}
