//! Endurance test: CodeMirror editors, two watchers and a runtime agent, each in a process, share one notebook while the server is killed
//! with SIGKILL five times. All converge; no acked edit is lost or duplicated; versions are gapless. The record verifies and replays to the
//! same state, and the kernel still has its variables.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, mpsc};

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::support::{Http, PATIENCE};

const KILLS: usize = 5;
const EDITORS: usize = 10;

/// A process that is killed when the test ends, with its printed lines.
struct Process {
    child: Child,
    lines: mpsc::Receiver<String>,
    seen: Arc<Mutex<Vec<String>>>,
}

impl Process {
    fn start(command: &mut Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).stdin(Stdio::null()).spawn().expect("the program starts");
        let output = child.stdout.take().expect("its output is piped");
        let (sender, lines) = mpsc::channel();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let kept = seen.clone();
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                kept.lock().expect("no reader panics").push(line.clone());
                let _ = sender.send(line);
            }
        });
        Self { child, lines, seen }
    }

    /// Waits for a line for which `found` returns a value, and returns that.
    fn until<T>(&self, what: &str, found: impl Fn(&str) -> Option<T>) -> T {
        loop {
            let line = self.lines.recv_timeout(PATIENCE).unwrap_or_else(|_| panic!("waiting for {what}"));
            if let Some(found) = found(&line) {
                return found;
            }
        }
    }

    fn kill(&mut self) {
        // SIGKILL on Unix.
        self.child.kill().expect("the process can be killed");
        self.child.wait().expect("the process ends");
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Folder and port of the test.
struct World {
    folder: tempfile::TempDir,
    port: u16,
}

impl World {
    fn new() -> Self {
        let port =
            TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr()).expect("a free port").port();
        Self { folder: tempfile::tempdir().expect("a folder"), port }
    }

    fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    fn notarium(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_notarium"));
        command.env("HOME", self.folder.path()).env("XDG_CONFIG_HOME", self.folder.path().join("config"));
        command
    }

    fn serve(&self) -> Process {
        let mut command = self.notarium();
        command.arg("serve").arg("--data").arg(self.folder.path().join("data"));
        Process::start(command.args(["--listen", &format!("127.0.0.1:{}", self.port)]))
    }

    fn as_person(&self, token: &str, arguments: &[&str]) -> Command {
        let mut command = self.notarium();
        command.args(arguments).args(["--server", &self.url(), "--token", token]);
        command
    }

    /// Runs a command to its end, and returns its output.
    fn run(&self, token: &str, arguments: &[&str]) -> String {
        let output = self.as_person(token, arguments).output().expect("the command runs");
        let (printed, said) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success(), "{arguments:?}: {printed}{said}");
        printed.into_owned()
    }
}

fn python() -> PathBuf {
    let default = || Path::new(env!("CARGO_MANIFEST_DIR")).join("target/test-venv/bin/python");
    let python = std::env::var_os("NOTARIUM_TEST_PYTHON").map_or_else(default, PathBuf::from);
    assert!(python.exists(), "{} is missing: `make test` makes it, or set NOTARIUM_TEST_PYTHON", python.display());
    python
}

fn editors(world: &World, token: &str, notebook: &str, cell: &str) -> Process {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/interop/collab");
    assert!(folder.join("node_modules").is_dir(), "run `make deps` first: the editors need their packages");
    let url = format!("ws://127.0.0.1:{}/api/socket", world.port);
    let options = json!({
        "url": url, "token": token, "notebook": notebook, "cell": cell,
        "editors": EDITORS, "edits": 60, "cuts": 2, "pause_ms": 100,
    });
    Process::start(Command::new("node").current_dir(folder).arg("editors.mjs").arg(options.to_string()))
}

/// Returns the lines that a watcher has printed, by version.
fn watched(watcher: &Process) -> BTreeMap<u64, String> {
    let seen = watcher.seen.lock().expect("no writer panics");
    let events = seen.iter().filter_map(|line| {
        let event: Value = serde_json::from_str(line).ok()?;
        Some((event.get("version")?.as_u64()?, line.clone()))
    });
    events.collect()
}

async fn record(http: &Http, notebook: &str) -> Vec<Value> {
    let request = http.request(reqwest::Method::GET, &format!("/api/notebooks/{notebook}/events"));
    let answer = http.send(request.header("accept", "application/x-ndjson")).await;
    assert!(answer.status.is_success(), "{}", answer.text);
    answer.text.lines().map(|line| serde_json::from_str(line).expect("a line is an event")).collect()
}

struct Session {
    token: String,
    agent: String,
    notebook: String,
    text: String,
    code: String,
    check: String,
}

