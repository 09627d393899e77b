//! Panics planted in the assistants' host: one task ends, and the work continues.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use notarium_assistant::assistants::{Assistants, AssistantsConfig, ModelProviders};
use notarium_assistant::host::{ChangeNotice, CommittedEvents, ListedNotebook, NotebookHost};
use notarium_core::*;
use notarium_wire::{AckMessage, ConnectionSchema, OfferedConnection, TurnActivity};
use serde_json::json;
use tokio::sync::{Mutex, mpsc};

const PATIENCE: Duration = Duration::from_secs(60);

/// One notebook with a started call, and a panic each time the notebooks are listed.
struct FaultyHost {
    instance: InstanceId,
    document: Arc<Document>,
    notices: Mutex<mpsc::UnboundedReceiver<ChangeNotice>>,
    /// Counts of reads, and of waits for a notice, that panic before one succeeds.
    failing_reads: AtomicU32,
    failing_notices: AtomicU32,
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

    async fn read(&self, _: &NotebookId) -> Result<Arc<Document>, Rejection> {
        let before = self.failing_reads.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1));
        assert!(before.is_err(), "a planted fault");
        Ok(self.document.clone())
    }

    async fn read_as(&self, _: &Actor, notebook: &NotebookId) -> Result<Arc<Document>, Rejection> {
        self.read(notebook).await
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

#[tokio::test]
async fn a_fault_in_the_listening_a_worker_or_a_tool_ends_that_alone() {
    let (notify, notices) = mpsc::unbounded_channel();
    let (commands, mut sent) = mpsc::unbounded_channel();
    let host = FaultyHost {
        instance: "this-life".parse().unwrap(),
        document: Arc::new(with_started_call()),
        notices: Mutex::new(notices),
        failing_reads: AtomicU32::new(2),
        failing_notices: AtomicU32::new(2),
        commands,
    };
    let assistants = Assistants::start(Arc::new(host), AssistantsConfig::new(ModelProviders::default()));
    notify.send(ChangeNotice { notebook: "nb".parse().unwrap(), version: 2 }).unwrap();
    // Two workers fail, the third resumes the call; the tool fails, and its end is recorded.
    let command = tokio::time::timeout(PATIENCE, sent.recv()).await.expect("the work goes on").unwrap();
    let Command::ReportToolCall { call_id, end, result } = command else { panic!("{command:?}") };
    assert_eq!((call_id.as_str(), end), ("call", ToolCallEnd::OutcomeUnknown));
    assert!(result.contains("a fault in the server"));
    assistants.stop().await;
}
