//! The sockets of one kernel session. Tasks per socket read and write it, so that none blocks another.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use jupyter_protocol::{ConnectionInfo, JupyterMessage, KernelInfoRequest, connection_info::Transport};
use jupyter_zmq_client::{
    Connection, RawMessage, RuntimeError, create_client_control_connection, create_client_iopub_connection,
    create_client_shell_connection_with_identity, create_client_stdin_connection_with_identity,
    peer_identity_for_session,
};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};
use tokio::task::JoinSet;
use zeromq::{DealerSocket, SocketRecv, SubSocket};

use super::messages::KernelMessage;

/// Most queued messages for one socket. The driver stays below this.
pub(super) const MAX_WAITING_REQUESTS: usize = 1024;
/// Pause between attempts to reach a socket that the kernel has not bound yet, and after a socket's error.
const RETRY: Duration = Duration::from_millis(10);
/// Most attempts to connect.
const CONNECT_ATTEMPTS: usize = 20;
/// Time for a kernel's first iopub message after its reply, before the request is repeated. Kernels before JEP 65 publish to no
/// subscriber until the subscription has arrived.
const SUBSCRIPTION_RETRY: Duration = Duration::from_millis(200);
/// Most repetitions of the request; then the kernel counts as one that publishes no status.
const SUBSCRIPTION_ATTEMPTS: usize = 25;

/// A received message, or the error of an unreadable one (wrong signature, missing parts).
pub(super) type IncomingMessage = Result<RawMessage, RuntimeError>;

/// The channels to one kernel process.
#[derive(Debug)]
pub(super) struct Channels {
    pub shell: mpsc::Receiver<IncomingMessage>,
    pub stdin: mpsc::Receiver<IncomingMessage>,
    /// Messages in order of arrival.
    pub iopub: mpsc::UnboundedReceiver<WaitingMessage>,
    pub shell_out: mpsc::Sender<JupyterMessage>,
    pub stdin_out: mpsc::Sender<JupyterMessage>,
    pub control_out: mpsc::Sender<JupyterMessage>,
    /// Ends the tasks with the session.
    _tasks: JoinSet<()>,
}

/// An iopub message; its bytes count against a limit until the permit is dropped.
type WaitingMessage = (IncomingMessage, Option<OwnedSemaphorePermit>);

impl Channels {
    /// Connects when the kernel has bound its sockets; waits for that without a timeout.
    pub async fn connect(
        info: &ConnectionInfo,
        session_id: &str,
        max_waiting_bytes: usize,
    ) -> Result<Self, RuntimeError> {
        let Sockets { iopub, shell, stdin, control } = Sockets::connect(info, session_id).await?;
        let mut tasks = JoinSet::new();
        let (sender, waiting) = mpsc::unbounded_channel();
        tasks.spawn(drain(iopub, sender, max_waiting_bytes));
        let (shell_out, shell) = open(&mut tasks, shell);
        let (stdin_out, stdin) = open(&mut tasks, stdin);
        let (control_out, mut control) = open(&mut tasks, control);
        // Replies on control are read only to empty the socket.
        tasks.spawn(async move { while control.recv().await.is_some() {} });
        Ok(Self { shell, stdin, iopub: waiting, shell_out, stdin_out, control_out, _tasks: tasks })
    }

    /// Requests the kernel's info until it has answered on shell *and* a message came on iopub. Returns the reply's content.
    pub async fn handshake(&mut self) -> Option<String> {
        let mut info = None;
        for _ in 0..SUBSCRIPTION_ATTEMPTS {
            self.shell_out.send(JupyterMessage::new(KernelInfoRequest {}, None)).await.ok()?;
            if info.is_none() {
                info = Some(self.kernel_info().await?);
            }
            if tokio::time::timeout(SUBSCRIPTION_RETRY, self.iopub.recv()).await.is_ok() {
                break;
            }
        }
        info
    }

    async fn kernel_info(&mut self) -> Option<String> {
        loop {
            let Ok(raw) = self.shell.recv().await? else {
                continue;
            };
            if let Ok(message) = KernelMessage::read(&raw)
                && message.header.msg_type == "kernel_info_reply"
            {
                return Some(message.content);
            }
        }
    }
}

struct Sockets {
    iopub: Connection<SubSocket>,
    shell: Connection<DealerSocket>,
    stdin: Connection<DealerSocket>,
    control: Connection<DealerSocket>,
}

