//! Cache of the names that cells read and write: a cell is parsed once per version of its source.

use std::collections::BTreeMap;
use std::sync::Arc;

use notarium_core::reactive::{self, CodeNames};
use notarium_core::{Cell, CellId, Document, Reactivity, Version};
use notarium_judge::{CellNames, cell_names, sql_cell_names};

/// The names of the cells of one notebook. Holds as many entries as the notebook has code cells.
#[derive(Debug, Clone, Default)]
pub struct KnownNames(BTreeMap<CellId, (Version, Option<CellNames>)>);

impl KnownNames {
    /// Parses new and changed cells and forgets removed ones. Only Python is parsed; other notebooks have no names.
    pub fn refresh(&mut self, notebook: &Document, is_python: bool) {
        // Both are sorted by id and walked in parallel, without lookups.
        let parsed = || notebook.cells.iter().filter(|(_, cell)| is_parsed(cell, is_python));
        let versions = self.0.iter().map(|(id, (version, _))| (id, *version));
        if versions.eq(parsed().map(|(id, cell)| (id, cell.source_version))) {
            return;
        }
        let mut known = std::mem::take(&mut self.0).into_iter().peekable();
        let names = parsed().map(|(id, cell)| {
            while known.next_if(|(other, _)| other < id).is_some() {}
            let is_current = |(other, (version, _)): &(CellId, _)| other == id && *version == cell.source_version;
            known
                .next_if(is_current)
                .unwrap_or_else(|| (id.clone(), (cell.source_version, cell_names(&cell.content.text_to_run()))))
        });
        self.0 = names.collect();
    }

    /// `None` for a cell that does not parse, is no Python, or was absent at the last refresh.
    pub fn of(&self, cell_id: &CellId) -> Option<&CellNames> {
        self.0.get(cell_id)?.1.as_ref()
    }

    /// All cells whose names are known, sorted by id.
    pub fn iter(&self) -> impl Iterator<Item = (&CellId, &CellNames)> {
        self.0.iter().filter_map(|(id, (_, names))| Some((id, names.as_ref()?)))
    }
}

fn is_parsed(cell: &Cell, is_python: bool) -> bool {
    is_python && cell.content.cell_type.runs()
}

/// The names of one cell, parsed now; `None` as in [`KnownNames::of`].
pub(super) fn names_of(cell: &Cell, is_python: bool) -> Option<CellNames> {
    is_parsed(cell, is_python).then(|| cell_names(&cell.content.text_to_run())).flatten()
}

/// Reasons why cells of a reactive notebook are stale; empty for other notebooks.
pub(super) fn stale(notebook: &Document, is_python: bool) -> BTreeMap<CellId, String> {
    if notebook.reactivity == Reactivity::Off || !is_python {
        return BTreeMap::new();
    }
    let mut names = reactive::KnownNames::default();
    for text in names.refresh(notebook) {
        let found = if text.is_query { Some(sql_cell_names(&text.source)) } else { cell_names(&text.source) };
        names.learn(&text.cell_id, text.source_version, found.map(code_names).as_ref());
    }
    let cells = reactive::document_graph(notebook, Arc::new(names)).cells;
    cells.into_iter().filter_map(|cell| Some((cell.cell_id, cell.why?))).collect()
}

fn code_names(names: CellNames) -> CodeNames {
    let CellNames { reads, leaves, imported, has_star, .. } = names;
    CodeNames { reads, leaves, imported, has_star }
}
