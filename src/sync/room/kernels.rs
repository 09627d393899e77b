//! Kernels beside the log: leases of their runtime agents, status and measurements, answers to input requests, and comms, which widgets use.

use std::collections::{BTreeMap, BTreeSet};

use notarium_core::{
    Actor, AgentId, Command, ExecutionId, KernelCause, KernelSessionId, LimitName, Millis, Notebook, Operation,
    Rejection, RejectionCode, is_kept_for_its_agent, is_replaced_for_waiting_runs, lacks_scope, not_open,
};
use notarium_wire::{
    CommChange, ErrorCode, KernelStatus, KernelUsage, MAX_COMM_BUFFERS, MAX_COMM_BYTES, MAX_COMM_ID_BYTES, OpenComm,
    SendCommMessage, ServerMessage, frame,
};

use super::subscribers::Subscriber;
use super::{Cycle, Room, RoomConfig};
use crate::io::{ClientId, Output, earliest};

/// Maximum number of answers to input requests that wait for an absent agent.
const MAX_PENDING_VALUES: usize = 16;

/// Maximum number of kernels whose comms one client follows; a notebook has fewer.
const MAX_FOLLOWED: usize = 64;

const UNREACHABLE: &str = "the kernel's runtime agent cannot be reached: wait until it is back";

/// State of one agent in this room.
#[derive(Debug, Default)]
struct AgentLease {
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

impl AgentLease {
    fn start(&mut self, now: Millis, config: &RoomConfig) {
        self.gone_at = Some(now);
        self.ends_at = Some(now + config.lease_ms);
        self.usage.clear();
    }

    fn is_reachable(&self, now: Millis, config: &RoomConfig) -> bool {
        self.gone_at.is_none_or(|at| now < at + config.unreachable_after_ms)
    }
}

#[derive(Debug, Default)]
pub(super) struct AgentLeases {
    agents: BTreeMap<AgentId, AgentLease>,
    busy: BTreeSet<KernelSessionId>,
    /// Statuses that clients were sent last.
    sent: Vec<KernelStatus>,
}

impl AgentLeases {
    /// Notes a connection of the agent; returns the answers that it missed.
    pub(super) fn came(&mut self, agent: &AgentId, name: &str, client: ClientId) -> Vec<(ExecutionId, String)> {
        let lease = self.agents.entry(agent.clone()).or_default();
        lease.clients.insert(client);
        lease.name = Some(name.to_owned());
        lease.gone_at = None;
        lease.ends_at = None;
        std::mem::take(&mut lease.values)
    }

    pub(super) fn went(&mut self, agent: &AgentId, client: ClientId, now: Millis, config: &RoomConfig) {
        let Some(lease) = self.agents.get_mut(agent) else { return };
        lease.clients.remove(&client);
        if lease.clients.is_empty() {
            lease.start(now, config);
        }
    }

