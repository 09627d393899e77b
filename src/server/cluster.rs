//! Port to the cluster: the node that owns a notebook, its lease, and notices between nodes.
//!
//! **Invariant.** The owner's node alone opens the notebook's room, takes its lease, runs its assistants' worker, and does
//! its jobs: it resumes work after a start, reopens the room when a waiting call expires, sweeps its blobs, and withdraws
//! requests whose token has ended. A job asks [`Cluster::owns`] before it touches a notebook.
//!
//! Appends are fenced by the lease: the store refuses those of a node that is wrong about the owner. So answers about owners
//! may be a second old.
//!
//! A server with SQLite is a cluster of one node ([`SingleNode`]). [`ClusterNodes`] are many servers over one store.

mod attempt;
mod nodes;
mod peers;
mod placement;
mod questions;
#[cfg(test)]
mod simulation;
mod store_clock;

pub use attempt::{ForwardAttempt, death, departure};
#[cfg(test)]
pub use nodes::Leases;
pub use nodes::{ClusterNodes, ClusterSettings};
pub use peers::{HOPS, IDENTITY, PeerError, Peers, client_settings};

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use notarium_core::{Epoch, InstanceId, LEVEL, NotebookId, Revoked};
use notarium_store::{EventStore, Node, NodeStore, SeenNode, StoreError};
use tokio::sync::{mpsc, watch};
use tokio_util::sync::CancellationToken;

use crate::outage::Outage;
use store_clock::StoreClock;

/// Interval of beats.
const BEAT: Duration = Duration::from_secs(1);
/// Time after a change of the nodes by which every node knows of it. Before, one that does not know may take a notebook that has a room at
/// another node, and nothing else tells that node.
pub const LOOK_AGAIN: Duration = BEAT.saturating_mul(2);

/// The node that serves a notebook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OwnerNode {
    Here,
    Elsewhere(Node),
}

/// Reason why a lease was not taken.
#[derive(Debug, thiserror::Error)]
pub enum ClaimError {
    #[error("another node owns this notebook")]
    NotOwner,
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// A cluster, as one of its nodes sees it. The defaults are those of a cluster of one node.
#[async_trait]
pub trait Cluster: Send + Sync + 'static {
    /// Id of this node's process. Its leases, and the claims of its assistants, name it.
    fn instance(&self) -> &InstanceId;

    /// Returns the process that owns the notebook: the holder of its lease, else the node that is to open it.
    async fn owner(&self, notebook: &NotebookId) -> Result<InstanceId, StoreError>;

    /// Takes the notebook's lease for this node, if it is the owner; returns its epoch, as [`EventStore::take_lease`] does.
    async fn claim(&self, notebook: &NotebookId) -> Result<Epoch, ClaimError>;

    /// Sends a notice to every node, including this one.
    fn notify(&self, notice: ClusterNotice);

    /// True if this node owns the notebook.
    async fn owns(&self, notebook: &NotebookId) -> Result<bool, StoreError> {
        Ok(self.owner(notebook).await? == *self.instance())
    }

    /// Returns those of the notebooks whose lease another node has taken.
    async fn taken(&self, _: &[NotebookId]) -> Result<Vec<NotebookId>, StoreError> {
        Ok(Vec::new())
    }

    /// Returns those of the notebooks that this node owns.
    async fn owned(&self, notebooks: Vec<NotebookId>) -> Result<Vec<NotebookId>, StoreError> {
        let mut owned = Vec::new();
        for notebook in notebooks {
            if self.owns(&notebook).await? {
                owned.push(notebook);
            }
        }
        Ok(owned)
    }

    /// Returns the node that serves the notebook. An error if this node is cut off from the store.
    async fn place(&self, _: &NotebookId) -> Result<OwnerNode, StoreError> {
        Ok(OwnerNode::Here)
    }

    /// Forgets what is cached about the owner of a notebook, because it has proved wrong.
    fn forget(&self, _: &NotebookId) {}

    /// Gives back the notebook's lease, if this node has it.
    async fn release(&self, _: &NotebookId) -> Result<(), StoreError> {
        Ok(())
    }

    /// Access to the other nodes. `None`: there are no others.
    fn peers(&self) -> Option<&Peers> {
        None
    }

    /// Address of this node for other nodes. Empty: there are none.
    fn url(&self) -> &str {
        ""
    }

