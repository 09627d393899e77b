//! Cache of decoded recent events by cell, for late edits. Each late edit needs all events since its base; decoding them every time would
//! dominate the room's cost during a flood.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use notarium_core::{CellId, Recorded, Version};

/// Recent events of some cells, complete and in order. The ring fills in a cell at its first use.
#[derive(Debug, Default)]
pub(crate) struct LateEdits {
    by_cell: BTreeMap<String, VecDeque<Arc<Recorded>>>,
}

impl LateEdits {
    pub(crate) fn has(&self, cell: &CellId) -> bool {
        self.by_cell.contains_key(cell.as_str())
    }

    pub(crate) fn start(&mut self, cell: &CellId, events: impl IntoIterator<Item = Recorded>) {
        self.by_cell.insert(cell.to_string(), events.into_iter().map(Arc::new).collect());
    }

    /// Adds an event that follows all others.
    pub(crate) fn note(&mut self, recorded: Recorded) {
        let events = recorded.event.subject().and_then(|subject| self.by_cell.get_mut(subject));
        if let Some(events) = events {
            events.push_back(Arc::new(recorded));
        }
    }

    /// Returns the events of these subjects after `since`, if all subjects are cached.
    pub(crate) fn select<'a>(
        &self,
        subjects: impl Iterator<Item = &'a String>,
        since: Version,
    ) -> Option<Vec<Arc<Recorded>>> {
        let mut selected = Vec::new();
        let mut count = 0;
        for subject in subjects {
            let events = self.by_cell.get(subject)?;
            selected.extend(events.range(events.partition_point(|it| it.envelope.version <= since)..).cloned());
            count += 1;
        }
        if count > 1 {
            selected.sort_by_key(|recorded| recorded.envelope.version);
        }
        Some(selected)
    }

    /// Drops events that the ring has dropped.
    pub(crate) fn trim(&mut self, before: Version) {
        self.by_cell.retain(|_, events| {
            while events.front().is_some_and(|recorded| recorded.envelope.version <= before) {
                events.pop_front();
            }
            !events.is_empty()
        });
    }

    pub(crate) fn clear(&mut self) {
        self.by_cell = BTreeMap::new();
    }
}
