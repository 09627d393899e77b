//! Edge: the end of a client's socket in a cluster. The client says hello here, and its frames go to the nodes that own its
//! notebooks, over one connection for each node.
//!
//! When another node takes a notebook over, the edge subscribes there from the client's position and sends the unanswered
//! commands again. Commands have ids, so the store takes each once, and the client sees a `resync` at most.
//!
//! A runtime agent is connected to all nodes, so that each of them can offer it kernels.

mod peek;
mod routes;
mod upstream;

use std::collections::HashMap;
use std::time::Duration;

use axum::extract::Request;
use http::HeaderValue;
use notarium_core::{Door, InstanceId, NotebookId};
use notarium_wire::{ErrorCode, ErrorMessage, HelloMessage, ProtocolRange, ServerMessage};
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;
use tokio_tungstenite::tungstenite::Utf8Bytes;

pub use upstream::ForwardedClient;

use super::hello::{Named, fatal, let_in, parse, problem, refusal, welcome};
use super::pulse::Pulse;
use super::reader::{Next, Received, Stream, complain, hear};
use crate::agents::frame;
use crate::app::App;
use crate::auth::{Authenticated, Follow};
use crate::cluster::{HOPS, IDENTITY, OwnerNode, PeerError};
use crate::limits::clock::Window;
use crate::rooms::{ClientRegistration, Frame, Offered, Outbox};
use peek::{Fields, Peek, peek};
use routes::NotebookRoutes;
use upstream::{NodeReport, NodeTarget, SOCKET_PATH, Upstream};

/// Reports of nodes that wait for the client to read.
const MAX_WAITING_REPORTS: usize = 64;
/// Pauses between attempts to find the node of a notebook: the first, and the longest.
const FIRST_PAUSE: Duration = Duration::from_millis(20);
const MAX_PAUSE: Duration = Duration::from_millis(500);
/// Time without a node for a notebook after which the client is sent away, to connect again.
const MAX_UNSERVED: Duration = Duration::from_secs(30);
/// Time that the commands of a client that has closed its connection have to be answered.
const FAREWELL: Duration = Duration::from_secs(10);
/// Questions to an agent whose node is remembered. Beyond, all are forgotten.
const MAX_QUESTIONS: usize = 10_000;
/// Characters of a node's id in the names of its connections.
const TAG_CHARS: usize = 6;

type EdgeResult = Result<(), ErrorMessage>;

/// Takes the signed client of another node from a request for a socket.
pub fn forwarded_client(app: &App, request: &mut Request) -> Result<Option<ForwardedClient>, PeerError> {
    request.headers_mut().remove(HOPS);
    let header = request.headers_mut().remove(IDENTITY);
    let (Some(header), Some(peers)) = (header, app.cluster.peers()) else { return Ok(None) };
    peers.verify_or_ignore(request.method(), SOCKET_PATH, &header)
}

/// Edge of one client.
pub struct ClientEdge {
    app: App,
    outbox: Outbox,
    /// Keeps the number in the connection's name taken.
    _client: ClientRegistration,
    connection: String,
    /// The client, without a name that a guest chose.
    who: Authenticated,
    /// The client's hello for nodes, without its token.
    hello: HelloMessage,
    /// Trace of the client's request for its socket.
    trace: Option<HeaderValue>,
    upstreams: HashMap<InstanceId, Upstream>,
    last_number: u64,
    reporting: upstream::Reports,
    reports: mpsc::Receiver<(InstanceId, u64, NodeReport)>,
    routes: NotebookRoutes,
    /// Nodes that asked an agent, by the number of the question.
    questions: HashMap<u64, InstanceId>,
    /// An agent's last offer and load, for nodes that appear later.
    announced: [Option<Utf8Bytes>; 2],
    retries: Retries,
    held: Option<HeldFrames>,
}