    /// This node, as others see it.
    fn own(&self) -> Node {
        let (instance, url) = (self.instance().clone(), self.url().to_owned());
        Node {
            instance,
            url,
            is_draining: self.is_draining(),
            level: LEVEL,
            version: env!("CARGO_PKG_VERSION").to_owned(),
        }
    }

    /// Reads the list of nodes, unless that was just done.
    async fn look_again(&self) {}

    /// The other nodes that are alive.
    fn others(&self) -> Vec<Node> {
        Vec::new()
    }

    /// The nodes that the store has seen within the last hour, this one included. `None`: this node is alone, and beats nowhere.
    async fn seen(&self) -> Result<Option<Vec<SeenNode>>, StoreError> {
        Ok(None)
    }

    /// Changes whenever nodes come, drain or die. `None`: they never do.
    fn changes(&self) -> Option<watch::Receiver<u64>> {
        None
    }

    /// Lowest level of all living nodes' releases: nothing newer is written.
    fn least_level(&self) -> u32 {
        LEVEL
    }

    /// True if this node could not reach the store for so long that the others count it as dead.
    fn is_cut_off(&self) -> bool {
        false
    }

    /// Milliseconds by which this machine's clock is ahead of the store's. `None`: the store has no clock of its own.
    fn clock_ahead(&self) -> Option<i64> {
        None
    }

    /// True if this node is draining.
    fn is_draining(&self) -> bool {
        false
    }

    /// Stays in the cluster until `stopping`.
    async fn follow(&self, _stopping: CancellationToken) {}

    /// Tells the other nodes that this one stops, so that they open notebooks elsewhere.
    async fn drain(&self) {}

    /// Takes this node off the list.
    async fn leave(&self) {}
}

/// A notice for all nodes of a cluster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClusterNotice {
    /// A token or account has ended: the owners of notebooks withdraw its open requests.
    AccessEnded(Revoked),
    /// Another node has changed accounts: tokens of open requests may have ended.
    AccessChanged,
}

/// Receiver of a node's notices, for its jobs.
pub type ClusterNotices = mpsc::UnboundedReceiver<ClusterNotice>;

/// A cluster of one node, which owns every notebook. On a database that others could use too, it beats without an address, so that they see it.
pub struct SingleNode {
    instance: InstanceId,
    store: Arc<dyn EventStore>,
    nodes: Option<Arc<dyn NodeStore>>,
    clock: StoreClock,
    notices: mpsc::UnboundedSender<ClusterNotice>,
}

impl SingleNode {
    /// Creates a node with a new instance id. `nodes`: where it beats.
    pub fn new(store: Arc<dyn EventStore>, nodes: Option<Arc<dyn NodeStore>>) -> (Arc<Self>, ClusterNotices) {
        let (notices, receiver) = mpsc::unbounded_channel();
        let (instance, clock) = (ulid::Ulid::generate().into(), StoreClock::default());
        (Arc::new(Self { instance, store, nodes, clock, notices }), receiver)
    }

    /// Beats once; returns true if no other node lives.
    pub async fn is_alone(&self) -> Result<bool, StoreError> {
        let Some(nodes) = &self.nodes else { return Ok(true) };
        Ok(self.clock.beat(&**nodes, &self.own()).await?.nodes.len() <= 1)
    }
}

#[async_trait]
impl Cluster for SingleNode {
    fn instance(&self) -> &InstanceId {
        &self.instance
    }

    async fn owner(&self, _: &NotebookId) -> Result<InstanceId, StoreError> {
        Ok(self.instance.clone())
    }

    async fn claim(&self, notebook: &NotebookId) -> Result<Epoch, ClaimError> {
        Ok(self.store.take_lease(notebook, &self.instance).await?)
    }

    fn notify(&self, notice: ClusterNotice) {
        // A node that stops has dropped the receiver.
        let _ = self.notices.send(notice);
    }

    async fn seen(&self) -> Result<Option<Vec<SeenNode>>, StoreError> {
        match &self.nodes {
            Some(nodes) => nodes.seen().await.map(Some),
            None => Ok(None),
        }
    }

    fn clock_ahead(&self) -> Option<i64> {
        self.clock.ahead()
    }

    async fn follow(&self, stopping: CancellationToken) {
        let Some(nodes) = &self.nodes else { return };
        let mut outage =
            Outage::new("the beat of this server was not written", "the beat of this server is written again");
        while stopping.run_until_cancelled(tokio::time::sleep(BEAT)).await.is_some() {
            outage.log(self.clock.beat(&**nodes, &self.own()).await.map(drop));
        }
    }

