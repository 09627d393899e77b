//! Checks if a long value is JSON that a file may contain: streamed once, and never held whole.

use std::io::{BufReader, Read};

use bytes::{Buf, Bytes};
use futures_util::{Stream, StreamExt};
use http::StatusCode;
use notarium_store::BlobError;
use notarium_wire::ipynb::MAX_DEPTH;
use serde::de::IgnoredAny;
use tokio::sync::mpsc::{self, Receiver};
use tokio::task::JoinError;

use crate::http::problem::Problem;

/// Pieces in the queue to the checking thread.
const WAITING: usize = 2;

/// Reads the value to its end. False: invalid JSON, or nested too deeply.
pub async fn is_json(mut bytes: impl Stream<Item = Result<Bytes, BlobError>> + Unpin) -> Result<bool, Problem> {
    let (sender, pieces) = mpsc::channel(WAITING);
    let checked = tokio::task::spawn_blocking(move || {
        is_whole(Pieces { pieces, piece: Bytes::new(), nesting: Nesting::default() })
    });
    while let Some(piece) = bytes.next().await {
        if sender.send(piece?).await.is_err() {
            break;
        }
    }
    drop(sender);
    checked.await.map_err(not_written)
}

/// Problem if the task that writes a file has failed.
pub fn not_written(error: JoinError) -> Problem {
    tracing::error!(%error, "writing a file failed");
    Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", "the file could not be written: report it")
}

fn is_whole(mut pieces: Pieces) -> bool {
    let is_json = serde_json::from_reader::<_, IgnoredAny>(BufReader::new(&mut pieces)).is_ok();
    is_json && pieces.nesting.deepest <= MAX_DEPTH
}

struct Pieces {
    pieces: Receiver<Bytes>,
    piece: Bytes,
    nesting: Nesting,
}

impl Read for Pieces {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        while self.piece.is_empty() {
            match self.pieces.blocking_recv() {
                Some(piece) => self.piece = piece,
                None => return Ok(0),
            }
        }
        let size = self.piece.len().min(buffer.len());
        self.piece.copy_to_slice(&mut buffer[..size]);
        self.nesting.follow(&buffer[..size]);
        Ok(size)
    }
}

/// Counter of JSON's nesting depth.
#[derive(Default)]
struct Nesting {
    depth: usize,
    deepest: usize,
    in_string: bool,
    is_escaped: bool,
}

impl Nesting {
    fn follow(&mut self, bytes: &[u8]) {
        for byte in bytes {
            match byte {
                _ if self.is_escaped => self.is_escaped = false,
                b'\\' if self.in_string => self.is_escaped = true,
                b'"' => self.in_string = !self.in_string,
                b'{' | b'[' if !self.in_string => self.depth += 1,
                b'}' | b']' if !self.in_string => self.depth = self.depth.saturating_sub(1),
                _ => {}
            }
            self.deepest = self.deepest.max(self.depth);
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::stream;

    use super::*;

    async fn is_json_in_pieces(text: &str, size: usize) -> bool {
        let pieces: Vec<_> = text.as_bytes().chunks(size).map(|piece| Ok(Bytes::copy_from_slice(piece))).collect();
        is_json(stream::iter(pieces)).await.unwrap()
    }

    #[tokio::test]
    async fn what_a_file_cannot_hold_is_no_json() {
        let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        for size in [1, 7, 1_000] {
            assert!(is_json_in_pieces(r#"{"a": [1, "[[\"[{"], "b": {}}"#, size).await);
            assert!(is_json_in_pieces(&nested(MAX_DEPTH), size).await);
            for text in [&nested(MAX_DEPTH + 1), "[1", "[1]]", "NaN", "", "{\"a\"}"] {
                assert!(!is_json_in_pieces(text, size).await, "{text}");
            }
        }
    }
}
