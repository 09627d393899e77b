//! A proxy before PostgreSQL that fails statements: with SQLSTATEs that the server really gives, or by cutting the connection.
//!
//! It reads just enough of the protocol to know where a statement begins and ends:
//! <https://www.postgresql.org/docs/current/protocol-message-formats.html>.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use parking_lot::Mutex;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{UnixListener, UnixStream};
use tokio::task::JoinHandle;

/// Fault of one statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The statement is not run, and fails with this SQLSTATE.
    Code(&'static str),
    /// The connection ends before the statement is sent.
    Cut,
    /// The statement is run, and the connection ends before its answer.
    CutAnswer,
}

/// Statement about to be run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A statement of the connection that appends.
    Append,
    Commit,
    Other,
}

/// Decides on the fault of each statement.
pub type Plan = Box<dyn FnMut(Kind) -> Option<Fault> + Send>;

/// A running proxy; it ends when it is dropped.
pub struct Proxy {
    /// URL of the database through the proxy.
    pub url: String,
    shared: Arc<Shared>,
    accepting: JoinHandle<()>,
    _folder: tempfile::TempDir,
}

struct Shared {
    server: String,
    plan: Mutex<Option<Plan>>,
    injected: AtomicU64,
}

impl Proxy {
    /// Starts a proxy before the server of a URL with `host=FOLDER`. It fails nothing until it has a plan.
    pub fn start(url: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (begin, host) = url.split_once("host=").expect("a URL of a socket");
        let listener = UnixListener::bind(folder.path().join(".s.PGSQL.5432")).unwrap();
        let shared =
            Shared { server: format!("{host}/.s.PGSQL.5432"), plan: Mutex::new(None), injected: AtomicU64::new(0) };
        let shared = Arc::new(shared);
        let accepting = tokio::spawn(accept(listener, shared.clone()));
        let url = format!("{begin}host={}", folder.path().display());
        Self { url, shared, accepting, _folder: folder }
    }

    pub fn follow(&self, plan: Plan) {
        *self.shared.plan.lock() = Some(plan);
    }

