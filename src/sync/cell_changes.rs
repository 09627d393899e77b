//! Recent changes of cells in memory. Edits with older bases are mapped over them, and never read the store.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use notarium_core::{CellId, Event, Recorded, RecordedChange, Stored, Version};

/// Memory of a change besides its sections, in bytes.
const CHANGE_BYTES: usize = 48;
/// Number of cells without a change in memory whose versions are kept.
const MAX_EMPTY_LOGS: usize = 1_024;

/// Changes by cell, up to the newest event, which may not be synced yet.
#[derive(Debug, Default)]
pub(crate) struct CellChanges {
    /// A cell without a log has no change after this version.
    start: Version,
    logs: BTreeMap<CellId, ChangeLog>,
    bytes: usize,
}

/// Changes of one cell.
#[derive(Debug, Default)]
struct ChangeLog {
    /// All changes after this version are here.
    after: Version,
    /// Oldest first.
    changes: VecDeque<Arc<RecordedChange>>,
    bytes: usize,
}

impl ChangeLog {
    fn push(&mut self, change: RecordedChange) {
        self.bytes += cost(&change);
        self.changes.push_back(Arc::new(change));
    }

    fn drop_oldest_beyond(&mut self, max_bytes: usize) {
        while self.bytes > max_bytes
            && let Some(oldest) = self.changes.pop_front()
        {
            self.bytes -= cost(&oldest);
            self.after = self.after.max(oldest.version);
        }
    }

    fn drop_after(&mut self, version: Version) {
        while let Some(newest) = self.changes.pop_back_if(|newest| newest.version > version) {
            self.bytes -= cost(&newest);
        }
    }
}

fn cost(change: &RecordedChange) -> usize {
    CHANGE_BYTES + change.change.memory_bytes()
}

impl CellChanges {
    /// Takes over the events of a load. `committed`: version before the load; later changes were not synced, and are read again.
    pub(crate) fn load(&mut self, committed: Version, head: Version, recent: &[Stored], max_cell_bytes: usize) {
        let start = recent.first().map_or(head, |first| first.envelope.version - 1);
        let known = if committed == 0 || start > committed {
            *self = Self { start, ..Self::default() };
            start
        } else {
            self.logs.values_mut().for_each(|log| log.drop_after(committed));
            self.count();
            committed
        };
        for stored in recent.iter().filter(|stored| stored.envelope.version > known) {
            if let Ok(recorded) = stored.typed() {
                self.note(&recorded, max_cell_bytes);
            }
        }
    }

    /// Notes the next event.
    pub(crate) fn note(&mut self, recorded: &Recorded, max_cell_bytes: usize) {
        let version = recorded.envelope.version;
        match &recorded.event {
            Event::CellSourceEdited(event) => {
                let after = self.start;
                let log = self
                    .logs
                    .entry(event.cell_id.clone())
                    .or_insert_with(|| ChangeLog { after, ..ChangeLog::default() });
                let before = log.bytes;
                log.push(RecordedChange { version, change: event.change.clone() });
                log.drop_oldest_beyond(max_cell_bytes);
                self.bytes = self.bytes + log.bytes - before;
            }
            // Its text has no earlier changes, whatever the base is.
            Event::CellInserted(event) => {
                let before = self.logs.insert(event.cell_id.clone(), ChangeLog::default());
                self.bytes -= before.map_or(0, |log| log.bytes);
            }
            _ => {}
        }
    }

    /// Returns the changes of a cell after `base`; `None`: some of them are not in memory any more.
    pub(crate) fn after(&self, cell: &CellId, base: Version) -> Option<Vec<Arc<RecordedChange>>> {
        let Some(log) = self.logs.get(cell) else { return (base >= self.start).then(Vec::new) };
        let first = log.changes.partition_point(|change| change.version <= base);
        (base >= log.after).then(|| log.changes.range(first..).cloned().collect())
    }

