//! The dependency graph of a notebook as people and programs read it.

use std::fmt;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ledger::KernelVariables;
use crate::reactive::graph::Graph;
use crate::reactive::history::{By, KernelHistory, OtherValue};
use crate::reactive::staleness::{Stale, mark_overwritten, staleness};
use crate::runs::kernels::default_session;
use crate::values::code_names::KnownNames;
use crate::values::edges::Edge;
use notarium_record::{CellId, Document, ExecutionStatus, Reactivity, Version};

/// State of a cell, compared with the variables in the kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// A run now would give the same outputs, as far as names show.
    Fresh,
    /// A run now may give other outputs; `reason` says why.
    Stale,
    /// The cell did not run, because a cell from which it reads did not succeed.
    Blocked,
    /// The cell depends on itself through other cells, so it does not run.
    Cycle,
}

/// Reason why a cell is not fresh. In JSON: `kind`, and the ids of the cells that it is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum StaleReason {
    /// The cell has not run, or its run was imported.
    NotRun,
    /// The cell ran in another kernel, or in one that has ended.
    KernelGone,
    /// The cell's text has changed since its run.
    Edited,
    /// The cell's run failed.
    Failed,
    /// The cell's run was cancelled.
    Cancelled,
    /// The cell's run was lost with its kernel or agent.
    Lost,
    /// The cell was deleted and restored, and its variables are missing.
    Restored,
    /// The cell depends on itself through others.
    Circle {
        /// Cells of a shortest circle, beginning with this one; at most 8. Each defines a name that the next one reads.
        cells: Vec<CircleStep>,
        /// Number of further cells of the circle.
        #[serde(default, skip_serializing_if = "notarium_record::is_default")]
        more: usize,
    },
    /// A cell from which this one reads has run since.
    RanSince {
        /// The cell from which this one reads.
        cell_id: CellId,
    },
    /// A cell from which this one reads is not fresh.
    CellStale {
        /// The cell from which this one reads.
        cell_id: CellId,
    },
    /// The cell's run was blocked, because a cell from which it reads did not succeed.
    CellFailed {
        /// The cell from which this one reads. Absent: its run is not known any more.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cell_id: Option<CellId>,
    },
    /// The cell did not run, because a cell of the same request failed before it. It reads nothing from that cell.
    Skipped {
        /// The cell that failed.
        cell_id: CellId,
    },
    /// The kernel has lost the value of a name that other cells read from this one.
    Overwritten {
        /// The name.
        name: String,
        /// The cell that has bound the name since. Absent: the name was removed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cell_id: Option<CellId>,
    },
    /// The cell has read a value that a cell no longer leaves for it: that cell was deleted, changed or moved.
    OtherValue {
        /// The name that it has read.
        name: String,
        /// The cell that had bound the name. Absent: the name was removed before the run.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cell_id: Option<CellId>,
    },
    /// The cell may be stale: another cell may have bound a name before it ran.
    MayBeStale {
        /// The name that it has read.
        name: String,
        /// The other cell. Absent: cells overwrite the name before this one can read it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cell_id: Option<CellId>,
    },
}

/// A cell of a circle, and a name that leads to the next one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CircleStep {
    /// The cell.
    pub cell_id: CellId,
    /// A name that the cell defines and the next one reads.
    pub name: String,
}

impl StaleReason {
    /// The other cell that the reason is about.
    pub fn cell(&self) -> Option<&CellId> {
        match self {
            Self::RanSince { cell_id } | Self::CellStale { cell_id } | Self::Skipped { cell_id } => Some(cell_id),
            Self::CellFailed { cell_id }
            | Self::Overwritten { cell_id, .. }
            | Self::OtherValue { cell_id, .. }
            | Self::MayBeStale { cell_id, .. } => cell_id.as_ref(),
            _ => None,
        }
    }
}

impl fmt::Display for StaleReason {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::NotRun => f.write_str("it has not run here"),
            Self::KernelGone => f.write_str("the kernel that ran it is gone"),
            Self::Edited => f.write_str("its text has changed since it ran"),
            Self::Failed => f.write_str("its run failed"),
            Self::Cancelled => f.write_str("its run was cancelled"),
            Self::Lost => f.write_str("its run was lost"),
            Self::Restored => f.write_str("it was deleted and came back, and its variables did not"),
            Self::Circle { cells, more } => {
                write!(f, "cells read from each other in a circle: {}", circle_in_words(cells, *more))
            }
            Self::RanSince { cell_id } => write!(f, "cell {cell_id}, from which it reads, has run since"),
            Self::CellStale { cell_id } => write!(f, "cell {cell_id}, from which it reads, is not up to date"),
            Self::CellFailed { cell_id: Some(id) } => write!(f, "cell {id}, from which it reads, did not succeed"),
            Self::CellFailed { cell_id: None } => f.write_str("a cell from which it reads did not succeed"),
            Self::Skipped { cell_id } => write!(f, "cell {cell_id} failed before it"),
            Self::Overwritten { name, cell_id: Some(id) } => write!(f, "cell {id} has overwritten its `{name}`"),
            Self::Overwritten { name, cell_id: None } => write!(f, "its `{name}` was removed from the kernel"),
            Self::OtherValue { name, cell_id: Some(id) } => write!(f, "it has read the `{name}` of cell {id}"),
            Self::OtherValue { name, cell_id: None } => write!(f, "it ran after its `{name}` was removed"),
            Self::MayBeStale { name, cell_id: Some(id) } => {
                write!(f, "it may be stale: cell {id} may have changed `{name}` before it ran")
            }
            Self::MayBeStale { name, cell_id: None } => {
                write!(f, "it may be stale: `{name}` is overwritten before it can read it")
            }
        }
    }
}

