//! Starts and stops a server, on its data folder. The binary and the tests start it the same way.

mod cluster;
mod doors;
mod listeners;
mod mounted;
mod resume;
#[cfg(test)]
pub mod scratch;
mod start_error;
mod storage;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use ipnet::IpNet;
use notarium_store::BlobLocation;
use notarium_store::accounts::{AccountError, AccountStore};
use notarium_wire::rest::Model;
use secrecy::SecretString;
use tokio::sync::{Mutex, Semaphore, mpsc};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::agents::AgentLocks;
use crate::agents::outputs::AgentOutputs;
use crate::agents::working_files::AgentTransfers;
use crate::app::{App, AppParts};
use crate::assistants::{AssistantHost, AssistantState, McpHandler, revocation};
use crate::auth::oidc::{InvalidOidc, Oidc, OidcSettings};
use crate::auth::{Accounts, AuthOptions, KernelPasses};
use crate::blobs::sweep::{self, SweepError, Swept};
use crate::blobs::{BlobClaims, NotebookBlobs};
use crate::cluster::{Cluster, ClusterNotices, ClusterSettings};
use crate::disks::Disk;
use crate::http::mount::DoorMount;
use crate::http::origin::{AllowedOrigins, InvalidOrigin};
use crate::limits::clock::Clock;
use crate::limits::connection_slots::ConnectionSlots;
use crate::limits::usage::UsageCounters;
use crate::limits::{self, ServerLimits};
use crate::metrics::Metrics;
use crate::notebooks::blame::Blames;
use crate::notebooks::files::pieces::MAX_MAKING_MIB;
use crate::notebooks::history::{Checks, Replays, StateTexts};
use crate::notebooks::{Notebooks, cold_events, erasure, output_spill, past_text, redaction, retention};
use crate::notices::{self, InvalidMail, NoticeOptions, Notices};
use crate::rooms::{Rooms, RoomsConfig, WorkNotice};
use crate::routes;
use crate::schedules;
use crate::signing::HeadSigner;
use crate::spending::{self, Spending, SpendingParts, SpendingSettings};
use crate::tls::{CertificateFiles, Certificates};
use crate::tree_log;
use crate::upgrade::UpgradeState;
use listeners::{Listeners, bind};
use resume::{count, open_with_work, resume};

pub use doors::DoorContext;
pub use mounted::MountContext;
pub use start_error::StartError;
pub(crate) use storage::Storage;

/// Configuration of a server.
#[derive(Clone)]
pub struct ServerConfig {
    /// Data folder: created if it is missing.
    pub folder: PathBuf,
    /// URL of a PostgreSQL database for everything but blobs and the signing key; absent: a database in the data folder.
    pub store: Option<SecretString>,
    /// Location of blobs; absent: `blobs` in the data folder.
    pub blobs: Option<BlobLocation>,
    /// Address to listen on. Port 0: any free one.
    pub listen: SocketAddr,
    /// Address that serves `/metrics` alone, to everybody who reaches it. The other address serves it to administrators.
    pub metrics_listen: Option<SocketAddr>,
    /// Certificate and key of the address to listen on; absent: plain HTTP.
    pub tls: Option<CertificateFiles>,
    /// Further origins at which pages and programs may reach the server, besides this machine's own, as in
    /// `https://notes.example.org`.
    pub allowed_origins: Vec<String>,
    /// Networks of proxies whose `X-Forwarded-For` names the client.
    pub trusted_proxies: Vec<IpNet>,
    /// Beginning of share links, and an allowed origin; absent: the address that the server listens on.
    pub public_url: Option<String>,
    /// OpenID Connect provider for sign-in.
    pub oidc: Option<OidcSettings>,
    pub limits: ServerLimits,
    pub rooms: RoomsConfig,
    /// Prices of models, and caps on spending.
    pub spending: SpendingSettings,
    pub auth: AuthOptions,
    pub clock: Clock,
    /// True if the caller carries on the turns of assistants, through [`RunningServer::assistant_host`]. If false, a
    /// question is refused instead of waiting without end.
    pub assistants: bool,
    /// Models of the assistants, the default first, for people to choose from.
    pub models: Vec<Model>,
    /// Mail and webhooks of notices. The beginning of addresses is set at the start.
    pub notices: NoticeOptions,
    /// Makes the server a node of the cluster of its store, if the store is shared.
    pub cluster: Option<ClusterSettings>,
}

