//! Test fixtures: processes of the built binary, and a person who connects over the socket.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command as ProcessCommand, ExitStatus, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use notarium_agent::agent::{AgentError, AgentOptions, STOP_TIMEOUT};
use notarium_agent::kernel::LaunchOptions;
use notarium_agent::session::KernelSessionLimits;
use notarium_client::{CommandSender, ConnectOptions, Connection, ConnectionEvent};
use notarium_core::{
    Command, Document, Execution, ExecutionId, ExecutionStatus, ExecutionTarget, NotebookId, Outcome, RawObject,
    Recorded, RejectionCode, RequestExecution,
};
use notarium_wire::{KernelUsage, ServerMessage};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, waitid};
use serde_json::{Value, json};

pub use crate::support::PATIENCE;

/// Returns the virtual environment with ipykernel.
pub fn environment() -> PathBuf {
    let default = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/test-venv/bin/python");
    let python = std::env::var_os("NOTARIUM_TEST_PYTHON").map_or(default, PathBuf::from);
    assert!(python.exists(), "{} is missing: `make test` makes it, or set NOTARIUM_TEST_PYTHON", python.display());
    python.parent().unwrap().parent().unwrap().to_owned()
}

/// File in which a fixture collects the standard error of its processes.
const NOTES: &str = "notes.txt";

/// Returns the notes of this folder if there are any, else the test's own standard error.
fn standard_error(folder: &Path) -> Stdio {
    let notes = std::fs::OpenOptions::new().append(true).open(folder.join(NOTES));
    notes.map_or_else(|_| Stdio::inherit(), Stdio::from)
}

/// Code that prints the kernel's process: inside a sandbox its pid differs.
pub const WHO: &str = "print(open('/proc/self/stat').read())";

/// Returns the pid outside of the sandbox, from the output of [`WHO`].
pub fn number_of(said: &str) -> u32 {
    let started = |stat: &str| Some(stat.rsplit_once(')')?.1.split_whitespace().nth(19)?.to_owned());
    let inside = said.split_whitespace().next().unwrap();
    let is_it = |id: &u32| {
        let read = |name: &str| std::fs::read_to_string(format!("/proc/{id}/{name}")).unwrap_or_default();
        let numbers = read("status").lines().find_map(|line| line.strip_prefix("NSpid:").map(str::to_owned));
        numbers.is_some_and(|numbers| numbers.split_whitespace().last() == Some(inside))
            && started(&read("stat")) == started(said)
    };
    let mut ids =
        std::fs::read_dir("/proc").unwrap().filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    ids.find(is_it).unwrap_or_else(|| panic!("no process outside is {said:?}"))
}

/// Returns a command for the binary without the configuration of the test's user. `NOTARIUM_BINARY` selects another binary to measure.
pub fn notarium(home: &Path) -> ProcessCommand {
    let binary = std::env::var_os("NOTARIUM_BINARY").unwrap_or_else(|| env!("CARGO_BIN_EXE_notarium").into());
    let mut command = ProcessCommand::new(binary);
    for variable in ["NOTARIUM_SERVER", "NOTARIUM_TOKEN", "NOTARIUM_DATA", "NOTARIUM_CONFIG", "XDG_CONFIG_HOME"] {
        command.env_remove(variable);
    }
    command.env("HOME", home).current_dir(home);
    command
}

