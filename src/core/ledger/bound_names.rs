//! Ledger for reactive notebooks: names bound by each cell's last run; pending runs' dependencies.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::ledger::kernel_log::KernelLog;
use notarium_record::{
    CellId, Document, Event, Execution, ExecutionCause, ExecutionId, ExecutionRequested, ExecutionStatus,
    ExecutionSubject, KernelSessionId, Output, Recorded, Version,
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
    /// Runs of cells in that kernel, also of notebooks that are not reactive: they may become so.
    pub log: Arc<KernelLog>,
}

impl BoundNames {
    pub(crate) fn apply(&mut self, document: &Document, recorded: &Recorded) {
        let event = &recorded.event;
        match event {
            Event::ExecutionRequested(event) => {
                self.note_request(event, recorded.envelope.version);
                if self.log.is_full() {
                    Arc::make_mut(&mut self.log).compact(document);
                }
            }
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
                let run = event.execution_id().and_then(|id| document.executions.get(id));
                if let Some(run) = run.filter(|run| never_began(run)) {
                    Arc::make_mut(&mut self.log).forget(run.requested_version);
                } else if let Some(run) = run.filter(|run| is_no_python(run)) {
                    Arc::make_mut(&mut self.log).forget_unread(run.requested_version);
                }
            }
            _ => {}
        }
    }

    fn note_request(&mut self, event: &ExecutionRequested, version: Version) {
        if !event.waits_for.is_empty() {
            self.waits.insert(event.execution_id.clone(), event.waits_for.clone());
        }
        match (&event.subject, &event.leaves) {
            (ExecutionSubject::Cell { cell_id, .. }, Some(leaves)) => {
                self.enter(event.kernel_session.as_ref());
                self.gone.remove(cell_id);
                leaves.iter().for_each(|name| _ = self.orphans.remove(name));
                let leaves: BTreeSet<String> = leaves.iter().cloned().collect();
                self.note_run(version, Some(cell_id), Some(&leaves));
                self.left.insert(cell_id.clone(), leaves);
            }
            (ExecutionSubject::Cell { cell_id, .. }, None) => {
                self.gone.remove(cell_id);
                if is_in_a_kernel(event) && self.is_here(event.kernel_session.as_ref()) {
                    self.note_run(version, Some(cell_id), None);
                }
            }
            (_, leaves) if is_removal(event) => {
                self.orphans.clear();
                let removed = leaves.iter().flatten().cloned().collect();
                self.note_run(version, None, Some(&removed));
            }
            _ => {}
        }
    }

    fn note_run(&mut self, version: Version, cell_id: Option<&CellId>, names: Option<&BTreeSet<String>>) {
        Arc::make_mut(&mut self.log).note(version, cell_id.cloned(), names.cloned());
    }

    /// Checks that a run of this session belongs to the kernel that is followed; the first one is.
    fn is_here(&mut self, kernel_session: Option<&KernelSessionId>) -> bool {
        if self.kernel_session.is_none() {
            self.kernel_session = kernel_session.cloned();
        }
        kernel_session.is_none() || self.kernel_session.as_ref() == kernel_session
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
        // Tables are among the names, and are no variables.
        let names = names.into_iter().filter(|name| is_variable(name));
        names.filter(|name| !others().any(|(_, left)| left.contains(name))).collect()
    }

    /// Names that the cell's latest run left and that a run with `leaves` would not bind. Names that other cells left
    /// are not among them.
    pub(crate) fn abandoned(&self, cell_id: &CellId, leaves: &[String]) -> Vec<String> {
        let Some(left) = self.left.get(cell_id) else { return Vec::new() };
        self.alone(cell_id, left.iter().filter(|name| !leaves.contains(name)).cloned().collect())
    }
}

/// Checks that the name can be a variable's: the code that removes variables quotes it.
pub(crate) fn is_variable(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|found| found.is_alphanumeric() || found == '_')
}

fn never_began(run: &Execution) -> bool {
    matches!(run.status, ExecutionStatus::Blocked | ExecutionStatus::Cancelled) && run.started_at.is_none()
}

fn is_no_python(run: &Execution) -> bool {
    run.status == ExecutionStatus::Error && run.outputs.iter().any(is_syntax_error)
}

fn is_syntax_error(output: &Output) -> bool {
    #[derive(Deserialize)]
    struct ErrorName {
        ename: String,
    }
    let named = || serde_json::from_str::<ErrorName>(output.content.get());
    output.is_error()
        && named().is_ok_and(|error| matches!(&*error.ename, "SyntaxError" | "IndentationError" | "TabError"))
}

fn is_in_a_kernel(event: &ExecutionRequested) -> bool {
    !matches!(event.cause.known(), Some(ExecutionCause::Imported))
}

fn is_removal(event: &ExecutionRequested) -> bool {
    matches!(event.subject, ExecutionSubject::Scratch { .. })
        && matches!(event.cause.known(), Some(ExecutionCause::Dependency { .. }))
}
