//! A complete answer of a model.

use serde::{Deserialize, Serialize};

use super::message::Block;

/// A complete answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Reply {
    pub blocks: Vec<Block>,
    pub stop: StopReason,
    /// Absent if the provider reports none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// The attempt that succeeded, from 1.
    pub attempts: u32,
}

/// Reason why a model stopped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    EndTurn,
    ToolUse,
    /// Token limit. The last block may be cut: a call's arguments then do not parse.
    MaxTokens,
    Refusal,
    /// Any other reason, in the provider's word.
    Other(String),
}

/// Tokens of one call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens read, cached or not.
    pub input_tokens: u64,
    /// Tokens written, thinking included.
    pub output_tokens: u64,
    /// The part of `input_tokens` that came from the provider's cache.
    #[serde(default)]
    pub cached_tokens: u64,
}
