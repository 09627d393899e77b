//! Connection of an edge to a node, for the notebooks of one client that the node owns.

use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt, StreamExt};
use http::{HeaderValue, Method};
use notarium_core::InstanceId;
use notarium_telemetry::TRACEPARENT;
use notarium_wire::{ClientMessage, HelloMessage};
use serde::{Deserialize, Serialize};
use tokio::net::TcpStream;
use tokio::sync::mpsc;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::tungstenite::{self, Message, Utf8Bytes};
use tokio_tungstenite::{Connector, MaybeTlsStream, WebSocketStream};
use tokio_util::task::AbortOnDropHandle;

use crate::app::App;
use crate::auth::{Authenticated, ForwardedCaller};
use crate::cluster::{HOPS, IDENTITY};
use crate::metrics::{ForwardOutcome, ForwardedThing, Metrics};

/// Path of the socket.
pub const SOCKET_PATH: &str = "/api/socket";
/// Time within which a node takes a connection.
const CONNECT_WITHIN: Duration = Duration::from_secs(3);
/// Frames that are written between two flushes.
const FRAMES_PER_FLUSH: usize = 64;
/// Largest message: a snapshot with all the outputs that a notebook shows.
const MAX_MESSAGE_BYTES: usize = 1 << 30;

type NodeSocket = WebSocketStream<MaybeTlsStream<TcpStream>>;

/// A client as its edge introduces it to the node, signed with the cluster's secret.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ForwardedClient {
    pub caller: ForwardedCaller,
    /// Name of the client's connection.
    pub connection: String,
}

/// Report of a connection.
pub enum NodeReport {
    Frame(Utf8Bytes),
    Ended,
}

/// Reports of all connections of an edge: node, number of the connection, report.
pub type Reports = mpsc::Sender<(InstanceId, u64, NodeReport)>;

/// Address of a node, and what it is told of the client.
pub struct NodeTarget {
    pub instance: InstanceId,
    pub url: String,
    pub header: HeaderValue,
    pub hello: HelloMessage,
    /// Trace of the client's request for its socket.
    pub trace: Option<HeaderValue>,
    pub metrics: Arc<Metrics>,
    /// Configuration with the node's certificate; absent: nodes show none.
    tls: Option<Connector>,
}

impl NodeTarget {
    /// `None`: there are no other nodes.
    pub fn new(
        app: &App,
        (instance, url): (InstanceId, String),
        (who, connection): (&Authenticated, &str),
        (hello, trace): (&HelloMessage, Option<&HeaderValue>),
    ) -> Option<Self> {
        let client = ForwardedClient { caller: who.into(), connection: connection.to_owned() };
        let peers = app.cluster.peers()?;
        let header = peers.sign(&Method::GET, SOCKET_PATH, &client)?;
        let metrics = app.rooms.metrics.clone();
        let tls = peers.socket_tls().map(Connector::Rustls);
        Some(Self { instance, url, header, hello: hello.clone(), trace: trace.cloned(), metrics, tls })
    }
}

/// A connection to a node. It ends when this is dropped.
pub struct Upstream {
    /// Number of the connection, unique at its edge.
    pub number: u64,
    frames: mpsc::UnboundedSender<Utf8Bytes>,
    _task: AbortOnDropHandle<()>,
}

impl Upstream {
    /// Connects. Frames that are sent meanwhile wait.
    pub fn start(number: u64, target: NodeTarget, reports: Reports) -> Self {
        let (frames, waiting) = mpsc::unbounded_channel();
        let task = async move {
            let instance = target.instance.clone();
            if let Err(error) = run(target, number, waiting, &reports).await {
                tracing::info!(%error, node = %instance, "a client's connection to a node ended");
            }
            // The edge has ended.
            let _ = reports.send((instance, number, NodeReport::Ended)).await;
        };
        Self { number, frames, _task: AbortOnDropHandle::new(tokio::spawn(task)) }
    }

    pub fn send(&self, frame: Utf8Bytes) {
        // The end of the connection is reported.
        let _ = self.frames.send(frame);
    }
}

async fn run(
    target: NodeTarget,
    number: u64,
    waiting: mpsc::UnboundedReceiver<Utf8Bytes>,
    reports: &Reports,
) -> Result<(), tungstenite::Error> {
    let late = |_| tungstenite::Error::Io(std::io::ErrorKind::TimedOut.into());
    let began = Instant::now();
    let connected =
        tokio::time::timeout(CONNECT_WITHIN, connect(&target)).await.map_err(late).and_then(|socket| socket);
    let outcome = if connected.is_ok() { ForwardOutcome::Answered } else { ForwardOutcome::NotTaken };
    target.metrics.forwards.ended(ForwardedThing::Socket, outcome, began.elapsed());
    let mut socket = connected?;
    let hello = serde_json::to_string(&ClientMessage::Hello(target.hello)).unwrap_or_default();
    socket.send(Message::text(hello)).await?;
    let (sink, stream) = socket.split();
    tokio::select! {
        written = write(sink, waiting) => written,
        read = read(stream, target.instance, number, reports) => read,
    }
}

async fn connect(target: &NodeTarget) -> Result<NodeSocket, tungstenite::Error> {
    let address = format!("{}{SOCKET_PATH}", target.url.replacen("http", "ws", 1));
    let mut request = address.into_client_request()?;
    request.headers_mut().insert(IDENTITY, target.header.clone());
    request.headers_mut().insert(HOPS, HeaderValue::from_static("1"));
    if let Some(trace) = &target.trace {
        request.headers_mut().insert(TRACEPARENT, trace.clone());
    }
    let config = WebSocketConfig::default()
        .max_message_size(Some(MAX_MESSAGE_BYTES))
        .max_frame_size(Some(MAX_MESSAGE_BYTES))
        .max_write_buffer_size(usize::MAX);
    let tls = target.tls.clone();
    let (socket, _) = tokio_tungstenite::connect_async_tls_with_config(request, Some(config), true, tls).await?;
    Ok(socket)
}

async fn write(
    mut sink: SplitSink<NodeSocket, Message>,
    mut waiting: mpsc::UnboundedReceiver<Utf8Bytes>,
) -> Result<(), tungstenite::Error> {
    let mut frames = Vec::new();
    while waiting.recv_many(&mut frames, FRAMES_PER_FLUSH).await > 0 {
        for frame in frames.drain(..) {
            sink.feed(Message::Text(frame)).await?;
        }
        sink.flush().await?;
    }
    Ok(())
}

async fn read(
    mut stream: SplitStream<NodeSocket>,
    instance: InstanceId,
    number: u64,
    reports: &Reports,
) -> Result<(), tungstenite::Error> {
    while let Some(message) = stream.next().await {
        if let Message::Text(text) = message?
            && reports.send((instance.clone(), number, NodeReport::Frame(text))).await.is_err()
        {
            return Ok(());
        }
    }
    Ok(())
}
