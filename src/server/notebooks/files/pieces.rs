//! Streams an exported file some cells at a time: it is never held whole, however many clients read it and however
//! slowly.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use futures_util::{Stream, stream};
use notarium_core::{BlobPart, CellId, Document, Output};
use notarium_wire::ipynb::{self, CellOutput};

use super::long::not_written;
use super::long::{self, LongOutput, LongReading};
use crate::http::problem::Problem;
use crate::notebooks::Notebooks;
use crate::notebooks::files;

/// Cells are written together up to this size.
const PIECE_BYTES: u64 = 256 << 10;
/// Size above which a cell is written output by output.
const LARGE_CELL_BYTES: u64 = 4 << 20;
/// Copies of a value in memory while a piece is made: as bytes, as JSON and as text of the file.
const COPIES: u64 = 4;
/// Memory of all pieces that are being made, in MiB. A piece that needs more is made alone.
pub const MAX_MAKING_MIB: u32 = 64;

/// Stream of the file's text.
pub fn of(
    notebooks: Arc<Notebooks>,
    state: Arc<Document>,
) -> impl Stream<Item = Result<String, std::io::Error>> + Send + 'static {
    let pieces = Arc::new(ipynb::Pieces::new(state.order.iter().map(CellId::as_str)));
    let making = Making { notebooks, state, pieces, next: 0, open: None, long: None, is_over: false };
    stream::try_unfold(making, async |mut making| {
        let piece = making.next().await.map_err(|problem| std::io::Error::other(problem.detail.clone()))?;
        Ok(piece.map(|piece| (piece, making)))
    })
}

struct Making {
    notebooks: Arc<Notebooks>,
    state: Arc<Document>,
    pieces: Arc<ipynb::Pieces>,
    /// Index of the next cell.
    next: usize,
    /// Large cell before it that is being written.
    open: Option<OpenCell>,
    /// Output of that cell that is being streamed.
    long: Option<LongReading>,
    is_over: bool,
}

/// Outputs that are written together.
enum OutputBatch {
    Some(Range<usize>),
    /// One output that is never held whole.
    Long(Box<LongOutput>),
}

/// A cell that is partly written.
struct OpenCell {
    index: usize,
    /// Batches that are still to be written.
    groups: VecDeque<OutputBatch>,
    /// Number of outputs already written.
    written: usize,
    /// Text of the cell after its outputs.
    after: String,
}

impl Making {
    async fn next(&mut self) -> Result<Option<String>, Problem> {
        if self.is_over {
            return Ok(None);
        }
        if let Some(reading) = &mut self.long {
            let piece = reading.next(&self.notebooks, &self.state.notebook_id).await?;
            self.long.take_if(|reading| reading.is_over());
            return Ok(Some(piece));
        }
        if let Some(open) = self.open.take() {
            return self.go_on(open).await.map(Some);
        }
        if let Some(before) = self.open_large().await? {
            return Ok(Some(before));
        }
        self.some_cells().await.map(Some)
    }

    async fn some_cells(&mut self) -> Result<String, Problem> {
        let (first, bytes) = (self.next, self.take());
        let blobs = files::named_blobs(&self.state, &self.state.order[first..self.next]);
        let (state, pieces, cells) = (self.state.clone(), self.pieces.clone(), first..self.next);
        let mut text = self
            .making(bytes, blobs, move |blobs| {
                cells.filter_map(|index| cell(&state, &pieces, index, blobs)).collect::<String>()
            })
            .await?;
        self.end_file(&mut text);
        Ok(text)
    }

    /// Appends the end of the file after the last cell.
    fn end_file(&mut self, text: &mut String) {
        self.is_over = self.next == self.state.order.len();
        if self.is_over {
            text.push_str(&self.pieces.end(&files::frame(&self.state)));
        }
    }

