//! Names that the cells of a notebook read and leave, and the dependencies that follow from them. Each text is read once
//! for a version. Cells are numbered in page order.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, OnceLock, Weak};

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
            reads: names.reads.iter().map(|name| self.symbol(name)).collect(),
            leaves: names.leaves.iter().map(|name| self.symbol(name)).collect(),
            imported: names.leaves.iter().map(|name| names.imported.contains(name)).collect(),
            has_star: names.has_star,
        });
        let known = &mut self.cells[index];
        (known.read_version, known.parses) = (Some(source_version), names.is_some());
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

// --- links between cells ---

/// Number of a name.
pub(crate) type Symbol = u32;

/// Names that a cell reads from other cells, and names that it leaves to them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct CellNames {
    pub(crate) reads: Vec<Symbol>,
    pub(crate) leaves: Vec<Symbol>,
    /// Parallel to `leaves`: true if only an import binds the name.
    pub(crate) imported: Vec<bool>,
    /// The cell may leave any name (`from m import *`).
    pub(crate) has_star: bool,
}

/// Dependency: one cell reads a name that another leaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Edge {
    /// The cell at the other end of the dependency.
    pub cell: usize,
    pub(crate) symbol: Symbol,
}

/// Many lists in one vector; of edges, one list for each cell.
#[derive(Debug, Clone)]
pub(crate) struct Lists<T = Edge> {
    /// Start of each list in `items`, and the end of the last one.
    starts: Vec<usize>,
    items: Vec<T>,
}

impl<T: Copy> Lists<T> {
    /// Sorts items into lists by the number that comes with each. `blank` is any item.
    fn sorted(lists: usize, items: impl Iterator<Item = (usize, T)> + Clone, blank: T) -> Self {
        let mut starts = vec![0; lists + 1];
        items.clone().for_each(|(list, _)| starts[list + 1] += 1);
        (1..starts.len()).for_each(|at| starts[at] += starts[at - 1]);
        let mut next = starts.clone();
        let mut sorted = vec![blank; starts[lists]];
        for (list, item) in items {
            sorted[next[list]] = item;
            next[list] += 1;
        }
        Self { starts, items: sorted }
    }

    pub(crate) fn of(&self, list: usize) -> &[T] {
        &self.items[self.starts[list]..self.starts[list + 1]]
    }
}

/// Dependencies between cells.
///
/// A name is read from the nearest cell above that leaves it, else from the nearest below. A cell in between that may
/// leave any name is read as well.
#[derive(Debug)]
pub(crate) struct Links {
    pub(crate) parents: Lists,
    pub(crate) children: Lists,
    /// Names that no cell leaves, by the cell that reads them.
    pub(crate) missing: BTreeMap<usize, Vec<Symbol>>,
    /// Names that several cells leave, with those cells. Private names are left out, and names that all of these cells
    /// import.
    pub(crate) clashes: BTreeMap<Symbol, Vec<usize>>,
    /// By cell: it is part of a cycle.
    pub(crate) cyclic: Vec<bool>,
}

impl Links {
    /// Computes the links of cells in page order. `is_private` has an entry for each symbol.
    pub(crate) fn of(cells: &[&CellNames], is_private: &[bool]) -> Self {
        let left = Binders::of(cells, is_private.len());
        let mut missing = BTreeMap::new();
        let mut parents = Lists { starts: vec![0], items: Vec::new() };
        for (cell, names) in cells.iter().enumerate() {
            let start = parents.items.len();
            for symbol in &names.reads {
                let sources = left.sources(cell, *symbol);
                if sources.iter().all(Option::is_none) {
                    missing.entry(cell).or_insert_with(Vec::new).push(*symbol);
                }
                parents.items.extend(sources.into_iter().flatten().map(|cell| Edge { cell, symbol: *symbol }));
            }
            parents.items[start..].sort_unstable();
            parents.starts.push(parents.items.len());
        }
        let children = turned(&parents);
        let clashes = left.clashes(cells, is_private);
        let cyclic = cyclic(&parents, &children);
        Self { parents, children, missing, clashes, cyclic }
    }
}

/// The cells that leave each name.
struct Binders {
    by_name: Lists<usize>,
    /// Cells that may leave any name.
    stars: Vec<usize>,
}

