//! The names of all cells of a notebook, each read once for a version of its text.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, OnceLock};

use crate::code_links::{CellNames, Links, Symbol};
use notarium_record::{Cell, CellId, CellType, Document, Version};

/// What a cell takes from other cells and leaves to them, as who reads its code says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CodeNames {
    /// Names that must be there before it runs.
    pub reads: BTreeSet<String>,
    /// Names that are there when it has run.
    pub leaves: BTreeSet<String>,
    /// Those of `leaves` that nothing but an import binds.
    pub imported: BTreeSet<String>,
    /// It may leave any name (`from m import *`).
    pub has_star: bool,
}

/// A text whose names are not known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CodeText {
    /// The cell that says it.
    pub cell_id: CellId,
    /// … since this version.
    pub source_version: Version,
    /// In full.
    pub source: String,
    /// It is a query, no code.
    pub is_query: bool,
}

/// One cell's.
#[derive(Debug, Clone)]
pub(crate) struct Known {
    pub(crate) cell_id: CellId,
    cell_type: CellType,
    /// Of the text that was looked at last; `None`: of none yet.
    looked_at: Option<Version>,
    /// That is the text of the document of the last `refresh`.
    is_current: bool,
    /// It parsed; else `names` are of an earlier one.
    parses: bool,
    pub(crate) names: CellNames,
}

impl Known {
    fn of(cell_id: &CellId, cell: &Cell) -> Self {
        Self {
            cell_id: cell_id.clone(),
            cell_type: cell.content.cell_type,
            looked_at: None,
            is_current: false,
            parses: false,
            names: CellNames::default(),
        }
    }

    /// Whether `names` are of an earlier text: the present one does not parse, or nobody has looked at it.
    pub(crate) fn is_outdated(&self) -> bool {
        !(self.is_current && self.parses)
    }

    fn is_of(&self, cell_id: &CellId, cell: &Cell) -> bool {
        self.cell_id == *cell_id && self.cell_type == cell.content.cell_type
    }
}

/// The names of a notebook's code and query cells.
#[derive(Debug, Clone, Default)]
pub struct KnownNames {
    /// By id, as the document has them: both are walked side by side, and nothing is looked up.
    cells: Vec<Known>,
    /// Indexes of `cells` in the order of the page.
    pub(crate) page: Vec<u32>,
    /// The document's, of which `page` was made.
    order: Vec<CellId>,
    symbols: BTreeMap<Arc<str>, Symbol>,
    /// By symbol.
    names: Vec<Arc<str>>,
    /// Of these names in this order: made when somebody asks, and kept over edits that change none of it.
    links: OnceLock<Arc<Links>>,
}

fn has_names(cell_type: CellType) -> bool {
    matches!(cell_type, CellType::Code | CellType::Sql)
}

impl KnownNames {
    /// Forgets what is gone, makes room for what is new, and says which texts nobody has looked at.
    pub fn refresh(&mut self, document: &Document) -> Vec<CodeText> {
        if !self.is_aligned(document) {
            self.align(document);
        }
        let cells = named_cells(document).zip(&mut self.cells);
        let changed = cells.filter_map(|((cell_id, cell), known)| {
            known.is_current = known.looked_at == Some(cell.source_version);
            (!known.is_current).then(|| CodeText {
                cell_id: cell_id.clone(),
                source_version: cell.source_version,
                source: cell.content.source.clone(),
                is_query: cell.content.cell_type == CellType::Sql,
            })
        });
        changed.collect()
    }

    /// Whether everything is known of the cells as they are.
    pub fn is_complete(&self, document: &Document) -> bool {
        self.is_aligned(document)
            && named_cells(document)
                .zip(&self.cells)
                .all(|((_, cell), known)| known.is_current && known.looked_at == Some(cell.source_version))
    }

    /// What was found in a text. `None`: it does not parse; the cell keeps what is known of an earlier one.
    pub fn learn(&mut self, cell_id: &CellId, source_version: Version, names: Option<&CodeNames>) {
        let Ok(index) = self.cells.binary_search_by(|known| known.cell_id.cmp(cell_id)) else { return };
        let found = names.map(|names| CellNames {
            reads: names.reads.iter().map(|name| self.symbol(name)).collect(),
            leaves: names.leaves.iter().map(|name| self.symbol(name)).collect(),
            imported: names.leaves.iter().map(|name| names.imported.contains(name)).collect(),
            has_star: names.has_star,
        });
        let known = &mut self.cells[index];
        known.looked_at = Some(source_version);
        (known.is_current, known.parses) = (true, names.is_some());
        if let Some(found) = found.filter(|found| *found != known.names) {
            known.names = found;
            self.links.take();
        }
    }

    fn symbol(&mut self, name: &str) -> Symbol {
        if let Some(symbol) = self.symbols.get(name) {
            return *symbol;
        }
        let name: Arc<str> = name.into();
        let symbol = Symbol::try_from(self.names.len()).unwrap_or(Symbol::MAX);
        self.symbols.insert(name.clone(), symbol);
        self.names.push(name);
        symbol
    }

    /// Who reads from whom.
    pub(crate) fn links(&self) -> Arc<Links> {
        let make = || {
            let cells: Vec<&CellNames> = self.in_page_order().map(|known| &known.names).collect();
            // By custom a name that begins so is no other cell's business.
            let is_private: Vec<bool> = self.names.iter().map(|name| name.starts_with('_')).collect();
            Arc::new(Links::of(&cells, &is_private))
        };
        self.links.get_or_init(make).clone()
    }

    pub(crate) fn name(&self, symbol: Symbol) -> &Arc<str> {
        &self.names[symbol as usize]
    }

    /// The cell at this place of the page, counted without those that have no names.
    pub(crate) fn known(&self, place: usize) -> &Known {
        &self.cells[self.page[place] as usize]
    }

    /// Cells in the order of the page.
    pub(crate) fn in_page_order(&self) -> impl ExactSizeIterator<Item = &Known> {
        self.page.iter().map(|index| &self.cells[*index as usize])
    }

    fn is_aligned(&self, document: &Document) -> bool {
        let mut known = self.cells.iter();
        let is_known = |(id, cell): (&CellId, &Arc<Cell>)| known.next().is_some_and(|known| known.is_of(id, cell));
        named_cells(document).all(is_known) && known.next().is_none() && self.order == document.order
    }

    fn align(&mut self, document: &Document) {
        let mut before = std::mem::take(&mut self.cells).into_iter().peekable();
        let cells = named_cells(document).map(|(id, cell)| {
            while before.next_if(|known| known.cell_id < *id).is_some() {}
            before.next_if(|known| known.is_of(id, cell)).unwrap_or_else(|| Known::of(id, cell))
        });
        self.cells = cells.collect();
        self.order.clone_from(&document.order);
        let index = |id: &CellId| self.cells.binary_search_by(|known| known.cell_id.cmp(id)).ok();
        let page = self.order.iter().filter_map(|id| u32::try_from(index(id)?).ok());
        self.page = page.collect();
        self.links.take();
    }
}

fn named_cells(document: &Document) -> impl Iterator<Item = (&CellId, &Arc<Cell>)> {
    document.cells.iter().filter(|(_, cell)| has_names(cell.content.cell_type))
}
