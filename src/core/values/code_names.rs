//! Names that the cells of a notebook read and leave, and the dependencies that follow from them. Each text is read once
//! for a version. Cells are numbered in page order.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, OnceLock, Weak};

use crate::values::links::{CellNames, Links, Symbol};
use notarium_record::{Cell, CellId, CellType, Document, Version};

/// Names that a cell reads from other cells and leaves to them, as a reader of its code reports them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CodeNames {
    /// Names that must exist before the cell runs.
    pub reads: BTreeSet<String>,
    /// Names that exist after the cell has run.
    pub leaves: BTreeSet<String>,
    /// Names in `leaves` that only an import binds.
    pub imported: BTreeSet<String>,
    /// The cell may leave any name (`from m import *`).
    pub has_star: bool,
    /// Names that it reads if a cell above leaves them.
    pub may_read: BTreeSet<String>,
    /// Names that its functions read when they are called, be it by another cell.
    pub reads_later: BTreeSet<String>,
    /// The cell may read any name (`eval`).
    pub reads_any: bool,
    /// Names that it deletes, or may delete, and does not leave.
    pub unsets: BTreeSet<String>,
    /// Names in `leaves` and `unsets` that may stay as they were before the cell.
    pub uncertain: BTreeSet<String>,
}

/// Text of a cell that is still to be read for names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CodeText {
    /// The cell with this text.
    pub cell_id: CellId,
    /// Version of the cell's source since which it has this text.
    pub source_version: Version,
    /// The whole text.
    pub source: String,
    /// True: a query (SQL cell). False: code.
    pub is_query: bool,
}

/// Names of one cell, and the state of its text when they were read.
#[derive(Debug, Clone)]
pub(crate) struct KnownCell {
    pub(crate) cell_id: CellId,
    /// The document's cell when it was last looked at. While this pointer exists the cell cannot be changed in place,
    /// so the same address is the same cell.
    seen: Weak<Cell>,
    cell_type: CellType,
    /// Source version of the document's cell when it was last looked at.
    source_version: Version,
    /// Source version of the text that was read last; `None`: none was read.
    read_version: Option<Version>,
    /// True if that text parsed; otherwise `names` are those of an earlier text.
    parses: bool,
    pub(crate) names: CellNames,
}

impl KnownCell {
    fn of(cell_id: &CellId, cell: &Arc<Cell>) -> Self {
        Self {
            cell_id: cell_id.clone(),
            seen: Arc::downgrade(cell),
            cell_type: cell.content.cell_type,
            source_version: cell.source_version,
            read_version: None,
            parses: false,
            names: CellNames::default(),
        }
    }

    /// Returns true if `names` are those of an earlier text: the present one does not parse or is unread.
    pub(crate) fn is_outdated(&self) -> bool {
        !(self.is_read() && self.parses)
    }

    fn is_read(&self) -> bool {
        self.read_version == Some(self.source_version) || !has_names(self.cell_type)
    }

    fn is_seen(&self, cell: &Arc<Cell>) -> bool {
        std::ptr::eq(self.seen.as_ptr(), Arc::as_ptr(cell))
    }

    fn see(&mut self, cell: &Arc<Cell>) {
        (self.seen, self.source_version) = (Arc::downgrade(cell), cell.source_version);
    }

    fn is_of_type(&self, cell: &Arc<Cell>) -> bool {
        self.is_seen(cell) || self.cell_type == cell.content.cell_type
    }

    fn is_up_to_date(&self, cell: &Arc<Cell>) -> bool {
        self.is_read() && (self.is_seen(cell) || self.source_version == cell.source_version)
    }
}

/// The names of a notebook's code and query cells.
#[derive(Debug, Clone, Default)]
pub struct KnownNames {
    /// All cells by id, in the order of the document's map. Both are walked in parallel without lookups, and unchanged
    /// cells are not read.
    cells: Vec<KnownCell>,
    /// Indexes of those `cells` that have names, in page order.
    page: Vec<u32>,
    /// The document's order from which `page` was made.
    order: Vec<CellId>,
    symbols: BTreeMap<Arc<str>, Symbol>,
    /// Names by symbol.
    names: Vec<Arc<str>>,
    /// Links of these names in this order. Computed on demand, and kept over edits that change neither.
    links: OnceLock<Arc<Links>>,
}

fn has_names(cell_type: CellType) -> bool {
    matches!(cell_type, CellType::Code | CellType::Sql)
}

impl KnownNames {
    /// Drops deleted cells, adds new ones, and returns the texts that are still to be read.
    pub fn refresh(&mut self, document: &Document) -> Vec<CodeText> {
        if !self.is_aligned(document) {
            self.align(document);
        }
        let mut texts = Vec::new();
        for (cell, known) in document.cells.values().zip(&mut self.cells) {
            if !known.is_seen(cell) {
                known.see(cell);
            }
            if !known.is_read() {
                texts.push(CodeText {
                    cell_id: known.cell_id.clone(),
                    source_version: cell.source_version,
                    source: cell.content.source.clone(),
                    is_query: cell.content.cell_type == CellType::Sql,
                });
            }
        }
        texts
    }

