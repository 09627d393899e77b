//! Questions to the past of one notebook, named as data: a decision asks them, a store answers them by its indexes.

use std::sync::Arc;

use crate::envelope::{Envelope, Recorded, Stored};
use crate::event::Event;
use crate::ids::{CellId, ConversationId, ExecutionId, ToolCallId, TurnId, Version};

/// What a decision asks of the past.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HistoryQuery {
    /// All events about these cells after `since`; with `with_notebook` also those about the notebook as a whole. For
    /// each `CellDeleted` among them that names an execution: every event of that execution, whatever its version.
    Cells {
        /// Live ones, or such as are in the trash.
        cells: Vec<CellId>,
        /// Events of this version and before are left out.
        since: Version,
        /// Title, metadata, access and the like belong to the answer.
        with_notebook: bool,
    },
    /// The last `CellDeleted` of the cell, and every event of the execution that it names.
    DeletedCell {
        /// The cell, as the trash has it.
        cell_id: CellId,
    },
    /// Every event of one tool call.
    ToolCall {
        /// The call, over or not.
        call_id: ToolCallId,
    },
    /// The progress of one turn: how it began, was asked and ended.
    Turn {
        /// The turn, over or not.
        turn_id: TurnId,
    },
    /// The beginning of a conversation, its messages, and what was noted about them.
    Conversation {
        /// The conversation.
        conversation_id: ConversationId,
    },
    /// Every event of one execution.
    Execution {
        /// The execution, over or not.
        execution_id: ExecutionId,
    },
}

/// Events after `since` about any of `subjects` ([`Event::subject`]); with `with_notebook` also those about the notebook as a
/// whole.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Selection {
    /// Ids of cells, executions and the like.
    pub subjects: Vec<String>,
    /// Events of this version and before are left out.
    pub since: Version,
    /// Events without a subject belong to the answer.
    pub with_notebook: bool,
}

impl Selection {
    /// All events about one subject.
    pub fn of(subject: impl ToString) -> Self {
        Self { subjects: vec![subject.to_string()], ..Self::default() }
    }

    /// Whether an event of that version and subject is selected.
    pub fn holds(&self, version: Version, subject: Option<&str>) -> bool {
        version > self.since
            && subject.map_or(self.with_notebook, |subject| self.subjects.iter().any(|it| it == subject))
    }
}

/// What an answer looks at of an event, in whichever form it is at hand.
pub trait Logged {
    /// Who, when, and where in the log.
    fn envelope(&self) -> &Envelope;

    /// The execution that a deletion of a cell carries along.
    fn deleted_execution(&self) -> Option<ExecutionId>;
}

impl Logged for Recorded {
    fn envelope(&self) -> &Envelope {
        &self.envelope
    }

    fn deleted_execution(&self) -> Option<ExecutionId> {
        match &self.event {
            Event::CellDeleted(event) => event.latest_execution.clone(),
            _ => None,
        }
    }
}

impl Logged for Stored {
    fn envelope(&self) -> &Envelope {
        &self.envelope
    }

    fn deleted_execution(&self) -> Option<ExecutionId> {
        if self.envelope.event_type != "CellDeleted" {
            return None;
        }
        self.typed().ok()?.deleted_execution()
    }
}

impl<T: Logged> Logged for Arc<T> {
    fn envelope(&self) -> &Envelope {
        (**self).envelope()
    }

    fn deleted_execution(&self) -> Option<ExecutionId> {
        (**self).deleted_execution()
    }
}

impl HistoryQuery {
    /// What an answer is: `select` gives the selected events in order. Stores answer the same by their indexes.
    pub fn answer<T: Logged, E>(&self, select: impl Fn(&Selection) -> Result<Vec<T>, E>) -> Result<Vec<T>, E> {
        let mut events = self.narrow(select(&self.selection())?);
        if let Some(executions) = deleted_executions(&events) {
            events.extend(select(&executions)?);
            in_order(&mut events);
        }
        Ok(events)
    }

    /// Where the answer is looked for.
    pub fn selection(&self) -> Selection {
        match self {
            HistoryQuery::Cells { cells, since, with_notebook } => {
                let subjects = cells.iter().map(ToString::to_string).collect();
                Selection { subjects, since: *since, with_notebook: *with_notebook }
            }
            HistoryQuery::DeletedCell { cell_id } => Selection::of(cell_id),
            HistoryQuery::ToolCall { call_id } => Selection::of(call_id),
            HistoryQuery::Turn { turn_id } => Selection::of(turn_id),
            HistoryQuery::Conversation { conversation_id } => Selection::of(conversation_id),
            HistoryQuery::Execution { execution_id } => Selection::of(execution_id),
        }
    }

    /// What of the selected events belongs to the answer.
    pub fn narrow<T: Logged>(&self, mut events: Vec<T>) -> Vec<T> {
        if !matches!(self, HistoryQuery::DeletedCell { .. }) {
            return events;
        }
        let last = events.iter().rposition(|event| event.envelope().event_type == "CellDeleted");
        last.map(|index| events.swap_remove(index)).into_iter().collect()
    }
}

/// The executions that deletions among `events` name, which belong to the answer as well.
pub fn deleted_executions<T: Logged>(events: &[T]) -> Option<Selection> {
    let subjects: Vec<String> = events.iter().filter_map(Logged::deleted_execution).map(|id| id.to_string()).collect();
    (!subjects.is_empty()).then(|| Selection { subjects, ..Selection::default() })
}

/// Each event once, in the order of versions.
pub fn in_order<T: Logged>(events: &mut Vec<T>) {
    events.sort_by_key(|event| event.envelope().version);
    events.dedup_by_key(|event| event.envelope().version);
}
