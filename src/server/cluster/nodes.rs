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
use notarium_store::{EventStore, LivingNodes, NODE_TIMEOUT, Node, NodeStore, SeenNode, StoreError};
use parking_lot::RwLock;
use secrecy::SecretString;
use tokio::sync::oneshot::error::TryRecvError;
use tokio::sync::{Mutex, mpsc, watch};
use tokio_util::sync::CancellationToken;

use super::placement::choice;
use super::questions::{OwnerAnswer, OwnerQuestions};
use super::store_clock::StoreClock;
use super::{BEAT, ClaimError, Cluster, ClusterNotice, ClusterNotices, OwnerNode, Peers, client_settings};
use crate::outage::Outage;
use crate::tls::{NodeTls, NodeTlsFiles, TlsError};

/// Age of a list of nodes below which it is not read anew.
const LOOKED: Duration = Duration::from_millis(250);
/// The same, where the holder of a lease is not on the list.
const NEWCOMER: Duration = Duration::from_millis(50);
/// Time for which an owner is remembered, so that messages do not wait for the store.
const REMEMBERED: Duration = Duration::from_secs(1);
/// Remembered owners. At this number all are forgotten.
const MAX_REMEMBERED: usize = 100_000;
/// Leases that one query reads.
const MAX_ASKED: usize = 1_000;

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

/// Source of the time; a simulation has its own.
type MonotonicTime = Box<dyn Fn() -> Instant + Send + Sync>;

/// The nodes as of the last beat.
struct ClusterView {
    living: Vec<Node>,
    /// Time at which the last beat that was written began.
    beat_at: Instant,
}

impl ClusterView {
    /// The holder of the lease, unless it is draining; else the choice among the nodes.
    fn owner<'a>(&'a self, notebook: &NotebookId, holder: Option<&'a Node>) -> Option<&'a InstanceId> {
        let takes_notebooks = |node: &&Node| !node.is_draining;
        holder
            .filter(takes_notebooks)
            .or_else(|| choice(notebook, self.living.iter().filter(takes_notebooks)))
            .or(holder)
            .or_else(|| choice(notebook, &self.living))
            .map(|node| &node.instance)
    }
}

