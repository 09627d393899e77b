//! Log of what fails at each attempt while the store is away: once when it begins, once a minute, and when it is over.

use std::fmt::Display;
use std::time::{Duration, Instant};

const TOLD_EVERY: Duration = Duration::from_secs(60);

/// Log of attempts that are made again and again.
#[derive(Debug)]
pub struct Outage {
    failed: &'static str,
    over: &'static str,
    state: Option<Failing>,
}

#[derive(Debug)]
struct Failing {
    since: Instant,
    told: Instant,
}

impl Outage {
    /// `failed` and `over` are lines of the log.
    pub fn new(failed: &'static str, over: &'static str) -> Self {
        Self { failed, over, state: None }
    }

    /// Logs the result of an attempt if it says something new.
    pub fn log<E: Display>(&mut self, attempt: Result<(), E>) {
        let now = Instant::now();
        match attempt {
            Ok(()) => {
                if let Some(seconds) = self.succeeds(now) {
                    tracing::info!(seconds, "{}", self.over);
                }
            }
            Err(error) if self.fails(now) => tracing::warn!(%error, "{}", self.failed),
            Err(_) => {}
        }
    }

    /// True if this failure is told.
    fn fails(&mut self, now: Instant) -> bool {
        match &mut self.state {
            Some(failing) if now - failing.told < TOLD_EVERY => return false,
            Some(failing) => failing.told = now,
            None => self.state = Some(Failing { since: now, told: now }),
        }
        true
    }

    /// Seconds of the outage that is over.
    fn succeeds(&mut self, now: Instant) -> Option<u64> {
        self.state.take().map(|failing| (now - failing.since).as_secs())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outage_is_told_when_it_begins_once_a_minute_and_at_its_end() {
        let mut outage = Outage::new("failed", "over");
        let begin = Instant::now();
        let at = |second| begin + Duration::from_secs(second);
        assert_eq!(outage.succeeds(begin), None);
        let told: Vec<u64> = (0..150).filter(|second| outage.fails(at(*second))).collect();
        assert_eq!((told, outage.succeeds(at(150)), outage.succeeds(at(151))), (vec![0, 60, 120], Some(150), None));
        assert!(outage.fails(at(152)), "the next one begins");
    }
}
