//! The task that keeps the socket: connects, says hello, re-sends unanswered commands, reads, and reconnects.

use std::collections::BTreeMap;
use std::time::Duration;

use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt, StreamExt};
use notarium_core::{Labels, NotebookId};
use notarium_wire::{
    AGENT_MACHINES, AckMessage, ClientMessage, CommandMessage, ErrorCode, ErrorMessage, HelloMessage, KERNEL_EFFECTS,
    LastEvent, OfferMessage, PROTOCOLS, ServerMessage, SubscribeMessage, WelcomeMessage,
};
use tokio::net::TcpStream;
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::error::UrlError;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::tungstenite::{self, Message, Utf8Bytes, http};
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream};
use tokio_util::task::AbortOnDropHandle;

use crate::last_byte::{LastByte, TimedStream, timed};
use crate::outbox::{SentCommands, frame_of};
use crate::{
    CommandError, ConnectError, ConnectOptions, ConnectionEvent, SOCKET_PATH, http_address, install_tls_provider,
};

type Socket = WebSocketStream<MaybeTlsStream<TimedStream<TcpStream>>>;

/// Largest message that is accepted: a snapshot with all the outputs that a notebook shows.
const MAX_MESSAGE_BYTES: usize = 1 << 30;
/// Frame limit before the welcome.
const UNKNOWN_MAX_FRAME_BYTES: u64 = u64::MAX;
/// Lifetime after which a connection counts as good: the backoff starts again from its minimum.
const GOOD_AFTER: Duration = Duration::from_secs(30);

/// Orders of the connection's owner.
#[derive(Debug)]
pub(super) enum Order {
    Command {
        message: Box<CommandMessage>,
        responder: oneshot::Sender<Result<AckMessage, CommandError>>,
    },
    Subscribe {
        notebook: NotebookId,
        since: Option<LastEvent>,
    },
    Unsubscribe {
        notebook: NotebookId,
    },
    Ephemeral(Box<ClientMessage>),
    /// Sent again after every reconnect.
    Offer(Box<OfferMessage>),
}

pub(super) struct Link {
    options: ConnectOptions,
    orders: mpsc::UnboundedReceiver<Order>,
    events: mpsc::UnboundedSender<ConnectionEvent>,
    outbox: SentCommands,
    /// Subscribed notebooks, and the last event that was passed on.
    subscriptions: BTreeMap<NotebookId, Option<LastEvent>>,
    offer: Option<OfferMessage>,
    /// The server takes offers that say whether effects are held.
    knows_effects: bool,
    /// True if the server takes labels and machines in offers.
    knows_machines: bool,
    max_frame_bytes: u64,
    failures: u32,
}

/// A welcomed socket. A separate task writes frames, so that a slow server cannot block reading.
struct WelcomedSocket {
    reader: SplitStream<Socket>,
    frames: mpsc::UnboundedSender<Utf8Bytes>,
    last_byte: LastByte,
    /// Longest silence of the server.
    silence: Duration,
    _writer: AbortOnDropHandle<()>,
}

impl WelcomedSocket {
    /// The next message; `None`: the server has been silent for too long. Cancel safe.
    async fn hear(&mut self) -> Option<Option<Result<Message, tungstenite::Error>>> {
        tokio::select! {
            // Bytes that came while the whole process was suspended are read first.
            biased;
            message = self.reader.next() => Some(message),
            () = self.last_byte.silence(self.silence) => None,
        }
    }
}

impl Link {
    pub fn new(
        options: ConnectOptions,
        orders: mpsc::UnboundedReceiver<Order>,
        events: mpsc::UnboundedSender<ConnectionEvent>,
    ) -> Self {
        install_tls_provider();
        Self {
            options,
            orders,
            events,
            outbox: SentCommands::default(),
            subscriptions: BTreeMap::new(),
            offer: None,
            knows_effects: false,
            knows_machines: false,
            max_frame_bytes: UNKNOWN_MAX_FRAME_BYTES,
            failures: 0,
        }
    }

