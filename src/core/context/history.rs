//! Answers about the past and about code that a decision gets, so that the core stays pure and the state small.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::values::code_names::KnownNames;
use notarium_record::text::ChangeSet;
use notarium_record::{CellId, Event, ExecutionId, Logged, Past, Recorded, ReplayedExecution, Risk, Version};

/// Answers to all queries of a command: each event once, in the order of versions. Empty without queries.
#[derive(Debug, Clone, Default)]
pub struct History {
    /// Events that the queries of [`crate::required_history`] have found.
    pub events: Vec<Arc<Recorded>>,
    /// Executions that the queries ask for, as the record has them.
    pub executions: BTreeMap<ExecutionId, ReplayedExecution>,
    /// The answer to [`crate::required_judgement`].
    pub judgement: Option<Judgement>,
    /// The names of the notebook's cells, where [`crate::reactive::needs_names`] asks for them.
    pub names: Option<Arc<KnownNames>>,
}

impl History {
    /// Makes a history from events in the order of versions.
    pub fn of(events: impl IntoIterator<Item = Recorded>) -> Self {
        Self { events: events.into_iter().map(Arc::new).collect(), ..Self::default() }
    }
}

impl<T: Logged> From<Past<T>> for History {
    /// Leaves out events that this build cannot read.
    fn from(past: Past<T>) -> Self {
        let events = past.events.iter().filter_map(|event| Some(event.recorded()?.into_owned()));
        Self { executions: past.executions, ..Self::of(events) }
    }
}

/// Pieces of Python that a tool call would run, for a judge outside the core.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JudgementQuery {
    /// Sources of the other cells, as they are and as they last ran: the code sees their names.
    pub earlier: Vec<String>,
    /// Sources to run, in this order.
    pub codes: Vec<String>,
    /// Functions that a kernel has registered, with their risks: code that mentions one has its risk.
    pub functions: Vec<(String, Risk)>,
    /// The codes run only to register their functions again in a new kernel: no function is called.
    pub registers: bool,
}

/// Judgement of the code of a query. It counts for that code only.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judgement {
    /// The query that was judged.
    pub query: JudgementQuery,
    /// Risk of the code. `Read`: the judge found no risk.
    pub risk: Risk,
    /// Risk of each of the query's `codes`.
    pub each: Vec<Risk>,
    /// Reasons for the risk, as sentences.
    pub reasons: Vec<String>,
}

/// Changes of a cell's text after `base`, in order. An insertion of the cell after `base` resets the list.
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
