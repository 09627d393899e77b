//! A room: one task that owns the projection of a notebook, decides the updates of its clients one after the other, and shows what
//! others do.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use bytes::Bytes;
use notarium_client::{CommandError, CommandSender, ConnectError};
use notarium_core::{Command, Document, EventId, NotebookId, Recorded, Version};
use parking_lot::Mutex;
use serde_json::json;
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;

use crate::api::{CallerToken, encoded};
use crate::document::cell_view::BlobTexts;
use crate::document::differences;
use crate::document::projection::{Projection, Touched, UpdateError};
use crate::rooms::RoomParts;
use crate::rooms::awareness::AwarenessOf;
use crate::rooms::early::EarlyUpdates;
use crate::rooms::kept::{KeptDocument, KeptHead};
use crate::rooms::message::{self, SyncMessage};
use crate::rooms::words::LastSentence;

/// Messages of clients that may wait for the room.
const MAX_WAITING_MESSAGES: usize = 64;
/// Batches of events that may wait for the room.
const MAX_WAITING_EVENTS: usize = 1_024;
/// Close code by which clients load the notebook again.
const RELOAD: u16 = 1003;
/// Close code of a client that does not read.
const TOO_SLOW: u16 = 1013;
/// An update that changes nothing.
const EMPTY_UPDATE: [u8; 2] = [0, 0];

/// Frame for a client.
#[derive(Debug, Clone)]
pub enum Outgoing {
    Frame(Bytes),
    Close(u16, String),
}

/// Message to the room.
pub enum RoomInput {
    Join {
        member: u64,
        client: Box<NewMember>,
    },
    Message {
        member: u64,
        message: SyncMessage,
    },
    Leave {
        member: u64,
    },
    /// Answered after all earlier messages are decided.
    Settle(oneshot::Sender<()>),
}

/// A client that joins, with the state that its connection has.
pub struct NewMember {
    pub outbox: mpsc::Sender<Outgoing>,
    pub sender: CommandSender,
    pub token: CallerToken,
    pub document: Document,
    /// The event at the document's version.
    pub event_id: EventId,
}

/// News of a notebook, from the connection of any member. Several members bring the same.
pub enum RoomNews {
    Events(Vec<Recorded>),
    /// A state, and the event at its version if that is known.
    State(Box<Document>, Option<EventId>),
}

/// Handle of a room. The room ends with its last handle.
#[derive(Clone)]
pub struct JupyterRoom {
    session: Arc<Mutex<String>>,
    /// Path by which a client opened the notebook last.
    path: Arc<Mutex<String>>,
    members: Arc<AtomicUsize>,
    pub inbox: mpsc::Sender<RoomInput>,
    pub news: mpsc::Sender<RoomNews>,
}

impl JupyterRoom {
    pub fn start(notebook: NotebookId, parts: RoomParts, kept: Option<KeptDocument>) -> Self {
        let (inbox, inputs) = mpsc::channel(MAX_WAITING_MESSAGES);
        let (news, news_receiver) = mpsc::channel(MAX_WAITING_EVENTS);
        let session = kept.as_ref().map_or_else(new_session, |kept| kept.head.session.clone());
        let handle =
            Self { session: Arc::new(Mutex::new(session)), path: Arc::default(), members: Arc::default(), inbox, news };
        let tasks = parts.tasks.clone();
        let room = RoomTask {
            notebook,
            parts,
            session: handle.session.clone(),
            path: handle.path.clone(),
            count: handle.members.clone(),
            projection: None,
            kept,
            last_event: None,
            is_on_disk: false,
            members: BTreeMap::new(),
            news: news_receiver,
        };
        tasks.spawn(room.run(inputs));
        handle
    }

    /// Id of the present document: clients with another one load the notebook again.
    pub fn session(&self) -> String {
        self.session.lock().clone()
    }

    /// Notes the path by which a client opens the notebook: sentences about it name the path.
    pub fn opened_at(&self, path: &str) {
        path.clone_into(&mut self.path.lock());
    }

    pub fn members(&self) -> usize {
        self.members.load(Ordering::Relaxed)
    }

    /// Waits until the messages that have arrived are decided.
    pub async fn settle(&self) {
        let (done, settled) = oneshot::channel();
        if self.inbox.send(RoomInput::Settle(done)).await.is_ok() {
            let _ = settled.await;
        }
    }
}

/// Reason in the frame that closes a client's socket: JupyterLab offers to load the page again. A close frame has room for 123 bytes.
pub fn reload_payload(session: &str) -> String {
    json!({"reason": "unknown_session", "sessionId": session, "reloadable": true}).to_string()
}

fn new_session() -> String {
    ulid::Ulid::generate().to_string()
}

