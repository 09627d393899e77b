//! Test fixtures: a server in this process, the built binary as a process, and an agent that imitates a kernel.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use notarium_client::{CommandSender, ConnectOptions, Connection, ConnectionEvent};
use notarium_core::{
    Command, Event, ExecutionId, ExecutionOutcome, ExecutionReport, KernelCause, KernelEffects, NotebookId, Output,
    RawJson, RawObject, Version,
};
use notarium_server::auth::PasswordCost;
use notarium_server::{RunningServer, Server, ServerConfig};
use notarium_wire::{OfferMessage, OfferedKernelspec, ServerMessage};
use tempfile::TempDir;
use tokio::process::{Child, Command as Process};

pub use crate::support::PATIENCE;
pub use crate::support::terminal::Words;
use crate::support::terminal::at_terminal;

/// Result of the program.
#[derive(Debug)]
pub struct Ran {
    pub code: i32,
    pub out: String,
    pub err: String,
}

impl Ran {
    /// Returns standard output of a command that must succeed, without the last line break.
    #[track_caller]
    pub fn ok(self) -> String {
        assert_eq!(self.code, 0, "{self:#?}");
        self.out.trim_end().to_owned()
    }

    /// Returns standard output as one JSON value.
    #[track_caller]
    pub fn json(self) -> serde_json::Value {
        let text = self.ok();
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
    }

    /// Returns standard error of a command that must fail with this code.
    #[track_caller]
    pub fn fails(self, code: i32) -> String {
        assert_eq!(self.code, code, "{self:#?}");
        self.err
    }
}

/// A folder of the user, and optionally a server.
pub struct World {
    pub server: Option<RunningServer>,
    pub folder: TempDir,
    /// Data folder of the server, if the test names no other.
    data: TempDir,
}

impl World {
    /// Starts without a server and a configuration.
    pub fn empty() -> Self {
        let folder = || tempfile::tempdir().expect("a folder");
        Self { server: None, folder: folder(), data: folder() }
    }

    /// Starts with a server, logged in as its owner.
    pub async fn start() -> Self {
        Self::start_as(|_| {}).await
    }

    pub async fn start_with(data: &Path) -> Self {
        Self::start_as(|config| config.folder = data.to_owned()).await
    }

    /// Starts with a server that claims to have assistants: the test carries out their turns.
    pub async fn with_assistants() -> Self {
        Self::start_as(|config| config.assistants = true).await
    }

    /// Starts with a server on which stored tokens cannot confirm; Ann's password is `correct horse`.
    pub async fn asking_again() -> Self {
        let mut world = Self::empty();
        let mut config = ServerConfig::in_folder(world.data.path());
        config.auth.asks_again = true;
        let server = Server::start(config).await.expect("the server starts");
        let token = server.owner_token.clone().expect("a new server has an owner's token");
        let url = server.url();
        world.server = Some(server);
        let login = ["login", "--server", &url, "--one-time", "--login", "ann", "--name", "Ann"];
        world.run_with(&login, &format!("{token}\ncorrect horse\n")).await.ok();
        world
    }

    pub async fn start_as(change: impl FnOnce(&mut ServerConfig)) -> Self {
        let mut world = Self::empty();
        let mut config = ServerConfig::in_folder(world.data.path());
        config.auth.password_cost = PasswordCost { memory_kib: 8, passes: 1 };
        change(&mut config);
        let server = Server::start(config).await.expect("the server starts");
        let token = server.owner_token.clone().expect("a new server has an owner's token");
        let url = server.url();
        world.server = Some(server);
        let login = ["login", "--server", &url, "--token", &token, "--login", "ann", "--name", "Ann"];
        world.run_with(&login, "correct horse\n").await.ok();
        world
    }

    /// Returns the server's data folder, if the test names no other.
    pub fn data_folder(&self) -> &Path {
        self.data.path()
    }

    pub fn url(&self) -> String {
        self.server.as_ref().expect("a server").url()
    }

    pub fn config_file(&self) -> PathBuf {
        self.folder.path().join("config.json")
    }

    /// Returns the stored token.
    pub fn token(&self) -> String {
        let text = std::fs::read_to_string(self.config_file()).expect("a configuration");
        let config: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        config["token"].as_str().expect("a token").to_owned()
    }

    /// Creates a file in the user's folder.
    pub fn file(&self, name: &str, content: &str) -> PathBuf {
        let path = self.folder.path().join(name);
        std::fs::write(&path, content).expect("the file is written");
        path
    }

    fn process(&self, arguments: &[&str]) -> Process {
        let mut process = Process::new(env!("CARGO_BIN_EXE_notarium"));
        process.args(arguments);
        self.settled(process)
    }

    /// Prepares the process: this folder, and no environment of the test's user.
    fn settled(&self, mut process: Process) -> Process {
        process.env_clear().env("NOTARIUM_CONFIG", self.config_file()).env("TZ", "UTC");
        process.current_dir(self.folder.path()).kill_on_drop(true);
        process.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        process
    }

    /// Runs a command to its end.
    pub async fn run(&self, arguments: &[&str]) -> Ran {
        ended(self.process(arguments).spawn().expect("the program starts")).await
    }

