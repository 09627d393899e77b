//! Handle of a notebook's room: the only way to a notebook that is in use, for messages, commands and reads.
//!
//! Values alone pass it: [`ClientInput`], [`Submission`], the answer of a command, [`ReadState`]. If another node owns the
//! notebook, reads come from the store. Connections and commands go to that node before they come here.

use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use notarium_core::{NotebookId, Rejection, RejectionCode};
use notarium_sync::{
    Caller, ClientId, ClientInput, DecodedCommand, Identity, Input, OutsideFacts, ReadState, ReplyTo, Submission,
};
use notarium_wire::{AckMessage, CommandMessage};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use super::Rooms;
use super::task::RoomMessage;

/// Sending side of a room's inbox.
#[derive(Clone)]
pub(super) struct Inbox {
    pub messages: mpsc::UnboundedSender<RoomMessage>,
    /// Queue that is read before `messages`.
    pub urgent: mpsc::UnboundedSender<RoomMessage>,
    /// One permit per KiB of commands in `messages`.
    pub room_left: Arc<Semaphore>,
    pub max_permits: u32,
    /// Cancelled when other nodes are to have the room.
    pub given_up: CancellationToken,
}

impl Inbox {
    /// Waits for capacity in the inbox, by size.
    async fn permit(&self, body: &str) -> Option<OwnedSemaphorePermit> {
        let permits = u32::try_from(body.len() >> 10).unwrap_or(u32::MAX).saturating_add(1).min(self.max_permits);
        self.room_left.clone().acquire_many_owned(permits).await.ok()
    }
}

/// Handle of one room of this process. Cheap to clone; stays valid when the room is unloaded meanwhile.
#[derive(Clone)]
pub struct RoomHandle {
    pub(super) rooms: Arc<Rooms>,
    id: NotebookId,
    /// Absent: looked up for each message.
    inbox: Option<Inbox>,
}

impl RoomHandle {
    pub(super) fn open(rooms: Arc<Rooms>, id: NotebookId, inbox: Inbox) -> Self {
        Self { rooms, id, inbox: Some(inbox) }
    }

    pub(super) fn closed(rooms: Arc<Rooms>, id: NotebookId) -> Self {
        Self { rooms, id, inbox: None }
    }

    fn inbox(&self) -> Inbox {
        self.inbox.clone().unwrap_or_else(|| self.rooms.inbox(&self.id))
    }

    pub fn notebook_id(&self) -> &NotebookId {
        &self.id
    }

    /// Queues a command; the answer goes to its `reply_to`. Waits while the room's inbox is full.
    pub async fn submit(&self, submission: Submission) {
        if submission.is_control() {
            self.send_through(|inbox| &inbox.urgent, Input::Command(submission).into());
        } else {
            let permit = self.inbox().permit(submission.decoded.message.body.get()).await;
            self.send_through(|inbox| &inbox.messages, RoomMessage { permit, ..Input::Command(submission).into() });
        }
    }

    /// Executes a command and waits for its answer; if the notebook moves meanwhile, at its next owner, unless the command is meant for one
    /// epoch. Dropping the future does not cancel the command.
    pub async fn execute(
        &self,
        identity: Arc<Identity>,
        decoded: DecodedCommand,
        facts: OutsideFacts,
    ) -> Result<AckMessage, Rejection> {
        let (caller, answered) = caller();
        let peers = self.rooms.cluster.peers().filter(|_| facts.epoch.is_none());
        let again = peers.map(|_| (identity.clone(), decoded.message.clone()));
        self.submit(Submission { identity, decoded, reply_to: ReplyTo::Caller(caller), facts }).await;
        match (answered.await, again) {
            (Ok(answer), _) => answer,
            (Err(_), Some((identity, message))) => self.execute_again(&identity, &message).await,
            (Err(_), None) => Err(stopping()),
        }
    }

    /// Sends a command on that another node may have got meanwhile, under the same id.
    async fn execute_again(&self, identity: &Identity, message: &CommandMessage) -> Result<AckMessage, Rejection> {
        self.rooms.cluster.forget(&self.id);
        match self.rooms.elsewhere(&self.id).await? {
            Some(node) => self.rooms.execute_at(node, identity, message).await,
            None => Err(stopping()),
        }
    }

    /// Reads the notebook as it is on disk now. Boxed: nearly every route reads, and would be compiled with all of it.
    pub fn read(&self, identity: Arc<Identity>) -> BoxFuture<'_, Result<ReadState, Rejection>> {
        self.read_now(identity).boxed()
    }

    async fn read_now(&self, identity: Arc<Identity>) -> Result<ReadState, Rejection> {
        if self.rooms.elsewhere(&self.id).await?.is_some() {
            return self.rooms.read_from_store(&self.id, identity).await;
        }
        let (caller, answered) = caller();
        let again = self.rooms.cluster.peers().map(|_| identity.clone());
        self.send_through(|inbox| &inbox.messages, Input::Read { identity, caller }.into());
        match (answered.await, again) {
            (Ok(state), _) => state,
            // The room has gone to another node.
            (Err(_), Some(identity)) => self.rooms.read_from_store(&self.id, identity).await,
            (Err(_), None) => Err(stopping()),
        }
    }

    /// Sends a message of a client, except commands, which go through [`Self::submit`].
    pub fn send(&self, client: ClientId, input: ClientInput) {
        self.send_through(|inbox| &inbox.messages, Input::Client(client, input).into());
    }

    /// Sends to the room, or to the one that follows if it was unloaded.
    pub(super) fn send_through(
        &self,
        way: impl Fn(&Inbox) -> &mpsc::UnboundedSender<RoomMessage>,
        message: RoomMessage,
    ) {
        let sent = match &self.inbox {
            Some(inbox) => way(inbox).send(message),
            None => way(&self.inbox()).send(message),
        };
        if let Err(mpsc::error::SendError(message)) = sent
            && message.outlives_the_room()
        {
            let _ = self.rooms.inbox(&self.id).messages.send(message);
        }
    }
}

/// A caller and the receiver of its answer; an error there means that the room was dropped.
pub(super) fn caller<T: Send + 'static>() -> (Caller<T>, oneshot::Receiver<T>) {
    let (sender, answered) = oneshot::channel();
    // The receiver may have been dropped.
    (Caller::new(move |answer| drop(sender.send(answer))), answered)
}

pub(super) fn stopping() -> Rejection {
    let message = "the server is stopping, or a fault ended the notebook's room: it is not known whether this was done; ask again \
                   in a moment, with the same id";
    Rejection::new(RejectionCode::Unavailable, message)
}