/// Attempts to find nodes for notebooks.
#[derive(Default)]
struct Retries {
    at: Option<Instant>,
    pause: Duration,
    since: Option<Instant>,
}

impl Retries {
    fn schedule(&mut self) {
        self.pause = (self.pause * 2).clamp(FIRST_PAUSE, MAX_PAUSE);
        let now = Instant::now();
        self.at.get_or_insert(now + self.pause);
        self.since.get_or_insert(now);
    }
}

/// Frames that the client's queue has no room for.
struct HeldFrames {
    frames: Vec<Frame>,
    drained: oneshot::Receiver<()>,
}

/// Next event of an edge.
enum EdgeEvent {
    Client(Next),
    Report(InstanceId, u64, NodeReport),
    Drained,
    NodesChanged,
    Retry,
    Over,
}

impl ClientEdge {
    /// Begins with the `welcome`, which names the protocol. `who`: the client without a name that a guest chose.
    pub fn new(
        app: App,
        (protocol, hello): (u32, HelloMessage),
        person: Named,
        who: Authenticated,
        outbox: Outbox,
    ) -> Box<Self> {
        let client = app.rooms.connect(outbox.clone());
        let instance = app.cluster.instance().as_str();
        let tag = &instance[instance.len().saturating_sub(TAG_CHARS)..];
        let connection = format!("c{}-{tag}", client.id.0);
        outbox.send(frame(&welcome(&app, &person.authenticated, &connection, protocol)));
        let (reporting, reports) = mpsc::channel(MAX_WAITING_REPORTS);
        // With a name, a new connection to a node replaces an old one that still looks alive.
        let instance = hello.instance.or_else(|| who.is_agent().then(|| connection.clone()));
        let protocols = ProtocolRange { min: protocol, max: protocol };
        let hello = HelloMessage { token: None, instance, protocols, ..hello };
        Box::new(Self {
            app,
            outbox,
            _client: client,
            connection,
            who,
            hello,
            trace: None,
            upstreams: HashMap::new(),
            last_number: 0,
            reporting,
            reports,
            routes: NotebookRoutes::default(),
            questions: HashMap::new(),
            announced: [None, None],
            retries: Retries::default(),
            held: None,
        })
    }

    /// Continues this trace at the nodes.
    pub fn in_trace(mut self: Box<Self>, trace: Option<HeaderValue>) -> Box<Self> {
        self.trace = trace;
        self
    }

    /// Serves the client until its connection ends.
    pub async fn serve(mut self, stream: &mut Stream, pulse: &Pulse, mut follow: Follow) {
        let app = self.app.clone();
        let mut errors = Window::new(Duration::from_secs(60));
        let mut changes = app.cluster.changes();
        let mut ends_at = None;
        let mut is_paused = false;
        self.meet_nodes();
        while ends_at.is_none() || self.routes.unanswered() > 0 {
            is_paused = self.pauses(is_paused);
            let event = tokio::select! {
                next = hear(&app, stream, pulse), if !is_paused && ends_at.is_none() => EdgeEvent::Client(next),
                Some((node, number, report)) = self.reports.recv(), if self.held.is_none() => {
                    EdgeEvent::Report(node, number, report)
                }
                () = drained(&mut self.held) => EdgeEvent::Drained,
                changed = follow.changed() => EdgeEvent::Client(Next::TokenChanged(changed.map(Box::new))),
                () = changed(&mut changes) => EdgeEvent::NodesChanged,
                () = at(self.retries.at) => EdgeEvent::Retry,
                () = app.stopping.cancelled() => EdgeEvent::Over,
                () = at(ends_at) => EdgeEvent::Over,
            };
            let done = match event {
                EdgeEvent::Client(Next::Received(Received::Closed | Received::Ended)) => {
                    ends_at = Some(Instant::now() + FAREWELL);
                    Ok(())
                }
                EdgeEvent::Over | EdgeEvent::Client(Next::Received(Received::Gone) | Next::Silent) => return,
                event => Box::pin(self.take(event, &mut follow)).await,
            };
            let Err(error) = done else { continue };
            if !complain(&self.outbox, error, errors.take(app.limits.max_errors_per_minute)) {
                return;
            }
        }
    }

