//! Idle timer of a connection, which counts bytes: a large frame on a slow line may take longer than the allowed
//! silence.
//!
//! Each byte read resets the timer. So does a byte that the system accepts after it had refused some: the client is
//! receiving. Bytes that the system accepts without refusing say nothing of the client.
//!
//! Limit of memory for a runtime agent's reports until they are stored, over all notebooks.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use notarium_core::Rejection;
use notarium_sync::Caller;
use notarium_wire::{AckMessage, CommandMessage, RejectMessage, ServerMessage};
use parking_lot::Mutex;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, sleep_until};
use tokio_util::io::InspectReader;

use crate::agents::frame;
use crate::limits::Heartbeat;
use crate::rooms::{Outbox, ReplyTo};

/// Time of a connection's last sign of life, and its heartbeat. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Pulse(Arc<Mutex<PulseState>>);

#[derive(Debug)]
struct PulseState {
    last: Instant,
    heartbeat: Heartbeat,
}

impl Pulse {
    pub fn new(heartbeat: Heartbeat) -> Self {
        Self(Arc::new(Mutex::new(PulseState { last: Instant::now(), heartbeat })))
    }

    /// Sets the interval of pings and the allowed silence.
    pub fn set(&self, heartbeat: Heartbeat) {
        self.0.lock().heartbeat = heartbeat;
    }

    /// Interval of pings.
    pub fn ping_interval(&self) -> Duration {
        self.0.lock().heartbeat.ping.max(Duration::from_millis(1))
    }

    /// Resets the timer for bytes that are read from the stream.
    pub fn reader<S: AsyncRead>(&self, stream: S) -> TimedReader<S> {
        let pulse = self.clone();
        let note = move |bytes: &[u8]| {
            if !bytes.is_empty() {
                pulse.beat();
            }
        };
        InspectReader::new(stream, Box::new(note))
    }

    fn beat(&self) {
        self.0.lock().last = Instant::now();
    }

    /// End of the client's allowed silence, counted from `since` at the earliest.
    fn end_of_silence(&self, since: Instant) -> Instant {
        let state = self.0.lock();
        state.last.max(since) + state.heartbeat.silence
    }

    /// Resolves at the end of the allowed silence. Cancel safe.
    pub async fn silence(&self, since: Instant) {
        loop {
            let end = self.end_of_silence(since);
            if Instant::now() >= end {
                return;
            }
            sleep_until(end).await;
        }
    }
}

/// Reader that resets the timer for bytes read.
pub type TimedReader<S> = InspectReader<S, Box<dyn FnMut(&[u8]) + Send>>;

/// Writer that resets the timer for bytes accepted after some were refused.
#[derive(Debug)]
pub struct TimedWriter<S> {
    stream: S,
    pulse: Pulse,
    /// True if the system accepted nothing at the last write: its buffer is full.
    is_full: bool,
}

