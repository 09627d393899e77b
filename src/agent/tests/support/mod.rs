//! A fake server in this process and in memory: the real core behind a socket, without store, accounts or limits.
//! It can cut the network and send commands as the server.
#![allow(dead_code)]

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use notarium_core::{
    Actor, AgentId, Authority, Command, CommandId, Context, Document, Event, Head, History, IdSource, KernelPhase,
    Limits, Notebook, NotebookId, Past, Recorded, Role, Scope, Selection, Stored, UserId, Version, decide,
    required_history, seal,
};
use notarium_wire::{
    AckMessage, ClientMessage, CommandMessage, EventMessage, EventsMessage, KernelAnswer, KernelQuestionMessage,
    LastEvent, OfferMessage, PROTOCOLS, RejectMessage, ServerMessage, SubscribeMessage, SubscribedMessage,
    WelcomeMessage,
};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{mpsc, oneshot, watch};
use tokio_tungstenite::tungstenite::Message;

/// Timeout for every expected event.
pub const PATIENCE: Duration = Duration::from_secs(120);

#[derive(Default)]
struct Room {
    state: Option<Notebook>,
    log: Vec<Stored>,
    head: Option<Head>,
}

struct Client {
    actor: Actor,
    out: mpsc::UnboundedSender<ServerMessage>,
    subscribed: BTreeSet<NotebookId>,
    offers: BTreeSet<String>,
}

#[derive(Default)]
struct Inner {
    rooms: BTreeMap<NotebookId, Room>,
    answers: HashMap<CommandId, ServerMessage>,
    clients: BTreeMap<u64, Client>,
    /// Receivers of the answers to questions to a kernel.
    questions: HashMap<u64, oneshot::Sender<KernelAnswer>>,
    blobs: BTreeMap<String, Vec<u8>>,
    next: u64,
    limits: Limits,
    /// Every this many commands of agents the store fails; 0: never.
    fails_every: u64,
    /// Count of commands that the store has failed.
    failed: u64,
    agent_commands: u64,
}

/// See the module's documentation.
#[derive(Clone)]
pub struct FakeServer {
    pub address: String,
    inner: Arc<Mutex<Inner>>,
    /// False: connections are cut and refused.
    network: Arc<watch::Sender<bool>>,
}

