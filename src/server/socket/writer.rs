//! Towards the client: drains the outbox, many frames for one flush, and pings.

use std::time::Duration;

use futures_util::SinkExt;
use futures_util::stream::SplitSink;
use tokio::time::{Instant, MissedTickBehavior, interval_at, timeout};
use tokio_tungstenite::tungstenite::protocol::frame::Frame as Piece;
use tokio_tungstenite::tungstenite::protocol::frame::coding::{Data, OpCode};
use tokio_tungstenite::tungstenite::{Error, Message};

use super::handshake::Socket;
use crate::limits::ServerLimits;
use crate::rooms::{Frame, OutboxReceiver};

/// Frames whose room in the buffer is kept while the connection is idle.
const KEPT_CAPACITY: usize = 32;
/// What goes out at once of a longer text: the connection's buffer grows by no more, and never shrinks.
const MAX_PIECE_BYTES: usize = 4 << 10;

type Sink = SplitSink<Socket, Message>;

/// Writes until the outbox is closed and empty, or the client takes nothing any more.
pub async fn write(mut sink: Sink, mut receiver: OutboxReceiver, limits: ServerLimits) {
    let mut pings = interval_at(Instant::now() + limits.heartbeat, limits.heartbeat);
    pings.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut frames = Vec::new();
    loop {
        let sent = tokio::select! {
            is_open = receiver.recv_many(&mut frames) => {
                if !is_open {
                    break;
                }
                deliver(&mut sink, &mut frames, &limits).await
            }
            _ = pings.tick() => within(limits.stall_timeout, sink.send(Message::Ping(Vec::new().into()))).await,
        };
        if !sent {
            return;
        }
    }
    let _ = within(limits.stall_timeout, sink.send(Message::Close(None))).await;
}

/// False: the client is gone, or took too little for too long.
async fn deliver(sink: &mut Sink, frames: &mut Vec<Frame>, limits: &ServerLimits) -> bool {
    let bytes: u64 = frames.iter().map(|frame| frame.size_bytes() as u64).sum();
    let allowance = limits.stall_timeout + Duration::from_secs(bytes / limits.min_bytes_per_second.max(1));
    let is_sent = within(allowance, Box::pin(feed_all(sink, frames))).await;
    if frames.capacity() > KEPT_CAPACITY {
        *frames = Vec::new();
    }
    is_sent
}

async fn feed_all(sink: &mut Sink, frames: &mut Vec<Frame>) -> Result<(), Error> {
    for frame in frames.drain(..) {
        feed(sink, frame).await?;
    }
    sink.flush().await
}

/// A long text as a fragmented message (RFC 6455, 5.4).
async fn feed(sink: &mut Sink, frame: Frame) -> Result<(), Error> {
    let mut pieces = frame.pieces(MAX_PIECE_BYTES).peekable();
    let mut kind = Data::Text;
    while let Some(piece) = pieces.next() {
        let is_last = pieces.peek().is_none();
        sink.feed(Message::Frame(Piece::message(piece, OpCode::Data(kind), is_last))).await?;
        kind = Data::Continue;
    }
    Ok(())
}

async fn within(allowance: Duration, sending: impl Future<Output = Result<(), Error>>) -> bool {
    match timeout(allowance, sending).await {
        Ok(Ok(())) => true,
        Ok(Err(_)) => false,
        Err(_) => {
            tracing::info!(?allowance, "a client takes nothing any more: its connection is ended");
            false
        }
    }
}
