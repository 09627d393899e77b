//! Streams an exported file: it is never held whole, however many clients read it and however slowly. A cell is printed
//! with a mark in place of each long value; these are then streamed from their blobs.

use std::collections::{BTreeMap, VecDeque};
use std::io::{self, BufReader, Read};
use std::sync::Arc;

use bytes::{Buf, Bytes};
use futures_util::stream::BoxStream;
use futures_util::{Stream, StreamExt, stream};
use notarium_core::{BlobPart, CellId, Document, Output};
use notarium_store::BlobError;
use notarium_wire::ipynb::{self, LongMarks, LongValue, MAX_DEPTH, is_json_mime};
use serde::de::IgnoredAny;
use serde_json::value::RawValue;
use tokio::runtime::Handle;

use crate::blobs::parts;
use crate::http::problem::Problem;
use crate::notebooks::{Notebooks, files};

/// Size at which a piece ends, and above which a cell is printed alone.
const PIECE_BYTES: u64 = 256 << 10;
/// Limit of the JSON in blobs that is printed with its cell; further JSON is streamed.
const MAX_PRINTED_JSON_BYTES: u64 = 4 << 20;
/// Copies of a value in memory while a cell is printed: as bytes, as JSON and as text of the file.
const COPIES: u64 = 4;
/// Memory of all pieces that are being made, in MiB. A piece that needs more is made alone.
pub const MAX_MAKING_MIB: u32 = 64;

/// Stream of the file's text.
pub fn of(notebooks: Arc<Notebooks>, state: Arc<Document>) -> impl Stream<Item = io::Result<String>> + Send + 'static {
    let pieces = ipynb::Pieces::new(state.order.iter().map(CellId::as_str));
    let marks = LongMarks::new(&ulid::Ulid::generate().to_string());
    let writer = FileWriter { notebooks, state, pieces, marks, next: 0, values: VecDeque::new(), is_over: false };
    stream::try_unfold(writer, async |mut writer| {
        let notebooks = writer.notebooks.clone();
        let _permits = notebooks.making_files.acquire_many(writer.mib()).await;
        let making = tokio::task::spawn_blocking(move || Ok(writer.next()?.map(|piece| (piece, writer))));
        making.await.inspect_err(|error| tracing::error!(%error, "writing a file failed"))?
    })
}

/// Writer of a file, for threads for blocking work.
struct FileWriter {
    notebooks: Arc<Notebooks>,
    state: Arc<Document>,
    pieces: ipynb::Pieces,
    marks: LongMarks,
    /// Index of the next cell.
    next: usize,
    /// Long values of the cell before it that are still to be written.
    values: VecDeque<OpenValue>,
    is_over: bool,
}

/// A long value that is partly written.
struct OpenValue {
    printer: LongValue,
    /// Parts that are still to be written.
    sources: VecDeque<Source>,
    /// Blob of the part before them that is being read.
    blob: Option<TextReader>,
}

/// Part of a long value.
enum Source {
    Text(String),
    Blob(BlobPart),
}

/// Outputs as one output with marks, and the parts of each marked value.
type Marked = (Box<RawValue>, Vec<VecDeque<Source>>);

impl FileWriter {
    /// Returns the next piece; `None` after the end.
    fn next(&mut self) -> io::Result<Option<String>> {
        let mut piece = String::new();
        while !self.is_over && (piece.len() as u64) < PIECE_BYTES {
            // A large cell is alone in its piece, because its memory was counted before.
            let is_large = self.next_bytes() > PIECE_BYTES;
            if !is_large || piece.is_empty() {
                self.step(&mut piece)?;
            }
            if is_large {
                break;
            }
        }
        Ok((!piece.is_empty()).then_some(piece))
    }

    /// Memory that the next piece needs, in MiB.
    fn mib(&self) -> u32 {
        u32::try_from((self.next_bytes() * COPIES) >> 20).unwrap_or(u32::MAX).clamp(1, MAX_MAKING_MIB)
    }

    /// Bytes of the next cell's source and outputs; 0 if the next step is no cell.
    fn next_bytes(&self) -> u64 {
        let Some(id) = self.state.order.get(self.next).filter(|_| self.values.is_empty()) else { return 0 };
        let source = self.state.cells.get(id).map_or(0, |cell| cell.content.source.len() as u64);
        let outputs = self.state.latest_execution(id).map_or(&[][..], |(_, run)| &run.outputs);
        source + outputs.iter().map(bytes_of_output).sum::<u64>()
    }

