//! Calls of outside assistants: requested for them, and waited on.

use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use notarium_core::{Actor, Millis, NotebookId, RawObject, Rejection, Risk, TokenId, ToolCallId};

/// A call that is wanted.
#[derive(Debug, Clone)]
pub struct WantedCall {
    pub function: String,
    pub arguments: RawObject,
    /// Of the conversation, if this call is its first.
    pub title: Option<String>,
    /// The token that the assistant's client has shown.
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
    /// It is over.
    Ended {
        call_id: ToolCallId,
        /// The result for the model.
        text: String,
        /// It failed, was refused, denied, voided, withdrawn, expired, or nobody knows how it ended.
        is_error: bool,
        /// PNG, of `get_cell_image`.
        image: Option<Bytes>,
    },
    /// For a person.
    Waiting { call_id: ToolCallId, risk: Risk, reasons: Vec<String>, expires_at: Option<Millis> },
    /// It has started and goes on.
    Running { call_id: ToolCallId },
}
