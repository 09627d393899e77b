//! Attempts to have something done by another node, and what ends the wait for it.

use notarium_core::{InstanceId, NotebookId};

use super::{Cluster, OwnerNode};
use crate::metrics::ForwardOutcome;

/// Outcome of an attempt at another node.
pub enum ForwardAttempt<T> {
    Answered(T),
    /// The node did not take it.
    NotTaken,
    /// The node took it, and gave no answer.
    Unknown,
}

impl<T> ForwardAttempt<T> {
    /// The outcome, for metrics.
    pub fn outcome(&self) -> ForwardOutcome {
        match self {
            Self::Answered(_) => ForwardOutcome::Answered,
            Self::NotTaken => ForwardOutcome::NotTaken,
            Self::Unknown => ForwardOutcome::Unknown,
        }
    }
}

/// Resolves when the node does not live any more.
pub async fn death(cluster: &dyn Cluster, instance: &InstanceId) {
    let Some(mut changes) = cluster.changes().filter(|_| instance != cluster.instance()) else {
        return std::future::pending().await;
    };
    while cluster.others().iter().any(|node| node.instance == *instance) && changes.changed().await.is_ok() {}
}

/// Resolves when another node has the notebook.
pub async fn departure(cluster: &dyn Cluster, notebook: &NotebookId) {
    let Some(mut changes) = cluster.changes() else { return std::future::pending().await };
    while !matches!(cluster.place(notebook).await, Ok(OwnerNode::Elsewhere(_))) && changes.changed().await.is_ok() {}
}
