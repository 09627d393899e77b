//! The agent against the core behind a fake server, with real kernels.

mod faults;
mod questions;
mod support;
mod tools;

use std::path::{Path, PathBuf};
use std::time::Instant;

use notarium_agent::agent::{AgentError, AgentOptions};
use notarium_agent::kernel::LaunchOptions;
use notarium_agent::session::KernelSessionLimits;
use notarium_client::{CommandSender, ConnectOptions, Connection, ConnectionEvent};
use notarium_core::{
    Command, Document, Event, ExecutionId, ExecutionStatus, ExecutionTarget, KernelCause, KernelSessionId,
    LaunchKernel, NotebookId, RawObject, RequestExecution, RestartKernel,
};
use support::{FakeServer, PATIENCE, is, streamed};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

/// The environment with ipykernel; without it these tests fail with a message.
fn environment() -> PathBuf {
    let python = std::env::var_os("NOTARIUM_TEST_PYTHON")
        .map(PathBuf::from)
        .unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/test-venv/bin/python"));
    assert!(python.exists(), "{} is missing: set NOTARIUM_TEST_PYTHON to a Python with ipykernel", python.display());
    python.parent().unwrap().parent().unwrap().to_owned()
}

struct RunningAgent {
    stop: oneshot::Sender<()>,
    task: JoinHandle<Result<(), AgentError>>,
    folder: tempfile::TempDir,
}

fn start_agent(server: &FakeServer, token: &str, kernel_path: PathBuf, limits: KernelSessionLimits) -> RunningAgent {
    start_agent_with(server, token, kernel_path, limits, |_| ())
}

fn start_agent_with(
    server: &FakeServer,
    token: &str,
    kernel_path: PathBuf,
    limits: KernelSessionLimits,
    change: impl FnOnce(&mut AgentOptions),
) -> RunningAgent {
    let folder = tempfile::tempdir_in("/tmp").unwrap();
    let mut options = AgentOptions {
        labels: Default::default(),
        connect: ConnectOptions::new(&server.address, token, "test"),
        kernel_paths: vec![kernel_path],
        launch: LaunchOptions {
            runtime_dir: folder.path().to_owned(),
            working_dir: folder.path().to_owned(),
            ..LaunchOptions::default()
        },
        limits,
        state_dir: None,
        displaced_patience: notarium_agent::agent::DISPLACED_PATIENCE,
        stop_timeout: notarium_agent::agent::STOP_TIMEOUT,
    };
    change(&mut options);
    let (stop, stopped) = oneshot::channel::<()>();
    let stopped = async move {
        let _ = stopped.await;
    };
    let task = tokio::spawn(notarium_agent::agent::run(options, stopped, |_| ()));
    RunningAgent { stop, task, folder }
}

impl RunningAgent {
    async fn stop(self) {
        self.stop.send(()).unwrap();
        tokio::time::timeout(PATIENCE, self.task).await.unwrap().unwrap().unwrap();
    }
}

/// A person in one notebook.
struct Person {
    connection: Connection,
    sender: CommandSender,
    notebook: NotebookId,
}

impl Person {
    async fn enter(server: &FakeServer) -> Self {
        let options = ConnectOptions::new(&server.address, "ada", "test");
        let (mut connection, _) = Connection::open(options).await.unwrap();
        let (sender, notebook): (_, NotebookId) = (connection.sender(), "n".parse().unwrap());
        let create = Command::CreateNotebook { title: "N".into(), metadata: RawObject::default(), forked_from: None };
        sender.command(&notebook, &create).await.unwrap();
        connection.subscribe(&notebook);
        Self { connection, sender, notebook }
    }

    async fn command(&self, command: Command) -> notarium_core::Outcome {
        self.sender.command(&self.notebook, &command).await.unwrap().outcome
    }

    async fn run(&mut self, source: &str) -> ExecutionId {
        self.run_with(source, None).await
    }

    async fn run_with(&mut self, source: &str, timeout_ms: Option<u64>) -> ExecutionId {
        let target = ExecutionTarget::Scratch { source: source.into(), purpose: "test".into() };
        let request = Command::RequestExecution(RequestExecution { timeout_ms, ..RequestExecution::new(target) });
        let id = self.command(request).await.executions[0].clone();
        self.until("the request", |state| state.executions.contains_key(&id)).await;
        id
    }

    /// Waits until the state satisfies `is_so`.
    async fn until(&mut self, what: &str, is_so: impl Fn(&Document) -> bool) {
        let waiting = async {
            while !self.connection.replica(&self.notebook).is_some_and(&is_so) {
                if let ConnectionEvent::Failed(cause) = self.connection.next().await {
                    panic!("{cause}");
                }
            }
        };
        if tokio::time::timeout(PATIENCE, waiting).await.is_err() {
            panic!("{what} did not come; the state is {:#?}", self.connection.replica(&self.notebook));
        }
    }