impl ServerConfig {
    /// Defaults, with the data in `folder`, and only reachable from this machine.
    pub fn in_folder(folder: impl Into<PathBuf>) -> Self {
        Self {
            folder: folder.into(),
            store: None,
            blobs: None,
            listen: SocketAddr::from(([127, 0, 0, 1], 0)),
            metrics_listen: None,
            tls: None,
            allowed_origins: Vec::new(),
            trusted_proxies: Vec::new(),
            public_url: None,
            oidc: None,
            limits: ServerLimits::default(),
            rooms: RoomsConfig::default(),
            spending: SpendingSettings::default(),
            auth: AuthOptions::default(),
            clock: Clock::system(),
            assistants: false,
            models: Vec::new(),
            notices: NoticeOptions::default(),
            cluster: None,
        }
    }
}

/// Starts servers.
pub struct Server;

/// A server that runs until it is shut down or the process ends.
pub struct RunningServer {
    pub local_addr: SocketAddr,
    /// Address of the metrics, if they have one of their own.
    pub metrics_addr: Option<SocketAddr>,
    /// True: the address speaks TLS.
    pub has_tls: bool,
    /// Token that the owner exchanges for a session. Only on the first start, and until one was used.
    pub owner_token: Option<String>,
    app: App,
    storage: Storage,
    serving: JoinHandle<()>,
    work: JoinHandle<()>,
    sweeping: JoinHandle<()>,
    withdrawing: JoinHandle<()>,
    counting: JoinHandle<()>,
    /// Cancelled when the node leaves the cluster.
    beating: CancellationToken,
    /// Allowed origins besides this machine's own; doors answer to their hosts too.
    allowed_hosts: Vec<String>,
    doors: TaskTracker,
    /// The data folder.
    folder: PathBuf,
    /// The routes, for doors in this process.
    router: axum::Router,
}

impl Server {
    /// Opens the data, listens, and resumes work that was under way.
    pub async fn start(mut config: ServerConfig) -> Result<RunningServer, StartError> {
        // Fails if a provider is installed already, which is then the same one.
        let _ = rustls::crypto::ring::default_provider().install_default();
        if let Some(files) = limits::files_for_connections() {
            config.limits.fit(files);
        }
        let storage = Storage::open(&config).await?;
        let events = storage.events.clone();
        match (&config.cluster, &storage.nodes) {
            (Some(settings), Some(nodes)) => {
                let tls = settings.open_tls()?;
                let (node, notices) = cluster::join(settings, tls, nodes.clone(), events).await?;
                Self::start_node(&config, storage, node, notices).await
            }
            (Some(_), None) => Err(StartError::NoClusterStore),
            (None, nodes) => {
                let (node, notices) = cluster::alone(events, nodes.clone()).await?;
                Self::start_node(&config, storage, node, notices).await
            }
        }
    }