struct RoomMember {
    outbox: mpsc::Sender<Outgoing>,
    sender: CommandSender,
    token: CallerToken,
    awareness: AwarenessOf,
    last_sentence: LastSentence,
    early: Option<EarlyUpdates>,
}

struct RoomTask {
    notebook: NotebookId,
    parts: RoomParts,
    session: Arc<Mutex<String>>,
    path: Arc<Mutex<String>>,
    count: Arc<AtomicUsize>,
    /// Absent until the first client has joined, and after the document was given up.
    projection: Option<Projection>,
    /// The document from the disk, until the first client has joined.
    kept: Option<KeptDocument>,
    /// The last event that the projection shows.
    last_event: Option<(Version, EventId)>,
    /// The present document is on disk too.
    is_on_disk: bool,
    members: BTreeMap<u64, RoomMember>,
    news: mpsc::Receiver<RoomNews>,
}

impl RoomTask {
    async fn run(mut self, mut inputs: mpsc::Receiver<RoomInput>) {
        loop {
            tokio::select! {
                () = self.parts.stopping.cancelled() => return self.keep().await,
                Some(news) = self.news.recv() => {
                    let touched = self.take(news);
                    self.show(touched).await;
                }
                input = inputs.recv() => match input {
                    Some(input) => self.input(input).await,
                    None => return self.keep().await,
                },
            }
            if self.members.is_empty() && self.projection.is_some() {
                self.keep().await;
            }
            self.count.store(self.members.len(), Ordering::Relaxed);
        }
    }

    /// Writes the document to the disk, for clients that come back.
    async fn keep(&mut self) {
        if self.is_on_disk {
            return;
        }
        let kept = match (self.kept.take(), &self.projection, &self.last_event) {
            (Some(unused), ..) => unused,
            (None, Some(projection), Some((version, event_id))) if *version == projection.document().version => {
                let (update, grown_bytes) = projection.whole();
                let (notebook, session) = (self.notebook.clone(), self.session.lock().clone());
                let head = KeptHead { notebook, session, version: *version, event_id: event_id.clone(), grown_bytes };
                KeptDocument { head, update }
            }
            _ => return,
        };
        self.parts.kept.put(kept).await;
        self.is_on_disk = true;
    }

    async fn input(&mut self, input: RoomInput) {
        match input {
            RoomInput::Join { member, client } => self.join(member, *client).await,
            RoomInput::Message { member, message } => self.message(member, message).await,
            RoomInput::Leave { member } => self.leave(member),
            RoomInput::Settle(done) => _ = done.send(()),
        }
    }

    // --- members ---

    async fn join(&mut self, member: u64, client: NewMember) {
        let NewMember { outbox, sender, token, document, event_id } = client;
        let is_left_on_disk = self.is_on_disk && !self.parts.kept.discard(&self.notebook).await;
        self.is_on_disk = false;
        let (awareness, last_sentence, early) =
            (AwarenessOf::default(), LastSentence::default(), Some(Default::default()));
        self.members.insert(member, RoomMember { outbox, sender, token, awareness, last_sentence, early });
        if is_left_on_disk {
            return self.renew("The kept document of this notebook cannot be removed. Reload it.");
        }
        // Outputs in blobs need a token, which the member has brought.
        let touched = if self.projection.is_none() {
            self.last_event = Some((document.version, event_id));
            self.projection = self.first_projection(document);
            if self.projection.is_none() {
                return self.renew("The kept document of this notebook cannot be read. Reload it.");
            }
            Touched::everything()
        } else {
            self.take(RoomNews::State(Box::new(document), Some(event_id)))
        };
        self.show(touched).await;
        let Some(projection) = &self.projection else { return };
        let first = message::step_1(&projection.state_vector());
        self.send(member, first);
        let others: Vec<_> = self.members.iter().filter(|(id, _)| **id != member).collect();
        let states: Vec<_> = others.into_iter().filter_map(|(_, other)| other.awareness.present()).collect();
        states.iter().for_each(|states| self.send(member, message::awareness(states)));
    }

    /// A new document, or the kept one; `None` if that cannot be read.
    fn first_projection(&mut self, document: Document) -> Option<Projection> {
        let (blobs, limits) = (BlobTexts::new(), self.parts.limits.clone());
        match self.kept.take() {
            None => Some(Projection::new(document, blobs, limits)),
            Some(KeptDocument { head, update }) => {
                Projection::restored(&update, head.grown_bytes, document, blobs, limits)
            }
        }
    }

    fn leave(&mut self, member: u64) {
        let Some(gone) = self.members.remove(&member) else { return };
        if let Some(states) = gone.awareness.leave() {
            self.broadcast(None, &message::awareness(&states));
        }
    }

