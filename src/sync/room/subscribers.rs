//! Subscribers of the notebook and their roles. A revoked role takes effect immediately.

use std::collections::BTreeMap;
use std::sync::Arc;

use notarium_core::{Actor, KernelSessionId, Millis, Rejection, RejectionCode, Role, Scope, Version, role_of};
use notarium_wire::{PeerState, PresenceState, ServerMessage};

use super::{Cycle, Room};
use crate::identity::{ClientId, Identity, ReadState};
use crate::io::{Output, earliest};
use crate::room::kernels::agent_of;

/// A subscribed client.
#[derive(Debug)]
pub(super) struct Subscriber {
    pub identity: Arc<Identity>,
    pub role: Role,
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

impl Subscriber {
    /// Returns the presence for others; `None` for runtime agents, which appear with their kernels.
    pub(super) fn peer(&self) -> Option<PeerState> {
        let Identity { actor, name, connection, .. } = &*self.identity;
        let state = self.presence.clone();
        let peer = PeerState { connection: connection.clone(), actor: actor.clone(), name: name.clone(), state };
        agent_of(actor).is_none().then_some(peer)
    }
}

impl Room {
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
        if identity.actor == Actor::System || identity.authority.scopes.contains(&Scope::Read) {
            return Ok(role);
        }
        let message = "this token lacks the scope read: use one that has it";
        Err(Rejection::new(RejectionCode::Forbidden, message))
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
        let notebook = self.notebook_id.clone();
        cycle.send(client, &ServerMessage::Access { notebook, role });
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

    /// Returns the lowest version among clients that are not lagging and renderings in progress.
    pub(super) fn least_sent(&self) -> Version {
        let live = self.subscribers.values().filter(|subscriber| !subscriber.is_lagging);
        let sent = live.map(|subscriber| subscriber.sent);
        sent.chain(self.rendering.oldest()).min().unwrap_or(self.committed)
    }
}