    /// Number of faults so far.
    pub fn injected(&self) -> u64 {
        self.shared.injected.load(Ordering::SeqCst)
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

/// Faults at growing distances, so that every transaction gets through at last. The connection that appends is not cut: the outcome of such
/// an append is unknown. Nor is one before its commit.
pub fn growing_distances() -> Plan {
    let (mut next, mut distance, mut count, mut faults) = (2_u64, 3_u64, 0_u64, 0_usize);
    Box::new(move |kind| {
        count += 1;
        if count < next {
            return None;
        }
        (next, distance, faults) = (count + distance, distance + 2, faults + 1);
        match faults % 3 {
            0 if kind == Kind::Other => Some(Fault::Cut),
            1 => Some(Fault::Code("40P01")),
            _ => Some(Fault::Code("40001")),
        }
    })
}

async fn accept(listener: UnixListener, shared: Arc<Shared>) {
    let mut connections = tokio::task::JoinSet::new();
    while let Ok((client, _)) = listener.accept().await {
        connections.spawn(serve(client, shared.clone()));
    }
}

/// State of a connection that both directions share.
#[derive(Default)]
struct Flow {
    /// SQLSTATE of the next error from the server.
    code: Mutex<Option<&'static str>>,
    /// True if the next answers are swallowed up to the end of the statement, and the connection then ends.
    is_swallowing: AtomicBool,
}

/// Length of a request for TLS.
const TLS_REQUEST_BYTES: u32 = 8;

/// Reads the first message, which has no type.
async fn startup(client: &mut UnixStream) -> io::Result<Vec<u8>> {
    loop {
        let length = client.read_u32().await?;
        let mut bytes = length.to_be_bytes().to_vec();
        bytes.resize(length as usize, 0);
        client.read_exact(&mut bytes[4..]).await?;
        if length != TLS_REQUEST_BYTES {
            return Ok(bytes);
        }
        client.write_all(b"N").await?;
    }
}

async fn serve(mut client: UnixStream, shared: Arc<Shared>) {
    let Ok(startup) = startup(&mut client).await else { return };
    let Ok(mut server) = UnixStream::connect(&shared.server).await else { return };
    if server.write_all(&startup).await.is_err() {
        return;
    }
    let (from_client, to_client) = client.into_split();
    let (from_server, to_server) = server.into_split();
    let flow = Arc::new(Flow::default());
    // Whichever ends first ends the connection; an error is an end.
    tokio::select! {
        _ = requests(from_client, to_server, &shared, &flow) => {}
        _ = answers(from_server, to_client, &flow) => {}
    }
}

/// A message: its type, and its bytes with type and length.
async fn message(from: &mut OwnedReadHalf) -> io::Result<(u8, Vec<u8>)> {
    let mut bytes = vec![0; 5];
    from.read_exact(&mut bytes).await?;
    let length = u32::from_be_bytes([bytes[1], bytes[2], bytes[3], bytes[4]]) as usize;
    bytes.resize(length + 1, 0);
    from.read_exact(&mut bytes[5..]).await?;
    Ok((bytes[0], bytes))
}

async fn requests(mut from: OwnedReadHalf, mut to: OwnedWriteHalf, shared: &Shared, flow: &Flow) -> io::Result<()> {
    let mut appends = false;
    let (mut group, mut executes, mut is_commit) = (Vec::new(), false, false);
    loop {
        let (kind, bytes) = message(&mut from).await?;
        let text = String::from_utf8_lossy(&bytes[5..]);
        match kind {
            b'P' => appends |= text.contains("WITH wanted AS") || text.contains("INSERT INTO notebooks"),
            b'E' => executes = true,
            b'Q' => {
                executes = !text.starts_with("ROLLBACK");
                is_commit = text.starts_with("COMMIT");
            }
            _ => {}
        }
        group.extend_from_slice(&bytes);
        if !matches!(kind, b'S' | b'Q') {
            continue;
        }
        let kind = if appends {
            Kind::Append
        } else if is_commit {
            Kind::Commit
        } else {
            Kind::Other
        };
        let fault = if executes { shared.plan.lock().as_mut().and_then(|plan| plan(kind)) } else { None };
        shared.injected.fetch_add(u64::from(fault.is_some()), Ordering::SeqCst);
        match fault {
            None => to.write_all(&group).await?,
            Some(Fault::Cut) => return Ok(()),
            Some(Fault::CutAnswer) => {
                flow.is_swallowing.store(true, Ordering::SeqCst);
                to.write_all(&group).await?;
            }
            Some(Fault::Code(code)) => {
                *flow.code.lock() = Some(code);
                // The server refuses this, so that an open transaction fails in earnest.
                to.write_all(&query("SELECT no_such_function()")).await?;
            }
        }
        (executes, is_commit) = (false, false);
        group.clear();
    }
}

fn query(sql: &str) -> Vec<u8> {
    let length = u32::try_from(sql.len() + 5).unwrap();
    [b"Q", &length.to_be_bytes()[..], sql.as_bytes(), b"\0"].concat()
}

async fn answers(mut from: OwnedReadHalf, mut to: OwnedWriteHalf, flow: &Flow) -> io::Result<()> {
    loop {
        let (kind, mut bytes) = message(&mut from).await?;
        if kind == b'E'
            && let Some(code) = flow.code.lock().take()
        {
            replace_code(&mut bytes, code);
        }
        if !flow.is_swallowing.load(Ordering::SeqCst) {
            to.write_all(&bytes).await?;
        } else if kind == b'Z' {
            return Ok(());
        }
    }
}

/// Replaces the SQLSTATE of an error: fields are a letter and a text that ends with NUL; `C` has the code, of five letters.
fn replace_code(bytes: &mut [u8], code: &str) {
    let mut at = 5;
    while at < bytes.len() && bytes[at] != 0 {
        if bytes[at] == b'C' {
            bytes[at + 1..at + 6].copy_from_slice(code.as_bytes());
            return;
        }
        at += 1 + bytes[at..].iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    }
}
