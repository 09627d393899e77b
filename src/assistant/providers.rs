//! Model providers behind one trait: OpenAI and every compatible endpoint, Anthropic's own protocol, and a scripted
//! server that speaks all three protocols.
//!
//! A call goes `Request` → [`ModelProvider::stream`] → [`Event`]s → [`Event::Finished`] with the whole [`ModelReply`]. Differences of
//! providers and models are data ([`Capabilities`]), never an `if` on a vendor's name elsewhere.
//!
//! Keys come from the environment or from a secret file ([`ProviderSettings`]).

mod anthropic;
mod call;
mod capabilities;
mod error;
mod message;
mod openai;
mod reply;
mod responses;
mod settings;
mod transport;

use std::pin::Pin;

use futures_util::Stream;

pub use call::{RetryPolicy, connect, connect_with};
pub use capabilities::{Capabilities, Family, Protocol, TokenCounting};
pub use error::{CallFailure, ProviderError};
pub use message::{
    Block, CallArguments, Message, Request, SpeakerRole, Thinking, ToolCall, ToolDeclaration, ToolResult,
};
pub use reply::{Event, ModelReply, StopReason, Usage};
pub use settings::{ProviderSettings, Secret, SecretError, SetupError};
pub use transport::CallLimits;

/// The stream of a model call. Ends after [`Event::Finished`] or after the first error.
pub type EventStream = Pin<Box<dyn Stream<Item = Result<Event, CallFailure>> + Send>>;

/// A pending count: see [`ModelProvider::count_tokens`].
pub type Counting = Pin<Box<dyn Future<Output = Result<Option<u64>, ProviderError>> + Send>>;

/// One endpoint that answers model calls.
pub trait ModelProvider: Send + Sync {
    /// The name under which calls are recorded, for instance `anthropic`.
    fn name(&self) -> &str;

    /// The model that is used if the caller names none.
    fn default_model(&self) -> &str;

    /// Capabilities of a model of this provider.
    fn capabilities(&self, model: &str) -> Capabilities;

    /// Calls the model. The request is sent when the stream is first polled; dropping the stream cancels it.
    ///
    /// Attempts that failed before anything was handed out are retried, announced as [`Event::AttemptFailed`].
    fn stream(&self, request: Request) -> EventStream;

    /// The tokens of `request` by the provider's own count, without retries. `None` if the provider does not count;
    /// then only [`TokenCounting::estimate`] is available.
    fn count_tokens(&self, request: Request) -> Counting;
}
