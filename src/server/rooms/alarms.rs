//! Alarms that reopen an unloaded notebook at a given time, so that a waiting tool call expires there too. An alarm
//! costs one sleeping task.

use std::sync::Arc;
use std::time::Duration;

use dashmap::{DashMap, Entry};
use notarium_core::{Millis, NotebookId};
use tokio::task::AbortHandle;

use super::Rooms;

/// One alarm per notebook.
#[derive(Debug, Default)]
pub(super) struct Alarms(DashMap<NotebookId, AbortHandle>);

impl Alarms {
    pub(super) fn clear(&self) {
        self.0.retain(|_, alarm| {
            alarm.abort();
            false
        });
    }
}

impl Rooms {
    /// Opens the notebook at `at`; replaces its earlier alarm.
    pub(super) fn open_at(self: &Arc<Self>, id: &NotebookId, at: Millis) {
        let wait = Duration::from_millis(at.saturating_sub(self.clock.now()));
        let (rooms, notebook) = (Arc::downgrade(self), id.clone());
        // Locks the entry first, so that the alarm cannot remove it before it is inserted.
        let entry = self.alarms.0.entry(id.clone());
        if let Entry::Occupied(earlier) = &entry {
            earlier.get().abort();
        }
        let alarm = tokio::spawn(async move {
            tokio::time::sleep(wait).await;
            if let Some(rooms) = rooms.upgrade() {
                rooms.alarms.0.remove(&notebook);
                rooms.open(&notebook);
            }
        });
        entry.insert(alarm.abort_handle());
    }
}
