//! Calls of outside assistants: requests them, and waits for them.

use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use notarium_core::{Actor, Millis, NotebookId, RawObject, Rejection, Risk, TokenId, ToolCallId};

/// A call to request.
#[derive(Debug, Clone)]
pub struct WantedCall {
    pub function: String,
    pub arguments: RawObject,
    /// Title of the conversation, if this call is its first.
    pub title: Option<String>,
    /// The token of the assistant's client.
    pub token: Option<TokenId>,
}

/// Requests tool calls for assistants, and waits for them.
#[async_trait]
pub trait Caller: Send + Sync + 'static {
    /// Requests a call for the assistant `actor`, and waits until it has ended, waits for a person, or `patience` is over.
    async fn call(
        &self,
        actor: &Actor,
        notebook: &NotebookId,
        wanted: WantedCall,
        patience: Duration,
    ) -> Result<Called, Rejection>;

    /// Waits on a call that was requested before, until it has ended or `patience` is over.
    async fn await_call(
        &self,
        actor: &Actor,
        notebook: &NotebookId,
        call_id: &ToolCallId,
        patience: Duration,
    ) -> Result<Called, Rejection>;
}

/// The state of a call when its caller gets the answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Called {
    /// The call is over.
    Ended {
        call_id: ToolCallId,
        /// The result for the model.
        text: String,
        /// The call failed, was refused, denied, voided, withdrawn, expired, or its outcome is unknown.
        is_error: bool,
        /// PNG, set for `get_cell_image`.
        image: Option<Bytes>,
    },
    /// The call waits for a person.
    Waiting { call_id: ToolCallId, risk: Risk, reasons: Vec<String>, expires_at: Option<Millis> },
    /// The call has started and goes on.
    Running { call_id: ToolCallId },
}
