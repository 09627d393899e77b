//! The state as it is serialised for joining clients: once for all of them, off the room's task.

use notarium_core::Version;
use notarium_wire::ErrorCode;

use super::{Cycle, Room};
use crate::io::{ClientId, Output, Rendered};

/// The last rendered state, and the rendering in progress, of which there is at most one.
#[derive(Debug, Default)]
pub(super) struct Rendering {
    pub(super) under_way: Option<Version>,
    pub(super) done: Option<Rendered>,
    /// The rendering in progress has content that was redacted meanwhile.
    is_outdated: bool,
}

impl Rendering {
    pub(super) fn is_under_way(&self) -> bool {
        self.under_way.is_some()
    }

    pub(super) fn forget(&mut self) {
        self.done = None;
    }

    /// Drops the state, also the one in progress when it comes.
    pub(super) fn discard(&mut self) {
        (self.done, self.is_outdated) = (None, self.is_under_way());
    }

    /// Returns the oldest version after which all events must stay in the ring.
    pub(super) fn oldest(&self) -> Option<Version> {
        let done = self.done.as_ref().map(|done| done.version);
        done.into_iter().chain(self.under_way).min()
    }
}

impl Room {
    /// Returns the state at `at_least` or later. `None`: it is being rendered, and the client waits for [`Input::Rendered`].
    ///
    /// [`Input::Rendered`]: crate::Input::Rendered
    pub(super) fn rendered(&mut self, cycle: &mut Cycle, at_least: Version) -> Option<Rendered> {
        let is_good = |done: &&Rendered| done.version >= at_least && self.ring.covers(done.version);
        if let Some(done) = self.rendering.done.as_ref().filter(is_good) {
            return Some(done.clone());
        }
        // The ring has the last event of every notebook that exists.
        if !self.rendering.is_under_way()
            && let Some(event_id) = self.ring.event_id(self.committed)
        {
            self.rendering.under_way = Some(self.committed);
            cycle.out.push(Output::Render { document: self.state.document.clone(), event_id });
        }
        None
    }

    pub(super) fn take_rendered(&mut self, cycle: &mut Cycle, rendered: Option<Rendered>) {
        let is_outdated = std::mem::take(&mut self.rendering).is_outdated;
        if is_outdated {
            return;
        }
        self.rendering.done = rendered;
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
