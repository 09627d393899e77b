//! Reply that a prompt cell shows, folded from the events of its turn.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::cause::{TurnFailure, sentence};
use crate::event::{Event, MessagePosted};
use crate::ids::TurnId;
use crate::message::{MessageBlock, MessageRole, StopReason};
use crate::open::Open;
use crate::reply::{CellReply, ReplyStatus};

/// Reply of an assistant that a prompt cell shows, as far as it is recorded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Reply {
    /// The turn that gives the reply. Absent: the reply came from a file or another notebook.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn_id: Option<TurnId>,
    /// The reply's status.
    pub status: Open<ReplyStatus>,
    /// The reason why the model stopped, for the status `finished`. Absent otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop_reason: Option<Open<StopReason>>,
    /// The cause if the reply failed or was cut off. Absent otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<Open<TurnFailure>>,
    /// More about the cause, in a sentence for people. Absent: the cause is all that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// The cell's source at the start of the turn. If the cell's source differs now, the reply is stale.
    pub prompt: Arc<str>,
    /// The texts of the turn's messages so far, separated by empty lines.
    pub text: String,
    /// True: the conversation's messages have more text than `text`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_cut: bool,
}

impl Reply {
    /// Reply of a turn that has just begun.
    pub fn begin(turn_id: &TurnId, prompt: &str) -> Self {
        Self {
            turn_id: Some(turn_id.clone()),
            status: ReplyStatus::Running.into(),
            stop_reason: None,
            cause: None,
            detail: None,
            prompt: prompt.into(),
            text: String::new(),
            is_cut: false,
        }
    }

    /// Folds in one event of its turn.
    pub fn advance(&mut self, event: &Event) {
        match event {
            Event::MessagePosted(event) if event.role == MessageRole::Assistant => self.add(event),
            Event::TurnFinished(event) => {
                self.status = ReplyStatus::Finished.into();
                self.stop_reason = Some(event.stop_reason.clone());
            }
            Event::TurnCancelled(_) => self.status = ReplyStatus::Stopped.into(),
            Event::TurnFailed(event) => {
                self.status = ReplyStatus::Failed.into();
                self.cause = Some(event.cause.clone());
                self.detail.clone_from(&event.detail);
            }
            _ => {}
        }
    }

    /// Sentence for people: why the reply has no more text.
    pub fn end_sentence(&self) -> Option<String> {
        self.cause.as_ref().map(|cause| sentence(cause, self.detail.as_deref()))
    }

    fn add(&mut self, event: &MessagePosted) {
        let texts = event.blocks.iter().filter_map(|block| match block.known()? {
            MessageBlock::Text { text } => Some(text.as_str()),
            _ => None,
        });
        let whole: String = texts.collect();
        let shown = event.reply_units.map_or(&*whole, |units| first_units(&whole, units));
        self.is_cut |= shown.len() < whole.len();
        if !self.text.is_empty() && !shown.is_empty() {
            self.text.push_str("\n\n");
        }
        self.text.push_str(shown);
    }
}

/// Beginning of a text, at most `units` UTF-16 code units long.
fn first_units(text: &str, units: usize) -> &str {
    let bytes = str_indices::utf16::to_byte_idx(text, units);
    &text[..text.floor_char_boundary(bytes)]
}

impl From<&CellReply> for Reply {
    fn from(reply: &CellReply) -> Self {
        let CellReply { turn_id, status, stop_reason, cause, detail, prompt, text, is_cut } = reply.clone();
        Self { turn_id, status, stop_reason, cause, detail, prompt, text, is_cut }
    }
}

impl From<&Reply> for CellReply {
    fn from(reply: &Reply) -> Self {
        let Reply { turn_id, status, stop_reason, cause, detail, prompt, text, is_cut } = reply.clone();
        Self { turn_id, status, stop_reason, cause, detail, prompt, text, is_cut }
    }
}
