//! Workers beside a host that panics or loses the notebook: one task ends, and the work continues, or another process does it.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use notarium_assistant::assistants::{Assistants, AssistantsConfig, ModelProviders};
use notarium_assistant::host::{ChangeNotice, CommittedEvents, DocumentInEpoch, ListedNotebook, NotebookHost};
use notarium_core::*;
use notarium_wire::{AckMessage, ConnectionSchema, OfferedConnection, TurnActivity};
use serde_json::json;
use tokio::sync::{Mutex, mpsc};

const PATIENCE: Duration = Duration::from_secs(60);

/// One notebook with a started call, and a panic each time the notebooks are listed, unless they are listed slowly.
struct FaultyHost {
    instance: InstanceId,
    document: Arc<Document>,
    notices: Mutex<mpsc::UnboundedReceiver<ChangeNotice>>,
    /// Counts of reads, and of waits for a notice, that panic before one succeeds.
    failing_reads: AtomicU32,
    failing_notices: AtomicU32,
    is_owner: AtomicBool,
    /// Epoch of the lease.
    epoch: AtomicU64,
    /// Count of lists of notebooks.
    listings: AtomicU32,
    /// The list of notebooks never comes, instead of a panic.
    lists_slowly: AtomicBool,
    /// Count of questions whether this process owns the notebook.
    questions: AtomicU32,
    commands: mpsc::UnboundedSender<Command>,
}

#[async_trait]
impl NotebookHost for FaultyHost {
    async fn execute_as(
        &self,
        id: CommandId,
        _: &Actor,
        notebook: &NotebookId,
        command: &Command,
    ) -> Result<AckMessage, Rejection> {
        self.commands.send(command.clone()).unwrap();
        let outcome = Outcome::default();
        Ok(AckMessage { id, notebook: notebook.clone(), version: self.document.version, outcome, undo: None })
    }

    async fn owns(&self, _: &NotebookId) -> Result<bool, Rejection> {
        self.questions.fetch_add(1, Ordering::SeqCst);
        Ok(self.is_owner.load(Ordering::SeqCst))
    }

    async fn execute_in_epoch(
        &self,
        epoch: Epoch,
        actor: &Actor,
        notebook: &NotebookId,
        command: &Command,
    ) -> Result<AckMessage, Rejection> {
        if epoch != self.epoch.load(Ordering::SeqCst) {
            return Err(Rejection::new(RejectionCode::Unavailable, "another epoch"));
        }
        self.execute(actor, notebook, command).await
    }

    async fn read(&self, _: &NotebookId) -> Result<DocumentInEpoch, Rejection> {
        let before = self.failing_reads.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1));
        assert!(before.is_err(), "a planted fault");
        Ok(DocumentInEpoch { document: self.document.clone(), epoch: self.epoch.load(Ordering::SeqCst) })
    }

    async fn read_as(&self, _: &Actor, _: &NotebookId) -> Result<Arc<Document>, Rejection> {
        Ok(self.document.clone())
    }

    async fn stale_cells(&self, _: &NotebookId) -> BTreeMap<CellId, String> {
        BTreeMap::new()
    }

    async fn events(&self, _: &NotebookId, _: Version, _: usize) -> Result<Vec<Stored>, Rejection> {
        Ok(Vec::new())
    }

    fn follow(&self, _: &NotebookId) -> CommittedEvents {
        CommittedEvents::new(Vec::new)
    }

    async fn events_of_subjects(&self, _: &NotebookId, _: &[String]) -> Result<Vec<Stored>, Rejection> {
        Ok(Vec::new())
    }

    async fn execution(&self, _: &NotebookId, _: &ExecutionId) -> Result<Option<Execution>, Rejection> {
        Ok(None)
    }

    async fn blob(&self, _: &NotebookId, _: &str, _: usize) -> Option<Bytes> {
        None
    }

    async fn notebooks(&self, _: &Actor, _: Option<&str>, _: usize) -> Result<Vec<ListedNotebook>, Rejection> {
        self.listings.fetch_add(1, Ordering::SeqCst);
        if self.lists_slowly.load(Ordering::SeqCst) {
            std::future::pending().await
        }
        panic!("a planted fault")
    }

    async fn connections(&self, _: &Actor, _: &NotebookId) -> Result<Vec<OfferedConnection>, Rejection> {
        Ok(Vec::new())
    }

    async fn describe(&self, _: &Actor, _: &NotebookId, _: String, _: String) -> Result<ConnectionSchema, String> {
        Err("not here".to_owned())
    }

    async fn next_notice(&self) -> Option<ChangeNotice> {
        let before = self.failing_notices.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1));
        assert!(before.is_err(), "a planted fault");
        self.notices.lock().await.recv().await
    }

    fn publish(&self, _: &NotebookId, _: TurnActivity) {}

    fn instance(&self) -> &InstanceId {
        &self.instance
    }

    fn now(&self) -> Millis {
        1_700_000_000_000
    }
}