/// A node of a cluster.
pub struct ClusterNodes {
    instance: InstanceId,
    url: String,
    nodes: Arc<dyn NodeStore>,
    leases: Box<dyn Leases>,
    peers: Peers,
    view: RwLock<ClusterView>,
    clock: MonotonicTime,
    owners: DashMap<NotebookId, (InstanceId, Instant)>,
    is_draining: AtomicBool,
    store_clock: Arc<StoreClock>,
    questions: OwnerQuestions,
    /// Held while the store is asked for owners.
    asking: Mutex<()>,
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
        let process = (ulid::Ulid::generate().into(), Box::new(Instant::now) as MonotonicTime);
        Self::join_as(process, settings, tls, nodes, leases).await
    }

    /// Joins with an instance id and a clock of the caller.
    pub(super) async fn join_as(
        (instance, clock): (InstanceId, MonotonicTime),
        settings: &ClusterSettings,
        tls: Option<Arc<NodeTls>>,
        nodes: Arc<dyn NodeStore>,
        leases: impl Leases,
    ) -> Result<(Arc<Self>, ClusterNotices), StoreError> {
        let (notices, receiver) = mpsc::unbounded_channel();
        let store_clock = Arc::new(StoreClock::default());
        let node = Self {
            instance,
            url: settings.url.trim_end_matches('/').to_owned(),
            nodes,
            leases: Box::new(leases),
            peers: Peers::new(&settings.secret, tls).by_clock(store_clock.clone()),
            view: RwLock::new(ClusterView { living: Vec::new(), beat_at: clock() }),
            clock,
            owners: DashMap::new(),
            is_draining: AtomicBool::new(false),
            store_clock,
            questions: OwnerQuestions::default(),
            asking: Mutex::default(),
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
        let beat_at = (self.clock)();
        let LivingNodes { nodes: living, .. } = self.store_clock.beat(&*self.nodes, &self.own()).await?;
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

    /// Time that has passed since then.
    fn since(&self, time: Instant) -> Duration {
        (self.clock)().saturating_duration_since(time)
    }

    fn changed(&self) {
        self.owners.clear();
        self.changes.send_modify(|count| *count += 1);
    }

    fn node(&self, instance: &InstanceId) -> Option<Node> {
        self.view.read().living.iter().find(|node| node.instance == *instance).cloned()
    }

    /// Owner as the store has it now: from a query that begins after the call, and is shared with others who ask.
    async fn owner_now(&self, notebook: &NotebookId) -> OwnerAnswer {
        self.check_reach()?;
        let mut answered = self.questions.add(notebook);
        let _asking = self.asking.lock().await;
        loop {
            match answered.try_recv() {
                Ok(answer) => return answer,
                // The request that had taken this question was cancelled.
                Err(TryRecvError::Closed) => answered = self.questions.add(notebook),
                Err(TryRecvError::Empty) => {}
            }
            let (notebooks, answers) = self.questions.take(MAX_ASKED);
            let owners = self.owners_now(&notebooks).await;
            for (index, answer) in answers.into_iter().enumerate() {
                // The receiver may be gone: a request that was cancelled.
                let _ = answer.send(owners.as_ref().map(|owners| owners[index].clone()).map_err(Clone::clone));
            }
        }
    }

    /// Refuses questions while this node is cut off from its store.
    fn check_reach(&self) -> Result<(), StoreError> {
        if self.is_cut_off() {
            let reason = "this server cannot reach its store: others may take its notebooks over".to_owned();
            return Err(StoreError::Unavailable { reason });
        }
        Ok(())
    }

    /// Owners of these notebooks, in their order, as the store has them now.
    async fn owners_now(&self, notebooks: &[NotebookId]) -> Result<Vec<InstanceId>, StoreError> {
        self.check_reach()?;
        let leases = self.nodes.leases(notebooks).await?;
        if leases.values().any(|lease| self.node(&lease.holder).is_none()) {
            // It may have joined since the last look.
            self.look_within(NEWCOMER).await;
        }
        let view = self.view.read();
        let holder = |notebook| {
            leases.get(notebook).and_then(|lease| view.living.iter().find(|node| node.instance == lease.holder))
        };
        let owner = |notebook| view.owner(notebook, holder(notebook)).unwrap_or(&self.instance).clone();
        Ok(notebooks.iter().map(owner).collect())
    }

    /// Reads the list of nodes, unless the last one is younger.
    async fn look_within(&self, age: Duration) {
        let beat_at = self.view.read().beat_at;
        if self.since(beat_at) < age {
            return;
        }
        // A store that hangs must not keep the node's own beats waiting.
        match tokio::time::timeout(NODE_TIMEOUT, self.beat()).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::warn!(%error, "the list of nodes was not read"),
            Err(_) => tracing::warn!("the list of nodes was not read in time"),
        }
    }

    fn remember(&self, notebook: &NotebookId, owner: &InstanceId) {
        if self.owners.len() >= MAX_REMEMBERED {
            self.owners.clear();
        }
        self.owners.insert(notebook.clone(), (owner.clone(), (self.clock)()));
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
            && self.since(at) < REMEMBERED
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

    /// Asks the store once for every [`MAX_ASKED`] notebooks.
    async fn owned(&self, notebooks: Vec<NotebookId>) -> Result<Vec<NotebookId>, StoreError> {
        let mut owned = Vec::new();
        for page in notebooks.chunks(MAX_ASKED) {
            for (notebook, owner) in page.iter().zip(self.owners_now(page).await?) {
                self.remember(notebook, &owner);
                if owner == self.instance {
                    owned.push(notebook.clone());
                }
            }
        }
        Ok(owned)
    }

    async fn taken(&self, notebooks: &[NotebookId]) -> Result<Vec<NotebookId>, StoreError> {
        let mut taken = Vec::new();
        for page in notebooks.chunks(MAX_ASKED) {
            let leases = self.nodes.leases(page).await?;
            let is_taken = |notebook: &&NotebookId| leases.get(*notebook).is_some_and(|it| it.holder != self.instance);
            taken.extend(page.iter().filter(is_taken).cloned());
        }
        Ok(taken)
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

    async fn seen(&self) -> Result<Option<Vec<SeenNode>>, StoreError> {
        self.nodes.seen().await.map(Some)
    }

    fn changes(&self) -> Option<watch::Receiver<u64>> {
        Some(self.changes.subscribe())
    }

    fn least_level(&self) -> u32 {
        self.view.read().living.iter().map(|node| node.level).min().unwrap_or(LEVEL)
    }

    fn is_cut_off(&self) -> bool {
        let beat_at = self.view.read().beat_at;
        self.since(beat_at) >= NODE_TIMEOUT
    }

    fn clock_ahead(&self) -> Option<i64> {
        self.store_clock.ahead()
    }

    fn is_draining(&self) -> bool {
        self.is_draining.load(Ordering::SeqCst)
    }

    /// Beats each second.
    async fn follow(&self, stopping: CancellationToken) {
        let mut was_cut_off = false;
        let mut outage = Outage::new("the beat of this node was not written", "the beat of this node is written again");
        while stopping.run_until_cancelled(tokio::time::sleep(BEAT)).await.is_some() {
            let beat = tokio::time::timeout(NODE_TIMEOUT, self.beat()).await;
            let late = |_| Err("the store did not take it in time".to_owned());
            outage.log(beat.map_or_else(late, |beat| beat.map_err(|error| error.to_string())));
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
