//! What assistants are writing, sent to the notebook's subscribers: beside the log, coalesced, never kept.

use notarium_core::Millis;
use notarium_wire::{PendingActivity, ServerMessage, TurnActivity, frame};

use super::{Cycle, Room};
use crate::identity::ClientId;
use crate::io::Output;
use crate::leases::agent_of;

/// What is not sent yet.
#[derive(Debug, Default)]
pub(super) struct ActivityQueue {
    next_at: Millis,
    pending: PendingActivity,
}

impl ActivityQueue {
    pub(super) fn turn_back(&mut self, by: Millis) {
        self.next_at = self.next_at.saturating_sub(by);
    }

    pub(super) fn push(&mut self, activity: TurnActivity) {
        self.pending.push(activity);
    }
}

impl Room {
    /// The first at once, then at most one frame in a while.
    pub(super) fn send_activity_when_due(&mut self, cycle: &mut Cycle) {
        if cycle.now >= self.activity.next_at {
            self.send_activity(cycle);
        }
    }

    pub(super) fn send_activity(&mut self, cycle: &mut Cycle) {
        if self.activity.pending.is_empty() {
            return;
        }
        self.activity.next_at = cycle.now + self.config.activity_delay_ms;
        let (notebook, activity) = (self.notebook_id.clone(), self.activity.pending.take());
        let people = self.subscribers.iter().filter(|(_, subscriber)| {
            // Runtime agents have no use for it.
            !subscriber.is_lagging && agent_of(&subscriber.identity.actor).is_none()
        });
        let clients: Vec<ClientId> = people.map(|(client, _)| *client).collect();
        if !clients.is_empty() {
            let text = frame::text(&ServerMessage::Activity { notebook, activity });
            cycle.out.push(Output::Presence { clients, text });
        }
    }

    pub(super) fn activity_at(&self) -> Option<Millis> {
        (!self.activity.pending.is_empty()).then_some(self.activity.next_at)
    }
}
