//! What cells read and write, kept between states: a cell is parsed once for each version of its source.

use std::collections::BTreeMap;

use notarium_core::danger::Language;
use notarium_core::names::{CellNames, cell_names};
use notarium_core::{Cell, CellId, CellType, Notebook, Version};

/// The names of the cells of one notebook. Holds as many entries as the notebook has code cells.
#[derive(Debug, Clone, Default)]
pub struct KnownNames(BTreeMap<CellId, (Version, Option<CellNames>)>);

impl KnownNames {
    /// Parses what is new or changed and forgets what is gone. Only Python is parsed; other notebooks have no names.
    pub fn refresh(&mut self, notebook: &Notebook, language: Language) {
        let is_parsed = |cell: &Cell| language == Language::Python && cell.content.cell_type == CellType::Code;
        self.0.retain(|id, _| notebook.cells.get(id).is_some_and(|cell| is_parsed(cell)));
        for (id, cell) in notebook.cells.iter().filter(|(_, cell)| is_parsed(cell)) {
            if self.0.get(id).is_none_or(|(version, _)| *version != cell.source_version) {
                self.0.insert(id.clone(), (cell.source_version, cell_names(&cell.content.source)));
            }
        }
    }

    /// `None` for a cell that does not parse, is no Python or was not there at the last refresh.
    pub fn of(&self, cell_id: &CellId) -> Option<&CellNames> {
        self.0.get(cell_id)?.1.as_ref()
    }
}
