//! Serialised state for joining clients: JSON and digest are made off the room's task, once for all waiting clients.

use notarium_core::{Document, EventId, Hash, RawJson, Version};

/// A state as serialised for the wire.
#[derive(Debug, Clone)]
pub struct Rendered {
    pub version: Version,
    /// Id of the event at `version`.
    pub event_id: EventId,
    pub snapshot: RawJson,
    /// Digest of the state; absent if it has no canonical form.
    pub digest: Option<Hash>,
}

impl Rendered {
    /// Serialises the state; slow for large ones, so call it off the room's task. `event_id`: id of the state's last event.
    pub fn of(document: &Document, event_id: EventId) -> Option<Self> {
        let snapshot = RawJson::of(document).ok()?;
        Some(Self { version: document.version, event_id, snapshot, digest: document.digest().ok() })
    }
}

/// The last rendered state, and the rendering in progress, of which there is at most one.
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

    /// Returns the oldest version after which all events must stay in the ring.
    pub(crate) fn oldest(&self) -> Option<Version> {
        let done = self.done.as_ref().map(|done| done.version);
        done.into_iter().chain(self.under_way).min()
    }
}
