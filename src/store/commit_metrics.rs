//! Measurements of group commit: batches with their times and sizes, and the time that appends wait for theirs.

use std::time::Instant;

use notarium_telemetry::{BYTES, COUNTS, Histogram, SHORT_TIMES};

/// Measurements of a store's writer. Clones share them.
#[derive(Debug, Clone)]
pub struct CommitMetrics {
    /// Time from an append's arrival in the queue to the beginning of its batch, in microseconds.
    pub queue_waits: Histogram,
    /// Time of batches that were written, in microseconds.
    pub batch_times: Histogram,
    /// Time of batches that failed as a whole, in microseconds.
    pub failed_batch_times: Histogram,
    /// Appends of a batch.
    pub batch_appends: Histogram,
    /// Events of a batch.
    pub batch_events: Histogram,
    /// Bytes of the payloads of a batch.
    pub batch_bytes: Histogram,
}

impl Default for CommitMetrics {
    fn default() -> Self {
        Self {
            queue_waits: Histogram::new(SHORT_TIMES),
            batch_times: Histogram::new(SHORT_TIMES),
            failed_batch_times: Histogram::new(SHORT_TIMES),
            batch_appends: Histogram::new(COUNTS),
            batch_events: Histogram::new(COUNTS),
            batch_bytes: Histogram::new(BYTES),
        }
    }
}

impl CommitMetrics {
    /// Notes the end of the batch that began then.
    pub(crate) fn end(&self, began: Instant, is_written: bool) {
        let times = if is_written { &self.batch_times } else { &self.failed_batch_times };
        times.observe_time(began.elapsed());
    }
}
