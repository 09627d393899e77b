//! Slots of HTTP connections: the share of each network first, then the total. A connection without an open request
//! gives way to a new one, so idle connections make nobody wait.

use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::body::Body;
use bytes::Bytes;
use hyper::body::{Frame, SizeHint};
use parking_lot::Mutex;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use crate::limits::connection_slots::network_of;

/// Slots of all connections. Cheap to clone.
#[derive(Debug, Clone)]
pub(super) struct ConnectionPool(Arc<PoolState>);

#[derive(Debug)]
struct PoolState {
    total: usize,
    per_network: usize,
    slots: Mutex<Slots>,
    /// A connection ended or became idle.
    changed: Notify,
}

#[derive(Debug, Default)]
struct Slots {
    taken: usize,
    /// Evicted connections that still have their slot.
    evicted: usize,
    networks: HashMap<IpAddr, Network>,
    last_turn: u64,
}

#[derive(Debug, Default)]
struct Network {
    taken: usize,
    /// Connections without an open request, the longest idle first.
    idle: BTreeMap<u64, CancellationToken>,
}

/// Slot of one connection, released when it is dropped.
#[derive(Debug)]
pub(super) struct PooledConnection {
    pool: ConnectionPool,
    network: IpAddr,
    /// Key among the idle connections of the network. `None`: a request is open.
    turn: Mutex<Option<u64>>,
    /// Cancelled when the connection has to give way.
    pub(super) evicted: CancellationToken,
}

/// An open request. The connection is idle again when this is dropped.
#[derive(Debug)]
pub(super) struct ActiveRequest(Arc<PooledConnection>);

impl ConnectionPool {
    pub(super) fn new(total: usize, per_network: usize) -> Self {
        let (slots, changed) = (Mutex::default(), Notify::new());
        Self(Arc::new(PoolState { total, per_network, slots, changed }))
    }

    /// Takes a slot. Waits while all are taken by open requests; `None`: open requests take the whole share of this network.
    /// `is_shared`: a proxy for many clients, without a share. Cancel safe.
    pub(super) async fn enter(&self, address: IpAddr, is_shared: bool) -> Option<Arc<PooledConnection>> {
        let network = network_of(address);
        let limit = if is_shared { usize::MAX } else { self.0.per_network };
        if !self.0.slots.lock().make_room_of(network, limit) {
            return None;
        }
        loop {
            let changed = self.0.changed.notified();
            if let Some((turn, evicted)) = self.0.slots.lock().take(network, self.0.total) {
                let turn = Mutex::new(Some(turn));
                return Some(Arc::new(PooledConnection { pool: self.clone(), network, turn, evicted }));
            }
            changed.await;
        }
    }
}

impl Slots {
    /// Keeps a network below its share by evicting its longest idle connection. False: it has none that is idle.
    fn make_room_of(&mut self, network: IpAddr, limit: usize) -> bool {
        self.networks.get(&network).is_none_or(|found| found.taken < limit) || self.evict(network)
    }

    /// Returns key and eviction token of a new idle connection. If all slots are taken, evicts one connection of the network
    /// with the most idle ones; its slot is free when it has ended.
    fn take(&mut self, network: IpAddr, total: usize) -> Option<(u64, CancellationToken)> {
        if self.taken >= total {
            let most = self.networks.iter().max_by_key(|(_, network)| network.idle.len()).map(|(network, _)| *network);
            if let Some(most) = most.filter(|_| self.evicted == 0) {
                self.evict(most);
            }
            return None;
        }
        let evicted = CancellationToken::new();
        self.taken += 1;
        self.networks.entry(network).or_default().taken += 1;
        Some((self.idle(network, evicted.clone()), evicted))
    }

    fn evict(&mut self, network: IpAddr) -> bool {
        let idle = self.networks.get_mut(&network).and_then(|network| network.idle.pop_first());
        let Some((_, connection)) = idle else { return false };
        self.evicted += 1;
        connection.cancel();
        true
    }

    fn idle(&mut self, network: IpAddr, evicted: CancellationToken) -> u64 {
        self.last_turn += 1;
        self.networks.entry(network).or_default().idle.insert(self.last_turn, evicted);
        self.last_turn
    }
}

impl PooledConnection {
    /// Begins a request. `None`: the connection was evicted a moment ago, so the request must not be answered.
    pub(super) fn open_request(self: &Arc<Self>) -> Option<ActiveRequest> {
        let mut slots = self.pool.0.slots.lock();
        let mut turn = self.turn.lock();
        let key = (*turn)?;
        slots.networks.get_mut(&self.network)?.idle.remove(&key)?;
        *turn = None;
        Some(ActiveRequest(self.clone()))
    }
}

