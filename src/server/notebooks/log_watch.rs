//! Waits for new events in a notebook's log, while the caller may read it.
//!
//! The room's frames only signal that something is new. The events are read from the log at the consumer's pace, so a
//! slow consumer costs no memory and misses nothing.

use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use notarium_core::{NotebookId, Stored, Version};
use notarium_wire::{LastEvent, SubscribeMessage};

use crate::auth::Authenticated;
use crate::auth::following::Follow;
use crate::http::problem::Problem;
use crate::notebooks::Notebooks;
use crate::rooms::identity;
use crate::rooms::{Client, Frame, Input, Outbox, OutboxReceiver, RoomHandle};

/// Interval of the comments that keep a stream of server-sent events open.
pub const KEEP_ALIVE: Duration = Duration::from_secs(15);
/// Frames in the outbox. They only signal news: one is enough.
const MAX_WAITING_FRAMES: usize = 4;
/// Events per read.
const PAGE: usize = 500;

/// Watch of one consumer. Dropping it unsubscribes from the room.
pub struct LogWatch {
    pub notebooks: Arc<Notebooks>,
    pub authenticated: Authenticated,
    room: RoomHandle,
    client: Client,
    receiver: OutboxReceiver,
    follow: Follow,
    /// Version of the last event that was read.
    version: Version,
    /// True if the token's rights have changed and were not checked in the room yet.
    is_unchecked: bool,
}

impl LogWatch {
    /// Reads events after `since`, and is notified of events after `version`, which the notebook has reached.
    pub async fn start(
        notebooks: Arc<Notebooks>,
        authenticated: Authenticated,
        notebook: &NotebookId,
        version: Version,
        since: Version,
    ) -> Result<Self, Problem> {
        let room = notebooks.room(&authenticated, notebook)?;
        let follow = Follow::new(&notebooks.accounts, &authenticated).await?;
        let (outbox, receiver) = Outbox::new(MAX_WAITING_FRAMES, notebooks.limits.max_queued_bytes);
        let client = notebooks.rooms.connect(outbox);
        // The room resends nothing: earlier events are read from the log.
        let last = notebooks.store.read(notebook, version.saturating_sub(1), 1).await?.pop();
        let last = last.map(|stored| LastEvent { version, event_id: stored.envelope.id });
        let message = SubscribeMessage { notebook: notebook.clone(), since: last, unconfirmed: Vec::new() };
        let identity = identity(&authenticated, notebook, &format!("sse{}", client.id.0));
        room.send(Input::Subscribe { client: client.id, identity, message });
        Ok(Self { notebooks, authenticated, room, client, receiver, follow, version: since, is_unchecked: false })
    }

    pub fn notebook(&self) -> &NotebookId {
        self.room.notebook_id()
    }

    /// Waits for new events in the log; `None`: the caller may read no more, or the server stops. Cancel safe.
    pub async fn wait(&mut self) -> Option<()> {
        loop {
            self.check().await?;
            let mut frames = Vec::new();
            tokio::select! {
                is_open = self.receiver.recv_many(&mut frames) => {
                    if !is_open || frames.iter().any(ends_it) {
                        return None;
                    }
                    if !frames.iter().all(is_beside_the_log) {
                        return Some(());
                    }
                }
                changed = self.follow.changed() => {
                    self.authenticated = changed.ok()?;
                    self.is_unchecked = true;
                }
                () = self.notebooks.stopping.cancelled() => return None,
            }
        }
    }

    /// Next events of the log, empty at its end; `None`: the caller may read no more.
    pub async fn read(&mut self) -> Option<Vec<Stored>> {
        // A long read does not call `wait`, so rights are checked here too.
        if let Some(changed) = self.follow.changed().now_or_never() {
            self.authenticated = changed.ok()?;
            self.is_unchecked = true;
        }
        self.check().await?;
        let stored = self.notebooks.store.read(self.room.notebook_id(), self.version, PAGE).await.ok()?;
        self.version = stored.last().map_or(self.version, |stored| stored.envelope.version);
        Some(stored)
    }

    /// Checks the caller's rights, if the token's have changed.
    async fn check(&mut self) -> Option<()> {
        if !self.is_unchecked {
            return Some(());
        }
        let notebook = self.room.notebook_id();
        let identity = identity(&self.authenticated, notebook, "");
        self.room.send(Input::IdentityChanged { client: self.client.id, identity });
        self.notebooks.read(&self.authenticated, notebook).await.ok()?;
        self.is_unchecked = false;
        Some(())
    }
}

/// True if the role was removed, or the room refuses.
fn ends_it(frame: &Frame) -> bool {
    frame.starts_with("{\"error\"") || (frame.starts_with("{\"access\"") && frame.contains("\"role\":null"))
}

fn is_beside_the_log(frame: &Frame) -> bool {
    ["{\"presence\"", "{\"kernels\"", "{\"activity\""].iter().any(|name| frame.starts_with(name))
}

impl Drop for LogWatch {
    fn drop(&mut self) {
        self.room.send(Input::Unsubscribe { client: self.client.id });
    }
}
