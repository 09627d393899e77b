//! Differences between two versions of a notebook.

use notarium_core::{Cell, CellId, Document};
use notarium_wire::rest::{CellDiff, NotebookDiff};
use similar::TextDiff;

/// Differences, in the order of the second one; cells that it does not have come last.
pub fn between(from: &Document, to: &Document) -> NotebookDiff {
    let title = (from.title != to.title).then(|| (from.title.clone(), to.title.clone()));
    let living = to.ordered_cells().map(|(id, cell)| changes(from, to, id, cell));
    let deleted = from.ordered_cells().filter(|(id, _)| !to.cells.contains_key(*id));
    let deleted = deleted.map(|(id, cell)| diff(id, &["deleted"], &cell.content.source, ""));
    let cells = living.chain(deleted).filter(|cell| !cell.changes.is_empty()).collect();
    NotebookDiff { from: from.version, to: to.version, title, cells }
}

fn changes(from: &Document, to: &Document, id: &CellId, cell: &Cell) -> CellDiff {
    let Some(before) = from.cells.get(id) else {
        return diff(id, &["added"], "", &cell.content.source);
    };
    let facts = [
        ("moved", before.content.order_key != cell.content.order_key),
        ("retyped", before.content.cell_type != cell.content.cell_type),
        ("edited", before.content.source != cell.content.source),
        ("run", from.latest.get(id) != to.latest.get(id)),
    ];
    let changes: Vec<&str> = facts.into_iter().filter_map(|(name, is_so)| is_so.then_some(name)).collect();
    diff(id, &changes, &before.content.source, &cell.content.source)
}

fn diff(id: &CellId, changes: &[&str], before: &str, after: &str) -> CellDiff {
    let source = if before == after {
        String::new()
    } else {
        TextDiff::from_lines(before, after).unified_diff().missing_newline_hint(false).to_string()
    };
    CellDiff { cell_id: id.clone(), changes: changes.iter().map(ToString::to_string).collect(), source }
}
