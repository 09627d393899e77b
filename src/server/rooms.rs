//! Rooms: one task per open notebook, which drives the pure room of `notarium-sync` with the store, the clock and the
//! connections.
//!
//! Nothing is decided here. A room's inbox is bounded: senders wait when it is full. Commands that stop runs or kernels
//! skip the queue. Alarms reopen an unloaded notebook at a given time, so that a waiting tool call expires there too. A
//! fault of the program ends one room alone, which opens again after a pause.

mod catalog;
mod handle;
mod judge;
pub mod metadata;
pub mod notices;
mod outbox;
mod remote;
pub(crate) mod snapshot;
pub(crate) mod stored;
mod subscription;
mod task;
#[cfg(test)]
mod tests;

pub use catalog::{catalog_entry, owners};
pub use handle::RoomHandle;
pub use judge::{Judge, Memo, Names};
pub use notarium_sync::{
    ClientId, ClientInput, DecodedCommand, Identity, OutsideFacts, ReadState, ReplyTo, Submission,
};
pub use outbox::{ClientRegistration, Frame, Offered, Outbox, OutboxReceiver};
pub use remote::ForwardedIdentity;
pub use subscription::{News, Subscription};

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use dashmap::{DashMap, Entry};
use notarium_core::{
    Actor, InstanceId, KernelPlacement, KernelSessionId, Millis, NotebookId, Rejection, RejectionCode, Version,
};
use notarium_store::{EventStore, MAX_SNAPSHOT_GAP};
use notarium_sync::{Input, RoomConfig, UndecodedCommand};
use notarium_wire::{CommandMessage, TurnActivity};
use tokio::sync::{Semaphore, mpsc};
use tokio_util::sync::CancellationToken;
use tokio_util::task::{AbortOnDropHandle, TaskTracker};

use crate::auth::Authenticated;
use crate::cluster::Cluster;
use crate::limits::clock::Clock;
use crate::limits::usage::UsageCounters;
use crate::metrics::Metrics;
use catalog::ListLag;
use handle::{Inbox, caller, stopping};
use notices::NoticeQueue;
use outbox::Clients;
pub use task::moved_text;
use task::{RoomMessage, Task};

/// Time that a read of the list waits for rows that lag.
const MAX_WAIT_FOR_LINES: Duration = Duration::from_secs(2);

notarium_core::with_defaults! {
    /// Configuration shared by the rooms of a server.
    #[derive(Clone)]
    pub struct RoomsConfig {
        pub room: RoomConfig = RoomConfig::default(),
        /// Bytes of commands queued for one room before senders wait.
        pub max_inbox_bytes: usize = 16 << 20,
        /// Largest number of events between two snapshots of a notebook. Pruning keeps to it, and longer replays leave
        /// snapshots.
        pub max_snapshot_gap: Version = MAX_SNAPSHOT_GAP,
        pub judge: Judge = Judge::default(),
        /// Clock of the rooms; a server sets its own.
        pub clock: Clock = Clock::system(),
        /// Counters of the rooms; a server sets its own.
        pub metrics: Arc<Metrics> = Arc::default(),
    }
}

/// Notices from rooms: of kernels for the connected agents, of conversations for the assistants' host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WorkNotice {
    /// An agent of the placement that offers this kernelspec should subscribe, claim and launch. Repeated when a notebook is opened
    /// again.
    Wanted { notebook: NotebookId, kernel_session: KernelSessionId, kernelspec: String, placement: KernelPlacement },
    /// No claim is needed any more.
    Settled { notebook: NotebookId, kernel_session: KernelSessionId },
    /// Another node has the notebook: what waits in it is that node's.
    Moved { notebook: NotebookId },
    /// Components that act for assistants should look at this notebook, up to this version.
    Assistants { notebook: NotebookId, version: Version },
}