    /// Runs a command with this standard input.
    pub async fn run_with(&self, arguments: &[&str], input: &str) -> Ran {
        let mut child = self.process(arguments).stdin(Stdio::piped()).spawn().expect("the program starts");
        let mut stdin = child.stdin.take().expect("its standard input");
        tokio::io::AsyncWriteExt::write_all(&mut stdin, input.as_bytes()).await.expect("it reads");
        drop(stdin);
        ended(child).await
    }

    /// Starts a command in the background.
    pub fn spawn(&self, arguments: &[&str]) -> Child {
        self.process(arguments).spawn().expect("the program starts")
    }

    /// Starts a command after a line of shell, for instance one that sets limits.
    pub fn spawn_after(&self, line: &str, arguments: &[&str]) -> Child {
        let mut process = Process::new("/bin/sh");
        let line = format!("{line}; exec \"$0\" \"$@\"");
        process.args(["-c", &line, env!("CARGO_BIN_EXE_notarium")]).args(arguments);
        self.settled(process).spawn().expect("the shell starts")
    }

    /// Starts a command at a terminal: text written to its input is typed there.
    pub fn spawn_at_terminal(&self, arguments: &[&str]) -> Child {
        let mut process = at_terminal(arguments);
        process.env("NOTARIUM_CONFIG", self.config_file()).current_dir(self.folder.path());
        process.spawn().expect("python3 makes a terminal")
    }

    /// Runs a command to its end at a terminal; `out` has everything that it shows.
    pub async fn run_at_terminal(&self, arguments: &[&str]) -> Ran {
        ended(self.spawn_at_terminal(arguments)).await
    }

    /// Creates a notebook with one cell of this source; returns both ids.
    pub async fn notebook(&self, title: &str, source: &str) -> (String, String) {
        let notebook = self.run(&["new", title]).await.ok();
        let cell = self.run(&["cell", "add", &notebook, "--source", source]).await.ok();
        (notebook, cell)
    }
}

/// Waits for the end of the process.
pub async fn ended(child: Child) -> Ran {
    let output = tokio::time::timeout(PATIENCE, child.wait_with_output()).await.expect("it ends").expect("it ran");
    Ran {
        code: output.status.code().expect("an exit code"),
        out: String::from_utf8(output.stdout).expect("UTF-8"),
        err: String::from_utf8(output.stderr).expect("UTF-8"),
    }
}

/// Sends SIGINT, as Ctrl-C does.
pub fn interrupt(child: &Child) {
    let pid = child.id().expect("it runs").to_string();
    let sent = std::process::Command::new("kill").args(["-INT", &pid]).status().expect("kill runs");
    assert!(sent.success());
}

/// Lines of a running program.
pub struct Lines<R>(tokio::io::Lines<tokio::io::BufReader<R>>);

impl<R: tokio::io::AsyncRead + Unpin> Lines<R> {
    pub fn of(reader: R) -> Self {
        Self(tokio::io::AsyncBufReadExt::lines(tokio::io::BufReader::new(reader)))
    }

    /// Reads until a line contains the text, and returns that line.
    pub async fn until(&mut self, text: &str) -> String {
        let reading = async {
            loop {
                let line =
                    self.0.next_line().await.expect("readable").unwrap_or_else(|| panic!("no line has '{text}'"));
                if line.contains(text) {
                    return line;
                }
            }
        };
        tokio::time::timeout(PATIENCE, reading).await.unwrap_or_else(|_| panic!("no line with '{text}' came"))
    }
}

/// An agent whose kernel echoes the source, fails at `boom`, asks for input at `ask`, and runs `forever` until interrupted.
pub struct EchoAgent {
    connection: Connection,
    /// Sessions that it has claimed: others are another agent's.
    claimed: Vec<notarium_core::KernelSessionId>,
    agent_of: Vec<(NotebookId, notarium_core::KernelSessionId, Version)>,
    forever: Option<(NotebookId, ExecutionId, Version)>,
}

impl EchoAgent {
    /// Connects, and works until the test ends.
    pub async fn start(server: &str, token: &str) -> tokio::task::JoinHandle<()> {
        Self::labelled(server, token, &[]).await
    }

    /// The same with labels, such as `("gpu", "a100")`.
    pub async fn labelled(server: &str, token: &str, labels: &[(&str, &str)]) -> tokio::task::JoinHandle<()> {
        let options = ConnectOptions::new(server, token, "echo agent");
        let (connection, _) = Connection::open(options).await.expect("the agent connects");
        let offer = OfferedKernelspec {
            name: "python3".into(),
            display_name: "Echo".into(),
            language: "echo".into(),
            effects: Some(KernelEffects::Held),
        };
        connection.sender().offer(OfferMessage {
            kernelspecs: vec![offer],
            labels: labels.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect(),
            ..OfferMessage::default()
        });
        let mut agent = Self { connection, claimed: Vec::new(), agent_of: Vec::new(), forever: None };
        tokio::spawn(async move { while agent.next().await {} })
    }

