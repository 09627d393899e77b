//! Subscribers: their roles, of which a revoked one takes effect immediately, and the fan-out of events. On a quiet notebook events are sent
//! immediately; on a busy one several commits share a frame.

use std::collections::BTreeMap;
use std::sync::Arc;

use notarium_core::{
    Actor, KernelSessionId, Millis, Recorded, Rejection, RejectionCode, Role, Scope, Version, erased, lacks_scope,
    role_of,
};
use notarium_wire::{PeerState, PresenceState, ServerMessage};

use super::kernels::agent_of;
use super::{Cycle, Room, RoomConfig};
use crate::io::{ClientId, Identity, Input, Output, ReadState, earliest};

/// A subscribed client.
#[derive(Debug)]
pub(super) struct Subscriber {
    pub identity: Arc<Identity>,
    pub role: Role,
    pub transport: Transport,
    /// Version that it has after it has read all sent frames.
    pub sent: Version,
    /// Version of its last `subscribed`.
    pub joined_at: Version,
    /// True if its queue was full: it gets nothing until it has read the queue.
    pub is_lagging: bool,
    pub presence: PresenceState,
    /// Time at which its cursor is dropped.
    pub presence_ends_at: Option<Millis>,
    /// Kernels whose comms it follows; true once it has got the open ones.
    pub comms: BTreeMap<KernelSessionId, bool>,
}

/// Form in which a subscriber gets events.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Transport {
    /// Frames of the protocol.
    #[default]
    Frames,
    /// Values, in this process.
    Values,
}

impl Subscriber {
    /// Returns true for people and guests. Runtime agents appear with their kernels, and the server nowhere.
    pub(super) fn is_visible(&self) -> bool {
        agent_of(&self.identity.actor).is_none() && self.identity.actor != Actor::System
    }

    /// Returns the presence for others, if it is visible.
    pub(super) fn peer(&self) -> Option<PeerState> {
        let Identity { actor, name, connection, .. } = &*self.identity;
        let state = self.presence.clone();
        let peer = PeerState { connection: connection.clone(), actor: actor.clone(), name: name.clone(), state };
        self.is_visible().then_some(peer)
    }

    /// Returns true if it gets all that follows, in this form.
    pub(super) fn is_live(&self, transport: Transport) -> bool {
        self.transport == transport && !self.is_lagging
    }
}

/// Schedule of frames for all subscribers.
#[derive(Debug, Default)]
pub(super) struct FanOut {
    next_at: Millis,
    /// Delay of frames: from 1 ms, doubled while there is always more to send.
    window: Millis,
    /// Number of commits that wait for `next_at`.
    held_back: u32,
}

impl FanOut {
    pub(super) fn turn_back(&mut self, by: Millis) {
        self.next_at = self.next_at.saturating_sub(by);
    }
}

impl Room {
    pub(super) fn admit(
        &mut self,
        cycle: &mut Cycle,
        client: ClientId,
        identity: Arc<Identity>,
        role: Role,
        transport: Transport,
    ) {
        let before = self.subscribers.remove(&client);
        let is_new = before.is_none();
        let (presence, presence_ends_at) =
            before.map(|subscriber| (subscriber.presence, subscriber.presence_ends_at)).unwrap_or_default();
        let sent = self.committed;
        let agent = agent_of(&identity.actor).cloned().map(|agent| (agent, identity.name.clone()));
        let comms = BTreeMap::new();
        let subscriber = Subscriber {
            identity,
            role,
            transport,
            sent,
            joined_at: sent,
            is_lagging: false,
            presence,
            presence_ends_at,
            comms,
        };
        self.subscribers.insert(client, subscriber);
        if is_new {
            self.presence.changed(client);
        }
        if let Some((agent, name)) = agent {
            for (execution_id, value) in self.leases.came(&agent, &name, client) {
                self.send_value(cycle, client, execution_id, value);
            }
            if self.presence.is_measuring {
                self.send_measure(cycle, client);
            }
            self.want_comms_of(cycle, &agent);
        }
    }

    pub(super) fn peers_beside(&self, client: ClientId) -> Vec<PeerState> {
        let others = self.subscribers.iter().filter(|(other, _)| **other != client);
        others.filter_map(|(_, subscriber)| subscriber.peer()).collect()
    }

    /// Returns the people and guests who follow, each once; guests of one link with different names count separately.
    pub(super) fn here(&self) -> Vec<(Actor, String)> {
        let identities = self.subscribers.values().map(|subscriber| &subscriber.identity);
        let people = identities.filter(|identity| matches!(identity.actor, Actor::User { .. } | Actor::Guest { .. }));
        let mut here: Vec<(Actor, String)> = Vec::new();
        for identity in people {
            if here.len() == ReadState::MAX_HERE {
                break;
            }
            if !here.iter().any(|(actor, name)| *actor == identity.actor && *name == identity.name) {
                here.push((identity.actor.clone(), identity.name.clone()));
            }
        }
        here
    }