impl ActiveRequest {
    /// Keeps the request open until the answer's body was sent.
    pub(super) fn until_end_of(self, body: Body) -> Body {
        Body::new(AnswerBody { body, _open: self })
    }
}

/// Body of an answer, with the request that it answers.
#[derive(Debug)]
struct AnswerBody {
    body: Body,
    _open: ActiveRequest,
}

impl hyper::body::Body for AnswerBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Drop for ActiveRequest {
    fn drop(&mut self) {
        let connection = &self.0;
        let mut slots = connection.pool.0.slots.lock();
        *connection.turn.lock() = Some(slots.idle(connection.network, connection.evicted.clone()));
        connection.pool.0.changed.notify_waiters();
    }
}

impl Drop for PooledConnection {
    fn drop(&mut self) {
        let mut slots = self.pool.0.slots.lock();
        slots.taken -= 1;
        slots.evicted -= usize::from(self.evicted.is_cancelled());
        if let Some(network) = slots.networks.get_mut(&self.network) {
            network.taken -= 1;
            if let Some(key) = *self.turn.lock() {
                network.idle.remove(&key);
            }
            if network.taken == 0 {
                slots.networks.remove(&self.network);
            }
        }
        self.pool.0.changed.notify_waiters();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    /// Result of entering without waiting; `Err`: it would wait.
    async fn enter_now(pool: &ConnectionPool, address: &str) -> Result<Option<Arc<PooledConnection>>, ()> {
        tokio::select! {
            biased;
            entered = pool.enter(at(address), false) => Ok(entered),
            () = std::future::ready(()) => Err(()),
        }
    }

    async fn enter(pool: &ConnectionPool, address: &str) -> Arc<PooledConnection> {
        enter_now(pool, address).await.unwrap().unwrap()
    }

    #[tokio::test]
    async fn the_longest_idle_connection_of_a_full_network_gives_way() {
        let pool = ConnectionPool::new(10, 2);
        let first = enter(&pool, "2001:db8::1").await;
        let second = enter(&pool, "2001:db8::2").await;
        let request = first.open_request().unwrap();
        let third = enter(&pool, "2001:db8::3").await;
        assert!(second.evicted.is_cancelled() && !first.evicted.is_cancelled());
        assert!(second.open_request().is_none(), "an evicted connection answers nothing");
        drop(second);
        let _requests = (request, third.open_request().unwrap());
        assert!(enter_now(&pool, "2001:db8::4").await.unwrap().is_none(), "its share is in use");
        let _other = enter(&pool, "192.0.2.1").await;
        assert!(pool.enter(at("2001:db8::4"), true).await.is_some(), "a proxy has no share");
    }

    #[tokio::test]
    async fn with_all_slots_taken_the_network_with_most_idle_connections_gives_one() {
        let pool = ConnectionPool::new(3, 2);
        let idle = [enter(&pool, "192.0.2.1").await, enter(&pool, "192.0.2.1").await];
        let other = enter(&pool, "192.0.2.2").await;
        assert!(enter_now(&pool, "192.0.2.3").await.is_err(), "the slot is free when the connection has ended");
        assert!(enter_now(&pool, "192.0.2.3").await.is_err());
        assert_eq!(idle.each_ref().map(|each| each.evicted.is_cancelled()), [true, false], "one makes room");
        let [ended, left] = idle;
        let (entered, ()) = tokio::join!(pool.enter(at("192.0.2.3"), false), async move { drop(ended) });
        let _requests = [entered.unwrap(), left, other].map(|each| each.open_request().unwrap());
        assert!(enter_now(&pool, "192.0.2.4").await.is_err(), "all have open requests");
    }

    #[tokio::test]
    async fn a_finished_request_makes_its_connection_idle_and_networks_that_left_are_forgotten() {
        let pool = ConnectionPool::new(1, 1);
        let only = enter(&pool, "192.0.2.1").await;
        let request = only.open_request().unwrap();
        let next = async { pool.enter(at("192.0.2.2"), false).await.unwrap() };
        let leaving = async {
            drop(request);
            only.evicted.cancelled().await;
            drop(only);
        };
        let (next, ()) = tokio::join!(next, leaving);
        drop(next);
        let slots = pool.0.slots.lock();
        assert!(slots.networks.is_empty() && slots.taken == 0 && slots.evicted == 0);
    }
}
