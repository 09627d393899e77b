//! Limits of connections that have not authenticated: slots in total and per network, and bytes that each may send.

use std::io;
use std::net::{IpAddr, Ipv6Addr};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};

use dashmap::DashMap;
use futures_util::task::AtomicWaker;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};

/// Number of places, of which one network may take a part.
#[derive(Debug, Clone)]
pub struct ConnectionSlots {
    free: Arc<Semaphore>,
    taken: Arc<DashMap<IpAddr, usize>>,
    per_network: usize,
}

/// A place, released when it is dropped.
#[derive(Debug)]
pub struct ConnectionSlot {
    taken: Arc<DashMap<IpAddr, usize>>,
    network: Option<IpAddr>,
    _permit: OwnedSemaphorePermit,
}

impl ConnectionSlots {
    pub fn new(total: usize, per_network: usize) -> Self {
        Self { free: Arc::new(Semaphore::new(total)), taken: Arc::default(), per_network }
    }

    /// Takes a place. `None`: all are taken, or all of this network. A loopback address has no limit per network,
    /// because an unconfigured proxy may be there.
    pub fn enter(&self, address: Option<IpAddr>) -> Option<ConnectionSlot> {
        let permit = self.free.clone().try_acquire_owned().ok()?;
        let network = address.filter(|address| !address.to_canonical().is_loopback()).map(network_of);
        if let Some(network) = network {
            let mut count = self.taken.entry(network).or_default();
            if *count >= self.per_network {
                return None;
            }
            *count += 1;
        }
        Some(ConnectionSlot { taken: self.taken.clone(), network, _permit: permit })
    }
}

impl Drop for ConnectionSlot {
    fn drop(&mut self) {
        let Some(network) = self.network else { return };
        self.taken.remove_if_mut(&network, |_, count| {
            *count -= 1;
            *count == 0
        });
    }
}

/// Network that is counted together: one customer of an IPv6 provider has a whole /64.
pub fn network_of(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => {
            let [a, b, c, d, ..] = address.segments();
            IpAddr::V6(Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0))
        }
        address @ IpAddr::V4(_) => address,
    }
}

/// Bytes that may still be read from a connection. Cheap to clone.
#[derive(Debug, Clone)]
pub struct ReadBudget(Arc<BudgetState>);

#[derive(Debug)]
struct BudgetState {
    left: AtomicUsize,
    reader: AtomicWaker,
    spent: Notify,
}

impl Default for ReadBudget {
    fn default() -> Self {
        Self(Arc::new(BudgetState {
            left: AtomicUsize::new(usize::MAX),
            reader: AtomicWaker::new(),
            spent: Notify::new(),
        }))
    }
}

impl ReadBudget {
    /// Limits reading to these bytes, plus at most one buffer; then reading waits.
    pub fn limit(&self, bytes: usize) {
        self.0.left.store(bytes, Ordering::SeqCst);
    }

    /// Removes the limit, and resumes reading.
    pub fn lift(&self) {
        self.limit(usize::MAX);
        self.0.reader.wake();
    }

    /// Resolves when a reader waits because the limit is used up. Cancel safe.
    pub async fn spent(&self) {
        self.0.spent.notified().await;
    }

    fn spend(&self, bytes: usize) {
        let _ = self.0.left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| {
            (left != usize::MAX).then(|| left.saturating_sub(bytes))
        });
    }

    fn poll_left(&self, context: &Context<'_>) -> Poll<()> {
        if self.0.left.load(Ordering::SeqCst) > 0 {
            return Poll::Ready(());
        }
        self.0.reader.register(context.waker());
        // The limit may have been removed meanwhile.
        if self.0.left.load(Ordering::SeqCst) > 0 {
            return Poll::Ready(());
        }
        self.0.spent.notify_one();
        Poll::Pending
    }
}

/// A connection whose read bytes are counted.
#[derive(Debug)]
pub struct Metered<S> {
    pub stream: S,
    pub budget: ReadBudget,
}

impl<S: AsyncRead + Unpin> AsyncRead for Metered<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        std::task::ready!(self.budget.poll_left(context));
        let before = buffer.filled().len();
        let result = std::task::ready!(Pin::new(&mut self.stream).poll_read(context, buffer));
        self.budget.spend(buffer.filled().len() - before);
        Poll::Ready(result)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Metered<S> {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(context, parts)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;

    fn at(text: &str) -> Option<IpAddr> {
        Some(text.parse().unwrap())
    }

    #[test]
    fn one_network_does_not_take_all_places_and_gives_back_what_it_had() {
        let places = ConnectionSlots::new(4, 2);
        let first = places.enter(at("2001:db8::1")).unwrap();
        let _second = places.enter(at("2001:db8::2")).unwrap();
        assert!(places.enter(at("2001:db8::3")).is_none(), "a third of the same network");
        let _other = places.enter(at("192.0.2.1")).unwrap();
        drop(first);
        let _third = places.enter(at("2001:db8::3")).unwrap();
        let _loopback = places.enter(at("127.0.0.1")).unwrap();
        assert!(places.enter(at("192.0.2.2")).is_none(), "all are taken");
    }

    #[test]
    fn networks_that_left_are_forgotten() {
        let places = ConnectionSlots::new(4, 2);
        drop((places.enter(at("192.0.2.1")), places.enter(at("::ffff:192.0.2.1")), places.enter(at("192.0.2.1"))));
        assert!(places.taken.is_empty());
    }

    #[tokio::test]
    async fn reading_waits_once_the_budget_is_spent_and_goes_on_when_it_is_lifted() {
        let (mut client, server) = tokio::io::duplex(1 << 20);
        let budget = ReadBudget::default();
        let mut server = Metered { stream: server, budget: budget.clone() };
        budget.limit(10);
        client.write_all(&[7; 100]).await.unwrap();
        let mut part = [0; 20];
        assert_eq!(server.read(&mut part).await.unwrap(), 20, "one buffer may go beyond");
        let lifted = async {
            budget.spent().await;
            budget.lift();
        };
        let mut rest = [0; 80];
        let (read, ()) = tokio::join!(server.read_exact(&mut rest), lifted);
        assert_eq!(read.unwrap(), 80);
    }
}
