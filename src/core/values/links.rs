//! Dependencies between cells, from the names that they read, leave and delete. Cells are numbered in page order.
//!
//! A name is read from the nearest cell above that leaves or deletes it, else from the nearest below that leaves it. Cells
//! in between that may change it (in one branch, by `from m import *`) are read as well.

use std::collections::{BTreeMap, BTreeSet};

use crate::values::edges::{Edge, Lists, cyclic, turned};
use crate::values::order::{self, RunOrder};

/// Number of a name.
pub(crate) type Symbol = u32;

/// Most cells in between from which a name is read. With more, the reader counts as contended.
const MAX_BETWEEN: usize = 64;

/// Names that a cell reads from other cells, and names that it leaves to them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct CellNames {
    pub(crate) reads: Vec<Symbol>,
    /// Read if a cell above leaves them.
    pub(crate) may_read: Vec<Symbol>,
    /// Read by functions of the cell when they are called.
    pub(crate) reads_later: Vec<Symbol>,
    pub(crate) reads_any: bool,
    pub(crate) leaves: Vec<Symbol>,
    /// Parallel to `leaves`: true if only an import binds the name.
    pub(crate) imported: Vec<bool>,
    /// Deleted, or perhaps, and not left.
    pub(crate) unsets: Vec<Symbol>,
    /// Names of both that may stay as they were.
    pub(crate) uncertain: BTreeSet<Symbol>,
    /// The cell may leave any name (`from m import *`).
    pub(crate) has_star: bool,
}

impl CellNames {
    /// Names that the cell binds or deletes, perhaps.
    pub(crate) fn touched(&self) -> impl Iterator<Item = Symbol> {
        self.leaves.iter().chain(&self.unsets).copied()
    }

    /// Checks that the cell binds or deletes the name whenever it runs.
    pub(crate) fn surely_touches(&self, symbol: Symbol) -> bool {
        !self.uncertain.contains(&symbol) && self.touched().any(|other| other == symbol)
    }
}

/// Dependencies between cells.
#[derive(Debug)]
pub(crate) struct Links {
    pub(crate) parents: Lists,
    pub(crate) children: Lists,
    /// Names that no cell leaves, by the cell that reads them.
    pub(crate) missing: BTreeMap<usize, Vec<Symbol>>,
    /// Names without a source that the cell may read, by that cell.
    pub(crate) unsourced: BTreeMap<usize, Vec<Symbol>>,
    /// Names that several cells leave, with those cells. Private names are left out, and names that all of these cells
    /// import.
    pub(crate) clashes: BTreeMap<Symbol, Vec<usize>>,
    /// By cell: it is part of a cycle.
    pub(crate) cyclic: Vec<bool>,
    /// Constraints on the order beside the edges: cells that must not overwrite a name before it is read.
    pub(crate) order: RunOrder,
    /// Cells that bind or delete each name, in page order.
    pub(crate) touchers: Lists<usize>,
    /// By cell: a name that another cell overwrites before this one can read it, in whatever order cells run.
    pub(crate) contended: BTreeMap<usize, Symbol>,
}

impl Links {
    /// Computes the links of cells in page order. `is_private` has an entry for each symbol.
    pub(crate) fn of(cells: &[&CellNames], is_private: &[bool]) -> Self {
        let touchers = Touchers::of(cells, is_private.len());
        let mut sources = Sources::default();
        let mut parents = Lists { starts: vec![0], items: Vec::new() };
        for cell in 0..cells.len() {
            let start = parents.items.len();
            parents.items.extend(sources.of_cell(cells, &touchers, cell));
            parents.items[start..].sort_unstable();
            parents.starts.push(parents.items.len());
        }
        let children = turned(&parents);
        let cyclic = cyclic(&parents, &children);
        let clashes = clashes(cells, is_private);
        let Sources { missing, unsourced, mut contended } = sources;
        let order = RunOrder::of(&touchers.by_name, &parents);
        if order.is_constrained() {
            contended.extend(order::contended(cells, &touchers.by_name, &parents, &children, &order));
        }
        Self { parents, children, missing, unsourced, clashes, cyclic, order, touchers: touchers.by_name, contended }
    }
}

/// The cells that bind or delete each name.
struct Touchers {
    by_name: Lists<usize>,
    /// Cells that may leave any name.
    stars: Vec<usize>,
}

