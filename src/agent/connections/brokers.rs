//! Brokers: for each connection that a kernel opens, a process outside its sandbox that has the URL and speaks with the database.
//! It ends with the kernel's end of the socket, or with the kernel.

use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;

use serde_json::json;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{UnixListener, UnixStream};
use tokio::process::Command;
use tokio::sync::{Semaphore, mpsc};
use tokio::task::JoinSet;
use tokio_util::task::AbortOnDropHandle;

use super::{Connection, Connections, MAX_NAME_CHARACTERS, Place};

/// Brokers of one kernel at a time: code in a kernel can ask for as many as it likes.
const MAX_BROKERS: usize = 16;

/// What a kernel says instead of a connection's name: over this socket it answers questions. See `launcher.py`.
const TAKES_QUESTIONS: &str = "?";

/// Sockets for questions that nobody has looked at yet.
const MAX_COMING: usize = 4;

/// The shortest limit of all systems is 103.
const MAX_ADDRESS_BYTES: usize = 100;

/// The code of a broker, given to it over its standard input: none of it is read from a place that kernels write.
const CODE: [(&str, &str); 4] = [
    ("wire.py", include_str!("../../../clients/python/notarium/sql/wire.py")),
    ("rows.py", include_str!("../../../clients/python/notarium/sql/rows.py")),
    ("catalog.py", include_str!("../../../clients/python/notarium/sql/catalog.py")),
    ("broker.py", include_str!("../../../clients/python/notarium/sql/broker.py")),
];
const BOOT: &str = r#"
import json, sys
given = json.loads(sys.stdin.buffer.readline())
space = {"__name__": "notarium_broker"}
for name, code in given["code"]:
    exec(compile(code, name, "exec"), space)
space["main"](given)
"#;

/// Variables that a database's driver may need: certificates, `~/.pgpass`, its own settings.
const PASSED_ENVIRONMENT: &[&str] =
    &["PATH", "HOME", "USER", "LANG", "LC_ALL", "TZ", "SSL_CERT_FILE", "SSL_CERT_DIR", "LD_LIBRARY_PATH"];
const PASSED_PREFIXES: &[&str] = &["PG", "KRB5"];

/// Takes a kernel's wishes for connections, until it is dropped.
pub(crate) type Brokers = AbortOnDropHandle<()>;

/// What a kernel's databases need of its agent.
pub(crate) struct Listening {
    pub brokers: Brokers,
    /// For the kernel: its connections, and where it finds this.
    pub told: String,
    /// What brokers run in.
    pub python: PathBuf,
    /// Sockets over which the kernel takes questions; the last one counts.
    pub coming: mpsc::Receiver<UnixStream>,
}

/// Listens at `socket`, in the kernel's own folder. `python`: what brokers run in.
pub(crate) fn listen(connections: Arc<Connections>, socket: PathBuf, python: PathBuf) -> std::io::Result<Listening> {
    let told = connections.told(&socket);
    let listener = bind(&socket)?;
    let python = located(connections.python.clone().unwrap_or(python));
    let (for_questions, coming) = mpsc::channel(MAX_COMING);
    let of_brokers = python.clone();
    let task = tokio::spawn(async move {
        let places = Arc::new(Semaphore::new(MAX_BROKERS));
        let mut serving = JoinSet::new();
        while let Ok((stream, _)) = listener.accept().await {
            while serving.try_join_next().is_some() {}
            let Ok(place) = places.clone().try_acquire_owned() else { continue };
            let (connections, python) = (connections.clone(), of_brokers.clone());
            let for_questions = for_questions.clone();
            serving.spawn(async move {
                let _place = place;
                serve(stream, &connections, python, for_questions).await;
            });
        }
    });
    Ok(Listening { brokers: AbortOnDropHandle::new(task), told, python, coming })
}

/// Brokers begin in another folder than the agent. A name alone is looked for in `PATH`.
fn located(python: PathBuf) -> PathBuf {
    match python.components().nth(1) {
        Some(_) => std::path::absolute(&python).unwrap_or(python),
        None => python,
    }
}

/// A path may be longer than an address of a socket; by its open folder it is short, on Linux.
fn bind(socket: &Path) -> std::io::Result<UnixListener> {
    if socket.as_os_str().len() <= MAX_ADDRESS_BYTES {
        return UnixListener::bind(socket);
    }
    let (Some(folder), Some(name)) = (socket.parent(), socket.file_name()) else {
        return Err(std::io::ErrorKind::InvalidInput.into());
    };
    let folder = std::fs::File::open(folder)?;
    UnixListener::bind(Path::new("/proc/self/fd").join(folder.as_raw_fd().to_string()).join(name))
}

async fn serve(
    mut stream: UnixStream,
    connections: &Connections,
    python: PathBuf,
    for_questions: mpsc::Sender<UnixStream>,
) {
    let Some(name) = read_name(&mut stream).await else { return };
    if name == TAKES_QUESTIONS {
        // One too many is closed, and comes again.
        let _ = for_questions.try_send(stream);
        return;
    }
    let Some(connection) = connections.list.iter().find(|connection| connection.name == name) else { return };
    if let Err(error) = run(stream, connection, python).await {
        tracing::error!(connection = name, %error, "the broker of a connection cannot be run");
    }
}

/// One line. Byte by byte: what follows is the broker's.
async fn read_name(stream: &mut UnixStream) -> Option<String> {
    let mut name = Vec::new();
    loop {
        match stream.read_u8().await.ok()? {
            b'\n' => return String::from_utf8(name).ok(),
            byte if name.len() < MAX_NAME_CHARACTERS => name.push(byte),
            _ => return None,
        }
    }
}

/// Until who speaks with it over `stream` is gone, or the future is dropped.
pub(super) async fn run(stream: UnixStream, connection: &Connection, python: PathBuf) -> std::io::Result<()> {
    let Place::Url(url) = &connection.place else { return Ok(()) };
    let stream = stream.into_std()?;
    stream.set_nonblocking(false)?;
    let mut command = Command::new(python);
    // Isolated: neither the environment nor a person's own packages add code.
    command
        .args(["-I", "-c", BOOT])
        .env_clear()
        .envs(environment())
        .current_dir("/")
        .process_group(0)
        .kill_on_drop(true);
    command.stdin(Stdio::piped()).stdout(OwnedFd::from(stream)).stderr(Stdio::piped());
    let mut broker = command.spawn()?;
    // Its copy of the socket stays open as long as it lives.
    drop(command);
    let given = json!({"name": connection.name, "url": url, "writes": connection.writes, "code": CODE});
    let mut input = broker.stdin.take();
    if let Some(input) = &mut input {
        input.write_all(format!("{given}\n").as_bytes()).await?;
    }
    let mut said = broker.stderr.take().map(|stderr| BufReader::new(stderr).lines());
    while let Some(lines) = &mut said
        && let Some(line) = lines.next_line().await?
    {
        tracing::warn!(connection = connection.name, "{line}");
    }
    broker.wait().await.map(drop)
}

fn environment() -> impl Iterator<Item = (std::ffi::OsString, std::ffi::OsString)> {
    let is_passed = |name: &str| {
        PASSED_ENVIRONMENT.contains(&name) || PASSED_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
    };
    std::env::vars_os().filter(move |(name, _)| name.to_str().is_some_and(is_passed))
}
