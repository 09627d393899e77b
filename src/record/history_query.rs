//! Queries on the past of one notebook, as data: a decision makes them, a store answers them by its indexes.
//! An execution that has left the document is folded from the log alone.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::document::executions::Execution;
use crate::envelope::{Logged, in_order};
use crate::event::Event;
use crate::execution::Output;
use crate::ids::{CellId, ConversationId, ExecutionId, ToolCallId, TurnId, Version};

/// A query on the past.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HistoryQuery {
    /// All events about these cells after `since`; with `with_notebook` also those about the notebook as a whole.
    /// Executions that a `CellDeleted` among them names are included.
    Cells {
        /// Cells, live or in the trash.
        cells: Vec<CellId>,
        /// Events of this version and before are left out.
        since: Version,
        /// The answer has events about title, metadata, access and the like.
        with_notebook: bool,
    },
    /// The last `CellDeleted` of the cell, and the execution that it names.
    DeletedCell {
        /// A cell in the trash.
        cell_id: CellId,
    },
    /// Every event of one tool call.
    ToolCall {
        /// The call, over or not.
        call_id: ToolCallId,
    },
    /// The progress of one turn: its start, its model calls and its end.
    Turn {
        /// The turn, over or not.
        turn_id: TurnId,
    },
    /// The beginning of a conversation, its messages, and their flags.
    Conversation {
        /// The conversation.
        conversation_id: ConversationId,
    },
    /// Every event after a version.
    Tail {
        /// Events of this version and before are left out.
        since: Version,
    },
    /// One execution without its events.
    Execution {
        /// The execution, over or not.
        execution_id: ExecutionId,
    },
}

/// Answer to one or more queries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Past<T> {
    /// Each event once, in the order of versions.
    pub events: Vec<T>,
    /// Executions folded from their events, of which one may have millions.
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
    /// Merges the answer to another query into this one.
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
    /// Events without a subject are selected too.
    pub with_notebook: bool,
    /// All events are selected, whatever their subject.
    pub with_all: bool,
}

impl Selection {
    /// All events about one subject.
    pub fn of(subject: impl ToString) -> Self {
        Self { subjects: vec![subject.to_string()], ..Self::default() }
    }

    /// Returns true if an event of that version and subject is selected.
    pub fn holds(&self, version: Version, subject: Option<&str>) -> bool {
        let is_named = |subject: &str| self.subjects.iter().any(|it| it == subject);
        version > self.since && (self.with_all || subject.map_or(self.with_notebook, is_named))
    }
}

/// The execution that a `CellDeleted` event names.
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
    /// Answers the query. `select` returns the selected events in order. Stores give the same answer by their indexes.
    pub fn answer<T: Logged, E>(&self, select: impl Fn(&Selection) -> Result<Vec<T>, E>) -> Result<Past<T>, E> {
        let mut past = Past::from(self.narrow(select(&self.selection())?));
        for id in self.executions(&past.events) {
            let execution = ReplayedExecution::resume(None, &select(&Selection::of(&id))?);
            past.executions.extend(execution.map(|execution| (id, execution)));
        }
        Ok(past)
    }

    /// Events among which the answer is.
    pub fn selection(&self) -> Selection {
        match self {
            HistoryQuery::Cells { cells, since, with_notebook } => {
                let subjects = cells.iter().map(ToString::to_string).collect();
                Selection { subjects, since: *since, with_notebook: *with_notebook, with_all: false }
            }
            HistoryQuery::DeletedCell { cell_id } => Selection::of(cell_id),
            HistoryQuery::ToolCall { call_id } => Selection::of(call_id),
            HistoryQuery::Turn { turn_id } => Selection::of(turn_id),
            HistoryQuery::Conversation { conversation_id } => Selection::of(conversation_id),
            HistoryQuery::Tail { since } => Selection { since: *since, with_all: true, ..Selection::default() },
            HistoryQuery::Execution { .. } => Selection::default(),
        }
    }

    /// Reduces the selected events to those of the answer.
    pub fn narrow<T: Logged>(&self, mut events: Vec<T>) -> Vec<T> {
        if !matches!(self, HistoryQuery::DeletedCell { .. }) {
            return events;
        }
        let last = events.iter().rposition(|event| event.envelope().event_type == "CellDeleted");
        last.map(|index| events.swap_remove(index)).into_iter().collect()
    }

    /// Executions of the answer: the queried one, or those that deletions among `events` name.
    pub fn executions<T: Logged>(&self, events: &[T]) -> BTreeSet<ExecutionId> {
        match self {
            HistoryQuery::Execution { execution_id } => [execution_id.clone()].into(),
            _ => events.iter().filter_map(deleted_execution).collect(),
        }
    }
}

// --- executions folded from the log ---

/// Bytes that an event costs beside its outputs, so that many small events do not bypass the limit.
const OVERHEAD_BYTES: usize = 256;
/// Amount that one run has written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Written {
    /// Bytes of outputs, and the cost of their events.
    pub bytes: usize,
    /// The limit notice is recorded: no more output is taken.
    pub is_full: bool,
}

impl Written {
    /// Adds one more event of the run.
    #[must_use]
    pub fn with(self, event: &Event) -> Self {
        let (bytes, is_full) = match event {
            Event::ExecutionOutputAppended(event) => (size(&event.outputs), event.is_limit_notice),
            Event::ExecutionOutputRecovered(event) => (size(&event.outputs), event.is_limit_notice),
            Event::ExecutionOutputUpdated(event) => (event.output.size_bytes(), false),
            Event::ExecutionOutputsCleared(_) => (0, false),
            _ => return self,
        };
        Self { bytes: self.bytes + bytes + OVERHEAD_BYTES, is_full: self.is_full || is_full }
    }
}

fn size(outputs: &[Output]) -> usize {
    outputs.iter().map(Output::size_bytes).sum()
}

/// An execution folded from its events.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReplayedExecution {
    /// The execution as the document had it last.
    pub execution: Execution,
    /// Amount written, with outputs that were cleared or replaced since.
    pub written: Written,
}

impl ReplayedExecution {
    /// Folds events of one execution, in order: all from its request on, or those that follow the state `before`.
    /// `None`: its request is not among them.
    pub fn resume<'a, T: Logged + 'a>(before: Option<Self>, events: impl IntoIterator<Item = &'a T>) -> Option<Self> {
        events.into_iter().filter_map(Logged::recorded).fold(before, |replayed, recorded| {
            let (execution, written) = replayed.map_or_else(Default::default, |it| (Some(it.execution), it.written));
            let execution = Execution::with(execution, &recorded)?;
            Some(Self { execution, written: written.with(&recorded.event) })
        })
    }
}
