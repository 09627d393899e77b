//! Comms of kernels, which widgets use: relays messages between a kernel's runtime agent and followers. Beside the log; only the list of
//! followers is kept here.

use notarium_core::{Actor, AgentId, KernelSessionId, Operation, not_open};
use notarium_wire::{
    CommChange, ErrorCode, MAX_COMM_BUFFERS, MAX_COMM_BYTES, MAX_COMM_ID_BYTES, OpenComm, SendCommMessage,
    ServerMessage, frame,
};

use super::{Cycle, Room};
use crate::identity::ClientId;
use crate::io::Output;
use crate::room::kernels::agent_of;

/// Maximum number of kernels whose comms one client follows; a notebook has fewer.
const MAX_FOLLOWED: usize = 64;

impl Room {
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
            return self.send_error(cycle, client, code, &why);
        }
        let sender = self.subscribers.get(&client).map(|subscriber| subscriber.identity.connection.clone());
        match self.agent_client(&message.kernel_session) {
            Some(agent) => cycle.send(agent, &ServerMessage::SendComm(SendCommMessage { sender, ..message })),
            None => self.send_error(cycle, client, ErrorCode::Unavailable, UNREACHABLE),
        }
    }

    fn check_send_comm(&self, client: ClientId, message: &SendCommMessage) -> Result<(), (ErrorCode, String)> {
        let forbidden = |why: &str| Err((ErrorCode::Forbidden, why.to_owned()));
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
            return forbidden("this token lacks the scope run, and widgets run code: use one that has it");
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
            return Err((ErrorCode::FrameTooLarge, why));
        }
        Ok(())
    }
}

const UNREACHABLE: &str = "the kernel's runtime agent cannot be reached: wait until it is back";