    fn send(&mut self, member: u64, frame: Vec<u8>) {
        let Some(to) = self.members.get(&member) else { return };
        if to.outbox.try_send(Outgoing::Frame(frame.into())).is_err() {
            tracing::debug!(notebook = %self.notebook, "a Jupyter client reads too slowly and is disconnected");
            self.close(member, TOO_SLOW, "the client reads too slowly: connect again".to_owned());
        }
    }

    fn broadcast(&mut self, except: Option<u64>, frame: &[u8]) {
        let to: Vec<u64> = self.members.keys().copied().filter(|id| Some(*id) != except).collect();
        to.into_iter().for_each(|member| self.send(member, frame.to_vec()));
    }

    fn close(&mut self, member: u64, code: u16, reason: String) {
        if let Some(to) = self.members.get(&member) {
            // Without the outbox the socket's task ends, also if the message no longer fits.
            let _ = to.outbox.try_send(Outgoing::Close(code, reason));
        }
        self.leave(member);
    }

    /// Makes a client load the notebook again, with a sentence that says why.
    fn reload(&mut self, member: u64, sentence: &str) {
        self.tell(member, sentence);
        let payload = reload_payload(&self.session.lock());
        self.close(member, RELOAD, payload);
    }

    /// Tells one client why its change is undone, in the channels that clients show or log.
    fn tell(&mut self, member: u64, sentence: &str) {
        let Some(to) = self.members.get_mut(&member) else { return };
        if to.last_sentence.is_news(sentence, Instant::now()) {
            self.parts.events.send(&to.token, &self.notebook, &self.path.lock(), sentence);
            self.send(member, message::raw(&json!({"type": "refused", "message": sentence})));
        }
    }

    /// Gives the document up: all clients load the notebook again.
    fn renew(&mut self, reason: &str) {
        *self.session.lock() = new_session();
        self.projection = None;
        self.last_event = None;
        let members: Vec<u64> = self.members.keys().copied().collect();
        members.into_iter().for_each(|member| self.reload(member, reason));
    }

    // --- messages ---

    async fn message(&mut self, member: u64, received: SyncMessage) {
        if !self.members.contains_key(&member) {
            return;
        }
        match received {
            SyncMessage::Step1(state_vector) => self.sync(member, &state_vector),
            SyncMessage::Step2(update) => self.answer(member, &update).await,
            SyncMessage::Update(update) if self.is_early(member) => self.hold(member, &update, UpdateError::Incomplete),
            SyncMessage::Update(update) => self.update(member, &update).await,
            SyncMessage::Awareness(states) => self.awareness(member, &states),
            SyncMessage::Save(id) => {
                // Everything accepted is on disk already.
                let answer = json!({"type": "save", "responseTo": id, "status": "success"});
                self.send(member, message::raw(&answer));
            }
            SyncMessage::Other => {}
        }
    }

    fn sync(&mut self, member: u64, state_vector: &[u8]) {
        let Some(projection) = &self.projection else { return };
        match projection.missing(state_vector) {
            Ok(update) => self.send(member, message::step_2(&update)),
            Err(error) => self.reload(member, &error.to_string()),
        }
    }

    fn awareness(&mut self, member: u64, states: &[u8]) {
        let is_valid = states.len() <= self.parts.limits.max_awareness_bytes
            && self.members.get_mut(&member).is_some_and(|member| member.awareness.take(states));
        if is_valid {
            self.broadcast(Some(member), &message::awareness(states));
        }
    }

    /// Takes the client's answer to our state vector, and then the updates that waited for it.
    async fn answer(&mut self, member: u64, update: &[u8]) {
        let early = self.members.get_mut(&member).and_then(|known| known.early.take()).unwrap_or_default();
        self.update(member, update).await;
        for update in early.updates {
            self.update(member, &update).await;
        }
    }

    /// True if an earlier update of the client waits for its answer to our state vector.
    fn is_early(&self, member: u64) -> bool {
        let early = self.members.get(&member).and_then(|known| known.early.as_ref());
        early.is_some_and(|early| !early.updates.is_empty())
    }

    /// Holds an update back until the client has answered our state vector. Refuses it if it has, or if too much waits.
    fn hold(&mut self, member: u64, update: &[u8], error: UpdateError) {
        let max_bytes = self.parts.limits.max_update_bytes;
        let early = self.members.get_mut(&member).and_then(|known| known.early.as_mut());
        if !early.is_some_and(|early| early.hold(update, max_bytes)) {
            self.refuse(member, error);
        }
    }