    pub async fn run(mut self) {
        loop {
            let began = Instant::now();
            let Some(cause) = self.connect_and_serve().await else { return };
            if cause.is_final() {
                return self.fail(cause);
            }
            if began.elapsed() > GOOD_AFTER {
                self.failures = 0;
            }
            let retry_in = self.backoff();
            self.notify(ConnectionEvent::Disconnected { cause, retry_in });
            if !self.pause(retry_in).await {
                return;
            }
        }
    }

    /// Returns why the connection ended; `None`: its owner dropped it.
    async fn connect_and_serve(&mut self) -> Option<ConnectError> {
        match self.connect().await {
            Ok((open, welcome)) => self.serve(open, welcome).await,
            Err(cause) => Some(cause),
        }
    }

    // --- connecting ---

    async fn connect(&self) -> Result<(WelcomedSocket, WelcomeMessage), ConnectError> {
        let address = socket_address(&self.options.server)?;
        let timeout = self.options.connect_timeout;
        let late = |_| self.unreachable(format!("no answer within {} s", timeout.as_secs()));
        let config = WebSocketConfig::default()
            .max_message_size(Some(MAX_MESSAGE_BYTES))
            .max_frame_size(Some(MAX_MESSAGE_BYTES))
            .max_write_buffer_size(usize::MAX);
        let (socket, last_byte) = tokio::time::timeout(timeout, open(&address, config))
            .await
            .map_err(late)?
            .map_err(|error| self.upgrade_error(error))?;
        tokio::time::timeout(timeout, self.hello(socket, last_byte)).await.map_err(late)?
    }

    async fn hello(
        &self,
        mut socket: Socket,
        last_byte: LastByte,
    ) -> Result<(WelcomedSocket, WelcomeMessage), ConnectError> {
        let hello = ClientMessage::Hello(HelloMessage {
            protocols: PROTOCOLS,
            token: Some(self.options.token.clone()),
            client: self.options.client.clone(),
            instance: self.options.instance.clone(),
            features: self.options.features.clone(),
            name: None,
        });
        let frame = frame_of(&hello).map_err(|error| ConnectError::Refused(error.to_string()))?;
        socket.send(Message::Text(frame)).await.map_err(|error| self.unreachable(error.to_string()))?;
        let welcome = self.welcome(&mut socket).await?;
        let silence = Duration::from_millis(welcome.heartbeat_ms.max(1000)) * 3;
        let (sink, reader) = socket.split();
        let (frames, waiting) = mpsc::unbounded_channel();
        let writer = AbortOnDropHandle::new(tokio::spawn(write(sink, waiting)));
        Ok((WelcomedSocket { reader, frames, last_byte, silence, _writer: writer }, welcome))
    }

    async fn welcome(&self, socket: &mut Socket) -> Result<WelcomeMessage, ConnectError> {
        loop {
            let message = socket.next().await.ok_or_else(|| self.unreachable("it closed the connection".to_owned()))?;
            match message.map_err(|error| self.unreachable(error.to_string()))? {
                Message::Text(text) => match serde_json::from_str::<ServerMessage>(&text) {
                    Ok(ServerMessage::Welcome(welcome)) => return Ok(welcome),
                    Ok(ServerMessage::Error(error)) => return Err(self.server_error(error)),
                    _ => {}
                },
                Message::Close(_) => return Err(self.unreachable("it closed the connection".to_owned())),
                _ => {}
            }
        }
    }

    fn server_error(&self, error: ErrorMessage) -> ConnectError {
        match error.code {
            ErrorCode::Unauthenticated => ConnectError::Unauthenticated(error.message),
            ErrorCode::AgentConnected => ConnectError::AgentConnected(error.message),
            // Final: the server would answer the same again.
            ErrorCode::Forbidden | ErrorCode::UnsupportedProtocol => ConnectError::Refused(error.message),
            _ => self.unreachable(error.message),
        }
    }

