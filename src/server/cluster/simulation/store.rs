//! Nodes and leases in memory, by simulated time, as one node reaches them.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use notarium_core::{Epoch, InstanceId, NotebookId};
use notarium_store::{Lease, LivingNodes, NODE_TIMEOUT, Node, NodeStore, SeenNode, StoreError};
use parking_lot::Mutex;

use crate::cluster::Leases;
use crate::limits::clock::millis;

#[derive(Default)]
struct State {
    seen: BTreeMap<InstanceId, (Node, u64)>,
    leases: HashMap<NotebookId, Lease>,
    unreachable: BTreeSet<InstanceId>,
    /// Queries in each second, without beats.
    queries: BTreeMap<u64, u64>,
}

/// Store of the whole cluster.
#[derive(Default)]
pub struct SimulatedStore {
    /// Milliseconds since the start.
    pub now: Arc<AtomicU64>,
    state: Mutex<State>,
}

impl SimulatedStore {
    pub fn set_reachable(&self, instance: &InstanceId, is_reachable: bool) {
        let unreachable = &mut self.state.lock().unreachable;
        if is_reachable {
            unreachable.remove(instance)
        } else {
            unreachable.insert(instance.clone())
        };
    }

    pub fn holder(&self, notebook: &NotebookId) -> Option<InstanceId> {
        self.state.lock().leases.get(notebook).map(|lease| lease.holder.clone())
    }

    /// Queries of the busiest second since a time.
    pub fn most_queries(&self, since_ms: u64) -> u64 {
        self.state.lock().queries.range(since_ms / 1_000..).map(|(_, count)| *count).max().unwrap_or(0)
    }
}

/// The store, as one node reaches it.
#[derive(Clone)]
pub struct StoreOfNode {
    pub store: Arc<SimulatedStore>,
    pub instance: InstanceId,
}

impl StoreOfNode {
    fn ask<T>(&self, answer: impl FnOnce(&mut State, u64) -> T) -> Result<T, StoreError> {
        let now = self.store.now.load(Ordering::Relaxed);
        let mut state = self.store.state.lock();
        if state.unreachable.contains(&self.instance) {
            return Err(StoreError::Unavailable { reason: "the node does not reach the store".to_owned() });
        }
        Ok(answer(&mut state, now))
    }

    fn query<T>(&self, answer: impl FnOnce(&mut State) -> T) -> Result<T, StoreError> {
        self.ask(|state, now| {
            *state.queries.entry(now / 1_000).or_default() += 1;
            answer(state)
        })
    }
}

#[async_trait]
impl NodeStore for StoreOfNode {
    async fn beat(&self, node: &Node) -> Result<LivingNodes, StoreError> {
        self.ask(|state, now| {
            state.seen.insert(node.instance.clone(), (node.clone(), now));
            let living = state.seen.values().filter(|(_, seen_at)| now - seen_at < millis(NODE_TIMEOUT));
            LivingNodes { nodes: living.map(|(node, _)| node.clone()).collect(), now }
        })
    }

    async fn leave(&self, instance: &InstanceId) -> Result<(), StoreError> {
        self.query(|state| state.seen.remove(instance)).map(drop)
    }

    async fn seen(&self) -> Result<Vec<SeenNode>, StoreError> {
        self.ask(|state, now| {
            let is_alive = |seen_at: u64| now - seen_at < millis(NODE_TIMEOUT);
            let seen = state.seen.values();
            seen.map(|(node, at)| SeenNode { node: node.clone(), seen_at: *at, is_alive: is_alive(*at) }).collect()
        })
    }

    async fn leases(&self, notebooks: &[NotebookId]) -> Result<HashMap<NotebookId, Lease>, StoreError> {
        self.query(|state| {
            let found = notebooks.iter().filter_map(|id| Some((id.clone(), state.leases.get(id)?.clone())));
            found.collect()
        })
    }

    async fn release_lease(&self, notebook: &NotebookId, instance: &InstanceId) -> Result<(), StoreError> {
        self.query(|state| {
            if state.leases.get(notebook).is_some_and(|lease| lease.holder == *instance) {
                state.leases.remove(notebook);
            }
        })
    }
}

#[async_trait]
impl Leases for StoreOfNode {
    async fn take(&self, notebook: &NotebookId, instance: &InstanceId) -> Result<Epoch, StoreError> {
        self.query(|state| {
            let epoch = state.leases.get(notebook).map_or(1, |lease| lease.epoch + 1);
            state.leases.insert(notebook.clone(), Lease { holder: instance.clone(), epoch });
            epoch
        })
    }
}
