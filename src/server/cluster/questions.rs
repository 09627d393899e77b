//! Questions for owners of notebooks, which are asked together: while one query is under way, the next ones wait.

use std::collections::VecDeque;

use notarium_core::{InstanceId, NotebookId};
use notarium_store::StoreError;
use parking_lot::Mutex;
use tokio::sync::oneshot;

pub type OwnerAnswer = Result<InstanceId, StoreError>;

/// Questions without an answer, the oldest first.
#[derive(Default)]
pub struct OwnerQuestions(Mutex<VecDeque<(NotebookId, oneshot::Sender<OwnerAnswer>)>>);

impl OwnerQuestions {
    pub fn add(&self, notebook: &NotebookId) -> oneshot::Receiver<OwnerAnswer> {
        let (answer, answered) = oneshot::channel();
        self.0.lock().push_back((notebook.clone(), answer));
        answered
    }

    /// Takes the oldest ones, at most so many.
    pub fn take(&self, count: usize) -> (Vec<NotebookId>, Vec<oneshot::Sender<OwnerAnswer>>) {
        let mut waiting = self.0.lock();
        let count = count.min(waiting.len());
        waiting.drain(..count).unzip()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;
    use std::sync::Arc;

    use async_trait::async_trait;
    use futures_util::future::join_all;
    use notarium_core::Epoch;
    use notarium_store::{Lease, LivingNodes, Node, NodeStore, SeenNode};
    use tokio::sync::Semaphore;

    use super::*;
    use crate::cluster::{Cluster, ClusterNodes, ClusterSettings, Leases};

    /// Store whose queries wait until they are let through, and are counted by their notebooks.
    struct SlowStore {
        gate: Semaphore,
        queries: Mutex<Vec<usize>>,
    }

    #[async_trait]
    impl NodeStore for SlowStore {
        async fn beat(&self, node: &Node) -> Result<LivingNodes, StoreError> {
            Ok(LivingNodes { nodes: vec![node.clone()], now: 0 })
        }

        async fn leave(&self, _: &InstanceId) -> Result<(), StoreError> {
            Ok(())
        }

        async fn seen(&self) -> Result<Vec<SeenNode>, StoreError> {
            Ok(Vec::new())
        }

        async fn leases(&self, notebooks: &[NotebookId]) -> Result<HashMap<NotebookId, Lease>, StoreError> {
            self.queries.lock().push(notebooks.len());
            self.gate.acquire().await.unwrap().forget();
            Ok(HashMap::new())
        }

        async fn release_lease(&self, _: &NotebookId, _: &InstanceId) -> Result<(), StoreError> {
            Ok(())
        }
    }

    struct NoLeases;

    #[async_trait]
    impl Leases for NoLeases {
        async fn take(&self, _: &NotebookId, _: &InstanceId) -> Result<Epoch, StoreError> {
            Ok(1)
        }
    }

    async fn node() -> (Arc<ClusterNodes>, Arc<SlowStore>) {
        let store = Arc::new(SlowStore { gate: Semaphore::new(0), queries: Mutex::default() });
        let settings = ClusterSettings {
            url: "http://127.0.0.1:1".to_owned(),
            secret: "the secret of this test's only node".into(),
            certificates: None,
            listen: None,
        };
        let (node, _) = ClusterNodes::join(&settings, None, store.clone(), NoLeases).await.unwrap();
        (node, store)
    }

    fn ask(node: &Arc<ClusterNodes>, number: usize) -> tokio::task::JoinHandle<OwnerAnswer> {
        let node = node.clone();
        tokio::spawn(async move { node.owner(&format!("n{number}").parse().unwrap()).await })
    }

    /// Lets the tasks run until each waits.
    async fn settle() {
        for _ in 0..1_000 {
            tokio::task::yield_now().await;
        }
    }

    #[tokio::test]
    async fn what_is_asked_during_a_query_is_asked_together() {
        let (node, store) = node().await;
        let first = ask(&node, 0);
        settle().await;
        let others: Vec<_> = (1..=100).map(|number| ask(&node, number)).collect();
        settle().await;
        assert_eq!(*store.queries.lock(), [1]);
        store.gate.add_permits(2);
        for answer in join_all(others.into_iter().chain([first])).await {
            assert_eq!(answer.unwrap().unwrap(), *node.instance());
        }
        assert_eq!(*store.queries.lock(), [1, 100]);
    }

    #[tokio::test]
    async fn a_cancelled_request_leaves_nobody_without_an_answer() {
        let (node, store) = node().await;
        let first = ask(&node, 0);
        settle().await;
        let others: Vec<_> = (1..=3).map(|number| ask(&node, number)).collect();
        settle().await;
        first.abort();
        settle().await;
        // One of the three asks for all of them, and is aborted as well.
        assert_eq!(*store.queries.lock(), [1, 3]);
        others[0].abort();
        settle().await;
        store.gate.add_permits(2);
        let mut others = others.into_iter();
        assert!(others.next().unwrap().await.unwrap_err().is_cancelled());
        for answer in join_all(others).await {
            assert_eq!(answer.unwrap().unwrap(), *node.instance());
        }
    }
}
