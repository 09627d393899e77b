//! The runtime agent: dials out, offers its kernelspecs, claims launches, and runs each session in a task (`session/host.rs`).

mod roster;
mod session_file;

use std::collections::{BTreeMap, BTreeSet};
use std::future::Future;
use std::path::PathBuf;
use std::time::Duration;

use notarium_core::{Actor, AgentId, Command, KernelCause, KernelSessionId, Labels, NotebookId, Version};
use notarium_wire::{
    AGENT_MACHINES, CONNECTION_SCHEMAS, ClientMessage, KERNEL_FORMAT, KERNEL_TABLES, KernelQuestionMessage,
    OfferMessage, OfferedMachine, ServerMessage, WORKING_FILE_CHANGES, WORKING_FILES, WelcomeMessage,
};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::Instant;

pub use crate::AgentError;
use crate::kernel::LaunchOptions;
use crate::kernel::kernelspecs::{FoundKernelspecs, Kernelspec, discover};
use crate::machine::MachineMeter;
use crate::session::host::{self, HostEnd, HostHandle, HostOptions};
use crate::session::reports::blobs::BlobUploader;
use crate::session::reports::delivery::Reporter;
use crate::session::server_relay::ServerRelay;
use crate::session::{KernelSessionLimits, SessionInput};
use crate::temporary_files::remove_abandoned;
use crate::working_folder::transfers::FolderTransfers;
use crate::working_folder::{ReachablePaths, WorkingFolder};
use notarium_client::{CommandError, CommandSender, ConnectError, ConnectOptions, Connection, ConnectionEvent};
use roster::{Roster, RosterAction};
use session_file::{OrphanedSessions, SessionFile};

/// Deadline of a stopping agent: its kernels must have ended and their reports be acked by then.
pub const STOP_TIMEOUT: Duration = Duration::from_secs(10);

/// Recorded cause of a kernel whose end an earlier process of this agent has not reported.
const ORPHANED: &str = "its runtime agent was killed, or stopped before it could report the end";

/// Retry limit while another process of the same token is connected: longer than a server takes to notice a dead connection.
pub const DISPLACED_PATIENCE: Duration = Duration::from_secs(75);

/// Options of an agent.
#[derive(Debug, Clone)]
pub struct AgentOptions {
    pub connect: ConnectOptions,
    /// Virtual environments (or other prefixes) that are searched for kernelspecs before the usual places.
    pub kernel_paths: Vec<PathBuf>,
    /// Labels of this machine, for which launches can ask.
    pub labels: Labels,
    pub launch: LaunchOptions,
    pub limits: KernelSessionLimits,
    /// Folder of the list of live kernels. If this process is killed, the next one reports their ends from that list.
    pub state_dir: Option<PathBuf>,
    /// Retry limit while another process has this agent's place at the server; see [`DISPLACED_PATIENCE`].
    pub displaced_patience: Duration,
    /// Deadline of a stopping agent; see [`STOP_TIMEOUT`].
    pub stop_timeout: Duration,
}

/// Events that the program around an agent may show.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AgentNotice {
    Connected {
        server: String,
    },
    /// The ends of kernels that earlier processes of this agent left are reported: kernels can be requested.
    Ready,
    Disconnected {
        cause: String,
    },
    KernelWanted {
        notebook: NotebookId,
        kernelspec: String,
    },
}

/// Runs an agent until `stop` is ready (then its kernels are shut down and reported), or until the server refuses it.
pub async fn run(
    options: AgentOptions,
    stop: impl Future<Output = ()>,
    mut notify: impl FnMut(AgentNotice),
) -> Result<(), AgentError> {
    let mut meter = MachineMeter::new();
    let machine = meter.machine().await;
    let mut agent = AgentLoop::new(options, machine)?;
    agent.reporting.spawn(meter.report(agent.sender.clone(), agent.measures.subscribe()));
    let mut stop = std::pin::pin!(stop);
    loop {
        tokio::select! {
            () = &mut stop => break,
            Some(Ok(end)) = agent.running.join_next() => agent.over(&end),
            Some(Ok(claim)) = agent.claims.join_next() => agent.claim_answered(claim),
            Some(_) = agent.settling.join_next() => agent.settled(&mut notify),
            Some(_) = agent.moving.join_next() => {}
            event = agent.connection.next() => agent.event(event, &mut notify)?,
        }
    }
    agent.stop().await;
    Ok(())
}