    /// Listens as a node of the cluster, and resumes work in the notebooks that it owns.
    pub(crate) async fn start_node(
        config: &ServerConfig,
        storage: Storage,
        cluster: Arc<dyn Cluster>,
        cluster_notices: ClusterNotices,
    ) -> Result<RunningServer, StartError> {
        let node_tls = cluster.peers().and_then(|peers| peers.tls().cloned());
        let listeners = Listeners::bind(config, node_tls).await?;
        let Listeners { local_addr, metrics_addr, .. } = listeners;
        let allowed = allowed_origins(config, local_addr)?;
        let accounts = Accounts::open(storage.accounts.clone(), config.clock.clone(), &config.auth).await?;
        let signer =
            HeadSigner::open(&config.folder, config.cluster.as_ref().map(|cluster| &cluster.secret), &accounts).await?;
        let owner_token = owner_token(&accounts, &*cluster).await?;
        let (work_notices, work) = mpsc::unbounded_channel();
        let public_url = config.public_url.clone().unwrap_or_else(|| address(config.tls.is_some(), local_addr));
        let oidc = oidc(config, &public_url, storage.accounts.clone())?;
        accounts.report_to(cluster.clone());
        let keys = (accounts, signer, listeners.certificates.clone());
        let app = app(config, &storage, cluster, keys, (oidc, &public_url), work_notices)?;
        app.accounts.count_in(app.usage.clone());
        app.upgrade.look().await?;
        tokio::spawn(app.upgrade.clone().follow(app.stopping.clone()));
        let counting = tokio::spawn(count(app.clone()));
        let work = tokio::spawn(route_work(app.clone(), work));
        let router = routes::all(&app, allowed, &public_url).router;
        let own_router = router.clone();
        let serving = tokio::spawn(listeners.serve(app.clone(), router));
        // A node that others take for dead owns nothing: it lives from here on.
        let beating = cluster::follow(&app).await?;
        if let Err(error) = resume(&app).await {
            beating.cancel();
            app.stopping.cancel();
            work.abort();
            return Err(error.into());
        }
        let sweeping =
            tokio::spawn(sweep::now_and_then(app.blobs.clone(), app.limits.sweep_interval, app.stopping.clone()));
        let withdrawing =
            tokio::spawn(revocation::follow(app.notebooks.clone(), app.assistants.clone(), cluster_notices));
        if let Some(oidc) = app.oidc.clone() {
            tokio::spawn(async move { oidc.look().await });
        }
        tokio::spawn(output_spill::follow(app.notebooks.clone()));
        tokio::spawn(past_text::follow(app.notebooks.clone()));
        tokio::spawn(redaction::finish(app.notebooks.clone()));
        tokio::spawn(erasure::follow(app.notebooks.clone()));
        tokio::spawn(tree_log::follow(app.clone()));
        tokio::spawn(retention::follow(app.notebooks.clone()));
        tokio::spawn(cold_events::follow(app.notebooks.clone()));
        tokio::spawn(schedules::follow(app.notebooks.clone()));
        tokio::spawn(spending::count::follow(app.spending.clone(), app.stopping.clone()));
        tokio::spawn(notices::follow(app.notices.clone()));
        tokio::spawn(notices::follow_outbox(app.notices.clone()));
        tracing::info!(address = %local_addr, "the server is ready");
        Ok(RunningServer {
            local_addr,
            metrics_addr,
            has_tls: config.tls.is_some(),
            owner_token,
            app,
            storage,
            serving,
            work,
            sweeping,
            withdrawing,
            counting,
            beating,
            allowed_hosts: config.allowed_origins.clone(),
            doors: TaskTracker::new(),
            folder: config.folder.clone(),
            router: own_router,
        })
    }
}

/// Makes the token of the owner, if nobody has signed in. A node that joins others leaves the one alone that the first gave out.
async fn owner_token(accounts: &Accounts, cluster: &dyn Cluster) -> Result<Option<String>, AccountError> {
    if !cluster.others().is_empty() {
        return Ok(None);
    }
    Ok(accounts.first_start().await?.map(|token| token.text.reveal()))
}

fn allowed_origins(config: &ServerConfig, local: SocketAddr) -> Result<AllowedOrigins, InvalidOrigin> {
    let own = AllowedOrigins::loopback(local.port(), config.tls.is_some());
    let node = config.cluster.as_ref().map(|settings| &settings.url);
    config
        .allowed_origins
        .iter()
        .chain(&config.public_url)
        .chain(node)
        .try_fold(own, |allowed, origin| allowed.and(origin))
}

fn oidc(
    config: &ServerConfig,
    public_url: &str,
    store: Arc<dyn AccountStore>,
) -> Result<Option<Arc<Oidc>>, InvalidOidc> {
    let Some(settings) = config.oidc.clone() else { return Ok(None) };
    let limits = &config.limits;
    let places = ConnectionSlots::new(limits.max_begun_sign_ins, limits.max_begun_sign_ins_per_network);
    Oidc::new(settings, public_url, config.clock.clone(), store, places).map(|oidc| Some(Arc::new(oidc)))
}