    async fn leave(&self) {
        let Some(nodes) = &self.nodes else { return };
        if let Err(error) = nodes.leave(&self.instance).await {
            tracing::warn!(%error, "this server stays on the list of nodes until its time is over");
        }
    }
}

#[cfg(test)]
pub mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use notarium_core::{Actor, Authority, RawJson, UserId};
    use notarium_sync::DecodedCommand;
    use notarium_wire::CommandMessage;

    use super::*;
    use crate::blobs::sweep::Swept;
    use crate::limits::clock::Clock;
    use crate::rooms::Identity;
    use crate::server::{Storage, scratch};
    use crate::{RunningServer, Server, ServerConfig};

    const DAY: u64 = 24 * 60 * 60 * 1000;

    /// A node of two. The other one owns the notebook `theirs`.
    struct OneOfTwo(Arc<SingleNode>);

    #[async_trait]
    impl Cluster for OneOfTwo {
        fn instance(&self) -> &InstanceId {
            self.0.instance()
        }

        async fn owner(&self, notebook: &NotebookId) -> Result<InstanceId, StoreError> {
            match notebook {
                notebook if *notebook == theirs() => Ok("other".parse().unwrap()),
                notebook if *notebook == nobody_s() => {
                    Err(StoreError::Unavailable { reason: "nobody knows".to_owned() })
                }
                notebook => self.0.owner(notebook).await,
            }
        }

        async fn claim(&self, notebook: &NotebookId) -> Result<Epoch, ClaimError> {
            self.0.claim(notebook).await
        }

        fn notify(&self, notice: ClusterNotice) {
            self.0.notify(notice);
        }
    }

    pub fn ours() -> NotebookId {
        "ours".parse().unwrap()
    }

    pub fn theirs() -> NotebookId {
        "theirs".parse().unwrap()
    }

    /// A notebook whose owner is not found.
    pub fn nobody_s() -> NotebookId {
        "nobody".parse().unwrap()
    }

    /// Runs a command of Ann.
    pub async fn run(server: &RunningServer, notebook: &NotebookId, id: &str, body: &str) {
        let actor = Actor::User { id: UserId::new("ann").unwrap() };
        let (authority, name, connection) = (Authority::session(), "Ann".to_owned(), String::new());
        let message = CommandMessage::new(id.parse().unwrap(), notebook.clone(), RawJson::parse(body).unwrap());
        let decoded = DecodedCommand::decode(message).unwrap();
        let identity = Arc::new(Identity { actor, authority, name, connection });
        server.app().rooms.open(notebook).execute(identity, decoded, Default::default()).await.unwrap();
    }

    /// Starts one node of two, on a data folder where `ours` and `theirs` have each a turn of Ann under way, and a blob
    /// that was uploaded long ago and is not named.
    pub async fn one_of_two() -> RunningServer {
        let time = Arc::new(AtomicU64::new(Clock::system().now()));
        let clock = Clock::manual(time.clone());
        let config = ServerConfig { clock, ..ServerConfig::in_folder(scratch::folder()) };
        let before = Server::start(config.clone()).await.unwrap();
        for notebook in [ours(), theirs()] {
            run(&before, &notebook, "1", r#"{"CreateNotebook":{"title":"T","metadata":{}}}"#).await;
            run(&before, &notebook, "2", r#"{"StartTurn":{"conversation_id":"talk","text":"Hi"}}"#).await;
            before.app().blobs.put_bytes(&notebook, "abandoned".into()).await.unwrap();
        }
        before.shut_down().await;
        time.fetch_add(2 * DAY, Ordering::SeqCst);
        let storage = Storage::open(&config).await.unwrap();
        let (node, notices) = SingleNode::new(storage.events.clone(), None);
        Server::start_node(&config, storage, Arc::new(OneOfTwo(node)), notices).await.unwrap()
    }

    #[tokio::test]
    async fn a_node_resumes_and_sweeps_the_notebooks_that_it_owns_alone() {
        let server = one_of_two().await;
        assert_eq!(server.app().rooms.open_ids(), [ours()]);
        let swept = server.sweep_blobs().await.unwrap();
        assert_eq!(swept, Swept { examined: 1, removed: 1, removed_bytes: "abandoned".len() as u64 });
        server.shut_down().await;
    }
}
