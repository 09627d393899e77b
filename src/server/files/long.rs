//! One output of a file whose text is never held as a whole: it is read from its blobs as it goes out.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Mutex, PoisonError};

use bytes::Bytes;
use futures_util::StreamExt;
use futures_util::stream::BoxStream;
use http::StatusCode;
use notarium_core::{BlobPart, NotebookId, Output};
use notarium_store::BlobError;
use notarium_wire::ipynb::{CellOutput, LONG_TEXT, LongText};
use serde_json::value::RawValue;

use super::parts;
use crate::app::App;
use crate::blob_check::parse_hash;
use crate::problem::Problem;

/// Of the file, at a time.
const PIECE_BYTES: usize = 256 << 10;

/// Some of the long text.
enum Source {
    Text(String),
    Blob(BlobPart),
}

/// An output as it stands in the file, but for its text.
pub struct LongOutput {
    before: String,
    text: LongText,
    sources: VecDeque<Source>,
    after: String,
}

/// A long text that is being written.
pub struct Reading {
    output: LongOutput,
    /// Behind a lock that is never held: a stream by itself is not `Sync`, which what is shared with its makers must be.
    blob: Mutex<Option<BoxStream<'static, Result<Bytes, BlobError>>>>,
    /// The first bytes of a character whose others have not come.
    cut: Vec<u8>,
    is_over: bool,
}

/// These outputs, which are one in a file, if most of them is one text. `None`: they are written as a whole.
pub fn of(outputs: &[Output]) -> Option<LongOutput> {
    let (content, sources) = match outputs {
        [one] => with_mark(one)?,
        pieces => stream(pieces)?,
    };
    let (before, text, after) = CellOutput::around(&content)?;
    Some(LongOutput { before, text, sources, after })
}

/// The output with a mark in place of its one text in a blob.
fn with_mark(output: &Output) -> Option<(Box<RawValue>, VecDeque<Source>)> {
    let mut in_file = output.blobs.iter().filter(|part| parts::is_in_files(part));
    let part = in_file.next().filter(|part| !part.json)?;
    if in_file.next().is_some() {
        return None;
    }
    let mark = BTreeMap::from([(part.sha256.clone(), Bytes::from_static(LONG_TEXT.as_bytes()))]);
    Some((parts::join(output, &mark), VecDeque::from([Source::Blob(part.clone())])))
}

/// Pieces of one stream.
fn stream(outputs: &[Output]) -> Option<(Box<RawValue>, VecDeque<Source>)> {
    #[derive(serde::Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Piece {
        output_type: String,
        name: String,
        text: Option<String>,
    }
    let (mut sources, mut stream) = (VecDeque::new(), None);
    for output in outputs {
        let piece: Piece = serde_json::from_str(output.content.get()).ok()?;
        sources.push_back(match (piece.text, output.blobs.as_slice()) {
            (Some(text), []) => Source::Text(text),
            (None, [part]) if part.pointer == "/text" && !part.json => Source::Blob(part.clone()),
            _ => return None,
        });
        stream = Some((piece.output_type, piece.name));
    }
    let (output_type, name) = stream?;
    let content = serde_json::json!({ "output_type": output_type, "name": name, "text": LONG_TEXT });
    Some((serde_json::value::to_raw_value(&content).ok()?, sources))
}

impl LongOutput {
    /// Writes what stands before the text.
    pub fn begin(mut self, file: &mut String) -> Reading {
        file.push_str(&std::mem::take(&mut self.before));
        Reading { output: self, blob: Mutex::new(None), cut: Vec::new(), is_over: false }
    }
}

impl Reading {
    pub fn is_over(&self) -> bool {
        self.is_over
    }

    /// The next piece of the file; with the last one comes what stands behind the text.
    pub async fn next(&mut self, app: &App, notebook: &NotebookId) -> Result<String, Problem> {
        let mut piece = String::new();
        while piece.len() < PIECE_BYTES && !self.is_over {
            let blob = self.blob.get_mut().unwrap_or_else(PoisonError::into_inner);
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
            match self.output.sources.pop_front() {
                Some(Source::Text(text)) => self.output.text.push(&text, &mut piece),
                Some(Source::Blob(part)) => self.open(app, notebook, &part, &mut piece).await?,
                None => {
                    self.output.text.end(&mut piece);
                    piece.push_str(&self.output.after);
                    self.is_over = true;
                }
            }
        }
        Ok(piece)
    }

    async fn open(
        &mut self,
        app: &App,
        notebook: &NotebookId,
        part: &BlobPart,
        piece: &mut String,
    ) -> Result<(), Problem> {
        let content = match parse_hash(&part.sha256) {
            Ok(hash) => app.blobs.get(notebook, &hash).await,
            Err(_) => Err(BlobError::NotFound),
        };
        match content {
            Ok(content) => self.blob = Mutex::new(Some(content.bytes)),
            Err(BlobError::NotFound | BlobError::Damaged { .. }) => {
                tracing::error!(%notebook, sha256 = part.sha256, "a blob is missing or damaged");
                self.output.text.push(&parts::missing(part), piece);
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
        self.output.text.push(&text, piece);
        Ok(())
    }
}

fn not_text() -> Problem {
    let detail = "a large output of this notebook is no text: its blob is damaged (notarium verify --blobs names it)";
    Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "damaged", detail)
}
