//! A node of a cluster of many servers over one store.
//!
//! The list of living nodes comes with each beat. A node whose beat was not written for [`NODE_TIMEOUT`] is dead for the
//! others, and counts itself as the owner of nothing: it serves no notebook until a beat is written again.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use dashmap::DashMap;
use notarium_core::{Epoch, InstanceId, LEVEL, NotebookId};
use notarium_store::{EventStore, LivingNodes, NODE_TIMEOUT, Node, NodeStore, StoreError};
use parking_lot::RwLock;
use secrecy::SecretString;
use tokio::sync::{Mutex, mpsc, watch};
use tokio_util::sync::CancellationToken;

use super::placement::choice;
use super::{BEAT, ClaimError, Cluster, ClusterNotice, ClusterNotices, OwnerNode, Peers, client_settings};
use crate::tls::{NodeTls, NodeTlsFiles, TlsError};

/// Age of a list of nodes below which it is not read anew.
const LOOKED: Duration = Duration::from_millis(250);
/// The same, where the holder of a lease is not on the list.
const NEWCOMER: Duration = Duration::from_millis(50);
/// Time for which an owner is remembered, so that messages do not wait for the store.
const REMEMBERED: Duration = Duration::from_secs(1);
/// Remembered owners. At this number all are forgotten.
const MAX_REMEMBERED: usize = 100_000;

/// Settings of a node.
#[derive(Clone)]
pub struct ClusterSettings {
    /// Address at which other nodes reach this one, as in `http://10.0.0.7:7777`.
    pub url: String,
    /// Secret that all nodes share: with it they sign what they forward to each other.
    pub secret: SecretString,
    /// Certificates that nodes show each other; absent: they show none.
    pub certificates: Option<NodeTlsFiles>,
    /// Address to listen on for other nodes; absent: that of everybody.
    pub listen: Option<SocketAddr>,
}

impl ClusterSettings {
    /// Reads the files of the certificates between nodes.
    pub fn open_tls(&self) -> Result<Option<Arc<NodeTls>>, TlsError> {
        let files = self.certificates.clone();
        files.map(|files| files.open(host_of(&self.url), client_settings)).transpose()
    }
}

/// Host in a URL, without port and brackets.
fn host_of(url: &str) -> &str {
    let host = url.split_once("://").map_or(url, |(_, rest)| rest);
    let host = host.split('/').next().unwrap_or_default();
    match host.strip_prefix('[').and_then(|host| host.split_once(']')) {
        Some((address, _)) => address,
        None => host.split_once(':').map_or(host, |(name, _)| name),
    }
}

/// Source of leases: the event store, which fences appends by them.
#[async_trait]
pub trait Leases: Send + Sync + 'static {
    /// Takes the lease as [`EventStore::take_lease`] does.
    async fn take(&self, notebook: &NotebookId, instance: &InstanceId) -> Result<Epoch, StoreError>;
}

#[async_trait]
impl Leases for Arc<dyn EventStore> {
    async fn take(&self, notebook: &NotebookId, instance: &InstanceId) -> Result<Epoch, StoreError> {
        self.take_lease(notebook, instance).await
    }
}

/// The nodes as of the last beat.
struct ClusterView {
    living: Vec<Node>,
    /// Time at which the last beat that was written began.
    beat_at: Instant,
}

/// A node of a cluster.
pub struct ClusterNodes {
    instance: InstanceId,
    url: String,
    nodes: Arc<dyn NodeStore>,
    leases: Box<dyn Leases>,
    peers: Peers,
    view: RwLock<ClusterView>,
    owners: DashMap<NotebookId, (InstanceId, Instant)>,
    is_draining: AtomicBool,
    /// Held during a beat, so that an older list never replaces a newer one.
    beating: Mutex<()>,
    changes: watch::Sender<u64>,
    notices: mpsc::UnboundedSender<ClusterNotice>,
}

impl ClusterNodes {
    /// Joins the cluster with a new instance id. [`Cluster::follow`] keeps it there.
    pub async fn join(
        settings: &ClusterSettings,
        tls: Option<Arc<NodeTls>>,
        nodes: Arc<dyn NodeStore>,
        leases: impl Leases,
    ) -> Result<(Arc<Self>, ClusterNotices), StoreError> {
        let (notices, receiver) = mpsc::unbounded_channel();
        let node = Self {
            instance: ulid::Ulid::generate().into(),
            url: settings.url.trim_end_matches('/').to_owned(),
            nodes,
            leases: Box::new(leases),
            peers: Peers::new(&settings.secret, tls),
            view: RwLock::new(ClusterView { living: Vec::new(), beat_at: Instant::now() }),
            owners: DashMap::new(),
            is_draining: AtomicBool::new(false),
            beating: Mutex::default(),
            changes: watch::Sender::new(0),
            notices,
        };
        node.beat().await?;
        Ok((Arc::new(node), receiver))
    }

    /// True if every node has an address: one without is alone, and wants to be.
    pub fn is_reachable_by_all(&self) -> bool {
        self.view.read().living.iter().all(|node| !node.url.is_empty())
    }

    /// Tells the store that this node lives, and reads which others do.
    pub async fn beat(&self) -> Result<(), StoreError> {
        let _beating = self.beating.lock().await;
        // The time before the beat: the store's clock counts from a later one.
        let beat_at = Instant::now();
        let LivingNodes { nodes: living, .. } = self.nodes.beat(&self.own()).await?;
        let was_cut_off = self.is_cut_off();
        let has_changed = {
            let mut view = self.view.write();
            let has_changed = view.living != living;
            *view = ClusterView { living, beat_at };
            has_changed
        };
        if has_changed || was_cut_off {
            self.changed();
        }
        Ok(())
    }

