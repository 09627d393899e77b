//! Questions to the past of one notebook, named as data: a decision asks them, a store answers them by its indexes.

use std::collections::{BTreeMap, BTreeSet};

use crate::event::Event;
use crate::ids::{CellId, ConversationId, ExecutionId, ToolCallId, TurnId, Version};
use crate::logged::{Logged, in_order};
use crate::replayed::ReplayedExecution;

/// What a decision asks of the past.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HistoryQuery {
    /// All events about these cells after `since`; with `with_notebook` also those about the notebook as a whole. For
    /// each `CellDeleted` among them that names an execution: that execution.
    Cells {
        /// Live ones, or such as are in the trash.
        cells: Vec<CellId>,
        /// Events of this version and before are left out.
        since: Version,
        /// Title, metadata, access and the like belong to the answer.
        with_notebook: bool,
    },
    /// The last `CellDeleted` of the cell, and the execution that it names.
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
    /// One execution, and none of its events.
    Execution {
        /// The execution, over or not.
        execution_id: ExecutionId,
    },
}

/// The answer to questions to the past.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Past<T> {
    /// Each once, in the order of versions.
    pub events: Vec<T>,
    /// As their events tell them, of which one may have millions.
    pub executions: BTreeMap<ExecutionId, ReplayedExecution>,
}

impl<T> Default for Past<T> {
    fn default() -> Self {
        Self { events: Vec::new(), executions: BTreeMap::new() }
    }
}

impl<T> From<Vec<T>> for Past<T> {
    fn from(events: Vec<T>) -> Self {
        Self { events, ..Self::default() }
    }
}

impl<T: Logged> Past<T> {
    /// The answers to several questions as one.
    pub fn extend(&mut self, other: Past<T>) {
        self.executions.extend(other.executions);
        if self.events.is_empty() {
            self.events = other.events;
        } else {
            self.events.extend(other.events);
            in_order(&mut self.events);
        }
    }
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

/// The execution that a deletion of a cell names.
fn deleted_execution(event: &impl Logged) -> Option<ExecutionId> {
    if event.envelope().event_type != "CellDeleted" {
        return None;
    }
    match &event.recorded()?.event {
        Event::CellDeleted(event) => event.latest_execution.clone(),
        _ => None,
    }
}

impl HistoryQuery {
    /// What an answer is: `select` gives the selected events in order. Stores answer the same by their indexes.
    pub fn answer<T: Logged, E>(&self, select: impl Fn(&Selection) -> Result<Vec<T>, E>) -> Result<Past<T>, E> {
        let mut past = Past::from(self.narrow(select(&self.selection())?));
        for id in self.executions(&past.events) {
            let execution = ReplayedExecution::resume(None, &select(&Selection::of(&id))?);
            past.executions.extend(execution.map(|execution| (id, execution)));
        }
        Ok(past)
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
            HistoryQuery::Execution { .. } => Selection::default(),
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

    /// The executions that belong to the answer, those that deletions among its `events` name.
    pub fn executions<T: Logged>(&self, events: &[T]) -> BTreeSet<ExecutionId> {
        match self {
            HistoryQuery::Execution { execution_id } => [execution_id.clone()].into(),
            _ => events.iter().filter_map(deleted_execution).collect(),
        }
    }
}
