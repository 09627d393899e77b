//! Edges of the dependency graph, as lists by cell, and the cells that are in cycles.

use crate::values::links::Symbol;

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
    pub(crate) starts: Vec<usize>,
    pub(crate) items: Vec<T>,
}

impl<T: Copy> Lists<T> {
    /// Sorts items into lists by the number that comes with each. `blank` is any item.
    pub(crate) fn sorted(lists: usize, items: impl Iterator<Item = (usize, T)> + Clone, blank: T) -> Self {
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

/// The same edges, listed by their other ends.
pub(crate) fn turned(lists: &Lists) -> Lists {
    let count = lists.starts.len() - 1;
    let turn = move |cell: usize, edge: &Edge| (edge.cell, Edge { cell, symbol: edge.symbol });
    let edges = (0..count).flat_map(|cell| lists.of(cell).iter().map(move |edge| turn(cell, edge)));
    Lists::sorted(count, edges, Edge { cell: 0, symbol: 0 })
}

/// Marks the strongly connected components of more than one cell. Kosaraju's algorithm without recursion, which would
/// be as deep as the notebook is long.
pub(crate) fn cyclic(parents: &Lists, children: &Lists) -> Vec<bool> {
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