impl FakeServer {
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let network = Arc::new(watch::channel(true).0);
        let server = Self { address, inner: Arc::default(), network };
        let accepting = server.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(accepting.clone().serve(stream));
            }
        });
        server
    }

    pub fn cut(&self) {
        self.network.send_replace(false);
    }

    pub fn mend(&self) {
        self.network.send_replace(true);
    }

    /// Answers one of this many commands of agents with `unavailable`; half of these are applied all the same.
    pub fn fail_every(&self, commands: u64) {
        self.inner.lock().unwrap().fails_every = commands;
    }

    /// Waits until the store has failed so many commands.
    pub async fn until_failed(&self, count: u64) {
        while self.inner.lock().unwrap().failed < count {
            tokio::task::yield_now().await;
        }
    }

    pub fn limit(&self, change: impl FnOnce(&mut Limits)) {
        change(&mut self.inner.lock().unwrap().limits);
    }

    pub fn blob(&self, sha256: &str) -> Option<Vec<u8>> {
        self.inner.lock().unwrap().blobs.get(sha256).cloned()
    }

    pub fn state(&self, notebook: &NotebookId) -> Notebook {
        self.inner.lock().unwrap().rooms[notebook].state.clone().unwrap()
    }

    pub fn events(&self, notebook: &NotebookId) -> Vec<Recorded> {
        self.inner.lock().unwrap().rooms[notebook].log.iter().map(|stored| stored.typed().unwrap()).collect()
    }

    /// Applies a command of the server itself.
    pub fn as_system(&self, notebook: &NotebookId, command: Command) {
        let id: CommandId = ulid::Ulid::generate().into();
        let body = notarium_core::RawJson::of(&command).unwrap();
        let message =
            CommandMessage { id, notebook: notebook.clone(), expected_version: None, correlation_id: None, body };
        let answer = self.inner.lock().unwrap().command(&Actor::System, &message);
        assert!(matches!(answer, ServerMessage::Ack(_)), "{answer:?}");
    }

    /// Sends the answer to an input request to every agent.
    pub fn input_value(&self, notebook: &NotebookId, execution_id: &notarium_core::ExecutionId, value: &str) {
        let (notebook, execution_id, value) = (notebook.clone(), execution_id.clone(), value.to_owned());
        let message = ServerMessage::InputValue { notebook, execution_id, value };
        for client in self.inner.lock().unwrap().clients.values().filter(|client| !client.offers.is_empty()) {
            let _ = client.out.send(message.clone());
        }
    }

    /// Sends a question to all agents and waits for the answer.
    pub async fn ask(&self, question: KernelQuestionMessage) -> KernelAnswer {
        let (answer, answered) = oneshot::channel();
        {
            let mut inner = self.inner.lock().unwrap();
            inner.questions.insert(question.id, answer);
            for client in inner.clients.values().filter(|client| !client.offers.is_empty()) {
                let _ = client.out.send(ServerMessage::KernelQuestion(question.clone()));
            }
        }
        tokio::time::timeout(PATIENCE, answered).await.unwrap().unwrap()
    }

    async fn serve(self, mut stream: TcpStream) {
        let mut network = self.network.subscribe();
        if !*network.borrow() {
            return;
        }
        let mut first = [0; 3];
        stream.peek(&mut first).await.unwrap_or_default();
        let work =
            async { if &first == b"PUT" { self.put(&mut stream).await } else { self.socket(&mut stream).await } };
        tokio::select! {
            _ = work => {}
            _ = network.wait_for(|up| !up) => {}
        }
    }

    async fn put(&self, stream: &mut TcpStream) -> Option<()> {
        let mut request = Vec::new();
        let head = loop {
            stream.read_buf(&mut request).await.ok().filter(|read| *read > 0)?;
            if let Some(at) = request.windows(4).position(|window| window == b"\r\n\r\n") {
                break at + 4;
            }
        };
        let text = String::from_utf8_lossy(&request[..head]).to_ascii_lowercase();
        let length: usize = text.lines().find_map(|line| line.strip_prefix("content-length: "))?.trim().parse().ok()?;
        while request.len() < head + length {
            stream.read_buf(&mut request).await.ok().filter(|read| *read > 0)?;
        }
        let sha256 = text.split_whitespace().nth(1)?.rsplit('/').next()?.to_owned();
        self.inner.lock().unwrap().blobs.insert(sha256, request[head..].to_vec());
        stream.write_all(b"HTTP/1.1 201 Created\r\ncontent-length: 0\r\nconnection: close\r\n\r\n").await.ok()
    }

    async fn socket(&self, stream: &mut TcpStream) -> Option<()> {
        let socket = tokio_tungstenite::accept_async(stream).await.ok()?;
        let (mut sink, mut reader) = socket.split();
        let (out, mut waiting) = mpsc::unbounded_channel::<ServerMessage>();
        let number = {
            let mut inner = self.inner.lock().unwrap();
            inner.next += 1;
            inner.next
        };
        let result = async {
            loop {
                tokio::select! {
                    message = waiting.recv() => {
                        let text = serde_json::to_string(&message?).unwrap();
                        sink.send(Message::Text(text.into())).await.ok()?;
                    }
                    message = reader.next() => match message?.ok()? {
                        Message::Text(text) => {
                            let message: ClientMessage = serde_json::from_str(&text).unwrap();
                            self.inner.lock().unwrap().message(number, &out, message);
                        }
                        Message::Close(_) => return None::<()>,
                        _ => {}
                    },
                }
            }
        };
        let ended = result.await;
        self.inner.lock().unwrap().clients.remove(&number);
        ended
    }
}

