//! Plans the runs that bring cells up to date: stale inputs, and in eager notebooks the dependents too.

use std::collections::BTreeSet;

use super::graph::{Cells, Graph, distinct};
use super::staleness::standings;
use crate::notebook::Notebook;
use crate::values::rejection::{RejectionCode, Result};
use notarium_record::{CellId, ExecutionId, KernelSessionId, Reactivity};

/// Cells of a cycle that a message names, at most.
const MAX_NAMED: usize = 8;

/// One run of a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Planned {
    pub(crate) cell_id: CellId,
    /// Indexes of earlier runs of the plan on which this one depends.
    pub(crate) waits_for: Vec<usize>,
    /// Unfinished runs outside the plan on which this one depends.
    pub(crate) waits_for_others: Vec<ExecutionId>,
    /// Names that the cell's text binds; `None` if the text does not parse.
    pub(crate) leaves: Option<Vec<String>>,
}

/// Runs in the order in which they are requested.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Plan {
    pub(crate) runs: Vec<Planned>,
    /// Variables that only earlier texts of these cells have bound.
    pub(crate) abandoned: BTreeSet<String>,
}

/// Plans the cells and their stale inputs. Eager notebooks add all cells that read from any of these, with their stale
/// inputs.
pub(crate) fn plan(
    notebook: &Notebook,
    graph: &Graph,
    roots: &[CellId],
    session: Option<&KernelSessionId>,
) -> Result<Plan> {
    let mut wanted: Cells = vec![false; graph.len()];
    graph.places(roots).into_iter().for_each(|place| wanted[place] = true);
    check_no_cycle(graph, &wanted)?;
    let doomed = graph.doomed();
    let runs = |cell: usize| !doomed[cell] && is_runnable(notebook, graph.id(cell));
    let is_gone = |cell: &CellId| notebook.ledger.reactive.gone.contains(cell);
    let cells = loop {
        let before = wanted.clone();
        if notebook.reactivity == Reactivity::Eager {
            wanted = graph.with_descendants(&wanted, runs);
        }
        let near = graph.with_ancestors(&wanted);
        let stale = standings(notebook, &is_gone, graph, session, &near);
        let stale = (0..graph.len()).filter(|cell| near[*cell] && stale[*cell].is_some() && runs(*cell));
        stale.for_each(|cell| wanted[cell] = true);
        if wanted == before {
            break wanted;
        }
    };
    Ok(of_cells(notebook, graph, &cells))
}

fn of_cells(notebook: &Notebook, graph: &Graph, cells: &Cells) -> Plan {
    let order = graph.in_order(cells);
    let mut index = vec![usize::MAX; graph.len()];
    order.iter().enumerate().for_each(|(at, cell)| index[*cell] = at);
    let mut plan = Plan::default();
    for cell in order {
        let (cell_id, known) = (graph.id(cell).clone(), graph.known(cell));
        let (inside, outside): (Vec<usize>, Vec<usize>) =
            distinct(graph.parents(cell)).partition(|parent| cells[*parent]);
        let under_way = |parent: usize| {
            let (id, run) = notebook.latest_execution(graph.id(parent))?;
            (!run.status.is_finished()).then(|| id.clone())
        };
        let leaves = (!known.is_outdated()).then(|| graph.names_of(&known.names.leaves));
        let abandoned = leaves.iter().flat_map(|leaves| notebook.ledger.reactive.abandoned(&cell_id, leaves));
        plan.abandoned.extend(abandoned);
        plan.runs.push(Planned {
            cell_id,
            waits_for: inside.into_iter().map(|parent| index[parent]).collect(),
            waits_for_others: outside.into_iter().filter_map(under_way).collect(),
            leaves,
        });
    }
    // Names that another run of the plan binds stay.
    let bound: BTreeSet<&String> = plan.runs.iter().flat_map(|run| run.leaves.iter().flatten()).collect();
    plan.abandoned.retain(|name| !bound.contains(name));
    plan
}

fn is_runnable(notebook: &Notebook, cell_id: &CellId) -> bool {
    notebook.cells.get(cell_id).is_some_and(|cell| cell.content.cell_type.runs())
}

/// Refuses cells that are in a cycle or read from one: they cannot be brought up to date.
fn check_no_cycle(graph: &Graph, wanted: &Cells) -> Result<()> {
    let near = graph.with_ancestors(wanted);
    let circles = |cells: &Cells| (0..graph.len()).find(|cell| cells[*cell] && graph.is_cyclic(*cell));
    let Some(cyclic) = circles(wanted).or_else(|| circles(&near)) else { return Ok(()) };
    let way = cycle_in_words(graph, cyclic);
    let message = format!(
        "nothing was run: cells read from each other in a circle, {way}; change a name in one of them, or turn \
         reactivity off"
    );
    Err(RejectionCode::DependencyCycle.because(message))
}

/// Cycle as text, with the names that are read: "a (`x`) → b (`y`) → a".
pub(super) fn cycle_in_words(graph: &Graph, cell: usize) -> String {
    let way = graph.cycle(cell);
    let shown = way.len().min(MAX_NAMED + 1);
    let mut words = String::new();
    for (at, cell) in way.iter().enumerate().take(shown) {
        words.push_str(graph.id(*cell).as_str());
        let next = way.get(at + 1);
        let name = next.and_then(|next| graph.children(*cell).iter().find(|edge| edge.cell == *next));
        if let Some(edge) = name {
            words.push_str(&format!(" (`{}`) → ", graph.name(edge)));
        }
    }
    if way.len() > shown {
        let rest = way.len() - shown;
        words.push_str(&format!("… {rest} more … → {}", graph.id(cell)));
    }
    words
}