/// The answer to a claim: the version of its event.
struct ClaimAnswer {
    notebook: NotebookId,
    kernel_session: KernelSessionId,
    answer: Result<Version, CommandError>,
}

struct AgentLoop {
    options: AgentOptions,
    specs: FoundKernelspecs,
    connection: Connection,
    sender: CommandSender,
    uploader: BlobUploader,
    relay: ServerRelay,
    roster: Roster,
    /// Present once the server has named this agent's id.
    ledger: Option<SessionFile>,
    hosts: BTreeMap<KernelSessionId, HostHandle>,
    /// Notebooks for which the server asks for kernel usage.
    measured: BTreeSet<NotebookId>,
    /// Start of the time in which another process has had our place at the server.
    displaced_since: Option<Instant>,
    /// The tasks of the hosts; each runs until all its reports are sent.
    running: JoinSet<HostEnd>,
    /// Claims that wait for their answers.
    claims: JoinSet<ClaimAnswer>,
    /// Tasks that report the ends of kernels of earlier processes.
    settling: JoinSet<()>,
    transfers: FolderTransfers,
    /// File transfers in progress.
    moving: JoinSet<()>,
    /// The task that reports the load of this machine.
    reporting: JoinSet<()>,
    /// True while the server takes reports of the load.
    measures: watch::Sender<bool>,
}

impl AgentLoop {
    fn new(mut options: AgentOptions, machine: OfferedMachine) -> Result<Self, AgentError> {
        options.connect.instance.get_or_insert_with(|| ulid::Ulid::generate().to_string());
        options.connect.features.extend(
            [WORKING_FILES, WORKING_FILE_CHANGES, CONNECTION_SCHEMAS, KERNEL_TABLES, KERNEL_FORMAT].map(str::to_owned),
        );
        let specs = discover(&options.kernel_paths);
        for problem in &specs.problems {
            tracing::warn!(path = %problem.path.display(), reason = problem.reason, "a kernelspec cannot be used");
        }
        if specs.kernelspecs.is_empty() {
            return Err(AgentError::NoKernelspecs);
        }
        let hidden = options.launch.hidden.as_slice().into();
        let leftovers = [options.launch.runtime_dir.clone(), std::env::temp_dir()];
        tokio::task::spawn_blocking(move || leftovers.iter().for_each(|folder| remove_abandoned(folder)));
        let uploader = BlobUploader::new(&options.connect.server, &options.connect.token)?;
        let relay = ServerRelay::new(&options.connect.server, &options.connect.token)?;
        let folder = WorkingFolder::new(&options.launch.working_dir, ReachablePaths::of(&options.launch));
        let transfers = FolderTransfers::new(folder, &options.connect.server, &options.connect.token)?;
        let connection = Connection::start(options.connect.clone());
        let sender = connection.sender();
        let connections = options.launch.connections.list.iter().map(|connection| connection.offered()).collect();
        let offered = |kernelspec: &Kernelspec| kernelspec.offered(options.launch.kernel_effects(kernelspec));
        let (kernelspecs, labels) = (specs.kernelspecs.iter().map(offered).collect(), options.labels.clone());
        sender.offer(OfferMessage { kernelspecs, connections, labels, machine: Some(machine) });
        Ok(Self {
            options,
            specs,
            connection,
            sender,
            uploader,
            relay,
            roster: Roster::new(hidden),
            ledger: None,
            hosts: BTreeMap::new(),
            measured: BTreeSet::new(),
            displaced_since: None,
            running: JoinSet::new(),
            claims: JoinSet::new(),
            settling: JoinSet::new(),
            transfers,
            moving: JoinSet::new(),
            reporting: JoinSet::new(),
            measures: watch::Sender::new(false),
        })
    }

    fn event(&mut self, event: ConnectionEvent, notify: &mut impl FnMut(AgentNotice)) -> Result<(), AgentError> {
        match event {
            ConnectionEvent::Connected(welcome) => self.connected(welcome, notify)?,
            ConnectionEvent::Disconnected { cause, .. } => {
                self.notify_hosts(|| SessionInput::Online(false));
                self.measures.send_replace(false);
                self.check_patience(&cause)?;
                notify(AgentNotice::Disconnected { cause: cause.to_string() });
            }
            ConnectionEvent::Failed(cause) => return Err(cause.into()),
            ConnectionEvent::Subscribed(message) => self.followed(&message.notebook),
            ConnectionEvent::Events { message, recorded } => self.updated(&message.notebook, &recorded),
            ConnectionEvent::Message(message) => self.message(message, notify),
        }
        Ok(())
    }

