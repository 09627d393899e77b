//! Notebooks that are opened again at their time: a tool call that waits in an unloaded notebook expires nonetheless, and
//! costs one sleeping task until then.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use notarium_core::{Millis, NotebookId};
use tokio::task::AbortHandle;

use super::Rooms;

/// One alarm per notebook.
#[derive(Debug, Default)]
pub(super) struct Alarms(Mutex<HashMap<NotebookId, AbortHandle>>);

impl Alarms {
    pub(super) fn clear(&self) {
        for (_, alarm) in self.lock().drain() {
            alarm.abort();
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<NotebookId, AbortHandle>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Rooms {
    /// Opens the notebook at that time; replaces its earlier alarm.
    pub(super) fn open_at(self: &Arc<Self>, id: &NotebookId, at: Millis) {
        let wait = Duration::from_millis(at.saturating_sub(self.clock.now()));
        let (rooms, notebook) = (Arc::downgrade(self), id.clone());
        let mut alarms = self.alarms.lock();
        let alarm = tokio::spawn(async move {
            tokio::time::sleep(wait).await;
            if let Some(rooms) = rooms.upgrade() {
                rooms.alarms.lock().remove(&notebook);
                rooms.open(&notebook);
            }
        });
        if let Some(earlier) = alarms.insert(id.clone(), alarm.abort_handle()) {
            earlier.abort();
        }
    }
}
