//! Which cell bound which name in the kernel, and when: shows whether a cell read the values of its sources.

use std::collections::BTreeMap;

use crate::ledger::KernelVariables;
use crate::reactive::graph::Graph;
use crate::reactive::staleness::{Stale, own};
use crate::values::links::Symbol;
use notarium_record::{CellId, Document, ExecutionStatus, KernelSessionId, Version};

/// Cause of a name's value in the kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum By {
    /// The latest run of a cell, with its present text.
    Cell(usize),
    /// An earlier run or text of a cell, or a deleted cell.
    Past(CellId),
    /// A run that removes variables.
    Removal,
}

/// A run that bound or deleted a name.
#[derive(Debug, Clone)]
struct Touch {
    version: Version,
    by: By,
    is_repeated: bool,
}

/// A value that is not, or may not be, that of the name's sources.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OtherValue {
    pub(crate) symbol: Symbol,
    pub(crate) by: By,
    /// The cell may have bound the name; nobody knows.
    pub(crate) is_unknown: bool,
}

/// Runs in the default kernel.
pub(crate) struct KernelHistory {
    /// By cell: version of the request of its latest run, and the reason why it is stale regardless of other cells.
    pub(crate) runs: Vec<(Version, Option<Stale>)>,
    touches: BTreeMap<Symbol, Vec<Touch>>,
    /// Runs that may have bound any name.
    wild: Vec<Touch>,
    /// Names that no cell binds any more.
    forgotten: BTreeMap<String, Vec<Touch>>,
}

impl KernelHistory {
    pub(crate) fn of(
        notebook: &Document,
        kernel: &KernelVariables,
        graph: &Graph,
        session: Option<&KernelSessionId>,
    ) -> Self {
        let runs = graph.ids().map(|id| own(notebook, &kernel.gone, id, session)).collect();
        let mut history = Self { runs, touches: BTreeMap::new(), wild: Vec::new(), forgotten: BTreeMap::new() };
        let mut latest: BTreeMap<Version, usize> = BTreeMap::new();
        for (place, id) in graph.ids().enumerate() {
            let has_run = notebook.latest_execution(id).is_some_and(|(_, run)| {
                !matches!(run.status, ExecutionStatus::Blocked | ExecutionStatus::Cancelled) || run.started_at.is_some()
            });
            let (version, stale) = &history.runs[place];
            if has_run && !matches!(stale, Some(Stale::NeverRan | Stale::KernelGone | Stale::Edited)) {
                latest.insert(*version, place);
            }
        }
        if kernel.kernel_session.as_ref() == session || kernel.kernel_session.is_none() {
            history.note_log(kernel, graph, &mut latest);
        }
        latest.into_iter().for_each(|(version, place)| history.note_cell(graph, version, place, false));
        history.touches.values_mut().chain([&mut history.wild]).for_each(|all| all.sort_by_key(|touch| touch.version));
        history
    }

    fn note_log(&mut self, kernel: &KernelVariables, graph: &Graph, latest: &mut BTreeMap<Version, usize>) {
        for run in &kernel.log.runs {
            if let Some(place) = latest.remove(&run.version) {
                self.note_cell(graph, run.version, place, run.is_repeated);
                continue;
            }
            let by = run.cell_id.clone().map_or(By::Removal, By::Past);
            let touch = Touch { version: run.version, by, is_repeated: run.is_repeated };
            match &run.names {
                None => self.wild.push(touch),
                Some(names) => names.iter().for_each(|name| self.note_name(graph, name, &touch)),
            }
        }
    }

    fn note_name(&mut self, graph: &Graph, name: &str, touch: &Touch) {
        let symbol = graph.symbol_of(name);
        if let Some(symbol) = symbol {
            self.touches.entry(symbol).or_default().push(touch.clone());
        }
        if symbol.is_none_or(|symbol| graph.touchers(symbol).is_empty()) {
            self.forgotten.entry(name.to_owned()).or_default().push(touch.clone());
        }
    }