    fn upgrade_error(&self, error: tungstenite::Error) -> ConnectError {
        match error {
            tungstenite::Error::Http(response) if response.status() == http::StatusCode::UNAUTHORIZED => {
                ConnectError::Unauthenticated("HTTP 401".to_owned())
            }
            tungstenite::Error::Http(response) if response.status().is_client_error() => {
                let body = response.body().as_deref().map(String::from_utf8_lossy).unwrap_or_default();
                let begins: String = body.chars().take(300).collect();
                ConnectError::Refused(format!("HTTP {} {begins}", response.status()))
            }
            error => self.unreachable(error.to_string()),
        }
    }

    fn unreachable(&self, cause: String) -> ConnectError {
        ConnectError::Unreachable { server: self.options.server.clone(), cause }
    }

    // --- connected ---

    async fn serve(&mut self, mut open: WelcomedSocket, welcome: WelcomeMessage) -> Option<ConnectError> {
        self.max_frame_bytes = welcome.max_frame_bytes;
        let has = |wanted: &str| welcome.features.iter().any(|feature| feature == wanted);
        (self.knows_effects, self.knows_machines) = (has(KERNEL_EFFECTS), has(AGENT_MACHINES));
        self.notify(ConnectionEvent::Connected(welcome));
        for frame in self.renewed() {
            let _ = open.frames.send(frame);
        }
        loop {
            tokio::select! {
                order = self.orders.recv() => self.order(order?, Some(&open.frames)),
                heard = open.hear() => {
                    let cause = match heard {
                        Some(message) => self.read(message),
                        None => Some(self.unreachable(format!("it was silent for {} s", open.silence.as_secs()))),
                    };
                    if cause.is_some() {
                        return cause;
                    }
                }
            }
        }
    }

    /// The first frames of every new connection: offer, subscriptions, unanswered commands.
    fn renewed(&mut self) -> Vec<Utf8Bytes> {
        let subscribe =
            |(notebook, since): (&NotebookId, &Option<LastEvent>)| frame_of(&subscribe(notebook, since.clone()));
        let offer = self.known_offer();
        let offer = offer.iter().map(frame_of);
        let frames = offer.chain(self.subscriptions.iter().map(subscribe)).flatten();
        frames.chain(self.outbox.resend(self.max_frame_bytes)).collect()
    }

    /// The offer in the words that the server knows: an older one refuses an unknown field.
    fn known_offer(&self) -> Option<ClientMessage> {
        let mut offer = self.offer.clone()?;
        if !self.knows_effects {
            offer.kernelspecs.iter_mut().for_each(|kernelspec| kernelspec.effects = None);
        }
        if !self.knows_machines {
            offer = OfferMessage { labels: Labels::new(), machine: None, ..offer };
        }
        Some(ClientMessage::Offer(offer))
    }

    /// Handles a message; returns the cause if the connection is over.
    fn read(&mut self, message: Option<Result<Message, tungstenite::Error>>) -> Option<ConnectError> {
        let text = match message {
            Some(Ok(Message::Text(text))) => text,
            Some(Ok(Message::Close(_))) | None => return Some(self.unreachable("it closed the connection".to_owned())),
            Some(Ok(_)) => return None,
            Some(Err(error)) => return Some(self.unreachable(error.to_string())),
        };
        match serde_json::from_str::<ServerMessage>(&text) {
            Ok(message) => self.message(message),
            Err(error) => {
                tracing::debug!(%error, "a message of the server is not known to this version");
                None
            }
        }
    }

    fn message(&mut self, message: ServerMessage) -> Option<ConnectError> {
        match message {
            ServerMessage::Ack(ack) => self.outbox.acked(ack),
            ServerMessage::Reject(reject) => self.outbox.rejected(reject),
            ServerMessage::Error(error) if error.fatal => return Some(self.server_error(error)),
            message => {
                self.note_version(&message);
                self.notify(ConnectionEvent::Message(message));
            }
        }
        None
    }

