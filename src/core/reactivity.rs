//! Reactive notebooks: which cell reads what another leaves, what is stale, and which runs bring it up to date.
//!
//! Purpose: [`Graph`] is a pure function of a notebook's cells and their names; what is stale is one of that and the latest
//! runs, and a plan one of both. What names a cell has, the core cannot tell: [`KnownNames`] is
//! filled from outside, as judgements are.
//!
//! The rules, beside those of others: `protocol/reactivity.md`.

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

/// Whether the command is decided by the names of the notebook's cells: they must be known of the cells as they are.
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