/// All open notebooks of a server.
pub struct Rooms {
    store: Arc<dyn EventStore>,
    cluster: Arc<dyn Cluster>,
    room_config: Arc<RoomConfig>,
    max_snapshot_gap: Version,
    max_inbox_bytes: usize,
    judge: Judge,
    names: Names,
    work: mpsc::UnboundedSender<WorkNotice>,
    clock: Clock,
    open: DashMap<NotebookId, Inbox>,
    clients: Arc<Clients>,
    /// Alarms that reopen unloaded rooms in which tool calls will expire.
    alarms: DashMap<NotebookId, AbortOnDropHandle<()>>,
    faults: Faults,
    list_lag: ListLag,
    usage: Arc<UsageCounters>,
    pub metrics: Arc<Metrics>,
    /// Notebooks whose states are near their quota, with their bytes in place of a version.
    pub large_states: NoticeQueue,
    /// Notebooks whose past may have lines that are not written down for searches.
    pub past_lines_due: NoticeQueue,
    /// Notebooks with news about their schedules.
    pub schedules_due: NoticeQueue,
    /// Notebooks with commits that may concern people, and those that were opened or closed.
    pub notices_due: NoticeQueue,
    /// Erased notebooks, of which everything but the event that says so is still to be deleted.
    pub erased: NoticeQueue,
    /// Notebooks that are shown as before a damage.
    pub(crate) unreadable: stored::UnreadableRecords,
    is_stopping: AtomicBool,
    /// Tasks of the rooms, and of their writes outside the log.
    tasks: TaskTracker,
}

impl Rooms {
    /// `usage` counts the storage of the notebooks.
    pub fn new(
        store: Arc<dyn EventStore>,
        cluster: Arc<dyn Cluster>,
        config: RoomsConfig,
        work: mpsc::UnboundedSender<WorkNotice>,
        usage: Arc<UsageCounters>,
    ) -> Arc<Rooms> {
        let room_config = RoomConfig { instance: cluster.instance().clone(), ..config.room };
        Arc::new(Rooms {
            store,
            cluster,
            room_config: Arc::new(room_config),
            max_inbox_bytes: config.max_inbox_bytes,
            max_snapshot_gap: config.max_snapshot_gap,
            judge: config.judge,
            names: Names::default(),
            work,
            clock: config.clock,
            open: DashMap::new(),
            clients: Arc::default(),
            alarms: DashMap::new(),
            faults: Faults::default(),
            list_lag: ListLag::default(),
            usage,
            metrics: config.metrics,
            large_states: NoticeQueue::default(),
            past_lines_due: NoticeQueue::default(),
            schedules_due: NoticeQueue::default(),
            notices_due: NoticeQueue::default(),
            erased: NoticeQueue::default(),
            unreadable: stored::UnreadableRecords::default(),
            is_stopping: AtomicBool::new(false),
            tasks: TaskTracker::new(),
        })
    }

    /// Reader of the names of cells.
    pub fn names(&self) -> Names {
        self.names.clone()
    }

    /// Returns the room of a notebook; starts its task if it is not open. A missing notebook is an empty room, which
    /// takes `CreateNotebook`.
    pub fn open(self: &Arc<Self>, id: &NotebookId) -> RoomHandle {
        RoomHandle::open(self.clone(), id.clone(), self.inbox(id))
    }

    /// Returns a handle of the room. In a cluster the room is opened by its first message, because another node may own
    /// the notebook.
    pub fn handle(self: &Arc<Self>, id: &NotebookId) -> RoomHandle {
        match self.cluster.peers() {
            Some(_) => RoomHandle::closed(self.clone(), id.clone()),
            None => self.open(id),
        }
    }

    /// Returns the room of a notebook that the token covers. Otherwise the notebook is reported as unknown.
    pub fn open_for(
        self: &Arc<Self>,
        authenticated: &Authenticated,
        notebook: &NotebookId,
    ) -> Result<RoomHandle, Rejection> {
        if authenticated.may_see(notebook) {
            return Ok(self.handle(notebook));
        }
        Err(unknown_notebook(notebook))
    }

    /// Reads the notebook as it is on disk; the caller needs the right to read.
    pub async fn read_for(
        self: &Arc<Self>,
        authenticated: &Authenticated,
        notebook: &NotebookId,
    ) -> Result<ReadState, Rejection> {
        self.open_for(authenticated, notebook)?.read(identity(authenticated, notebook, "")).await
    }

    /// Reads like [`Self::read_for`] if the notebook is open; `None`: it is not, and stays closed.
    pub async fn read_if_open(
        self: &Arc<Self>,
        authenticated: &Authenticated,
        notebook: &NotebookId,
    ) -> Option<Result<ReadState, Rejection>> {
        let inbox = self.open.get(notebook)?.clone();
        let room = RoomHandle::open(self.clone(), notebook.clone(), inbox);
        Some(room.read(identity(authenticated, notebook, "")).await)
    }

    /// Registers a connection that rooms can send to, through its outbox.
    pub fn connect(&self, outbox: Outbox) -> ClientRegistration {
        self.clients.add(outbox)
    }