fn app(
    config: &ServerConfig,
    storage: &Storage,
    cluster: Arc<dyn Cluster>,
    (accounts, signer, certificates): (Accounts, HeadSigner, Certificates),
    (oidc, public_url): (Option<Arc<Oidc>>, &str),
    work_notices: mpsc::UnboundedSender<WorkNotice>,
) -> Result<App, InvalidMail> {
    let usage = Arc::new(UsageCounters::new(config.limits.quotas.clone()));
    let (limits, clock) = (config.limits.clone(), config.clock.clone());
    let metrics = Arc::new(Metrics::new(storage.events.commit_metrics().unwrap_or_default()));
    metrics.work.models.know(config.models.iter().map(|known| (known.provider.clone(), known.model.clone())));
    let rooms = RoomsConfig { clock: clock.clone(), metrics, ..config.rooms.clone() };
    let blobs = NotebookBlobs {
        bytes: storage.blobs.clone(),
        claims: BlobClaims::new(limits.blob_grace),
        store: storage.events.clone(),
        cluster: cluster.clone(),
        usage: usage.clone(),
        clock: clock.clone(),
    };
    let parts = SpendingParts {
        store: storage.spending.clone(),
        events: storage.events.clone(),
        cluster: cluster.clone(),
        accounts: accounts.clone(),
        clock: clock.clone(),
        models: config.models.clone(),
    };
    let notebooks = Notebooks {
        spending: Arc::new(Spending::new(config.spending.clone(), parts)),
        store: storage.events.clone(),
        blobs: Arc::new(blobs),
        rooms: Rooms::new(storage.events.clone(), cluster.clone(), rooms, work_notices, usage.clone()),
        upgrade: Arc::new(UpgradeState::new(storage.events.clone(), cluster.clone())),
        cluster,
        accounts,
        blames: Blames::default(),
        replays: Replays::new(config.rooms.max_snapshot_gap),
        clock,
        usage,
        agents: Arc::default(),
        agent_outputs: AgentOutputs::new(limits.max_agent_output_bytes_per_hour),
        making_files: Semaphore::new(MAX_MAKING_MIB as usize),
        erasing: Mutex::default(),
        stopping: CancellationToken::new(),
        limits,
    };
    let limits = &config.limits;
    let max_calls = config.rooms.room.limits.max_token_calls_per_minute;
    let notebooks = Arc::new(notebooks);
    let options = NoticeOptions { public_url: public_url.to_owned(), ..config.notices.clone() };
    let notices = Notices::new(notebooks.clone(), storage.notices.clone(), options)?;
    notebooks.spending.tell_with(notices.cap_teller());
    Ok(App::new(AppParts {
        notices,
        notebooks,
        oidc,
        signer,
        certificates,
        appending: Mutex::default(),
        kernel_questions: Arc::default(),
        transfers: AgentTransfers::default(),
        agent_locks: AgentLocks::default(),
        assistants: Arc::new(AssistantState::new(config.assistants, config.models.clone(), max_calls)),
        checks: Checks::default(),
        state_texts: StateTexts::default(),
        disks: disks(config),
        imports: Semaphore::new(limits.max_imports),
        is_ready: AtomicBool::new(false),
        sockets: Arc::new(Semaphore::new(limits.max_sockets)),
        jupyter: DoorMount::default(),
        kernel_door: DoorMount::default(),
        kernel_passes: KernelPasses::default(),
        strangers: ConnectionSlots::new(limits.max_strangers, limits.max_strangers_per_network),
    }))
}

/// Disks that the server writes to.
fn disks(config: &ServerConfig) -> Vec<Disk> {
    let blobs = match &config.blobs {
        Some(BlobLocation::Folder(folder)) => Some(Disk::new("the large outputs", folder.clone())),
        _ => None,
    };
    [Disk::new("the data folder", config.folder.clone())].into_iter().chain(blobs).collect()
}

