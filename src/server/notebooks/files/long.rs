//! Writes one output whose long values are never held whole: they are streamed from their blobs, after a check that a
//! value is JSON that a file may contain.

use std::collections::{BTreeMap, VecDeque};
use std::io::{BufReader, Read};

use bytes::{Buf, Bytes};
use futures_util::stream::BoxStream;
use futures_util::{Stream, StreamExt};
use http::StatusCode;
use notarium_core::{BlobPart, NotebookId, Output};
use notarium_store::BlobError;
use notarium_wire::ipynb::{CellOutput, LongValue, MAX_DEPTH, is_json_mime, long_mark};
use parking_lot::Mutex;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;
use tokio::sync::mpsc::{self, Receiver};
use tokio::task::JoinError;

use crate::blobs::{parse_hash, parts};
use crate::http::problem::Problem;
use crate::notebooks::Notebooks;

/// Bytes of the file that are made in one step.
const PIECE_BYTES: usize = 256 << 10;

/// Part of a long value.
enum Source {
    Text(String),
    Blob(BlobPart),
}

/// A long value: its parts, and its place in the output.
struct Value {
    place: LongValue,
    sources: VecDeque<Source>,
    /// True if it is written as JSON, false if as a text.
    is_json: bool,
}

/// An output as it is in the file, except for its long values.
pub struct LongOutput {
    before: String,
    values: VecDeque<Value>,
}

/// State while long values are written.
pub struct LongReading {
    values: VecDeque<Value>,
    /// Behind a lock without contention: the stream is not `Sync`, and this struct has to be.
    blob: Mutex<Option<BoxStream<'static, Result<Bytes, BlobError>>>>,
    /// First bytes of a character whose rest has not arrived.
    cut: Vec<u8>,
}

/// Outputs that are one in the file, if their blobs can be streamed. `None`: they have to be written whole.
pub fn of(outputs: &[Output]) -> Option<LongOutput> {
    let (content, mut sources) = match outputs {
        [one] => with_marks(one)?,
        pieces => stream(pieces)?,
    };
    let (before, places) = CellOutput::around(&content, sources.len())?;
    let value = |place: LongValue| {
        let sources = std::mem::take(&mut sources[place.number]);
        Value { place, sources, is_json: false }
    };
    Some(LongOutput { before, values: places.into_iter().map(value).collect() })
}

/// The output with a mark in place of each value that is in a blob.
fn with_marks(output: &Output) -> Option<(Box<RawValue>, Vec<VecDeque<Source>>)> {
    let in_file: Vec<&BlobPart> = output.blobs.iter().filter(|part| parts::is_in_files(part)).collect();
    // Marks are by hash, so the same bytes twice cannot be told apart.
    let mut marks = BTreeMap::new();
    for (number, part) in in_file.iter().enumerate() {
        let is_placed = !part.json || part.mime().is_some_and(|mime| is_json_mime(&mime));
        let mark = serde_json::to_string(&long_mark(number)).ok().filter(|_| is_placed)?;
        let text = if part.json { mark } else { long_mark(number) };
        if marks.insert(part.sha256.clone(), Bytes::from(text)).is_some() {
            return None;
        }
    }
    let sources = in_file.into_iter().map(|part| VecDeque::from([Source::Blob(part.clone())])).collect();
    (!marks.is_empty()).then(|| (parts::join(output, &marks), sources))
}

/// Consecutive pieces of one stream as one output.
fn stream(outputs: &[Output]) -> Option<(Box<RawValue>, Vec<VecDeque<Source>>)> {
    let (mut sources, mut stream) = (VecDeque::new(), None);
    for output in outputs {
        let (name, text) = parts::stream_piece(output.content.get())?;
        sources.push_back(match (text, output.blobs.as_slice()) {
            (Some(text), []) => Source::Text(text),
            (None, [part]) if part.pointer == "/text" && !part.json => Source::Blob(part.clone()),
            _ => return None,
        });
        stream = Some(name);
    }
    Some((parts::stream(&stream?, &long_mark(0)), vec![sources]))
}

impl LongOutput {
    /// Writes the text before the first long value.
    pub fn begin(self, file: &mut String) -> LongReading {
        file.push_str(&self.before);
        LongReading { values: self.values, blob: Mutex::new(None), cut: Vec::new() }
    }
}