/// A notebook in which this process has started `list_notebooks`.
fn with_started_call() -> Document {
    let requested = json!({"call_id": "call", "function": "list_notebooks", "arguments": {},
        "arguments_hash": "0".repeat(64), "risk": "read", "gate": {"kind": "passes"}});
    let started = json!({"call_id": "call", "passed_by": {"kind": "policy"}, "claimant": "this-life"});
    let mut document = Document::new("nb".parse().unwrap());
    for (version, (event_type, payload)) in (1..).zip([("ToolCallRequested", requested), ("ToolCallStarted", started)])
    {
        let envelope = Envelope {
            id: format!("event-{version}").parse().unwrap(),
            notebook_id: "nb".parse().unwrap(),
            version,
            event_type: event_type.to_owned(),
            schema: 1,
            actor: Actor::Assistant { for_user: "ann".parse().unwrap(), conversation: "talk".parse().unwrap() },
            command_id: "command".parse().unwrap(),
            correlation_id: "group".parse().unwrap(),
            causation_id: None,
            undoes: None,
            recorded_at: version,
        };
        let event = Event::decode(event_type, 1, &payload.to_string()).unwrap();
        document.apply(&Recorded { envelope, event });
    }
    document
}

/// Assistants at a host with a started call; ways to notify them, and to see their commands.
struct Scene {
    host: Arc<FaultyHost>,
    assistants: Arc<Assistants>,
    notify: mpsc::UnboundedSender<ChangeNotice>,
    sent: mpsc::UnboundedReceiver<Command>,
}

impl Scene {
    fn new(is_owner: bool, failures: u32) -> Self {
        let (notify, notices) = mpsc::unbounded_channel();
        let (commands, sent) = mpsc::unbounded_channel();
        let host = Arc::new(FaultyHost {
            instance: "this-life".parse().unwrap(),
            document: Arc::new(with_started_call()),
            notices: Mutex::new(notices),
            failing_reads: AtomicU32::new(failures),
            failing_notices: AtomicU32::new(failures),
            is_owner: AtomicBool::new(is_owner),
            epoch: AtomicU64::new(1),
            listings: AtomicU32::new(0),
            lists_slowly: AtomicBool::new(false),
            questions: AtomicU32::new(0),
            commands,
        });
        let assistants = Assistants::start(host.clone(), AssistantsConfig::new(ModelProviders::default()));
        Self { host, assistants, notify, sent }
    }

    fn notify(&self) {
        self.notify.send(ChangeNotice { notebook: "nb".parse().unwrap(), version: 2 }).unwrap();
    }

    async fn command(&mut self) -> Command {
        tokio::time::timeout(PATIENCE, self.sent.recv()).await.expect("the work goes on").unwrap()
    }

    async fn until(&self, holds: impl Fn(&Self) -> bool) {
        let waiting = async {
            while !holds(self) {
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(PATIENCE, waiting).await.unwrap();
    }

    /// Waits until the worker was asked to act, and left.
    async fn was_left(&self) {
        self.until(|scene| scene.host.questions.load(Ordering::SeqCst) > 0 && scene.assistants.workers() == 0).await;
    }
}

#[tokio::test]
async fn the_worker_of_a_process_that_does_not_own_the_notebook_does_nothing_until_it_does() {
    let mut scene = Scene::new(false, 0);
    scene.notify();
    scene.was_left().await;
    assert!(scene.sent.try_recv().is_err());
    scene.host.is_owner.store(true, Ordering::SeqCst);
    scene.notify();
    assert!(matches!(scene.command().await, Command::ReportToolCall { .. }));
    // The call is never over here: the worker stays, until the notebook goes to another process.
    scene.host.is_owner.store(false, Ordering::SeqCst);
    scene.notify();
    scene.was_left().await;
    scene.assistants.stop().await;
}

#[tokio::test]
async fn a_fault_in_the_listening_a_worker_or_a_tool_ends_that_alone() {
    let mut scene = Scene::new(true, 2);
    scene.notify();
    // Two workers fail, the third resumes the call; the tool fails, and its end is recorded.
    let command = scene.command().await;
    let Command::ReportToolCall { call_id, end, result } = command else { panic!("{command:?}") };
    assert_eq!((call_id.as_str(), end), ("call", ToolCallEnd::OutcomeUnknown));
    assert!(result.contains("a fault in the server"));
    scene.assistants.stop().await;
}

#[tokio::test]
async fn work_of_an_earlier_epoch_is_forgotten_and_taken_up_anew() {
    let scene = Scene::new(true, 0);
    scene.host.lists_slowly.store(true, Ordering::SeqCst);
    scene.notify();
    scene.until(|scene| scene.host.listings.load(Ordering::SeqCst) == 1).await;
    // Another process has had the lease: what it did with the call is in the record alone.
    scene.host.epoch.store(3, Ordering::SeqCst);
    scene.notify();
    scene.until(|scene| scene.host.listings.load(Ordering::SeqCst) == 2).await;
    scene.assistants.stop().await;
}
