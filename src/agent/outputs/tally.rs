//! Counts the output of a run and decides how much more fits its limits.

use super::{OutputLimits, OutputObject};

/// Output of a run so far, in bytes and lines.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OutputTally {
    pub log_bytes: u64,
    pub log_lines: u64,
    pub large_bytes: u64,
    pub overflow_bytes: u64,
    /// Bytes that were dropped.
    pub dropped_bytes: u64,
    /// The log of this run is full.
    pub limit_reached: bool,
    dropped_reported: u64,
}

impl OutputTally {
    /// Bytes of `text` that go in the log: all, or up to the limit.
    pub(super) fn admit_text(&mut self, limits: &OutputLimits, text: &str) -> usize {
        if self.limit_reached {
            return 0;
        }
        let room_bytes = limits.max_log_bytes.saturating_sub(self.log_bytes);
        let fits = text.floor_char_boundary(usize::try_from(room_bytes).unwrap_or(usize::MAX));
        let room_lines = limits.max_log_lines.saturating_sub(self.log_lines);
        let (admitted, lines) = within_lines(&text[..fits], room_lines);
        self.log_bytes += admitted as u64;
        self.log_lines += lines;
        self.limit_reached = admitted < text.len();
        admitted
    }

    /// True if `object` goes in the log. An error always does: it explains why the run failed.
    pub(super) fn admit_object(&mut self, limits: &OutputLimits, object: &OutputObject, is_error: bool) -> bool {
        let fits_log = !self.limit_reached
            && self.log_lines < limits.max_log_lines
            && self.log_bytes.saturating_add(object.inline_bytes()) <= limits.max_log_bytes;
        let fits_large = self.large_bytes.saturating_add(object.large_bytes()) <= limits.max_large_bytes;
        let admitted = is_error || (fits_log && fits_large);
        if admitted {
            self.log_lines += 1;
            self.log_bytes += object.inline_bytes();
            self.large_bytes += object.large_bytes();
        }
        self.limit_reached |= !fits_log && !is_error;
        admitted
    }

    /// Bytes that go in the overflow. After the first dropped byte everything is dropped: the overflow has no gaps.
    pub(super) fn admit_overflow(&mut self, limits: &OutputLimits, bytes: &[u8]) -> usize {
        let room =
            if self.dropped_bytes > 0 { 0 } else { limits.max_overflow_bytes.saturating_sub(self.overflow_bytes) };
        let admitted = bytes.len().min(usize::try_from(room).unwrap_or(usize::MAX));
        self.overflow_bytes += admitted as u64;
        self.dropped_bytes += (bytes.len() - admitted) as u64;
        admitted
    }

    /// The notice that the log of this run is full, once.
    pub(super) fn limit_notice(&mut self, limits: &OutputLimits) -> Option<String> {
        let first = self.overflow_bytes == 0 && self.dropped_bytes == 0;
        first.then(|| {
            format!(
                "\n[notarium: this run has reached its output limit ({} in {} lines recorded; the limit is {} or {} lines). \
                 What follows is kept in the run's overflow, up to {}.]\n",
                size(self.log_bytes),
                self.log_lines,
                size(limits.max_log_bytes),
                limits.max_log_lines,
                size(limits.max_overflow_bytes)
            )
        })
    }

    /// The notice of output that was dropped since the last notice.
    pub(super) fn dropped_notice(&mut self) -> Option<String> {
        let dropped = self.dropped_bytes - std::mem::replace(&mut self.dropped_reported, self.dropped_bytes);
        (dropped > 0).then(|| {
            format!(
                "\n[notarium: the overflow is full at {}; {dropped} bytes of output after it were dropped.]\n",
                size(self.overflow_bytes)
            )
        })
    }
}

/// The longest beginning of `text` that ends at most `lines` lines, and the number of lines it ends.
fn within_lines(text: &str, lines: u64) -> (usize, u64) {
    let mut ended = 0;
    for (at, _) in text.match_indices('\n') {
        if ended == lines {
            return (text[..at].rfind('\n').map_or(0, |at| at + 1), ended);
        }
        ended += 1;
    }
    (text.len(), ended)
}

fn size(bytes: u64) -> String {
    match bytes {
        0..1024 => format!("{bytes} bytes"),
        1024..1_048_576 => format!("{} KiB", bytes >> 10),
        _ => format!("{} MiB", bytes >> 20),
    }
}
