//! Cells that must run again because the kernel has lost their values, and names that must be removed first: so that each
//! planned cell reads what its sources leave.

use std::collections::BTreeSet;

use crate::ledger::bound_names::is_variable;
use crate::reactive::graph::{Cells, Graph};
use crate::reactive::history::{KernelHistory, ReadName, base_of, reads_of};
use crate::values::links::Symbol;
use notarium_record::Version;

pub(crate) struct Needs<'a> {
    graph: &'a Graph,
    history: &'a KernelHistory,
    /// Names that are removed from the kernel before the plan runs.
    pub(crate) removed: BTreeSet<Symbol>,
}

impl<'a> Needs<'a> {
    pub(crate) fn new(graph: &'a Graph, history: &'a KernelHistory) -> Self {
        Self { graph, history, removed: BTreeSet::new() }
    }

    /// Adds cells until each of these finds the values of its sources.
    pub(crate) fn add_to(&mut self, wanted: &mut Cells, runs: impl Fn(usize) -> bool) {
        let mut open: Vec<usize> = (0..wanted.len()).filter(|cell| wanted[*cell]).collect();
        loop {
            while let Some(cell) = open.pop() {
                for (read, heeds_wild) in self.reads(cell) {
                    if self.is_lost(wanted, &read, heeds_wild) {
                        self.require(wanted, &read, &runs, &mut open);
                    }
                }
            }
            for read in self.overwritten_in_plan(wanted) {
                self.require(wanted, &read, &runs, &mut open);
            }
            if open.is_empty() {
                return;
            }
        }
    }

    /// Names that the cell reads, and those that it may leave as they were for others.
    fn reads(&self, cell: usize) -> Vec<ReadName> {
        // A name that no cell defines stays: code outside of cells may have bound it.
        let counts = |((symbol, sources), heeds_wild): &ReadName| {
            self.is_variable(*symbol) && !(sources.is_empty() && *heeds_wild)
        };
        let mut reads: Vec<ReadName> = reads_of(self.graph, cell).filter(counts).collect();
        let read_by_others: BTreeSet<Symbol> = self.graph.children(cell).iter().map(|edge| edge.symbol).collect();
        for symbol in self.graph.names(cell).uncertain.iter().filter(|symbol| read_by_others.contains(symbol)) {
            let who = self.graph.touchers(*symbol);
            let above = &who[..who.partition_point(|other| *other < cell)];
            let is_sure = |other: &&usize| self.graph.names(**other).surely_touches(*symbol);
            let base = above.iter().rev().find(is_sure).copied();
            let sources = above.iter().copied().filter(|other| base.is_none_or(|base| *other >= base)).collect();
            if self.is_variable(*symbol) {
                reads.push(((*symbol, sources), true));
            }
        }
        reads
    }

    /// Tables are left alone: what made them may not be done twice.
    fn is_variable(&self, symbol: Symbol) -> bool {
        is_variable(self.graph.name_of(symbol))
    }

    /// Checks that the kernel does not have the value of a name's sources.
    fn is_lost(&self, wanted: &Cells, read: &(Symbol, Vec<usize>), heeds_wild: bool) -> bool {
        let (base, between) = base_of(self.graph, read.0, &read.1);
        if base.is_some_and(|base| wanted[base]) || self.removed.contains(&read.0) && base.is_none() {
            return between.iter().any(|cell| !wanted[*cell]);
        }
        if between.iter().any(|cell| wanted[*cell]) {
            // The value of its earlier run must not remain.
            return self.history.is_touched_since(self.graph, read, Version::MAX)
                || between.iter().any(|cell| !wanted[*cell]);
        }
        self.history.other_value(self.graph, read, Version::MAX, heeds_wild).is_some()
    }

    fn require(
        &mut self,
        wanted: &mut Cells,
        (symbol, sources): &(Symbol, Vec<usize>),
        runs: impl Fn(usize) -> bool,
        open: &mut Vec<usize>,
    ) {
        let (base, between) = base_of(self.graph, *symbol, sources);
        if base.is_none() && self.removed.insert(*symbol) {
            // Cells that read another value of the name may be planned already.
            open.extend((0..wanted.len()).filter(|cell| wanted[*cell]));
        }
        for cell in base.into_iter().chain(between).filter(|cell| runs(*cell)) {
            if !std::mem::replace(&mut wanted[cell], true) {
                open.push(cell);
            }
        }
    }

    /// Reads whose source is not planned, while a planned cell that runs before overwrites the name.
    fn overwritten_in_plan(&self, wanted: &Cells) -> Vec<(Symbol, Vec<usize>)> {
        let mut at = vec![usize::MAX; wanted.len()];
        let order = self.graph.in_order(wanted);
        order.iter().enumerate().for_each(|(place, cell)| at[*cell] = place);
        let stars: Vec<usize> = order.iter().copied().filter(|cell| self.graph.names(*cell).has_star).collect();
        let mut found = Vec::new();
        for cell in &order {
            for (read, _) in self.reads(*cell) {
                let (base, between) = base_of(self.graph, read.0, &read.1);
                let Some(base) = base.filter(|base| !wanted[*base]) else { continue };
                let overwrites = |other: &usize| {
                    other != cell && *other != base && !between.contains(other) && at[*other] < at[*cell]
                };
                let is_overwritten = self.removed.contains(&read.0)
                    || self.graph.touchers(read.0).iter().any(overwrites)
                    || stars.iter().any(overwrites);
                if is_overwritten {
                    found.push(read);
                }
            }
        }
        found
    }
}

impl KernelHistory {
    /// Checks that any run since the name's base may have bound it.
    fn is_touched_since(&self, graph: &Graph, (symbol, sources): &(Symbol, Vec<usize>), before: Version) -> bool {
        let base: Vec<usize> = base_of(graph, *symbol, sources).0.into_iter().collect();
        self.other_value(graph, &(*symbol, base), before, true).is_some()
    }
}