/// Most cells of a circle that a message or an answer names.
const MAX_NAMED: usize = 8;

/// The first cells of a shortest circle through the cell, and the number of further ones.
pub(crate) fn circle(graph: &Graph, cell: usize) -> (Vec<CircleStep>, usize) {
    let way = graph.cycle(cell);
    let step = |pair: &[usize]| {
        let edge = graph.children(pair[0]).iter().find(|edge| edge.cell == pair[1])?;
        Some(CircleStep { cell_id: graph.id(pair[0]).clone(), name: graph.name(edge).to_owned() })
    };
    let cells: Vec<CircleStep> = way.windows(2).take(MAX_NAMED).filter_map(step).collect();
    let more = way.len().saturating_sub(1 + cells.len());
    (cells, more)
}

/// Circle as text, with the names that are read: "a (`x`) → b (`y`) → a".
pub(crate) fn circle_in_words(cells: &[CircleStep], more: usize) -> String {
    let steps = cells.iter().map(|step| format!("{} (`{}`) → ", step.cell_id, step.name));
    let rest = (more > 0).then(|| format!("… {more} more … → "));
    let start = cells.first().map(|step| step.cell_id.to_string());
    steps.chain(rest).chain(start).collect()
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
#[serde_with::skip_serializing_none]
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
    /// The reason, for programs. Absent: the cell is fresh.
    pub reason: Option<StaleReason>,
    /// The reason, in a sentence for people. Absent: the cell is fresh.
    pub why: Option<String>,
    /// The other cell that `why` is about. Absent: none.
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

/// Graph from the names of the notebook's cells, as far as they are known. `kernel`: [`crate::Ledger::kernel_variables`].
/// Without it, only the present runs and texts of cells show whose values were read, and a cell that was deleted and
/// restored counts as if its variables were restored too.
pub fn notebook_graph(notebook: &Document, kernel: &KernelVariables, names: Arc<KnownNames>) -> NotebookGraph {
    let graph = Graph::of(names);
    let history = KernelHistory::of(notebook, kernel, &graph, default_session(notebook));
    let mut stale = staleness(&graph, &history, &vec![true; graph.len()]);
    mark_overwritten(&graph, &mut stale);
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
    let mut reads = graph.names_of(&known.names.reads);
    let sourced = known.names.may_read.iter().filter(|symbol| !graph.is_without_source(cell, **symbol));
    reads.extend(sourced.map(|symbol| graph.name_of(*symbol).to_owned()));
    let is_shown = |reader: usize, edge: &&Edge| graph.is_own_read(reader, edge.symbol);
    let parents: Vec<Edge> = graph.parents(cell).iter().filter(|edge| is_shown(cell, edge)).copied().collect();
    let children: Vec<Edge> = graph.children(cell).iter().filter(|edge| is_shown(edge.cell, edge)).copied().collect();
    let reason = stale.map(|stale| reason(graph, cell, stale));
    CellReport {
        cell_id: graph.id(cell).clone(),
        reads: sorted(reads),
        writes: sorted(graph.names_of(&known.names.leaves)),
        outdated: known.is_outdated(),
        parents: links(graph, &parents),
        children: links(graph, &children),
        standing: match stale {
            None => Standing::Fresh,
            Some(Stale::Cyclic) => Standing::Cycle,
            Some(Stale::Blocked(_) | Stale::Skipped(_)) => Standing::Blocked,
            Some(_) => Standing::Stale,
        },
        why: reason.as_ref().map(StaleReason::to_string),
        because_of: reason.as_ref().and_then(StaleReason::cell).cloned(),
        reason,
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

fn reason(graph: &Graph, cell: usize, stale: &Stale) -> StaleReason {
    let cell_id = |cell: &usize| graph.id(*cell).clone();
    let name = |other: &OtherValue| graph.name_of(other.symbol).to_owned();
    match stale {
        Stale::NeverRan => StaleReason::NotRun,
        Stale::KernelGone => StaleReason::KernelGone,
        Stale::Edited => StaleReason::Edited,
        Stale::Unsuccessful(ExecutionStatus::Cancelled) => StaleReason::Cancelled,
        Stale::Unsuccessful(ExecutionStatus::Lost) => StaleReason::Lost,
        Stale::Unsuccessful(_) => StaleReason::Failed,
        Stale::Blocked(by) => StaleReason::CellFailed { cell_id: by.clone() },
        Stale::VariablesGone => StaleReason::Restored,
        Stale::Cyclic => {
            let (cells, more) = circle(graph, cell);
            StaleReason::Circle { cells, more }
        }
        Stale::Reran(of) => StaleReason::RanSince { cell_id: cell_id(of) },
        Stale::Ancestor(of) => StaleReason::CellStale { cell_id: cell_id(of) },
        Stale::Skipped(by) => StaleReason::Skipped { cell_id: by.clone() },
        Stale::Contended(symbol) => StaleReason::MayBeStale { name: graph.name_of(*symbol).to_owned(), cell_id: None },
        Stale::Forgotten(name, by) => StaleReason::MayBeStale { name: name.clone(), cell_id: Some(by.clone()) },
        Stale::Overwritten(other) => StaleReason::Overwritten { name: name(other), cell_id: cell_of(graph, other) },
        Stale::Other(other) => {
            let (name, cell_id) = (name(other), cell_of(graph, other));
            match other.is_unknown {
                true => StaleReason::MayBeStale { name, cell_id },
                false => StaleReason::OtherValue { name, cell_id },
            }
        }
    }
}

fn cell_of(graph: &Graph, other: &OtherValue) -> Option<CellId> {
    match &other.by {
        By::Cell(cell) => Some(graph.id(*cell).clone()),
        By::Past(cell_id) => Some(cell_id.clone()),
        By::Removal => None,
    }
}
