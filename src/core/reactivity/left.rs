//! What the runs of a reactive notebook left in its kernel, and which of those that wait read from which: the ledger's part.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::access::authorise;
use crate::authority::Operation;
use crate::context::Context;
use crate::decision::Decided;
use crate::kernel_sessions;
use crate::notebook::Notebook;
use crate::queues::assigned_at_once;
use notarium_record::{
    CellId, Event, ExecutionBlocked, ExecutionCause, ExecutionId, ExecutionRequested, ExecutionStatus,
    ExecutionSubject, KernelSessionId, Reactivity,
};

/// What people read of a run that removes variables.
const REMOVAL: &str = "remove variables that no cell defines any more";

/// What only `decide` remembers of a reactive notebook.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Reactive {
    /// The kernel of which the next three speak.
    kernel_session: Option<KernelSessionId>,
    /// The names that the latest run of each cell binds there.
    left: BTreeMap<CellId, BTreeSet<String>>,
    /// Names of cells that were deleted, not removed yet.
    orphans: BTreeSet<String>,
    /// Cells that were deleted and had left something: if one comes back, its variables have not.
    gone: BTreeSet<CellId>,
    /// Of runs that have not ended: from which runs they read.
    waits: BTreeMap<ExecutionId, Vec<ExecutionId>>,
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

    /// Whether the kernel has lost what the cell's latest run left.
    pub(super) fn is_gone(&self, cell_id: &CellId) -> bool {
        self.gone.contains(cell_id)
    }

    /// What a run of the cell left that another, of a text that leaves `leaves`, would not.
    pub(super) fn abandoned(&self, cell_id: &CellId, leaves: &[String]) -> Vec<String> {
        let Some(left) = self.left.get(cell_id) else { return Vec::new() };
        self.alone(cell_id, left.iter().filter(|name| !leaves.contains(name)).cloned().collect())
    }
}

fn is_removal(event: &ExecutionRequested) -> bool {
    matches!(event.subject, ExecutionSubject::Scratch { .. })
        && matches!(event.cause.known(), Some(ExecutionCause::Dependency { .. }))
}

/// The run that removes these variables and those of deleted cells from the kernel, if there is one that may have them. It
/// stands behind every run that was asked for before.
pub(crate) fn removal(
    notebook: &Notebook,
    execution_id: impl FnOnce() -> ExecutionId,
    names: impl IntoIterator<Item = String>,
    of: Option<ExecutionId>,
) -> Option<ExecutionRequested> {
    let reactive = &notebook.ledger.reactive;
    let session = reactive.kernel_session.as_ref()?;
    kernel_sessions::usable(notebook, session).ok()?;
    let names: BTreeSet<String> = reactive.orphans.iter().cloned().chain(names).collect();
    if names.is_empty() {
        return None;
    }
    let source = code_that_removes(&names);
    Some(ExecutionRequested {
        execution_id: execution_id(),
        subject: ExecutionSubject::Scratch { source: source.into(), purpose: REMOVAL.to_owned() },
        cause: ExecutionCause::Dependency { of }.into(),
        kernel_session: Some(session.clone()),
        timeout_ms: None,
        stop_on_error: false,
        waits_for: Vec::new(),
        leaves: None,
    })
}

/// What follows the deletion of a cell in a reactive notebook: the variables that it alone had bound are removed. Where who
/// deletes may not run code, that waits for the next run that somebody asks for.
pub(crate) fn removal_after(notebook: &Notebook, context: &mut Context, cell_id: &CellId) -> Vec<Decided> {
    if notebook.reactivity == Reactivity::Off || authorise(notebook, context, Operation::Run).is_err() {
        return Vec::new();
    }
    let alone = notebook.ledger.reactive.abandoned(cell_id, &[]);
    let Some(request) = removal(notebook, || context.ids.ulid().into(), alone, None) else { return Vec::new() };
    let (id, session) = (request.execution_id.clone(), request.kernel_session.clone());
    let assigned = session.and_then(|session| assigned_at_once(notebook, context, &session, &id));
    [Decided::from(request)].into_iter().chain(assigned).collect()
}

/// Shows nothing, binds nothing, and does not mind what is not there. (Names are identifiers: they need no escapes.)
fn code_that_removes(names: &BTreeSet<String>) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("\"{name}\"")).collect();
    format!("(lambda names: [globals().pop(name, None) for name in names] and None)([{}])", quoted.join(", "))
}

/// The ends of the runs that wait for one of these, over others too, when these do not succeed.
pub(crate) fn blocked_after(notebook: &Notebook, failed: &[&ExecutionId]) -> Vec<ExecutionBlocked> {
    let waits = &notebook.ledger.reactive.waits;
    if waits.is_empty() || failed.is_empty() {
        return Vec::new();
    }
    let mut why: BTreeMap<&ExecutionId, &ExecutionId> = failed.iter().map(|id| (*id, *id)).collect();
    let mut events = Vec::new();
    // Runs stand in the queue behind those that they wait for.
    let version = |id: &ExecutionId| notebook.executions.get(id).map(|run| (run.requested_version, run.status));
    let mut queue: Vec<_> = waits.iter().filter_map(|(id, waits)| Some((version(id)?, id, waits))).collect();
    queue.sort_by_key(|((requested, _), ..)| *requested);
    for ((_, status), id, waits) in queue {
        let Some(by) = waits.iter().find_map(|one| why.get(one).copied()) else { continue };
        if status == ExecutionStatus::Queued && !why.contains_key(id) {
            why.insert(id, by);
            events.push(ExecutionBlocked { execution_id: id.clone(), blocked_by: by.clone() });
        }
    }
    events
}
