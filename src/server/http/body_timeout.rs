//! Bodies of requests: a deadline, so that a client cannot hold a request open by sending a byte now and then; and the
//! drain of an unread body, so that the client can read an early error.

use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, BodyDataStream, HttpBody};
use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::Response;
use bytes::Bytes;
use futures_util::{Stream, StreamExt, stream};
use http::{HeaderValue, StatusCode, header};
use parking_lot::Mutex;
use tokio::time::{Instant, timeout};

use crate::limits::ServerLimits;

/// Time that a body may take: a grace period, and one second more per `min_bytes_per_second` received bytes.
#[derive(Debug, Clone, Copy)]
pub struct BodyTimeout {
    grace: Duration,
    min_bytes_per_second: u64,
}

/// Error of a body that missed its deadline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the body came too slowly: send at least {min_bytes_per_second} bytes in a second")]
pub struct TooSlow {
    min_bytes_per_second: u64,
}

impl BodyTimeout {
    pub fn of(limits: &ServerLimits) -> Self {
        Self { grace: limits.body_timeout, min_bytes_per_second: limits.min_bytes_per_second.max(1) }
    }

    fn allowed(self, received: u64) -> Duration {
        self.grace + Duration::from_millis(received.saturating_mul(1000) / self.min_bytes_per_second)
    }
}

/// Applies the deadline to every body.
pub async fn keep_pace(State(pace): State<BodyTimeout>, request: Request, next: Next) -> Response {
    let keep = |body: Body| if body.is_end_stream() { body } else { Body::from_stream(paced(body, pace)) };
    next.run(request.map(keep)).await
}

/// A body, and the time that the server has waited for it. The server's own work does not count.
struct Paced {
    body: BodyDataStream,
    pace: BodyTimeout,
    waited: Duration,
    received: u64,
}

fn paced(body: Body, pace: BodyTimeout) -> impl Stream<Item = Result<Bytes, axum::Error>> {
    let paced = Paced { body: body.into_data_stream(), pace, waited: Duration::ZERO, received: 0 };
    stream::unfold(Some(paced), async |paced| {
        let mut paced = paced?;
        let bytes = paced.next().await?;
        let rest = bytes.is_ok().then_some(paced);
        Some((bytes, rest))
    })
}

impl Paced {
    async fn next(&mut self) -> Option<Result<Bytes, axum::Error>> {
        let began = Instant::now();
        let left = self.pace.allowed(self.received).saturating_sub(self.waited);
        let Ok(next) = timeout(left, self.body.next()).await else {
            return Some(Err(axum::Error::new(TooSlow { min_bytes_per_second: self.pace.min_bytes_per_second })));
        };
        self.waited += began.elapsed();
        self.received += next.as_ref().and_then(|bytes| bytes.as_ref().ok()).map_or(0, |bytes| bytes.len() as u64);
        next
    }
}

/// Bytes that are drained to keep the connection open.
const MAX_DRAINED_BYTES: usize = 64 << 10;
/// Time that draining may take.
const PATIENCE: Duration = Duration::from_secs(1);

/// A body that the handler reads, and that stays available after the handler has dropped it.
struct Lent {
    body: BodyDataStream,
    was_read: bool,
    has_ended: bool,
}

/// Drains the rest of the body, or sets `Connection: close`.
pub async fn finish_body(request: Request, next: Next) -> Response {
    if request.body().is_end_stream() {
        return next.run(request).await;
    }
    // A client that sent `Expect: 100-continue` sends no body unless it is read.
    let asks_first = request.headers().contains_key(header::EXPECT);
    let (parts, body) = request.into_parts();
    let lent = Lent { body: body.into_data_stream(), was_read: false, has_ended: false };
    let lent = Arc::new(Mutex::new(lent));
    let reader = lent.clone();
    let body = Body::from_stream(stream::poll_fn(move |context| {
        let mut lent = reader.lock();
        lent.was_read = true;
        let next = std::task::ready!(lent.body.poll_next_unpin(context));
        lent.has_ended |= next.is_none();
        std::task::Poll::Ready(next)
    }));
    let mut response = next.run(Request::from_parts(parts, body)).await;
    // A handler that still reads the body while it answers keeps it.
    let Some(lent) = Arc::into_inner(lent) else { return response };
    let mut left = lent.into_inner();
    let is_over = left.has_ended || response.status() == StatusCode::SWITCHING_PROTOCOLS;
    let is_unsent = asks_first && !left.was_read;
    if !is_over && (is_unsent || !is_drained(&mut left.body).await) {
        response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    response
}

/// True if the body ended within the limits.
async fn is_drained(body: &mut BodyDataStream) -> bool {
    let drained = async {
        let mut bytes = 0;
        while let Some(piece) = body.next().await {
            bytes += piece.as_ref().map_or(MAX_DRAINED_BYTES, bytes::Bytes::len);
            if piece.is_err() || bytes > MAX_DRAINED_BYTES {
                return false;
            }
        }
        true
    };
    tokio::time::timeout(PATIENCE, drained).await.unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_buy_time() {
        let pace = BodyTimeout { grace: Duration::from_secs(10), min_bytes_per_second: 1000 };
        for (received, seconds) in [(0, 10), (999, 10), (5_000, 15), (3_600_000, 3_610)] {
            assert_eq!(pace.allowed(received).as_secs(), seconds, "{received}");
        }
    }
}
