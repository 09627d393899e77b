//! Log of the runs in a kernel: which cell bound which names, and when. It shows whose value a cell has read.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use notarium_record::{CellId, Document, KernelSessionId, Version};

/// Facts about the variables of a kernel, beside the document.
#[derive(Debug, Clone, Default)]
pub struct KernelVariables {
    /// The kernel that has the variables.
    pub(crate) kernel_session: Option<KernelSessionId>,
    /// Deleted cells whose runs had left names. If such a cell is restored, its variables are missing.
    pub(crate) gone: BTreeSet<CellId>,
    pub(crate) log: Arc<KernelLog>,
}

/// One run, or several of the same cell between which nothing was read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct LoggedRun {
    /// Version of the request.
    pub version: Version,
    /// Absent: the run removed the names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cell_id: Option<CellId>,
    /// Names that the run binds. Absent: they are not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub names: Option<BTreeSet<String>>,
    /// Earlier runs are part of this entry.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_repeated: bool,
}

/// Length from which the log is compacted for the first time.
const FIRST_LIMIT: usize = 256;

/// Runs in the order of their requests, which is that of the kernel's queue.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct KernelLog {
    pub runs: Vec<LoggedRun>,
    /// Length after the last compaction.
    compacted: usize,
}

impl KernelLog {
    pub(crate) fn note(&mut self, version: Version, cell_id: Option<CellId>, names: Option<BTreeSet<String>>) {
        self.runs.push(LoggedRun { version, cell_id, names, is_repeated: false });
    }

    /// Forgets a run that never began.
    pub(crate) fn forget(&mut self, version: Version) {
        if let Ok(at) = self.runs.binary_search_by_key(&version, |run| run.version) {
            self.runs.remove(at);
        }
    }

    /// Forgets a run whose text could not be read and was no Python: it has bound nothing.
    pub(crate) fn forget_unread(&mut self, version: Version) {
        self.runs.retain(|run| run.version != version || run.names.is_some());
    }

    pub(crate) fn is_full(&self) -> bool {
        self.runs.len() >= FIRST_LIMIT.max(2 * self.compacted)
    }

    /// Joins runs of a cell between which no cell has had its latest run: nobody can have read in between.
    pub(crate) fn compact(&mut self, document: &Document) {
        let mut latest: Vec<Version> =
            document.cells.keys().filter_map(|id| Some(document.latest_execution(id)?.1.requested_version)).collect();
        latest.sort_unstable();
        let before = |version: Version| latest.partition_point(|run| *run < version);
        let up_to = |version: Version| latest.partition_point(|run| *run <= version);
        let mut newer: BTreeMap<(usize, Option<CellId>), usize> = BTreeMap::new();
        let mut kept: Vec<LoggedRun> = Vec::new();
        for run in std::mem::take(&mut self.runs).into_iter().rev() {
            let place = newer.get(&(before(run.version), run.cell_id.clone())).copied();
            match place.map(|at| &mut kept[at]).filter(|later| is_within(&run, later)) {
                Some(later) => later.is_repeated = true,
                None => {
                    newer.insert((up_to(run.version), run.cell_id.clone()), kept.len());
                    kept.push(run);
                }
            }
        }
        kept.reverse();
        self.compacted = kept.len();
        self.runs = kept;
    }
}

fn is_within(run: &LoggedRun, later: &LoggedRun) -> bool {
    match (&run.names, &later.names) {
        (None, None) => true,
        (Some(names), Some(later)) => names.is_subset(later),
        _ => false,
    }
}