    fn note_version(&mut self, message: &ServerMessage) {
        let (notebook, version, event_id) = match message {
            ServerMessage::Subscribed(message) => (&message.notebook, message.version, &message.event_id),
            ServerMessage::Events(message) => {
                let Some(last) = message.events.last() else { return };
                (&message.notebook, last.version, &last.id)
            }
            ServerMessage::Access { notebook, role: None } => {
                self.subscriptions.remove(notebook);
                return;
            }
            _ => return,
        };
        if let Some(held) = self.subscriptions.get_mut(notebook) {
            // A snapshot of another branch may be older than the held version.
            let is_newer = held.as_ref().is_none_or(|held| held.version < version);
            if is_newer || matches!(message, ServerMessage::Subscribed(it) if it.diverged) {
                *held = Some(LastEvent { version, event_id: event_id.clone() });
            }
        }
    }

    // --- orders ---

    /// Carries out an order; `frames` is absent while there is no connection.
    fn order(&mut self, order: Order, frames: Option<&mpsc::UnboundedSender<Utf8Bytes>>) {
        let frame = match order {
            Order::Command { message, responder } => self.outbox.push(*message, responder, self.max_frame_bytes),
            Order::Subscribe { notebook, since } => {
                self.subscriptions.insert(notebook.clone(), since.clone());
                frame_of(&subscribe(&notebook, since)).ok()
            }
            Order::Unsubscribe { notebook } => {
                self.subscriptions.remove(&notebook);
                frame_of(&ClientMessage::Unsubscribe { notebook }).ok()
            }
            Order::Ephemeral(message) => frame_of(&message).ok(),
            Order::Offer(message) => {
                self.offer = Some(*message);
                self.known_offer().and_then(|offer| frame_of(&offer).ok())
            }
        };
        if let (Some(frame), Some(frames)) = (frame, frames) {
            let _ = frames.send(frame);
        }
    }

    /// Waits, and takes orders meanwhile. False when the owner has dropped the connection.
    async fn pause(&mut self, pause: Duration) -> bool {
        let until = Instant::now() + pause;
        while let Ok(order) = tokio::time::timeout_at(until, self.orders.recv()).await {
            let Some(order) = order else { return false };
            self.order(order, None);
        }
        true
    }

    /// The next pause: doubled, capped, multiplied by a random 0.5 to 1.5.
    fn backoff(&mut self) -> Duration {
        let doubled = self.options.min_backoff.saturating_mul(1_u32 << self.failures.min(16));
        self.failures += 1;
        let mut random = [0_u8; 2];
        let _ = getrandom::fill(&mut random);
        doubled.min(self.options.max_backoff).mul_f64(0.5 + f64::from(u16::from_le_bytes(random)) / 65536.0)
    }

    fn fail(mut self, cause: ConnectError) {
        self.orders.close();
        while let Ok(order) = self.orders.try_recv() {
            self.order(order, None);
        }
        self.outbox.fail(&cause);
        self.notify(ConnectionEvent::Failed(cause));
    }

    fn notify(&self, event: ConnectionEvent) {
        let _ = self.events.send(event);
    }
}

/// Opens the socket at an address.
async fn open(address: &str, config: WebSocketConfig) -> Result<(Socket, LastByte), tungstenite::Error> {
    let request = address.into_client_request()?;
    let uri = request.uri();
    let host = uri.host().ok_or(UrlError::NoHostName)?;
    let port = uri.port_u16().unwrap_or(if uri.scheme_str() == Some("wss") { 443 } else { 80 });
    let stream = TcpStream::connect(format!("{host}:{port}")).await?;
    stream.set_nodelay(true)?;
    let (stream, last_byte) = timed(stream);
    let (socket, _) = tokio_tungstenite::client_async_tls_with_config(request, stream, Some(config), None).await?;
    Ok((socket, last_byte))
}

