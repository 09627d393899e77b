//! A file on its way out, some cells at a time: nobody holds all of it, however many read it and however slowly.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use futures_util::{Stream, stream};
use http::StatusCode;
use notarium_core::{CellId, Document};
use notarium_wire::ipynb;

use super::export;
use crate::app::App;
use crate::blobs;
use crate::problem::Problem;

/// Cells are taken together up to so many bytes.
const PIECE_BYTES: u64 = 256 << 10;
/// A value is held as bytes, as JSON and as text of the file while a piece is made.
const COPIES: u64 = 4;
/// All pieces that are made at a time, in MiB: a piece that needs more is made alone.
pub const MAX_MAKING_MIB: u32 = 64;

/// The file's text.
pub fn of(app: App, state: Arc<Document>) -> impl Stream<Item = Result<String, std::io::Error>> + Send + 'static {
    let pieces = Arc::new(ipynb::Pieces::new(state.order.iter().map(CellId::as_str)));
    let making = Making { app, state, pieces, next: 0, is_over: false };
    stream::try_unfold(making, async |mut making| {
        let piece = making.next().await.map_err(|problem| std::io::Error::other(problem.detail.clone()))?;
        Ok(piece.map(|piece| (piece, making)))
    })
}

struct Making {
    app: App,
    state: Arc<Document>,
    pieces: Arc<ipynb::Pieces>,
    /// The next cell, counted from the top.
    next: usize,
    is_over: bool,
}

impl Making {
    async fn next(&mut self) -> Result<Option<String>, Problem> {
        if self.is_over {
            return Ok(None);
        }
        let (first, bytes) = (self.next, self.take());
        self.is_over = self.next == self.state.order.len();
        let mib = u32::try_from((bytes * COPIES) >> 20).unwrap_or(u32::MAX).clamp(1, MAX_MAKING_MIB);
        let permits = self.app.making_files.acquire_many(mib).await;
        let blobs = self.load(first..self.next).await?;
        let (state, pieces, cells) = (self.state.clone(), self.pieces.clone(), first..self.next);
        let is_last = self.is_over;
        let made = tokio::task::spawn_blocking(move || {
            let mut text: String = cells.filter_map(|index| cell(&state, &pieces, index, &blobs)).collect();
            if is_last {
                text.push_str(&pieces.end(&export::frame(&state)));
            }
            text
        });
        let text = made.await.map_err(|error| {
            tracing::error!(%error, "writing a file failed");
            Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", "the file could not be written: report it")
        })?;
        drop(permits);
        Ok(Some(text))
    }

    /// Moves on by as many cells as one piece has: at least one. Returns what their outputs hold.
    fn take(&mut self) -> u64 {
        let mut bytes = 0;
        while self.next < self.state.order.len() && bytes < PIECE_BYTES {
            bytes += self.bytes_of(&self.state.order[self.next]);
            self.next += 1;
        }
        bytes
    }

    fn bytes_of(&self, id: &CellId) -> u64 {
        let source = self.state.cells.get(id).map_or(0, |cell| cell.content.source.len() as u64);
        let outputs = self.state.latest_execution(id).map_or(&[][..], |(_, run)| &run.outputs);
        let output = |output: &notarium_core::Output| {
            output.size_bytes() as u64 + output.blobs.iter().map(|part| part.size_bytes).sum::<u64>()
        };
        source + outputs.iter().map(output).sum::<u64>()
    }

    async fn load(&self, cells: std::ops::Range<usize>) -> Result<BTreeMap<String, Bytes>, Problem> {
        let mut loaded = BTreeMap::new();
        for part in export::named_blobs(&self.state, &self.state.order[cells]) {
            if let Some(bytes) = blobs::load(&self.app, &self.state.notebook_id, &part.sha256).await? {
                loaded.insert(part.sha256.clone(), bytes);
            }
        }
        Ok(loaded)
    }
}

fn cell(state: &Document, pieces: &ipynb::Pieces, index: usize, blobs: &BTreeMap<String, Bytes>) -> Option<String> {
    Some(pieces.cell(index, &export::cell(state, state.order.get(index)?, blobs)?))
}