    async fn take(&mut self, event: EdgeEvent, follow: &mut Follow) -> EdgeResult {
        match event {
            EdgeEvent::Client(Next::Received(Received::Text(text))) => self.take_frame(text, follow).await,
            EdgeEvent::Client(Next::Received(Received::Error(error))) => Err(error),
            EdgeEvent::Client(Next::TokenChanged(Ok(who))) => {
                self.who = *who;
                Ok(())
            }
            EdgeEvent::Client(Next::TokenChanged(Err(error))) => Err(refusal(&error)),
            EdgeEvent::Report(node, number, report) => self.take_report(node, number, report),
            EdgeEvent::Drained => {
                if let Some(held) = self.held.take() {
                    held.frames.into_iter().for_each(|frame| _ = self.outbox.send(frame));
                }
                Ok(())
            }
            EdgeEvent::NodesChanged => {
                self.leave_dead_nodes();
                self.meet_nodes();
                Ok(())
            }
            EdgeEvent::Retry => self.retry().await,
            EdgeEvent::Client(_) | EdgeEvent::Over => Ok(()),
        }
    }

    /// True if the client is not read, because too many of its commands are unanswered; it is until half of them are.
    fn pauses(&self, was_paused: bool) -> bool {
        let (limit, unanswered) = (self.app.limits.max_unanswered_commands, self.routes.unanswered());
        let pauses = if was_paused { unanswered > limit / 2 } else { unanswered >= limit };
        if pauses && !was_paused {
            let unanswered = u32::try_from(unanswered).unwrap_or(u32::MAX);
            self.outbox.send(frame(&ServerMessage::SlowDown { unanswered }));
        }
        pauses
    }

    // --- from the client ---

    async fn take_frame(&mut self, text: Utf8Bytes, follow: &mut Follow) -> EdgeResult {
        let Some(Peek { name, mut fields }) = peek(&text) else { return Err(malformed(&text)) };
        match name.as_str() {
            "hello" => Err(problem(ErrorCode::Malformed, "hello comes once: use refresh for a new token")),
            "refresh" => match fields.token.take() {
                Some(token) => self.refresh(token, follow).await,
                None => Err(malformed(&text)),
            },
            "offer" | "machine_load" => {
                self.announce(usize::from(name == "machine_load"), &text);
                Ok(())
            }
            "answer_question" | "answer_file" => {
                self.answer_node(&fields, text.clone());
                Ok(())
            }
            name => match fields.notebook.take() {
                Some(notebook) => {
                    // A command that no node takes would count as unanswered for ever.
                    if name == "command" {
                        parse(&text)?;
                    }
                    self.pass_on(&notebook, (name, &fields), &text).await;
                    Ok(())
                }
                None => Err(malformed(&text)),
            },
        }
    }

    async fn pass_on(&mut self, notebook: &NotebookId, message: (&str, &Fields), text: &Utf8Bytes) {
        match self.routes.note_sent(notebook, message, text).and_then(|node| self.upstreams.get(&node)) {
            Some(upstream) => upstream.send(text.clone()),
            None => self.find_node(notebook).await,
        }
    }

    /// An agent's offer and load go to all nodes. Those of others are refused by one.
    fn announce(&mut self, place: usize, text: &Utf8Bytes) {
        if self.who.is_agent() {
            self.announced[place] = Some(text.clone());
            self.upstreams.values().for_each(|upstream| upstream.send(text.clone()));
        } else {
            let (instance, url) = (self.app.cluster.instance().clone(), self.app.cluster.url().to_owned());
            if let Some(upstream) = self.upstream(instance, url) {
                upstream.send(text.clone());
            }
        }
    }

