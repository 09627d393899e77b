//! What carries assistants on: it listens to the log through the [`Door`], and does the next step of every unfinished turn and
//! of every tool call, whoever asked for it (a chat, a prompt cell, an outside assistant).

use bytes::Bytes;
use notarium_core::{Millis, Risk, ToolCallId};

/// How a call stands when the one who asked hears of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Called {
    /// It is over.
    Ended {
        call_id: ToolCallId,
        /// What the model is told.
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
