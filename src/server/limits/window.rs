//! Rate limit by fixed windows of time.

use std::time::{Duration, Instant};

/// Fixed-window counter; a window starts at its first event.
#[derive(Debug)]
pub struct Window {
    length: Duration,
    began: Option<Instant>,
    count: u32,
}

impl Window {
    pub fn new(length: Duration) -> Self {
        Self { length, began: None, count: 0 }
    }

    /// Rest of the current window; `None`: it is over.
    pub fn left(&self) -> Option<Duration> {
        self.length.checked_sub(self.began?.elapsed()).filter(|left| !left.is_zero())
    }

    /// Counts an event. Above `most` it is refused, with the time until the next is allowed.
    pub fn take(&mut self, most: u32) -> Result<(), Duration> {
        let left = self.left();
        if left.is_none() {
            (self.began, self.count) = (Some(Instant::now()), 0);
        }
        if self.count >= most {
            return Err(left.unwrap_or(self.length));
        }
        self.count += 1;
        Ok(())
    }
}