    fn answer_node(&mut self, fields: &Fields, text: Utf8Bytes) {
        let asker = fields.number().and_then(|number| self.questions.remove(&number));
        if let Some(upstream) = asker.and_then(|node| self.upstreams.get(&node)) {
            upstream.send(text);
        }
    }

    /// Nodes get the client with its new rights: the connections to them begin anew.
    async fn refresh(&mut self, token: String, follow: &mut Follow) -> EdgeResult {
        let door: Door = self.who.door;
        let (who, followed) = let_in(&self.app, Some(token), door)
            .await
            .map_err(|error| ErrorMessage { fatal: false, ..refusal(&error) })?;
        if who.actor != self.who.actor {
            return Err(problem(ErrorCode::Forbidden, "that token is another account's: open a connection for it"));
        }
        (self.who, *follow) = (who, followed);
        self.upstreams.clear();
        self.routes.unserve(|_, _| true);
        self.meet_nodes();
        self.retry().await
    }

    // --- nodes ---

    /// Connects an agent to every node.
    fn meet_nodes(&mut self) {
        if !self.who.is_agent() {
            return;
        }
        let own = (self.app.cluster.instance().clone(), self.app.cluster.url().to_owned());
        let others = self.app.cluster.others().into_iter().map(|node| (node.instance, node.url));
        for (instance, url) in std::iter::once(own).chain(others) {
            self.upstream(instance, url);
        }
    }

    fn leave_dead_nodes(&mut self) {
        let living: Vec<InstanceId> = self.app.cluster.others().into_iter().map(|node| node.instance).collect();
        let own = self.app.cluster.instance();
        let is_dead = |node: &InstanceId| node != own && !living.contains(node);
        let dead: Vec<InstanceId> = self.upstreams.keys().filter(|node| is_dead(node)).cloned().collect();
        for node in dead {
            self.lose_node(&node);
        }
    }

    /// Looks for new nodes of the notebooks that this one served.
    fn lose_node(&mut self, node: &InstanceId) {
        self.upstreams.remove(node);
        for notebook in self.routes.unserve(|_, (at, _)| at == node) {
            self.app.cluster.forget(&notebook);
        }
        self.retries.schedule();
    }

    /// Returns the connection to a node, which begins if there is none.
    fn upstream(&mut self, instance: InstanceId, url: String) -> Option<&Upstream> {
        if !self.upstreams.contains_key(&instance) {
            let client = (&self.who, self.connection.as_str());
            let target =
                NodeTarget::new(&self.app, (instance.clone(), url), client, (&self.hello, self.trace.as_ref()))?;
            self.last_number += 1;
            let upstream = Upstream::start(self.last_number, target, self.reporting.clone());
            self.announced.iter().flatten().for_each(|frame| upstream.send(frame.clone()));
            self.upstreams.insert(instance.clone(), upstream);
        }
        self.upstreams.get(&instance)
    }

    /// Finds the node that serves the notebook, and sends it everything that the client waits for.
    async fn find_node(&mut self, notebook: &NotebookId) {
        let (instance, url) = match self.app.cluster.place(notebook).await {
            Ok(OwnerNode::Here) => (self.app.cluster.instance().clone(), self.app.cluster.url().to_owned()),
            Ok(OwnerNode::Elsewhere(node)) => (node.instance, node.url),
            Err(error) => {
                tracing::debug!(%error, %notebook, "no node serves the notebook now");
                return self.retries.schedule();
            }
        };
        let Some(number) = self.upstream(instance.clone(), url).map(|upstream| upstream.number) else { return };
        let Some(route) = self.routes.by_notebook.get_mut(notebook) else { return };
        let begins_anew = route.begins_anew();
        route.at = Some((instance.clone(), number));
        let frames = route.renewed(notebook);
        if begins_anew {
            let reason = "another server has the notebook now".to_owned();
            self.deliver(frame(&ServerMessage::Resync { notebook: notebook.clone(), reason }));
        }
        if let Some(upstream) = self.upstreams.get(&instance) {
            frames.into_iter().for_each(|frame| upstream.send(frame));
        }
    }

