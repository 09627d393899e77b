//! Staleness of cells with the reasons, and the dependency graph of a notebook as people and programs read it.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::notebook::Notebook;
use crate::reactive::cycle_in_words;
use crate::reactive::graph::{Cells, Graph, distinct};
use crate::runs::kernels::default_session;
use crate::values::code_names::{Edge, KnownNames};
use crate::values::decision::word;
use notarium_record::{
    CellId, Document, Execution, ExecutionStatus, ExecutionSubject, KernelSessionId, Reactivity, Version,
};

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
}

/// Lookup in the ledger: the kernel has lost the cell's variables.
pub(crate) type IsGone<'a> = &'a dyn Fn(&CellId) -> bool;

/// Staleness by cell. Cells outside `of` count as not stale.
///
/// `is_gone`: the kernel has lost the variables of the cell's latest run.
pub(crate) fn staleness(
    notebook: &Document,
    is_gone: IsGone,
    graph: &Graph,
    session: Option<&KernelSessionId>,
    of: &[bool],
) -> Vec<Option<Stale>> {
    let mut staleness = vec![None; graph.len()];
    let mut versions = vec![0; graph.len()];
    for cell in graph.in_order(&of.to_vec()) {
        let (version, own) = own(notebook, is_gone, graph.id(cell), session);
        versions[cell] = version;
        staleness[cell] = own.or_else(|| {
            let mut parents = distinct(graph.parents(cell)).filter(|parent| of[*parent]);
            parents.find_map(|parent| match &staleness[parent] {
                Some(_) => Some(Stale::Ancestor(parent)),
                None => (versions[parent] > version).then_some(Stale::Reran(parent)),
            })
        });
    }
    mark_cycles(graph, of, &mut staleness);
    staleness
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

// --- the graph as people and programs read it ---

/// State of a cell, compared with the variables in the kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// A run now would give the same outputs, as far as names show.
    Fresh,
    /// A run now may give other outputs; `why` has the reason.
    Stale,
    /// The cell did not run, because a cell from which it reads did not succeed.
    Blocked,
    /// The cell depends on itself through other cells, so it does not run.
    Cycle,
}

/// A dependency: another cell, and the names that it is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LinkReport {
    /// The other cell.
    pub cell_id: CellId,
    /// One name or more. For a cell that may define any name (`from m import *`): the names that are read from it.
    pub names: Vec<String>,
}

/// A name that several cells define.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ClashReport {
    /// The name.
    pub name: String,
    /// The cells that define the name, in page order.
    pub cells: Vec<CellId>,
}

/// Dependencies and state of one code or SQL cell.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CellReport {
    /// The cell.
    pub cell_id: CellId,
    /// Names that the cell reads from other cells, sorted.
    pub reads: Vec<String>,
    /// Names that the cell defines for other cells, sorted.
    pub writes: Vec<String>,
    /// True: the names are those of an earlier text, because the present one does not parse or is too long.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub outdated: bool,
    /// Cells from which this one reads.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parents: Vec<LinkReport>,
    /// Cells that read from this one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub children: Vec<LinkReport>,
    /// The cell's state.
    pub standing: Standing,
    /// The reason, in a sentence for people. Absent: the cell is fresh.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// The other cell that `why` is about. Absent: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub because_of: Option<CellId>,
    /// Names that the cell reads and no cell defines.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<String>,
}

/// Dependencies between the cells of a notebook.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NotebookGraph {
    /// Version of the notebook that this graph describes.
    pub version: Version,
    /// The notebook's setting: which cells a run of a cell also updates.
    pub reactivity: Reactivity,
    /// Code and SQL cells, in page order.
    pub cells: Vec<CellReport>,
    /// Names that several cells define, except names that all of them only import.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub defined_twice: Vec<ClashReport>,
}

/// Graph from the names of the notebook's cells, as far as they are known.
pub fn notebook_graph(notebook: &Notebook, names: Arc<KnownNames>) -> NotebookGraph {
    graph_of(notebook, &|cell| notebook.ledger.reactive.gone.contains(cell), names)
}

