//! Events of a model call's stream.

use std::time::Duration;

use super::error::ProviderError;
use super::reply::Reply;

/// Event of a stream. `block` is an index in [`Reply::blocks`]. Blocks may be interleaved: parallel calls can grow side by side.
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
    /// The next characters of the arguments, which are valid JSON only when complete.
    ArgumentsDelta {
        block: usize,
        text: String,
    },
    /// The block is complete, but a call in it must not be executed before [`Event::Finished`]: the stream may still be cut.
    BlockStop {
        block: usize,
    },
    /// The last event: the whole reply, for the record.
    Finished(Reply),
}
