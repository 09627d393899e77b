//! Staleness of cells, with the reasons.

use super::graph::{Cells, Graph, distinct};
use notarium_record::{CellId, Document, Execution, ExecutionStatus, ExecutionSubject, KernelSessionId, Version};

/// Reason why the outputs or variables of a cell may differ from those of a run now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Stale {
    /// The cell has not run, or its run was imported.
    NeverRan,
    /// The cell ran in another kernel, or in one that has ended.
    KernelGone,
    /// The cell's text has changed since its run.
    Edited,
    /// The cell's run failed, or was cancelled or lost.
    Unsuccessful(ExecutionStatus),
    /// The cell's run was blocked, because the run of this cell (if known) did not succeed.
    Blocked(Option<CellId>),
    /// The cell was deleted and restored, and its variables are missing.
    VariablesGone,
    /// The cell depends on itself through others.
    Cyclic,
    /// A cell from which this one reads has run since.
    Reran(usize),
    /// A cell from which this one reads is stale.
    Ancestor(usize),
}

/// Lookup in the ledger: the kernel has lost the cell's variables.
pub(super) type IsGone<'a> = &'a dyn Fn(&CellId) -> bool;

/// Staleness by cell. Cells outside `of` count as not stale.
///
/// `is_gone`: the kernel has lost the variables of the cell's latest run.
pub(super) fn standings(
    notebook: &Document,
    is_gone: IsGone,
    graph: &Graph,
    session: Option<&KernelSessionId>,
    of: &[bool],
) -> Vec<Option<Stale>> {
    let mut standings = vec![None; graph.len()];
    let mut versions = vec![0; graph.len()];
    for cell in graph.in_order(&of.to_vec()) {
        let (version, own) = own(notebook, is_gone, graph.id(cell), session);
        versions[cell] = version;
        standings[cell] = own.or_else(|| {
            let mut parents = distinct(graph.parents(cell)).filter(|parent| of[*parent]);
            parents.find_map(|parent| match &standings[parent] {
                Some(_) => Some(Stale::Ancestor(parent)),
                None => (versions[parent] > version).then_some(Stale::Reran(parent)),
            })
        });
    }
    mark_cycles(graph, of, &mut standings);
    standings
}

/// Marks cells in a cycle and those that read from one; `in_order` leaves them out.
fn mark_cycles(graph: &Graph, of: &[bool], standings: &mut [Option<Stale>]) {
    let doomed: Cells = graph.doomed();
    for cell in (0..graph.len()).filter(|cell| doomed[*cell] && of[*cell]) {
        let parent = distinct(graph.parents(cell)).find(|parent| doomed[*parent]);
        standings[cell] = match parent {
            Some(parent) if !graph.is_cyclic(cell) => Some(Stale::Ancestor(parent)),
            _ => Some(Stale::Cyclic),
        };
    }
}

/// Version at which the cell's latest run was requested, and the reason why the cell is stale regardless of other
/// cells.
fn own(
    notebook: &Document,
    is_gone: IsGone,
    cell_id: &CellId,
    session: Option<&KernelSessionId>,
) -> (Version, Option<Stale>) {
    let Some((_, run)) = notebook.latest_execution(cell_id).filter(|(_, run)| !run.is_imported()) else {
        return (0, Some(Stale::NeverRan));
    };
    let is_edited = notebook.cells.get(cell_id).is_none_or(|cell| *cell.content.text_to_run() != *run.subject.source());
    let waits_for_any = run.status == ExecutionStatus::Queued && run.kernel_session.is_none();
    let is_here = waits_for_any || (session.is_some() && run.kernel_session.as_ref() == session);
    let stale = match run.status {
        _ if is_edited => Some(Stale::Edited),
        ExecutionStatus::Blocked => Some(Stale::Blocked(blocker(notebook, run))),
        _ if !is_here => Some(Stale::KernelGone),
        ExecutionStatus::Error | ExecutionStatus::Cancelled | ExecutionStatus::Lost => {
            Some(Stale::Unsuccessful(run.status))
        }
        _ if is_gone(cell_id) => Some(Stale::VariablesGone),
        _ => None,
    };
    (run.requested_version, stale)
}

fn blocker(notebook: &Document, run: &Execution) -> Option<CellId> {
    match &notebook.executions.get(run.blocked_by.as_ref()?)?.subject {
        ExecutionSubject::Cell { cell_id, .. } => Some(cell_id.clone()),
        _ => None,
    }
}
