//! What went wrong and is let rest before it is tried again: each time twice as long, so that what never passes costs little.

use std::collections::BTreeMap;
use std::time::Duration;

use tokio::time::Instant;

/// The first rest.
pub(super) const PATIENCE: Duration = Duration::from_secs(1);
/// The longest.
const MOST: Duration = Duration::from_secs(60);

/// By the id of what rests; the notebook itself is "".
#[derive(Default)]
pub(super) struct Rests(BTreeMap<String, Rest>);

struct Rest {
    until: Instant,
    length: Duration,
}

impl Rests {
    pub fn add(&mut self, what: &str, now: Instant) {
        let length = self.0.get(what).map_or(PATIENCE, |rest| (rest.length * 2).min(MOST));
        self.0.insert(what.to_owned(), Rest { until: now + length, length });
    }

    /// It went well.
    pub fn end(&mut self, what: &str) {
        self.0.remove(what);
    }

    pub fn has(&self, what: &str, now: Instant) -> bool {
        self.0.get(what).is_some_and(|rest| rest.until > now)
    }

    /// When the next rest is over; `None`: nothing rests.
    pub fn next(&self, now: Instant) -> Option<Instant> {
        self.0.values().map(|rest| rest.until).filter(|until| *until > now).min()
    }

    /// Forgets what has been left alone for as long as it rested.
    pub fn tidy(&mut self, now: Instant) {
        self.0.retain(|_, rest| rest.until + rest.length > now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rest_is_twice_as_long_each_time_and_is_forgotten() {
        let (mut rests, mut now) = (Rests::default(), Instant::now());
        let mut lengths = Vec::new();
        for _ in 0..8 {
            rests.add("turn", now);
            let until = rests.next(now).unwrap();
            assert!(rests.has("turn", now) && !rests.has("other", now));
            lengths.push((until - now).as_secs());
            now = until;
            assert!(!rests.has("turn", now) && rests.next(now).is_none());
            rests.tidy(now);
        }
        assert_eq!(lengths, [1, 2, 4, 8, 16, 32, 60, 60]);
        now += MOST;
        rests.tidy(now);
        rests.add("turn", now);
        assert_eq!(rests.next(now), Some(now + PATIENCE));
        rests.end("turn");
        assert_eq!(rests.next(now), None);
    }
}
