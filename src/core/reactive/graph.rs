//! Dependency graph of the cells. Cells are numbered in page order.

use std::cmp::Reverse;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};
use std::sync::Arc;

use crate::values::code_names::{Edge, KnownCell, KnownNames, Links, Symbol};
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

    /// Sorts these cells topologically, as near to page order as possible. Cells in a cycle are left out, with all that
    /// read from them.
    pub(crate) fn in_order(&self, cells: &Cells) -> Vec<usize> {
        let inside = |cell: usize| distinct(self.parents(cell)).filter(|parent| cells[*parent]).count();
        let members = || (0..self.len()).filter(|cell| cells[*cell]);
        let mut waits: Vec<usize> = vec![usize::MAX; self.len()];
        members().for_each(|cell| waits[cell] = inside(cell));
        let mut ready: BinaryHeap<Reverse<usize>> = members().filter(|cell| waits[*cell] == 0).map(Reverse).collect();
        let mut order = Vec::new();
        while let Some(Reverse(cell)) = ready.pop() {
            order.push(cell);
            for child in distinct(self.children(cell)).filter(|child| cells[*child]) {
                waits[child] -= 1;
                if waits[child] == 0 {
                    ready.push(Reverse(child));
                }
            }
        }
        order
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

/// Cells of a sorted list of edges, each once.
pub(crate) fn distinct(edges: &[Edge]) -> impl Iterator<Item = usize> {
    edges.chunk_by(|one, other| one.cell == other.cell).map(|same| same[0].cell)
}
