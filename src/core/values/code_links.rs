//! Dependencies between cells, computed from the names that they read and leave. Cells are numbered in page order.

use std::collections::BTreeMap;

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
        let left = Left::of(cells, is_private.len());
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
struct Left {
    by_name: Lists<usize>,
    /// Cells that may leave any name.
    stars: Vec<usize>,
}

impl Left {
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
