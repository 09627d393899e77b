//! [`NodeStore`]: the nodes of a cluster, and who holds the lease of a notebook.
//!
//! Times are compared by the store's clock alone, never by those of nodes.

use std::collections::HashMap;
use std::slice;
use std::time::Duration;

use async_trait::async_trait;
use notarium_record::{Epoch, InstanceId, Millis, NotebookId};

use crate::store_error::StoreError;

/// Time without a beat after which a node counts as dead.
pub const NODE_TIMEOUT: Duration = Duration::from_secs(3);

/// A node of a cluster: one process of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    pub instance: InstanceId,
    /// Address at which other nodes reach it, as in `http://10.0.0.7:7777`.
    pub url: String,
    /// True if it stops: nothing new goes to it.
    pub is_draining: bool,
    /// Newest generation of events and messages that it can read; a node writes what all living nodes can read.
    pub level: u32,
    /// Version of its program. Empty: the release before did not tell it.
    pub version: String,
}

/// A node with the time of its last beat.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeenNode {
    pub node: Node,
    /// By the store's clock.
    pub seen_at: Millis,
    /// False: the last beat is older than [`NODE_TIMEOUT`].
    pub is_alive: bool,
}

/// The nodes that are alive, from one look at the store.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LivingNodes {
    /// By instance.
    pub nodes: Vec<Node>,
    /// The store's clock.
    pub now: Millis,
}

/// Lease of a notebook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lease {
    pub holder: InstanceId,
    pub epoch: Epoch,
}

/// Store of the nodes of a cluster. Leases are taken with [`crate::EventStore::take_lease`].
#[async_trait]
pub trait NodeStore: Send + Sync + 'static {
    /// Notes that the node lives, and returns all that do, itself among them. Nodes that died long ago are forgotten.
    async fn beat(&self, node: &Node) -> Result<LivingNodes, StoreError>;

    /// Forgets a node that ends.
    async fn leave(&self, instance: &InstanceId) -> Result<(), StoreError>;

    /// Returns the nodes that were seen within the last hour and did not leave, by instance.
    async fn seen(&self) -> Result<Vec<SeenNode>, StoreError>;

    /// Returns the leases of these notebooks, even if their holders are dead. Those that nobody has are left out.
    async fn leases(&self, notebooks: &[NotebookId]) -> Result<HashMap<NotebookId, Lease>, StoreError>;

    /// Returns the lease of one notebook.
    async fn lease(&self, notebook: &NotebookId) -> Result<Option<Lease>, StoreError> {
        Ok(self.leases(slice::from_ref(notebook)).await?.remove(notebook))
    }

    /// Gives back the lease, if this instance has it: its appends are refused from then on.
    async fn release_lease(&self, notebook: &NotebookId, instance: &InstanceId) -> Result<(), StoreError>;
}
