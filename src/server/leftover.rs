//! What is left of a request's body when its answer is ready. A client that still sends must get to read the answer: a little is
//! read and thrown away; where more may come, the answer says that the connection ends with it.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::body::{Body, BodyDataStream, HttpBody};
use axum::extract::Request;
use axum::middleware::Next;
use axum::response::Response;
use futures_util::{StreamExt, stream};
use http::{HeaderValue, StatusCode, header};

/// What is thrown away for the sake of the connection.
const MAX_DRAINED_BYTES: usize = 64 << 10;
/// How long that is waited for.
const PATIENCE: Duration = Duration::from_secs(1);

/// A body that the handler reads, and that is still there when the handler has dropped it.
struct Lent {
    body: BodyDataStream,
    was_read: bool,
    has_ended: bool,
}

/// Reads what is left of the body, or says that the connection ends.
pub async fn finish_body(request: Request, next: Next) -> Response {
    if request.body().is_end_stream() {
        return next.run(request).await;
    }
    // Who waits for leave to send has sent nothing, as long as nobody asked for it.
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
    // Where the handler goes on reading while it answers, it is the handler's.
    let Some(lent) = Arc::into_inner(lent) else { return response };
    let mut left = lent.into_inner().unwrap_or_else(PoisonError::into_inner);
    let is_over = left.has_ended || response.status() == StatusCode::SWITCHING_PROTOCOLS;
    let is_unsent = asks_first && !left.was_read;
    if !is_over && (is_unsent || !is_drained(&mut left.body).await) {
        response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    response
}

/// Whether the end came within the bounds.
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