impl Binders {
    fn of(all: &[&CellNames], symbols: usize) -> Self {
        let cells = all.iter().enumerate();
        let leaves = cells.clone().flat_map(|(cell, names)| names.leaves.iter().map(move |it| (*it as usize, cell)));
        let stars = cells.clone().filter(|(_, names)| names.has_star).map(|(cell, _)| cell).collect();
        Self { by_name: Lists::sorted(symbols, leaves, 0), stars }
    }

    fn who(&self, symbol: Symbol) -> &[usize] {
        self.by_name.of(symbol as usize)
    }

    /// Cells from which a cell reads a name: one that leaves it, and a nearer one that may leave any name.
    fn sources(&self, cell: usize, symbol: Symbol) -> [Option<usize>; 2] {
        let who = self.who(symbol);
        let at = who.partition_point(|other| *other < cell);
        let above = at.checked_sub(1).map(|before| who[before]);
        let below = || who[at..].iter().copied().find(|other| *other != cell);
        let star = self.stars[..self.stars.partition_point(|other| *other < cell)].last().copied();
        [above.or_else(below), star.filter(|star| above.is_none_or(|above| above < *star))]
    }

    fn clashes(&self, cells: &[&CellNames], is_private: &[bool]) -> BTreeMap<Symbol, Vec<usize>> {
        let mut otherwise = vec![false; is_private.len()];
        for names in cells {
            let bound = names.leaves.iter().zip(&names.imported).filter(|(_, is_imported)| !**is_imported);
            bound.for_each(|(symbol, _)| otherwise[*symbol as usize] = true);
        }
        let symbols = (0..is_private.len()).filter_map(|symbol| Symbol::try_from(symbol).ok());
        let clash = |symbol: &Symbol| {
            let at = *symbol as usize;
            self.who(*symbol).len() > 1 && otherwise[at] && !is_private[at]
        };
        symbols.filter(clash).map(|symbol| (symbol, self.who(symbol).to_vec())).collect()
    }
}

/// The same edges, listed by their other ends.
fn turned(lists: &Lists) -> Lists {
    let count = lists.starts.len() - 1;
    let turn = move |cell: usize, edge: &Edge| (edge.cell, Edge { cell, symbol: edge.symbol });
    let edges = (0..count).flat_map(|cell| lists.of(cell).iter().map(move |edge| turn(cell, edge)));
    Lists::sorted(count, edges, Edge { cell: 0, symbol: 0 })
}

/// Marks the strongly connected components of more than one cell. Kosaraju's algorithm without recursion, which would
/// be as deep as the notebook is long.
fn cyclic(parents: &Lists, children: &Lists) -> Vec<bool> {
    let count = parents.starts.len() - 1;
    let order = finished(children, count);
    let mut component = vec![usize::MAX; count];
    let mut sizes = Vec::new();
    for root in order.into_iter().rev() {
        if component[root] != usize::MAX {
            continue;
        }
        let (number, mut size, mut open) = (sizes.len(), 0, vec![root]);
        component[root] = number;
        while let Some(cell) = open.pop() {
            size += 1;
            for parent in parents.of(cell).iter().map(|edge| edge.cell) {
                if component[parent] == usize::MAX {
                    component[parent] = number;
                    open.push(parent);
                }
            }
        }
        sizes.push(size);
    }
    component.into_iter().map(|number| sizes[number] > 1).collect()
}

/// Cells in post-order of a depth-first walk to their children.
fn finished(children: &Lists, count: usize) -> Vec<usize> {
    let (mut seen, mut order) = (vec![false; count], Vec::with_capacity(count));
    for root in 0..count {
        let mut open = if seen[root] { Vec::new() } else { vec![(root, 0)] };
        seen[root] = true;
        while let Some((cell, at)) = open.last_mut() {
            match children.of(*cell).get(*at) {
                Some(edge) => {
                    *at += 1;
                    if !std::mem::replace(&mut seen[edge.cell], true) {
                        open.push((edge.cell, 0));
                    }
                }
                None => {
                    order.push(*cell);
                    open.pop();
                }
            }
        }
    }
    order
}
