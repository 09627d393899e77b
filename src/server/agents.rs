//! The runtime agents that are connected, what they offer, and the kernels that notebooks wait for.

use std::collections::{BTreeMap, BTreeSet};

use dashmap::DashMap;
use notarium_core::{Actor, AgentId, KernelSessionId, NotebookId};
use notarium_wire::{
    CONNECTION_SCHEMAS, KERNEL_FORMAT, KERNEL_TABLES, OfferedConnection, OfferedKernelspec, ServerMessage,
    WORKING_FILE_CHANGES, WORKING_FILES,
};

use crate::auth::Authenticated;
use crate::rooms::{ClientId, Frame, Outbox, WorkNotice};

/// Kernelspecs that one agent may offer, and connections.
pub const MAX_OFFERED_KERNELSPECS: usize = 200;

/// Brings together who waits for a kernel and who can start one.
///
/// Whoever adds to one of the two maps adds first and then looks at the other: nobody is missed, and an agent may get the
/// same work twice.
#[derive(Default)]
pub struct Agents {
    connected: DashMap<ClientId, Agent>,
    /// Launches that nobody has claimed, and the kernelspec that each wants.
    wanted: DashMap<(NotebookId, KernelSessionId), String>,
}

#[derive(Clone)]
struct Agent {
    authenticated: Authenticated,
    outbox: Outbox,
    offer: Offer,
}

/// What an agent says of itself.
#[derive(Clone)]
pub struct Offer {
    pub kernelspecs: Vec<OfferedKernelspec>,
    /// Databases that SQL cells of its kernels can name.
    pub connections: Vec<OfferedConnection>,
    pub knows: Knows,
}

/// What an agent has said in its `hello` that it answers.
#[derive(Debug, Clone, Copy, Default)]
pub struct Knows {
    /// `file_request`.
    pub files: bool,
    /// Those that move files or go to the trash.
    pub file_changes: bool,
    /// The question `describe`.
    pub schemas: bool,
    /// The questions about variables and tables.
    pub tables: bool,
    /// The question `format`.
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

/// An agent that can be asked.
#[derive(Clone)]
pub struct Reachable {
    pub id: AgentId,
    /// For people to read.
    pub name: String,
    pub client: ClientId,
    pub outbox: Outbox,
    pub knows: Knows,
}

impl Agents {
    /// An agent says what it can launch; it is sent at once everything that waits for that.
    pub fn offer(&self, client: ClientId, authenticated: Authenticated, outbox: Outbox, offer: Offer) {
        let agent = Agent { authenticated, outbox, offer };
        self.connected.insert(client, agent.clone());
        self.send_wanted(&agent);
    }

    /// What the agent's token covers is now something else.
    pub fn identity_changed(&self, client: ClientId, authenticated: &Authenticated) {
        let Some(mut agent) = self.connected.get_mut(&client) else { return };
        agent.authenticated = authenticated.clone();
        let agent = agent.downgrade().clone();
        // It may cover more than before. What it was sent already it has claimed, or lost to another.
        self.send_wanted(&agent);
    }

    pub fn leave(&self, client: ClientId) {
        self.connected.remove(&client);
    }

    /// A notice from a room.
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

    /// An agent that has made an offer.
    pub fn reachable(&self, id: &AgentId) -> Option<Reachable> {
        self.connected.iter().filter_map(|agent| agent.reachable(*agent.key())).find(|agent| agent.id == *id)
    }

    /// All that have made an offer and cover the notebook.
    pub fn covering(&self, notebook: &NotebookId) -> Vec<Reachable> {
        let covering = self.connected.iter().filter(|agent| agent.authenticated.may_see(notebook));
        covering.filter_map(|agent| agent.reachable(*agent.key())).collect()
    }

    /// How many agents have made an offer.
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

/// A message as the text of a frame.
pub fn frame(message: &ServerMessage) -> Frame {
    serde_json::to_string(message).unwrap_or_default().into()
}