    /// If there are more than `max_bytes`, gives each cell an equal share of half of them.
    pub(crate) fn trim(&mut self, max_bytes: usize) {
        if self.bytes <= max_bytes {
            return;
        }
        let cells = self.logs.values().filter(|log| log.bytes > 0).count();
        let share = max_bytes / 2 / cells.max(1);
        self.logs.values_mut().for_each(|log| log.drop_oldest_beyond(share));
        let empty = || self.logs.values().filter(|log| log.changes.is_empty());
        if empty().count() > MAX_EMPTY_LOGS {
            self.start = empty().map(|log| log.after).chain([self.start]).max().unwrap_or_default();
            self.logs.retain(|_, log| !log.changes.is_empty());
        }
        self.count();
    }

    fn count(&mut self) {
        self.bytes = self.logs.values().map(|log| log.bytes).sum();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulation::context_notebook;
    use notarium_core::text::ChangeSet;
    use notarium_core::{Actor, CellSourceEdited, Envelope};

    fn edited(version: Version, cell: &str) -> Recorded {
        let cell_id = CellId::new(cell).unwrap();
        let change = ChangeSet::insert(0, 0, "x").unwrap();
        let event: Event = CellSourceEdited { cell_id, change, removed: Vec::new() }.into();
        let envelope = Envelope {
            id: format!("e{version}").parse().unwrap(),
            notebook_id: context_notebook(),
            version,
            event_type: event.event_type().to_owned(),
            schema: event.schema(),
            actor: Actor::System,
            command_id: format!("c{version}").parse().unwrap(),
            correlation_id: format!("c{version}").parse().unwrap(),
            causation_id: None,
            undoes: None,
            recorded_at: 0,
        };
        Recorded { envelope, event }
    }

    fn versions(changes: &CellChanges, cell: &str, base: Version) -> Option<Vec<Version>> {
        let found = changes.after(&CellId::new(cell).unwrap(), base)?;
        Some(found.iter().map(|change| change.version).collect())
    }

    fn with(cells: &[&str], max_cell_bytes: usize) -> CellChanges {
        let mut changes = CellChanges::default();
        for (version, cell) in (1..).zip(cells) {
            changes.note(&edited(version, cell), max_cell_bytes);
        }
        changes
    }

    #[test]
    fn a_cell_that_changes_much_drops_its_own_oldest_changes_alone() {
        let one = cost(&RecordedChange { version: 1, change: ChangeSet::insert(0, 0, "x").unwrap() });
        let changes = with(&["a", "b", "b", "b", "b"], 2 * one);
        assert_eq!(versions(&changes, "a", 0), Some(vec![1]));
        assert_eq!((versions(&changes, "b", 2), versions(&changes, "b", 3)), (None, Some(vec![4, 5])));
        assert_eq!(changes.bytes, 3 * one);
    }

    #[test]
    fn beyond_the_limit_each_cell_keeps_an_equal_share() {
        let one = cost(&RecordedChange { version: 1, change: ChangeSet::insert(0, 0, "x").unwrap() });
        let mut changes = with(&["a", "b", "b", "b", "b", "b", "b", "b"], usize::MAX);
        changes.trim(8 * one);
        assert_eq!(changes.bytes, 8 * one, "nothing is beyond the limit");
        changes.trim(8 * one - 1);
        assert_eq!(versions(&changes, "a", 0), Some(vec![1]));
        assert_eq!((versions(&changes, "b", 6), versions(&changes, "b", 7)), (None, Some(vec![8])));
    }

    #[test]
    fn what_was_not_synced_is_forgotten_by_a_load() {
        let mut changes = with(&["a", "a", "a"], usize::MAX);
        changes.load(2, 2, &[], usize::MAX);
        assert_eq!(versions(&changes, "a", 0), Some(vec![1, 2]));
        changes.load(2, 9, &[], usize::MAX);
        assert_eq!((versions(&changes, "a", 8), versions(&changes, "a", 9)), (None, Some(vec![])));
    }
}
