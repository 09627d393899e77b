//! Order in which cells run: each after those from which it reads, and no cell between these two that overwrites the name.
//! On a page where all is read from above, that is the order of the page.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use crate::values::edges::{Edge, Lists};
use crate::values::links::{CellNames, Symbol};

/// Constraints beside the edges, by the cell that comes first. Empty where the order of the page keeps all of them.
#[derive(Debug)]
pub(crate) struct RunOrder(Option<Lists<usize>>);

impl RunOrder {
    /// `touchers`: cells that bind or delete each name, in page order.
    pub(crate) fn of(touchers: &Lists<usize>, parents: &Lists) -> Self {
        let cells = parents.starts.len() - 1;
        if (0..cells).all(|cell| parents.of(cell).iter().all(|edge| edge.cell < cell)) {
            return Self(None);
        }
        let mut pairs: Vec<(usize, usize)> = Vec::new();
        for symbol in 0..touchers.starts.len() - 1 {
            pairs.extend(touchers.of(symbol).windows(2).map(|pair| (pair[0], pair[1])));
        }
        for cell in 0..cells {
            let edges = parents.of(cell);
            pairs.extend(edges.iter().filter_map(|edge| Some((cell, next_toucher(touchers, edge, cell)?))));
        }
        pairs.sort_unstable();
        pairs.dedup();
        Self(Some(Lists::sorted(cells, pairs.into_iter(), 0)))
    }

    pub(crate) fn is_constrained(&self) -> bool {
        self.0.is_some()
    }

    fn behind(&self, cell: usize) -> &[usize] {
        self.0.as_ref().map_or(&[], |lists| lists.of(cell))
    }

    /// Sorts these cells, as near to page order as possible. An edge is always kept; a constraint, unless it would be
    /// against them. Cells in a cycle are left out, with all that read from them.
    pub(crate) fn sort(&self, cells: &[bool], parents: &Lists, children: &Lists) -> Vec<usize> {
        let mut waits = vec![(usize::MAX, 0_usize); cells.len()];
        let members = || (0..cells.len()).filter(|cell| cells[*cell]);
        members().for_each(|cell| waits[cell].0 = distinct(parents.of(cell)).filter(|one| cells[*one]).count());
        for cell in members() {
            self.behind(cell).iter().filter(|next| cells[**next]).for_each(|next| waits[*next].1 += 1);
        }
        let mut free: BinaryHeap<Reverse<(bool, usize)>> = BinaryHeap::new();
        let mut is_done = vec![false; cells.len()];
        let is_held = |waits: &[(usize, usize)], cell: usize| waits[cell].1 > 0;
        members().filter(|cell| waits[*cell].0 == 0).for_each(|cell| free.push(Reverse((is_held(&waits, cell), cell))));
        let mut order = Vec::new();
        while let Some(Reverse((_, cell))) = free.pop() {
            if std::mem::replace(&mut is_done[cell], true) {
                continue;
            }
            order.push(cell);
            for next in self.behind(cell).iter().copied().filter(|next| cells[*next] && !is_done[*next]) {
                waits[next].1 -= 1;
                if waits[next] == (0, 0) {
                    free.push(Reverse((false, next)));
                }
            }
            for child in distinct(children.of(cell)).filter(|child| cells[*child]) {
                waits[child].0 -= 1;
                if waits[child].0 == 0 {
                    free.push(Reverse((is_held(&waits, child), child)));
                }
            }
        }
        order
    }
}

/// The cell that overwrites the name after the reader of this edge.
fn next_toucher(touchers: &Lists<usize>, edge: &Edge, reader: usize) -> Option<usize> {
    let who = touchers.of(edge.symbol as usize);
    let after = edge.cell.max(reader);
    who.get(who.partition_point(|other| *other <= after)).copied().filter(|next| *next != reader)
}

/// Cells with a name that another one overwrites between its source and them, when all cells run in order.
pub(crate) fn contended(
    cells: &[&CellNames],
    touchers: &Lists<usize>,
    parents: &Lists,
    children: &Lists,
    order: &RunOrder,
) -> BTreeMap<usize, Symbol> {
    let mut at = vec![usize::MAX; cells.len()];
    order.sort(&vec![true; cells.len()], parents, children).into_iter().enumerate().for_each(|(n, cell)| at[cell] = n);
    let mut found = BTreeMap::new();
    for cell in (0..cells.len()).filter(|cell| at[*cell] != usize::MAX) {
        let mut edges: Vec<Edge> = parents.of(cell).to_vec();
        edges.sort_unstable_by_key(|edge| (edge.symbol, edge.cell));
        for group in edges.chunk_by(|one, other| one.symbol == other.symbol) {
            let symbol = group[0].symbol;
            let base = group.iter().map(|edge| edge.cell).find(|source| cells[*source].surely_touches(symbol));
            let start = base.map_or(0, |base| at[base]);
            let sources = group.iter().map(|edge| edge.cell).filter(|source| Some(*source) != base);
            let (before, between): (Vec<usize>, Vec<usize>) =
                sources.partition(|source| base.is_some_and(|base| *source < base));
            let overwrites = |other: &usize| {
                *other != cell
                    && Some(*other) != base
                    && !between.contains(other)
                    && (start..at[cell]).contains(&at[*other])
            };
            let is_sorted = between.windows(2).all(|pair| at[pair[0]] < at[pair[1]])
                && between.iter().all(|source| at[*source] >= start)
                && before.iter().all(|source| at[*source] < start);
            if !is_sorted || touchers.of(symbol as usize).iter().any(overwrites) {
                found.insert(cell, symbol);
            }
        }
    }
    found
}

/// Cells of a sorted list of edges, each once.
pub(crate) fn distinct(edges: &[Edge]) -> impl Iterator<Item = usize> {
    edges.chunk_by(|one, other| one.cell == other.cell).map(|same| same[0].cell)
}
