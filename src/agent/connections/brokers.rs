//! Brokers: for each connection that a kernel opens, a process outside its sandbox has the URL and talks to the database.
//! It ends when the kernel closes the socket, or ends.

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

use super::{Connection, Connections, DatabaseAddress, MAX_NAME_CHARACTERS};

/// Most brokers of one kernel: its code can request any number.
const MAX_BROKERS: usize = 16;

/// Sent by a kernel in place of a connection's name: the kernel answers questions over this socket. See `launcher.py`.
const TAKES_QUESTIONS: &str = "?";

/// Most question sockets in the queue.
const MAX_COMING: usize = 4;

/// Longest socket address used; the shortest limit of all systems is 103.
const MAX_ADDRESS_BYTES: usize = 100;

/// The code of a broker, passed over its standard input: none of it is read from a folder that kernels can write.
const CODE: [(&str, &str); 4] = [
    ("wire.py", include_str!("../../../clients/python/notarium_kernel/sql/wire.py")),
    ("rows.py", include_str!("../../../clients/python/notarium_kernel/sql/rows.py")),
    ("catalog.py", include_str!("../../../clients/python/notarium_kernel/sql/catalog.py")),
    ("broker.py", include_str!("../../../clients/python/notarium_kernel/sql/broker.py")),
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

/// Accepts a kernel's requests for connections, until it is dropped.
pub(crate) type Brokers = AbortOnDropHandle<()>;

/// The parts of an agent that serve one kernel's databases.
pub(crate) struct Listening {
    pub brokers: Brokers,
    /// Value for the kernel: its connections, and the address of the socket.
    pub told: String,
    /// Python of the brokers.
    pub python: PathBuf,
    /// Sockets over which the kernel takes questions; the newest replaces the others.
    pub coming: mpsc::Receiver<UnixStream>,
}

/// Listens at `socket`, in the kernel's own folder. `python`: the default Python of brokers.
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

/// Makes a path absolute, because brokers start in another folder. A bare name is left for the search in `PATH`.
fn located(python: PathBuf) -> PathBuf {
    match python.components().nth(1) {
        Some(_) => std::path::absolute(&python).unwrap_or(python),
        None => python,
    }
}

/// Binds the socket. On Linux a path that is too long for a socket address is shortened through `/proc/self/fd`.
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
        // If the queue is full, the socket is closed and the kernel connects again.
        let _ = for_questions.try_send(stream);
        return;
    }
    let Some(connection) = connections.list.iter().find(|connection| connection.name == name) else { return };
    if let Err(error) = run(stream, connection, python).await {
        tracing::error!(connection = name, %error, "the broker of a connection cannot be run");
    }
}

/// Reads one line, byte by byte: all later bytes are for the broker.
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

/// Runs a broker until the other end of `stream` is closed, or the future is dropped.
pub(super) async fn run(stream: UnixStream, connection: &Connection, python: PathBuf) -> std::io::Result<()> {
    let DatabaseAddress::Url(url) = &connection.place else { return Ok(()) };
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
    // `command` holds a copy of the broker's socket, which would stay open.
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
