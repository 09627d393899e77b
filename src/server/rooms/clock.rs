//! The time that rooms see: the wall clock, but never going back, and going on when the wall clock is set back.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use notarium_core::Millis;

/// Wall time at the start, moved forward when the wall clock is found ahead.
pub(super) struct Clock {
    started: Instant,
    at_start: AtomicU64,
}

impl Clock {
    pub(super) fn start() -> Self {
        Self { started: Instant::now(), at_start: AtomicU64::new(wall()) }
    }

    pub(super) fn now(&self) -> Millis {
        let elapsed = millis(self.started.elapsed());
        let wall_at_start = wall().saturating_sub(elapsed);
        let at_start = self.at_start.fetch_max(wall_at_start, Ordering::Relaxed).max(wall_at_start);
        at_start + elapsed
    }
}

fn wall() -> Millis {
    SystemTime::now().duration_since(UNIX_EPOCH).map(millis).unwrap_or(0)
}

fn millis(duration: std::time::Duration) -> Millis {
    Millis::try_from(duration.as_millis()).unwrap_or(Millis::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_set_back_does_not_stop_time() {
        let ahead = Clock { started: Instant::now(), at_start: AtomicU64::new(wall() + 3_600_000) };
        let before = ahead.now();
        assert!(before >= wall() + 3_599_000);
        let started = Instant::now();
        while started.elapsed().as_millis() < 3 {
            std::hint::spin_loop();
        }
        assert!(ahead.now() > before);
    }
}