    /// Returns the current role of an identity.
    pub(super) fn role(&self, now: Millis, identity: &Identity) -> Option<Role> {
        match &identity.actor {
            Actor::System => Some(Role::Owner),
            actor => role_of(&self.state, actor, &identity.authority, now),
        }
    }

    /// Returns the role of a reader. A notebook that may not be seen is reported as unknown.
    pub(super) fn reading_role(&self, now: Millis, identity: &Identity) -> Result<Role, Rejection> {
        let role = self.role(now, identity).filter(|_| self.state.exists()).ok_or_else(|| {
            let id = &self.notebook_id;
            let message = format!("no notebook {id} that you may see: check the id, or ask for access");
            Rejection::new(RejectionCode::UnknownNotebook, message)
        })?;
        if identity.actor != Actor::System && !identity.authority.scopes.contains(&Scope::Read) {
            return Err(lacks_scope(Scope::Read));
        }
        self.state.erased.as_ref().map_or(Ok(role), |erasure| Err(erased(erasure)))
    }

    pub(super) fn take_identity(&mut self, cycle: &Cycle, client: ClientId, identity: Arc<Identity>) {
        if let Some(subscriber) = self.subscribers.get_mut(&client) {
            subscriber.identity = identity;
            // Rechecked when the state is on disk.
            self.grant_ends_at = Some(cycle.now);
        }
    }

    pub(super) fn recheck_when_due(&mut self, cycle: &mut Cycle) {
        if self.is_settled() && self.grant_ends_at.is_some_and(|at| at <= cycle.now) {
            self.recheck_access(cycle);
        }
    }

    /// Updates all subscribers' roles after a change of access.
    pub(super) fn recheck_access(&mut self, cycle: &mut Cycle) {
        let clients: Vec<ClientId> = self.subscribers.keys().copied().collect();
        for client in clients {
            self.recheck(cycle, client);
        }
        let ends = self.state.access.iter().map(|entry| entry.grant.expires_at.filter(|at| *at > cycle.now));
        self.grant_ends_at = earliest(ends);
    }

    fn recheck(&mut self, cycle: &mut Cycle, client: ClientId) {
        let Some(subscriber) = self.subscribers.get(&client) else { return };
        let role = self.reading_role(cycle.now, &subscriber.identity).ok();
        if role == Some(subscriber.role) {
            return;
        }
        // In-process subscribers get a text at their end alone.
        if role.is_none() || subscriber.transport == Transport::Frames {
            let notebook = self.notebook_id.clone();
            cycle.send(client, &ServerMessage::Access { notebook, role });
        }
        match role {
            Some(role) => {
                if let Some(subscriber) = self.subscribers.get_mut(&client) {
                    subscriber.role = role;
                }
            }
            None => {
                self.leave(cycle, client);
                cycle.out.push(Output::Forget { client });
            }
        }
    }

    /// Ends the client's subscription, if any.
    pub(super) fn leave(&mut self, cycle: &mut Cycle, client: ClientId) {
        self.waiting.retain(|waiting| !waiting.is_subscription_of(client));
        self.joins.retain(|_, join| join.client != client);
        let Some(subscriber) = self.subscribers.remove(&client) else { return };
        if let Some(agent) = agent_of(&subscriber.identity.actor) {
            self.leases.went(agent, client, cycle.now, &self.config);
        }
        self.presence.left(client, &subscriber);
    }

    /// Drops the waiting commands of a connection that broke: none of them is acked.
    pub(super) fn take_gone(&mut self, cycle: &mut Cycle, client: ClientId) {
        self.leave(cycle, client);
        self.queue.drop_of(client);
        self.set_aside.retain(|_, set_aside| !set_aside.is_from(client));
        self.judging.retain(|_, waiting| {
            waiting.retain(|pending| !pending.is_from(client));
            !waiting.is_empty()
        });
    }

    /// Returns the lowest version among clients that are not lagging, renderings in progress and scans of the store.
    pub(super) fn least_sent(&self) -> Version {
        let live = self.subscribers.values().filter(|subscriber| subscriber.is_live(Transport::Frames));
        let sent = live.map(|subscriber| subscriber.sent);
        sent.chain(self.rendering.oldest()).chain(self.oldest_scan()).min().unwrap_or(self.committed)
    }

    /// Sends a commit. Senders get it now, because their acks follow; others get it now or with the next frame.
    pub(super) fn fan_out(&mut self, cycle: &mut Cycle, senders: &[ClientId]) {
        if cycle.now < self.fan_out.next_at {
            self.fan_out.held_back += 1;
            self.show(cycle, |client| senders.contains(&client));
            return;
        }
        if cycle.now >= self.fan_out.next_at + self.fan_out.window {
            self.fan_out.window = 1;
        }
        self.fan_out.next_at = cycle.now + self.fan_out.window;
        self.fan_out.held_back = 0;
        self.show(cycle, |_| true);
    }