impl Touchers {
    fn of(cells: &[&CellNames], symbols: usize) -> Self {
        let mut pairs: Vec<(usize, usize)> = Vec::new();
        for (cell, names) in cells.iter().enumerate() {
            pairs.extend(names.touched().map(|symbol| (symbol as usize, cell)));
        }
        let stars = cells.iter().enumerate().filter(|(_, names)| names.has_star).map(|(cell, _)| cell).collect();
        Self { by_name: Lists::sorted(symbols, pairs.into_iter(), 0), stars }
    }
}

/// Sources of names, and the names without one.
#[derive(Default)]
struct Sources {
    missing: BTreeMap<usize, Vec<Symbol>>,
    unsourced: BTreeMap<usize, Vec<Symbol>>,
    contended: BTreeMap<usize, Symbol>,
}

impl Sources {
    /// Edges to the cells from which a cell reads, also through functions that other cells define.
    fn of_cell(&mut self, cells: &[&CellNames], touchers: &Touchers, cell: usize) -> Vec<Edge> {
        let names = cells[cell];
        let mut edges = Vec::new();
        let mut seen: BTreeSet<Symbol> = BTreeSet::new();
        let mut open: Vec<(Symbol, bool)> = names.reads.iter().map(|symbol| (*symbol, true)).collect();
        open.extend(names.may_read.iter().map(|symbol| (*symbol, false)));
        if names.reads_any {
            let all = touchers.by_name.starts.windows(2).enumerate().filter(|(_, bounds)| bounds[0] < bounds[1]);
            open.extend(all.filter_map(|(symbol, _)| Some((Symbol::try_from(symbol).ok()?, false))));
        }
        let mut at = 0;
        while let Some((symbol, is_firm)) = open.get(at).copied() {
            at += 1;
            if !seen.insert(symbol) {
                continue;
            }
            let sources = self.of_name(cells, touchers, cell, symbol, is_firm);
            for source in &sources {
                open.extend(cells[*source].reads_later.iter().map(|symbol| (*symbol, false)));
            }
            edges.extend(sources.into_iter().map(|cell| Edge { cell, symbol }));
        }
        edges
    }

    fn of_name(
        &mut self,
        cells: &[&CellNames],
        touchers: &Touchers,
        cell: usize,
        symbol: Symbol,
        is_firm: bool,
    ) -> Vec<usize> {
        let who = touchers.by_name.of(symbol as usize);
        let at = who.partition_point(|other| *other < cell);
        let is_sure = |other: &&usize| !cells[**other].uncertain.contains(&symbol);
        let base = who[..at].iter().rev().find(is_sure).copied();
        let mut sources: Vec<usize> =
            who[..at].iter().copied().filter(|other| base.is_none_or(|base| *other >= base)).collect();
        if sources.len() > MAX_BETWEEN {
            self.contended.insert(cell, symbol);
            sources.truncate(MAX_BETWEEN);
        }
        if sources.is_empty() && is_firm {
            let leaves = |other: &usize| *other != cell && cells[*other].leaves.contains(&symbol);
            sources.extend(who[at..].iter().copied().find(leaves));
        }
        if is_firm || !sources.is_empty() {
            let stars = &touchers.stars[..touchers.stars.partition_point(|star| *star < cell)];
            let from = base.map_or(0, |base| stars.partition_point(|star| *star <= base));
            let between: Vec<usize> = stars[from..].iter().rev().take(MAX_BETWEEN).copied().collect();
            sources.extend(between.into_iter().filter(|star| !who.contains(star)));
        }
        let is_deleted = sources.len() == 1 && base.is_some_and(|base| !cells[base].leaves.contains(&symbol));
        match is_firm {
            true if sources.is_empty() || is_deleted => self.missing.entry(cell).or_default().push(symbol),
            false if sources.is_empty() => self.unsourced.entry(cell).or_default().push(symbol),
            _ => {}
        }
        sources
    }
}

fn clashes(cells: &[&CellNames], is_private: &[bool]) -> BTreeMap<Symbol, Vec<usize>> {
    let mut otherwise = vec![false; is_private.len()];
    let mut who: Vec<Vec<usize>> = vec![Vec::new(); is_private.len()];
    for (cell, names) in cells.iter().enumerate() {
        for (symbol, is_imported) in names.leaves.iter().zip(&names.imported) {
            otherwise[*symbol as usize] |= !is_imported;
            who[*symbol as usize].push(cell);
        }
    }
    let symbols = who.into_iter().enumerate().filter(|(at, who)| who.len() > 1 && otherwise[*at] && !is_private[*at]);
    symbols.filter_map(|(symbol, who)| Some((Symbol::try_from(symbol).ok()?, who))).collect()
}
