//! Reactive notebooks: dependencies between cells, stale cells, and the runs that bring them up to date.
//!
//! Purpose: [`Graph`] is a pure function of a notebook's cells and their names. Staleness is a function of the graph
//! and the latest runs; a plan is a function of both. The core cannot read names from code: [`KnownNames`] is filled
//! from outside, as judgements are.
//!
//! The rules, compared with those of marimo and Livebook: `protocol/reactivity.md`.

mod graph;
mod left;
mod plan;
mod report;
mod standing;

pub(crate) use left::{blocked_after, removal, removal_after};
pub(crate) use plan::{Plan, Planned, plan};

pub use graph::{Edge, Graph};
pub use report::{CellReport, ClashReport, LinkReport, NotebookGraph, Standing, document_graph, notebook_graph};

pub use crate::code_names::{CodeNames, CodeText, KnownNames};

use crate::command::Command;
use crate::command_values::{ExecutionTarget, RequestExecution};
use notarium_record::{Document, Reactivity};

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