    /// Limits that every room's decisions enforce.
    pub fn limits(&self) -> &notarium_core::Limits {
        &self.room_config.limits
    }

    /// Id of this life of the server: leases and claims belong to it.
    pub fn instance(&self) -> &InstanceId {
        &self.room_config.instance
    }

    /// Sends an assistant's activity to the notebook's subscribers, if its room is open.
    pub fn publish(&self, id: &NotebookId, activity: TurnActivity) {
        if let Some(inbox) = self.open.get(id) {
            // A room that ends has no subscribers.
            let _ = inbox.messages.send(Input::Activity(activity).into());
        }
    }

    /// Brings the list of notebooks up to date with the actor's changes that were answered, by any node. Rooms that take
    /// too long are not waited for.
    pub async fn list_changes_of(&self, actor: &Actor) {
        let everywhere = async { tokio::join!(self.list_rooms(actor), self.list_changes_elsewhere(actor)) };
        // On timeout the list is used without these changes.
        let _ = tokio::time::timeout(MAX_WAIT_FOR_LINES, everywhere).await;
    }

    /// Brings the list up to date with the actor's changes that were answered by this node.
    pub async fn list_changes_here(&self, actor: &Actor) {
        let _ = tokio::time::timeout(MAX_WAIT_FOR_LINES, self.list_rooms(actor)).await;
    }

    async fn list_rooms(&self, actor: &Actor) {
        futures_util::future::join_all(self.list_lag.of(actor).into_iter().map(|id| self.list(id))).await;
    }

    async fn list(&self, id: NotebookId) {
        let (caller, answered) = caller();
        let inbox = self.open.get(&id).map(|inbox| inbox.clone());
        if inbox.is_some_and(|inbox| inbox.messages.send(Input::List { caller }.into()).is_ok()) {
            // A room that ended meanwhile has begun its write.
            let _: Result<(), _> = answered.await;
        }
        if let Some(writing) = self.list_lag.writing(&id) {
            writing.await;
        }
    }

    /// Number of open notebooks.
    pub fn open_count(&self) -> usize {
        self.open.len()
    }

    /// True if the notebook is open on this node.
    pub fn is_open(&self, id: &NotebookId) -> bool {
        self.open.contains_key(id)
    }

    /// Ids of open notebooks: the list may not show their latest changes yet.
    pub fn open_ids(&self) -> Vec<NotebookId> {
        self.open.iter().map(|open| open.key().clone()).collect()
    }

    /// Ends every room: queued inputs are decided and answered, snapshots are written, then the tasks end.
    pub async fn shut_down(&self) {
        self.is_stopping.store(true, Ordering::SeqCst);
        self.alarms.clear();
        for inbox in &self.open {
            // A send fails only to a room that has just ended.
            let _ = inbox.urgent.send(Input::ShutDown.into());
        }
        self.tasks.close();
        self.tasks.wait().await;
    }

    /// Lets other nodes have the room, if it is open: it finishes its appends, writes a snapshot, and gives its lease
    /// back. Its clients are told to look for the new owner.
    pub fn give_up(&self, id: &NotebookId) {
        if let Some(inbox) = self.open.get(id) {
            inbox.given_up.cancel();
        }
    }

    fn inbox(self: &Arc<Self>, id: &NotebookId) -> Inbox {
        let vacant = match self.open.entry(id.clone()) {
            Entry::Occupied(open) => return open.get().clone(),
            Entry::Vacant(vacant) => vacant,
        };
        let (messages, receiver) = mpsc::unbounded_channel();
        let (urgent, urgent_receiver) = mpsc::unbounded_channel();
        let max_permits = u32::try_from(self.max_inbox_bytes >> 10).unwrap_or(u32::MAX).max(1);
        let room_left = Arc::new(Semaphore::new(max_permits as usize));
        let given_up = CancellationToken::new();
        let inbox = Inbox { messages, urgent, room_left, max_permits, given_up };
        // While the server stops the receivers are dropped, so that every send fails.
        if !self.is_stopping.load(Ordering::SeqCst) {
            let task = Task::new(self.clone(), id.clone(), (receiver, urgent_receiver), &inbox);
            self.tasks.spawn(task.run());
            vacant.insert(inbox.clone());
        }
        inbox
    }

    /// Removes a room whose task ends. Messages that arrived meanwhile go to the room that follows.
    fn retire(
        self: &Arc<Self>,
        id: &NotebookId,
        messages: &mut mpsc::UnboundedReceiver<RoomMessage>,
        urgent: &mut mpsc::UnboundedReceiver<RoomMessage>,
    ) {
        for message in self.close(id, messages, urgent).into_iter().filter(RoomMessage::outlives_the_room) {
            let _ = self.inbox(id).messages.send(message);
        }
    }

