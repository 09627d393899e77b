//! Who is here and what kernels do: beside the log, coalesced, forgotten when it is not renewed.

use std::collections::BTreeSet;

use notarium_core::{KernelSessionId, Millis};
use notarium_wire::{PresenceState, ServerMessage, frame};

use super::subscribers::Subscriber;
use super::{Cycle, Room};
use crate::identity::ClientId;
use crate::io::{Output, earliest};
use crate::leases::agent_of;

/// Changes that others have not been sent yet.
#[derive(Debug, Default)]
pub(super) struct PresenceQueue {
    next_at: Millis,
    changed: BTreeSet<ClientId>,
    /// Names of connections.
    left: Vec<String>,
}

impl PresenceQueue {
    pub(super) fn turn_back(&mut self, by: Millis) {
        self.next_at = self.next_at.saturating_sub(by);
    }

    pub(super) fn changed(&mut self, client: ClientId) {
        self.changed.insert(client);
    }

    pub(super) fn left(&mut self, client: ClientId, subscriber: &Subscriber) {
        self.changed.remove(&client);
        if agent_of(&subscriber.identity.actor).is_none() {
            self.left.push(subscriber.identity.connection.clone());
        }
    }

    fn is_empty(&self) -> bool {
        self.changed.is_empty() && self.left.is_empty()
    }
}

impl Room {
    pub(super) fn take_presence(&mut self, cycle: &Cycle, client: ClientId, state: PresenceState) {
        let Some(subscriber) = self.subscribers.get_mut(&client) else { return };
        subscriber.presence_ends_at = Some(cycle.now + self.config.presence_ttl_ms);
        if subscriber.presence != state {
            subscriber.presence = state;
            self.presence.changed(client);
        }
    }

    /// Only the agent of a session knows whether it is busy.
    pub(super) fn take_status(&mut self, client: ClientId, session: KernelSessionId, busy: bool) {
        let Some(subscriber) = self.subscribers.get(&client) else { return };
        let agent = agent_of(&subscriber.identity.actor);
        let is_its = self.state.kernels.get(&session).is_some_and(|kernel| kernel.agent.as_ref() == agent);
        if agent.is_some() && is_its {
            self.leases.set_busy(session, busy);
        }
    }

    /// At most one frame of each kind in a while; the first goes at once.
    pub(super) fn send_presence(&mut self, cycle: &mut Cycle) {
        self.forget_old_cursors(cycle.now);
        if cycle.now < self.presence.next_at {
            return;
        }
        let sent_peers = self.send_peers(cycle);
        let sent_kernels = self.send_kernels(cycle);
        if sent_peers || sent_kernels {
            self.presence.next_at = cycle.now + self.config.presence_delay_ms;
        }
    }

    fn send_peers(&mut self, cycle: &mut Cycle) -> bool {
        if self.presence.is_empty() {
            return false;
        }
        let changed = std::mem::take(&mut self.presence.changed);
        let left = std::mem::take(&mut self.presence.left);
        let peers: Vec<_> =
            changed.iter().filter_map(|client| self.subscribers.get(client)).filter_map(Subscriber::peer).collect();
        if peers.is_empty() && left.is_empty() {
            return false;
        }
        let notebook = self.notebook_id.clone();
        self.send_all(cycle, &ServerMessage::Presence { notebook, peers, left });
        true
    }

    fn send_kernels(&mut self, cycle: &mut Cycle) -> bool {
        if !self.is_settled() {
            return false;
        }
        let Some(kernels) = self.leases.changed_statuses(&self.state, cycle.now, &self.config) else { return false };
        let notebook = self.notebook_id.clone();
        self.send_all(cycle, &ServerMessage::Kernels { notebook, kernels });
        true
    }

    fn send_all(&self, cycle: &mut Cycle, message: &ServerMessage) {
        let live = self.subscribers.iter().filter(|(_, subscriber)| !subscriber.is_lagging);
        let clients: Vec<ClientId> = live.map(|(client, _)| *client).collect();
        if !clients.is_empty() {
            cycle.out.push(Output::Presence { clients, text: frame::text(message) });
        }
    }

    fn forget_old_cursors(&mut self, now: Millis) {
        for (client, subscriber) in &mut self.subscribers {
            if subscriber.presence_ends_at.is_some_and(|at| at <= now) {
                subscriber.presence_ends_at = None;
                subscriber.presence = PresenceState::default();
                self.presence.changed(*client);
            }
        }
    }

    pub(super) fn presence_at(&self, now: Millis) -> Option<Millis> {
        let cursors = earliest(self.subscribers.values().map(|subscriber| subscriber.presence_ends_at));
        let frame = (!self.presence.is_empty() || now < self.presence.next_at).then_some(self.presence.next_at);
        earliest([cursors, frame])
    }
}