    /// Fails with the cause if another process has had our place for longer than `displaced_patience`.
    fn check_patience(&mut self, cause: &ConnectError) -> Result<(), AgentError> {
        if !matches!(cause, ConnectError::AgentConnected(_)) {
            self.displaced_since = None;
            return Ok(());
        }
        let since = *self.displaced_since.get_or_insert_with(Instant::now);
        if since.elapsed() < self.options.displaced_patience { Ok(()) } else { Err(cause.clone().into()) }
    }

    fn connected(&mut self, welcome: WelcomeMessage, notify: &mut impl FnMut(AgentNotice)) -> Result<(), AgentError> {
        self.measures.send_replace(welcome.has(AGENT_MACHINES));
        self.options.limits.reports_environment = welcome.has(notarium_wire::KERNEL_ENVIRONMENTS);
        let Actor::Agent { id } = welcome.actor else { return Err(AgentError::NotAnAgent) };
        self.displaced_since = None;
        self.notify_hosts(|| SessionInput::Online(true));
        self.open_ledger(&id);
        self.roster.connected(id);
        notify(AgentNotice::Connected { server: welcome.server });
        self.settled(notify);
        Ok(())
    }

    fn settled(&self, notify: &mut impl FnMut(AgentNotice)) {
        if self.settling.is_empty() {
            notify(AgentNotice::Ready);
        }
    }

    fn open_ledger(&mut self, agent: &AgentId) {
        let Some(folder) = self.options.state_dir.as_ref().filter(|_| self.ledger.is_none()) else { return };
        let ledger = SessionFile::new(folder, agent.clone());
        for orphans in ledger.orphans() {
            self.settling.spawn(report_ends(self.sender.clone(), orphans));
        }
        self.ledger = Some(ledger);
    }

    fn followed(&mut self, notebook: &NotebookId) {
        self.measure(notebook, false);
        let Some(state) = self.connection.replica(notebook) else { return };
        let acts = self.roster.followed(state);
        self.act_all(acts);
    }

    fn updated(&mut self, notebook: &NotebookId, events: &[notarium_core::Recorded]) {
        let Some(state) = self.connection.replica(notebook) else { return };
        let acts = self.roster.updated(state, events);
        self.act_all(acts);
    }

    fn message(&mut self, message: ServerMessage, notify: &mut impl FnMut(AgentNotice)) {
        match message {
            ServerMessage::Work { notebook, kernel_session, kernelspec } if self.specs.get(&kernelspec).is_some() => {
                notify(AgentNotice::KernelWanted { notebook: notebook.clone(), kernelspec: kernelspec.clone() });
                let acts = self.roster.work(notebook, kernel_session, kernelspec, CommandSender::new_id());
                self.act_all(acts);
            }
            ServerMessage::InputValue { notebook, execution_id, value } => {
                let session = self.roster.session_of(&execution_id, self.connection.replica(&notebook));
                if let Some(session) = session {
                    self.to_host(&session, SessionInput::Answer { execution_id, value });
                }
            }
            ServerMessage::KernelQuestion(question) => self.question(question),
            ServerMessage::FileRequest { id, request, .. } => {
                self.moving.spawn(self.transfers.clone().serve(id, request, self.sender.clone()));
            }
            ServerMessage::CommsWanted { kernel_session, asker, .. } => {
                self.to_host(&kernel_session, SessionInput::CommsWanted { asker });
            }
            ServerMessage::SendComm(message) => {
                self.to_host(&message.kernel_session.clone(), SessionInput::SendComm(message));
            }
            ServerMessage::MeasureKernels { notebook, wanted } => self.measure(&notebook, wanted),
            ServerMessage::Resync { notebook, .. } => self.roster.resync(&notebook),
            ServerMessage::Access { notebook, role: None } => self.roster.lost_access(&notebook),
            ServerMessage::Error(error) => {
                let acts = self.roster.refused(&error);
                self.act_all(acts);
                tracing::warn!(code = ?error.code, message = error.message, "the server complains");
            }
            _ => {}
        }
    }

    fn to_host(&self, session: &KernelSessionId, input: SessionInput) {
        if let Some(host) = self.hosts.get(session) {
            host.send(input);
        }
    }

