//! One token's connection to the server: sends commands, and follows the notebooks that requests name.
//!
//! A task owns the connection. Requests look at a notebook through it: now, and again after each change until they have
//! what they wait for. A notebook that nothing looked at for a while is unsubscribed.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use hashlink::{LinkedHashMap, LruCache};
use notarium_client::{CommandSender, ConnectError, ConnectOptions, Connection, ConnectionEvent};
use notarium_core::{
    Actor, CallAnswer, CellId, Command, Document, ExecutionId, NotebookId, Recorded, Role, Scope, ToolCallId,
};
use notarium_wire::{AckMessage, ServerMessage};
use parking_lot::Mutex;
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, timeout};

use crate::clipboard::Clipboard;
use crate::error::DoorError;
use crate::tool_calls;

/// Notebooks that one token follows at a time. Beyond, the one that was used longest ago is dropped.
const MAX_NOTEBOOKS: usize = 8;
/// Names that one session remembers.
const MAX_NAMES: usize = 128;
/// Ends of tool calls that one session remembers.
const MAX_ENDED_CALLS: usize = 256;
/// Requests of one token that wait for a notebook.
const MAX_WAITING: usize = 256;
/// Time after which an unused session ends.
const IDLE: Duration = Duration::from_secs(600);
/// Time for the first state of a notebook and for the answer to a command; clients give up after 5 s.
pub const PATIENCE: Duration = Duration::from_millis(4_200);

/// A token's connection. Dropping the last copy ends it.
pub struct Session {
    looks: mpsc::Sender<LookRequest>,
    sender: CommandSender,
    pub token: String,
    pub actor: Actor,
    pub scopes: Vec<Scope>,
    /// Notebooks by the name under which a request found them.
    pub names: Mutex<LruCache<String, NotebookId>>,
    pub clipboard: Mutex<Clipboard>,
    /// Set for code in a kernel.
    pub code: Option<KernelCode>,
    ended_calls: Arc<EndedCalls>,
    /// Held by the task, and by each open channel: while one is open, the session is not idle.
    hold: Arc<()>,
}

/// Code in a kernel that sends requests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KernelCode {
    /// The only notebook that it reaches.
    pub notebook: NotebookId,
    /// Reason why it reads alone.
    pub refusal: Option<String>,
}

/// Ends of the tool calls that this connection saw last.
type EndedCalls = Mutex<LruCache<ToolCallId, CallAnswer>>;

/// A change that was made.
#[derive(Debug, Default)]
pub struct DialogChange {
    pub executions: Vec<ExecutionId>,
    /// Ids that new cells got in place of those that the command names.
    pub renamed: HashMap<CellId, CellId>,
}

impl DialogChange {
    /// The id that a new cell got.
    pub fn id_of<'a>(&'a self, named: &'a CellId) -> &'a CellId {
        self.renamed.get(named).unwrap_or(named)
    }
}

/// View of a notebook for one request.
#[derive(Debug, Clone)]
pub struct Seen {
    pub document: Arc<Document>,
    pub role: Role,
}

/// A request to look at a notebook.
struct LookRequest {
    notebook: NotebookId,
    waiter: Box<dyn Waiter>,
}

/// A request that waits for a state of a notebook.
trait Waiter: Send {
    /// Returns true if the request has what it waits for.
    fn look(&mut self, seen: &Seen) -> bool;
    fn fail(&mut self, error: DoorError);
    /// True if the caller has gone.
    fn is_gone(&self) -> bool;
}

struct Waiting<T, F> {
    ready: F,
    responder: Option<oneshot::Sender<Result<T, DoorError>>>,
}

impl<T: Send, F: FnMut(&Seen) -> Option<T> + Send> Waiter for Waiting<T, F> {
    fn look(&mut self, seen: &Seen) -> bool {
        let Some(found) = (self.ready)(seen) else { return false };
        if let Some(responder) = self.responder.take() {
            let _ = responder.send(Ok(found));
        }
        true
    }

    fn fail(&mut self, error: DoorError) {
        if let Some(responder) = self.responder.take() {
            let _ = responder.send(Err(error));
        }
    }

    fn is_gone(&self) -> bool {
        self.responder.as_ref().is_none_or(oneshot::Sender::is_closed)
    }
}

impl Session {
    /// Connects. The server decides if the token is valid.
    pub async fn open(server: &str, token: &str, code: Option<KernelCode>) -> Result<Arc<Self>, DoorError> {
        let options = ConnectOptions::new(server, token, concat!("dialoghelper door ", env!("CARGO_PKG_VERSION")));
        let opened = timeout(PATIENCE, Connection::open(options)).await;
        let (connection, welcome) = opened.map_err(|_| late())??;
        if matches!(welcome.actor, Actor::Agent { .. }) {
            return Err(DoorError::unauthenticated("this is a runtime agent's token: use a person's token"));
        }
        let (looks, requests) = mpsc::channel(MAX_WAITING);
        let sender = connection.sender();
        let hold = Arc::new(());
        let ended_calls = Arc::new(Mutex::new(LruCache::new(MAX_ENDED_CALLS)));
        let (watched, ended) = (LinkedHashMap::new(), ended_calls.clone());
        tokio::spawn(Follower { connection, requests, watched, ended, hold: hold.clone() }.run());
        let (names, clipboard) = (Mutex::new(LruCache::new(MAX_NAMES)), Mutex::default());
        let (token, actor, scopes) = (token.to_owned(), welcome.actor, welcome.scopes);
        Ok(Arc::new(Self { looks, sender, token, actor, scopes, names, clipboard, code, ended_calls, hold }))
    }

