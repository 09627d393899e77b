//! What a decision was told of the past and of code, so that the core stays pure and the state small.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::code_names::KnownNames;
use notarium_record::text::ChangeSet;
use notarium_record::{CellId, Event, ExecutionId, Logged, Past, Recorded, ReplayedExecution, Risk, Version};

/// The answers to all queries together: each event once, in the order of versions. Empty when nothing was asked.
#[derive(Debug, Clone, Default)]
pub struct History {
    /// What the queries of [`crate::required_history`] have found.
    pub events: Vec<Arc<Recorded>>,
    /// Runs that they ask for, as the record tells them.
    pub executions: BTreeMap<ExecutionId, ReplayedExecution>,
    /// The answer to [`crate::required_judgement`].
    pub judgement: Option<Judgement>,
    /// The names of the notebook's cells, where [`crate::reactivity::needs_names`] asks for them.
    pub names: Option<Arc<KnownNames>>,
}

impl History {
    /// Of events in the order of versions.
    pub fn of(events: impl IntoIterator<Item = Recorded>) -> Self {
        Self { events: events.into_iter().map(Arc::new).collect(), ..Self::default() }
    }
}

impl<T: Logged> From<Past<T>> for History {
    /// Without what this build cannot read.
    fn from(past: Past<T>) -> Self {
        let events = past.events.iter().filter_map(|event| Some(event.recorded()?.into_owned()));
        Self { executions: past.executions, ..Self::of(events) }
    }
}

/// Pieces of Python that a tool call would run, for a judge that the core does not know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JudgementQuery {
    /// The other cells as they are and as they last ran, whose names the code sees.
    pub earlier: Vec<String>,
    /// In the order in which they would run.
    pub codes: Vec<String>,
    /// Functions that a kernel has registered: a mention of one carries its risk.
    pub functions: Vec<(String, Risk)>,
    /// The codes run only so that a new kernel has their functions again: what they register is called by nobody.
    pub registers: bool,
}

/// What the code of a query could do. It counts for that code and no other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judgement {
    /// What was asked.
    pub query: JudgementQuery,
    /// `Read`: nothing is known against it.
    pub risk: Risk,
    /// Of each of the query's `codes`.
    pub each: Vec<Risk>,
    /// Sentences: why the risk is what it is.
    pub reasons: Vec<String>,
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
