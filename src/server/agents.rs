//! Connected runtime agents: their offers, kernel launches that no agent has claimed, and one connection per agent.
//!
//! Two processes with one token would each report the other's kernels as dead, so one process holds the lock of its agent.
//! A second process started by mistake ends no runs. The same process may always reconnect, even if its old connection
//! still looks alive after a network cut.

pub mod kernel_questions;
pub mod machines;
pub mod outputs;
pub mod working_files;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use dashmap::{DashMap, Entry};
use notarium_core::{Actor, AgentId, KernelEffects, KernelPlacement, KernelSessionId, Labels, NotebookId};
use notarium_wire::{
    CONNECTION_SCHEMAS, KERNEL_FORMAT, KERNEL_TABLES, MachineLoad, OfferedConnection, OfferedKernelspec,
    OfferedMachine, ServerMessage, WORKING_FILE_CHANGES, WORKING_FILES,
};
use tokio_util::sync::CancellationToken;

pub use machines::MachineLoads;

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
    connected: DashMap<ClientId, ConnectedAgent>,
    /// Launches that no agent has claimed.
    wanted: DashMap<(NotebookId, KernelSessionId), WantedLaunch>,
}

/// The kernelspec that a launch needs, and the agents that it allows.
#[derive(Clone)]
struct WantedLaunch {
    kernelspec: String,
    placement: KernelPlacement,
}

#[derive(Clone)]
struct ConnectedAgent {
    authenticated: Authenticated,
    outbox: Outbox,
    offer: Offer,
    /// Load of its machine, as it was measured last.
    load: Option<MachineLoad>,
}

/// Kernelspecs, connections, machine and features that an agent declares.
#[derive(Clone)]
pub struct Offer {
    pub kernelspecs: Vec<OfferedKernelspec>,
    /// Databases that SQL cells of its kernels can name.
    pub connections: Vec<OfferedConnection>,
    pub labels: Labels,
    pub machine: Option<OfferedMachine>,
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
        let agent = ConnectedAgent { authenticated, outbox, offer, load: None };
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
            WorkNotice::Wanted { notebook, kernel_session, kernelspec, placement } => {
                let launch = WantedLaunch { kernelspec, placement };
                self.wanted.insert((notebook.clone(), kernel_session.clone()), launch.clone());
                for agent in &self.connected {
                    agent.send_work(&notebook, &kernel_session, &launch);
                }
            }
            WorkNotice::Settled { notebook, kernel_session } => {
                self.wanted.remove(&(notebook, kernel_session));
            }
            WorkNotice::Moved { notebook } => self.wanted.retain(|(of, _), _| *of != notebook),
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

    /// The kernelspecs that only agents which hold effects offer for a notebook.
    pub fn holding(&self, notebook: &NotebookId) -> BTreeSet<String> {
        let covering = self.connected.iter().filter(|agent| agent.authenticated.may_see(notebook));
        let (mut holding, mut others) = (BTreeSet::new(), BTreeSet::new());
        for offer in covering.flat_map(|agent| agent.offer.kernelspecs.clone()) {
            match offer.effects {
                Some(KernelEffects::Held) => holding.insert(offer.name),
                _ => others.insert(offer.name),
            };
        }
        holding.difference(&others).cloned().collect()
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

    /// Number of launches that no agent has claimed.
    pub fn waiting_launches(&self) -> usize {
        self.wanted.len()
    }

    fn send_wanted(&self, agent: &ConnectedAgent) {
        for wanted in &self.wanted {
            let (notebook, kernel_session) = wanted.key();
            agent.send_work(notebook, kernel_session, wanted.value());
        }
    }
}

impl ConnectedAgent {
    fn reachable(&self, client: ClientId) -> Option<Reachable> {
        let id = self.id()?;
        let (name, outbox, knows) = (self.authenticated.name.clone(), self.outbox.clone(), self.offer.knows);
        Some(Reachable { id: id.clone(), name, client, outbox, knows })
    }

    fn id(&self) -> Option<&AgentId> {
        match &self.authenticated.actor {
            Actor::Agent { id } => Some(id),
            _ => None,
        }
    }

