//! Subscriptions in this process: positions, commits and live activity of a notebook as values, without frames and without
//! a second read of the store.

use std::sync::Arc;

use notarium_core::{Recorded, Version};
use notarium_wire::TurnActivity;

use super::{ClientInput, ClientRegistration, Frame, Identity, Outbox, OutboxReceiver, RoomHandle};

/// News that wait for a subscriber. One that is slower gets a new position.
const MAX_WAITING_NEWS: usize = 16;

/// Values that an in-process subscriber gets.
#[derive(Debug, PartialEq, Eq)]
pub enum News {
    /// The subscriber reads the log up to `version`. `activity` is that of unfinished replies from their beginning.
    Position {
        version: Version,
        activity: Vec<TurnActivity>,
    },
    /// Events after the position and all commits since, without a gap.
    Committed {
        events: Arc<[Recorded]>,
        payload_bytes: usize,
    },
    Activity(Arc<[TurnActivity]>),
}

/// A subscription, until it is dropped.
pub struct Subscription {
    pub room: RoomHandle,
    client: ClientRegistration,
    receiver: OutboxReceiver,
}

impl Subscription {
    /// `identity`: the subscriber, by the name of its connection. `max_queued_bytes`: bytes of events that wait for it.
    pub fn start(room: RoomHandle, max_queued_bytes: usize, identity: impl FnOnce(&str) -> Arc<Identity>) -> Self {
        let (outbox, receiver) = Outbox::new(MAX_WAITING_NEWS, max_queued_bytes);
        let client = room.rooms.connect(outbox);
        let identity = identity(&format!("sse{}", client.id.0));
        room.send(client.id, ClientInput::Follow(identity));
        Self { room, client, receiver }
    }

    /// Waits for news; `None`: the subscriber may read no more. Cancel safe.
    pub async fn recv(&mut self) -> Option<Vec<Arc<News>>> {
        let mut frames = Vec::new();
        let is_open = self.receiver.recv_many(&mut frames).await;
        // A text says that the room refuses, or that the role was removed.
        frames.iter().map(|frame| frame.news().cloned()).collect::<Option<_>>().filter(|_| is_open)
    }

    /// Takes the commits that have come since the last call.
    pub fn take_commits(&mut self) -> Vec<Arc<[Recorded]>> {
        let mut frames = Vec::new();
        self.receiver.take(&mut frames);
        let commits = frames.iter().filter_map(Frame::news).filter_map(|news| match &**news {
            News::Committed { events, .. } => Some(events.clone()),
            News::Position { .. } | News::Activity(_) => None,
        });
        commits.collect()
    }

    pub fn change_identity(&self, identity: Arc<Identity>) {
        self.room.send(self.client.id, ClientInput::IdentityChanged(identity));
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        self.room.send(self.client.id, ClientInput::Unsubscribe);
    }
}
