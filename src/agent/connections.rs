//! Connections to databases that the operator names. A URL with its credentials stays here and in brokers, which run outside
//! the sandbox of kernels. A kernel knows only names, and uses brokers over a socket in its own folder.
//!
//! For each connection that a kernel opens, a broker has the URL and talks to the database. It ends when the kernel closes the
//! socket, or ends.

pub(crate) mod schemas;
pub(crate) mod server_requests;

use std::fmt;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use notarium_wire::OfferedConnection;
use serde_json::json;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{UnixListener, UnixStream};
use tokio::process::Command;
use tokio::sync::{Semaphore, mpsc};
use tokio::task::JoinSet;
use tokio_util::task::AbortOnDropHandle;

use server_requests::{ServerRequest, TO_SERVER};

/// Environment variable that lists a kernel's connections: names, kinds, and the socket of the brokers.
pub const TOLD_TO_KERNELS: &str = "NOTARIUM_CONNECTIONS";
/// The connection that every kernel has: DuckDB in its memory.
const IN_MEMORY: &str = "duckdb";
const MAX_NAME_CHARACTERS: usize = 40;

/// Location of a database.
#[derive(Clone, PartialEq, Eq)]
enum DatabaseAddress {
    /// A server, reached through a broker.
    Url(String),
    /// A file. The kernel opens it, if its sandbox permits.
    File(PathBuf),
}

/// One connection.
#[derive(Clone, PartialEq, Eq)]
pub struct DatabaseConnection {
    pub name: String,
    /// Name of the database's kind, as kernels and people see it.
    kind: &'static str,
    place: DatabaseAddress,
    /// True if a cell that declares it may write.
    pub writes: bool,
}

/// Omits the URL or path.
impl fmt::Debug for DatabaseConnection {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} ({}, writes: {})", self.name, self.kind, self.writes)
    }
}

impl DatabaseConnection {
    /// The error names the fault, never the URL.
    pub fn new(name: &str, url: &str, writes: bool) -> Result<Self, String> {
        check_name(name)?;
        let (kind, place) = place_of(url).ok_or_else(|| {
            format!(
                "the connection {name} leads to no database that Notarium knows: write postgresql://…, sqlite:/path/to/file or \
                 duckdb:/path/to/file"
            )
        })?;
        Ok(Self { name: name.to_owned(), kind, place, writes })
    }

    /// True if the connection may have a credential, and so needs a broker.
    pub fn is_brokered(&self) -> bool {
        matches!(self.place, DatabaseAddress::Url(_))
    }

    pub fn offered(&self) -> OfferedConnection {
        OfferedConnection { name: self.name.clone(), kind: self.kind.to_owned(), writes: self.writes }
    }
}

/// Accepts small letters, digits and `_`, because names appear in a cell's first line and in variable names.
pub fn check_name(name: &str) -> Result<(), String> {
    let is_plain = |found: char| found.is_ascii_lowercase() || found.is_ascii_digit() || found == '_';
    let fits = name.starts_with(|first: char| first.is_ascii_lowercase())
        && name.len() <= MAX_NAME_CHARACTERS
        && name.chars().all(is_plain);
    match (fits, name) {
        (true, IN_MEMORY) => {
            Err(format!("{IN_MEMORY} is the database in each kernel's memory: give the connection another name"))
        }
        (true, _) => Ok(()),
        (false, _) => Err(format!(
            "'{name}' is no name of a connection: use small letters, digits and _, a letter first, at most {MAX_NAME_CHARACTERS}"
        )),
    }
}

fn place_of(url: &str) -> Option<(&'static str, DatabaseAddress)> {
    let (scheme, rest) = url.split_once(':')?;
    let file = || DatabaseAddress::File(PathBuf::from(rest.strip_prefix("//").unwrap_or(rest)));
    match scheme {
        "postgresql" | "postgres" if rest.starts_with("//") => {
            Some(("postgresql", DatabaseAddress::Url(url.to_owned())))
        }
        "sqlite" if !rest.is_empty() => Some(("sqlite", file())),
        "duckdb" if !rest.is_empty() => Some(("duckdb", file())),
        _ => None,
    }
}

/// True if a URL contains a password: other users can read a command line.
pub fn has_password(url: &str) -> bool {
    let after = url.split_once("://").map_or("", |(_, after)| after);
    let (authority, query) =
        (after.split(['/', '?']).next().unwrap_or_default(), after.split_once('?').map_or("", |(_, query)| query));
    let in_authority = authority.rsplit_once('@').is_some_and(|(user, _)| user.contains(':'));
    in_authority || query.contains("password=")
}

/// All connections of an agent.
#[derive(Debug, Clone, Default)]
pub struct Connections {
    pub list: Vec<DatabaseConnection>,
    /// Python of the brokers; absent: the Python of the kernel.
    pub python: Option<PathBuf>,
}

