//! Staleness of cells, with the reasons.

use std::collections::BTreeSet;

use crate::reactive::graph::{Cells, Graph};
use crate::reactive::history::{By, KernelHistory, OtherValue, ReadName, base_of, reads_of};
use crate::values::links::Symbol;
use crate::values::order::distinct;
use notarium_record::{CellId, Document, Execution, ExecutionStatus, ExecutionSubject, KernelSessionId, Version};

/// Reason why the outputs or variables of a cell may differ from those of a run now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Stale {
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
    /// The cell did not run because this cell failed before it, though it reads nothing from it.
    Skipped(CellId),
    /// The cell has read another value than that of its sources, or may have.
    Other(OtherValue),
    /// The cell may read any name, and the kernel had this one, of a cell that no longer binds it.
    Forgotten(String, CellId),
    /// Another run has overwritten or removed a name of this cell which others read from it.
    Overwritten(OtherValue),
    /// Another cell overwrites a name before this one can read it, in whatever order cells run.
    Contended(Symbol),
}

/// Staleness by cell. Cells outside `of` count as not stale.
pub(crate) fn staleness(graph: &Graph, history: &KernelHistory, of: &[bool]) -> Vec<Option<Stale>> {
    let mut staleness = vec![None; graph.len()];
    for cell in graph.in_order(&of.to_vec()) {
        let (version, own) = &history.runs[cell];
        staleness[cell] = own.clone().or_else(|| {
            let mut parents = distinct(graph.parents(cell)).filter(|parent| of[*parent]);
            let by_parent = parents.find_map(|parent| match &staleness[parent] {
                Some(_) => Some(Stale::Ancestor(parent)),
                None => (history.runs[parent].0 > *version).then_some(Stale::Reran(parent)),
            });
            by_parent.or_else(|| graph.contended(cell).map(Stale::Contended)).or_else(|| {
                let other = |(read, heeds_wild): ReadName| {
                    history
                        .other_value(graph, &read, *version, heeds_wild)
                        .or_else(|| perhaps_above(graph, cell, &read))
                };
                reads_of(graph, cell).find_map(other).map(Stale::Other).or_else(|| {
                    let (name, by) = history.forgotten_name(*version).filter(|_| graph.names(cell).reads_any)?;
                    Some(Stale::Forgotten(name.to_owned(), by.clone()))
                })
            })
        });
    }
    for cell in (0..graph.len()).filter(|cell| of[*cell]) {
        if let Some(Stale::Blocked(Some(by))) = &staleness[cell]
            && !graph.reads_from(cell, by)
        {
            staleness[cell] = Some(Stale::Skipped(by.clone()));
        }
    }
    mark_cycles(graph, of, &mut staleness);
    staleness
}

/// The cell reads a name from below, and a cell above may bind any name.
fn perhaps_above(graph: &Graph, cell: usize, (symbol, sources): &(Symbol, Vec<usize>)) -> Option<OtherValue> {
    let base = base_of(graph, *symbol, sources).0?;
    let star = sources.iter().copied().find(|source| *source < cell && cell < base)?;
    Some(OtherValue { symbol: *symbol, by: By::Cell(star), is_unknown: true })
}

/// A cell whose value another one has overwritten is stale itself if a cell misses that value: it must run first.
pub(crate) fn mark_overwritten(graph: &Graph, staleness: &mut [Option<Stale>]) {
    for cell in 0..graph.len() {
        let Some(Stale::Other(other)) = &staleness[cell] else { continue };
        let sources = graph.reads(cell).into_iter().find(|(symbol, _)| *symbol == other.symbol);
        let base = sources.and_then(|(symbol, sources)| base_of(graph, symbol, &sources).0);
        let Some(base) = base.filter(|_| !other.is_unknown) else { continue };
        let other = other.clone();
        if staleness[base].is_none() {
            staleness[base] = Some(Stale::Overwritten(other));
        }
        staleness[cell] = Some(Stale::Ancestor(base));
    }
}

/// Marks cells in a cycle and those that read from one; `in_order` leaves them out.
fn mark_cycles(graph: &Graph, of: &[bool], staleness: &mut [Option<Stale>]) {
    let doomed: Cells = graph.doomed();
    for cell in (0..graph.len()).filter(|cell| doomed[*cell] && of[*cell]) {
        let parent = distinct(graph.parents(cell)).find(|parent| doomed[*parent]);
        staleness[cell] = match parent {
            Some(parent) if !graph.is_cyclic(cell) => Some(Stale::Ancestor(parent)),
            _ => Some(Stale::Cyclic),
        };
    }
}

/// Version at which the cell's latest run was requested, and the reason why the cell is stale regardless of other
/// cells.
pub(crate) fn own(
    notebook: &Document,
    gone: &BTreeSet<CellId>,
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
        _ if gone.contains(cell_id) => Some(Stale::VariablesGone),
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
