//! What a decision needs from the past, named as data, so that the core stays pure and the state small.

use crate::envelope::Recorded;
use crate::event::Event;
use crate::ids::{CellId, ConversationId, ExecutionId, ToolCallId, Version};
use crate::text::ChangeSet;

/// What [`crate::needs`] asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HistoryQuery {
    /// All events about these cells after `since`; with `with_notebook` also those about the notebook as a whole. For
    /// each `CellDeleted` among them that names an execution: every event of that execution, whatever its version.
    Cells { cells: Vec<CellId>, since: Version, with_notebook: bool },
    /// The last `CellDeleted` of the cell, and every event of the execution that it names.
    DeletedCell { cell_id: CellId },
    /// Every event of one tool call.
    ToolCall { call_id: ToolCallId },
    /// Every event that names this conversation: its beginning, its messages, the beginnings of its turns.
    Conversation { conversation_id: ConversationId },
    /// Every event of one execution.
    Execution { execution_id: ExecutionId },
}

/// The answers to all queries together: each event once, in the order of versions. Empty when nothing was asked.
#[derive(Debug, Clone, Default)]
pub struct History {
    pub events: Vec<Recorded>,
}

/// The changes of a cell's text after `base`, in order. An insertion of the cell after `base` starts afresh.
pub(crate) fn edits_after<'a>(history: &'a History, cell_id: &CellId, base: Version) -> Vec<&'a ChangeSet> {
    let mut edits = Vec::new();
    for recorded in history.events.iter().filter(|recorded| recorded.envelope.version > base) {
        match &recorded.event {
            Event::CellSourceEdited(event) if event.cell_id == *cell_id => edits.push(&event.change),
            Event::CellInserted(event) if event.cell_id == *cell_id => edits.clear(),
            _ => {}
        }
    }
    edits
}
