//! Reactive notebooks: dependencies between cells, stale cells, and the runs that bring them up to date.
//!
//! Purpose: [`Graph`] is a pure function of a notebook's cells and their names. Staleness is a function of the graph
//! and the latest runs; a plan is a function of both. The core cannot read names from code: [`KnownNames`] is filled
//! from outside, as judgements are.
//!
//! The rules, compared with those of marimo and Livebook: `protocol/reactivity.md`.

pub mod planned;

use crate::command::Command;
use crate::values::{ExecutionTarget, RequestExecution};
use notarium_record::{Document, Reactivity};

mod graph;
mod plan;
mod removal;
mod report;
mod staleness;

pub(crate) use plan::{Plan, Planned, plan};
pub(crate) use removal::{blocked_after, removal, removal_after};

pub use graph::{Edge, Graph};
pub use report::{CellReport, ClashReport, LinkReport, NotebookGraph, Standing, document_graph, notebook_graph};

pub use crate::values::code_names::{CodeNames, CodeText, KnownNames};

/// Checks that the decision needs the names of the notebook's cells in their present texts.
pub fn needs_names(notebook: &Document, command: &Command) -> bool {
    if notebook.reactivity == Reactivity::Off {
        return false;
    }
    let runs = |command: &Command| {
        let cell = |target: &ExecutionTarget| matches!(target, ExecutionTarget::Cell { .. });
        matches!(command, Command::RequestExecution(RequestExecution { target, .. }) if cell(target))
    };
    match command {
        Command::Batch { commands } => commands.iter().any(runs),
        command => runs(command),
    }
}