impl LongReading {
    pub fn is_over(&self) -> bool {
        self.values.is_empty()
    }

    /// Next piece of the file. The last one includes the text after the last value.
    pub async fn next(&mut self, notebooks: &Notebooks, notebook: &NotebookId) -> Result<String, Problem> {
        let mut piece = String::new();
        while piece.len() < PIECE_BYTES {
            let blob = self.blob.get_mut();
            if let Some(reading) = blob {
                match reading.next().await {
                    Some(bytes) => self.push(&bytes?, &mut piece)?,
                    None => *blob = None,
                }
                continue;
            }
            if !self.cut.is_empty() {
                return Err(not_text());
            }
            let Some(value) = self.values.front_mut() else { break };
            match value.sources.pop_front() {
                Some(Source::Text(text)) => value.place.text.push(&text, &mut piece),
                Some(Source::Blob(part)) => self.open(notebooks, notebook, &part, &mut piece).await?,
                None => {
                    if !value.is_json {
                        value.place.text.end(&mut piece);
                    }
                    piece.push_str(&value.place.after);
                    self.values.pop_front();
                }
            }
        }
        Ok(piece)
    }

    async fn open(
        &mut self,
        notebooks: &Notebooks,
        notebook: &NotebookId,
        part: &BlobPart,
        piece: &mut String,
    ) -> Result<(), Problem> {
        let Some(value) = self.values.front_mut() else { return Ok(()) };
        let content = match parse_hash(&part.sha256) {
            Ok(hash) => notebooks.blobs.get(notebook, &hash).await.map(|content| (hash, content)),
            Err(_) => Err(BlobError::NotFound),
        };
        match content {
            Ok((hash, content)) if part.json => {
                // Invalid JSON, or JSON nested too deeply for a file, is written as a string.
                value.is_json = is_json(content.bytes).await?;
                self.blob = Mutex::new(Some(notebooks.blobs.get(notebook, &hash).await?.bytes));
            }
            Ok((_, content)) => self.blob = Mutex::new(Some(content.bytes)),
            Err(BlobError::NotFound | BlobError::Damaged { .. }) => {
                tracing::error!(%notebook, sha256 = part.sha256, "a blob is missing or damaged");
                value.place.text.push(&parts::missing(part), piece);
            }
            Err(error) => return Err(error.into()),
        }
        Ok(())
    }

    fn push(&mut self, bytes: &[u8], piece: &mut String) -> Result<(), Problem> {
        self.cut.extend_from_slice(bytes);
        let complete = match std::str::from_utf8(&self.cut) {
            Ok(_) => self.cut.len(),
            Err(error) if error.error_len().is_none() => error.valid_up_to(),
            Err(_) => return Err(not_text()),
        };
        let rest = self.cut.split_off(complete);
        let text = String::from_utf8(std::mem::replace(&mut self.cut, rest)).map_err(|_| not_text())?;
        match self.values.front_mut() {
            Some(value) if value.is_json => value.place.json.push(&text, piece),
            Some(value) => value.place.text.push(&text, piece),
            None => {}
        }
        Ok(())
    }
}

fn not_text() -> Problem {
    let detail = "a large output of this notebook is no text: its blob is damaged (notarium verify --blobs names it)";
    Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "damaged", detail)
}

/// Pieces in the queue to the checking thread.
const WAITING: usize = 2;

/// Reads the value to its end. False: invalid JSON, or nested too deeply.
pub async fn is_json(mut bytes: impl Stream<Item = Result<Bytes, BlobError>> + Unpin) -> Result<bool, Problem> {
    let (sender, pieces) = mpsc::channel(WAITING);
    let checked = tokio::task::spawn_blocking(move || {
        is_whole(PieceReader { pieces, piece: Bytes::new(), nesting: Nesting::default() })
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

fn is_whole(mut pieces: PieceReader) -> bool {
    let is_json = serde_json::from_reader::<_, IgnoredAny>(BufReader::new(&mut pieces)).is_ok();
    is_json && pieces.nesting.deepest <= MAX_DEPTH
}

struct PieceReader {
    pieces: Receiver<Bytes>,
    piece: Bytes,
    nesting: Nesting,
}

impl Read for PieceReader {
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
