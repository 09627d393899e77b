//! The state for those who join: its JSON and its digest are made beside the room, once for all who wait.

use notarium_core::{Document, EventId, Hash, RawJson, Version};

/// A state as it goes over the wire.
#[derive(Debug, Clone)]
pub struct Rendered {
    pub version: Version,
    /// Of the event at `version`.
    pub event_id: EventId,
    pub snapshot: RawJson,
    /// Absent where the state has no canonical form.
    pub digest: Option<Hash>,
}

impl Rendered {
    /// Takes as long as the state is large: nothing for the room's own task. `event_id`: of the state's last event.
    pub fn of(document: &Document, event_id: EventId) -> Option<Self> {
        let snapshot = RawJson::of(document).ok()?;
        Some(Self { version: document.version, event_id, snapshot, digest: document.digest().ok() })
    }
}

/// What was rendered, and what is being rendered. One at a time.
#[derive(Debug, Default)]
pub(crate) struct Rendering {
    pub(crate) under_way: Option<Version>,
    pub(crate) done: Option<Rendered>,
}

impl Rendering {
    pub(crate) fn is_under_way(&self) -> bool {
        self.under_way.is_some()
    }

    pub(crate) fn forget(&mut self) {
        self.done = None;
    }

    /// The oldest version that events must be able to follow.
    pub(crate) fn oldest(&self) -> Option<Version> {
        let done = self.done.as_ref().map(|done| done.version);
        done.into_iter().chain(self.under_way).min()
    }
}