impl Sockets {
    /// Retries: another process may still hold a TCP port for a moment and answer in the kernel's place.
    async fn connect(info: &ConnectionInfo, session_id: &str) -> Result<Self, RuntimeError> {
        for _ in 1..CONNECT_ATTEMPTS {
            if let Ok(sockets) = Self::try_connect(info, session_id).await {
                return Ok(sockets);
            }
            tokio::time::sleep(RETRY).await;
        }
        Self::try_connect(info, session_id).await
    }

    async fn try_connect(info: &ConnectionInfo, session_id: &str) -> Result<Self, RuntimeError> {
        bound(info).await;
        let identity = peer_identity_for_session(session_id)?;
        let (iopub, shell, stdin, control) = tokio::try_join!(
            create_client_iopub_connection(info, "", session_id),
            create_client_shell_connection_with_identity(info, session_id, identity.clone()),
            create_client_stdin_connection_with_identity(info, session_id, identity),
            create_client_control_connection(info, session_id),
        )?;
        Ok(Self { iopub, shell, stdin, control })
    }
}

/// Waits until the kernel has bound all its sockets. The ZeroMQ client itself would retry with growing pauses.
async fn bound(info: &ConnectionInfo) {
    for port in [info.shell_port, info.stdin_port, info.control_port, info.iopub_port] {
        while !is_bound(info, port).await {
            tokio::time::sleep(RETRY).await;
        }
    }
}

async fn is_bound(info: &ConnectionInfo, port: u16) -> bool {
    match info.transport {
        Transport::IPC => PathBuf::from(format!("{}-{port}", info.ip)).exists(),
        Transport::TCP => tokio::net::TcpStream::connect((info.ip.as_str(), port)).await.is_ok(),
    }
}

fn open(
    tasks: &mut JoinSet<()>,
    connection: Connection<DealerSocket>,
) -> (mpsc::Sender<JupyterMessage>, mpsc::Receiver<IncomingMessage>) {
    let (mut writer, mut reader) = connection.split();
    let (out, mut waiting) = mpsc::channel(MAX_WAITING_REQUESTS * 2);
    let (sender, incoming) = mpsc::channel(64);
    tasks.spawn(async move {
        while let Some(message) = waiting.recv().await {
            if let Err(error) = writer.send(message).await {
                tracing::warn!(%error, "a message did not reach the kernel");
            }
        }
    });
    tasks.spawn(async move {
        loop {
            let incoming = receive(&mut reader).await;
            if sender.send(incoming).await.is_err() {
                return;
            }
        }
    });
    (out, incoming)
}

/// Only reads iopub and queues. Above `max_waiting_bytes` it stops reading: back-pressure for the kernel's output.
async fn drain(
    mut iopub: Connection<SubSocket>,
    sender: mpsc::UnboundedSender<WaitingMessage>,
    max_waiting_bytes: usize,
) {
    let limit = u32::try_from(max_waiting_bytes).unwrap_or(u32::MAX).max(1);
    let room = Arc::new(Semaphore::new(limit as usize));
    loop {
        let incoming = receive(&mut iopub).await;
        let permit = Arc::clone(&room).acquire_many_owned(weight(&incoming, limit)).await.ok();
        if sender.send((incoming, permit)).is_err() {
            return;
        }
    }
}

/// Cost of a message beside its content, in bytes: many small messages use more memory than their content.
const MESSAGE_OVERHEAD_BYTES: usize = 1 << 10;

/// Bytes that a message counts, at most `limit`: a larger message waits until it is alone.
fn weight(incoming: &IncomingMessage, limit: u32) -> u32 {
    let bytes: usize = incoming.iter().flat_map(|raw| &raw.jparts).map(bytes::Bytes::len).sum();
    u32::try_from(bytes + MESSAGE_OVERHEAD_BYTES).unwrap_or(u32::MAX).min(limit)
}

/// The next message. Socket errors mean that the kernel has ended; its process reports that more precisely.
async fn receive<S: SocketRecv>(connection: &mut Connection<S>) -> IncomingMessage {
    loop {
        match connection.socket.recv().await {
            Ok(multipart) => return RawMessage::from_multipart(multipart, &connection.mac),
            Err(_) => tokio::time::sleep(RETRY).await,
        }
    }
}