async fn prepare(world: &World, owner_token: &str) -> Session {
    let anybody = Http::new(world.url(), None);
    let signed_in = anybody
        .post("/api/session", json!({"token": owner_token, "name": "Ada", "login": "ada", "password": "correct horse"}))
        .await
        .ok();
    let token = signed_in["token"].as_str().expect("a token").to_owned();
    let http = Http::new(world.url(), Some(token.clone()));
    let agent = http.post("/api/agents", json!({"name": "gpu"})).await.ok();
    let (notebook, code) = http.notebook("x = 41").await;
    let path = format!("/api/notebooks/{notebook}/cells");
    let cell = |answer: Value| answer["outcome"]["cells"][0].as_str().expect("a cell").to_owned();
    let text = cell(http.post(&path, json!({"cell_type": "markdown"})).await.ok());
    let check = cell(http.post(&path, json!({"cell_type": "code", "source": "print(x + 1)"})).await.ok());
    let agent = agent["token"].as_str().expect("an agent's token").to_owned();
    Session { token, agent, notebook, text, code, check }
}

/// Kills the server after some more events, and restarts it on the same data, several times.
fn kill_and_restart(world: &World, mut server: Process, watcher: &Process) -> Process {
    for round in 0..KILLS {
        for _ in 0..20 + 7 * round {
            watcher.until("events while the editors type", |line| line.contains("CellSourceEdited").then_some(()));
        }
        server.kill();
        server = world.serve();
        server.until("the server to come back", |line| line.contains("http://").then_some(()));
    }
    server
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_lost_when_the_server_is_killed_five_times() {
    notarium_client::install_tls_provider();
    let world = World::new();
    let server = world.serve();
    let owner_token = server.until("the owner token", |line| {
        line.split_whitespace().find(|word| word.starts_with("nt_owner_")).map(str::to_owned)
    });
    let session = prepare(&world, &owner_token).await;
    let prefix = python().parent().and_then(Path::parent).expect("python is in a prefix").to_owned();
    let mut agent = world.as_person(&session.agent, &["agent"]);
    let _agent = Process::start(agent.arg("--kernel-path").arg(prefix));
    world.run(&session.token, &["exec", &session.notebook, &session.code]);

    let watch = || Process::start(&mut world.as_person(&session.token, &["watch", &session.notebook, "--json"]));
    let watchers = [watch(), watch()];
    let editors = editors(&world, &session.token, &session.notebook, &session.text);
    let _server = kill_and_restart(&world, server, &watchers[0]);

    let result: Value = editors.until("the editors' result", |line| serde_json::from_str(line).ok());
    assert_eq!(result["converged"], true, "{result}");

    let printed = world.run(&session.token, &["exec", &session.notebook, &session.check]);
    assert!(printed.contains("42"), "the kernel has lost its variables: {printed}");

    check_record(&world, &session, &result, &watchers).await;
    world.run(&session.token, &["verify", &session.notebook]);
    world.run(&session.token, &["replay", &session.notebook]);
}

async fn check_record(world: &World, session: &Session, result: &Value, watchers: &[Process]) {
    let http = Http::new(world.url(), Some(session.token.clone()));
    let events = record(&http, &session.notebook).await;
    let versions: Vec<u64> = events.iter().filter_map(|event| event["version"].as_u64()).collect();
    let gapless: Vec<u64> = (1..=events.len() as u64).collect();
    assert_eq!(versions, gapless);

    let mut recorded: BTreeMap<&str, usize> = BTreeMap::new();
    for event in events.iter().filter(|event| event["type"] == "CellSourceEdited") {
        *recorded.entry(event["command_id"].as_str().expect("an id")).or_default() += 1;
    }
    for acked in result["acked"].as_array().expect("the editors list their acks") {
        assert_eq!(recorded.get(acked.as_str().expect("an id")), Some(&1), "{acked} was acked");
    }

    let state = http.get(&format!("/api/notebooks/{}", session.notebook)).await.ok();
    let source = find_source(&state, &session.text).expect("the cell is there");
    assert_eq!(hex::encode(Sha256::digest(source)), result["sha256"], "the server's text is the editors' text");

    let last = *versions.last().expect("there are events");
    for watcher in watchers {
        if !watched(watcher).contains_key(&last) {
            watcher.until("the watchers to see the end", |line| {
                line.contains(&format!("\"version\":{last},")).then_some(())
            });
        }
    }
    let (one, other) = (watched(&watchers[0]), watched(&watchers[1]));
    for seen in [&one, &other] {
        let start = *seen.keys().next().expect("a first event");
        assert_eq!(seen.len() as u64, last - start + 1, "a watcher missed or doubled events");
    }
    for (version, line) in &one {
        assert!(other.get(version).is_none_or(|same| same == line), "two watchers saw different events at {version}");
    }
}

/// Finds the source of a cell anywhere in the answer.
fn find_source<'a>(value: &'a Value, cell: &str) -> Option<&'a str> {
    match value {
        Value::Object(object) => object
            .get(cell)
            .and_then(|cell| cell.get("source")?.as_str())
            .or_else(|| object.values().find_map(|value| find_source(value, cell))),
        Value::Array(values) => values.iter().find_map(|value| find_source(value, cell)),
        _ => None,
    }
}
