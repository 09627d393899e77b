//! Registry of a server's connections by number, with the outboxes that rooms send to.

use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use dashmap::DashMap;
use notarium_sync::ClientId;

use super::outbox::Outbox;

/// All connections that rooms can send to.
#[derive(Default)]
pub(super) struct Clients {
    outboxes: DashMap<ClientId, Outbox>,
    /// Last number given.
    last: AtomicU64,
}

impl Clients {
    pub(super) fn add(self: &Arc<Self>, outbox: Outbox) -> Client {
        let id = ClientId(self.last.fetch_add(1, Ordering::Relaxed) + 1);
        self.outboxes.insert(id, outbox);
        Client { id, clients: self.clone() }
    }

    /// The connection's outbox. `None`: the connection has ended. Holds a lock: drop it right after sending.
    pub(super) fn outbox(&self, id: ClientId) -> Option<impl Deref<Target = Outbox>> {
        self.outboxes.get(&id)
    }
}

/// Registration of a connection, until it is dropped.
pub struct Client {
    /// Unique among the connections of this process.
    pub id: ClientId,
    clients: Arc<Clients>,
}

impl Drop for Client {
    fn drop(&mut self) {
        self.clients.outboxes.remove(&self.id);
    }
}