impl<S> TimedWriter<S> {
    pub fn new(stream: S, pulse: Pulse) -> Self {
        Self { stream, pulse, is_full: false }
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for TimedWriter<S> {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        let was_full = std::mem::replace(&mut self.is_full, written.is_pending());
        if was_full && matches!(written, Poll::Ready(Ok(1..))) {
            self.pulse.beat();
        }
        written
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

/// Size below which commands are sent the usual way: their answers come after the events that they cause.
const SMALL_BYTES: usize = 4 << 10;

/// Limit of one agent's connection.
pub struct ReportMemory {
    /// One permit per KiB.
    left: Arc<Semaphore>,
    max_permits: u32,
}

impl ReportMemory {
    pub fn new(max_bytes: usize) -> Self {
        let max_permits = u32::try_from(max_bytes >> 10).unwrap_or(u32::MAX).max(1);
        Self { left: Arc::new(Semaphore::new(max_permits as usize)), max_permits }
    }

    /// Reply handler of a large report, which holds its place until the answer. Waits while too many bytes are pending:
    /// then the agent is not read. `None`: the command is small.
    pub async fn reply_to(&self, message: &CommandMessage, outbox: &Outbox) -> Option<ReplyTo> {
        let bytes = message.body.get().len();
        if bytes < SMALL_BYTES {
            return None;
        }
        let place = self.place(bytes).await;
        let (outbox, id, notebook) = (outbox.clone(), message.id.clone(), message.notebook.clone());
        Some(ReplyTo::Caller(Caller::new(move |answer: Result<AckMessage, Rejection>| {
            drop(place);
            let answer = match answer {
                Ok(ack) => ServerMessage::Ack(ack),
                Err(rejection) => ServerMessage::Reject(RejectMessage { id, notebook, rejection }),
            };
            // If the connection has ended, the agent gets the answer when it resends.
            let _ = outbox.send(frame(&answer));
        })))
    }

    async fn place(&self, bytes: usize) -> Option<OwnedSemaphorePermit> {
        let permits = u32::try_from(bytes >> 10).unwrap_or(u32::MAX).min(self.max_permits);
        self.left.clone().acquire_many_owned(permits).await.ok()
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;

    const HEARTBEAT: Heartbeat = Heartbeat { ping: Duration::from_secs(2), silence: Duration::from_secs(6) };

    #[tokio::test]
    async fn each_byte_that_is_read_is_a_sign_of_life_and_the_end_is_none() {
        let (mut client, server) = tokio::io::duplex(1 << 10);
        let (pulse, since) = (Pulse::new(HEARTBEAT), Instant::now());
        let mut server = pulse.reader(server);
        assert_eq!(pulse.end_of_silence(since), since + HEARTBEAT.silence);
        for _ in 0..10 {
            let before = pulse.end_of_silence(since);
            client.write_all(b"x").await.unwrap();
            server.read_u8().await.unwrap();
            assert!(pulse.end_of_silence(since) > before);
        }
        let before = pulse.end_of_silence(since);
        drop(client);
        assert_eq!(server.read(&mut [0; 1]).await.unwrap(), 0);
        assert_eq!(pulse.end_of_silence(since), before);
        let now = Instant::now();
        assert_eq!(pulse.end_of_silence(now), now + HEARTBEAT.silence, "nobody listened before");
    }

    #[tokio::test]
    async fn bytes_that_are_taken_at_once_are_no_sign_of_life_and_those_after_a_refusal_are() {
        let (mut client, server) = tokio::io::duplex(4);
        let (pulse, since) = (Pulse::new(HEARTBEAT), Instant::now());
        let mut server = TimedWriter::new(server, pulse.clone());
        server.write_all(b"ping").await.unwrap();
        assert_eq!(pulse.end_of_silence(since), since + HEARTBEAT.silence, "the client may never read them");
        let mut read = [0; 4];
        let (written, read) = tokio::join!(server.write_all(b"long"), client.read_exact(&mut read));
        written.unwrap();
        read.unwrap();
        assert!(pulse.end_of_silence(since) > since + HEARTBEAT.silence);
    }

    #[tokio::test]
    async fn silence_ends_when_the_time_is_over() {
        let pulse = Pulse::new(Heartbeat { ping: Duration::ZERO, silence: Duration::from_millis(20) });
        let since = Instant::now();
        pulse.silence(since).await;
        assert!(since.elapsed() >= Duration::from_millis(20));
    }

    #[tokio::test]
    async fn what_is_too_much_waits_until_something_is_stored() {
        let waiting = ReportMemory::new(100 << 10);
        let first = waiting.place(60 << 10).await;
        let second = waiting.place(40 << 10).await;
        let third = waiting.place(10 << 10);
        let mut third = std::pin::pin!(third);
        assert!(third.as_mut().now_or_never().is_none());
        drop(first);
        assert!(third.await.is_some());
        drop(second);
    }

    #[tokio::test]
    async fn one_that_is_larger_than_all_may_come_alone() {
        let waiting = ReportMemory::new(100 << 10);
        let large = waiting.place(200 << 10).await;
        assert!(waiting.place(1 << 10).now_or_never().is_none());
        drop(large);
        assert!(waiting.place(1 << 10).now_or_never().is_some());
    }
}
