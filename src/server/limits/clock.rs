//! The clock of the server and its rooms, and counters by windows of time.
//!
//! [`Clock`] is the only place that reads the wall clock, so that tests can set it. It goes on if the wall clock is set
//! back, and follows it again if it stays behind for a minute: a wrong clock does no lasting harm.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use notarium_core::Millis;
use parking_lot::Mutex;
use tokio::sync::watch;

/// Source of the time, and of waits for a time. Cheap to clone.
#[derive(Clone)]
pub struct Clock {
    source: Arc<dyn Fn() -> Millis + Send + Sync>,
    /// Milliseconds by which a test has set the clock forward.
    ahead: Option<Arc<watch::Sender<Millis>>>,
}

impl Clock {
    /// The machine's clock, made monotonic.
    pub fn system() -> Self {
        let monotonic = MonotonicClock::start();
        Self { source: Arc::new(move || monotonic.now()), ahead: None }
    }

    /// The machine's clock, which tests set forward with [`Self::advance`].
    pub fn adjustable() -> Self {
        Self { ahead: Some(Arc::default()), ..Self::system() }
    }

    /// A clock that shows the number in `millis`, until it is changed.
    pub fn manual(millis: Arc<AtomicU64>) -> Self {
        Self { source: Arc::new(move || millis.load(Ordering::SeqCst)), ahead: None }
    }

    /// Sets an adjustable clock forward. Waits whose time has come end.
    pub fn advance(&self, by: Duration) {
        let ahead = self.ahead.as_ref().expect("the clock is adjustable");
        ahead.send_modify(|ahead| *ahead += millis(by));
    }

    /// Milliseconds since 1970-01-01T00:00:00Z.
    pub fn now(&self) -> Millis {
        let ahead = self.ahead.as_ref().map_or(0, |ahead| *ahead.borrow());
        (self.source)() + ahead
    }

    /// Milliseconds by which this clock is ahead of the machine's, after that was set back.
    pub(crate) fn ahead_of_wall(&self) -> i64 {
        let difference = self.now().abs_diff(wall());
        let difference = i64::try_from(difference).unwrap_or(i64::MAX);
        if self.now() < wall() { -difference } else { difference }
    }

    /// Waits until the clock shows `at`. By a clock that stands still, for the time that it lacks.
    pub async fn sleep_until(&self, at: Millis) {
        let left = || Duration::from_millis(at.saturating_sub(self.now()));
        let Some(ahead) = &self.ahead else { return tokio::time::sleep(left()).await };
        let mut ahead = ahead.subscribe();
        // The sender is here: an error does not happen.
        while let Ok(Ok(())) = tokio::time::timeout(left(), ahead.changed()).await {}
    }

    /// Waits for this time.
    pub async fn sleep(&self, time: Duration) {
        self.sleep_until(self.now().saturating_add(millis(time))).await;
    }
}

/// The machine's time now.
fn wall() -> Millis {
    millis(SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default())
}

/// Duration as messages and events have it, in milliseconds.
pub(crate) fn millis(duration: Duration) -> Millis {
    Millis::try_from(duration.as_millis()).unwrap_or(Millis::MAX)
}

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

/// Differences that a clock's regular corrections make.
const SLACK_MS: Millis = 1_000;
const BELIEVED_AFTER_MS: Millis = 60_000;

struct MonotonicClock {
    started: Instant,
    state: Mutex<MonotonicState>,
}

struct MonotonicState {
    /// Wall time at the start, as assumed now.
    at_start: Millis,
    /// Time since the start at which the wall clock fell behind.
    behind_since: Option<Millis>,
}

impl MonotonicClock {
    fn start() -> Self {
        Self { started: Instant::now(), state: Mutex::new(MonotonicState { at_start: wall(), behind_since: None }) }
    }

    fn now(&self) -> Millis {
        let mut state = self.state.lock();
        state.now(millis(self.started.elapsed()), wall())
    }
}

impl MonotonicState {
    /// `elapsed`: time since the start, by the monotonic clock.
    fn now(&mut self, elapsed: Millis, wall: Millis) -> Millis {
        let at_start = wall.saturating_sub(elapsed);
        if at_start + SLACK_MS >= self.at_start {
            self.behind_since = None;
            self.at_start = self.at_start.max(at_start);
        } else if elapsed.saturating_sub(*self.behind_since.get_or_insert(elapsed)) >= BELIEVED_AFTER_MS {
            tracing::warn!(behind_ms = self.at_start - at_start, "the clock was wrong, and is believed again");
            *self = Self { at_start, behind_since: None };
        }
        self.at_start + elapsed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: Millis = 3_600_000;

    #[test]
    fn a_clock_set_back_does_not_stop_time_and_is_believed_after_a_minute() {
        let mut state = MonotonicState { at_start: 10 * HOUR, behind_since: None };
        assert_eq!(state.now(1_000, 11 * HOUR), 11 * HOUR, "forward at once");
        // The wall clock is corrected by an hour back: time goes on for a minute.
        assert_eq!(state.now(2_000, 10 * HOUR + 2_000), 11 * HOUR + 1_000);
        assert_eq!(state.now(61_000, 10 * HOUR + 61_000), 11 * HOUR + 60_000);
        assert_eq!(state.now(62_000, 10 * HOUR + 62_000), 10 * HOUR + 62_000);
        assert_eq!(state.now(63_000, 10 * HOUR + 63_000), 10 * HOUR + 63_000);
    }

    #[test]
    fn a_clock_that_is_behind_for_a_moment_changes_nothing() {
        let mut state = MonotonicState { at_start: 10 * HOUR, behind_since: None };
        assert_eq!(state.now(1_000, 9 * HOUR), 10 * HOUR + 1_000);
        assert_eq!(state.now(50_000, 10 * HOUR + 50_000), 10 * HOUR + 50_000);
        assert_eq!(state.now(90_000, 9 * HOUR), 10 * HOUR + 90_000, "the minute begins anew");
        assert_eq!(state.now(91_000, 10 * HOUR + 90_500), 10 * HOUR + 91_000, "within the slack");
    }
}
