//! How much a client may get wrong.

use std::time::{Duration, Instant};

const MINUTE: Duration = Duration::from_secs(60);

/// Counts errors by the minute.
#[derive(Debug)]
pub struct ErrorBudget {
    max_per_minute: u32,
    count: u32,
    since: Instant,
}

impl ErrorBudget {
    pub fn new(max_per_minute: u32) -> Self {
        Self { max_per_minute, count: 0, since: Instant::now() }
    }

    /// Notes an error. False: it was one too many.
    pub fn spend(&mut self) -> bool {
        if self.since.elapsed() >= MINUTE {
            (self.count, self.since) = (0, Instant::now());
        }
        self.count += 1;
        self.count <= self.max_per_minute
    }
}
