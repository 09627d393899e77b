//! A stream that records the time of its last byte: a large message on a slow line may take longer than the allowed silence.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, sleep_until};

/// The time of the last byte. Cheap to clone.
#[derive(Debug, Clone)]
pub struct LastByte(Arc<Mutex<Instant>>);

impl LastByte {
    fn note(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }

    fn get(&self) -> Instant {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns when no byte has come for `silence`. Cancel safe.
    pub async fn silence(&self, silence: Duration) {
        loop {
            let end = self.get() + silence;
            if Instant::now() >= end {
                return;
            }
            sleep_until(end).await;
        }
    }
}

/// Records the time of each byte that is read.
#[derive(Debug)]
pub struct TimedStream<S> {
    stream: S,
    last_byte: LastByte,
}

impl<S> TimedStream<S> {
    pub fn new(stream: S) -> (Self, LastByte) {
        let last_byte = LastByte(Arc::new(Mutex::new(Instant::now())));
        (Self { stream, last_byte: last_byte.clone() }, last_byte)
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for TimedStream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let result = ready!(Pin::new(&mut self.stream).poll_read(context, buffer));
        if buffer.filled().len() > before {
            self.last_byte.note();
        }
        Poll::Ready(result)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for TimedStream<S> {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    #[tokio::test]
    async fn each_byte_of_a_large_message_ends_the_silence() {
        let (mut server, client) = tokio::io::duplex(16);
        let (mut client, last_byte) = TimedStream::new(client);
        for _ in 0..10 {
            let before = last_byte.get();
            server.write_all(b"x").await.unwrap();
            client.read_u8().await.unwrap();
            assert!(last_byte.get() > before);
        }
        let before = last_byte.get();
        drop(server);
        assert_eq!(client.read(&mut [0; 1]).await.unwrap(), 0);
        assert_eq!(last_byte.get(), before, "the end is no byte");
        last_byte.silence(Duration::from_millis(20)).await;
        assert!(before.elapsed() >= Duration::from_millis(20));
    }
}
