//! The state for those who join: its JSON and its digest are made beside the room, once for all who wait.

use notarium_core::{Document, EventId, Hash, RawJson, Version};
use notarium_wire::ErrorCode;

use crate::identity::ClientId;
use crate::io::Output;
use crate::room::{Cycle, Room};

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
    under_way: Option<Version>,
    done: Option<Rendered>,
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

impl Room {
    /// The state at `at_least` or later. `None`: it is being rendered, and whoever wants it waits for [`Input::Rendered`].
    ///
    /// [`Input::Rendered`]: crate::Input::Rendered
    pub(crate) fn rendered(&mut self, cycle: &mut Cycle, at_least: Version) -> Option<Rendered> {
        let is_good = |done: &&Rendered| done.version >= at_least && self.ring.covers(done.version);
        if let Some(done) = self.rendering.done.as_ref().filter(is_good) {
            return Some(done.clone());
        }
        // The ring knows the last event of every notebook that exists.
        if !self.rendering.is_under_way()
            && let Some(event_id) = self.ring.event_id(self.committed)
        {
            self.rendering.under_way = Some(self.committed);
            cycle.out.push(Output::Render { document: self.state.document.clone(), event_id });
        }
        None
    }

    pub(crate) fn take_rendered(&mut self, cycle: &mut Cycle, rendered: Option<Rendered>) {
        self.rendering = Rendering { under_way: None, done: rendered };
        if self.rendering.done.is_none() {
            let waiting: Vec<ClientId> =
                self.joins.values().filter(|join| join.waits_for_state()).map(|join| join.client).collect();
            for client in waiting {
                self.leave(cycle, client);
                self.send_error(cycle, client, ErrorCode::Unavailable, "the notebook cannot be written as JSON");
            }
        }
    }
}