    /// Writes a part of a long value, a cell, or the end.
    fn step(&mut self, piece: &mut String) -> io::Result<()> {
        if let Some(value) = self.values.pop_front() {
            return self.write_value(value, piece);
        }
        match self.state.order.get(self.next).cloned() {
            Some(id) => {
                self.next += 1;
                self.write_cell(&id, piece)?;
            }
            None => {
                piece.push_str(&self.pieces.end(&files::frame(&self.state)));
                self.is_over = true;
            }
        }
        Ok(())
    }

    // --- a cell ---

    fn write_cell(&mut self, id: &CellId, piece: &mut String) -> io::Result<()> {
        let Some(cell) = self.state.cells.get(id) else { return Ok(()) };
        let latest = self.state.latest_execution(id).map(|(_, run)| &**run);
        let outputs = latest.map_or(&[][..], |run| &run.outputs);
        let mut cell = files::without_outputs(id, cell, latest);
        let mut sources = Vec::new();
        cell.outputs = if ipynb::mends_outputs(&cell) {
            files::outputs(outputs, &self.load(files::named_by(outputs))?)
        } else {
            self.marked_outputs(outputs, &mut sources)?
        };
        let text = self.pieces.cell(self.next - 1, &cell);
        let (before, values) = self.marks.split(&text);
        piece.push_str(before);
        let open = |printer: LongValue| {
            let sources = sources.get_mut(printer.number).map(std::mem::take).unwrap_or_default();
            OpenValue { printer, sources, blob: None }
        };
        self.values = values.into_iter().map(open).collect();
        Ok(())
    }

    /// Outputs as they are in the file, with marks; the parts of the marked values are appended to `sources`.
    fn marked_outputs(
        &self,
        outputs: &[Output],
        sources: &mut Vec<VecDeque<Source>>,
    ) -> io::Result<Vec<Box<RawValue>>> {
        let mut in_file = Vec::new();
        let mut json_bytes = 0;
        for group in files::groups(outputs) {
            let marked = match group {
                [one] => self.with_marks(one, sources.len(), &mut json_bytes)?,
                pieces => stream_with_mark(pieces, &self.marks.mark(sources.len())),
            };
            // A patch has a digest of its output, which therefore is printed whole.
            match marked.filter(|(content, parts)| parts.is_empty() || ipynb::fits(content)) {
                Some((content, parts)) => {
                    in_file.push(content);
                    sources.extend(parts);
                }
                None => in_file.extend(files::outputs(group, &self.load(files::named_by(group))?)),
            }
        }
        Ok(in_file)
    }

    /// The output with a mark in place of each value that is streamed. `None`: it has to be printed whole.
    fn with_marks(&self, output: &Output, first: usize, json_bytes: &mut u64) -> io::Result<Option<Marked>> {
        let (mut values, mut sources) = (BTreeMap::new(), Vec::new());
        for part in output.blobs.iter().filter(|part| parts::is_in_files(part)) {
            *json_bytes += if part.json { part.size_bytes } else { 0 };
            if part.json && *json_bytes <= MAX_PRINTED_JSON_BYTES {
                values.extend(self.load([part])?);
                continue;
            }
            let mark = self.marks.mark(first + sources.len());
            // Marks are by hash, so the same bytes twice cannot be told apart.
            if !may_be_marked(part) || values.insert(part.sha256.clone(), Bytes::from(mark)).is_some() {
                return Ok(None);
            }
            sources.push(VecDeque::from([Source::Blob(part.clone())]));
        }
        Ok(Some((parts::join(output, &values), sources)))
    }

    fn load<'a>(&self, parts: impl IntoIterator<Item = &'a BlobPart>) -> io::Result<BTreeMap<String, Bytes>> {
        let loading = self.notebooks.blobs.load_all(&self.state.notebook_id, parts);
        Handle::current().block_on(loading).map_err(failed)
    }

    // --- a long value ---

    fn write_value(&mut self, mut value: OpenValue, piece: &mut String) -> io::Result<()> {
        let text = value.blob.as_mut().map(TextReader::next).transpose()?.flatten();
        if let Some(text) = text {
            value.printer.push(&text, piece);
        } else {
            value.blob = None;
            match value.sources.pop_front() {
                Some(Source::Text(text)) => value.printer.push(&text, piece),
                Some(Source::Blob(part)) => self.open(&part, &mut value, piece)?,
                None => {
                    value.printer.end(piece);
                    return Ok(());
                }
            }
        }
        self.values.push_front(value);
        Ok(())
    }

    fn open(&self, part: &BlobPart, value: &mut OpenValue, piece: &mut String) -> io::Result<()> {
        // Invalid JSON, or JSON nested too deeply for a file, is written as a string.
        let is_json = part.json && self.read(part)?.map(is_json).transpose()?.unwrap_or(false);
        match self.read(part)? {
            Some(blob) => {
                value.blob = Some(TextReader { blob, cut: Vec::new() });
                value.printer.set_json(is_json);
            }
            None => value.printer.push(&parts::missing(part), piece),
        }
        Ok(())
    }

    /// `None`: the blob is missing or damaged.
    fn read(&self, part: &BlobPart) -> io::Result<Option<BlobReader>> {
        let opening = self.notebooks.blobs.open(&self.state.notebook_id, &part.sha256);
        let content = Handle::current().block_on(opening).map_err(failed)?;
        Ok(content.map(|content| BlobReader { bytes: content.bytes, piece: Bytes::new() }))
    }
}

