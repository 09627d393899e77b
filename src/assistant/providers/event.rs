//! What a model call streams.

use std::time::Duration;

use super::error::ProviderError;
use super::reply::Reply;

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
