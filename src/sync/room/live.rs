//! Presence of clients and status of kernels: beside the log, coalesced, dropped when not renewed.

use std::collections::BTreeSet;

use notarium_core::{AgentId, KernelSessionId, Millis};
use notarium_wire::{KernelUsage, PresenceState, ServerMessage, frame};

use super::subscribers::Subscriber;
use super::{Cycle, Room};
use crate::identity::ClientId;
use crate::io::{Output, earliest};
use crate::room::kernels::agent_of;

/// Changes that are not sent yet.
#[derive(Debug, Default)]
pub(super) struct PresenceQueue {
    next_at: Millis,
    changed: BTreeSet<ClientId>,
    /// Connections that left.
    left: Vec<String>,
    /// True while agents measure their kernels.
    is_measuring: bool,
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

    pub(super) fn is_measuring(&self) -> bool {
        self.is_measuring
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

    /// Notes if a kernel is busy; only the session's agent may report it.
    pub(super) fn take_status(&mut self, client: ClientId, session: KernelSessionId, busy: bool) {
        if self.agent_with(client, &session).is_some() {
            self.leases.set_busy(session, busy);
        }
    }

    /// Notes a measurement; ignored after measurements were stopped.
    pub(super) fn take_usage(&mut self, client: ClientId, session: KernelSessionId, usage: KernelUsage) {
        if let Some(agent) = self.agent_with(client, &session).filter(|_| self.presence.is_measuring) {
            self.leases.set_usage(&agent, session, usage);
        }
    }

    /// Returns the agent if the client is the agent of that session.
    pub(super) fn agent_with(&self, client: ClientId, session: &KernelSessionId) -> Option<AgentId> {
        let agent = agent_of(&self.subscribers.get(&client)?.identity.actor)?;
        (self.state.kernels.get(session)?.agent.as_ref() == Some(agent)).then(|| agent.clone())
    }

    /// Starts measurements when the first client other than an agent follows, and stops them after the last.
    fn ask_to_measure(&mut self, cycle: &mut Cycle) {
        let is_agent = |subscriber: &Subscriber| agent_of(&subscriber.identity.actor).is_some();
        let wanted = self.subscribers.values().any(|subscriber| !is_agent(subscriber));
        if wanted == self.presence.is_measuring {
            return;
        }
        self.presence.is_measuring = wanted;
        if !wanted {
            self.leases.forget_usage();
        }
        let agents = self.subscribers.iter().filter(|(_, subscriber)| is_agent(subscriber));
        for client in agents.map(|(client, _)| *client).collect::<Vec<_>>() {
            self.send_measure(cycle, client);
        }
    }

    pub(super) fn send_measure(&self, cycle: &mut Cycle, client: ClientId) {
        let (notebook, wanted) = (self.notebook_id.clone(), self.presence.is_measuring);
        cycle.send(client, &ServerMessage::MeasureKernels { notebook, wanted });
    }

    /// Sends at most one frame of each kind per interval; the first without delay.
    pub(super) fn send_presence(&mut self, cycle: &mut Cycle) {
        self.forget_old_cursors(cycle.now);
        self.ask_to_measure(cycle);
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