    fn changed(&self) {
        self.owners.clear();
        self.changes.send_modify(|count| *count += 1);
    }

    fn node(&self, instance: &InstanceId) -> Option<Node> {
        self.view.read().living.iter().find(|node| node.instance == *instance).cloned()
    }

    /// Owner as the store has it now.
    async fn owner_now(&self, notebook: &NotebookId) -> Result<InstanceId, StoreError> {
        if self.is_cut_off() {
            let reason = "this server cannot reach its store: others have taken its notebooks over".to_owned();
            return Err(StoreError::Unavailable { reason });
        }
        let lease = self.nodes.lease(notebook).await?;
        if let Some(lease) = &lease
            && self.node(&lease.holder).is_none()
        {
            // It may have joined since the last look.
            self.look_within(NEWCOMER).await;
        }
        let view = self.view.read();
        let takes_notebooks = |node: &&Node| !node.is_draining;
        let holder = lease.and_then(|lease| view.living.iter().find(|node| node.instance == lease.holder));
        let chosen = holder
            .filter(takes_notebooks)
            .or_else(|| choice(notebook, view.living.iter().filter(takes_notebooks)))
            .or(holder)
            .or_else(|| choice(notebook, &view.living));
        Ok(chosen.map_or_else(|| self.instance.clone(), |node| node.instance.clone()))
    }

    /// Reads the list of nodes, unless the last one is younger.
    async fn look_within(&self, age: Duration) {
        if self.view.read().beat_at.elapsed() < age {
            return;
        }
        if let Err(error) = self.beat().await {
            tracing::warn!(%error, "the list of nodes was not read");
        }
    }

    fn remember(&self, notebook: &NotebookId, owner: &InstanceId) {
        if self.owners.len() >= MAX_REMEMBERED {
            self.owners.clear();
        }
        self.owners.insert(notebook.clone(), (owner.clone(), Instant::now()));
    }
}

#[async_trait]
impl Cluster for ClusterNodes {
    fn instance(&self) -> &InstanceId {
        &self.instance
    }

    async fn owner(&self, notebook: &NotebookId) -> Result<InstanceId, StoreError> {
        let remembered = self.owners.get(notebook).map(|entry| entry.clone());
        if let Some((owner, at)) = remembered
            && at.elapsed() < REMEMBERED
            && !self.is_cut_off()
        {
            return Ok(owner);
        }
        let owner = self.owner_now(notebook).await?;
        self.remember(notebook, &owner);
        Ok(owner)
    }

    async fn claim(&self, notebook: &NotebookId) -> Result<Epoch, ClaimError> {
        let owner = self.owner_now(notebook).await?;
        self.remember(notebook, &owner);
        if owner != self.instance {
            return Err(ClaimError::NotOwner);
        }
        Ok(self.leases.take(notebook, &self.instance).await?)
    }

    fn notify(&self, notice: ClusterNotice) {
        // The other nodes read the audit of accounts. A node that stops has dropped the receiver.
        let _ = self.notices.send(notice);
    }

    async fn place(&self, notebook: &NotebookId) -> Result<OwnerNode, StoreError> {
        let owner = self.owner(notebook).await?;
        if owner == self.instance {
            return Ok(OwnerNode::Here);
        }
        self.node(&owner).map(OwnerNode::Elsewhere).ok_or_else(|| {
            self.forget(notebook);
            StoreError::Unavailable { reason: "the notebook is moving to another server".to_owned() }
        })
    }

    fn forget(&self, notebook: &NotebookId) {
        self.owners.remove(notebook);
    }

    async fn release(&self, notebook: &NotebookId) -> Result<(), StoreError> {
        self.forget(notebook);
        self.nodes.release_lease(notebook, &self.instance).await
    }

    fn peers(&self) -> Option<&Peers> {
        Some(&self.peers)
    }

    fn url(&self) -> &str {
        &self.url
    }

    async fn look_again(&self) {
        self.look_within(LOOKED).await;
    }

    fn others(&self) -> Vec<Node> {
        self.view.read().living.iter().filter(|node| node.instance != self.instance).cloned().collect()
    }

    fn changes(&self) -> Option<watch::Receiver<u64>> {
        Some(self.changes.subscribe())
    }

    fn least_level(&self) -> u32 {
        self.view.read().living.iter().map(|node| node.level).min().unwrap_or(LEVEL)
    }

    fn is_cut_off(&self) -> bool {
        self.view.read().beat_at.elapsed() >= NODE_TIMEOUT
    }

    fn is_draining(&self) -> bool {
        self.is_draining.load(Ordering::SeqCst)
    }

    /// Beats each second.
    async fn follow(&self, stopping: CancellationToken) {
        let mut was_cut_off = false;
        while stopping.run_until_cancelled(tokio::time::sleep(BEAT)).await.is_some() {
            match tokio::time::timeout(NODE_TIMEOUT, self.beat()).await {
                Ok(Ok(())) => {}
                Ok(Err(error)) => tracing::warn!(%error, "the beat of this node was not written"),
                Err(_) => tracing::warn!("the store did not take the beat of this node in time"),
            }
            let is_cut_off = self.is_cut_off();
            if is_cut_off && !was_cut_off {
                tracing::error!("this node cannot reach the store: it serves no notebook until it can");
                self.changed();
            }
            was_cut_off = is_cut_off;
        }
    }

    async fn drain(&self) {
        self.is_draining.store(true, Ordering::SeqCst);
        if let Err(error) = self.beat().await {
            tracing::warn!(%error, "the other nodes hear later that this one stops");
        }
    }

    async fn leave(&self) {
        if let Err(error) = self.nodes.leave(&self.instance).await {
            tracing::warn!(%error, "this node stays on the list until its time is over");
        }
    }
}
