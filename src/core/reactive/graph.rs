//! Dependency graph of the cells. Cells are numbered in page order.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use crate::values::code_names::{KnownCell, KnownNames};
use crate::values::edges::Edge;
use crate::values::links::{CellNames, Links, Symbol};
use notarium_record::CellId;

/// A set of cells, as a flag for each cell.
pub(crate) type Cells = Vec<bool>;

/// Dependencies between the cells of a notebook.
#[derive(Debug, Clone)]
pub struct Graph {
    names: Arc<KnownNames>,
    links: Arc<Links>,
}

impl Graph {
    /// Builds the graph from the names of the document's cells, as far as they are known.
    pub fn of(names: Arc<KnownNames>) -> Self {
        let links = names.links();
        Self { names, links }
    }

    /// Number of cells.
    pub fn len(&self) -> usize {
        self.links.cyclic.len()
    }

    /// Returns true if there are no cells.
    pub fn is_empty(&self) -> bool {
        self.links.cyclic.is_empty()
    }

    /// Id of a cell by its number.
    pub fn id(&self, cell: usize) -> &CellId {
        &self.names.known(cell).cell_id
    }

    /// Ids of the cells, in page order.
    pub fn ids(&self) -> impl ExactSizeIterator<Item = &CellId> {
        self.names.in_page_order().map(|known| &known.cell_id)
    }

    /// Cells from which this one reads, with the names; sorted by cell.
    pub fn parents(&self, cell: usize) -> &[Edge] {
        self.links.parents.of(cell)
    }

    /// Cells that read from this one, with the names; sorted by cell.
    pub fn children(&self, cell: usize) -> &[Edge] {
        self.links.children.of(cell)
    }

    /// Name that an edge carries.
    pub fn name(&self, edge: &Edge) -> &str {
        self.names.name(edge.symbol)
    }

    /// Names that the cell reads and no cell leaves.
    pub fn missing(&self, cell: usize) -> impl Iterator<Item = &str> {
        self.links.missing.get(&cell).into_iter().flatten().map(|symbol| &**self.names.name(*symbol))
    }

    /// Names that several cells leave, with those cells.
    pub fn clashes(&self) -> impl Iterator<Item = (&str, &[usize])> {
        self.links.clashes.iter().map(|(symbol, cells)| (&**self.names.name(*symbol), cells.as_slice()))
    }

    /// Returns true if the cell depends on itself through other cells.
    pub fn is_cyclic(&self, cell: usize) -> bool {
        self.links.cyclic[cell]
    }

    /// Places of these cells on the page; cells without names are left out.
    pub(crate) fn places(&self, cells: &[CellId]) -> Vec<usize> {
        if let [cell] = cells {
            return self.names.place(cell).into_iter().collect();
        }
        let places: BTreeMap<&CellId, usize> = self.ids().enumerate().map(|(place, id)| (id, place)).collect();
        cells.iter().filter_map(|cell| places.get(cell).copied()).collect()
    }

    pub(crate) fn known(&self, cell: usize) -> &KnownCell {
        self.names.known(cell)
    }

    pub(crate) fn names_of(&self, symbols: &[Symbol]) -> Vec<String> {
        symbols.iter().map(|symbol| self.names.name(*symbol).to_string()).collect()
    }

    /// A shortest cycle from a cell back to itself: "a → b → a". Empty if the cell is in no cycle.
    pub fn cycle(&self, cell: usize) -> Vec<usize> {
        if !self.links.cyclic[cell] {
            return Vec::new();
        }
        let mut came_from = BTreeMap::new();
        let mut queue = VecDeque::from([cell]);
        while let Some(at) = queue.pop_front() {
            for edge in self.children(at).iter().filter(|edge| self.links.cyclic[edge.cell]) {
                if edge.cell == cell {
                    return way_back(cell, at, &came_from);
                }
                if let Entry::Vacant(vacant) = came_from.entry(edge.cell) {
                    vacant.insert(at);
                    queue.push_back(edge.cell);
                }
            }
        }
        Vec::new()
    }

    /// Adds all cells from which these read, also through others.
    pub(crate) fn with_ancestors(&self, cells: &Cells) -> Cells {
        reach(cells, |cell| self.parents(cell), |_| true)
    }

