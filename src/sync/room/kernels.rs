//! Leases of runtime agents: presence, and the time for which kernels wait for an absent agent.

use std::collections::{BTreeMap, BTreeSet};

use notarium_core::{Actor, AgentId, ExecutionId, KernelSessionId, Millis, Notebook};
use notarium_wire::{KernelStatus, KernelUsage};

use crate::config::RoomConfig;
use crate::identity::ClientId;
use crate::io::earliest;

/// Maximum number of answers to input requests that wait for an absent agent.
const MAX_PENDING_VALUES: usize = 16;

/// State of one agent in this room.
#[derive(Debug, Default)]
struct Lease {
    clients: BTreeSet<ClientId>,
    /// Display name. `None` until the agent has connected.
    name: Option<String>,
    /// Time since when the agent is disconnected. `None` while it is connected.
    gone_at: Option<Millis>,
    /// Time at which its kernels are given up next.
    ends_at: Option<Millis>,
    /// Answers to input requests that are not delivered yet. The log does not have them, so they wait in memory.
    values: Vec<(ExecutionId, String)>,
    /// Memory and CPU use of its kernels, while it is connected and measurements are on.
    usage: BTreeMap<KernelSessionId, KernelUsage>,
}

#[derive(Debug, Default)]
pub(crate) struct Leases {
    agents: BTreeMap<AgentId, Lease>,
    busy: BTreeSet<KernelSessionId>,
    /// Statuses that clients were sent last.
    sent: Vec<KernelStatus>,
}

impl Leases {
    /// Notes a connection of the agent; returns the answers that it missed.
    pub(crate) fn came(&mut self, agent: &AgentId, name: &str, client: ClientId) -> Vec<(ExecutionId, String)> {
        let lease = self.agents.entry(agent.clone()).or_default();
        lease.clients.insert(client);
        lease.name = Some(name.to_owned());
        lease.gone_at = None;
        lease.ends_at = None;
        std::mem::take(&mut lease.values)
    }

    pub(crate) fn went(&mut self, agent: &AgentId, client: ClientId, now: Millis, config: &RoomConfig) {
        let Some(lease) = self.agents.get_mut(agent) else { return };
        lease.clients.remove(&client);
        if lease.clients.is_empty() {
            lease.start(now, config);
        }
    }

    /// Adjusts leases to the state: one for every agent with a kernel, and for connected agents.
    pub(crate) fn follow(&mut self, notebook: &Notebook, now: Millis, config: &RoomConfig) {
        let owners: BTreeSet<&AgentId> =
            notebook.kernels.values().filter_map(|session| session.agent.as_ref()).collect();
        self.agents.retain(|agent, lease| !lease.clients.is_empty() || owners.contains(agent));
        for agent in owners {
            if !self.agents.contains_key(agent) {
                self.agents.entry(agent.clone()).or_default().start(now, config);
            }
        }
        self.busy.retain(|session| notebook.kernels.contains_key(session));
        for lease in self.agents.values_mut() {
            lease.usage.retain(|session, _| notebook.kernels.contains_key(session));
        }
    }

    /// Returns the sessions whose agent did not come back in time. Each is returned once a minute until the state no longer has it.
    pub(crate) fn expired(&mut self, notebook: &Notebook, now: Millis) -> Vec<KernelSessionId> {
        let mut expired = Vec::new();
        for (agent, lease) in &mut self.agents {
            if lease.ends_at.is_some_and(|at| at <= now) {
                lease.ends_at = Some(now + 60_000);
                let of_agent = notebook.kernels.iter().filter(|(_, session)| session.agent.as_ref() == Some(agent));
                expired.extend(of_agent.map(|(id, _)| id.clone()));
            }
        }
        expired
    }

    /// Returns the clients that get the answer to an input request. If there are none, the answer waits.
    pub(crate) fn deliver(&mut self, agent: &AgentId, execution: &ExecutionId, value: &str) -> Vec<ClientId> {
        let lease = self.agents.entry(agent.clone()).or_default();
        if lease.clients.is_empty() && lease.values.len() < MAX_PENDING_VALUES {
            lease.values.push((execution.clone(), value.to_owned()));
        }
        lease.clients.iter().copied().collect()
    }

    pub(crate) fn set_busy(&mut self, session: KernelSessionId, busy: bool) {
        if busy {
            self.busy.insert(session);
        } else {
            self.busy.remove(&session);
        }
    }

