//! Which cells are stale, and why.

use super::graph::{Cells, Graph, distinct};
use notarium_record::{CellId, Document, Execution, ExecutionStatus, ExecutionSubject, KernelSessionId, Version};

/// Why what a cell shows, or left in the kernel, is not what running it now would give.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Stale {
    /// It has not run, or a file tells of the run.
    NeverRan,
    /// It ran in another kernel, or in one that is gone.
    KernelGone,
    /// Its text is another than the one that ran.
    Edited,
    /// Its run failed, or was cancelled or lost.
    Unsuccessful(ExecutionStatus),
    /// Its run was blocked, because that of this cell (where it is known) did not succeed.
    Blocked(Option<CellId>),
    /// It was deleted and came back: its variables have not.
    VariablesGone,
    /// It reads, over others, from itself.
    Cyclic,
    /// A cell from which it reads has run since.
    Reran(usize),
    /// A cell from which it reads is stale itself.
    Ancestor(usize),
}

/// What the ledger knows of a cell's variables.
pub(super) type IsGone<'a> = &'a dyn Fn(&CellId) -> bool;

/// By cell; those that were not asked for are not stale.
///
/// `is_gone`: whether the kernel has lost what the cell's latest run left.
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

/// Cells in a circle, and those that read from it, which no order has.
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

/// When the run was asked for that the cell shows, and why it is stale whatever other cells are.
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