    fn measure(&mut self, notebook: &NotebookId, wanted: bool) {
        match wanted {
            true => _ = self.measured.insert(notebook.clone()),
            false => _ = self.measured.remove(notebook),
        }
        let of_notebook = self.hosts.iter().filter(|(id, _)| self.roster.notebook_of(id).as_ref() == Some(notebook));
        of_notebook.for_each(|(_, host)| host.measure(wanted));
    }

    fn question(&self, question: KernelQuestionMessage) {
        match self.hosts.get(&question.kernel_session) {
            Some(host) => host.ask(question),
            None => {
                let (id, answer) = (question.id, host::no_kernel());
                self.sender.ephemeral(ClientMessage::AnswerQuestion { id, answer });
            }
        }
    }

    fn claim_answered(&mut self, ClaimAnswer { notebook, kernel_session, answer }: ClaimAnswer) {
        let acts = match answer {
            Ok(version) => self.roster.claim_acked(&kernel_session, version, self.connection.replica(&notebook)),
            Err(error) => {
                if let Some(ledger) = self.ledger.as_mut().filter(|_| error.code().is_some()) {
                    ledger.remove(&kernel_session);
                }
                self.roster.claim_refused(&kernel_session).into_iter().collect()
            }
        };
        self.act_all(acts);
    }

    fn over(&mut self, HostEnd { kernel_session: id, is_fault }: &HostEnd) {
        self.forget(id);
        let notebook = self.roster.notebook_of(id);
        if *is_fault {
            tracing::error!(kernel_session = %id, "a fault ended the host of a kernel: its runs are lost, the next one gets another kernel");
            if let Some(notebook) = notebook.clone() {
                self.settling.spawn(report_fault(self.sender.clone(), notebook, id.clone()));
            }
        }
        let acts = self.roster.over(id, notebook.and_then(|notebook| self.connection.replica(&notebook)));
        self.act_all(acts);
    }

    // --- acts ---

    fn act_all(&mut self, acts: Vec<RosterAction>) {
        for act in acts {
            self.act(act);
        }
    }

    fn act(&mut self, act: RosterAction) {
        match act {
            RosterAction::Subscribe(notebook) => self.connection.subscribe(&notebook),
            RosterAction::Unsubscribe(notebook) => self.connection.unsubscribe(&notebook),
            RosterAction::Claim { command_id, notebook, kernel_session } => {
                self.claim(command_id, notebook, kernel_session)
            }
            RosterAction::Start { notebook, kernel_session, kernelspec } => {
                self.start(notebook, kernel_session, &kernelspec)
            }
            RosterAction::Notify { kernel_session, input } => self.to_host(&kernel_session, input),
            RosterAction::Reconcile { notebook, alive } => {
                if let Ok(message) = CommandSender::message(&notebook, &Command::ReconcileKernels { alive }) {
                    drop(self.sender.submit(message));
                }
            }
        }
    }

    fn claim(&mut self, id: notarium_core::CommandId, notebook: NotebookId, kernel_session: KernelSessionId) {
        let command = Command::ClaimKernelLaunch { kernel_session: kernel_session.clone() };
        let Ok(message) = CommandSender::message_as(id, &notebook, &command) else { return };
        // Written before the claim is sent: if this process is killed before the ack, the next one must know of the claim.
        if let Some(ledger) = &mut self.ledger {
            ledger.add(kernel_session.clone(), notebook.clone());
        }
        let answer = self.sender.submit(message);
        self.claims.spawn(async move {
            let answer = answer.await.unwrap_or(Err(ConnectError::Closed.into())).map(|ack| ack.version);
            ClaimAnswer { notebook, kernel_session, answer }
        });
    }

    fn start(&mut self, notebook: NotebookId, kernel_session: KernelSessionId, kernelspec: &str) {
        if let Some(ledger) = &mut self.ledger {
            ledger.add(kernel_session.clone(), notebook.clone());
        }
        let is_measured = self.measured.contains(&notebook);
        let host = host::start(self.host_options(notebook, kernel_session.clone(), kernelspec), &mut self.running);
        host.measure(is_measured);
        self.hosts.insert(kernel_session, host);
    }

    fn host_options(&self, notebook: NotebookId, kernel_session: KernelSessionId, kernelspec: &str) -> HostOptions {
        HostOptions {
            kernel_session,
            kernelspec: self.specs.get(kernelspec).cloned(),
            launch: self.options.launch.clone(),
            limits: self.options.limits,
            reporter: Reporter { notebook, sender: self.sender.clone(), uploader: self.uploader.clone() },
            relay: self.relay.clone(),
        }
    }