fn actor_of(token: &str) -> Actor {
    match token.strip_prefix("agent-") {
        Some(id) => Actor::Agent { id: AgentId::new(id).unwrap() },
        None => Actor::User { id: UserId::new(token).unwrap() },
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Failure {
    NotWritten,
    Written,
}

fn unavailable(message: &CommandMessage) -> ServerMessage {
    ServerMessage::Reject(RejectMessage {
        id: message.id.clone(),
        notebook: message.notebook.clone(),
        rejection: notarium_core::Rejection::new(notarium_core::RejectionCode::Unavailable, "the disk is full"),
    })
}

impl Inner {
    fn message(&mut self, number: u64, out: &mpsc::UnboundedSender<ServerMessage>, message: ClientMessage) {
        match message {
            ClientMessage::Hello(hello) => {
                let actor = actor_of(&hello.token.unwrap());
                let client = Client {
                    actor: actor.clone(),
                    out: out.clone(),
                    subscribed: BTreeSet::new(),
                    offers: BTreeSet::new(),
                };
                self.clients.insert(number, client);
                let _ = out.send(ServerMessage::Welcome(WelcomeMessage {
                    protocol: PROTOCOLS.max,
                    server: "fake".into(),
                    connection: number.to_string(),
                    actor,
                    scopes: vec![Scope::Read],
                    expires_at: None,
                    max_frame_bytes: 8 << 20,
                    heartbeat_ms: 20_000,
                    features: vec![],
                    limits: None,
                }));
            }
            ClientMessage::Subscribe(subscribe) => self.subscribe(number, out, subscribe),
            ClientMessage::Unsubscribe { notebook } => {
                self.clients.get_mut(&number).unwrap().subscribed.remove(&notebook);
            }
            ClientMessage::Command(command) => {
                let actor = self.clients[&number].actor.clone();
                let answer = self.command(&actor, &command);
                let _ = out.send(answer);
            }
            ClientMessage::Offer(OfferMessage { kernelspecs, .. }) => {
                self.clients.get_mut(&number).unwrap().offers = kernelspecs.into_iter().map(|spec| spec.name).collect();
                self.tell_work();
            }
            ClientMessage::AnswerQuestion { id, answer } => {
                let _ = self.questions.remove(&id).unwrap().send(answer);
            }
            _ => {}
        }
    }

    fn subscribe(&mut self, number: u64, out: &mpsc::UnboundedSender<ServerMessage>, subscribe: SubscribeMessage) {
        let room = &self.rooms[&subscribe.notebook];
        let state = room.state.clone().unwrap();
        let id_at = |version: Version| {
            let stored = &room.log[usize::try_from(version).unwrap().checked_sub(1)?];
            Some(stored.envelope.id.clone())
        };
        let is_known =
            |last: &LastEvent| last.version <= state.version && id_at(last.version) == Some(last.event_id.clone());
        let diverged = subscribe.since.as_ref().is_some_and(|last| !is_known(last));
        let since = subscribe.since.filter(|_| !diverged).map(|last| last.version);
        let version = since.unwrap_or(state.version);
        let _ = out.send(ServerMessage::Subscribed(Box::new(SubscribedMessage {
            notebook: subscribe.notebook.clone(),
            version,
            event_id: id_at(version).unwrap(),
            diverged,
            role: Role::Editor,
            document: notarium_wire::DOCUMENT,
            redaction_epoch: 0,
            digest: None,
            undo: None,
            read_only: false,
            snapshot: since.is_none().then(|| Box::new(Document::clone(&state.document))),
            unconfirmed_events: vec![],
            base_too_old: vec![],
            peers: vec![],
            kernels: vec![],
        })));
        let missed: Vec<EventMessage> =
            room.log[usize::try_from(version).unwrap()..].iter().map(EventMessage::from).collect();
        if !missed.is_empty() {
            let notebook = subscribe.notebook.clone();
            let _ = out.send(ServerMessage::Events(EventsMessage { notebook, from: version + 1, events: missed }));
        }
        self.clients.get_mut(&number).unwrap().subscribed.insert(subscribe.notebook);
    }

    fn command(&mut self, actor: &Actor, message: &CommandMessage) -> ServerMessage {
        if let Some(answer) = self.answers.get(&message.id) {
            return answer.clone();
        }
        let failure = self.failure(actor);
        self.failed += u64::from(failure.is_some());
        if failure == Some(Failure::NotWritten) {
            return unavailable(message);
        }
        let answer = self.decide(actor, message);
        self.answers.insert(message.id.clone(), answer.clone());
        if failure.is_some() { unavailable(message) } else { answer }
    }

    fn failure(&mut self, actor: &Actor) -> Option<Failure> {
        self.agent_commands += u64::from(matches!(actor, Actor::Agent { .. }));
        let fails = matches!(actor, Actor::Agent { .. })
            && self.fails_every > 0
            && self.agent_commands.is_multiple_of(self.fails_every);
        let is_written = (self.agent_commands / self.fails_every.max(1)).is_multiple_of(2) && self.fails_every > 1;
        fails.then_some(if is_written { Failure::Written } else { Failure::NotWritten })
    }

    fn decide(&mut self, actor: &Actor, message: &CommandMessage) -> ServerMessage {
        let command: Command = serde_json::from_str(message.body.get()).unwrap();
        let room = self.rooms.entry(message.notebook.clone()).or_default();
        let state = room.state.get_or_insert_with(|| Notebook::new(message.notebook.clone()));
        let authority = if matches!(actor, Actor::Agent { .. }) { Authority::agent() } else { Authority::session() };
        let now = 1_000_000 + state.version;
        let mut context = Context {
            now,
            instance: "instance".parse().unwrap(),
            actor: actor.clone(),
            authority,
            command_id: message.id.clone(),
            correlation_id: message.correlation_id.clone().unwrap_or_else(|| message.id.as_str().parse().unwrap()),
            causation_id: None,
            expected_version: message.expected_version,
            head_hash: notarium_core::Head::START.hash,
            ids: IdSource::new(now, *blake(message.id.as_str())),
            history: History::default(),
            past: None,
            redaction: None,
            account_status: Default::default(),
            away: Default::default(),
            unreachable: Default::default(),
            holding_kernelspecs: Default::default(),
            agent_labels: Default::default(),
            run_effects: None,
            unposted: Default::default(),
            limits: self.limits.clone(),
        };
        let mut past = Past::default();
        for query in required_history(state, &context, &command) {
            let select = |wanted: &Selection| {
                let log = room.log.iter().filter_map(|stored| stored.typed().ok());
                let selected = log.filter(|one| wanted.holds(one.envelope.version, one.event.subject()));
                Ok::<_, ()>(selected.collect())
            };
            past.extend(query.answer(select).unwrap());
        }
        context.history = past.into();
        let decision = match decide(state, &mut context, command) {
            Ok(decision) => decision,
            Err(rejection) => {
                let (id, notebook) = (message.id.clone(), message.notebook.clone());
                return ServerMessage::Reject(RejectMessage { id, notebook, rejection });
            }
        };
        let mut head = room.head.unwrap_or(Head::START);
        let stored = seal(&mut head, &message.notebook, &mut context, &decision.events).unwrap();
        room.head = Some(head);
        for stored in &stored {
            state.apply(&stored.typed().unwrap());
        }
        room.log.extend(stored.iter().cloned());
        let version = state.version;
        self.broadcast(&message.notebook, &stored);
        self.tell_work();
        ServerMessage::Ack(AckMessage {
            id: message.id.clone(),
            notebook: message.notebook.clone(),
            version,
            outcome: decision.outcome,
            undo: None,
        })
    }

    fn broadcast(&self, notebook: &NotebookId, stored: &[Stored]) {
        let Some(first) = stored.first() else { return };
        let events = stored.iter().map(EventMessage::from).collect();
        let message = EventsMessage { notebook: notebook.clone(), from: first.envelope.version, events };
        for client in self.clients.values().filter(|client| client.subscribed.contains(notebook)) {
            let _ = client.out.send(ServerMessage::Events(message.clone()));
        }
    }

    fn tell_work(&self) {
        for (notebook, room) in &self.rooms {
            let Some(state) = &room.state else { continue };
            for (id, kernel) in state.kernels.iter().filter(|(_, kernel)| kernel.phase == KernelPhase::Requested) {
                for client in self.clients.values().filter(|client| client.offers.contains(&kernel.kernelspec)) {
                    let _ = client.out.send(ServerMessage::Work {
                        notebook: notebook.clone(),
                        kernel_session: id.clone(),
                        kernelspec: kernel.kernelspec.clone(),
                    });
                }
            }
        }
    }
}

/// Hashes the text to 32 bytes.
fn blake(text: &str) -> Box<[u8; 32]> {
    use sha2::Digest;
    Box::new(sha2::Sha256::digest(text).into())
}

/// True if an event is of this type.
pub fn is(recorded: &Recorded, event_type: &str) -> bool {
    recorded.event.event_type() == event_type
}

/// The text of all streams of an execution, from the log.
pub fn streamed(events: &[Recorded]) -> String {
    let mut text = String::new();
    for recorded in events {
        let Event::ExecutionOutputAppended(event) = &recorded.event else { continue };
        for output in &event.outputs {
            let content: serde_json::Value = serde_json::from_str(output.content.get()).unwrap();
            text.push_str(content["text"].as_str().unwrap_or_default());
        }
    }
    text
}
