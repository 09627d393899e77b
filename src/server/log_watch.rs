//! Waiting for what is new in a notebook's log, for as long as somebody may read it.
//!
//! The room's frames say only that there is something new; the events are read from the log at the consumer's own pace,
//! so that a slow one costs nothing and misses nothing.

use futures_util::FutureExt;
use notarium_core::{NotebookId, Stored, Version};
use notarium_wire::{LastEvent, SubscribeMessage};

use crate::app::{App, identity};
use crate::auth::Authenticated;
use crate::problem::Problem;
use crate::rooms::{Client, Frame, Input, Outbox, OutboxReceiver, RoomHandle};
use crate::socket::Follow;

/// Frames that say "something is new": one is enough.
const MAX_WAITING_FRAMES: usize = 4;
/// Events that are read at once.
const PAGE: usize = 500;

/// One consumer's watch. Dropping it leaves the room.
pub struct LogWatch {
    pub app: App,
    pub authenticated: Authenticated,
    room: RoomHandle,
    client: Client,
    receiver: OutboxReceiver,
    follow: Follow,
    /// Of the last event that was read.
    version: Version,
    /// What the token allows has changed, and the room has not been asked yet.
    is_unchecked: bool,
}

impl LogWatch {
    /// Reads what comes after `since`, and notices everything after `version`, which the notebook has reached.
    pub async fn start(
        app: App,
        authenticated: Authenticated,
        notebook: &NotebookId,
        version: Version,
        since: Version,
    ) -> Result<Self, Problem> {
        let room = app.room(&authenticated, notebook)?;
        let follow = Follow::new(&app.accounts, &authenticated).await?;
        let (outbox, receiver) = Outbox::new(MAX_WAITING_FRAMES, app.limits.max_queued_bytes);
        let client = app.rooms.connect(outbox);
        // Nothing is resent by the room: what was before is read from the log.
        let last = app.store.read(notebook, version.saturating_sub(1), 1).await?.pop();
        let last = last.map(|stored| LastEvent { version, event_id: stored.envelope.id });
        let message = SubscribeMessage { notebook: notebook.clone(), since: last, unconfirmed: Vec::new() };
        let identity = identity(&authenticated, notebook, &format!("sse{}", client.id.0));
        room.send(Input::Subscribe { client: client.id, identity, message });
        Ok(Self { app, authenticated, room, client, receiver, follow, version: since, is_unchecked: false })
    }

    pub fn notebook(&self) -> &NotebookId {
        self.room.notebook_id()
    }

    /// Until there is something new in the log; `None`: it may be read no more, or the server stops. Cancel safe.
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
                () = self.app.stopping.cancelled() => return None,
            }
        }
    }

    /// The next events of the log: none where it was read to its end; `None`: it may be read no more.
    pub async fn read(&mut self) -> Option<Vec<Stored>> {
        // Who reads much of it does not wait in between.
        if let Some(changed) = self.follow.changed().now_or_never() {
            self.authenticated = changed.ok()?;
            self.is_unchecked = true;
        }
        self.check().await?;
        let stored = self.app.store.read(self.room.notebook_id(), self.version, PAGE).await.ok()?;
        self.version = stored.last().map_or(self.version, |stored| stored.envelope.version);
        Some(stored)
    }

    /// Where what the token allows has changed.
    async fn check(&mut self) -> Option<()> {
        if !self.is_unchecked {
            return Some(());
        }
        let notebook = self.room.notebook_id();
        let identity = identity(&self.authenticated, notebook, "");
        self.room.send(Input::IdentityChanged { client: self.client.id, identity });
        self.app.read(&self.authenticated, notebook).await.ok()?;
        self.is_unchecked = false;
        Some(())
    }
}

/// The role was taken away, or the room refuses.
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