/// Creates a notebook file with code cells; one of them may be tagged `parameters`.
pub fn fixture_notebook(folder: &Path, sources: &[&str], parameters: Option<usize>) -> PathBuf {
    let cell = |(index, source): (usize, &&str)| {
        let metadata = if parameters == Some(index) { json!({"tags": ["parameters"]}) } else { json!({}) };
        json!({"cell_type": "code", "id": format!("c{index}"), "metadata": metadata, "source": source,
               "outputs": [], "execution_count": null})
    };
    let cells: Vec<Value> = sources.iter().enumerate().map(cell).collect();
    let notebook = json!({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": cells});
    let path = folder.join("fixture.ipynb");
    std::fs::write(&path, notebook.to_string()).unwrap();
    path
}

/// A running process; killed when dropped.
pub struct Process {
    child: Child,
    lines: mpsc::Receiver<String>,
}

impl Process {
    pub fn start(mut command: ProcessCommand) -> Self {
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
        let (sender, lines) = mpsc::channel();
        let output = BufReader::new(child.stdout.take().unwrap());
        std::thread::spawn(move || {
            for line in output.lines().map_while(Result::ok) {
                let _ = sender.send(line);
            }
        });
        Self { child, lines }
    }

    /// Returns the text after `beginning` on the next line that contains it.
    pub async fn line_with(&mut self, beginning: &str) -> String {
        self.line_within(beginning, PATIENCE).await
    }

    pub async fn line_within(&mut self, beginning: &str, patience: Duration) -> String {
        loop {
            let line = tokio::task::block_in_place(|| self.lines.recv_timeout(patience));
            let line = line.unwrap_or_else(|_| panic!("no line '{beginning}…' came"));
            if let Some((_, rest)) = line.split_once(beginning) {
                return rest.to_owned();
            }
        }
    }

    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Waits for the end of the process.
    pub async fn ended(&mut self) -> ExitStatus {
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status;
            }
            // The standard library has no event for the end of a child.
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// Sends SIGKILL.
    pub fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// Sends SIGKILL; the zombie stays until this is dropped.
    pub fn kill_unawaited(&mut self) {
        let _ = self.child.kill();
        let id = Pid::from_raw(i32::try_from(self.child.id()).unwrap()).unwrap();
        waitid(WaitId::Pid(id), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT).unwrap();
    }

    /// Sends SIGTERM; returns the exit code.
    pub fn stop(&mut self) -> Option<i32> {
        self.end(Signal::TERM)
    }

    /// Sends SIGINT as Ctrl-C does; returns the exit code.
    pub fn interrupt(&mut self) -> Option<i32> {
        self.end(Signal::INT)
    }

    fn end(&mut self, signal: Signal) -> Option<i32> {
        self.signal(signal);
        self.child.wait().unwrap().code()
    }

    /// Sends a signal to this process only.
    pub fn signal(&self, signal: Signal) {
        let id = Pid::from_raw(i32::try_from(self.child.id()).unwrap()).unwrap();
        kill_process(id, signal).unwrap();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}

/// A server on a folder, its owner, and tokens for client and agent.
pub struct Fixture {
    folder: tempfile::TempDir,
    server: Process,
    url: String,
    session: String,
    agent_token: String,
    /// Arguments of the server, for a restart.
    arguments: Vec<String>,
}

impl Fixture {
    pub async fn start() -> Self {
        Self::start_with(&[]).await
    }

    /// Starts with more arguments for the server.
    pub async fn start_with(arguments: &[&str]) -> Self {
        Self::start_in(tempfile::tempdir_in("/tmp").unwrap(), arguments).await
    }

    /// Starts with notes of standard error from server and agents.
    pub async fn start_noted(arguments: &[&str]) -> Self {
        let folder = tempfile::tempdir_in("/tmp").unwrap();
        std::fs::write(folder.path().join(NOTES), "").unwrap();
        Self::start_in(folder, arguments).await
    }

    async fn start_in(folder: tempfile::TempDir, arguments: &[&str]) -> Self {
        notarium_client::install_tls_provider();
        let mut server = serve(folder.path(), "127.0.0.1:0", arguments);
        let url = server.line_with(" on ").await;
        server.line_with("Nobody has signed in").await;
        let owner = server.line_with("").await;
        let http = crate::support::client();
        let session = post(
            &http,
            &format!("{url}/api/session"),
            "",
            json!({"token": owner, "name": "Ann", "login": "ann", "password": "correct horse", "label": "test"}),
        )
        .await;
        let agent_token = post(&http, &format!("{url}/api/agents"), &session, json!({"name": "test"})).await;
        let arguments = arguments.iter().map(|argument| (*argument).to_owned()).collect();
        Self { folder, server, url, session, agent_token, arguments }
    }

    pub fn server_id(&self) -> u32 {
        self.server.id()
    }

    pub fn kill_server(&mut self) {
        self.server.kill();
    }

    /// Restarts the server on the same folder and port.
    pub async fn restart_server(&mut self) {
        let arguments: Vec<&str> = self.arguments.iter().map(String::as_str).collect();
        self.server = serve(self.folder.path(), self.url.strip_prefix("http://").unwrap(), &arguments);
        self.server.line_with(" on ").await;
    }

    pub async fn agent(&self) -> Process {
        Process::start(self.agent_of(&self.url))
    }

    /// Returns an agent that reaches the server under another address.
    pub fn agent_of(&self, address: &str) -> ProcessCommand {
        let mut command = notarium(self.folder.path());
        command.args(["agent", "--server", address, "--kernel-path"]).arg(environment());
        command.env("NOTARIUM_TOKEN", &self.agent_token).stderr(standard_error(self.folder.path()));
        // The agent uses the server's log filter.
        let log = self.arguments.iter().skip_while(|argument| *argument != "--log").nth(1);
        command.envs(log.map(|filter| ("NOTARIUM_LOG", filter)));
        command
    }

    /// Returns the program as the owner, under another address of the server.
    pub fn owner_of(&self, address: &str) -> ProcessCommand {
        let mut command = notarium(self.folder.path());
        command.env("NOTARIUM_SERVER", address).env("NOTARIUM_TOKEN", &self.session);
        command
    }

    /// Returns the standard error of server and agents.
    pub fn notes(&self) -> String {
        std::fs::read_to_string(self.folder.path().join(NOTES)).expect("the fixture was started with notes")
    }

    /// Returns the working folder of the processes, which also has their data.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Returns the agents' token.
    pub fn agent_token(&self) -> &str {
        &self.agent_token
    }

    /// Returns the owner's token.
    pub fn session(&self) -> &str {
        &self.session
    }

    /// Returns the server's address.
    pub fn address(&self) -> &str {
        self.url.strip_prefix("http://").unwrap()
    }

    /// Runs an agent with the same token in this process, until it gives up.
    pub async fn agent_here(&self, displaced_patience: Duration) -> Result<(), AgentError> {
        let options = AgentOptions {
            labels: Default::default(),
            connect: ConnectOptions::new(&self.url, &self.agent_token, "test"),
            kernel_paths: vec![environment()],
            launch: LaunchOptions::default(),
            limits: KernelSessionLimits::default(),
            state_dir: None,
            displaced_patience,
            stop_timeout: STOP_TIMEOUT,
        };
        notarium_agent::agent::run(options, std::future::pending(), |_| ()).await
    }

    pub async fn person(&self) -> Visitor {
        Visitor::enter(&self.url, &self.session).await
    }
}

fn serve(folder: &Path, listen: &str, arguments: &[&str]) -> Process {
    let mut command = notarium(folder);
    command.args(["serve", "--listen", listen, "--data"]).arg(folder.join("data")).args(arguments);
    command.stderr(standard_error(folder));
    Process::start(command)
}

async fn post(http: &reqwest::Client, address: &str, token: &str, body: Value) -> String {
    let answer = http.post(address).bearer_auth(token).json(&body).send().await.unwrap();
    let answer: Value = answer.json().await.unwrap();
    answer["token"].as_str().unwrap_or_else(|| panic!("{address}: {answer}")).to_owned()
}

/// Result of a run, from its events.
pub struct Told {
    pub status: ExecutionStatus,
    pub text: String,
    pub notice: Option<String>,
}

/// A person in a notebook.
pub struct Visitor {
    connection: Connection,
    sender: CommandSender,
    notebook: NotebookId,
    events: Vec<Recorded>,
    unreachable: bool,
    usage: Option<KernelUsage>,
    connections: usize,
    url: String,
    token: String,
}

impl Visitor {
    pub async fn enter(url: &str, token: &str) -> Self {
        notarium_client::install_tls_provider();
        let options = ConnectOptions::new(url, token, "test");
        let (mut connection, _) = Connection::open(options).await.unwrap();
        let (sender, notebook): (_, NotebookId) = (connection.sender(), ulid::Ulid::generate().into());
        let create = Command::CreateNotebook { title: "N".into(), metadata: RawObject::default(), forked_from: None };
        sender.command(&notebook, &create).await.unwrap();
        connection.subscribe(&notebook);
        let (url, token) = (url.to_owned(), token.to_owned());
        let (events, unreachable, usage, connections) = (Vec::new(), false, None, 1);
        let mut visitor = Self { connection, sender, notebook, events, unreachable, usage, connections, url, token };
        visitor.until("the notebook", |state| state.version > 0).await;
        visitor
    }

    pub async fn command(&self, command: Command) -> Outcome {
        self.sender.command(&self.notebook, &command).await.unwrap().outcome
    }

    /// Returns the code with which a command is refused.
    pub async fn refused(&self, command: Command) -> RejectionCode {
        let refused = self.sender.command(&self.notebook, &command).await.expect_err("it is refused");
        refused.code().unwrap_or_else(|| panic!("{refused}"))
    }

    pub async fn run(&mut self, source: &str) -> ExecutionId {
        let target = ExecutionTarget::Scratch { source: source.into(), purpose: "test".into() };
        let request = Command::RequestExecution(RequestExecution::new(target));
        let id = self.command(request).await.executions[0].clone();
        self.until("the request", |state| state.executions.contains_key(&id)).await;
        id
    }

    pub fn notebook(&self) -> &NotebookId {
        &self.notebook
    }

    /// Returns the events that this person has received.
    pub fn events(&self) -> &[Recorded] {
        &self.events
    }

    pub fn state(&self) -> &Document {
        self.connection.replica(&self.notebook).expect("subscribed")
    }

    /// Waits until the state fulfils the condition.
    pub async fn until(&mut self, what: &str, is_so: impl Fn(&Document) -> bool) {
        let waiting = async {
            while !self.connection.replica(&self.notebook).is_some_and(&is_so) {
                self.step().await;
            }
        };
        if tokio::time::timeout(PATIENCE, waiting).await.is_err() {
            let state = self.connection.replica(&self.notebook);
            panic!("{what} did not come; executions: {:#?}", state.map(|state| &state.executions));
        }
    }

    /// Returns true if no run waits or goes on.
    pub fn has_no_run(&self) -> bool {
        self.state().executions.values().all(|run| run.status.is_finished())
    }

    /// Shuts all kernels of the notebook down, and waits for their end.
    pub async fn end_kernels(&mut self) {
        let sessions: Vec<_> = self.state().kernels.keys().cloned().collect();
        for kernel_session in sessions {
            self.command(Command::ShutDownKernel { kernel_session }).await;
        }
        let are_over = |state: &Document| {
            state.kernels.is_empty() && state.executions.values().all(|run| run.status.is_finished())
        };
        self.until("the end of the kernels", are_over).await;
    }

    pub async fn until_connected(&mut self) {
        let before = self.connections;
        while self.connections == before {
            tokio::time::timeout(PATIENCE, self.step()).await.expect("no reconnect came");
        }
    }

    pub async fn until_unreachable(&mut self) {
        while !self.unreachable {
            tokio::time::timeout(PATIENCE, self.step()).await.expect("the kernel stayed reachable");
        }
    }

    /// Waits until the kernels are reachable again.
    pub async fn until_reachable(&mut self) {
        while self.unreachable {
            tokio::time::timeout(PATIENCE, self.step()).await.expect("the kernel stayed unreachable");
        }
    }

    /// Waits for a measurement of the notebook's only kernel.
    pub async fn until_usage(&mut self, is_so: impl Fn(&KernelUsage) -> bool) {
        let measured = async {
            while !self.usage.as_ref().is_some_and(&is_so) {
                self.step().await;
            }
        };
        tokio::time::timeout(PATIENCE, measured).await.expect("no such measurement came");
    }

    async fn step(&mut self) {
        match self.connection.next().await {
            ConnectionEvent::Failed(cause) => panic!("{cause}"),
            ConnectionEvent::Connected(_) => self.connections += 1,
            ConnectionEvent::Events { recorded, .. } => self.events.extend(recorded),
            ConnectionEvent::Message(ServerMessage::Kernels { kernels, .. }) => {
                self.unreachable = kernels.iter().any(|kernel| !kernel.reachable);
                self.usage = kernels.first().and_then(|kernel| kernel.usage);
            }
            _ => {}
        }
    }

    /// Waits for the end of the run; returns its result from the server's record.
    pub async fn until_over(&mut self, id: &ExecutionId) -> Told {
        self.until("the end of the run", |state| !state.executions.contains_key(id)).await;
        let run = self.record(id).await;
        let text = run.outputs.iter().map(text_of).collect();
        Told { status: run.status, text, notice: run.end_sentence() }
    }

    /// Returns the size of a run's outputs, in the log and in blobs, and the bytes of those beyond the log's limit.
    pub async fn output_bytes(&self, id: &ExecutionId) -> (u64, Vec<u8>) {
        let outputs = self.record(id).await.outputs;
        let inline: usize = outputs.iter().map(|output| text_of(output).len()).sum();
        let parts: Vec<_> = outputs.iter().flat_map(|output| &output.blobs).collect();
        let overflow = parts.iter().find(|part| part.pointer.ends_with("/overflow")).expect("an overflow is kept");
        let address = format!("{}/api/notebooks/{}/blobs/{}", self.url, self.notebook, overflow.sha256);
        let answer = crate::support::client().get(address).bearer_auth(&self.token).send().await.unwrap();
        let kept = answer.error_for_status().unwrap().bytes().await.unwrap();
        assert_eq!(kept.len() as u64, overflow.size_bytes);
        (inline as u64 + parts.iter().map(|part| part.size_bytes).sum::<u64>(), kept.into())
    }

    /// Returns the execution from the record. Versions must be gapless, as `Execution::replay` gets them from the log.
    pub async fn record(&self, id: &ExecutionId) -> Execution {
        let address = format!("{}/api/notebooks/{}/events", self.url, self.notebook);
        let request = crate::support::client().get(address).bearer_auth(&self.token);
        let lines = request.header("accept", "application/x-ndjson").send().await.unwrap().text().await.unwrap();
        let stored: Vec<notarium_core::Stored> =
            lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        notarium_core::verify_chain(notarium_core::Head::START, &stored).unwrap();
        let recorded: Vec<Recorded> = stored.iter().map(|stored| stored.typed().unwrap()).collect();
        Execution::replay(recorded.iter().filter(|recorded| recorded.event.execution_id() == Some(id))).unwrap()
    }
}

fn text_of(output: &notarium_core::Output) -> String {
    let content: Value = serde_json::from_str(output.content.get()).unwrap();
    content["text"].as_str().unwrap_or_default().to_owned()
}