fn subscribe(notebook: &NotebookId, since: Option<LastEvent>) -> ClientMessage {
    ClientMessage::Subscribe(SubscribeMessage { notebook: notebook.clone(), since, unconfirmed: Vec::new() })
}

/// Writes queued frames, up to 64 per flush. The reader notices a broken socket itself.
async fn write(mut sink: SplitSink<Socket, Message>, mut waiting: mpsc::UnboundedReceiver<Utf8Bytes>) {
    let mut frames = Vec::new();
    while waiting.recv_many(&mut frames, 64).await > 0 {
        for frame in frames.drain(..) {
            if sink.feed(Message::Text(frame)).await.is_err() {
                return;
            }
        }
        if sink.flush().await.is_err() {
            return;
        }
    }
}

/// The socket's address on a server. Takes the same forms as [`http_address`].
fn socket_address(server: &str) -> Result<String, ConnectError> {
    Ok(format!("{}{SOCKET_PATH}", http_address(server)?.replacen("http", "ws", 1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_in_any_usual_way_name_the_socket() {
        for (given, address) in [
            ("http://127.0.0.1:8787", "ws://127.0.0.1:8787/api/socket"),
            ("https://host/", "wss://host/api/socket"),
            ("wss://host/api/socket", "wss://host/api/socket"),
            ("https://host/notarium", "wss://host/notarium/api/socket"),
            ("localhost:1", "ws://localhost:1/api/socket"),
        ] {
            assert_eq!(socket_address(given).unwrap(), address);
        }
        for wrong in ["", "ftp://host", "http://", "http:// x"] {
            assert!(socket_address(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_backoff_grows_within_its_bounds() {
        let (_, orders) = mpsc::unbounded_channel();
        let (events, _) = mpsc::unbounded_channel();
        let mut link = Link::new(ConnectOptions::new("http://h", "t", "c"), orders, events);
        for attempt in 0..40_u32 {
            let expected = Duration::from_millis(100).saturating_mul(1 << attempt.min(16)).min(Duration::from_secs(3));
            let pause = link.backoff();
            assert!(pause >= expected / 2 && pause <= expected * 3 / 2, "{attempt}: {pause:?}");
        }
    }

    /// A server that sends its welcome, and then neither writes nor closes.
    async fn hung_server(listener: tokio::net::TcpListener) {
        let (stream, _) = listener.accept().await.unwrap();
        let mut socket = tokio_tungstenite::accept_async(stream).await.unwrap();
        socket.next().await.unwrap().unwrap();
        let welcome = serde_json::json!({"welcome": {
            "protocol": 1, "server": "hung", "connection": "c1", "actor": {"kind": "agent", "id": "a"}, "scopes": [],
            "max_frame_bytes": 1_000_000, "heartbeat_ms": 1_000, "features": [],
        }});
        socket.send(Message::text(welcome.to_string())).await.unwrap();
        std::future::pending::<()>().await;
    }

    #[tokio::test]
    async fn a_server_that_hangs_is_left() {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let server = AbortOnDropHandle::new(tokio::spawn(hung_server(listener)));
        let (orders, receiver) = mpsc::unbounded_channel();
        let (sender, mut events) = mpsc::unbounded_channel();
        let link = Link::new(ConnectOptions::new(format!("http://{address}"), "t", "c"), receiver, sender);
        let link = AbortOnDropHandle::new(tokio::spawn(link.run()));
        assert!(matches!(events.recv().await, Some(ConnectionEvent::Connected(_))));
        let Some(ConnectionEvent::Disconnected { cause, .. }) = events.recv().await else { panic!("it stays") };
        assert!(cause.to_string().contains("it was silent for 3 s"), "{cause}");
        drop((orders, link, server));
    }
}