    /// Sends `work` if the token covers the notebook, the launch allows the agent, and the kernelspec is on offer.
    fn send_work(&self, notebook: &NotebookId, session: &KernelSessionId, launch: &WantedLaunch) {
        let offers = self.offer.kernelspecs.iter().any(|offer| offer.name == launch.kernelspec);
        let is_allowed = self.id().is_some_and(|id| launch.placement.allows(id, &self.offer.labels));
        if !offers || !is_allowed || !self.authenticated.may_see(notebook) {
            return;
        }
        let work = ServerMessage::Work {
            notebook: notebook.clone(),
            kernel_session: session.clone(),
            kernelspec: launch.kernelspec.clone(),
        };
        self.outbox.send(frame(&work));
    }
}

/// Serialises a message as the text of a frame.
pub fn frame(message: &ServerMessage) -> Frame {
    serde_json::to_string(message).unwrap_or_default().into()
}

/// First number of questions and requests of this process. Nodes of a cluster number apart, so that an agent that is connected to all of them
/// knows whom it answers. Below 2^52.
fn first_number() -> u64 {
    let mut random = [0; 4];
    getrandom::fill(&mut random).expect("the operating system has entropy");
    u64::from(u32::from_le_bytes(random)) << 20
}

/// Locks of all connected agents. Cheap to clone.
#[derive(Clone, Default)]
pub struct AgentLocks(Arc<Locks>);

#[derive(Default)]
struct Locks {
    holders: DashMap<AgentId, Holder>,
    /// Number of the last lock.
    last: AtomicU64,
}

struct Holder {
    number: u64,
    /// `hello.instance`. Absent: a process that cannot be recognised.
    instance: Option<String>,
    taken_over: CancellationToken,
}

/// The right to speak as an agent, until it is dropped or taken over.
pub struct AgentLock {
    locks: AgentLocks,
    agent: AgentId,
    number: u64,
    taken_over: CancellationToken,
}

impl AgentLocks {
    /// Takes the agent's lock. `None`: another process has it.
    pub fn take(&self, agent: &AgentId, instance: Option<String>) -> Option<AgentLock> {
        let entry = self.0.holders.entry(agent.clone());
        if let Entry::Occupied(entry) = &entry {
            let holder = entry.get();
            if holder.instance.is_none() || holder.instance != instance {
                return None;
            }
            holder.taken_over.cancel();
        }
        let (number, taken_over) = (self.0.last.fetch_add(1, Ordering::Relaxed) + 1, CancellationToken::new());
        entry.insert(Holder { number, instance, taken_over: taken_over.clone() });
        Some(AgentLock { locks: self.clone(), agent: agent.clone(), number, taken_over })
    }
}

impl AgentLock {
    /// Waits until a newer connection of the same process has taken the lock.
    pub async fn taken_over(&self) {
        self.taken_over.cancelled().await;
    }
}

impl Drop for AgentLock {
    fn drop(&mut self) {
        self.locks.0.holders.remove_if(&self.agent, |_, holder| holder.number == self.number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn take(locks: &AgentLocks, agent: &str, instance: &str) -> Option<AgentLock> {
        locks.take(&agent.parse().unwrap(), Some(instance.to_owned()))
    }

    #[test]
    fn the_process_that_has_it_keeps_it_and_may_come_back() {
        let locks = AgentLocks::default();
        let old = take(&locks, "a", "one").unwrap();
        assert!(take(&locks, "a", "two").is_none());
        assert!(take(&locks, "b", "two").is_some(), "every agent has its own");
        let new = take(&locks, "a", "one").unwrap();
        assert!(old.taken_over.is_cancelled() && !new.taken_over.is_cancelled());
        drop(old);
        assert!(take(&locks, "a", "two").is_none(), "the old connection's end frees nothing");
        drop(new);
        assert!(take(&locks, "a", "two").is_some());
    }

    #[test]
    fn launches_of_a_notebook_that_moved_wait_here_no_more() {
        let agents = Agents::default();
        for notebook in ["a", "b"] {
            let (notebook, kernel_session) = (notebook.parse().unwrap(), "k".parse().unwrap());
            let (kernelspec, placement) = ("python3".to_owned(), KernelPlacement::default());
            agents.note(WorkNotice::Wanted { notebook, kernel_session, kernelspec, placement });
        }
        agents.note(WorkNotice::Moved { notebook: "a".parse().unwrap() });
        assert_eq!(agents.waiting_launches(), 1);
    }

    #[test]
    fn who_has_no_name_is_nobody_s_twin() {
        let locks = AgentLocks::default();
        let agent: AgentId = "a".parse().unwrap();
        let nameless = locks.take(&agent, None).unwrap();
        assert!(locks.take(&agent, None).is_none());
        drop(nameless);
        assert!(locks.take(&agent, None).is_some());
    }
}
