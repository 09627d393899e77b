//! Towards the client: drains the outbox, many frames for one flush, and pings.

use std::time::Duration;

use axum::extract::ws::{Message, Utf8Bytes, WebSocket};
use futures_util::SinkExt;
use futures_util::stream::SplitSink;
use tokio::time::{Instant, MissedTickBehavior, interval_at, timeout};

use crate::limits::ServerLimits;
use crate::rooms::OutboxReceiver;

/// Frames whose room in the buffer is kept while the connection is idle.
const KEPT_CAPACITY: usize = 32;

type Sink = SplitSink<WebSocket, Message>;

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
async fn deliver(sink: &mut Sink, frames: &mut Vec<Utf8Bytes>, limits: &ServerLimits) -> bool {
    let bytes: u64 = frames.iter().map(|frame| frame.len() as u64).sum();
    let allowance = limits.stall_timeout + Duration::from_secs(bytes / limits.min_bytes_per_second.max(1));
    let is_sent = within(allowance, Box::pin(feed_all(sink, frames))).await;
    if frames.capacity() > KEPT_CAPACITY {
        *frames = Vec::new();
    }
    is_sent
}

async fn feed_all(sink: &mut Sink, frames: &mut Vec<Utf8Bytes>) -> Result<(), axum::Error> {
    for frame in frames.drain(..) {
        sink.feed(Message::Text(frame)).await?;
    }
    sink.flush().await
}

async fn within(allowance: Duration, sending: impl Future<Output = Result<(), axum::Error>>) -> bool {
    match timeout(allowance, sending).await {
        Ok(Ok(())) => true,
        Ok(Err(_)) => false,
        Err(_) => {
            tracing::info!(?allowance, "a client takes nothing any more: its connection is ended");
            false
        }
    }
}
