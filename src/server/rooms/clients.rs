//! The connections of a server by their numbers: where rooms send to.

use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use dashmap::DashMap;
use notarium_sync::ClientId;

use super::outbox::Outbox;

/// All connections that rooms may send to.
#[derive(Default)]
pub(super) struct Clients {
    outboxes: DashMap<ClientId, Outbox>,
    /// The number of the last one.
    last: AtomicU64,
}

impl Clients {
    pub(super) fn add(self: &Arc<Self>, outbox: Outbox) -> Client {
        let id = ClientId(self.last.fetch_add(1, Ordering::Relaxed) + 1);
        self.outboxes.insert(id, outbox);
        Client { id, clients: self.clone() }
    }

    /// Do not keep it longer than sending takes. `None`: the connection has ended.
    pub(super) fn outbox(&self, id: ClientId) -> Option<impl Deref<Target = Outbox>> {
        self.outboxes.get(&id)
    }
}

/// A connection's place among them, until it is dropped.
pub struct Client {
    /// No other connection of this process has it.
    pub id: ClientId,
    clients: Arc<Clients>,
}

impl Drop for Client {
    fn drop(&mut self) {
        self.clients.outboxes.remove(&self.id);
    }
}
