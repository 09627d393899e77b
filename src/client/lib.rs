//! A client that stays connected to a server: one WebSocket, many notebooks, and replicas of them.
//!
//! Purpose: the agent, the command line and the tests send commands and follow notebooks through it. It reconnects with backoff and
//! jitter, and subscribes again from the version that it holds.
//!
//! Invariants:
//! - Unanswered commands are sent again in order and under the same ids, so that each is applied once.
//! - Each command is answered exactly once, or the connection has failed finally.
//! - A replica is the fold of the events that [`Connection::next`] has returned, never ahead of them.
//!
//! This crate must never decide what its user does with an event: it knows neither kernels nor terminals.

mod last_byte;
mod link;
mod outbox;
mod replica;

use std::collections::BTreeMap;
use std::time::Duration;

use notarium_core::{Command, CommandId, Document, NotebookId, RawJson, Recorded, RejectionCode};
use notarium_wire::{
    AckMessage, ClientMessage, CommandMessage, EventsMessage, OfferMessage, RejectMessage, ServerMessage,
    SubscribedMessage, WelcomeMessage,
};
use tokio::sync::{mpsc, oneshot};
use tokio_tungstenite::tungstenite::http;

use link::{Link, Order};
use replica::Replica;

/// The socket's path on the server.
pub const SOCKET_PATH: &str = "/api/socket";

/// Address and credentials of a server, with timeouts and backoff.
#[derive(Debug, Clone)]
pub struct ConnectOptions {
    /// `http(s)://host` or `ws(s)://host`, with or without a path.
    pub server: String,
    pub token: String,
    /// Name and version of the program, for diagnosis.
    pub client: String,
    /// Name of a runtime agent's process, so that it can replace its own cut connection; absent for other clients.
    pub instance: Option<String>,
    /// Optional parts of the protocol that the program knows.
    pub features: Vec<String>,
    /// Timeout for the server to accept the socket, and again for its welcome.
    pub connect_timeout: Duration,
    /// Pause after the first failure; it doubles from there.
    pub min_backoff: Duration,
    /// Longest pause; short, because callers wait this long for a server that is back.
    pub max_backoff: Duration,
}

impl ConnectOptions {
    pub fn new(server: impl Into<String>, token: impl Into<String>, client: impl Into<String>) -> Self {
        Self {
            server: server.into(),
            token: token.into(),
            client: client.into(),
            instance: None,
            features: Vec::new(),
            connect_timeout: Duration::from_secs(10),
            min_backoff: Duration::from_millis(100),
            max_backoff: Duration::from_secs(3),
        }
    }
}

/// Reasons for having no connection.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConnectError {
    #[error("'{server}' is no server address: use http://host:port, https://host or wss://host")]
    InvalidAddress { server: String },
    #[error("{server} cannot be reached ({cause}): {}", advice(cause))]
    Unreachable { server: String, cause: String },
    #[error("the server does not accept the token ({0}): make a new one with `notarium token new` or log in again")]
    Unauthenticated(String),
    #[error("the server refuses this connection: {0}")]
    Refused(String),
    /// Retried: the other connection may end soon.
    #[error("{0}")]
    AgentConnected(String),
    #[error("the connection was closed")]
    Closed,
}

/// Advice against a cause.
fn advice(cause: &str) -> &'static str {
    if cause.contains("certificate") {
        "if you trust its authority, name a file with the authority's certificate (PEM) in SSL_CERT_FILE"
    } else {
        "check the address, and that the server runs"
    }
}

impl ConnectError {
    /// True if another attempt is pointless.
    pub fn is_final(&self) -> bool {
        !matches!(self, Self::Unreachable { .. } | Self::AgentConnected(_))
    }
}

/// Reasons why a command was not applied.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CommandError {
    #[error("{}", .0.message)]
    Rejected(Box<RejectMessage>),
    #[error(transparent)]
    Connection(#[from] ConnectError),
}

