//! Ledger: bytes that each run has written into the record. The server enforces the limit, whatever the agent reports.

use std::collections::{BTreeMap, VecDeque};

use notarium_record::{Event, ExecutionId, Output, RawJson, Written};
use serde::{Deserialize, Serialize};

/// Ended runs that are kept, at most: late output of their threads still counts.
const MAX_ENDED_RUNS: usize = 64;

/// Notice that replaces output beyond the limit. Its event marks it as the server's; the same words printed by a
/// program have no effect.
pub(crate) fn limit_notice(limit: usize) -> Output {
    let text = format!(
        "\\n[notarium: this run has written all that the server records of one run, {} MiB; what it writes from here on is not \
         kept.]\\n",
        limit >> 20
    );
    let content = format!(r#"{{"output_type":"stream","name":"stderr","text":"{text}"}}"#);
    let content = RawJson::parse(&content).unwrap_or_else(|_| unreachable!("the notice is JSON"));
    Output { content, blobs: Vec::new(), display_id: None }
}

/// Written bytes by run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct WrittenByRun {
    runs: BTreeMap<ExecutionId, Written>,
    /// Ended runs, oldest first.
    ended: VecDeque<ExecutionId>,
}

impl WrittenByRun {
    pub(crate) fn of(&self, id: &ExecutionId) -> Option<Written> {
        self.runs.get(id).copied()
    }

    pub(crate) fn apply(&mut self, event: &Event) {
        match event {
            Event::ExecutionOutputAppended(_)
            | Event::ExecutionOutputRecovered(_)
            | Event::ExecutionOutputUpdated(_)
            | Event::ExecutionOutputsCleared(_) => self.write(event),
            Event::ExecutionCompleted(_) | Event::ExecutionLost(_) | Event::ExecutionCancelled(_) => self.end(event),
            _ => {}
        }
    }

    fn write(&mut self, event: &Event) {
        if let Some(id) = event.execution_id() {
            let written = self.runs.entry(id.clone()).or_default();
            *written = written.with(event);
        }
    }

    fn end(&mut self, event: &Event) {
        let Some(id) = event.execution_id().filter(|id| self.runs.contains_key(*id)) else { return };
        self.ended.push_back(id.clone());
        if self.ended.len() > MAX_ENDED_RUNS
            && let Some(oldest) = self.ended.pop_front()
        {
            self.runs.remove(&oldest);
        }
    }
}