    /// False if the connection has failed finally, or was idle for long.
    pub fn is_open(&self) -> bool {
        !self.looks.is_closed()
    }

    /// Keeps the session open while the value lives.
    pub fn hold(&self) -> Arc<()> {
        self.hold.clone()
    }

    /// Returns when the connection has failed finally, for example because the token was revoked.
    pub async fn ended(&self) {
        self.looks.closed().await;
    }

    /// Looks at the notebook until `ready` returns a value.
    pub async fn wait<T: Send + 'static>(
        &self,
        notebook: &NotebookId,
        within: Duration,
        ready: impl FnMut(&Seen) -> Option<T> + Send + 'static,
    ) -> Result<T, DoorError> {
        let (responder, answer) = oneshot::channel();
        let waiter = Box::new(Waiting { ready, responder: Some(responder) });
        let look = LookRequest { notebook: notebook.clone(), waiter };
        self.looks.try_send(look).map_err(|refused| match refused {
            TrySendError::Closed(_) => DoorError::new("the connection to the server has ended: try again"),
            TrySendError::Full(_) => {
                DoorError::new("too many requests of this token wait: wait for their answers first")
            }
        })?;
        timeout(within, answer).await.map_err(|_| late())?.unwrap_or_else(|_| Err(late()))
    }

    /// The current state of a notebook, and the caller's role in it.
    pub async fn seen(&self, notebook: &NotebookId) -> Result<Seen, DoorError> {
        self.wait(notebook, PATIENCE, |seen| Some(seen.clone())).await
    }

    /// Sends a command, and returns once this session's requests read what it did.
    /// An assistant's changes are tool calls.
    pub async fn change(&self, notebook: &NotebookId, command: &Command) -> Result<DialogChange, DoorError> {
        if let Some(refusal) = self.code.as_ref().and_then(|code| code.refusal.as_ref()) {
            return Err(DoorError::new(refusal));
        }
        match self.actor {
            Actor::Assistant { .. } => tool_calls::make(self, notebook, command).await,
            _ => Ok(DialogChange {
                executions: self.send(notebook, command).await?.outcome.executions,
                ..DialogChange::default()
            }),
        }
    }

    /// Sends a command, and waits until its events are seen.
    pub async fn send(&self, notebook: &NotebookId, command: &Command) -> Result<AckMessage, DoorError> {
        let ack = timeout(PATIENCE, self.sender.command(notebook, command)).await.map_err(|_| late())??;
        let version = ack.version;
        self.wait(notebook, PATIENCE, move |seen| (seen.document.version >= version).then_some(())).await?;
        Ok(ack)
    }

    /// The end of a tool call whose events were seen. `None`: it has not ended.
    pub fn ended_call(&self, call: &ToolCallId) -> Option<CallAnswer> {
        self.ended_calls.lock().get(call).cloned()
    }

    /// Sends the command that creates a notebook, which nobody follows yet.
    pub async fn create(&self, notebook: &NotebookId, command: &Command) -> Result<AckMessage, DoorError> {
        if self.code.is_some() {
            return Err(DoorError::new(
                "code in a kernel reaches its own notebook alone: make a dialog on the page, or outside of the kernel",
            ));
        }
        Ok(timeout(PATIENCE, self.sender.command(notebook, command)).await.map_err(|_| late())??)
    }
}

fn late() -> DoorError {
    DoorError::new("the notebook did not answer in time: try again")
}

/// The task that owns the connection.
struct Follower {
    connection: Connection,
    requests: mpsc::Receiver<LookRequest>,
    /// Subscribed notebooks; the one that was used last is last.
    watched: LinkedHashMap<NotebookId, Watched>,
    ended: Arc<EndedCalls>,
    hold: Arc<()>,
}

#[derive(Default)]
struct Watched {
    /// The state of the replica when a request last saw it.
    snapshot: Option<Arc<Document>>,
    /// The caller's role. `None` before the first state, and while the connection is cut.
    role: Option<Role>,
    waiters: Vec<Box<dyn Waiter>>,
}

