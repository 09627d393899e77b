//! WebSocket client for tests with the state of a real client: a replica of each followed notebook, and the answers.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::net::SocketAddr;

use futures_util::{SinkExt, StreamExt};
use notarium_core::{
    Command, CommandId, Document, Envelope, Event, Hash, NotebookId, RawJson, Recorded, Role, Version,
};
use notarium_wire::{
    AckMessage, ClientMessage, CommandMessage, ErrorMessage, EventMessage, EventsMessage, HelloMessage, KernelStatus,
    LastEvent, PROTOCOLS, PeerState, RejectMessage, ServerMessage, SubscribeMessage, SubscribedMessage, WelcomeMessage,
};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream};

use super::PATIENCE;

/// State of one notebook.
#[derive(Debug)]
pub struct Replica {
    pub notebook: Document,
    /// Event that led to this state.
    pub last_event: LastEvent,
    pub role: Role,
    /// All received events, in order.
    pub events: Vec<EventMessage>,
    pub peers: BTreeMap<String, PeerState>,
    pub kernels: Vec<KernelStatus>,
    /// Digest of the last received snapshot.
    pub digest: Option<Hash>,
    /// Number of received snapshots.
    pub snapshots: usize,
    pub resyncs: usize,
    /// True between a `resync` and the `subscribed` that follows.
    is_behind: bool,
}

/// One connection.
pub struct TestClient {
    socket: WebSocketStream<MaybeTlsStream<TcpStream>>,
    pub welcome: Option<WelcomeMessage>,
    pub replicas: HashMap<NotebookId, Replica>,
    pub acks: HashMap<CommandId, AckMessage>,
    pub rejects: HashMap<CommandId, RejectMessage>,
    pub errors: Vec<ErrorMessage>,
    /// Messages that are not processed: work, input values, access.
    pub others: Vec<ServerMessage>,
    /// Commands without an answer.
    pub pending: BTreeSet<CommandId>,
    pub is_closed: bool,
}

pub fn id(text: &str) -> NotebookId {
    NotebookId::new(text).unwrap()
}

fn hello(token: Option<&str>) -> HelloMessage {
    HelloMessage {
        protocols: PROTOCOLS,
        token: token.map(str::to_owned),
        client: "test/1".to_owned(),
        instance: None,
        features: Vec::new(),
        name: None,
    }
}

impl TestClient {
    /// Connects and sends hello.
    pub async fn connect(address: SocketAddr, token: &str) -> Self {
        Self::connect_knowing(address, token, &[]).await
    }

    /// Connects with these features.
    pub async fn connect_knowing(address: SocketAddr, token: &str, features: &[&str]) -> Self {
        let mut client = Self::open(address, &[]).await.unwrap();
        let features = features.iter().map(|feature| (*feature).to_owned()).collect();
        client.send(&ClientMessage::Hello(HelloMessage { features, ..hello(Some(token)) })).await;
        client.until(|client| client.welcome.is_some().then_some(())).await;
        client
    }

