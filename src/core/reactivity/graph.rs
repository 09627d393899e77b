//! Who reads from whom. Cells are numbered in the order of the page.

use std::cmp::Reverse;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};
use std::sync::Arc;

use crate::code_names::{Known, KnownNames, Symbol};
use notarium_record::CellId;

/// One cell reads a name that another leaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Edge {
    /// The cell that leaves it, or reads it: the other end.
    pub cell: usize,
    symbol: Symbol,
}

/// A set of cells: whether each is in it.
pub(super) type Cells = Vec<bool>;

/// Lists of one kind for every cell, one behind the other.
#[derive(Debug, Clone, Default)]
struct Lists {
    /// Where each begins; one more than there are cells.
    starts: Vec<usize>,
    edges: Vec<Edge>,
}

impl Lists {
    fn of(&self, cell: usize) -> &[Edge] {
        &self.edges[self.starts[cell]..self.starts[cell + 1]]
    }
}

/// The dependencies between the cells of a notebook.
///
/// A name is read from the nearest cell above that leaves it, else from the nearest below. A cell between the two that may
/// leave any name is read from as well.
#[derive(Debug, Clone)]
pub struct Graph {
    names: Arc<KnownNames>,
    parents: Lists,
    children: Lists,
    /// Names that no cell leaves, by the cell that reads them.
    missing: BTreeMap<usize, Vec<Symbol>>,
    /// Names that several cells leave, and which; but for those that all of them import.
    clashes: BTreeMap<Symbol, Vec<usize>>,
    /// Cells that read from each other in a circle.
    cyclic: Vec<bool>,
}

impl Graph {
    /// Of names that are those of the document's cells, as far as they are known.
    pub fn of(names: Arc<KnownNames>) -> Self {
        let left = Left::of(&names);
        let mut missing = BTreeMap::new();
        let mut parents = Lists { starts: vec![0], edges: Vec::new() };
        for (cell, known) in names.in_page_order().enumerate() {
            let start = parents.edges.len();
            for symbol in &known.reads {
                let sources = left.sources(cell, *symbol);
                if sources.iter().all(Option::is_none) {
                    missing.entry(cell).or_insert_with(Vec::new).push(*symbol);
                }
                parents.edges.extend(sources.into_iter().flatten().map(|cell| Edge { cell, symbol: *symbol }));
            }
            parents.edges[start..].sort_unstable();
            parents.starts.push(parents.edges.len());
        }
        let children = turned(&parents);
        let clashes = left.clashes(&names);
        let cyclic = cyclic(&parents, &children);
        Self { names, parents, children, missing, clashes, cyclic }
    }

    /// How many cells there are.
    pub fn len(&self) -> usize {
        self.cyclic.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.cyclic.is_empty()
    }

    /// A cell, by its number.
    pub fn id(&self, cell: usize) -> &CellId {
        &self.names.known(cell).cell_id
    }

    /// The cells, in the order of the page.
    pub fn ids(&self) -> impl ExactSizeIterator<Item = &CellId> {
        self.names.in_page_order().map(|known| &known.cell_id)
    }

    /// From which cells this one reads, and what; by cell.
    pub fn parents(&self, cell: usize) -> &[Edge] {
        self.parents.of(cell)
    }

    /// Which cells read from this one, and what; by cell.
    pub fn children(&self, cell: usize) -> &[Edge] {
        self.children.of(cell)
    }

    /// The name of an edge.
    pub fn name(&self, edge: &Edge) -> &str {
        self.names.name(edge.symbol)
    }

    /// What it reads and no cell leaves.
    pub fn missing(&self, cell: usize) -> impl Iterator<Item = &str> {
        self.missing.get(&cell).into_iter().flatten().map(|symbol| &**self.names.name(*symbol))
    }

    /// Names that several cells leave, with those cells.
    pub fn clashes(&self) -> impl Iterator<Item = (&str, &[usize])> {
        self.clashes.iter().map(|(symbol, cells)| (&**self.names.name(*symbol), cells.as_slice()))
    }

    /// Whether it reads, over others, from itself.
    pub fn is_cyclic(&self, cell: usize) -> bool {
        self.cyclic[cell]
    }

    /// Where these cells stand; without those that have no names.
    pub(super) fn places(&self, cells: &[CellId]) -> Vec<usize> {
        if let [cell] = cells {
            return self.ids().position(|id| id == cell).into_iter().collect();
        }
        let places: BTreeMap<&CellId, usize> = self.ids().enumerate().map(|(place, id)| (id, place)).collect();
        cells.iter().filter_map(|cell| places.get(cell).copied()).collect()
    }

    pub(super) fn known(&self, cell: usize) -> &Known {
        self.names.known(cell)
    }

    pub(super) fn names_of(&self, symbols: &[Symbol]) -> Vec<String> {
        symbols.iter().map(|symbol| self.names.name(*symbol).to_string()).collect()
    }

