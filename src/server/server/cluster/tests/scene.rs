//! Servers of one cluster in this process: each in a runtime of its own, so that it can be killed with all its tasks.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use notarium_core::{AgentId, Epoch, InstanceId, NotebookId, UserId};
use notarium_store::accounts::{AccountChange, AuditEntry, Coverage, Token, TokenHolder, TokenKind, TokenScopes, User};
use notarium_store::{
    Blobs, EventStore, Lease, LivingNodes, NODE_TIMEOUT, Node, NodeStore, SeenNode, Sqlite, StoreError,
};
use parking_lot::Mutex;
use tokio::runtime::Runtime;

use super::support::{Http, TestClient};
use crate::auth::TokenText;
use crate::cluster::{Cluster, ClusterNodes, ClusterSettings, Leases};
use crate::limits::clock::Clock;
use crate::server::{Storage, scratch};
use crate::tls::tests::Authority;
use crate::{RunningServer, Server, ServerConfig};

/// Nodes and leases in memory. Epochs are those of the store.
pub struct MemoryNodes {
    events: Arc<Sqlite>,
    state: Mutex<NodesState>,
}

#[derive(Default)]
struct NodesState {
    seen: BTreeMap<InstanceId, (Node, Instant)>,
    leases: HashMap<NotebookId, Lease>,
    /// Nodes whose beats fail.
    frozen: BTreeSet<InstanceId>,
    /// Milliseconds by which the store's clock is behind that of this machine.
    behind: u64,
}

impl MemoryNodes {
    /// Lets the beats of a node fail, or no more.
    pub fn freeze(&self, node: &TestNode, is_frozen: bool) {
        let (frozen, instance) = (&mut self.state.lock().frozen, node.cluster.instance().clone());
        if is_frozen {
            frozen.insert(instance)
        } else {
            frozen.remove(&instance)
        };
    }

    /// Sets the store's clock back.
    pub fn set_clock_back(&self, by: Duration) {
        self.state.lock().behind = u64::try_from(by.as_millis()).unwrap();
    }

    pub fn holder(&self, notebook: &NotebookId) -> Option<InstanceId> {
        self.state.lock().leases.get(notebook).map(|lease| lease.holder.clone())
    }
}

#[async_trait]
impl NodeStore for MemoryNodes {
    async fn beat(&self, node: &Node) -> Result<LivingNodes, StoreError> {
        let mut state = self.state.lock();
        if state.frozen.contains(&node.instance) {
            return Err(StoreError::Unavailable { reason: "the node is frozen".to_owned() });
        }
        state.seen.insert(node.instance.clone(), (node.clone(), Instant::now()));
        state.seen.retain(|_, (_, at)| at.elapsed() < NODE_TIMEOUT);
        let now = Clock::system().now() - state.behind;
        Ok(LivingNodes { nodes: state.seen.values().map(|(node, _)| node.clone()).collect(), now })
    }

    async fn leave(&self, instance: &InstanceId) -> Result<(), StoreError> {
        self.state.lock().seen.remove(instance);
        Ok(())
    }

    async fn seen(&self) -> Result<Vec<SeenNode>, StoreError> {
        let state = self.state.lock();
        let now = Clock::system().now();
        let seen = |(node, at): &(Node, Instant)| {
            let age = at.elapsed();
            let seen_at = now - u64::try_from(age.as_millis()).unwrap();
            SeenNode { node: node.clone(), seen_at, is_alive: age < NODE_TIMEOUT }
        };
        Ok(state.seen.values().map(seen).collect())
    }

    async fn leases(&self, notebooks: &[NotebookId]) -> Result<HashMap<NotebookId, Lease>, StoreError> {
        let leases = &self.state.lock().leases;
        Ok(notebooks.iter().filter_map(|notebook| Some((notebook.clone(), leases.get(notebook)?.clone()))).collect())
    }