    /// Adjusts leases to the state: one for every agent with a kernel, and for connected agents.
    pub(super) fn follow(&mut self, notebook: &Notebook, now: Millis, config: &RoomConfig) {
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
    pub(super) fn expired(&mut self, notebook: &Notebook, now: Millis) -> Vec<KernelSessionId> {
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
    pub(super) fn deliver(&mut self, agent: &AgentId, execution: &ExecutionId, value: &str) -> Vec<ClientId> {
        let lease = self.agents.entry(agent.clone()).or_default();
        if lease.clients.is_empty() && lease.values.len() < MAX_PENDING_VALUES {
            lease.values.push((execution.clone(), value.to_owned()));
        }
        lease.clients.iter().copied().collect()
    }

    fn set_busy(&mut self, session: KernelSessionId, busy: bool) {
        if busy {
            self.busy.insert(session);
        } else {
            self.busy.remove(&session);
        }
    }

    fn set_usage(&mut self, agent: &AgentId, session: KernelSessionId, usage: KernelUsage) {
        if let Some(lease) = self.agents.get_mut(agent) {
            lease.usage.insert(session, usage);
        }
    }

    /// Drops measurements, as they have stopped.
    fn forget_usage(&mut self) {
        self.agents.values_mut().for_each(|lease| lease.usage.clear());
    }

    pub(super) fn statuses(&self, notebook: &Notebook, now: Millis, config: &RoomConfig) -> Vec<KernelStatus> {
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
    pub(super) fn away(&self, notebook: &Notebook) -> BTreeSet<KernelSessionId> {
        sessions(notebook, |agent| self.agents.get(agent).is_none_or(|lease| lease.clients.is_empty()))
    }

    /// Returns the sessions whose agent has been away for a while.
    pub(super) fn unreachable(
        &self,
        notebook: &Notebook,
        now: Millis,
        config: &RoomConfig,
    ) -> BTreeSet<KernelSessionId> {
        sessions(notebook, |agent| !self.is_reachable(agent, now, config))
    }

    /// Returns the statuses if they differ from those sent last.
    fn changed_statuses(&mut self, notebook: &Notebook, now: Millis, config: &RoomConfig) -> Option<Vec<KernelStatus>> {
        let statuses = self.statuses(notebook, now, config);
        if statuses == self.sent {
            return None;
        }
        self.sent.clone_from(&statuses);
        Some(statuses)
    }

    /// Returns true if kernels wait for an absent agent.
    pub(super) fn is_waiting(&self) -> bool {
        self.agents.values().any(|lease| lease.ends_at.is_some())
    }

    pub(super) fn turn_back(&mut self, by: Millis) {
        let moments = self.agents.values_mut().flat_map(|lease| [&mut lease.gone_at, &mut lease.ends_at]);
        moments.flatten().for_each(|at| *at = at.saturating_sub(by));
    }

    pub(super) fn wake_at(&self, now: Millis, config: &RoomConfig) -> Option<Millis> {
        earliest(self.agents.values().flat_map(|lease| {
            let unreachable = lease.gone_at.map(|at| at + config.unreachable_after_ms).filter(|at| *at > now);
            [unreachable, lease.ends_at]
        }))
    }
}

impl Room {
    /// Ends kernels of absent agents: those whose lease is over, unless the notebook keeps them, and those that another
    /// kernel replaces for the runs that wait.
    pub(super) fn end_leases(&mut self, cycle: &mut Cycle) {
        if !self.is_settled() || !self.leases.is_waiting() {
            return;
        }
        let minutes = self.config.lease_ms / 60_000;
        let mut expired = self.leases.expired(&self.state, cycle.now);
        if self.read_only.is_some() {
            return;
        }
        expired.retain(|session| !is_kept_for_its_agent(&self.state, session));
        let unreachable = self.leases.unreachable(&self.state, cycle.now, &self.config);
        let is_replaced = |id: &KernelSessionId| !expired.contains(id) && is_replaced_for_waiting_runs(&self.state, id);
        let replaced: Vec<_> = unreachable.into_iter().filter(is_replaced).collect();
        if expired.is_empty() && replaced.is_empty() {
            return;
        }
        for session in expired {
            self.end_kernel(cycle, session, format!("its runtime agent was not heard of for {minutes} minutes"));
        }
        for session in replaced {
            let detail = "its runtime agent cannot be reached, and runs wait: another kernel takes its place";
            self.end_kernel(cycle, session, detail.to_owned());
        }
        self.pump(cycle);
    }

    fn end_kernel(&mut self, cycle: &mut Cycle, kernel_session: KernelSessionId, detail: String) {
        let (cause, detail) = (KernelCause::AgentLost, Some(detail));
        self.command_of_server(cycle, Command::ReportKernelEnded { kernel_session, cause, detail });
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
    fn agent_with(&self, client: ClientId, session: &KernelSessionId) -> Option<AgentId> {
        let agent = agent_of(&self.subscribers.get(&client)?.identity.actor)?;
        (self.state.kernels.get(session)?.agent.as_ref() == Some(agent)).then(|| agent.clone())
    }

    /// Starts measurements when the first person or guest follows, and stops them after the last.
    pub(super) fn ask_to_measure(&mut self, cycle: &mut Cycle) {
        let is_agent = |subscriber: &Subscriber| agent_of(&subscriber.identity.actor).is_some();
        let wanted = self.subscribers.values().any(Subscriber::is_visible);
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

    pub(super) fn send_kernels(&mut self, cycle: &mut Cycle) -> bool {
        if !self.is_settled() {
            return false;
        }
        let Some(kernels) = self.leases.changed_statuses(&self.state, cycle.now, &self.config) else { return false };
        let notebook = self.notebook_id.clone();
        self.send_all(cycle, &ServerMessage::Kernels { notebook, kernels });
        true
    }

    /// Returns the agent for an answer to an input request.
    pub(super) fn addressed(&self, id: ExecutionId, value: String) -> Option<(AgentId, ExecutionId, String)> {
        let session = self.state.executions.get(&id)?.kernel_session.as_ref()?;
        let agent = self.state.kernels.get(session)?.agent.clone()?;
        Some((agent, id, value))
    }

    pub(super) fn send_value(&self, cycle: &mut Cycle, client: ClientId, execution_id: ExecutionId, value: String) {
        let notebook = self.notebook_id.clone();
        cycle.send(client, &ServerMessage::InputValue { notebook, execution_id, value });
    }

    /// Subscribes a client to a kernel's comms. The agent sends the open ones; all later changes follow.
    pub(super) fn take_follow_comms(&mut self, cycle: &mut Cycle, client: ClientId, session: KernelSessionId) {
        let Some(subscriber) = self.subscribers.get_mut(&client) else { return };
        let problem = match self.state.kernels.get(&session).map(|kernel| kernel.agent.clone()) {
            None => Some("the kernel has ended: what its widgets showed last is in the notebook"),
            Some(_) if subscriber.comms.len() >= MAX_FOLLOWED => Some("too many kernels are followed: subscribe anew"),
            Some(_) => {
                subscriber.comms.insert(session.clone(), false);
                None
            }
        };
        match problem {
            Some(problem) => self.send_comms(cycle, client, session, Vec::new(), Some(problem)),
            None => self.want_comms(cycle, client, session),
        }
    }

    fn want_comms(&mut self, cycle: &mut Cycle, client: ClientId, session: KernelSessionId) {
        let Some(subscriber) = self.subscribers.get(&client) else { return };
        let asker = Some(subscriber.identity.connection.clone());
        let notebook = self.notebook_id.clone();
        match self.agent_client(&session) {
            Some(agent) => {
                cycle.send(agent, &ServerMessage::CommsWanted { notebook, kernel_session: session, asker });
            }
            // An absent agent is asked when it reconnects.
            None => self.send_comms(cycle, client, session, Vec::new(), Some(UNREACHABLE)),
        }
    }

    fn send_comms(
        &self,
        cycle: &mut Cycle,
        client: ClientId,
        kernel_session: KernelSessionId,
        comms: Vec<OpenComm>,
        problem: Option<&str>,
    ) {
        let (notebook, problem) = (self.notebook_id.clone(), problem.map(str::to_owned));
        cycle.send(client, &ServerMessage::Comms { notebook, kernel_session, comms, problem });
    }

    /// Returns the connection of a session's agent.
    fn agent_client(&self, session: &KernelSessionId) -> Option<ClientId> {
        let agent = self.state.kernels.get(session)?.agent.as_ref()?;
        let is_it = |client: &ClientId| {
            self.subscribers.get(client).is_some_and(|other| agent_of(&other.identity.actor) == Some(agent))
        };
        self.subscribers.keys().copied().rfind(is_it)
    }

    /// Requests the open comms again for all followers, as the agent has (re)connected.
    pub(super) fn want_comms_of(&mut self, cycle: &mut Cycle, agent: &AgentId) {
        let is_its = |session: &KernelSessionId| {
            self.state.kernels.get(session).is_some_and(|kernel| kernel.agent.as_ref() == Some(agent))
        };
        let followed = self.subscribers.iter().flat_map(|(client, subscriber)| {
            subscriber.comms.keys().filter(|session| is_its(session)).map(|session| (*client, session.clone()))
        });
        for (client, session) in followed.collect::<Vec<_>>() {
            self.want_comms(cycle, client, session);
        }
    }

    /// Takes the open comms from the agent, for one follower, who gets all later changes too.
    pub(super) fn take_comms(
        &mut self,
        cycle: &mut Cycle,
        client: ClientId,
        session: KernelSessionId,
        asker: &str,
        comms: Vec<OpenComm>,
    ) {
        if self.agent_with(client, &session).is_none() {
            return;
        }
        let asked = self.subscribers.iter_mut().find(|(_, subscriber)| subscriber.identity.connection == asker);
        let Some((asked, subscriber)) = asked else { return };
        let Some(is_live) = subscriber.comms.get_mut(&session) else { return };
        *is_live = true;
        let asked = *asked;
        self.send_comms(cycle, asked, session, comms, None);
    }

    /// Takes changes from the agent, for all followers. A slow reader is resynced as for events, and follows again.
    pub(super) fn take_comm(
        &mut self,
        cycle: &mut Cycle,
        client: ClientId,
        session: KernelSessionId,
        changes: Vec<CommChange>,
    ) {
        if self.agent_with(client, &session).is_none() {
            return;
        }
        let live = self.subscribers.iter().filter(|(_, it)| !it.is_lagging && it.comms.get(&session) == Some(&true));
        let clients: Vec<_> = live.map(|(client, subscriber)| (*client, subscriber.sent + 1)).collect();
        let (notebook, kernel_session) = (self.notebook_id.clone(), session);
        // Clients still waiting for the open comms keep the agent sending.
        if !self.subscribers.values().any(|subscriber| subscriber.comms.contains_key(&kernel_session)) {
            return cycle.send(client, &ServerMessage::CommsWanted { notebook, kernel_session, asker: None });
        }
        let text = frame::text(&ServerMessage::Comm { notebook, kernel_session, changes });
        for (client, from) in clients {
            cycle.out.push(Output::Events { clients: vec![client], from, text: text.clone() });
        }
    }

    /// Takes a message from a client that may run code, for the kernel.
    pub(super) fn take_send_comm(&mut self, cycle: &mut Cycle, client: ClientId, message: SendCommMessage) {
        if let Err((code, why)) = self.check_send_comm(client, &message) {
            return self.send_refusal(cycle, client, code, why);
        }
        let sender = self.subscribers.get(&client).map(|subscriber| subscriber.identity.connection.clone());
        match self.agent_client(&message.kernel_session) {
            Some(agent) => cycle.send(agent, &ServerMessage::SendComm(SendCommMessage { sender, ..message })),
            None => self.send_error(cycle, client, ErrorCode::Unavailable, UNREACHABLE),
        }
    }

    fn check_send_comm(&self, client: ClientId, message: &SendCommMessage) -> Result<(), (ErrorCode, Rejection)> {
        let forbidden = |why: &str| Err((ErrorCode::Forbidden, Rejection::new(RejectionCode::Forbidden, why)));
        let Some(subscriber) = self.subscribers.get(&client) else {
            return forbidden("subscribe to the notebook first");
        };
        let authority = &subscriber.identity.authority;
        if matches!(subscriber.identity.actor, Actor::Assistant { .. }) {
            return forbidden("an assistant moves no widgets: what it does in a kernel is a tool call");
        }
        if !Operation::Run.is_open_to(subscriber.role) {
            return Err((ErrorCode::Forbidden, not_open(subscriber.role, Operation::Run)));
        }
        if !authority.scopes.contains(&Operation::Run.scope()) {
            return Err((ErrorCode::Forbidden, lacks_scope(Operation::Run.scope())));
        }
        if self.state.archived {
            return forbidden("the notebook is archived: unarchive it first");
        }
        if !subscriber.comms.contains_key(&message.kernel_session) {
            return forbidden("follow the comms of this kernel first: it has ended, or never was");
        }
        let said = &message.message;
        let is_large = said.size_bytes() > MAX_COMM_BYTES
            || said.comm_id.len() > MAX_COMM_ID_BYTES
            || said.buffers.len() > MAX_COMM_BUFFERS;
        if is_large {
            let why = format!(
                "a message of a widget has at most {MAX_COMM_BYTES} bytes and {MAX_COMM_BUFFERS} buffers: send less at once"
            );
            let limit = LimitName::Frame.refusal(MAX_COMM_BYTES as u64, why);
            return Err((ErrorCode::FrameTooLarge, limit));
        }
        Ok(())
    }
}

/// Returns the sessions whose agent matches.
fn sessions(notebook: &Notebook, is_meant: impl Fn(&AgentId) -> bool) -> BTreeSet<KernelSessionId> {
    let meant = notebook.kernels.iter().filter(|(_, session)| session.agent.as_ref().is_some_and(&is_meant));
    meant.map(|(id, _)| id.clone()).collect()
}

/// Returns the agent's id if the actor is an agent.
pub(super) fn agent_of(actor: &Actor) -> Option<&AgentId> {
    match actor {
        Actor::Agent { id } => Some(id),
        _ => None,
    }
}
