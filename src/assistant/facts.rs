//! Facts of a session for every model call (R30): the notebook, its cells, imports and definitions. Derived from the log,
//! so they are the same after a restart, in the next turn and with another provider.

use std::collections::BTreeSet;

use notarium_core::mask::mask_keys;
use notarium_core::{Cell, CellId, Document, Execution, ExecutionStatus, default_session};
use serde_json::{Value, json};

use crate::state::{CellStatus, KnownNames};

/// Most cells that are listed; of more cells, the first and the last are.
const MAX_CELLS: usize = 120;
const MAX_NAMES: usize = 200;
const MAX_LINE_CHARACTERS: usize = 80;

/// The session, as JSON.
pub fn facts(notebook: &Document, names: &KnownNames) -> Value {
    let [imported, definitions, variables] = known(notebook, names);
    let kernel = default_session(notebook).and_then(|id| notebook.kernels.get(id));
    let unfinished = notebook.executions.values().filter(|execution| !execution.status.is_finished()).count();
    json!({
        "notebook_id": notebook.notebook_id,
        "title": notebook.title,
        "version": notebook.version,
        "kernel": kernel.map(|kernel| json!({"kernelspec": kernel.kernelspec, "phase": kernel.phase})),
        "runs_unfinished": unfinished,
        "imported": listed(imported),
        "functions_and_classes": listed(definitions),
        "variables": listed(variables),
        "cell_count": notebook.order.len(),
        "cells": cells(notebook),
    })
}

/// Imports, definitions and variables of the cells that ran in the current kernel.
fn known<'a>(notebook: &Document, names: &'a KnownNames) -> [BTreeSet<&'a str>; 3] {
    let mut known = [BTreeSet::new(), BTreeSet::new(), BTreeSet::new()];
    let Some(session) = default_session(notebook) else { return known };
    let fence = notebook.kernels.get(session).and_then(|kernel| kernel.fence);
    let is_there = |execution: &Execution| {
        execution.kernel_session.as_ref() == Some(session)
            && execution.fence == fence
            && matches!(execution.status, ExecutionStatus::Ok | ExecutionStatus::Error)
    };
    let mut latest = notebook.latest.iter().peekable();
    for (id, cell) in names.iter() {
        // Both are sorted by id: this saves one lookup per cell.
        while latest.next_if(|(other, _)| *other < id).is_some() {}
        let execution = latest.next_if(|(other, _)| *other == id).and_then(|(_, run)| notebook.executions.get(run));
        if !execution.is_some_and(|execution| is_there(execution)) {
            continue;
        }
        known[0].extend(cell.imports.iter().map(String::as_str));
        known[1].extend(cell.definitions.iter().map(String::as_str));
        let variables = cell.writes.iter().filter(|name| !is_bound_by_import(name, &cell.imports));
        known[2].extend(variables.map(String::as_str));
    }
    let [_, definitions, variables] = &mut known;
    variables.retain(|name| !definitions.contains(name) && !name.starts_with('_'));
    known
}

fn is_bound_by_import(name: &str, imports: &BTreeSet<String>) -> bool {
    imports.iter().any(|import| match import.rsplit_once(" as ") {
        Some((_, alias)) => alias == name,
        None => import.split('.').any(|part| part == name),
    })
}

fn listed(names: BTreeSet<&str>) -> Vec<String> {
    let more = names.len().saturating_sub(MAX_NAMES);
    let mut listed: Vec<String> = names.into_iter().take(MAX_NAMES).map(str::to_owned).collect();
    if more > 0 {
        listed.push(format!("… and {more} more"));
    }
    listed
}

/// The cells in document order, one line each.
fn cells(notebook: &Document) -> Vec<Value> {
    let lines = |ids: &[CellId]| -> Vec<Value> {
        ids.iter().filter_map(|id| Some(line(notebook, id, notebook.cells.get(id)?))).collect()
    };
    let (order, half) = (&notebook.order, MAX_CELLS / 2);
    if order.len() <= MAX_CELLS {
        return lines(order);
    }
    let between = order.len() - 2 * half;
    let mut rendered = lines(&order[..half]);
    rendered.push(json!(format!("… {between} more cells: get_notebook_state tells them")));
    rendered.extend(lines(&order[half + between..]));
    rendered
}

fn line(notebook: &Document, id: &CellId, cell: &Cell) -> Value {
    let first = cell.content.source.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    let first: String = first.chars().take(MAX_LINE_CHARACTERS).collect();
    let mut line =
        json!({"cell_id": id, "version": cell.cell_version, "kind": cell.content.cell_type, "begins": first});
    if cell.content.cell_type.runs() {
        line["status"] = json!(CellStatus::of(notebook, id));
    }
    line
}

/// JSON with keys masked, escaped so that no text can end the marks around it.
pub fn as_data(value: &Value) -> String {
    mask_keys(&serde_json::to_string(value).unwrap_or_default()).replace('<', "\\u003c").replace('>', "\\u003e")
}