    async fn release_lease(&self, notebook: &NotebookId, instance: &InstanceId) -> Result<(), StoreError> {
        if self.holder(notebook).as_ref() != Some(instance) {
            return Ok(());
        }
        self.events.take_lease(notebook, &"nobody".parse().unwrap()).await?;
        self.state.lock().leases.remove(notebook);
        Ok(())
    }
}

/// Leases as a node takes them.
pub struct MemoryLeases(pub Arc<MemoryNodes>);

#[async_trait]
impl Leases for MemoryLeases {
    async fn take(&self, notebook: &NotebookId, instance: &InstanceId) -> Result<Epoch, StoreError> {
        let epoch = self.0.events.take_lease(notebook, instance).await?;
        if self.0.events.head(notebook).await?.is_some() {
            self.0.state.lock().leases.insert(notebook.clone(), Lease { holder: instance.clone(), epoch });
        }
        Ok(epoch)
    }
}

fn free_address() -> SocketAddr {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap()
}

pub const SECRET: &str = "the secret of the tests' cluster";

/// A server of the cluster.
pub struct TestNode {
    runtime: Option<Runtime>,
    running: Option<RunningServer>,
    pub cluster: Arc<ClusterNodes>,
    pub address: SocketAddr,
}

/// The store of the cluster, and its first person.
pub struct Scene {
    pub nodes: Arc<MemoryNodes>,
    pub events: Arc<Sqlite>,
    blobs: PathBuf,
    /// Clock of all nodes.
    pub clock: Clock,
    pub ann: UserId,
    /// Authority of the nodes' certificates, if they show any.
    pub authority: Option<Authority>,
    /// Token of a session of Ann.
    pub token: String,
}

impl Scene {
    /// A cluster of so many servers.
    pub async fn of(count: usize) -> (Self, Vec<TestNode>) {
        Self::with(count, None).await
    }

    /// The same with nodes that show each other certificates.
    pub async fn with_certificates(count: usize) -> (Self, Vec<TestNode>) {
        Self::with(count, Some(Authority::new())).await
    }

    async fn with(count: usize, authority: Option<Authority>) -> (Self, Vec<TestNode>) {
        let events = scratch::database().await;
        let nodes = Arc::new(MemoryNodes { events: events.clone(), state: Mutex::default() });
        let (ann, blobs) = (UserId::new("ann").unwrap(), scratch::folder());
        let mut scene = Self { nodes, events, blobs, clock: Clock::adjustable(), ann, authority, token: String::new() };
        let mut servers = Vec::new();
        for _ in 0..count {
            servers.push(scene.start().await);
        }
        servers[0].change(AccountChange::CreateUser(scene.user()), "user.create", "ann").await;
        scene.token = scene.new_token(&servers[0], TokenHolder::User(scene.ann.clone()), TokenKind::Session).await;
        for node in &servers {
            node.sees(count).await;
        }
        (scene, servers)
    }

    /// The account of Ann.
    pub fn user(&self) -> User {
        User {
            id: self.ann.clone(),
            name: "Ann".to_owned(),
            login: None,
            password_hash: None,
            is_admin: false,
            created_at: 0,
            deactivated_at: None,
        }
    }

    /// Starts another server.
    pub async fn start(&self) -> TestNode {
        let address = free_address();
        let settings = self.settings(address);
        let mut config = ServerConfig::in_folder(scratch::folder());
        (config.listen, config.cluster, config.clock) = (address, Some(settings.clone()), self.clock.clone());
        // A test reads a connection only while it waits for a message, and must not look dead in between.
        config.limits.heartbeat = Duration::from_secs(600);
        config.limits.agent_heartbeat = Duration::from_secs(600);
        let (nodes, events, blobs) = (self.nodes.clone(), self.events.clone(), self.blobs.clone());
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let starting = runtime.spawn(async move {
            let leases = MemoryLeases(nodes.clone());
            let tls = settings.open_tls().unwrap();
            let (cluster, notices) = ClusterNodes::join(&settings, tls, nodes.clone(), leases).await.unwrap();
            let (accounts, blobs) = (events.clone(), Blobs::local(blobs, 1 << 20).unwrap());
            let storage = Storage::shared(events, (accounts.clone(), accounts.clone(), accounts), nodes, blobs);
            let running = Server::start_node(&config, storage, cluster.clone(), notices).await.unwrap();
            (running, cluster)
        });
        let (running, cluster) = starting.await.unwrap();
        TestNode { runtime: Some(runtime), running: Some(running), cluster, address }
    }