    fn note_cell(&mut self, graph: &Graph, version: Version, place: usize, is_repeated: bool) {
        let touch = Touch { version, by: By::Cell(place), is_repeated };
        for symbol in graph.names(place).touched() {
            self.touches.entry(symbol).or_default().push(touch.clone());
        }
        // A text that does not parse runs nothing of itself.
        let is_unread = graph.known(place).is_outdated() && self.runs[place].1.is_none();
        if graph.names(place).has_star || is_unread {
            self.wild.push(touch);
        }
    }

    /// A name that the kernel had at `before` and that no present cell binds, with the cell that had bound it.
    pub(crate) fn forgotten_name(&self, before: Version) -> Option<(&str, &CellId)> {
        self.forgotten.iter().find_map(|(name, touches)| {
            match &touches.iter().rfind(|touch| touch.version < before)?.by {
                By::Past(cell_id) => Some((name.as_str(), cell_id)),
                _ => None,
            }
        })
    }

    fn of_name(&self, symbol: Symbol) -> &[Touch] {
        self.touches.get(&symbol).map_or(&[], Vec::as_slice)
    }

    /// Version of the last removal of a name before this version; 0: none.
    fn last_removal(&self, symbol: Symbol, before: Version) -> Version {
        let removals = self.of_name(symbol).iter().filter(|touch| touch.by == By::Removal && touch.version < before);
        removals.map(|touch| touch.version).next_back().unwrap_or(0)
    }

    /// Checks that a run at `before` reads the value that the name's sources leave when each runs once, in page order.
    /// `sources`: in page order. `heeds_wild`: also runs that may have bound any name count.
    pub(crate) fn other_value(
        &self,
        graph: &Graph,
        (symbol, sources): &(Symbol, Vec<usize>),
        before: Version,
        heeds_wild: bool,
    ) -> Option<OtherValue> {
        let symbol = *symbol;
        let (base, between) = base_of(graph, symbol, sources);
        let base = base.map_or_else(|| self.last_removal(symbol, before), |base| self.runs[base].0);
        let other = |by: By, is_unknown: bool| Some(OtherValue { symbol, by, is_unknown });
        let mut last = base;
        for cell in &between {
            if self.runs[*cell].0 <= last {
                return other(By::Cell(*cell), true);
            }
            last = self.runs[*cell].0;
        }
        let is_in = |touch: &&Touch| touch.version > base && touch.version < before;
        let is_wanted = |touch: &&Touch| {
            !touch.is_repeated
                && matches!(touch.by, By::Cell(cell) if between.contains(&cell) && self.runs[cell].0 == touch.version)
        };
        if let Some(touch) = self.of_name(symbol).iter().filter(is_in).find(|touch| !is_wanted(touch)) {
            return other(touch.by.clone(), false);
        }
        let wild = self.wild.iter().filter(|_| heeds_wild).filter(is_in).find(|touch| !is_wanted(touch));
        wild.and_then(|touch| other(touch.by.clone(), true))
    }
}

/// The name, its sources, and whether runs count that may have bound any name.
pub(crate) type ReadName = ((Symbol, Vec<usize>), bool);

/// All that a cell reads or may read.
pub(crate) fn reads_of(graph: &Graph, cell: usize) -> impl Iterator<Item = ReadName> {
    let sourced = graph.reads(cell).into_iter().map(|read| (read, true));
    let is_missing = move |symbol: &&Symbol| graph.is_without_source(cell, **symbol);
    let missing = graph.missing_symbols(cell).iter().filter(is_missing).map(|symbol| ((*symbol, Vec::new()), true));
    sourced.chain(missing).chain(graph.unsourced(cell).iter().map(|symbol| ((*symbol, Vec::new()), false)))
}

/// The source that surely binds or deletes the name, and those that may change it afterwards. A source above one that is
/// below the reader comes before it.
pub(crate) fn base_of(graph: &Graph, symbol: Symbol, sources: &[usize]) -> (Option<usize>, Vec<usize>) {
    let base = sources.iter().copied().find(|cell| graph.names(*cell).surely_touches(symbol));
    (base, sources.iter().copied().filter(|cell| base.is_none_or(|base| *cell > base)).collect())
}