impl CommandError {
    /// The code of a rejection.
    pub fn code(&self) -> Option<RejectionCode> {
        match self {
            Self::Rejected(reject) => Some(reject.code),
            Self::Connection(_) => None,
        }
    }
}

/// Events of a connection, in order.
#[derive(Debug)]
pub enum ConnectionEvent {
    /// Connected, again or for the first time. Subscriptions and unanswered commands are sent again automatically.
    Connected(WelcomeMessage),
    /// The socket is closed; the next attempt follows automatically.
    Disconnected { cause: ConnectError, retry_in: Duration },
    /// No further attempt is made: the token or the address is wrong. Nothing follows.
    Failed(ConnectError),
    /// The replica is at the server's version. The snapshot, if one came, is in the replica.
    Subscribed(SubscribedMessage),
    /// Events that were new to the replica, typed, and the message as it came.
    Events { message: EventsMessage, recorded: Vec<Recorded> },
    /// Any other message of the server.
    Message(ServerMessage),
}

/// A client's connection to the server. See the module's documentation.
#[derive(Debug)]
pub struct Connection {
    sender: CommandSender,
    inbox: mpsc::UnboundedReceiver<ConnectionEvent>,
    replicas: BTreeMap<NotebookId, Replica>,
}

impl Connection {
    /// Starts to connect and returns immediately; [`Connection::next`] reports the progress. Needs a Tokio runtime.
    pub fn start(options: ConnectOptions) -> Self {
        let (orders, orders_receiver) = mpsc::unbounded_channel();
        let (incoming, inbox) = mpsc::unbounded_channel();
        tokio::spawn(Link::new(options, orders_receiver, incoming).run());
        Self { sender: CommandSender { orders }, inbox, replicas: BTreeMap::new() }
    }

    /// Connects; an error when the first attempt fails.
    pub async fn open(options: ConnectOptions) -> Result<(Self, WelcomeMessage), ConnectError> {
        let mut connection = Self::start(options);
        match connection.next().await {
            ConnectionEvent::Connected(welcome) => Ok((connection, welcome)),
            ConnectionEvent::Disconnected { cause, .. } | ConnectionEvent::Failed(cause) => Err(cause),
            _ => Err(ConnectError::Closed),
        }
    }

    /// Returns a sender for commands; cheap to clone, usable beside [`Connection::next`].
    pub fn sender(&self) -> CommandSender {
        self.sender.clone()
    }

    /// Follows a notebook: `Subscribed` with its state, then its events, for as long as the connection lives.
    pub fn subscribe(&mut self, notebook: &NotebookId) {
        self.replicas.insert(notebook.clone(), Replica::new(notebook));
        self.sender.order(Order::Subscribe { notebook: notebook.clone(), since: None });
    }

    pub fn unsubscribe(&mut self, notebook: &NotebookId) {
        self.replicas.remove(notebook);
        self.sender.order(Order::Unsubscribe { notebook: notebook.clone() });
    }

    /// The state of a subscribed notebook as of the last event that [`Connection::next`] returned; `None` before `Subscribed`.
    pub fn replica(&self, notebook: &NotebookId) -> Option<&Document> {
        self.replicas.get(notebook)?.state()
    }

    /// Waits for the next event. Cancel safe. After [`ConnectionEvent::Failed`] it always returns `Failed(Closed)`.
    pub async fn next(&mut self) -> ConnectionEvent {
        loop {
            match self.inbox.recv().await {
                None => return ConnectionEvent::Failed(ConnectError::Closed),
                Some(ConnectionEvent::Message(ServerMessage::Subscribed(message))) => return self.subscribed(*message),
                Some(ConnectionEvent::Message(ServerMessage::Events(message))) => {
                    if let Some(event) = self.events(message) {
                        return event;
                    }
                }
                Some(event) => return event,
            }
        }
    }

    fn subscribed(&mut self, mut message: SubscribedMessage) -> ConnectionEvent {
        if message.diverged {
            tracing::warn!(notebook = %message.notebook, "the server's log is another one: it was restored from a backup");
        }
        match self.replicas.get_mut(&message.notebook) {
            Some(replica) => replica.subscribed(&mut message),
            None => message.snapshot = None,
        }
        ConnectionEvent::Subscribed(message)
    }

