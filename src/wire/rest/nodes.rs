//! The nodes of a cluster, for administrators.

use notarium_core::{InstanceId, Millis};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The nodes of the cluster. A server alone has itself in the list.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Nodes {
    /// Nodes that were seen within the last hour and did not stop as they should, by `node`.
    pub nodes: Vec<NodeStatus>,
}

/// A node: one process of the server.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct NodeStatus {
    /// Id of the process; a restart gives a new one.
    pub node: InstanceId,
    /// Address at which other nodes reach it. Empty: the server is alone.
    pub url: String,
    /// Last sign of life, in milliseconds since 1970 by the store's clock.
    pub seen_at: Millis,
    /// False: it has not been seen for some seconds, and others have taken its notebooks over.
    pub is_alive: bool,
    /// True: it stops, and gives its notebooks to others.
    pub is_draining: bool,
    /// Version of its program. Absent: a release that does not tell it.
    pub version: Option<String>,
    /// Newest generation of events that it reads. The cluster writes what all of its nodes can read.
    pub level: u32,
    /// True: this node has answered.
    pub is_this: bool,
    /// Open notebooks. Absent: known to that node alone.
    pub rooms: Option<usize>,
}
