//! Drains or closes an unread request body, so that the client can read an early error.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::body::{Body, BodyDataStream, HttpBody};
use axum::extract::Request;
use axum::middleware::Next;
use axum::response::Response;
use futures_util::{StreamExt, stream};
use http::{HeaderValue, StatusCode, header};

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
        let mut lent = reader.lock().unwrap_or_else(PoisonError::into_inner);
        lent.was_read = true;
        let next = std::task::ready!(lent.body.poll_next_unpin(context));
        lent.has_ended |= next.is_none();
        std::task::Poll::Ready(next)
    }));
    let mut response = next.run(Request::from_parts(parts, body)).await;
    // A handler that still reads the body while it answers keeps it.
    let Some(lent) = Arc::into_inner(lent) else { return response };
    let mut left = lent.into_inner().unwrap_or_else(PoisonError::into_inner);
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
