//! Writes to the client: drains the outbox, many frames per write, and sends pings.
//!
//! A server's frames are a header and their bytes (RFC 6455, 5.2), so they are written directly. Memory of a frame is
//! held only while it is sent, and a text for many clients is not copied for each.
//!
//! Automatic replies of the WebSocket (pongs, the close), sent through the outbox.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncWrite, AsyncWriteExt, WriteHalf};
use tokio::time::{Instant, Interval, MissedTickBehavior, interval_at, timeout};
use tokio_tungstenite::tungstenite::protocol::frame::FrameHeader;
use tokio_tungstenite::tungstenite::protocol::frame::coding::{Data, OpCode};

use super::Raw;
use super::pulse::{Pulse, TimedWriter};
use crate::app::App;
use crate::limits::ServerLimits;
use crate::rooms::{Frame, Outbox, OutboxReceiver};

/// Approximate size to which frames are collected per write.
const BATCH_BYTES: usize = 32 << 10;
/// Longest header of a server's frame.
const MAX_HEADER_BYTES: usize = 10;

type Sink = TimedWriter<WriteHalf<Raw>>;

/// Writes until the outbox is closed and empty, or the client accepts no more bytes.
pub async fn write(mut sink: Sink, mut receiver: OutboxReceiver, app: &App, pulse: &Pulse) {
    let limits = &app.limits;
    let mut pings = pings(pulse);
    let mut frames = Vec::new();
    let mut is_closed = false;
    loop {
        let sent = tokio::select! {
            is_open = receiver.recv_many(&mut frames) => {
                if !is_open {
                    break;
                }
                is_closed |= frames.iter().any(is_close);
                let sent = deliver(&mut sink, &mut frames, limits).await;
                // The frame may have been the welcome, with which the ping interval is set.
                if pings.period() != pulse.ping_interval() {
                    pings = self::pings(pulse);
                }
                sent
            }
            _ = pings.tick() => within(limits.stall_timeout, sink.write_all(&PING)).await,
        };
        if !sent {
            return;
        }
    }
    let farewell: &[u8] = if is_closed { &[] } else { &CLOSE };
    let _ = within(limits.stall_timeout, async {
        sink.write_all(farewell).await?;
        sink.shutdown().await
    })
    .await;
}

fn pings(pulse: &Pulse) -> Interval {
    let period = pulse.ping_interval();
    let mut pings = interval_at(Instant::now() + period, period);
    pings.set_missed_tick_behavior(MissedTickBehavior::Delay);
    pings
}

/// Sends frames. False: the client is gone, or accepted too little for too long.
async fn deliver(sink: &mut Sink, frames: &mut Vec<Frame>, limits: &ServerLimits) -> bool {
    let bytes: usize = frames.iter().map(Frame::size_bytes).sum();
    let allowance = limits.stall_timeout + Duration::from_secs(bytes as u64 / limits.min_bytes_per_second.max(1));
    let room = bytes.saturating_add(frames.len() * MAX_HEADER_BYTES).min(2 * BATCH_BYTES);
    within(allowance, write_all(sink, frames, Vec::with_capacity(room))).await
}

async fn write_all(
    sink: &mut (impl AsyncWrite + Unpin),
    frames: &mut Vec<Frame>,
    mut batch: Vec<u8>,
) -> io::Result<()> {
    for frame in frames.drain(..) {
        if !frame.is_control() {
            let header = FrameHeader { opcode: OpCode::Data(Data::Text), ..FrameHeader::default() };
            header.format(frame.size_bytes() as u64, &mut batch).map_err(io::Error::other)?;
        }
        for part in frame.parts() {
            let is_large = part.len() > BATCH_BYTES;
            if is_large || batch.len() > BATCH_BYTES {
                sink.write_all(&batch).await?;
                batch.clear();
            }
            if is_large {
                sink.write_all(part).await?;
            } else {
                batch.extend_from_slice(part);
            }
        }
    }
    sink.write_all(&batch).await?;
    sink.flush().await
}

async fn within(allowance: Duration, sending: impl Future<Output = io::Result<()>>) -> bool {
    match timeout(allowance, sending).await {
        Ok(Ok(())) => true,
        Ok(Err(_)) => false,
        Err(_) => {
            tracing::info!(?allowance, "a client takes nothing any more: its connection is ended");
            false
        }
    }
}

/// Empty ping and close of a server, with their headers (RFC 6455, 5.5).
pub const PING: [u8; 2] = [0x89, 0];
pub const CLOSE: [u8; 2] = [CLOSE_BYTE, 0];
const CLOSE_BYTE: u8 = 0x88;

pub fn is_close(frame: &Frame) -> bool {
    frame.is_control() && frame.parts()[0].first() == Some(&CLOSE_BYTE)
}

/// Writer for the reading side. Each write is one whole control frame.
pub struct Replies(pub Outbox);

impl AsyncWrite for Replies {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let frame = Frame::control(bytes);
        if is_close(&frame) {
            // No frame may follow a close (RFC 6455, 5.5.1).
            self.0.send(frame);
            self.0.close();
        } else {
            // If the outbox is full, drop the pong.
            let _ = self.0.offer(frame);
        }
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use futures_util::StreamExt;
    use notarium_core::RawJson;
    use notarium_wire::frame::SharedText;
    use tokio::io::AsyncWriteExt;
    use tokio_tungstenite::WebSocketStream;
    use tokio_tungstenite::tungstenite::protocol::Role;

    use super::*;

    fn shared(bytes: usize) -> Frame {
        let shared = RawJson::parse(&format!("\"{}\"", "s".repeat(bytes))).unwrap();
        SharedText { before: "before ".into(), shared: Some(shared), after: " after".into() }.into()
    }

    #[tokio::test]
    async fn frames_of_every_size_arrive_whole_and_in_order() {
        let sizes = [0, 1, 125, 126, 1_000, BATCH_BYTES - 1, BATCH_BYTES, BATCH_BYTES + 1, 65_535, 65_536, 300_000];
        let texts = sizes.iter().flat_map(|size| [Frame::from("t".repeat(*size)), shared(*size), "small".into()]);
        let sent: Vec<Frame> = texts.clone().chain(texts.rev()).collect();
        let mut bytes = Vec::new();
        write_all(&mut bytes, &mut sent.clone(), Vec::new()).await.unwrap();
        let incoming = tokio::io::join(&bytes[..], tokio::io::sink());
        let received = WebSocketStream::from_raw_socket(incoming, Role::Client, None).await;
        let received: Vec<String> =
            received.take(sent.len()).map(|message| message.unwrap().into_text().unwrap().to_string()).collect().await;
        assert!(received == sent.iter().map(ToString::to_string).collect::<Vec<_>>());
    }

    #[tokio::test]
    async fn pongs_to_who_reads_none_are_dropped_and_a_close_never() {
        let (outbox, mut receiver) = Outbox::new(2, 1_000);
        let mut replies = Replies(outbox);
        for _ in 0..1_000 {
            replies.write_all(&[0x8A, 0]).await.unwrap();
        }
        replies.write_all(&CLOSE).await.unwrap();
        assert!(!replies.0.send("late".into()), "nothing follows a close");
        let mut frames = Vec::new();
        receiver.recv_many(&mut frames).await;
        assert_eq!(frames.iter().map(is_close).collect::<Vec<_>>(), [false, false, true]);
    }
}
