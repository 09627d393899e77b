//! What an assistant answered in a prompt cell. The reply stays with its prompt, as outputs stay with a code cell; asked
//! again, the cell shows the new one, and the older ones are in the record.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::cells::check_source;
use crate::conversations::{MessageBlock, MessageRole, StopReason, Turn};
use crate::event::{CellDeleted, MessagePosted, TurnStarted};
use crate::ids::{CellId, TurnId};
use crate::limits::Limits;
use crate::notebook::{Cell, CellContent, CellType, Notebook};
use crate::rejection::{Rejection, RejectionCode};

/// Text of a reply that the state holds. The conversation's messages hold all of it.
pub const MAX_REPLY_BYTES: usize = 256 << 10;
/// Stands at the end of a text that was cut.
pub const REPLY_CUT: &str = "\n\n[The reply is longer: the conversation holds all of it.]";
/// Replies of cells that were deleted while the assistant was answering.
const MAX_IN_TRASH: usize = 100;

/// How a reply stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReplyStatus {
    Running,
    Finished,
    /// A person stopped it.
    Stopped,
    /// `cause` says why.
    Failed,
}

/// What an assistant has answered to a prompt cell, as far as it has come.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Reply {
    /// The turn that gave it; absent: a file or another notebook brought it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn_id: Option<TurnId>,
    pub status: ReplyStatus,
    /// Why the model stopped, when it finished.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop_reason: Option<StopReason>,
    /// Why there is no more of it, when it failed or was cut off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<String>,
    /// The cell's source when it was asked: another one now means that the reply is stale.
    pub prompt: Arc<str>,
    /// The texts of the turn's messages so far, with an empty line between them. At most [`MAX_REPLY_BYTES`] and the words
    /// that say that it was cut.
    pub text: String,
}

impl Reply {
    fn add(&mut self, text: &str) {
        if text.is_empty() || self.text.ends_with(REPLY_CUT) {
            return;
        }
        if !self.text.is_empty() {
            self.text.push_str("\n\n");
        }
        self.text.push_str(text);
        self.cut();
    }

    fn cut(&mut self) {
        if self.text.len() > MAX_REPLY_BYTES && !self.text.ends_with(REPLY_CUT) {
            self.text.truncate(self.text.floor_char_boundary(MAX_REPLY_BYTES));
            self.text.push_str(REPLY_CUT);
        }
    }
}

/// A reply that comes with its cell from a file or another notebook: nobody is answering it here.
pub(crate) fn brought(limits: &Limits, cell_type: CellType, reply: Reply) -> Result<Arc<Reply>, Rejection> {
    if cell_type != CellType::Prompt {
        let message = "only a prompt cell has a reply: leave it out, or insert a prompt cell";
        return Err(Rejection::new(RejectionCode::InvalidValue, message));
    }
    check_source(limits, &reply.prompt)?;
    let mut reply = Reply { turn_id: None, ..reply };
    reply.cause = reply.cause.map(|cause| limits.cause(&cause));
    if reply.status == ReplyStatus::Running {
        stop(&mut reply, "the assistant was still answering when this was copied");
    }
    reply.cut();
    Ok(Arc::new(reply))
}

fn stop(reply: &mut Reply, cause: &str) {
    reply.status = ReplyStatus::Stopped;
    reply.cause = Some(cause.to_owned());
}

/// The reply with which a deleted cell comes back: what became of it meanwhile.
pub(crate) fn come_back(notebook: &Notebook, cell_id: &CellId, deleted: &CellContent) -> Option<Arc<Reply>> {
    let mut reply = notebook.replies_in_trash.get(cell_id).or(deleted.reply.as_ref())?.clone();
    let goes_on = reply.turn_id.as_ref().is_some_and(|turn_id| notebook.turns.contains_key(turn_id));
    if reply.status == ReplyStatus::Running && !goes_on {
        stop(Arc::make_mut(&mut reply), "the cell was deleted meanwhile: the conversation holds the whole reply");
    }
    Some(reply)
}

// --- apply ---

pub(crate) fn begin(notebook: &mut Notebook, event: &TurnStarted) {
    let Some(cell) = event.cell_id.as_ref().and_then(|cell_id| notebook.cells.get_mut(cell_id)) else { return };
    let cell = Arc::make_mut(cell);
    cell.content.reply = Some(Arc::new(Reply {
        turn_id: Some(event.turn_id.clone()),
        status: ReplyStatus::Running,
        stop_reason: None,
        cause: None,
        prompt: cell.content.source.as_str().into(),
        text: String::new(),
    }));
}

pub(crate) fn extend(notebook: &mut Notebook, event: &MessagePosted) {
    let Some(turn_id) = event.turn_id.as_ref().filter(|_| event.role == MessageRole::Assistant) else { return };
    let Some(cell_id) = notebook.turns.get(turn_id).and_then(|turn| turn.cell_id.clone()) else { return };
    let texts = event.blocks.iter().filter_map(|block| match block {
        MessageBlock::Text { text } => Some(text.as_str()),
        _ => None,
    });
    let text: String = texts.collect();
    change(notebook, &cell_id, turn_id, |reply| reply.add(&text));
}

/// The turn has ended.
pub(crate) fn end(notebook: &mut Notebook, turn_id: &TurnId, turn: &Turn, with: impl FnOnce(&mut Reply)) {
    if let Some(cell_id) = &turn.cell_id {
        change(notebook, cell_id, turn_id, with);
    }
}

/// A reply whose turn goes on is followed while its cell is in the trash.
pub(crate) fn follow_deleted(notebook: &mut Notebook, event: &CellDeleted) {
    let Some(reply) = event.cell.reply.as_ref().filter(|reply| reply.status == ReplyStatus::Running) else { return };
    notebook.replies_in_trash.insert(event.cell_id.clone(), reply.clone());
    if notebook.replies_in_trash.len() > MAX_IN_TRASH {
        notebook.replies_in_trash.pop_first();
    }
}

/// Changes the reply that this turn gives, wherever it is. The cell may show another turn's by now.
fn change(notebook: &mut Notebook, cell_id: &CellId, turn_id: &TurnId, with: impl FnOnce(&mut Reply)) {
    let is_its = |reply: &Arc<Reply>| reply.turn_id.as_ref() == Some(turn_id);
    let shown = |cell: &&mut Arc<Cell>| cell.content.reply.as_ref().is_some_and(is_its);
    if let Some(cell) = notebook.cells.get_mut(cell_id).filter(shown) {
        if let Some(reply) = &mut Arc::make_mut(cell).content.reply {
            with(Arc::make_mut(reply));
        }
    } else if let Some(reply) = notebook.replies_in_trash.get_mut(cell_id).filter(|reply| is_its(reply)) {
        with(Arc::make_mut(reply));
    }
}
