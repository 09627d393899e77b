//! The time between the first start of a release and the end of its upgrade, in which the release before may still open the store.
//!
//! Until then no command is taken whose events the release before could not read. The same holds while a node of it lives.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use notarium_core::{LEVEL, Rejection, RejectionCode};
use notarium_store::{EventStore, StoreError};
use tokio_util::sync::CancellationToken;

use crate::cluster::Cluster;

/// Interval at which nodes look for the end of an upgrade.
const LOOK_EVERY: Duration = Duration::from_secs(2);

/// State of the store's upgrade.
pub struct UpgradeState {
    store: Arc<dyn EventStore>,
    cluster: Arc<dyn Cluster>,
    is_finished: AtomicBool,
}

impl UpgradeState {
    pub fn new(store: Arc<dyn EventStore>, cluster: Arc<dyn Cluster>) -> Self {
        Self { store, cluster, is_finished: AtomicBool::new(false) }
    }

    /// Reads the state from the store; returns true if the upgrade has ended.
    pub async fn look(&self) -> Result<bool, StoreError> {
        if !self.is_finished.load(Ordering::SeqCst) && self.store.is_upgraded().await? {
            self.is_finished.store(true, Ordering::SeqCst);
        }
        Ok(self.is_finished())
    }

    pub fn is_finished(&self) -> bool {
        self.is_finished.load(Ordering::SeqCst)
    }

    /// Refuses a command whose events need a release of this level, while an older one may have to read them.
    pub fn check(&self, level: u32) -> Result<(), Rejection> {
        let own = if self.is_finished() { LEVEL } else { LEVEL - 1 };
        if level <= own.min(self.cluster.least_level()) {
            return Ok(());
        }
        let message = if self.is_finished() {
            "nothing was changed: a server of the release before still runs, which could not read this. Upgrade it first"
        } else {
            "nothing was changed: the release before may still open this server's data, and could not read this. The operator ends the \
             upgrade with `notarium upgrade --finish`"
        };
        Err(Rejection::new(RejectionCode::ReadOnly, message))
    }

    /// Follows the store until the upgrade has ended, or `stopping`.
    pub async fn follow(self: Arc<Self>, stopping: CancellationToken) {
        while !self.is_finished() {
            if stopping.run_until_cancelled(tokio::time::sleep(LOOK_EVERY)).await.is_none() {
                return;
            }
            match self.look().await {
                Ok(true) => {
                    tracing::info!("the upgrade has ended: the release before does not open the store any more")
                }
                Ok(false) => {}
                Err(error) => tracing::debug!(%error, "the state of the upgrade was not read"),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use async_trait::async_trait;
    use notarium_core::{Epoch, InstanceId, NotebookId};

    use super::*;
    use crate::cluster::{ClaimError, ClusterNotice, SingleNode};
    use crate::server::scratch;

    /// A node beside one of a lower level.
    struct BesideOlder(Arc<SingleNode>);

    #[async_trait]
    impl Cluster for BesideOlder {
        fn instance(&self) -> &InstanceId {
            self.0.instance()
        }

        async fn owner(&self, notebook: &NotebookId) -> Result<InstanceId, StoreError> {
            self.0.owner(notebook).await
        }

        async fn claim(&self, notebook: &NotebookId) -> Result<Epoch, ClaimError> {
            self.0.claim(notebook).await
        }

        fn notify(&self, notice: ClusterNotice) {
            self.0.notify(notice);
        }

        fn least_level(&self) -> u32 {
            LEVEL - 1
        }
    }

    #[tokio::test]
    async fn what_the_release_before_cannot_read_waits_for_the_end_of_the_upgrade() {
        let store: Arc<dyn EventStore> = scratch::database().await;
        let (node, _) = SingleNode::new(store.clone(), None);
        let upgrade = UpgradeState::new(store.clone(), node.clone());
        upgrade.check(LEVEL - 1).unwrap();
        let refused = upgrade.check(LEVEL).unwrap_err();
        assert!(refused.code == RejectionCode::ReadOnly && refused.message.contains("upgrade --finish"), "{refused:?}");
        assert!(upgrade.look().await.unwrap(), "a new store has nothing to end");
        upgrade.check(LEVEL).unwrap();

        let beside = UpgradeState::new(store, Arc::new(BesideOlder(node)));
        assert!(beside.look().await.unwrap());
        beside.check(LEVEL - 1).unwrap();
        assert!(beside.check(LEVEL).unwrap_err().message.contains("Upgrade it first"));
    }
}
