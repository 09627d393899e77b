//! Reads exported records: JSON Lines, compressed with zstd or not.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::mpsc;

use notarium_core::Stored;

use crate::cli::Failure;

/// Beginning of a zstd frame (RFC 8878).
const ZSTD_MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// Longest line: an event with the largest payload, and room.
const MAX_LINE_BYTES: u64 = 64 << 20;

/// Events that are passed on together, and batches that wait.
const BATCH_EVENTS: usize = 500;
const BATCH_BYTES: usize = 1 << 20;
const BATCHES_AHEAD: usize = 4;

/// Reason why a line of a file is no event.
pub enum UnreadLine {
    /// The file has none before it: it is no record at all.
    First(Failure),
    /// Place and fault, after other events.
    Later(String),
}

impl From<UnreadLine> for Failure {
    fn from(unread: UnreadLine) -> Self {
        match unread {
            UnreadLine::First(failure) => failure,
            UnreadLine::Later(reason) => Failure::failed(reason),
        }
    }
}

/// Events of a file in its order, each read when it is asked for.
pub struct RecordEvents {
    path: PathBuf,
    reader: Box<dyn BufRead + Send>,
    line: String,
    lines: usize,
    events: usize,
    /// The last line was read, or one that is no event.
    has_ended: bool,
}

impl RecordEvents {
    pub fn open(path: &Path) -> Result<Self, Failure> {
        let reader = open(path).map_err(|error| Failure::unreadable(path, &error))?;
        Ok(Self { path: path.to_owned(), reader, line: String::new(), lines: 0, events: 0, has_ended: false })
    }

    /// The next event; `None` at the end. A file without events is refused: it proves nothing, and must not look like a proof.
    fn read(&mut self) -> Result<Option<Stored>, UnreadLine> {
        loop {
            self.line.clear();
            self.lines += 1;
            let read = (&mut self.reader).take(MAX_LINE_BYTES).read_line(&mut self.line);
            match read.map_err(|error| self.unread(&error))? {
                0 if self.events == 0 => return Err(UnreadLine::First(self.no_record("it has no events"))),
                0 => return Ok(None),
                _ if self.line.trim().is_empty() => {}
                _ => {
                    let event = serde_json::from_str(&self.line).map_err(|error| self.unread(&error))?;
                    self.events += 1;
                    return Ok(Some(event));
                }
            }
        }
    }

    /// Reads on a thread of its own, ahead of the one that uses the events.
    pub fn ahead(mut self) -> impl Iterator<Item = Result<Stored, UnreadLine>> {
        let (sender, receiver) = mpsc::sync_channel(BATCHES_AHEAD);
        std::thread::spawn(move || {
            // Nobody receives after a break.
            while let Some(batch) = self.batch() {
                if sender.send(batch).is_err() {
                    return;
                }
            }
        });
        receiver.into_iter().flatten()
    }

    /// The next events, up to the first unreadable one; `None` at the end.
    fn batch(&mut self) -> Option<Vec<Result<Stored, UnreadLine>>> {
        let (mut batch, mut bytes) = (Vec::new(), 0);
        while !self.has_ended && batch.len() < BATCH_EVENTS && bytes < BATCH_BYTES {
            let read = self.read().transpose();
            self.has_ended = !matches!(read, Some(Ok(_)));
            batch.extend(read);
            bytes += self.line.len();
        }
        (!batch.is_empty()).then_some(batch)
    }

    fn unread(&self, error: &dyn std::fmt::Display) -> UnreadLine {
        let reason = format!("line {}: {error}", self.lines);
        match self.events {
            0 => UnreadLine::First(self.no_record(&reason)),
            _ => UnreadLine::Later(format!("{} is cut or damaged in {reason}", self.path.display())),
        }
    }

    fn no_record(&self, reason: &str) -> Failure {
        let file = self.path.display();
        Failure::usage(format!("{file} is no record ({reason}): `notarium export-record NB -o FILE` writes one"))
    }
}

impl Iterator for RecordEvents {
    type Item = Result<Stored, Failure>;

    fn next(&mut self) -> Option<Self::Item> {
        self.read().map_err(Failure::from).transpose()
    }
}

fn open(path: &Path) -> io::Result<Box<dyn BufRead + Send>> {
    let mut reader = BufReader::new(File::open(path)?);
    let is_compressed = reader.fill_buf()?.starts_with(&ZSTD_MAGIC);
    Ok(if is_compressed { Box::new(BufReader::new(zstd::Decoder::with_buffer(reader)?)) } else { Box::new(reader) })
}
