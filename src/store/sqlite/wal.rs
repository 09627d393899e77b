//! Reads a write-ahead log as SQLite does, to detect commits after a damaged frame. They are lost without notice, because SQLite stops
//! reading at that frame.
//!
//! The format: <https://sqlite.org/fileformat2.html#the_write_ahead_log>.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::Path;

const HEADER_BYTES: usize = 32;
const FRAME_HEADER_BYTES: usize = 24;
/// Magic number; its last bit marks checksums of big-endian words.
const MAGIC: u32 = 0x377f_0682;
const MAX_PAGE_BYTES: usize = 65_536;

/// Content of a log.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct LogReport {
    /// Number of commits that SQLite will find.
    pub(super) commits: u64,
    /// Number of this log's frames from the first damaged one on.
    pub(super) lost_frames: u64,
    /// Number of commits among them.
    pub(super) lost_commits: u64,
}

/// Examines the log; a missing one, or one that SQLite would not read, counts as empty.
pub(super) fn examine(log: &Path) -> io::Result<LogReport> {
    match File::open(log) {
        Ok(file) => read(&mut BufReader::with_capacity(1 << 20, file)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(LogReport::default()),
        Err(error) => Err(error),
    }
}

fn read(log: &mut impl Read) -> io::Result<LogReport> {
    let mut report = LogReport::default();
    let mut header = [0; HEADER_BYTES];
    if !fill(log, &mut header)? {
        return Ok(report);
    }
    let Some(mut sum) = Checksum::of_header(&header) else { return Ok(report) };
    let page_bytes = word(&header, 8) as usize;
    let mut frame = vec![0; FRAME_HEADER_BYTES + page_bytes];
    let mut is_good = true;
    while fill(log, &mut frame)? {
        // Frames of an earlier generation of the log have other salts.
        let is_of_this_log = frame[8..16] == header[16..24];
        let is_commit = word(&frame, 4) != 0;
        is_good = is_good && is_of_this_log && sum.takes(&frame);
        match (is_good, is_of_this_log) {
            (true, _) => report.commits += u64::from(is_commit),
            (false, true) => {
                report.lost_frames += 1;
                report.lost_commits += u64::from(is_commit);
            }
            (false, false) => {}
        }
    }
    Ok(report)
}

/// Fills the buffer; returns false at the end, also in the middle of the buffer.
fn fill(log: &mut impl Read, buffer: &mut [u8]) -> io::Result<bool> {
    match log.read_exact(buffer) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(error),
    }
}

fn word(bytes: &[u8], at: usize) -> u32 {
    u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

/// Checksum over all frames so far.
struct Checksum {
    is_big_endian: bool,
    sums: (u32, u32),
}

impl Checksum {
    /// Starts with the header; `None`: it is not a log, or its header is damaged.
    fn of_header(header: &[u8; HEADER_BYTES]) -> Option<Self> {
        let (magic, page_bytes) = (word(header, 0), word(header, 8) as usize);
        if magic & !1 != MAGIC || !page_bytes.is_power_of_two() || !(512..=MAX_PAGE_BYTES).contains(&page_bytes) {
            return None;
        }
        let mut sum = Self { is_big_endian: magic & 1 == 1, sums: (0, 0) };
        sum.add(&header[..24]);
        (sum.sums == (word(header, 24), word(header, 28))).then_some(sum)
    }

    /// Adds a frame if its checksum matches; returns true if it does.
    fn takes(&mut self, frame: &[u8]) -> bool {
        let before = self.sums;
        self.add(&frame[..8]);
        self.add(&frame[FRAME_HEADER_BYTES..]);
        let is_good = word(frame, 0) != 0 && self.sums == (word(frame, 16), word(frame, 20));
        if !is_good {
            self.sums = before;
        }
        is_good
    }

    fn add(&mut self, bytes: &[u8]) {
        let read = if self.is_big_endian { u32::from_be_bytes } else { u32::from_le_bytes };
        for pair in bytes.chunks_exact(8) {
            let first = read([pair[0], pair[1], pair[2], pair[3]]);
            let second = read([pair[4], pair[5], pair[6], pair[7]]);
            self.sums.0 = self.sums.0.wrapping_add(first).wrapping_add(self.sums.1);
            self.sums.1 = self.sums.1.wrapping_add(second).wrapping_add(self.sums.0);
        }
    }
}