    /// Adds all cells that read from these, also through others. The walk leaves out cells for which `counts` is false.
    pub(crate) fn with_descendants(&self, cells: &Cells, counts: impl Fn(usize) -> bool) -> Cells {
        reach(cells, |cell| self.children(cell), counts)
    }

    /// Cells that are in a cycle, or read from one that is.
    pub(crate) fn doomed(&self) -> Cells {
        self.with_descendants(&self.links.cyclic, |_| true)
    }

    /// Sorts these cells so that each reads what its sources have left, as near to page order as possible. Cells in a
    /// cycle are left out, with all that read from them.
    pub(crate) fn in_order(&self, cells: &Cells) -> Vec<usize> {
        self.links.order.sort(cells, &self.links.parents, &self.links.children)
    }

    /// Names that the cell reads from others, each with its sources in page order.
    pub(crate) fn reads(&self, cell: usize) -> Vec<(Symbol, Vec<usize>)> {
        let mut edges: Vec<(Symbol, usize)> = self.parents(cell).iter().map(|edge| (edge.symbol, edge.cell)).collect();
        edges.sort_unstable();
        let groups = edges.chunk_by(|one, other| one.0 == other.0);
        groups.map(|group| (group[0].0, group.iter().map(|(_, cell)| *cell).collect())).collect()
    }

    /// Names that the cell itself reads from the other end of one of its edges, not only a function that it calls.
    pub(crate) fn is_own_read(&self, reader: usize, symbol: Symbol) -> bool {
        let names = self.names(reader);
        names.reads.contains(&symbol) || names.may_read.contains(&symbol)
    }

    /// Names that the cell may read and for which there is no source.
    pub(crate) fn unsourced(&self, cell: usize) -> &[Symbol] {
        self.links.unsourced.get(&cell).map_or(&[], Vec::as_slice)
    }

    /// Names that the cell reads and no cell leaves.
    pub(crate) fn missing_symbols(&self, cell: usize) -> &[Symbol] {
        self.links.missing.get(&cell).map_or(&[], Vec::as_slice)
    }

    /// Checks that the cell reads from this one, also through others.
    pub(crate) fn reads_from(&self, cell: usize, other: &CellId) -> bool {
        let mut from = vec![false; self.len()];
        from[cell] = true;
        let ancestors = self.with_ancestors(&from);
        self.names.place(other).is_some_and(|other| ancestors[other])
    }

    pub(crate) fn is_without_source(&self, cell: usize, symbol: Symbol) -> bool {
        self.parents(cell).iter().all(|edge| edge.symbol != symbol)
    }

    /// A name that another cell overwrites before this one can read it.
    pub(crate) fn contended(&self, cell: usize) -> Option<Symbol> {
        self.links.contended.get(&cell).copied()
    }

    /// Cells that bind or delete the name, in page order.
    pub(crate) fn touchers(&self, symbol: Symbol) -> &[usize] {
        self.links.touchers.of(symbol as usize)
    }

    pub(crate) fn names(&self, cell: usize) -> &CellNames {
        &self.known(cell).names
    }

    pub(crate) fn symbol_of(&self, name: &str) -> Option<Symbol> {
        self.names.symbol_of(name)
    }

    pub(crate) fn name_of(&self, symbol: Symbol) -> &str {
        self.names.name(symbol)
    }
}

fn way_back(cell: usize, last: usize, came_from: &BTreeMap<usize, usize>) -> Vec<usize> {
    let mut way = vec![cell];
    way.extend(std::iter::successors(Some(last), |at| came_from.get(at).copied()));
    way.reverse();
    way
}

fn reach<'a>(from: &Cells, next: impl Fn(usize) -> &'a [Edge], counts: impl Fn(usize) -> bool) -> Cells {
    let mut reached = from.clone();
    let mut open: Vec<usize> = (0..from.len()).filter(|cell| from[*cell]).collect();
    while let Some(cell) = open.pop() {
        for edge in next(cell).iter().filter(|edge| counts(edge.cell)) {
            if !std::mem::replace(&mut reached[edge.cell], true) {
                open.push(edge.cell);
            }
        }
    }
    reached
}
