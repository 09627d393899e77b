//! How often something may happen within a window of time.

use std::time::{Duration, Instant};

/// Counts by windows of this length. One begins with the first that is counted after the one before.
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

    /// What is left of the window; `None`: it is over.
    pub fn left(&self) -> Option<Duration> {
        self.length.checked_sub(self.began?.elapsed()).filter(|left| !left.is_zero())
    }

    /// Counts one more, or says how long it takes until the next may come.
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