/// Graph without a ledger: a cell that was deleted and restored counts as if its variables were restored too.
pub fn document_graph(document: &Document, names: Arc<KnownNames>) -> NotebookGraph {
    graph_of(document, &|_| false, names)
}

fn graph_of(notebook: &Document, is_gone: IsGone, names: Arc<KnownNames>) -> NotebookGraph {
    let graph = Graph::of(names);
    let stale = staleness(notebook, is_gone, &graph, default_session(notebook), &vec![true; graph.len()]);
    let cells = stale.iter().enumerate().map(|(cell, stale)| cell_report(&graph, cell, stale.as_ref()));
    let ids = |cells: &[usize]| cells.iter().map(|cell| graph.id(*cell).clone()).collect();
    let clashes = graph.clashes().map(|(name, cells)| ClashReport { name: name.to_owned(), cells: ids(cells) });
    NotebookGraph {
        version: notebook.version,
        reactivity: notebook.reactivity,
        cells: cells.collect(),
        defined_twice: clashes.collect(),
    }
}

fn cell_report(graph: &Graph, cell: usize, stale: Option<&Stale>) -> CellReport {
    let known = graph.known(cell);
    let (why, because_of) = stale.map(|stale| why(graph, cell, stale)).unzip();
    CellReport {
        cell_id: graph.id(cell).clone(),
        reads: sorted(graph.names_of(&known.names.reads)),
        writes: sorted(graph.names_of(&known.names.leaves)),
        outdated: known.is_outdated(),
        parents: links(graph, graph.parents(cell)),
        children: links(graph, graph.children(cell)),
        standing: match stale {
            None => Standing::Fresh,
            Some(Stale::Cyclic) => Standing::Cycle,
            Some(Stale::Blocked(_)) => Standing::Blocked,
            Some(_) => Standing::Stale,
        },
        why,
        because_of: because_of.flatten(),
        missing: sorted(graph.missing(cell).map(str::to_owned).collect()),
    }
}

fn sorted(mut names: Vec<String>) -> Vec<String> {
    names.sort();
    names
}

fn links(graph: &Graph, edges: &[Edge]) -> Vec<LinkReport> {
    let by_cell = edges.chunk_by(|one, other| one.cell == other.cell);
    let link = |edges: &[Edge]| LinkReport {
        cell_id: graph.id(edges[0].cell).clone(),
        names: sorted(edges.iter().map(|edge| graph.name(edge).to_owned()).collect()),
    };
    by_cell.map(link).collect()
}

fn why(graph: &Graph, cell: usize, stale: &Stale) -> (String, Option<CellId>) {
    let id = |cell: &usize| Some(graph.id(*cell).clone());
    let (sentence, of) = match stale {
        Stale::NeverRan => ("it has not run here".to_owned(), None),
        Stale::KernelGone => ("the kernel that ran it is gone".to_owned(), None),
        Stale::Edited => ("its text has changed since it ran".to_owned(), None),
        Stale::Unsuccessful(ExecutionStatus::Error) => ("its run failed".to_owned(), None),
        Stale::Unsuccessful(status) => (format!("its run was {}", word(status)), None),
        Stale::Blocked(Some(by)) => (format!("cell {by}, from which it reads, did not succeed"), Some(by.clone())),
        Stale::Blocked(None) => ("a cell from which it reads did not succeed".to_owned(), None),
        Stale::VariablesGone => ("it was deleted and came back, and its variables did not".to_owned(), None),
        Stale::Cyclic => (format!("cells read from each other in a circle: {}", cycle_in_words(graph, cell)), None),
        Stale::Reran(of) => (format!("cell {}, from which it reads, has run since", graph.id(*of)), id(of)),
        Stale::Ancestor(of) => (format!("cell {}, from which it reads, is not up to date", graph.id(*of)), id(of)),
    };
    (sentence, of)
}
