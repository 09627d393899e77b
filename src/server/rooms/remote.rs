//! Notebooks that another node owns: commands go to that node, reads come from the store.
//!
//! An ack of any node says that the store has the events, so a read of the store misses no answered command.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::{Method, StatusCode, header};
use notarium_core::{Actor, Authority, NotebookId, Rejection, RejectionCode, Version};
use notarium_store::Node;
use notarium_sync::{Identity, Input, Output, ReadState, Room};
use notarium_telemetry::trace_headers;
use notarium_wire::{AckMessage, CommandMessage, ServerMessage, rest};
use serde::{Deserialize, Serialize};

use super::handle::{caller, stopping};
use super::task::entropy;
use super::{Rooms, stored};
use crate::cluster::{ForwardAttempt, IDENTITY, OwnerNode, death};
use crate::metrics::ForwardedThing;

/// Path of the route that takes commands of other nodes.
const COMMANDS: &str = "/api/cluster/commands";
/// Path of the route that brings the list of notebooks up to date.
const LIST_CHANGES: &str = "/api/cluster/list-changes";
/// Time for which a command waits until its notebook has an owner, and the pause between attempts.
const PATIENCE: Duration = Duration::from_secs(6);
const PAUSE: Duration = Duration::from_millis(100);
/// Events between two snapshots, of a reading without a lease, which leaves none.
pub(super) const NO_SNAPSHOTS: Version = Version::MAX / 2;
/// Time that another node has to answer, and bytes of a request that give it a second more.
const ANSWER_WITHIN: Duration = Duration::from_secs(30);
const BYTES_PER_SECOND: usize = 1 << 20;

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

    /// Executes a command at the node that owns its notebook. While none does, or the owner died, it is looked for again: a command that
    /// was executed and not answered is recognised by its id.
    pub async fn execute_at(
        &self,
        mut node: Node,
        identity: &Identity,
        message: &CommandMessage,
    ) -> Result<AckMessage, Rejection> {
        let identity = ForwardedIdentity::from(identity);
        let body = Bytes::from(serde_json::to_vec(message).map_err(|_| stopping())?);
        let (mut patience, mut was_taken) = (None, false);
        loop {
            let attempt = self.attempt_at(&node, &identity, body.clone()).await;
            match attempt {
                ForwardAttempt::Answered(answer) => return answer,
                ForwardAttempt::NotTaken => {}
                ForwardAttempt::Unknown => was_taken = true,
            }
            if Instant::now() > *patience.get_or_insert_with(|| Instant::now() + PATIENCE) {
                return Err(if was_taken { stopping() } else { moving() });
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

    async fn attempt_at(
        &self,
        node: &Node,
        identity: &ForwardedIdentity,
        body: Bytes,
    ) -> ForwardAttempt<Result<AckMessage, Rejection>> {
        let began = Instant::now();
        let within = ANSWER_WITHIN + Duration::from_secs((body.len() / BYTES_PER_SECOND) as u64);
        let Some(request) = self.request_to(node, COMMANDS, identity) else { return ForwardAttempt::NotTaken };
        let request = request.timeout(within).header(header::CONTENT_TYPE, "application/json").body(body);
        let attempt = tokio::select! {
            sent = request.send() => match sent {
                Ok(response) => answer_of(response).await,
                Err(error) if error.is_connect() => ForwardAttempt::NotTaken,
                Err(_) => ForwardAttempt::Unknown,
            },
            () = death(&*self.cluster, &node.instance) => ForwardAttempt::Unknown,
        };
        self.metrics.forwards.ended(ForwardedThing::Command, attempt.outcome(), began.elapsed());
        attempt
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

async fn answer_of(response: reqwest::Response) -> ForwardAttempt<Result<AckMessage, Rejection>> {
    match response.status() {
        StatusCode::MISDIRECTED_REQUEST | StatusCode::SERVICE_UNAVAILABLE => ForwardAttempt::NotTaken,
        StatusCode::OK => match response.json().await {
            Ok(ServerMessage::Ack(ack)) => ForwardAttempt::Answered(Ok(ack)),
            Ok(ServerMessage::Reject(reject)) => ForwardAttempt::Answered(Err(reject.rejection)),
            _ => ForwardAttempt::Unknown,
        },
        status if status.is_client_error() => {
            let detail =
                response.json::<rest::Problem>().await.map_or_else(|_| status.to_string(), |problem| problem.detail);
            ForwardAttempt::Answered(Err(Rejection::new(RejectionCode::InvalidValue, detail)))
        }
        _ => ForwardAttempt::Unknown,
    }
}

fn moving() -> Rejection {
    let message = "nothing was changed: the notebook is moving to another server; try again in a moment";
    Rejection::new(RejectionCode::Unavailable, message)
}
