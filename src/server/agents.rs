//! The runtime agents that are connected, what they offer, and the kernels that notebooks wait for.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::extract::ws::Utf8Bytes;
use notarium_core::{KernelSessionId, NotebookId};
use notarium_wire::{OfferedKernelspec, ServerMessage};

use crate::auth::Authenticated;
use crate::rooms::{ClientId, Outbox, WorkNotice};

/// Kernelspecs that one agent may offer.
pub const MAX_OFFERED_KERNELSPECS: usize = 200;

/// Brings together who waits for a kernel and who can start one. Cheap to clone.
#[derive(Clone, Default)]
pub struct Agents(Arc<Mutex<State>>);

/// Launches that nobody has claimed, and the kernelspec that each wants.
type Wanted = BTreeMap<(NotebookId, KernelSessionId), String>;

#[derive(Default)]
struct State {
    agents: HashMap<ClientId, Agent>,
    wanted: Wanted,
}

struct Agent {
    authenticated: Authenticated,
    outbox: Outbox,
    offers: Vec<OfferedKernelspec>,
}

impl Agents {
    /// An agent says what it can launch; it hears at once of everything that waits for that.
    pub fn offer(
        &self,
        client: ClientId,
        authenticated: Authenticated,
        outbox: Outbox,
        offers: Vec<OfferedKernelspec>,
    ) {
        let mut state = self.state();
        let agent = Agent { authenticated, outbox, offers };
        agent.tell_all(&state.wanted);
        state.agents.insert(client, agent);
    }

    /// What the agent's token covers is now something else.
    pub fn identity_changed(&self, client: ClientId, authenticated: &Authenticated) {
        let mut state = self.state();
        let State { agents, wanted } = &mut *state;
        let Some(agent) = agents.get_mut(&client) else { return };
        agent.authenticated = authenticated.clone();
        // It may cover more than before. What it has heard of already it has claimed, or lost to another.
        agent.tell_all(wanted);
    }

    pub fn leave(&self, client: ClientId) {
        self.state().agents.remove(&client);
    }

    /// News from a room.
    pub fn note(&self, notice: WorkNotice) {
        let mut state = self.state();
        match notice {
            WorkNotice::Wanted { notebook, kernel_session, kernelspec } => {
                for agent in state.agents.values() {
                    agent.tell(&notebook, &kernel_session, &kernelspec);
                }
                state.wanted.insert((notebook, kernel_session), kernelspec);
            }
            WorkNotice::Settled { notebook, kernel_session } => {
                state.wanted.remove(&(notebook, kernel_session));
            }
            WorkNotice::Assistants { .. } => {}
        }
    }

    /// The kernelspecs that are offered for a notebook, by name.
    pub fn kernelspecs(&self, notebook: &NotebookId) -> Vec<OfferedKernelspec> {
        let state = self.state();
        let covering = state.agents.values().filter(|agent| agent.authenticated.may_see(notebook));
        let offers = covering.flat_map(|agent| &agent.offers).map(|offer| (&offer.name, offer));
        offers.collect::<BTreeMap<_, _>>().into_values().cloned().collect()
    }

    /// How many agents have made an offer.
    pub fn count(&self) -> usize {
        self.state().agents.len()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Agent {
    fn tell_all(&self, wanted: &Wanted) {
        for ((notebook, session), kernelspec) in wanted {
            self.tell(notebook, session, kernelspec);
        }
    }

    /// Sends `work` if the token covers the notebook and the kernelspec is on offer.
    fn tell(&self, notebook: &NotebookId, session: &KernelSessionId, kernelspec: &str) {
        if !self.authenticated.may_see(notebook) || !self.offers.iter().any(|offer| offer.name == kernelspec) {
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
pub fn frame(message: &ServerMessage) -> Utf8Bytes {
    serde_json::to_string(message).unwrap_or_default().into()
}