    /// Connects with these headers and sends nothing. The error is the status of the refusal.
    pub async fn open(address: SocketAddr, headers: &[(&'static str, &str)]) -> Result<Self, u16> {
        let mut request = format!("ws://{address}/api/socket").into_client_request().unwrap();
        for (name, value) in headers {
            request.headers_mut().insert(*name, value.parse().unwrap());
        }
        match tokio_tungstenite::connect_async(request).await {
            Ok((socket, _)) => Ok(Self::of(socket)),
            Err(tokio_tungstenite::tungstenite::Error::Http(response)) => Err(response.status().as_u16()),
            Err(error) => panic!("{error}"),
        }
    }

    fn of(socket: WebSocketStream<MaybeTlsStream<TcpStream>>) -> Self {
        Self {
            socket,
            welcome: None,
            replicas: HashMap::new(),
            acks: HashMap::new(),
            rejects: HashMap::new(),
            errors: Vec::new(),
            others: Vec::new(),
            pending: BTreeSet::new(),
            is_closed: false,
        }
    }

    /// Connects as this process of a runtime agent, and waits for the answer to its hello.
    pub async fn connect_agent(address: SocketAddr, token: &str, instance: &str) -> Self {
        let mut client = Self::open(address, &[]).await.unwrap();
        client.hello_as(Some(token), Some(instance)).await;
        while client.welcome.is_none() && client.errors.is_empty() {
            assert!(!client.is_closed, "it closed without a word");
            client.hear().await;
        }
        client
    }

    pub async fn hello(&mut self, token: Option<&str>) {
        self.hello_as(token, None).await;
    }

    /// Sends hello with this display name.
    pub async fn hello_named(&mut self, token: &str, name: &str) {
        self.send(&ClientMessage::Hello(HelloMessage { name: Some(name.to_owned()), ..hello(Some(token)) })).await;
    }

    async fn hello_as(&mut self, token: Option<&str>, instance: Option<&str>) {
        let instance = instance.map(str::to_owned);
        self.send(&ClientMessage::Hello(HelloMessage { instance, ..hello(token) })).await;
    }

    // --- sending ---

    pub async fn send(&mut self, message: &ClientMessage) {
        self.send_text(serde_json::to_string(message).unwrap()).await;
    }

    /// Sends any text, also invalid messages.
    pub async fn send_text(&mut self, text: impl Into<String>) {
        self.send_message(Message::text(text.into())).await;
    }

    pub async fn send_message(&mut self, message: Message) {
        // The server may have closed already; its earlier messages are still to be read.
        let _ = self.socket.send(message).await;
    }

    /// Sends a command under a new id.
    pub async fn command(&mut self, notebook: &str, command: &Command) -> CommandId {
        let command_id: CommandId = ulid::Ulid::generate().into();
        self.command_as(&command_id, notebook, None, command).await;
        command_id
    }

    pub async fn command_as(
        &mut self,
        command_id: &CommandId,
        notebook: &str,
        expected_version: Option<Version>,
        command: &Command,
    ) {
        self.pending.insert(command_id.clone());
        let message = CommandMessage {
            id: command_id.clone(),
            notebook: id(notebook),
            expected_version,
            correlation_id: None,
            body: RawJson::of(command).unwrap(),
        };
        self.send(&ClientMessage::Command(message)).await;
    }

    /// Sends a command and waits for its answer.
    pub async fn run(&mut self, notebook: &str, command: &Command) -> Result<AckMessage, RejectMessage> {
        let command_id = self.command(notebook, command).await;
        self.answer(&command_id).await
    }

    pub async fn answer(&mut self, command_id: &CommandId) -> Result<AckMessage, RejectMessage> {
        self.until(|client| {
            let ack = client.acks.get(command_id).cloned().map(Ok);
            ack.or_else(|| client.rejects.get(command_id).cloned().map(Err))
        })
        .await
    }

    pub async fn subscribe(&mut self, notebook: &str) {
        self.subscribe_since(notebook, None).await;
        let notebook = id(notebook);
        self.until(|client| client.replicas.contains_key(&notebook).then_some(())).await;
    }

    pub async fn subscribe_since(&mut self, notebook: &str, since: Option<LastEvent>) {
        let message = SubscribeMessage { notebook: id(notebook), since, unconfirmed: Vec::new() };
        self.send(&ClientMessage::Subscribe(message)).await;
    }

    /// Reconnects as a real client does: replicas are kept, everything else is reset.
    pub async fn reconnect(&mut self, address: SocketAddr, token: &str) {
        let fresh = Self::connect(address, token).await;
        let old = std::mem::replace(self, fresh);
        self.replicas = old.replicas;
        let held: Vec<_> = self.replicas.iter().map(|(id, replica)| (id.clone(), replica.last_event.clone())).collect();
        for (notebook, last_event) in held {
            self.subscribe_since(notebook.as_str(), Some(last_event)).await;
        }
    }

    pub fn replica(&self, notebook: &str) -> &Replica {
        &self.replicas[&id(notebook)]
    }

    pub fn state(&self, notebook: &str) -> &Document {
        &self.replica(notebook).notebook
    }

    // --- receiving ---

    /// Reads until `found` returns a value.
    #[track_caller]
    pub fn until<T>(&mut self, mut found: impl FnMut(&Self) -> Option<T>) -> impl Future<Output = T> {
        let caller = std::panic::Location::caller();
        async move {
            let end = tokio::time::Instant::now() + PATIENCE;
            loop {
                if let Some(value) = found(self) {
                    return value;
                }
                assert!(!self.is_closed, "{caller}: the server closed; errors: {:?}", self.errors);
                if tokio::time::timeout_at(end, self.hear()).await.is_err() {
                    panic!("{caller}: it never came; errors: {:?}, rejects: {:?}", self.errors, self.rejects);
                }
            }
        }
    }

    /// Returns the next message that is not processed.
    pub async fn next_other(&mut self) -> ServerMessage {
        let comes = async {
            while self.others.is_empty() {
                self.hear().await;
            }
        };
        tokio::time::timeout(PATIENCE, comes).await.expect("the server says something");
        self.others.remove(0)
    }

    /// Reads until the server has closed the connection.
    pub async fn until_closed(&mut self) {
        let closed = async {
            while !self.is_closed {
                self.hear().await;
            }
        };
        tokio::time::timeout(PATIENCE, closed).await.expect("the server closes");
    }

    /// Returns the next error, which `cause` must lead to.
    pub async fn error(&mut self, cause: &str) -> ErrorMessage {
        let end = tokio::time::Instant::now() + PATIENCE;
        while self.errors.is_empty() {
            let heard = tokio::time::timeout_at(end, self.hear()).await;
            assert!(heard.is_ok() && (!self.is_closed || !self.errors.is_empty()), "no error came for: {cause}");
        }
        self.errors.remove(0)
    }

    /// Reads one frame.
    async fn hear(&mut self) {
        match self.socket.next().await {
            Some(Ok(Message::Text(text))) => {
                let message: ServerMessage =
                    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
                self.take(message);
            }
            Some(Ok(Message::Close(_)) | Err(_)) | None => self.is_closed = true,
            Some(Ok(_)) => {}
        }
    }

    fn take(&mut self, message: ServerMessage) {
        match message {
            ServerMessage::Welcome(welcome) => self.welcome = Some(welcome),
            ServerMessage::Subscribed(subscribed) => self.take_subscribed(*subscribed),
            ServerMessage::Events(events) => self.take_events(events),
            ServerMessage::Ack(ack) => {
                self.pending.remove(&ack.id);
                self.acks.insert(ack.id.clone(), ack);
            }
            ServerMessage::Reject(reject) => {
                self.pending.remove(&reject.id);
                self.rejects.insert(reject.id.clone(), reject);
            }
            ServerMessage::Presence { notebook, peers, left } => {
                if let Some(replica) = self.replicas.get_mut(&notebook) {
                    replica.peers.extend(peers.into_iter().map(|peer| (peer.connection.clone(), peer)));
                    replica.peers.retain(|connection, _| !left.contains(connection));
                }
            }
            ServerMessage::Kernels { notebook, kernels } => {
                if let Some(replica) = self.replicas.get_mut(&notebook) {
                    replica.kernels = kernels;
                }
            }
            ServerMessage::Access { ref notebook, role } => {
                match (role, self.replicas.get_mut(notebook)) {
                    (Some(role), Some(replica)) => replica.role = role,
                    (None, _) => _ = self.replicas.remove(notebook),
                    (Some(_), None) => {}
                }
                self.others.push(message);
            }
            ServerMessage::Resync { notebook, .. } => {
                if let Some(replica) = self.replicas.get_mut(&notebook) {
                    replica.resyncs += 1;
                    replica.is_behind = true;
                }
            }
            ServerMessage::Error(error) => self.errors.push(error),
            other => self.others.push(other),
        }
    }

    fn take_subscribed(&mut self, message: SubscribedMessage) {
        let last_event = LastEvent { version: message.version, event_id: message.event_id };
        let peers = message.peers.into_iter().map(|peer| (peer.connection.clone(), peer)).collect();
        let replica = self.replicas.entry(message.notebook.clone()).or_insert_with(|| Replica {
            notebook: Document::new(message.notebook),
            last_event: last_event.clone(),
            role: message.role,
            events: Vec::new(),
            peers: BTreeMap::new(),
            kernels: Vec::new(),
            digest: None,
            snapshots: 0,
            resyncs: 0,
            is_behind: false,
        });
        replica.last_event = last_event;
        replica.role = message.role;
        replica.peers = peers;
        replica.kernels = message.kernels;
        replica.is_behind = false;
        if let Some(snapshot) = message.snapshot {
            replica.snapshots += 1;
            replica.digest = message.digest;
            replica.notebook = *snapshot;
        }
        assert_eq!(replica.notebook.version, message.version, "what follows continues what the client holds");
    }

    fn take_events(&mut self, message: EventsMessage) {
        let Some(replica) = self.replicas.get_mut(&message.notebook) else { return };
        assert!(!replica.is_behind, "no events between resync and subscribed");
        assert_eq!(message.from, message.events[0].version);
        for event in message.events {
            if event.version <= replica.notebook.version {
                continue;
            }
            assert_eq!(event.version, replica.notebook.version + 1, "versions are gapless");
            replica.notebook.apply(&recorded(&message.notebook, &event));
            replica.last_event = LastEvent { version: event.version, event_id: event.id.clone() };
            replica.events.push(event);
        }
    }
}

/// Returns the event with its envelope, as `apply` takes it.
fn recorded(notebook: &NotebookId, message: &EventMessage) -> Recorded {
    let message = message.clone();
    let event = Event::decode(&message.event_type, message.schema, message.payload.get()).unwrap();
    let envelope = Envelope {
        id: message.id,
        notebook_id: notebook.clone(),
        version: message.version,
        event_type: message.event_type,
        schema: message.schema,
        actor: message.actor,
        command_id: message.command_id,
        correlation_id: message.correlation_id,
        causation_id: message.causation_id,
        undoes: message.undoes,
        recorded_at: message.recorded_at,
    };
    Recorded { envelope, event }
}
