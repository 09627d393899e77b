//! Redaction: after its commit the room drops everything that it holds of the notebook, loads the record anew, and gives every subscriber a
//! snapshot. Nothing is decided on the old state any more.

use super::joining::PendingJoin;
use super::set_aside::SetAside;
use super::{Cycle, Phase, Room, unavailable};
use crate::cell_changes::CellChanges;
use crate::io::Output;
use crate::ring::Ring;
use notarium_core::Version;

/// Reason of the resync, for clients.
const REDACTED: &str = "content was redacted: drop what you hold of this notebook";

impl Room {
    /// Drops the content that a redaction has replaced on disk, and requests the state.
    pub(super) fn drop_content(&mut self, cycle: &mut Cycle) {
        self.phase = Phase::Loading;
        self.must_resync = true;
        self.ring = Ring::default();
        self.changes = CellChanges::default();
        self.names = Default::default();
        self.answers.clear();
        self.rendering.discard();
        self.listing.at = Some(cycle.now);
        for pending in self.queue.iter_mut() {
            pending.forget_history();
        }
        // They hold events of the old record.
        let scanning = std::mem::take(&mut self.set_aside).into_values().flat_map(SetAside::into_commands);
        self.answer_all(cycle, scanning.collect(), &unavailable("content was redacted meanwhile: send it again"));
        for PendingJoin { client, identity, request, .. } in std::mem::take(&mut self.joins).into_values() {
            self.enqueue(cycle, client, identity, request);
        }
        cycle.out.push(Output::Load { recent_after: Version::MAX });
    }

    /// Gives every subscriber the state anew, once it is loaded.
    pub(super) fn resync_after_redaction(&mut self, cycle: &mut Cycle) {
        if !std::mem::take(&mut self.must_resync) {
            return;
        }
        let clients: Vec<_> = self.subscribers.keys().copied().collect();
        for client in clients {
            self.resync_from_nothing(cycle, client, REDACTED);
        }
    }
}
