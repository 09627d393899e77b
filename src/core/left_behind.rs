//! What the runs of a reactive notebook left in its kernel, and which of those that wait read from which: a part of the ledger.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use notarium_record::{
    CellId, Event, ExecutionCause, ExecutionId, ExecutionRequested, ExecutionSubject, KernelSessionId,
};

/// What only `decide` remembers of a reactive notebook.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Reactive {
    /// The kernel of which the next three speak: the variables are there.
    pub kernel_session: Option<KernelSessionId>,
    /// The names that the latest run of each cell binds there.
    left: BTreeMap<CellId, BTreeSet<String>>,
    /// Names of cells that were deleted, not removed yet.
    pub orphans: BTreeSet<String>,
    /// Cells that were deleted and had left something: if one comes back, its variables have not.
    pub gone: BTreeSet<CellId>,
    /// Of runs that have not ended: from which runs they read.
    pub waits: BTreeMap<ExecutionId, Vec<ExecutionId>>,
}

impl Reactive {
    pub(crate) fn apply(&mut self, event: &Event) {
        match event {
            Event::ExecutionRequested(event) => self.note_request(event),
            Event::CellDeleted(event) => {
                if let Some(names) = self.left.remove(&event.cell_id) {
                    let alone = self.alone(&event.cell_id, names);
                    self.orphans.extend(alone);
                    self.gone.insert(event.cell_id.clone());
                }
            }
            Event::KernelSessionEnded(event) if self.kernel_session.as_ref() == Some(&event.kernel_session) => {
                *self = Self { waits: std::mem::take(&mut self.waits), ..Self::default() };
            }
            Event::ExecutionCompleted(_)
            | Event::ExecutionCancelled(_)
            | Event::ExecutionBlocked(_)
            | Event::ExecutionLost(_) => {
                event.execution_id().map(|id| self.waits.remove(id));
            }
            _ => {}
        }
    }

    fn note_request(&mut self, event: &ExecutionRequested) {
        if !event.waits_for.is_empty() {
            self.waits.insert(event.execution_id.clone(), event.waits_for.clone());
        }
        match (&event.subject, &event.leaves) {
            (ExecutionSubject::Cell { cell_id, .. }, Some(leaves)) => {
                self.enter(event.kernel_session.as_ref());
                self.gone.remove(cell_id);
                leaves.iter().for_each(|name| _ = self.orphans.remove(name));
                self.left.insert(cell_id.clone(), leaves.iter().cloned().collect());
            }
            (ExecutionSubject::Cell { cell_id, .. }, None) => _ = self.gone.remove(cell_id),
            _ if is_removal(event) => self.orphans.clear(),
            _ => {}
        }
    }

    fn enter(&mut self, kernel_session: Option<&KernelSessionId>) {
        if kernel_session.is_some() && self.kernel_session.as_ref() != kernel_session {
            let waits = std::mem::take(&mut self.waits);
            *self = Self { waits, kernel_session: kernel_session.cloned(), ..Self::default() };
        }
    }

    /// Names that no run of another cell has left.
    fn alone(&self, cell_id: &CellId, names: BTreeSet<String>) -> Vec<String> {
        let others = || self.left.iter().filter(|(other, _)| *other != cell_id);
        names.into_iter().filter(|name| !others().any(|(_, left)| left.contains(name))).collect()
    }

    /// What a run of the cell left that another, of a text that leaves `leaves`, would not.
    pub(crate) fn abandoned(&self, cell_id: &CellId, leaves: &[String]) -> Vec<String> {
        let Some(left) = self.left.get(cell_id) else { return Vec::new() };
        self.alone(cell_id, left.iter().filter(|name| !leaves.contains(name)).cloned().collect())
    }
}

fn is_removal(event: &ExecutionRequested) -> bool {
    matches!(event.subject, ExecutionSubject::Scratch { .. })
        && matches!(event.cause.known(), Some(ExecutionCause::Dependency { .. }))
}