    fn forget(&mut self, id: &KernelSessionId) {
        self.hosts.remove(id);
        if let Some(ledger) = &mut self.ledger {
            ledger.remove(id);
        }
    }

    fn notify_hosts(&self, input: impl Fn() -> SessionInput) {
        for host in self.hosts.values() {
            host.send(input());
        }
    }

    /// Shuts the kernels down and waits until their ends are reported.
    async fn stop(mut self) {
        let timeout = self.options.stop_timeout;
        self.notify_hosts(|| SessionInput::Stop(KernelCause::AgentStopped.into()));
        let all_over = async {
            while !self.hosts.is_empty() {
                tokio::select! {
                    Some(Ok(end)) = self.running.join_next() => self.forget(&end.kernel_session),
                    event = self.connection.next() => if let ConnectionEvent::Failed(_) = event { return },
                }
            }
        };
        if tokio::time::timeout(timeout, all_over).await.is_err() {
            tracing::warn!(
                kernels = self.hosts.len(),
                "not all was reported in time: the next process of this agent, or else the server, marks the runs as lost"
            );
        }
    }
}

/// Reports as lost the kernels of a killed process: they ended with it, and unreported output of their runs is lost.
async fn report_ends(sender: CommandSender, orphans: OrphanedSessions) {
    let (cause, detail) = (KernelCause::AgentLost, Some(ORPHANED.to_owned()));
    for (kernel_session, notebook) in &orphans.sessions {
        let ended =
            Command::ReportKernelEnded { kernel_session: kernel_session.clone(), cause, detail: detail.clone() };
        if let Err(CommandError::Connection(error)) = sender.command(notebook, &ended).await {
            tracing::debug!(%error, "the end of a kernel is reported by the next process");
            return;
        }
    }
    orphans.forget();
}

/// Reports as died the kernel of a host that panicked.
async fn report_fault(sender: CommandSender, notebook: NotebookId, kernel_session: KernelSessionId) {
    let detail = Some("a fault of its runtime agent ended it".to_owned());
    let ended = Command::ReportKernelEnded { kernel_session, cause: KernelCause::Died, detail };
    if let Err(error) = sender.command(&notebook, &ended).await {
        tracing::warn!(%error, "the end of a kernel could not be reported: it is told with the next connection");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_fault_in_the_host_of_a_kernel_ends_that_alone_and_is_reported() {
        let folder = tempfile::tempdir().unwrap();
        let spec = folder.path().join("share/jupyter/kernels/fake");
        std::fs::create_dir_all(&spec).unwrap();
        let text = r#"{"argv": ["true"], "display_name": "Fake", "language": "none"}"#;
        std::fs::write(spec.join("kernel.json"), text).unwrap();
        let options = AgentOptions {
            labels: Default::default(),
            connect: ConnectOptions::new("http://127.0.0.1:1", "token", "test"),
            kernel_paths: vec![folder.path().to_owned()],
            launch: LaunchOptions { runtime_dir: folder.path().to_owned(), ..LaunchOptions::default() },
            limits: KernelSessionLimits::default(),
            state_dir: None,
            displaced_patience: DISPLACED_PATIENCE,
            stop_timeout: STOP_TIMEOUT,
        };
        let mut agent = AgentLoop::new(options, OfferedMachine::default()).unwrap();
        let (notebook, faulty): (NotebookId, KernelSessionId) = ("n".parse().unwrap(), "faulty".parse().unwrap());
        agent.start(notebook.clone(), "other".parse().unwrap(), "fake");
        let options = agent.host_options(notebook.clone(), faulty.clone(), "fake");
        let host = host::start_as(options, &mut agent.running, async |_| panic!("a planted fault"));
        agent.hosts.insert(faulty.clone(), host);
        for session in ["other", "faulty"] {
            agent.roster.hold(session.parse().unwrap(), notebook.clone());
        }
        let end = agent.running.join_next().await.unwrap().unwrap();
        assert_eq!(end, HostEnd { kernel_session: faulty.clone(), is_fault: true });
        agent.over(&end);
        assert_eq!(agent.hosts.keys().map(KernelSessionId::as_str).collect::<Vec<_>>(), ["other"]);
        assert_eq!((agent.settling.len(), agent.running.len()), (1, 1), "its end is being reported, the other goes on");
        assert!(agent.roster.notebook_of(&faulty).is_none());
    }
}
