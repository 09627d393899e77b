//! Clock of the rooms: the wall clock, made monotonic. If the wall clock is set back, time goes on as before; if it
//! stays behind for a minute, it is followed again. So a clock that was wrong for a while does no lasting harm.

use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use notarium_core::Millis;

use crate::limits::clock::{millis, wall};

/// Differences that a clock's regular corrections make.
const SLACK_MS: Millis = 1_000;
const BELIEVED_AFTER_MS: Millis = 60_000;

pub(super) struct Clock {
    started: Instant,
    state: Mutex<State>,
}

struct State {
    /// Wall time at the start, as assumed now.
    at_start: Millis,
    /// Time since the start at which the wall clock fell behind.
    behind_since: Option<Millis>,
}

impl Clock {
    pub(super) fn start() -> Self {
        Self { started: Instant::now(), state: Mutex::new(State { at_start: wall(), behind_since: None }) }
    }

    pub(super) fn now(&self) -> Millis {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.now(millis(self.started.elapsed()), wall())
    }
}

impl State {
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
        let mut state = State { at_start: 10 * HOUR, behind_since: None };
        assert_eq!(state.now(1_000, 11 * HOUR), 11 * HOUR, "forward at once");
        // The wall clock is corrected by an hour back: time goes on for a minute.
        assert_eq!(state.now(2_000, 10 * HOUR + 2_000), 11 * HOUR + 1_000);
        assert_eq!(state.now(61_000, 10 * HOUR + 61_000), 11 * HOUR + 60_000);
        assert_eq!(state.now(62_000, 10 * HOUR + 62_000), 10 * HOUR + 62_000);
        assert_eq!(state.now(63_000, 10 * HOUR + 63_000), 10 * HOUR + 63_000);
    }

    #[test]
    fn a_clock_that_is_behind_for_a_moment_changes_nothing() {
        let mut state = State { at_start: 10 * HOUR, behind_since: None };
        assert_eq!(state.now(1_000, 9 * HOUR), 10 * HOUR + 1_000);
        assert_eq!(state.now(50_000, 10 * HOUR + 50_000), 10 * HOUR + 50_000);
        assert_eq!(state.now(90_000, 9 * HOUR), 10 * HOUR + 90_000, "the minute begins anew");
        assert_eq!(state.now(91_000, 10 * HOUR + 90_500), 10 * HOUR + 91_000, "within the slack");
    }
}