    async fn retry(&mut self) -> EdgeResult {
        self.retries.at = None;
        self.meet_nodes();
        for notebook in self.routes.unserved() {
            self.find_node(&notebook).await;
        }
        if self.retries.at.is_some() && self.retries.since.is_some_and(|since| since.elapsed() > MAX_UNSERVED) {
            return Err(fatal(ErrorCode::Unavailable, "no server can open the notebook now: reconnect with backoff"));
        }
        Ok(())
    }

    // --- to the client ---

    fn take_report(&mut self, node: InstanceId, number: u64, report: NodeReport) -> EdgeResult {
        if self.upstreams.get(&node).is_none_or(|upstream| upstream.number != number) {
            return Ok(());
        }
        let text = match report {
            NodeReport::Frame(text) => text,
            NodeReport::Ended => {
                self.lose_node(&node);
                return Ok(());
            }
        };
        let Some(Peek { name, fields }) = peek(&text) else { return Ok(()) };
        match (name.as_str(), &fields.notebook) {
            ("welcome", _) => self.retries = Retries { at: self.retries.at, ..Retries::default() },
            ("moved", Some(notebook)) => {
                self.app.cluster.forget(notebook);
                self.routes.unserve(|unserved, at| unserved == notebook && (&at.0, at.1) == (&node, number));
                self.retries.schedule();
            }
            ("error", _) if fields.fatal => return self.take_fatal(&node, &text),
            ("kernel_question" | "file_request", _) => {
                if self.questions.len() >= MAX_QUESTIONS {
                    self.questions.clear();
                }
                self.questions.extend(fields.number().map(|question| (question, node)));
                self.deliver(Frame::text(text.clone().into()));
            }
            (name, Some(notebook)) if name != "work" => {
                if self.routes.note_received(notebook, (name, &fields), (&node, number)) {
                    self.retries = Retries { at: self.retries.at, ..Retries::default() };
                    self.deliver(Frame::text(text.clone().into()));
                }
            }
            _ => self.deliver(Frame::text(text.clone().into())),
        }
        Ok(())
    }

    /// A node that stops is left; any other fatal error is the client's.
    fn take_fatal(&mut self, node: &InstanceId, text: &str) -> EdgeResult {
        match serde_json::from_str(text) {
            Ok(ServerMessage::Error(error)) if error.code != ErrorCode::Unavailable => Err(error),
            _ => {
                self.lose_node(node);
                Ok(())
            }
        }
    }

    /// Queues a frame for the client. While its queue is full, nodes are not read.
    fn deliver(&mut self, frame: Frame) {
        if let Some(held) = &mut self.held {
            held.frames.push(frame);
        } else if self.outbox.offer(frame.clone()) == Offered::Full {
            let (wake, drained) = oneshot::channel();
            // The edge may have ended.
            self.outbox.when_drained(move || _ = wake.send(()));
            self.held = Some(HeldFrames { frames: vec![frame], drained });
        }
    }
}

fn malformed(text: &str) -> ErrorMessage {
    let other =
        || problem(ErrorCode::Malformed, "the message has a field of another shape than protocol/README.md says");
    parse(text).err().unwrap_or_else(other)
}

async fn drained(held: &mut Option<HeldFrames>) {
    match held {
        Some(held) => _ = (&mut held.drained).await,
        None => std::future::pending().await,
    }
}

async fn changed(changes: &mut Option<tokio::sync::watch::Receiver<u64>>) {
    if let Some(changes) = changes
        && changes.changed().await.is_ok()
    {
        return;
    }
    std::future::pending().await
}

async fn at(time: Option<Instant>) {
    match time {
        Some(time) => tokio::time::sleep_until(time).await,
        None => std::future::pending().await,
    }
}