    /// Loads the blobs and runs `make`, once there is memory for `bytes`.
    async fn making<T: Send + 'static>(
        &self,
        bytes: u64,
        blobs: Vec<&BlobPart>,
        make: impl FnOnce(&BTreeMap<String, Bytes>) -> T + Send + 'static,
    ) -> Result<T, Problem> {
        let mib = u32::try_from((bytes * COPIES) >> 20).unwrap_or(u32::MAX).clamp(1, MAX_MAKING_MIB);
        let _permits = self.notebooks.making_files.acquire_many(mib).await;
        let mut loaded = BTreeMap::new();
        for part in blobs {
            if let Some(bytes) = self.notebooks.blobs.load(&self.state.notebook_id, &part.sha256).await? {
                loaded.insert(part.sha256.clone(), bytes);
            }
        }
        tokio::task::spawn_blocking(move || make(&loaded)).await.map_err(not_written)
    }

    // --- a large cell ---

    /// Begins the next cell, if it is large enough to be written output by output.
    async fn open_large(&mut self) -> Result<Option<String>, Problem> {
        let index = self.next;
        let Some(id) = self.state.order.get(index).filter(|id| self.bytes_of(id) > LARGE_CELL_BYTES) else {
            return Ok(None);
        };
        let (Some(cell), Some((_, run))) = (self.state.cells.get(id), self.state.latest_execution(id)) else {
            return Ok(None);
        };
        let bare = files::without_outputs(id, cell, Some(run));
        if run.outputs.is_empty() || self.pieces.open(index, &bare, Vec::new()).is_none() {
            return Ok(None);
        }
        // Patches of all outputs are written before the outputs, so all are converted once in advance for their
        // patches.
        let (mut groups, mut patches, mut count) = (VecDeque::new(), Vec::new(), 0);
        for range in batches(&run.outputs) {
            let some = &run.outputs[range.clone()];
            let is_large = some.iter().map(bytes_of_output).sum::<u64>() > LARGE_CELL_BYTES;
            if let Some(long) = is_large.then(|| long::of(some)).flatten() {
                groups.push_back(OutputBatch::Long(Box::new(long)));
                count += 1;
                continue;
            }
            for output in self.outputs(index, range.clone(), count).await? {
                patches.extend(output.patch);
                count += 1;
            }
            groups.push_back(OutputBatch::Some(range));
        }
        let Some((before, after)) = self.pieces.open(index, &bare, patches) else { return Ok(None) };
        self.next += 1;
        self.open = Some(OpenCell { index, groups, written: 0, after });
        Ok(Some(before))
    }

    async fn go_on(&mut self, mut open: OpenCell) -> Result<String, Problem> {
        let mut text = String::new();
        match open.groups.pop_front() {
            None => {
                text = open.after;
                self.end_file(&mut text);
                return Ok(text);
            }
            Some(OutputBatch::Long(long)) => {
                text.push_str(if open.written > 0 { "," } else { "" });
                self.long = Some(long.begin(&mut text));
                open.written += 1;
            }
            Some(OutputBatch::Some(range)) => {
                for output in self.outputs(open.index, range, open.written).await? {
                    text.push_str(if open.written > 0 { "," } else { "" });
                    text.push_str(&output.text);
                    open.written += 1;
                }
            }
        }
        self.open = Some(open);
        Ok(text)
    }

    /// Outputs of a cell as they are in the file; `before` of them are already written.
    async fn outputs(&self, cell: usize, group: Range<usize>, before: usize) -> Result<Vec<CellOutput>, Problem> {
        let shown = self.state.latest_execution(&self.state.order[cell]).map_or(&[][..], |(_, run)| &run.outputs);
        let some = shown.get(group).unwrap_or_default();
        let (bytes, blobs, own) = (some.iter().map(bytes_of_output).sum(), files::named_by(some), some.to_vec());
        self.making(bytes, blobs, move |blobs| {
            let outputs = files::outputs(&own, blobs);
            outputs.iter().enumerate().map(|(index, output)| CellOutput::new(before + index, output)).collect()
        })
        .await
    }

    /// Moves on by the cells of one piece, at least one. Returns the bytes of their sources and outputs.
    fn take(&mut self) -> u64 {
        let mut bytes = 0;
        let first = self.next;
        while let Some(id) = self.state.order.get(self.next).filter(|_| bytes < PIECE_BYTES) {
            let more = self.bytes_of(id);
            if more > LARGE_CELL_BYTES && self.next > first {
                break;
            }
            bytes += more;
            self.next += 1;
        }
        bytes
    }

    fn bytes_of(&self, id: &CellId) -> u64 {
        let source = self.state.cells.get(id).map_or(0, |cell| cell.content.source.len() as u64);
        let outputs = self.state.latest_execution(id).map_or(&[][..], |(_, run)| &run.outputs);
        source + outputs.iter().map(bytes_of_output).sum::<u64>()
    }
}

/// Ranges of outputs that are written together.
fn batches(outputs: &[Output]) -> Vec<Range<usize>> {
    let bytes = |range: &Range<usize>| outputs[range.clone()].iter().map(bytes_of_output).sum::<u64>();
    let mut batches: Vec<(Range<usize>, u64)> = Vec::new();
    for group in files::groups(outputs) {
        let more = bytes(&group);
        match batches.last_mut().filter(|(_, bytes)| bytes + more <= PIECE_BYTES) {
            Some((batch, bytes)) => (batch.end, *bytes) = (group.end, *bytes + more),
            None => batches.push((group, more)),
        }
    }
    batches.into_iter().map(|(batch, _)| batch).collect()
}

fn bytes_of_output(output: &Output) -> u64 {
    output.size_bytes() as u64 + output.blobs.iter().map(|part| part.size_bytes).sum::<u64>()
}

fn cell(state: &Document, pieces: &ipynb::Pieces, index: usize, blobs: &BTreeMap<String, Bytes>) -> Option<String> {
    Some(pieces.cell(index, &files::cell(state, state.order.get(index)?, blobs)?))
}