fn failed(problem: Problem) -> io::Error {
    io::Error::other(problem.detail.clone())
}

/// True for text, and for JSON where a file may have any.
fn may_be_marked(part: &BlobPart) -> bool {
    !part.json || part.mime().is_some_and(|mime| is_json_mime(&mime))
}

/// Consecutive pieces of one stream as one output with a mark. `None`: none of them is in a blob, or they are no stream.
fn stream_with_mark(outputs: &[Output], mark: &str) -> Option<Marked> {
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
    let has_blob = sources.iter().any(|source| matches!(source, Source::Blob(_)));
    has_blob.then_some((parts::stream(&stream?, mark), vec![sources]))
}

fn bytes_of_output(output: &Output) -> u64 {
    output.size_bytes() as u64 + output.blobs.iter().map(|part| part.size_bytes).sum::<u64>()
}

// --- a blob ---

struct BlobReader {
    bytes: BoxStream<'static, Result<Bytes, BlobError>>,
    /// Bytes that have arrived.
    piece: Bytes,
}

impl Read for BlobReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.piece.is_empty() {
            match Handle::current().block_on(self.bytes.next()) {
                Some(piece) => self.piece = piece.map_err(|error| failed(error.into()))?,
                None => return Ok(0),
            }
        }
        let size = self.piece.len().min(buffer.len());
        self.piece.copy_to_slice(&mut buffer[..size]);
        Ok(size)
    }
}

struct TextReader {
    blob: BlobReader,
    /// First bytes of a character whose rest has not been read.
    cut: Vec<u8>,
}

impl TextReader {
    /// Reads the next piece; `None` at the end.
    fn next(&mut self) -> io::Result<Option<String>> {
        let mut bytes = std::mem::take(&mut self.cut);
        let is_over = self.blob.by_ref().take(PIECE_BYTES).read_to_end(&mut bytes)? == 0;
        if is_over && bytes.is_empty() {
            return Ok(None);
        }
        if let Err(error) = std::str::from_utf8(&bytes)
            && error.error_len().is_none()
            && !is_over
        {
            self.cut = bytes.split_off(error.valid_up_to());
        }
        String::from_utf8(bytes).map(Some).map_err(io::Error::other)
    }
}

/// Reads the value to its end. False: invalid JSON, or nested too deeply.
fn is_json(reader: impl Read) -> io::Result<bool> {
    let mut reader = NestingReader { reader, depth: 0, deepest: 0, in_string: false, is_escaped: false };
    match serde_json::from_reader::<_, IgnoredAny>(BufReader::new(&mut reader)) {
        Err(error) if error.is_io() => Err(error.into()),
        read => Ok(read.is_ok() && reader.deepest <= MAX_DEPTH),
    }
}

/// Counter of the nesting depth of the JSON that it reads.
struct NestingReader<R> {
    reader: R,
    depth: usize,
    deepest: usize,
    in_string: bool,
    is_escaped: bool,
}

impl<R: Read> Read for NestingReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let size = self.reader.read(buffer)?;
        for byte in &buffer[..size] {
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
        Ok(size)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reader of a text that gives at most `size` bytes at a time.
    fn in_pieces<'a>(text: &'a str, size: usize) -> Box<dyn Read + 'a> {
        let none: Box<dyn Read + 'a> = Box::new(io::empty());
        text.as_bytes().chunks(size).fold(none, |all, piece| Box::new(all.chain(piece)))
    }

    #[test]
    fn what_a_file_cannot_hold_is_no_json() {
        let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        for size in [1, 7, 1_000] {
            assert!(is_json(in_pieces(r#"{"a": [1, "[[\"[{"], "b": {}}"#, size)).unwrap());
            assert!(is_json(in_pieces(&nested(MAX_DEPTH), size)).unwrap());
            for text in [&nested(MAX_DEPTH + 1), "[1", "[1]]", "NaN", "", "{\"a\"}"] {
                assert!(!is_json(in_pieces(text, size)).unwrap(), "{text}");
            }
        }
    }
}
