//! What a model answers: as it streams, and whole.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::error::ProviderError;
use super::message::Block;

/// `block` is a position in [`Reply::blocks`]. Blocks may be interleaved: parallel calls can grow side by side.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// An attempt failed before anything was handed out; the next begins after `wait`.
    AttemptFailed {
        /// Counts from 1.
        attempt: u32,
        error: ProviderError,
        wait: Duration,
    },
    TextDelta {
        block: usize,
        text: String,
    },
    ThinkingDelta {
        block: usize,
        text: String,
    },
    ToolCallStarted {
        block: usize,
        id: String,
        name: String,
    },
    /// The next characters of the arguments: JSON only when all are there.
    ArgumentsDelta {
        block: usize,
        text: String,
    },
    /// The block is whole, but a call in it must not be executed before [`Event::Finished`]: the stream may still be cut.
    BlockStop {
        block: usize,
    },
    /// The last event: everything, for the record.
    Finished(Reply),
}

/// A whole answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Reply {
    pub blocks: Vec<Block>,
    pub stop: StopReason,
    /// Absent where the provider reports none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// The attempt that succeeded, from 1.
    pub attempts: u32,
}

/// Why a model stopped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    EndTurn,
    ToolUse,
    /// Its last block may be cut: a call's arguments then do not parse.
    MaxTokens,
    Refusal,
    /// In the provider's word.
    Other(String),
}

/// Tokens of one call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Usage {
    /// All that was read, cached or not.
    pub input_tokens: u64,
    /// All that was written, thinking included.
    pub output_tokens: u64,
    /// The part of `input_tokens` that came from the provider's cache.
    #[serde(default)]
    pub cached_tokens: u64,
}
