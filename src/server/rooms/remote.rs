//! Notebooks that another node owns: commands go to that node, reads come from the store.
//!
//! An ack of any node says that the store has the events, so a read of the store misses no answered command.

use std::sync::Arc;
use std::time::{Duration, Instant};

use http::{Method, StatusCode};
use notarium_core::{Actor, Authority, NotebookId, Rejection, RejectionCode, Version};
use notarium_store::Node;
use notarium_sync::{Identity, Input, Output, ReadState, Room};
use notarium_telemetry::trace_headers;
use notarium_wire::{AckMessage, CommandMessage, ServerMessage};
use serde::{Deserialize, Serialize};

use super::handle::{caller, stopping};
use super::task::entropy;
use super::{Rooms, stored};
use crate::cluster::{IDENTITY, OwnerNode};
use crate::metrics::{ForwardOutcome, ForwardedThing};

/// Path of the route that takes commands of other nodes.
const COMMANDS: &str = "/api/cluster/commands";
/// Path of the route that brings the list of notebooks up to date.
const LIST_CHANGES: &str = "/api/cluster/list-changes";
/// Time for which a command waits until its notebook has an owner, and the pause between attempts.
const PATIENCE: Duration = Duration::from_secs(6);
const PAUSE: Duration = Duration::from_millis(100);
/// Events between two snapshots, of a reading without a lease, which leaves none.
pub(super) const NO_SNAPSHOTS: Version = Version::MAX / 2;
/// Time that another node has to answer.
const ANSWER_WITHIN: Duration = Duration::from_secs(30);

/// Identity of a caller as nodes send it to each other, signed with the cluster's secret.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ForwardedIdentity {
    actor: Actor,
    authority: Authority,
    name: String,
    connection: String,
}

impl From<&Identity> for ForwardedIdentity {
    fn from(Identity { actor, authority, name, connection }: &Identity) -> Self {
        let (actor, authority) = (actor.clone(), authority.clone());
        Self { actor, authority, name: name.clone(), connection: connection.clone() }
    }
}

impl From<ForwardedIdentity> for Arc<Identity> {
    fn from(ForwardedIdentity { actor, authority, name, connection }: ForwardedIdentity) -> Self {
        Arc::new(Identity { actor, authority, name, connection })
    }
}

impl Rooms {
    /// Returns the node that owns the notebook, if it is another one.
    pub async fn elsewhere(&self, notebook: &NotebookId) -> Result<Option<Node>, Rejection> {
        if self.cluster.peers().is_none() {
            return Ok(None);
        }
        match self.cluster.place(notebook).await {
            Ok(OwnerNode::Here) => Ok(None),
            Ok(OwnerNode::Elsewhere(node)) => Ok(Some(node)),
            Err(error) => Err(Rejection::new(RejectionCode::Unavailable, error.to_string())),
        }
    }

    /// Executes a command at the node that owns its notebook. While none does, or the owner died, it is looked for again.
    pub async fn execute_at(
        &self,
        mut node: Node,
        identity: &Identity,
        message: &CommandMessage,
    ) -> Result<AckMessage, Rejection> {
        let identity = ForwardedIdentity::from(identity);
        let patience = Instant::now() + PATIENCE;
        loop {
            if let Some(answer) = self.attempt_at(&node, &identity, message).await? {
                return answer;
            }
            if Instant::now() > patience {
                return Err(moving());
            }
            tokio::time::sleep(PAUSE).await;
            self.cluster.look_again().await;
            self.cluster.forget(&message.notebook);
            // An unknown owner is asked for again; this node gets the command at its own address.
            if let Ok(next) = self.elsewhere(&message.notebook).await {
                node = next.unwrap_or_else(|| self.cluster.own());
            }
        }
    }

    /// `None`: the node does not own the notebook, or cannot be reached.
    async fn attempt_at(
        &self,
        node: &Node,
        identity: &ForwardedIdentity,
        message: &CommandMessage,
    ) -> Result<Option<Result<AckMessage, Rejection>>, Rejection> {
        let began = Instant::now();
        let Some(request) = self.request_to(node, COMMANDS, identity) else { return Ok(None) };
        let sent = request.json(message).send().await;
        let outcome = match &sent {
            Ok(response) if response.status() == StatusCode::MISDIRECTED_REQUEST => ForwardOutcome::NotTaken,
            Ok(_) => ForwardOutcome::Answered,
            Err(error) if error.is_connect() => ForwardOutcome::NotTaken,
            Err(_) => ForwardOutcome::Unknown,
        };
        self.metrics.forwards.ended(ForwardedThing::Command, outcome, began.elapsed());
        let response = match sent {
            _ if outcome == ForwardOutcome::NotTaken => return Ok(None),
            Ok(response) => response,
            Err(_) => return Err(stopping()),
        };
        match response.json::<ServerMessage>().await {
            Ok(ServerMessage::Ack(ack)) => Ok(Some(Ok(ack))),
            Ok(ServerMessage::Reject(reject)) => Ok(Some(Err(reject.rejection))),
            _ => Err(stopping()),
        }
    }

    fn request_to<T: Serialize>(&self, node: &Node, path: &str, who: &T) -> Option<reqwest::RequestBuilder> {
        let peers = self.cluster.peers()?;
        let identity = peers.sign(&Method::POST, path, who)?;
        let request = peers.http().post(format!("{}{path}", node.url)).timeout(ANSWER_WITHIN);
        Some(request.headers(trace_headers()).header(IDENTITY, identity))
    }

    /// Asks the other nodes to bring the list of notebooks up to date with the actor's changes there.
    pub(super) async fn list_changes_elsewhere(&self, actor: &Actor) {
        let nodes = self.cluster.others();
        let asked = nodes.iter().filter_map(|node| self.request_to(node, LIST_CHANGES, actor));
        for answer in futures_util::future::join_all(asked.map(reqwest::RequestBuilder::send)).await {
            if let Err(error) = answer {
                tracing::debug!(%error, "a node did not bring the list of notebooks up to date");
            }
        }
    }

    /// Reads the notebook from the store, with the rights of this identity, by a room that takes no lease.
    pub(super) async fn read_from_store(
        &self,
        notebook: &NotebookId,
        identity: Arc<Identity>,
    ) -> Result<ReadState, Rejection> {
        // Readings leave no snapshot: the owner may be removing content at this moment.
        let loaded = stored::load(&*self.store, notebook, u64::MAX, NO_SNAPSHOTS).await;
        let loaded = loaded.map_err(|reason| Rejection::new(RejectionCode::Unavailable, reason))?;
        let (mut room, _) = Room::new(notebook.clone(), self.room_config.clone(), entropy());
        let (caller, mut answered) = caller();
        let loaded =
            Input::Loaded { loaded: Box::new(loaded), lease: Err("another node owns the notebook".to_owned()) };
        let outputs = room.handle_all(self.clock.now(), [loaded, Input::Read { identity, caller }]);
        for output in outputs {
            if let Output::State { caller, state } = output {
                caller.answer(state);
            }
        }
        answered.try_recv().unwrap_or_else(|_| Err(stopping()))
    }
}

fn moving() -> Rejection {
    let message = "nothing was changed: the notebook is moving to another server; try again in a moment";
    Rejection::new(RejectionCode::Unavailable, message)
}