    /// If the replica cannot take the events, subscribes again; events before that answer are dropped, because the answer has them.
    fn events(&mut self, message: EventsMessage) -> Option<ConnectionEvent> {
        let replica = self.replicas.get_mut(&message.notebook).filter(|replica| replica.state().is_some())?;
        match replica.apply(&message) {
            Ok(recorded) => Some(ConnectionEvent::Events { message, recorded }),
            Err(missed) => {
                tracing::debug!(notebook = %message.notebook, ?missed, "the replica asks for the state again");
                let since = replica.since(&missed);
                self.sender.order(Order::Subscribe { notebook: message.notebook, since });
                None
            }
        }
    }
}

/// Sends commands and ephemeral messages.
#[derive(Debug, Clone)]
pub struct CommandSender {
    orders: mpsc::UnboundedSender<Order>,
}

/// Receives the answer to a command.
pub type AckReceiver = oneshot::Receiver<Result<AckMessage, CommandError>>;

impl CommandSender {
    /// A fresh id for a command.
    pub fn new_id() -> CommandId {
        ulid::Ulid::generate().into()
    }

    /// Sends a command and waits for its answer, across reconnects.
    pub async fn command(&self, notebook: &NotebookId, command: &Command) -> Result<AckMessage, CommandError> {
        self.submit(Self::message(notebook, command)?).await.map_err(|_| ConnectError::Closed)?
    }

    /// Queues a command behind earlier ones. Dropping the receiver of the answer does not cancel the command.
    pub fn submit(&self, message: CommandMessage) -> AckReceiver {
        let (responder, answer) = oneshot::channel();
        self.order(Order::Command { message: Box::new(message), responder });
        answer
    }

    /// A command under a new id.
    pub fn message(notebook: &NotebookId, command: &Command) -> Result<CommandMessage, CommandError> {
        Self::message_as(Self::new_id(), notebook, command)
    }

    /// A command under an id that was chosen before.
    pub fn message_as(id: CommandId, notebook: &NotebookId, command: &Command) -> Result<CommandMessage, CommandError> {
        let body = RawJson::of(command).map_err(|error| ConnectError::Refused(error.to_string()))?;
        Ok(CommandMessage::new(id, notebook.clone(), body))
    }

    /// Sends a message that is useless later (presence, kernel status): dropped while there is no connection.
    pub fn ephemeral(&self, message: ClientMessage) {
        self.order(Order::Ephemeral(Box::new(message)));
    }

    /// Sends what this agent offers; sent again after every reconnect.
    pub fn offer(&self, offer: OfferMessage) {
        self.order(Order::Offer(Box::new(offer)));
    }

    fn order(&self, order: Order) {
        // Without a link the responder is dropped, which the waiting side sees as a closed connection.
        let _ = self.orders.send(order);
    }
}

/// The address of a server's REST API without a trailing slash. Takes `http(s)://`, `ws(s)://` or a bare host.
pub fn http_address(server: &str) -> Result<String, ConnectError> {
    let invalid = || ConnectError::InvalidAddress { server: server.to_owned() };
    let given = server.trim();
    let (scheme, rest) = given.split_once("://").unwrap_or(("http", given));
    let rest = rest.trim_end_matches('/');
    let rest = rest.strip_suffix(SOCKET_PATH).unwrap_or(rest);
    let scheme = match scheme {
        "http" | "ws" => "http",
        "https" | "wss" => "https",
        _ => return Err(invalid()),
    };
    let address = format!("{scheme}://{rest}");
    address.parse::<http::Uri>().ok().filter(|uri| uri.host().is_some()).map(|_| address).ok_or_else(invalid)
}

/// Makes ring the process's TLS provider. Without it, mixed features would make `wss://` panic.
pub fn install_tls_provider() {
    let _ = rustls::crypto::ring::default_provider().install_default();
}
