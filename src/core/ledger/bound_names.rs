//! Ledger for reactive notebooks: names bound by each cell's last run; pending runs' dependencies.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use notarium_record::{
    CellId, Event, ExecutionCause, ExecutionId, ExecutionRequested, ExecutionSubject, KernelSessionId,
};

/// Ledger of a reactive notebook.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct BoundNames {
    /// The kernel in which the variables of the next three fields are.
    pub kernel_session: Option<KernelSessionId>,
    /// Names that the latest run of each cell binds in that kernel.
    left: BTreeMap<CellId, BTreeSet<String>>,
    /// Names of deleted cells that are not removed from the kernel yet.
    pub orphans: BTreeSet<String>,
    /// Deleted cells whose runs had left names. If such a cell is restored, its variables are missing.
    pub gone: BTreeSet<CellId>,
    /// Runs on which each unfinished run depends.
    pub waits: BTreeMap<ExecutionId, Vec<ExecutionId>>,
}

impl BoundNames {
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

    /// Names of these that no run of another cell has left.
    fn alone(&self, cell_id: &CellId, names: BTreeSet<String>) -> Vec<String> {
        let others = || self.left.iter().filter(|(other, _)| *other != cell_id);
        names.into_iter().filter(|name| !others().any(|(_, left)| left.contains(name))).collect()
    }

    /// Names that the cell's latest run left and that a run with `leaves` would not bind. Names that other cells left
    /// are not among them.
    pub(crate) fn abandoned(&self, cell_id: &CellId, leaves: &[String]) -> Vec<String> {
        let Some(left) = self.left.get(cell_id) else { return Vec::new() };
        self.alone(cell_id, left.iter().filter(|name| !leaves.contains(name)).cloned().collect())
    }
}

fn is_removal(event: &ExecutionRequested) -> bool {
    matches!(event.subject, ExecutionSubject::Scratch { .. })
        && matches!(event.cause.known(), Some(ExecutionCause::Dependency { .. }))
}
