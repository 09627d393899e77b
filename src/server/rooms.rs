//! One task per open notebook, which drives the pure room of `notarium-sync` with the store, the clock and the connections.

mod outbox;

use std::sync::Arc;

use notarium_core::{KernelSessionId, NotebookId, Rejection, RejectionCode};
use notarium_store::EventStore;
use notarium_wire::{AckMessage, CommandMessage, PresenceState, SubscribeMessage};
use tokio::sync::mpsc;

pub use notarium_sync::{ClientId, Identity, ReadState};
pub use outbox::{Offered, Outbox, OutboxReceiver};

/// What the rooms of a server have in common.
#[derive(Debug, Clone, Default)]
pub struct RoomsConfig {}

/// News about kernels that notebooks wait for; the server routes it to the agents that are connected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WorkNotice {
    /// Somebody who offers this kernelspec should subscribe, claim and launch. Repeated when a notebook is opened again.
    Wanted { notebook: NotebookId, kernel_session: KernelSessionId, kernelspec: String },
    /// Nobody needs to claim this any more.
    Settled { notebook: NotebookId, kernel_session: KernelSessionId },
}

/// All open notebooks of a server.
pub struct Rooms {
    store: Arc<dyn EventStore>,
    config: RoomsConfig,
    work: mpsc::UnboundedSender<WorkNotice>,
}

impl Rooms {
    pub fn new(store: Arc<dyn EventStore>, config: RoomsConfig, work: mpsc::UnboundedSender<WorkNotice>) -> Arc<Rooms> {
        Arc::new(Rooms { store, config, work })
    }

    /// The room of a notebook; its task is started when there is none. A notebook that does not exist is an empty room:
    /// `CreateNotebook` goes through it.
    pub fn open(self: &Arc<Self>, id: &NotebookId) -> RoomHandle {
        let _ = (&self.store, &self.config, &self.work);
        RoomHandle { id: id.clone() }
    }

    /// Notebooks that are open now.
    pub fn open_count(&self) -> usize {
        0
    }

    /// Ends every room: what is queued is decided and answered, snapshots are written, then the tasks end.
    pub async fn shut_down(&self) {}
}

/// The way to one room. Cheap to clone; stays good when the room is unloaded meanwhile.
#[derive(Clone)]
pub struct RoomHandle {
    id: NotebookId,
}

impl RoomHandle {
    pub fn notebook_id(&self) -> &NotebookId {
        &self.id
    }

    /// Follows the notebook; everything that follows comes through the outbox. A second call replaces the first.
    pub fn subscribe(&self, client: ClientId, identity: Arc<Identity>, outbox: Outbox, message: SubscribeMessage) {
        let _ = (client, identity, outbox, message);
    }

    /// On `unsubscribe`, and for every subscribed room when the connection ends.
    pub fn unsubscribe(&self, client: ClientId) {
        let _ = client;
    }

    /// The connection's token, scopes or roles from outside are others now. Its subscription is checked at once.
    pub fn identity_changed(&self, client: ClientId, identity: Arc<Identity>) {
        let _ = (client, identity);
    }

    /// Queues a command; `ack` or `reject` comes through the outbox. Waits while the room's inbox is full.
    pub async fn command(&self, client: ClientId, identity: Arc<Identity>, outbox: Outbox, message: CommandMessage) {
        let _ = (client, identity, outbox, message);
    }

    /// A command whose answer is awaited here, for REST and the like. Dropping the future does not take it back.
    pub async fn execute(&self, identity: Arc<Identity>, message: CommandMessage) -> Result<AckMessage, Rejection> {
        let _ = (identity, message);
        Err(Rejection::new(RejectionCode::Unavailable, "rooms are under construction"))
    }

    pub fn presence(&self, client: ClientId, state: PresenceState) {
        let _ = (client, state);
    }

    /// From the runtime agent of the session.
    pub fn kernel_status(&self, client: ClientId, session: KernelSessionId, busy: bool) {
        let _ = (client, session, busy);
    }

    /// The notebook as it is on disk now.
    pub async fn read(&self, identity: Arc<Identity>) -> Result<ReadState, Rejection> {
        let _ = identity;
        Err(Rejection::new(RejectionCode::Unavailable, "rooms are under construction"))
    }
}