    fn settings(&self, address: SocketAddr) -> ClusterSettings {
        let plain = ClusterSettings {
            url: format!("http://{address}"),
            secret: SECRET.into(),
            certificates: None,
            listen: None,
        };
        let Some(authority) = &self.authority else { return plain };
        let listen = free_address();
        let certificates = Some(authority.node("127.0.0.1"));
        ClusterSettings { url: format!("https://{listen}"), certificates, listen: Some(listen), ..plain }
    }

    /// A notebook that does not exist yet, and that this node is to open.
    pub async fn notebook_of(&self, node: &TestNode) -> String {
        for number in 0.. {
            let id = format!("notebook{number}");
            if self.events.head(&id.parse().unwrap()).await.unwrap().is_none()
                && node.cluster.owns(&id.parse().unwrap()).await.unwrap()
            {
                return id;
            }
        }
        unreachable!("some notebook is this node's")
    }

    /// Creates a token for all notebooks.
    pub async fn new_token(&self, node: &TestNode, holder: TokenHolder, kind: TokenKind) -> String {
        let text = TokenText::generate(kind, ulid::Ulid::generate().into()).unwrap();
        let token = Token {
            id: text.id.clone(),
            holder,
            created_by: self.ann.clone(),
            secret_hash: text.secret_hash(),
            scopes: TokenScopes::all_of(kind),
            coverage: Coverage::All,
            label: "test".to_owned(),
            created_at: 0,
            expires_at: None,
            last_used_at: None,
            revoked_at: None,
            identity: None,
        };
        node.change(AccountChange::CreateToken(token), "token.create", &text.id.to_string()).await;
        text.reveal()
    }

    pub async fn agent_token(&self, node: &TestNode) -> String {
        self.new_token(node, TokenHolder::Agent(AgentId::new("gpu").unwrap()), TokenKind::Agent).await
    }

    pub async fn connect(&self, node: &TestNode) -> TestClient {
        TestClient::connect(node.address, &self.token).await
    }

    pub fn http(&self, node: &TestNode) -> Http {
        Http::new(format!("http://{}", node.address), Some(self.token.clone()))
    }
}

impl TestNode {
    pub fn running(&self) -> &RunningServer {
        self.running.as_ref().expect("the node runs")
    }

    /// Ends all tasks of the node, as SIGKILL does.
    pub fn kill(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }

    /// Stops the node in good order, as SIGTERM does.
    pub async fn stop(&mut self) {
        let (runtime, running) = (self.runtime.as_ref().unwrap(), self.running.take().unwrap());
        runtime.spawn(running.shut_down()).await.unwrap();
        self.kill();
    }

    /// Waits until the node sees so many living nodes, itself among them.
    pub async fn sees(&self, count: usize) {
        let mut changes = self.cluster.changes().unwrap();
        while self.cluster.others().len() + 1 != count {
            changes.changed().await.unwrap();
        }
    }

    /// Waits until the node's beats are written again.
    pub async fn beats_again(&self) {
        let mut changes = self.cluster.changes().unwrap();
        while self.cluster.is_cut_off() {
            changes.changed().await.unwrap();
        }
    }

    /// Changes accounts through this node.
    pub async fn change(&self, change: AccountChange, action: &str, subject: &str) {
        let accounts = self.running().app().accounts.clone();
        let audit = AuditEntry {
            at: Clock::system().now(),
            actor: "system".to_owned(),
            action: action.to_owned(),
            subject: subject.to_owned(),
        };
        accounts.change(&[change], audit).await.unwrap();
    }
}

impl Drop for TestNode {
    fn drop(&mut self) {
        self.kill();
    }
}