impl Connections {
    pub fn are_brokered(&self) -> bool {
        self.list.iter().any(DatabaseConnection::is_brokered)
    }

    /// The value of [`TOLD_TO_KERNELS`]. `socket`: the address of the brokers.
    fn told(&self, socket: &Path) -> String {
        let told = |connection: &DatabaseConnection| {
            let DatabaseConnection { name, kind, writes, .. } = connection;
            let mut told = json!({"name": name, "kind": kind, "writes": writes});
            if let DatabaseAddress::File(path) = &connection.place {
                told["path"] = json!(std::path::absolute(path).unwrap_or_else(|_| path.clone()));
            }
            told
        };
        let connections: Vec<_> = self.list.iter().map(told).collect();
        json!({"socket": socket, "connections": connections}).to_string()
    }
}

/// Most brokers of one kernel: its code can request any number.
const MAX_BROKERS: usize = 16;

/// Sent by a kernel in place of a connection's name: the kernel answers questions over this socket. See `launcher.py`.
const TAKES_QUESTIONS: &str = "?";

/// Most question sockets in the queue.
const MAX_COMING: usize = 4;

/// Longest socket address used; the shortest limit of all systems is 103.
const MAX_ADDRESS_BYTES: usize = 100;

/// The code of a broker, passed over its standard input: none of it is read from a folder that kernels can write.
const CODE: [(&str, &str); 5] = [
    ("wire.py", include_str!("../../clients/python/notarium_kernel/sql/wire.py")),
    ("loading.py", include_str!("../../clients/python/notarium_kernel/sql/loading.py")),
    ("catalog.py", include_str!("../../clients/python/notarium_kernel/sql/catalog.py")),
    ("reading.py", include_str!("../../clients/python/notarium_kernel/sql/reading.py")),
    ("broker.py", include_str!("../../clients/python/notarium_kernel/sql/broker.py")),
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

/// Line on a broker's standard error that asks for the right to write. See `broker.py`.
const MAY_WRITE: &str = "\0may write";

/// Right of the run that has the kernel to write to databases. Brokers ask for it, and code in the kernel cannot set it.
///
/// The number of changes: odd if the right is given. So a broker sees that a statement came in another run.
#[derive(Debug, Clone, Default)]
pub(crate) struct WriteRight(Arc<AtomicU64>);

impl WriteRight {
    pub fn set(&self, is_given: bool) {
        // The error means that nothing changes.
        let _ = self.0.fetch_update(Ordering::AcqRel, Ordering::Acquire, |changes| {
            (changes % 2 != u64::from(is_given)).then_some(changes + 1)
        });
    }

    /// The line for a broker that asks.
    fn answer(&self) -> String {
        format!("{}\n", self.0.load(Ordering::Acquire))
    }
}

/// Accepts a kernel's requests for connections, until it is dropped.
pub(crate) type Brokers = AbortOnDropHandle<()>;

/// The parts of an agent that serve one kernel's databases.
pub(crate) struct BrokerListener {
    pub brokers: Brokers,
    /// Value for the kernel: its connections, and the address of the socket.
    pub told: String,
    /// Python of the brokers.
    pub python: PathBuf,
    /// Not given until the driver sets it for a run.
    pub right: WriteRight,
    /// Sockets over which the kernel takes questions; the newest replaces the others.
    pub coming: mpsc::Receiver<UnixStream>,
    /// Requests of the kernel's code to the server.
    pub requests: mpsc::Receiver<ServerRequest>,
}

/// Listens at `socket`, in the kernel's own folder. `python`: the default Python of brokers.
pub(crate) fn listen(
    connections: Arc<Connections>,
    socket: PathBuf,
    python: PathBuf,
) -> std::io::Result<BrokerListener> {
    let told = connections.told(&socket);
    let listener = bind(&socket)?;
    let python = located(connections.python.clone().unwrap_or(python));
    let (for_questions, coming) = mpsc::channel(MAX_COMING);
    let (to_server, requests) = mpsc::channel(server_requests::MAX_WAITING);
    let of_brokers = python.clone();
    let right = WriteRight::default();
    let given = right.clone();
    let task = tokio::spawn(async move {
        let places = Arc::new(Semaphore::new(MAX_BROKERS));
        let mut serving = JoinSet::new();
        while let Ok((stream, _)) = listener.accept().await {
            while serving.try_join_next().is_some() {}
            let Ok(place) = places.clone().try_acquire_owned() else { continue };
            let (connections, python) = (connections.clone(), of_brokers.clone());
            let ends = KernelEnds { for_questions: for_questions.clone(), to_server: to_server.clone() };
            let right = given.clone();
            serving.spawn(async move {
                let _place = place;
                serve(stream, &connections, python, ends, right).await;
            });
        }
    });
    Ok(BrokerListener { brokers: AbortOnDropHandle::new(task), told, python, right, coming, requests })
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

/// Receivers of a kernel's connections that name no database.
struct KernelEnds {
    for_questions: mpsc::Sender<UnixStream>,
    to_server: mpsc::Sender<ServerRequest>,
}

async fn serve(
    mut stream: UnixStream,
    connections: &Connections,
    python: PathBuf,
    ends: KernelEnds,
    right: WriteRight,
) {
    let Some(name) = read_name(&mut stream).await else { return };
    match name.as_str() {
        TAKES_QUESTIONS => {
            // If the queue is full, the socket is closed and the kernel connects again.
            let _ = ends.for_questions.try_send(stream);
            return;
        }
        TO_SERVER => return server_requests::serve(stream, ends.to_server).await,
        _ => {}
    }
    let Some(connection) = connections.list.iter().find(|connection| connection.name == name) else { return };
    if let Err(error) = run_broker(stream, connection, python, right).await {
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
pub(super) async fn run_broker(
    stream: UnixStream,
    connection: &DatabaseConnection,
    python: PathBuf,
    right: WriteRight,
) -> std::io::Result<()> {
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
        match &mut input {
            Some(input) if line == MAY_WRITE => input.write_all(right.answer().as_bytes()).await?,
            _ => tracing::warn!(connection = connection.name, "{line}"),
        }
    }
    broker.wait().await.map(drop)
}

fn environment() -> impl Iterator<Item = (std::ffi::OsString, std::ffi::OsString)> {
    let is_passed = |name: &str| {
        PASSED_ENVIRONMENT.contains(&name) || PASSED_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
    };
    std::env::vars_os().filter(move |(name, _)| name.to_str().is_some_and(is_passed))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_never_shows() {
        let url = "postgresql://ann:s3cret@db.example/x";
        let connections =
            Connections { list: vec![DatabaseConnection::new("warehouse", url, true).unwrap()], python: None };
        let shown =
            format!("{connections:?} {:?} {}", connections.list[0].offered(), connections.told(Path::new("/s")));
        assert!(!shown.contains("s3cret") && !shown.contains("ann") && !shown.contains("example"), "{shown}");
        for wrong in ["mysql://ann:s3cret@h/x", "s3cret", "postgresql:s3cret", "sqlite:"] {
            let refused = DatabaseConnection::new("warehouse", wrong, false).unwrap_err();
            assert!(refused.contains("postgresql://") && !refused.contains("s3cret"), "{refused}");
        }
    }

    #[test]
    fn a_right_that_was_given_twice_differs_from_one_that_stayed() {
        let right = WriteRight::default();
        let mut answers = vec![right.answer()];
        for is_given in [false, true, true, false, true] {
            right.set(is_given);
            answers.push(right.answer());
        }
        assert_eq!(answers, ["0\n", "0\n", "1\n", "1\n", "2\n", "3\n"]);
    }

    #[test]
    fn a_name_can_stand_in_a_cell_and_in_a_variable() {
        for name in ["warehouse", "w2", "a_b"] {
            assert_eq!(check_name(name), Ok(()));
        }
        for name in ["", "Warehouse", "2w", "a-b", "a b", "é", "duckdb", &"a".repeat(41)] {
            assert!(check_name(name).is_err(), "{name}");
        }
    }

    #[test]
    fn passwords_are_seen_in_a_url() {
        for url in [
            "postgresql://ann:x@h/d",
            "postgres://ann:x@h",
            "postgresql://h/d?password=x",
            "postgresql://ann@h?sslpassword=x",
        ] {
            assert!(has_password(url), "{url}");
        }
        for url in ["postgresql://ann@h:5432/d", "postgresql:///d?host=/run/x", "sqlite:/a:b@c", "duckdb:x.db"] {
            assert!(!has_password(url), "{url}");
        }
    }

    #[test]
    fn files_are_told_with_their_path_and_servers_without() {
        let list = vec![
            DatabaseConnection::new("shop", "sqlite:///data/shop.db", false).unwrap(),
            DatabaseConnection::new("lake", "duckdb:/data/lake.duckdb", true).unwrap(),
        ];
        let told = Connections { list, python: None }.told(Path::new("/run/s"));
        let expected = json!({"socket": "/run/s", "connections": [
            {"name": "shop", "kind": "sqlite", "writes": false, "path": "/data/shop.db"},
            {"name": "lake", "kind": "duckdb", "writes": true, "path": "/data/lake.duckdb"},
        ]});
        assert_eq!(serde_json::from_str::<serde_json::Value>(&told).unwrap(), expected);
    }
}
