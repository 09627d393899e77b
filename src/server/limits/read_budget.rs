//! Read limit of a connection that has not authenticated yet.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};

use futures_util::task::AtomicWaker;
use tokio::io::{AsyncRead, ReadBuf};
use tokio::sync::Notify;

/// Bytes that may still be read from a connection. Cheap to clone.
#[derive(Debug, Clone)]
pub struct ReadBudget(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    left: AtomicUsize,
    reader: AtomicWaker,
    spent: Notify,
}

impl Default for ReadBudget {
    fn default() -> Self {
        Self(Arc::new(Shared { left: AtomicUsize::new(usize::MAX), reader: AtomicWaker::new(), spent: Notify::new() }))
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

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

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