    /// Checks that the names of all cells are known for their present texts.
    pub fn is_complete(&self, document: &Document) -> bool {
        self.is_aligned(document)
            && document.cells.values().zip(&self.cells).all(|(cell, known)| known.is_up_to_date(cell))
    }

    /// Stores the names of a text. `None`: the text does not parse, and the cell keeps the names of an earlier one.
    pub fn learn(&mut self, cell_id: &CellId, source_version: Version, names: Option<&CodeNames>) {
        let Some(index) = self.index(cell_id) else { return };
        let found = names.map(|names| CellNames {
            imported: names.leaves.iter().map(|name| names.imported.contains(name)).collect(),
            reads: self.symbols(&names.reads),
            may_read: self.symbols(&names.may_read),
            reads_later: self.symbols(&names.reads_later),
            reads_any: names.reads_any,
            leaves: self.symbols(&names.leaves),
            unsets: self.symbols(&names.unsets),
            uncertain: self.symbols(&names.uncertain).into_iter().collect(),
            has_star: names.has_star,
        });
        let known = &mut self.cells[index];
        (known.read_version, known.parses) = (Some(source_version), names.is_some());
        if let Some(found) = found.filter(|found| *found != known.names) {
            known.names = found;
            self.links.take();
        }
    }

    fn symbols(&mut self, names: &BTreeSet<String>) -> Vec<Symbol> {
        names.iter().map(|name| self.symbol(name)).collect()
    }

    /// The number of a name that some cell has or had.
    pub(crate) fn symbol_of(&self, name: &str) -> Option<Symbol> {
        self.symbols.get(name).copied()
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

    /// Returns the dependencies between the cells, from the cache if it is valid.
    pub(crate) fn links(&self) -> Arc<Links> {
        let make = || {
            let cells: Vec<&CellNames> = self.in_page_order().map(|known| &known.names).collect();
            // By convention, names with a leading underscore are private to a cell.
            let is_private: Vec<bool> = self.names.iter().map(|name| name.starts_with('_')).collect();
            Arc::new(Links::of(&cells, &is_private))
        };
        self.links.get_or_init(make).clone()
    }

    pub(crate) fn name(&self, symbol: Symbol) -> &Arc<str> {
        &self.names[symbol as usize]
    }

    /// The cell at this place of the page; cells without names are not counted.
    pub(crate) fn known(&self, place: usize) -> &KnownCell {
        &self.cells[self.page[place] as usize]
    }

    /// Cells in page order.
    pub(crate) fn in_page_order(&self) -> impl ExactSizeIterator<Item = &KnownCell> {
        self.page.iter().map(|index| &self.cells[*index as usize])
    }

    /// Place of a cell on the page; cells without names are not counted.
    pub(crate) fn place(&self, cell_id: &CellId) -> Option<usize> {
        let index = u32::try_from(self.index(cell_id)?).ok()?;
        self.page.iter().position(|other| *other == index)
    }

    fn index(&self, cell_id: &CellId) -> Option<usize> {
        self.cells.binary_search_by(|known| known.cell_id.cmp(cell_id)).ok()
    }

    fn is_aligned(&self, document: &Document) -> bool {
        let is_known = |((id, cell), known): ((&CellId, &Arc<Cell>), &KnownCell)| {
            is_same(id, &known.cell_id) && known.is_of_type(cell)
        };
        self.cells.len() == document.cells.len()
            && document.cells.iter().zip(&self.cells).all(is_known)
            && self.order.len() == document.order.len()
            && self.order.iter().zip(&document.order).all(|(one, other)| is_same(one, other))
    }

    fn align(&mut self, document: &Document) {
        let mut before = std::mem::take(&mut self.cells).into_iter().peekable();
        let cells = document.cells.iter().map(|(id, cell)| {
            while before.next_if(|known| known.cell_id < *id).is_some() {}
            let known = before.next_if(|known| known.cell_id == *id && known.is_of_type(cell));
            known.unwrap_or_else(|| KnownCell::of(id, cell))
        });
        self.cells = cells.collect();
        self.order.clone_from(&document.order);
        let named = |id: &CellId| self.index(id).filter(|index| has_names(self.cells[*index].cell_type));
        let page = self.order.iter().filter_map(|id| u32::try_from(named(id)?).ok());
        self.page = page.collect();
        self.links.take();
    }
}

/// Compares pointers first: equal ids mostly share one text.
fn is_same(one: &CellId, other: &CellId) -> bool {
    std::ptr::eq(one.as_str(), other.as_str()) || one == other
}
