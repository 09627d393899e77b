//! Bytes of a file on their way between a person and an agent, bounded in number.

use bytes::Bytes;
use futures_util::stream::{self, BoxStream};
use futures_util::{Stream, StreamExt};
use tokio::sync::oneshot;

/// Bytes of a file, in pieces.
pub type FilePieces = BoxStream<'static, Result<Bytes, axum::Error>>;

/// Passes on at most this many bytes. Beyond them it tells `exceeds`, and then ends with an error.
pub fn at_most(
    pieces: FilePieces,
    max_bytes: u64,
    exceeds: oneshot::Sender<()>,
) -> impl Stream<Item = Result<Bytes, axum::Error>> + Send + 'static {
    stream::unfold(Some((pieces, max_bytes, exceeds)), async |state| {
        let (mut pieces, left, exceeds) = state?;
        match pieces.next().await? {
            Ok(bytes) => match left.checked_sub(bytes.len() as u64) {
                Some(left) => Some((Ok(bytes), Some((pieces, left, exceeds)))),
                None => {
                    // The caller may have left.
                    let _ = exceeds.send(());
                    Some((Err(axum::Error::new(std::io::Error::other("the file is too large"))), None))
                }
            },
            Err(error) => Some((Err(error), None)),
        }
    })
}

/// Passes on exactly this many bytes, or ends with an error: a truncated file is never taken for a whole one.
pub fn whole(pieces: FilePieces, size_bytes: u64) -> impl Stream<Item = Result<Bytes, axum::Error>> + Send + 'static {
    stream::unfold(Some((pieces, size_bytes)), async |state| {
        let (mut pieces, left) = state?;
        let next = pieces.next().await;
        match next {
            Some(Ok(bytes)) => match left.checked_sub(bytes.len() as u64) {
                Some(left) => Some((Ok(bytes), Some((pieces, left)))),
                None => Some((Err(torn()), None)),
            },
            Some(Err(error)) => Some((Err(error), None)),
            None if left > 0 => Some((Err(torn()), None)),
            None => None,
        }
    })
}

fn torn() -> axum::Error {
    axum::Error::new(std::io::Error::other("the runtime agent sent another number of bytes than it said"))
}