/// Passes wanted kernels to the agents, and notices for assistants to their host.
async fn route_work(app: App, mut notices: mpsc::UnboundedReceiver<WorkNotice>) {
    while let Some(notice) = notices.recv().await {
        match notice {
            WorkNotice::Assistants { notebook, version } => {
                app.spending.changed(&notebook);
                app.assistants.expiring.put(notebook.clone(), version);
                app.assistants.notices.put(notebook, version);
            }
            notice => app.agents.note(notice),
        }
    }
}

fn address(has_tls: bool, local: SocketAddr) -> String {
    let scheme = if has_tls { "https" } else { "http" };
    format!("{scheme}://{local}")
}

impl RunningServer {
    /// `http://127.0.0.1:PORT`: for programs on this machine, also of a server with TLS.
    pub fn url(&self) -> String {
        address(false, self.local_addr)
    }

    /// `https://ADDRESS:PORT` with TLS, else as [`Self::url`].
    pub fn shown_url(&self) -> String {
        address(self.has_tls, self.local_addr)
    }

    /// The server's parts, for tests and for code in the same process.
    pub fn app(&self) -> &App {
        &self.app
    }

    /// Host that gives the assistants in this process access to notebooks. Drop it before the server is shut down.
    pub fn assistant_host(&self) -> AssistantHost {
        AssistantHost::new(
            self.app.notebooks.clone(),
            self.app.assistants.clone(),
            self.app.agents.clone(),
            self.app.kernel_questions.clone(),
        )
    }

    /// Opens `/mcp` to outside assistants; before, it answers 503. The handler is dropped when the server shuts down.
    pub fn mount_mcp(&self, handler: Arc<dyn McpHandler>) {
        self.app.assistants.mcp.set(Some(handler));
    }

    /// Removes blobs that no event names, as the server does regularly.
    pub async fn sweep_blobs(&self) -> Result<Swept, SweepError> {
        sweep::Sweeper::default().sweep(&self.app.blobs).await
    }

    /// Removes old outputs and snapshots, as the server does regularly; `is_dry`: counts them only.
    pub async fn retain(&self, is_dry: bool) -> Result<retention::RetentionCount, SweepError> {
        retention::retain(&self.app.notebooks, self.app.limits.retention, is_dry).await
    }

    /// Tells every connection to stop, waits for open requests, writes snapshots, and closes the data.
    pub async fn shut_down(self) {
        let patience = self.app.limits.drain_timeout;
        if tokio::time::timeout(patience, cluster::drain(&self.app)).await.is_err() {
            tracing::warn!(
                ?patience,
                "not every notebook was given to another node: the rest moves when this one has left"
            );
        }
        self.app.stopping.cancel();
        self.doors.close();
        if !self.drained(patience).await {
            tracing::warn!(?patience, "connections did not end in time: they are cut");
        }
        // The handler holds the app, and so the data.
        self.app.assistants.mcp.set(None);
        self.app.jupyter.set(None);
        self.app.kernel_door.set(None);
        let Self { app, storage, serving, work, sweeping, withdrawing, counting, beating, router, .. } = self;
        drop(router);
        serving.abort();
        sweeping.abort();
        counting.abort();
        let _ = counting.await;
        let _ = sweeping.await;
        let _ = withdrawing.await;
        app.rooms.shut_down().await;
        beating.cancel();
        app.cluster.leave().await;
        work.abort();
        drop(app);
        storage.close().await;
    }

    /// True if every socket and request ended in time.
    async fn drained(&self, patience: Duration) -> bool {
        let all = u32::try_from(self.app.limits.max_sockets).unwrap_or(u32::MAX);
        let sockets = self.app.sockets.acquire_many(all);
        let requests = async {
            while !self.serving.is_finished() {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        let both = async { tokio::join!(sockets, requests, self.doors.wait()).0.is_ok() };
        tokio::time::timeout(patience, both).await.unwrap_or(false)
    }
}