impl Follower {
    async fn run(mut self) {
        let mut last_used = Instant::now();
        loop {
            let has_waiter = |watched: &Watched| watched.waiters.iter().any(|waiter| !waiter.is_gone());
            let is_used = Arc::strong_count(&self.hold) > 2 || self.watched.values().any(has_waiter);
            let idle_at = if is_used { Instant::now() } else { last_used } + IDLE;
            tokio::select! {
                request = self.requests.recv() => {
                    let Some(look) = request else { return };
                    last_used = Instant::now();
                    self.request(look);
                }
                event = self.connection.next() => {
                    if let Err(cause) = self.event(event) {
                        return self.fail(&cause.into());
                    }
                }
                () = tokio::time::sleep_until(idle_at) => {
                    if !is_used {
                        return;
                    }
                }
            }
        }
    }

    fn request(&mut self, mut look: LookRequest) {
        let Self { connection, watched, .. } = self;
        let entry = match watched.to_back(&look.notebook) {
            Some(entry) => entry,
            None => {
                Self::make_room(connection, watched);
                connection.subscribe(&look.notebook);
                watched.entry(look.notebook.clone()).or_insert_with(Watched::default)
            }
        };
        entry.waiters.retain(|waiter| !waiter.is_gone());
        if entry.waiters.len() >= MAX_WAITING {
            return look.waiter.fail(DoorError::new("too many requests wait for this dialog: wait for their answers"));
        }
        let state = entry.current(connection, &look.notebook);
        if !state.is_some_and(|seen| look.waiter.look(&seen)) {
            entry.waiters.push(look.waiter);
        }
    }

    /// Unsubscribes the notebook that was used longest ago, if there are too many.
    fn make_room(connection: &mut Connection, watched: &mut LinkedHashMap<NotebookId, Watched>) {
        if watched.len() < MAX_NOTEBOOKS {
            return;
        }
        let unused = watched.iter().find(|(_, watched)| watched.waiters.iter().all(|waiter| waiter.is_gone()));
        let dropped = unused.or_else(|| watched.front()).map(|(notebook, _)| notebook.clone());
        if let Some(notebook) = dropped {
            connection.unsubscribe(&notebook);
            let gone = watched.remove(&notebook);
            gone.into_iter().for_each(|gone| gone.fail(&DoorError::new("too many dialogs are in use: try again")));
        }
    }

    fn event(&mut self, event: ConnectionEvent) -> Result<(), ConnectError> {
        match event {
            ConnectionEvent::Subscribed(message) => self.changed(&message.notebook, Some(message.role)),
            ConnectionEvent::Events { message, recorded } => {
                self.note_calls(&recorded);
                self.changed(&message.notebook, None);
            }
            ConnectionEvent::Disconnected { .. } => {
                self.watched.values_mut().for_each(|watched| watched.role = None);
            }
            ConnectionEvent::Failed(cause) => return Err(cause),
            ConnectionEvent::Message(ServerMessage::Access { notebook, role: None }) => {
                self.lose(&notebook, "you may no longer see this dialog: ask its owner for access".to_owned());
            }
            ConnectionEvent::Message(ServerMessage::Access { notebook, role }) => self.changed(&notebook, role),
            ConnectionEvent::Message(ServerMessage::Error(error)) => {
                if let Some(notebook) = error.notebook {
                    self.lose(&notebook, error.message);
                }
            }
            ConnectionEvent::Connected(_) | ConnectionEvent::Message(_) => {}
        }
        Ok(())
    }

    fn note_calls(&self, events: &[Recorded]) {
        for recorded in events {
            if let (Some(call), Some(answer)) = (recorded.event.tool_call_id(), CallAnswer::of(&recorded.event)) {
                self.ended.lock().insert(call.clone(), answer);
            }
        }
    }

    fn changed(&mut self, notebook: &NotebookId, role: Option<Role>) {
        let Some(watched) = self.watched.get_mut(notebook) else { return };
        watched.role = role.or(watched.role);
        watched.waiters.retain(|waiter| !waiter.is_gone());
        if watched.waiters.is_empty() {
            return;
        }
        if let Some(seen) = watched.current(&self.connection, notebook) {
            watched.waiters.retain_mut(|waiter| !waiter.look(&seen));
        }
    }

    fn lose(&mut self, notebook: &NotebookId, sentence: String) {
        if let Some(watched) = self.watched.remove(notebook) {
            self.connection.unsubscribe(notebook);
            watched.fail(&DoorError::new(sentence));
        }
    }

    fn fail(self, error: &DoorError) {
        self.watched.into_iter().for_each(|(_, watched)| watched.fail(error));
    }
}

impl Watched {
    /// The replica's state. A copy is made only if it has changed since the last one.
    fn current(&mut self, connection: &Connection, notebook: &NotebookId) -> Option<Seen> {
        let role = self.role?;
        let document = connection.replica(notebook)?;
        let snapshot = self.snapshot.take().filter(|snapshot| snapshot.version == document.version);
        let snapshot = snapshot.unwrap_or_else(|| Arc::new(document.clone()));
        self.snapshot = Some(snapshot.clone());
        Some(Seen { document: snapshot, role })
    }

    fn fail(self, error: &DoorError) {
        self.waiters.into_iter().for_each(|mut waiter| waiter.fail(error.clone()));
    }
}
