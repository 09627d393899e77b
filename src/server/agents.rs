//! Connected runtime agents, their offers, and kernel launches that no agent has claimed.

pub mod ask_kernel;
pub mod kernel_questions;
pub mod locks;
pub mod outputs;
pub mod transfers;
pub mod working_files;

use std::collections::{BTreeMap, BTreeSet};

use dashmap::DashMap;
use notarium_core::{Actor, AgentId, KernelSessionId, NotebookId};
use notarium_wire::{
    CONNECTION_SCHEMAS, KERNEL_FORMAT, KERNEL_TABLES, OfferedConnection, OfferedKernelspec, ServerMessage,
    WORKING_FILE_CHANGES, WORKING_FILES,
};

use crate::auth::Authenticated;
use crate::rooms::{ClientId, Frame, Outbox, WorkNotice};

/// Limit per agent of kernelspecs, and of connections.
pub const MAX_OFFERED_KERNELSPECS: usize = 200;

/// Matches kernel launches with agents that can start them.
///
/// Writers add to one of the two maps first and then read the other. So no match is missed, and an agent may get the
/// same work twice.
#[derive(Default)]
pub struct Agents {
    connected: DashMap<ClientId, Agent>,
    /// Launches that no agent has claimed, with the kernelspec that each needs.
    wanted: DashMap<(NotebookId, KernelSessionId), String>,
}

#[derive(Clone)]
struct Agent {
    authenticated: Authenticated,
    outbox: Outbox,
    offer: Offer,
}

/// Kernelspecs, connections and features that an agent declares.
#[derive(Clone)]
pub struct Offer {
    pub kernelspecs: Vec<OfferedKernelspec>,
    /// Databases that SQL cells of its kernels can name.
    pub connections: Vec<OfferedConnection>,
    pub knows: Knows,
}

/// Features that an agent declared in its `hello`.
#[derive(Debug, Clone, Copy, Default)]
pub struct Knows {
    /// True if it answers `file_request`.
    pub files: bool,
    /// True if it answers file requests that move files or put them into the trash.
    pub file_changes: bool,
    /// True if it answers the question `describe`.
    pub schemas: bool,
    /// True if it answers questions about variables and tables.
    pub tables: bool,
    /// True if it answers the question `format`.
    pub format: bool,
}

impl Knows {
    pub fn of(features: &[String]) -> Self {
        let says = |wanted: &str| features.iter().any(|feature| feature == wanted);
        Self {
            files: says(WORKING_FILES),
            file_changes: says(WORKING_FILE_CHANGES),
            schemas: says(CONNECTION_SCHEMAS),
            tables: says(KERNEL_TABLES),
            format: says(KERNEL_FORMAT),
        }
    }
}

/// A connected agent that has made an offer.
#[derive(Clone)]
pub struct Reachable {
    pub id: AgentId,
    /// Display name.
    pub name: String,
    pub client: ClientId,
    pub outbox: Outbox,
    pub knows: Knows,
}

impl Agents {
    /// Records an agent's offer, and sends it every waiting launch that it can start.
    pub fn offer(&self, client: ClientId, authenticated: Authenticated, outbox: Outbox, offer: Offer) {
        let agent = Agent { authenticated, outbox, offer };
        self.connected.insert(client, agent.clone());
        self.send_wanted(&agent);
    }

    /// Records the changed rights of an agent's token.
    pub fn identity_changed(&self, client: ClientId, authenticated: &Authenticated) {
        let Some(mut agent) = self.connected.get_mut(&client) else { return };
        agent.authenticated = authenticated.clone();
        let agent = agent.downgrade().clone();
        // The token may cover more notebooks now. A launch that was sent before has been claimed, by this agent or
        // another.
        self.send_wanted(&agent);
    }

    pub fn leave(&self, client: ClientId) {
        self.connected.remove(&client);
    }

    /// Handles a notice from a room.
    pub fn note(&self, notice: WorkNotice) {
        match notice {
            WorkNotice::Wanted { notebook, kernel_session, kernelspec } => {
                self.wanted.insert((notebook.clone(), kernel_session.clone()), kernelspec.clone());
                for agent in &self.connected {
                    agent.send_work(&notebook, &kernel_session, &kernelspec);
                }
            }
            WorkNotice::Settled { notebook, kernel_session } => {
                self.wanted.remove(&(notebook, kernel_session));
            }
            WorkNotice::Assistants { .. } => {}
        }
    }

    /// The kernelspecs that are offered for a notebook, by name.
    pub fn kernelspecs(&self, notebook: &NotebookId) -> Vec<OfferedKernelspec> {
        let covering = self.connected.iter().filter(|agent| agent.authenticated.may_see(notebook));
        let offers =
            covering.flat_map(|agent| agent.offer.kernelspecs.clone()).map(|offer| (offer.name.clone(), offer));
        offers.collect::<BTreeMap<_, _>>().into_values().collect()
    }

    /// The connections that are offered for a notebook, by name.
    pub fn connections(&self, notebook: &NotebookId) -> Vec<OfferedConnection> {
        let covering = self.connected.iter().filter(|agent| agent.authenticated.may_see(notebook));
        covering.flat_map(|agent| agent.offer.connections.clone()).collect::<BTreeSet<_>>().into_iter().collect()
    }

    /// Returns the agent, if it has made an offer.
    pub fn reachable(&self, id: &AgentId) -> Option<Reachable> {
        self.connected.iter().filter_map(|agent| agent.reachable(*agent.key())).find(|agent| agent.id == *id)
    }

    /// Agents that have made an offer and cover the notebook.
    pub fn covering(&self, notebook: &NotebookId) -> Vec<Reachable> {
        let covering = self.connected.iter().filter(|agent| agent.authenticated.may_see(notebook));
        covering.filter_map(|agent| agent.reachable(*agent.key())).collect()
    }

    /// Number of agents that have made an offer.
    pub fn count(&self) -> usize {
        self.connected.len()
    }

    fn send_wanted(&self, agent: &Agent) {
        for wanted in &self.wanted {
            let (notebook, kernel_session) = wanted.key();
            agent.send_work(notebook, kernel_session, wanted.value());
        }
    }
}

impl Agent {
    fn reachable(&self, client: ClientId) -> Option<Reachable> {
        let Actor::Agent { id } = &self.authenticated.actor else { return None };
        let (name, outbox, knows) = (self.authenticated.name.clone(), self.outbox.clone(), self.offer.knows);
        Some(Reachable { id: id.clone(), name, client, outbox, knows })
    }

    /// Sends `work` if the token covers the notebook and the kernelspec is on offer.
    fn send_work(&self, notebook: &NotebookId, session: &KernelSessionId, kernelspec: &str) {
        if !self.authenticated.may_see(notebook) || !self.offer.kernelspecs.iter().any(|offer| offer.name == kernelspec)
        {
            return;
        }
        let work = ServerMessage::Work {
            notebook: notebook.clone(),
            kernel_session: session.clone(),
            kernelspec: kernelspec.to_owned(),
        };
        self.outbox.send(frame(&work));
    }
}

/// Serialises a message as the text of a frame.
pub fn frame(message: &ServerMessage) -> Frame {
    serde_json::to_string(message).unwrap_or_default().into()
}
