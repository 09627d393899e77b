//! Deadline for request bodies: a client cannot hold a request open by sending a byte now and then.

use std::time::Duration;

use axum::body::{Body, BodyDataStream, HttpBody};
use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::Response;
use bytes::Bytes;
use futures_util::{Stream, StreamExt, stream};
use tokio::time::{Instant, timeout};

use crate::limits::ServerLimits;

/// Time that a body may take: a grace period, and one second more per `min_bytes_per_second` received bytes.
#[derive(Debug, Clone, Copy)]
pub struct Pace {
    grace: Duration,
    min_bytes_per_second: u64,
}

/// Error of a body that missed its deadline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the body came too slowly: send at least {min_bytes_per_second} bytes in a second")]
pub struct TooSlow {
    min_bytes_per_second: u64,
}

impl Pace {
    pub fn of(limits: &ServerLimits) -> Self {
        Self { grace: limits.body_timeout, min_bytes_per_second: limits.min_bytes_per_second.max(1) }
    }

    fn allowed(self, received: u64) -> Duration {
        self.grace + Duration::from_millis(received.saturating_mul(1000) / self.min_bytes_per_second)
    }
}

/// Applies the deadline to every body.
pub async fn keep_pace(State(pace): State<Pace>, request: Request, next: Next) -> Response {
    let keep = |body: Body| if body.is_end_stream() { body } else { Body::from_stream(paced(body, pace)) };
    next.run(request.map(keep)).await
}

/// A body, and the time that the server has waited for it. The server's own work does not count.
struct Paced {
    body: BodyDataStream,
    pace: Pace,
    waited: Duration,
    received: u64,
}

fn paced(body: Body, pace: Pace) -> impl Stream<Item = Result<Bytes, axum::Error>> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_buy_time() {
        let pace = Pace { grace: Duration::from_secs(10), min_bytes_per_second: 1000 };
        for (received, seconds) in [(0, 10), (999, 10), (5_000, 15), (3_600_000, 3_610)] {
            assert_eq!(pace.allowed(received).as_secs(), seconds, "{received}");
        }
    }
}