    /// Removes a room; returns the messages that it has not taken.
    fn close(
        &self,
        id: &NotebookId,
        messages: &mut mpsc::UnboundedReceiver<RoomMessage>,
        urgent: &mut mpsc::UnboundedReceiver<RoomMessage>,
    ) -> Vec<RoomMessage> {
        let mut left = Vec::new();
        {
            // The locked entry keeps others from finding or opening the room.
            let entry = self.open.entry(id.clone());
            messages.close();
            urgent.close();
            while let Ok(message) = messages.try_recv() {
                left.push(message);
            }
            while let Ok(message) = urgent.try_recv() {
                left.push(message);
            }
            if let Entry::Occupied(open) = entry {
                open.remove();
            }
        }
        self.notices_due.put(id.clone(), 0);
        left
    }
}

/// Identity of the caller in one notebook.
pub fn identity(authenticated: &Authenticated, notebook: &NotebookId, connection: &str) -> Arc<Identity> {
    Arc::new(Identity {
        actor: authenticated.actor.clone(),
        authority: authenticated.authority_for(notebook),
        name: authenticated.name.clone(),
        connection: connection.to_owned(),
    })
}

/// Rejection that does not reveal if the notebook exists.
pub fn unknown_notebook(notebook: &NotebookId) -> Rejection {
    let message = format!("no notebook {notebook} that you may see: check the id, or ask for access");
    Rejection::new(RejectionCode::UnknownNotebook, message)
}

/// Bodies up to this size are decoded in the task that received them; the limit was chosen, not measured.
const DECODE_IN_PLACE_BYTES: usize = 64 * 1_024;

/// Decodes a command outside of its room's task; a large one on a thread for blocking work.
///
/// # Errors
/// Id, notebook and rejection of a message whose body is not a command.
pub async fn decode(message: CommandMessage) -> Result<DecodedCommand, Box<UndecodedCommand>> {
    if message.body.get().len() <= DECODE_IN_PLACE_BYTES {
        return DecodedCommand::decode(message);
    }
    let (id, notebook) = (message.id.clone(), message.notebook.clone());
    let decoding = tokio::task::spawn_blocking(move || DecodedCommand::decode(message));
    decoding.await.unwrap_or_else(|_| Err(Box::new(UndecodedCommand { id, notebook, rejection: stopping() })))
}

impl Rooms {
    /// Opens the notebook at `at`, if this node owns it then; replaces its earlier alarm.
    fn open_at(self: &Arc<Self>, id: &NotebookId, at: Millis) {
        let (rooms, notebook, clock) = (Arc::downgrade(self), id.clone(), self.clock.clone());
        // Locks the entry first, so that the alarm cannot remove it before it is inserted.
        let entry = self.alarms.entry(id.clone());
        let alarm = tokio::spawn(async move {
            clock.sleep_until(at).await;
            if let Some(rooms) = rooms.upgrade() {
                // An unknown owner: the claim of the lease tells.
                let is_owner = rooms.cluster.owns(&notebook).await.unwrap_or(true);
                // Removal aborts this task at its next pause, and it has none.
                rooms.alarms.remove(&notebook);
                if is_owner {
                    rooms.open(&notebook);
                }
            }
        });
        entry.insert(AbortOnDropHandle::new(alarm));
    }
}

const FIRST_PAUSE: Duration = Duration::from_millis(100);
/// Upper bound, because a server that stops waits for the pause.
const MAX_PAUSE: Duration = Duration::from_secs(5);
/// Time without a fault after which the pause is reset.
const FORGOTTEN_AFTER: Duration = Duration::from_secs(60);

/// The last fault of each notebook that had one, and the pause after it.
#[derive(Debug, Default)]
struct Faults(DashMap<NotebookId, (Instant, Duration)>);

impl Faults {
    /// Notes a fault; returns the pause before the next room.
    fn add(&self, notebook: &NotebookId) -> Duration {
        self.0.retain(|_, (at, _)| at.elapsed() < FORGOTTEN_AFTER);
        let before = self.0.get(notebook).map(|last| last.1);
        let pause = before.map_or(FIRST_PAUSE, |before| (before * 2).min(MAX_PAUSE));
        self.0.insert(notebook.clone(), (Instant::now(), pause));
        pause
    }
}
