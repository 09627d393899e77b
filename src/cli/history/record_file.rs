//! Reads exported records: JSON Lines, compressed with zstd or not.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use notarium_core::Stored;

use crate::cli::Failure;

/// Beginning of a zstd frame (RFC 8878).
const ZSTD_MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// Longest line: an event with the largest payload, and room.
const MAX_LINE_BYTES: u64 = 64 << 20;

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
}

impl RecordEvents {
    pub fn open(path: &Path) -> Result<Self, Failure> {
        let reader = open(path).map_err(|error| Failure::unreadable(path, &error))?;
        Ok(Self { path: path.to_owned(), reader, line: String::new(), lines: 0, events: 0 })
    }

    /// The next event; `None` at the end. A file without events is refused: it proves nothing, and must not look like a proof.
    pub fn read(&mut self) -> Result<Option<Stored>, UnreadLine> {
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