    async fn next(&mut self) -> bool {
        match self.connection.next().await {
            ConnectionEvent::Message(ServerMessage::Work { notebook, kernel_session, .. }) => {
                self.connection.subscribe(&notebook);
                let claim = Command::ClaimKernelLaunch { kernel_session: kernel_session.clone() };
                self.send(&notebook, claim).await;
                self.claimed.push(kernel_session.clone());
                let started = Command::ReportKernelStarted {
                    kernel_session,
                    language_info: RawObject::default(),
                    sandbox: RawObject::parse(r#"{"effects": "held"}"#).unwrap(),
                    environment: None,
                };
                self.send(&notebook, started).await;
            }
            ConnectionEvent::Message(ServerMessage::InputValue { notebook, execution_id, value }) => {
                let (_, _, fence) = self.agent_of.last().cloned().expect("a kernel");
                self.report(&notebook, &execution_id, fence, 3, stream(&value)).await;
                self.complete(&notebook, &execution_id, fence, 4, true).await;
            }
            ConnectionEvent::Events { message, recorded } => {
                for recorded in recorded {
                    self.event(&message.notebook, recorded.event).await;
                }
            }
            // Runs requested before the subscription are in the state.
            ConnectionEvent::Subscribed(message) => self.waiting(&message.notebook).await,
            ConnectionEvent::Failed(_) => return false,
            _ => {}
        }
        true
    }

    async fn waiting(&mut self, notebook: &NotebookId) {
        let state = self.connection.replica(notebook).expect("a state").clone();
        for (id, execution) in &state.executions {
            if let (false, Some(fence), 0) = (execution.status.is_finished(), execution.fence, execution.output_seq) {
                self.run(notebook, id, fence).await;
            }
        }
    }

    async fn event(&mut self, notebook: &NotebookId, event: Event) {
        match event {
            Event::ExecutionAssigned(event) if !self.claimed.contains(&event.kernel_session) => {}
            Event::KernelRestartRequested(event) if !self.claimed.contains(&event.kernel_session) => {}
            Event::ExecutionAssigned(event) => {
                self.agent_of.push((notebook.clone(), event.kernel_session, event.fence));
                self.run(notebook, &event.execution_id, event.fence).await;
            }
            Event::ExecutionCancelRequested(_) | Event::KernelInterruptRequested(_) => {
                if let Some((notebook, id, fence)) = self.forever.take() {
                    self.complete(&notebook, &id, fence, 3, false).await;
                }
            }
            Event::KernelRestartRequested(event) => {
                let (kernel_session, cause) = (event.kernel_session, KernelCause::ShutDown);
                self.send(notebook, Command::ReportKernelEnded { kernel_session, cause, detail: None }).await;
            }
            _ => {}
        }
    }

    async fn run(&mut self, notebook: &NotebookId, id: &ExecutionId, fence: Version) {
        let state = self.connection.replica(notebook).expect("a state");
        let source = state.executions[id].subject.source().to_owned();
        self.report(notebook, id, fence, 1, ExecutionReport::Started {}).await;
        match source.as_str() {
            "boom" => {
                let error = r#"{"output_type":"error","ename":"ValueError","evalue":"boom","traceback":["\u001b[31mValueError\u001b[0m: boom"]}"#;
                self.report(notebook, id, fence, 2, output(error)).await;
                self.complete(notebook, id, fence, 3, false).await;
            }
            "ask" => {
                let ask = ExecutionReport::InputRequest { prompt: "name? ".into(), password: false };
                self.report(notebook, id, fence, 2, ask).await;
            }
            "forever" => {
                self.report(notebook, id, fence, 2, stream("begun\n")).await;
                self.forever = Some((notebook.clone(), id.clone(), fence));
            }
            _ => {
                self.report(notebook, id, fence, 2, stream(&format!("{source}\n"))).await;
                self.complete(notebook, id, fence, 3, true).await;
            }
        }
    }

    async fn complete(&self, notebook: &NotebookId, id: &ExecutionId, fence: Version, seq: u64, ok: bool) {
        let outcome = if ok { ExecutionOutcome::Ok } else { ExecutionOutcome::Error };
        let completed = ExecutionReport::Completed { outcome, execution_count: Some(1), notice: None };
        self.report(notebook, id, fence, seq, completed).await;
    }

    async fn report(&self, notebook: &NotebookId, id: &ExecutionId, fence: Version, seq: u64, report: ExecutionReport) {
        self.send(notebook, Command::ReportExecution { execution_id: id.clone(), fence, seq, report }).await;
    }

    async fn send(&self, notebook: &NotebookId, command: Command) {
        let sender: CommandSender = self.connection.sender();
        sender.command(notebook, &command).await.unwrap_or_else(|error| panic!("{command:?}: {error}"));
    }
}

fn output(content: &str) -> ExecutionReport {
    let content = RawJson::parse(content).expect("JSON");
    ExecutionReport::Output { outputs: vec![Output { content, blobs: Vec::new(), display_id: None }] }
}

fn stream(text: &str) -> ExecutionReport {
    output(&serde_json::json!({ "output_type": "stream", "name": "stdout", "text": text }).to_string())
}

/// Returns a file that is checked in.
pub fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/notebooks").join(name)
}