    pub(crate) fn set_usage(&mut self, agent: &AgentId, session: KernelSessionId, usage: KernelUsage) {
        if let Some(lease) = self.agents.get_mut(agent) {
            lease.usage.insert(session, usage);
        }
    }

    /// Drops measurements, as they have stopped.
    pub(crate) fn forget_usage(&mut self) {
        self.agents.values_mut().for_each(|lease| lease.usage.clear());
    }

    pub(crate) fn statuses(&self, notebook: &Notebook, now: Millis, config: &RoomConfig) -> Vec<KernelStatus> {
        let claimed = notebook.kernels.iter().filter_map(|(id, session)| Some((id, session.agent.as_ref()?)));
        let status = |(id, agent): (&KernelSessionId, &AgentId)| KernelStatus {
            kernel_session: id.clone(),
            agent_name: self.agents.get(agent).and_then(|lease| lease.name.clone()),
            reachable: self.is_reachable(agent, now, config),
            unreachable_since: self.unreachable_since(agent, now, config),
            busy: self.busy.contains(id),
            usage: self.agents.get(agent).and_then(|lease| lease.usage.get(id).copied()),
        };
        claimed.map(status).collect()
    }

    fn is_reachable(&self, agent: &AgentId, now: Millis, config: &RoomConfig) -> bool {
        self.agents.get(agent).is_some_and(|lease| lease.is_reachable(now, config))
    }

    fn unreachable_since(&self, agent: &AgentId, now: Millis, config: &RoomConfig) -> Option<Millis> {
        self.agents.get(agent).filter(|lease| !lease.is_reachable(now, config))?.gone_at
    }

    /// Returns the sessions whose agent is not connected now.
    pub(crate) fn away(&self, notebook: &Notebook) -> BTreeSet<KernelSessionId> {
        sessions(notebook, |agent| self.agents.get(agent).is_none_or(|lease| lease.clients.is_empty()))
    }

    /// Returns the sessions whose agent has been away for a while.
    pub(crate) fn unreachable(
        &self,
        notebook: &Notebook,
        now: Millis,
        config: &RoomConfig,
    ) -> BTreeSet<KernelSessionId> {
        sessions(notebook, |agent| !self.is_reachable(agent, now, config))
    }

    /// Returns the statuses if they differ from those sent last.
    pub(crate) fn changed_statuses(
        &mut self,
        notebook: &Notebook,
        now: Millis,
        config: &RoomConfig,
    ) -> Option<Vec<KernelStatus>> {
        let statuses = self.statuses(notebook, now, config);
        if statuses == self.sent {
            return None;
        }
        self.sent.clone_from(&statuses);
        Some(statuses)
    }

    /// Returns true if kernels wait for an absent agent.
    pub(crate) fn is_waiting(&self) -> bool {
        self.agents.values().any(|lease| lease.ends_at.is_some())
    }

    pub(crate) fn turn_back(&mut self, by: Millis) {
        let moments = self.agents.values_mut().flat_map(|lease| [&mut lease.gone_at, &mut lease.ends_at]);
        moments.flatten().for_each(|at| *at = at.saturating_sub(by));
    }

    pub(crate) fn wake_at(&self, now: Millis, config: &RoomConfig) -> Option<Millis> {
        earliest(self.agents.values().flat_map(|lease| {
            let unreachable = lease.gone_at.map(|at| at + config.unreachable_after_ms).filter(|at| *at > now);
            [unreachable, lease.ends_at]
        }))
    }
}

impl Lease {
    fn start(&mut self, now: Millis, config: &RoomConfig) {
        self.gone_at = Some(now);
        self.ends_at = Some(now + config.lease_ms);
        self.usage.clear();
    }

    fn is_reachable(&self, now: Millis, config: &RoomConfig) -> bool {
        self.gone_at.is_none_or(|at| now < at + config.unreachable_after_ms)
    }
}

/// Returns the sessions whose agent matches.
fn sessions(notebook: &Notebook, is_meant: impl Fn(&AgentId) -> bool) -> BTreeSet<KernelSessionId> {
    let meant = notebook.kernels.iter().filter(|(_, session)| session.agent.as_ref().is_some_and(&is_meant));
    meant.map(|(id, _)| id.clone()).collect()
}

/// Returns the agent's id if the actor is an agent.
pub(crate) fn agent_of(actor: &Actor) -> Option<&AgentId> {
    match actor {
        Actor::Agent { id } => Some(id),
        _ => None,
    }
}