    pub(super) fn fan_out_when_due(&mut self, cycle: &mut Cycle) {
        if self.fan_out.held_back == 0 || cycle.now < self.fan_out.next_at {
            return;
        }
        if self.fan_out.held_back > 1 {
            self.fan_out.window = (self.fan_out.window * 2).min(self.config.max_frame_delay_ms).max(1);
        }
        self.fan_out.next_at = cycle.now + self.fan_out.window;
        self.fan_out.held_back = 0;
        self.show(cycle, |_| true);
        self.trim();
    }

    pub(super) fn fan_out_at(&self) -> Option<Millis> {
        (self.fan_out.held_back > 0).then_some(self.fan_out.next_at)
    }

    /// Sends missing events up to the committed version. Clients at the same version share a frame.
    pub(super) fn show(&mut self, cycle: &mut Cycle, is_meant: impl Fn(ClientId) -> bool) {
        let committed = self.committed;
        let mut groups: BTreeMap<Version, Vec<ClientId>> = BTreeMap::new();
        for (client, subscriber) in &mut self.subscribers {
            if subscriber.is_live(Transport::Frames) && subscriber.sent < committed && is_meant(*client) {
                groups.entry(subscriber.sent).or_default().push(*client);
                subscriber.sent = committed;
            }
        }
        for (sent, clients) in groups {
            for (from, text) in self.ring.frames(&self.notebook_id, sent, committed) {
                cycle.out.push(Output::Events { clients: clients.clone(), from, text });
            }
        }
    }

    /// Trims the ring to its limits; events that a subscriber has not been sent stay.
    pub(super) fn trim(&mut self) {
        let keep_after = self.least_sent();
        let RoomConfig { max_recent_events, max_recent_bytes, max_change_bytes, .. } = *self.config;
        self.ring.trim(max_recent_events, max_recent_bytes, keep_after);
        self.changes.trim(max_change_bytes);
    }

    pub(super) fn take_lagging(&mut self, client: ClientId, from: Version) {
        // Ignores frames sent before its last `subscribed`, which replaced them.
        if let Some(subscriber) = self.subscribers.get_mut(&client).filter(|subscriber| from > subscriber.joined_at) {
            subscriber.is_lagging = true;
            subscriber.sent = subscriber.sent.min(from.saturating_sub(1));
        }
    }

    /// Resyncs a lagging client that has read its queue.
    pub(super) fn take_caught_up(&mut self, cycle: &mut Cycle, client: ClientId) {
        if self.subscribers.get(&client).is_some_and(|subscriber| subscriber.is_lagging) {
            self.resync(cycle, client, "you read slower than the others write");
        }
    }

    /// Resyncs clients whose missing events are not in the ring after a reload, and all in-process subscribers.
    pub(super) fn resync_unreachable(&mut self, cycle: &mut Cycle) {
        let is_out = |subscriber: &Subscriber| match subscriber.transport {
            Transport::Frames => subscriber.sent > self.committed || !self.ring.covers(subscriber.sent),
            Transport::Values => true,
        };
        let live = self.subscribers.iter().filter(|(_, subscriber)| !subscriber.is_lagging);
        let out: Vec<ClientId> = live.filter(|(_, subscriber)| is_out(subscriber)).map(|(client, _)| *client).collect();
        for client in out {
            self.take(cycle, Input::Lagging { client, from: Version::MAX });
            self.resync(cycle, client, "the server has read the notebook again");
        }
    }

    pub(super) fn live_clients(&self, transport: Transport) -> Vec<ClientId> {
        let live = self.subscribers.iter().filter(|(_, subscriber)| subscriber.is_live(transport));
        live.map(|(client, _)| *client).collect()
    }

    // --- in-process subscribers ---

    /// Sends the position from which an in-process subscriber gets everything.
    pub(super) fn send_position(&mut self, cycle: &mut Cycle, client: ClientId) {
        // Sent first: the position below carries the same activity, and a follower is not to get it twice.
        self.send_activity(cycle);
        if let Some(subscriber) = self.subscribers.get_mut(&client) {
            (subscriber.is_lagging, subscriber.joined_at) = (false, self.committed);
            let activity = self.activity.unposted.activity();
            cycle.out.push(Output::Following { client, version: self.committed, activity });
        }
    }

    /// Sends a commit to in-process subscribers.
    pub(super) fn send_commit(&self, cycle: &mut Cycle, events: Vec<Recorded>, payload_bytes: usize) {
        let clients = self.live_clients(Transport::Values);
        if !clients.is_empty() {
            cycle.out.push(Output::Committed { clients, events: events.into(), payload_bytes });
        }
    }
}
