//! Rendering of the state for joining clients, off the room's task, once for all waiting clients.

use notarium_core::Version;
use notarium_wire::ErrorCode;

use super::{Cycle, Room};
use crate::identity::ClientId;
use crate::io::Output;
use crate::rendering::{Rendered, Rendering};

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