    async fn until_over(&mut self, server: &FakeServer, id: &ExecutionId) -> (ExecutionStatus, String, Option<String>) {
        self.until("the end of the run", |state| !state.executions.contains_key(id)).await;
        let events = server.events(&self.notebook);
        let about: Vec<_> = events.into_iter().filter(|recorded| recorded.event.execution_id() == Some(id)).collect();
        let end = notarium_core::Execution::replay(&about).unwrap();
        (end.status, streamed(&about), end.notice)
    }

    fn session(&self) -> KernelSessionId {
        self.connection.replica(&self.notebook).unwrap().kernels.keys().next().unwrap().clone()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_is_launched_executed_and_reported_and_the_agent_leaves_cleanly() {
    let server = FakeServer::start().await;
    let agent = start_agent(&server, "agent-a", environment(), KernelSessionLimits::default());
    let mut ada = Person::enter(&server).await;
    let id = ada.run("import os; print(os.getpid())").await;
    let (status, pid, _) = ada.until_over(&server, &id).await;
    assert_eq!(status, ExecutionStatus::Ok);
    let id = ada.run("1/0").await;
    assert_eq!(ada.until_over(&server, &id).await.0, ExecutionStatus::Error);
    agent.stop().await;
    assert!(!Path::new(&format!("/proc/{}", pid.trim())).exists(), "the kernel outlived its agent");
    let last = server.events(&ada.notebook).pop().unwrap();
    assert!(matches!(last.event, Event::KernelSessionEnded(event) if event.cause == KernelCause::AgentStopped));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_network_cut_loses_nothing_and_the_kernel_keeps_its_variables() {
    let server = FakeServer::start().await;
    let _agent = start_agent(&server, "agent-a", environment(), KernelSessionLimits::default());
    let mut ada = Person::enter(&server).await;
    let id = ada.run("x = 42").await;
    ada.until_over(&server, &id).await;
    let id = ada.run("import time\nfor i in range(30):\n    print(i, flush=True)\n    time.sleep(0.05)").await;
    ada.until("the start", |state| state.executions.get(&id).is_some_and(|run| !run.outputs.is_empty())).await;
    server.cut();
    // Length of the network cut. Output accumulates meanwhile, and no event shows when.
    tokio::time::sleep(std::time::Duration::from_millis(700)).await;
    server.mend();
    let (status, text, _) = ada.until_over(&server, &id).await;
    assert_eq!(status, ExecutionStatus::Ok);
    let expected: String = (0..30).map(|i| format!("{i}\n")).collect();
    assert_eq!(text, expected);
    let id = ada.run("print(x)").await;
    assert_eq!(ada.until_over(&server, &id).await.1, "42\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn of_two_agents_even_with_one_identity_one_launches() {
    let server = FakeServer::start().await;
    let folder = tempfile::tempdir().unwrap();
    let counting = counting_kernelspec(folder.path());
    let _first = start_agent(&server, "agent-a", counting.clone(), KernelSessionLimits::default());
    let _second = start_agent(&server, "agent-a", counting.clone(), KernelSessionLimits::default());
    let _third = start_agent(&server, "agent-b", counting, KernelSessionLimits::default());
    let mut ada = Person::enter(&server).await;
    ada.until("nothing", |state| state.version > 0).await;
    ada.command(Command::LaunchKernel(LaunchKernel::of(Some("counting".into())))).await;
    ada.until("the kernel's failure", |state| state.kernel_notice.is_some()).await;
    let events = server.events(&ada.notebook);
    assert_eq!(events.iter().filter(|recorded| is(recorded, "KernelLaunchClaimed")).count(), 1);
    let launched = std::fs::read_to_string(folder.path().join("launched")).unwrap();
    assert_eq!(launched.lines().count(), 1, "{launched}");
    let notice = ada.connection.replica(&ada.notebook).unwrap().kernel_notice.clone().unwrap();
    assert!(
        notice.sentence().contains("exited with code 3") && notice.sentence().contains("no such device"),
        "{notice:?}"
    );
}

/// A kernel that writes a line into a file and fails.
fn counting_kernelspec(folder: &Path) -> PathBuf {
    let resources = folder.join("share/jupyter/kernels/counting");
    std::fs::create_dir_all(&resources).unwrap();
    let script = format!("echo launched >> {}/launched; echo no such device >&2; exit 3", folder.display());
    let spec = serde_json::json!({
        "argv": ["/bin/sh", "-c", script, "{connection_file}"], "display_name": "Counting", "language": "none",
    });
    std::fs::write(resources.join("kernel.json"), spec.to_string()).unwrap();
    folder.to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_that_ended_while_the_agent_was_away_is_killed_and_writes_nothing() {
    let server = FakeServer::start().await;
    let _agent = start_agent(&server, "agent-a", environment(), KernelSessionLimits::default());
    let mut ada = Person::enter(&server).await;
    let id = ada.run("import os; print(os.getpid())").await;
    let (_, pid, _) = ada.until_over(&server, &id).await;
    let running = ada.run("import time\nwhile True:\n    print('.', flush=True)\n    time.sleep(0.02)").await;
    ada.until("the start", |state| state.executions.get(&running).is_some_and(|run| !run.outputs.is_empty())).await;
    let session = ada.session();
    server.cut();
    server.as_system(
        &ada.notebook,
        Command::ReportKernelEnded { kernel_session: session, cause: KernelCause::AgentLost, detail: None },
    );
    let version = server.state(&ada.notebook).version;
    server.mend();
    let proc = PathBuf::from(format!("/proc/{}", pid.trim()));
    let deadline = Instant::now() + PATIENCE;
    while proc.exists() && Instant::now() < deadline {
        // No event reports the exit of a process that is not our child.
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    assert!(!proc.exists(), "the kernel of a stale session lives");
    let written = server.events(&ada.notebook).split_off(usize::try_from(version).unwrap());
    assert!(written.iter().all(|recorded| is(recorded, "ExecutionOutputRecovered")), "{written:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_kernel_is_interrupted_during_a_flood_restarted_killed_and_asked() {
    let server = FakeServer::start().await;
    let _agent = start_agent(&server, "agent-a", environment(), KernelSessionLimits::default());
    let mut ada = Person::enter(&server).await;

    let flood = ada.run("i = 0\nwhile True:\n    print('line', i)\n    i += 1").await;
    ada.until("the flood", |state| state.executions.get(&flood).is_some_and(|run| run.outputs.len() > 5)).await;
    let asked = Instant::now();
    ada.command(Command::CancelExecution { execution_id: flood.clone() }).await;
    let (status, ..) = ada.until_over(&server, &flood).await;
    assert_eq!(status, ExecutionStatus::Cancelled);
    println!("interrupt to end of run: {:?}", asked.elapsed());

    let slow = ada.run_with("import time; time.sleep(60)", Some(300)).await;
    let (status, _, notice) = ada.until_over(&server, &slow).await;
    assert_eq!(status, ExecutionStatus::Error);
    assert_eq!(notice.as_deref(), Some("interrupted after 300 ms, as its request said"));

    let old = ada.session();
    let next =
        ada.command(Command::RestartKernel(RestartKernel::on_its_agent(old.clone()))).await.kernel_session.unwrap();
    ada.until("the restart", |state| {
        !state.kernels.contains_key(&old) && state.kernels.get(&next).is_some_and(|kernel| kernel.fence.is_some())
    })
    .await;
    let id = ada.run("print('i' in globals())").await;
    assert_eq!(ada.until_over(&server, &id).await.1, "False\n");

    let id = ada.run("name = input('who? '); print('hello', name)").await;
    ada.until("the question", |state| state.executions.get(&id).is_some_and(|run| run.pending_input.is_some())).await;
    server.input_value(&ada.notebook, &id, "bob");
    ada.command(Command::AnswerInput { execution_id: id.clone(), value: "bob".into() }).await;
    assert_eq!(ada.until_over(&server, &id).await.1, "hello bob\n");

    // The kernel pauses before it is killed: output that its threads have not sent by then is lost.
    let dying =
        "import os, signal, time; print('bye', flush=True); time.sleep(1.5); os.kill(os.getpid(), signal.SIGKILL)";
    let id = ada.run(dying).await;
    let (status, text, notice) = ada.until_over(&server, &id).await;
    assert_eq!((status, text.as_str()), (ExecutionStatus::Lost, "bye\n"));
    assert!(notice.unwrap().contains("SIGKILL"));
}

#[tokio::test(flavor = "multi_thread")]
async fn large_parts_and_the_overflow_are_blobs() {
    let server = FakeServer::start().await;
    let mut limits = KernelSessionLimits::default();
    limits.outputs.max_log_lines = 1000;
    let _agent = start_agent(&server, "agent-a", environment(), limits);
    let mut ada = Person::enter(&server).await;
    let id = ada.run("'x' * 20_000").await;
    ada.until_over(&server, &id).await;
    let id2 = ada.run("for i in range(20_000): print(i)").await;
    ada.until_over(&server, &id2).await;
    let events = server.events(&ada.notebook);
    let of = |id: &ExecutionId| {
        let about = events.iter().filter(|recorded| recorded.event.execution_id() == Some(id)).cloned();
        let outputs = about.filter_map(|recorded| match recorded.event {
            Event::ExecutionOutputAppended(event) => Some(event.outputs),
            _ => None,
        });
        outputs.flatten().collect::<Vec<_>>()
    };
    let large = &of(&id)[0].blobs[0];
    assert_eq!((large.pointer.as_str(), large.size_bytes), ("/data/text~1plain", 20_002));
    assert_eq!(server.blob(&large.sha256).unwrap().len(), 20_002);
    let overflow = of(&id2).pop().unwrap();
    assert_eq!(overflow.blobs[0].pointer, "/metadata/notarium/overflow");
    let kept = String::from_utf8(server.blob(&overflow.blobs[0].sha256).unwrap()).unwrap();
    assert!(kept.starts_with("1000\n1001\n") && kept.ends_with("19999\n"));
}