    /// Decides a client's update. Accepted: the others get it. Refused: the client gets its undo, and the others both, which shows
    /// nothing.
    async fn update(&mut self, member: u64, update: &[u8]) {
        let Some(projection) = self.projection.as_mut().filter(|_| self.members.contains_key(&member)) else { return };
        let (forward, mut touched) = match projection.integrate(update) {
            Ok(integrated) => integrated,
            Err(error @ UpdateError::Incomplete) => return self.hold(member, update, error),
            Err(error) => return self.refuse(member, error),
        };
        if let Some(command) = differences::command(projection, &touched) {
            match self.decide(member, &command).await {
                Ok(version) => match self.catch_up(version).await {
                    Some(others) => touched.add(others),
                    None => return self.renew("The server lost track of this notebook. Reload it."),
                },
                Err(error) => {
                    tracing::debug!(notebook = %self.notebook, %error, "a Jupyter client's change is undone");
                    self.tell(member, &format!("Your change was undone: {error}"));
                }
            }
        }
        self.fetch_blobs(&touched).await;
        let Some(projection) = &mut self.projection else { return };
        let own = projection.show(&touched);
        let is_worn = projection.is_worn();
        if let Some(own) = &own {
            self.send(member, message::update(own));
        }
        let forward = Some(forward).filter(|forward| *forward != EMPTY_UPDATE);
        let updates: Vec<Vec<u8>> = forward.into_iter().chain(own).collect();
        match yrs::merge_updates_v1(&updates) {
            _ if updates.is_empty() => {}
            Ok(merged) => self.broadcast(Some(member), &message::update(&merged)),
            Err(_) => updates.iter().for_each(|update| self.broadcast(Some(member), &message::update(update))),
        }
        if is_worn {
            self.renew("The notebook's shared document has grown old. Reload it.");
        }
    }

    fn refuse(&mut self, member: u64, error: UpdateError) {
        tracing::debug!(notebook = %self.notebook, %error, "an update of a Jupyter client is refused");
        self.reload(member, &error.to_string());
    }

    async fn decide(&self, member: u64, command: &Command) -> Result<Version, CommandError> {
        let Some(member) = self.members.get(&member) else { return Err(ConnectError::Closed.into()) };
        let answer = timeout(self.parts.limits.command_timeout, member.sender.command(&self.notebook, command)).await;
        answer.unwrap_or_else(|_| Err(ConnectError::Closed.into())).map(|ack| ack.version)
    }

    /// Waits for the events up to a version; `None` if they do not come.
    async fn catch_up(&mut self, version: Version) -> Option<Touched> {
        let mut touched = Touched::default();
        while self.projection.as_ref()?.document().version < version {
            let news = timeout(self.parts.limits.command_timeout, self.news.recv()).await.ok()??;
            touched.add(self.take(news));
        }
        Some(touched)
    }

    // --- news ---

    fn take(&mut self, news: RoomNews) -> Touched {
        let mut touched = Touched::default();
        let Some(projection) = &mut self.projection else { return touched };
        let last = match news {
            RoomNews::Events(events) => {
                events.iter().for_each(|event| touched.add(projection.apply(event)));
                events.last().map(|last| (last.envelope.version, last.envelope.id.clone()))
            }
            RoomNews::State(document, event_id) => {
                let version = document.version;
                touched.add(projection.replace(*document));
                event_id.map(|id| (version, id))
            }
        };
        // Several members bring the same news, some later.
        if let Some(last) = last.filter(|last| self.last_event.as_ref().is_none_or(|known| known.0 < last.0)) {
            self.last_event = Some(last);
        }
        touched
    }

    async fn show(&mut self, touched: Touched) {
        self.fetch_blobs(&touched).await;
        let Some(projection) = &mut self.projection else { return };
        let update = projection.show(&touched);
        let is_worn = projection.is_worn();
        if let Some(update) = update {
            self.broadcast(None, &message::update(&update));
        }
        if is_worn {
            self.renew("The notebook's shared document has grown old. Reload it.");
        }
    }

    /// Fetches the blobs that the outputs of touched cells name, within the limits.
    async fn fetch_blobs(&mut self, touched: &Touched) {
        let Some(projection) = &mut self.projection else { return };
        let Some(token) = self.members.values().next().map(|member| member.token.clone()) else { return };
        let mut kept: usize = projection.blobs().values().map(String::len).sum();
        for (sha256, size_bytes) in projection.missing_blobs(touched) {
            let size = usize::try_from(size_bytes).unwrap_or(usize::MAX);
            if size_bytes > self.parts.limits.max_blob_bytes
                || kept.saturating_add(size) > self.parts.limits.max_blobs_bytes
            {
                continue;
            }
            let path = format!("/api/notebooks/{}/blobs/{sha256}", encoded(self.notebook.as_str()));
            let answer = self.parts.api.send(&token, http::Method::GET, &path, None).await;
            if let Some(text) = answer.ok().and_then(|answer| String::from_utf8(answer.into()).ok()) {
                kept += text.len();
                projection.blobs().insert(sha256, text);
            }
        }
    }
}