    /// A shortest way from a cell back to itself: "a → b → a". Empty for a cell that is in no circle.
    pub fn cycle(&self, cell: usize) -> Vec<usize> {
        if !self.cyclic[cell] {
            return Vec::new();
        }
        let mut came_from = BTreeMap::new();
        let mut queue = VecDeque::from([cell]);
        while let Some(at) = queue.pop_front() {
            for edge in self.children(at).iter().filter(|edge| self.cyclic[edge.cell]) {
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

    /// Adds all from which these read, over others too.
    pub(super) fn with_ancestors(&self, cells: &Cells) -> Cells {
        reach(cells, |cell| self.parents(cell), |_| true)
    }

    /// Adds all that read from these, over others too, but for what does not `count`.
    pub(super) fn with_descendants(&self, cells: &Cells, counts: impl Fn(usize) -> bool) -> Cells {
        reach(cells, |cell| self.children(cell), counts)
    }

    /// Cells that are in a circle, or read from one that is.
    pub(super) fn doomed(&self) -> Cells {
        self.with_descendants(&self.cyclic, |_| true)
    }

    /// These cells so that each comes behind those from which it reads, as near to the order of the page as that goes. Cells in
    /// a circle are left out, with all that read from them.
    pub(super) fn in_order(&self, cells: &Cells) -> Vec<usize> {
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

/// The cells of a sorted list of edges, each once.
pub(super) fn distinct(edges: &[Edge]) -> impl Iterator<Item = usize> {
    edges.chunk_by(|one, other| one.cell == other.cell).map(|same| same[0].cell)
}

/// Which cells leave which name.
struct Left {
    starts: Vec<usize>,
    cells: Vec<usize>,
    /// Those that may leave any.
    stars: Vec<usize>,
}

impl Left {
    fn of(names: &KnownNames) -> Self {
        let mut starts = vec![0; names.symbols() + 1];
        for symbol in names.in_page_order().flat_map(|known| &known.leaves) {
            starts[*symbol as usize + 1] += 1;
        }
        (1..starts.len()).for_each(|at| starts[at] += starts[at - 1]);
        let mut next = starts.clone();
        let mut cells = vec![0; starts.last().copied().unwrap_or_default()];
        let mut stars = Vec::new();
        for (cell, known) in names.in_page_order().enumerate() {
            for symbol in &known.leaves {
                cells[next[*symbol as usize]] = cell;
                next[*symbol as usize] += 1;
            }
            if known.has_star {
                stars.push(cell);
            }
        }
        Self { starts, cells, stars }
    }

    fn who(&self, symbol: Symbol) -> &[usize] {
        &self.cells[self.starts[symbol as usize]..self.starts[symbol as usize + 1]]
    }

    /// From where a cell reads a name.
    fn sources(&self, cell: usize, symbol: Symbol) -> [Option<usize>; 2] {
        let who = self.who(symbol);
        let at = who.partition_point(|other| *other < cell);
        let above = at.checked_sub(1).map(|before| who[before]);
        let below = || who[at..].iter().copied().find(|other| *other != cell);
        let star = self.stars[..self.stars.partition_point(|other| *other < cell)].last().copied();
        [above.or_else(below), star.filter(|star| above.is_none_or(|above| above < *star))]
    }

    fn clashes(&self, names: &KnownNames) -> BTreeMap<Symbol, Vec<usize>> {
        let mut otherwise = vec![false; names.symbols()];
        for known in names.in_page_order() {
            let bound = known.leaves.iter().zip(&known.imported).filter(|(_, is_imported)| !**is_imported);
            bound.for_each(|(symbol, _)| otherwise[*symbol as usize] = true);
        }
        let symbols = (0..names.symbols()).filter_map(|symbol| Symbol::try_from(symbol).ok());
        // By custom a name that begins so is no other cell's business.
        let is_own = |symbol: Symbol| names.name(symbol).starts_with('_');
        let clash = |symbol: &Symbol| self.who(*symbol).len() > 1 && otherwise[*symbol as usize] && !is_own(*symbol);
        symbols.filter(clash).map(|symbol| (symbol, self.who(symbol).to_vec())).collect()
    }
}

/// The same edges, from their other ends.
fn turned(lists: &Lists) -> Lists {
    let count = lists.starts.len() - 1;
    let mut starts = vec![0; count + 1];
    lists.edges.iter().for_each(|edge| starts[edge.cell + 1] += 1);
    (1..starts.len()).for_each(|at| starts[at] += starts[at - 1]);
    let mut next = starts.clone();
    let mut edges = vec![Edge { cell: 0, symbol: 0 }; lists.edges.len()];
    for cell in 0..count {
        for edge in lists.of(cell) {
            edges[next[edge.cell]] = Edge { cell, symbol: edge.symbol };
            next[edge.cell] += 1;
        }
    }
    Lists { starts, edges }
}

/// The strongly connected components of more than one cell (Kosaraju's way: nothing here may recurse as deep as a notebook
/// is long).
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

/// Cells in the order in which a walk to their children is done with them.
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
