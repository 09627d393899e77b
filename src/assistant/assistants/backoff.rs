//! Delays before a failed step is tried again. Each failure doubles the delay, so that a step that never succeeds costs little.

use std::collections::BTreeMap;
use std::time::Duration;

use tokio::time::Instant;

/// First delay after a failure.
pub(super) const FIRST_DELAY: Duration = Duration::from_secs(1);
/// Longest delay.
const MAX_DELAY: Duration = Duration::from_secs(60);

/// Delays by the id of a turn or a call; the key "" is the notebook itself.
#[derive(Default)]
pub(super) struct Backoff(BTreeMap<String, Delay>);

struct Delay {
    until: Instant,
    length: Duration,
}

impl Backoff {
    pub fn add(&mut self, what: &str, now: Instant) {
        let length = self.0.get(what).map_or(FIRST_DELAY, |delay| (delay.length * 2).min(MAX_DELAY));
        self.0.insert(what.to_owned(), Delay { until: now + length, length });
    }

    /// Removes a delay after a success.
    pub fn end(&mut self, what: &str) {
        self.0.remove(what);
    }

    pub fn has(&self, what: &str, now: Instant) -> bool {
        self.0.get(what).is_some_and(|delay| delay.until > now)
    }

    /// Time of the next delay's end; `None`: nothing is delayed.
    pub fn next(&self, now: Instant) -> Option<Instant> {
        self.0.values().map(|delay| delay.until).filter(|until| *until > now).min()
    }

    /// Forgets entries whose delay ended one delay ago.
    pub fn tidy(&mut self, now: Instant) {
        self.0.retain(|_, delay| delay.until + delay.length > now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_delay_doubles_each_time_and_is_forgotten() {
        let (mut backoff, mut now) = (Backoff::default(), Instant::now());
        let mut lengths = Vec::new();
        for _ in 0..8 {
            backoff.add("turn", now);
            let until = backoff.next(now).unwrap();
            assert!(backoff.has("turn", now) && !backoff.has("other", now));
            lengths.push((until - now).as_secs());
            now = until;
            assert!(!backoff.has("turn", now) && backoff.next(now).is_none());
            backoff.tidy(now);
        }
        assert_eq!(lengths, [1, 2, 4, 8, 16, 32, 60, 60]);
        now += MAX_DELAY;
        backoff.tidy(now);
        backoff.add("turn", now);
        assert_eq!(backoff.next(now), Some(now + FIRST_DELAY));
        backoff.end("turn");
        assert_eq!(backoff.next(now), None);
    }
}
