//! Decides whether a failed attempt is retried, and after what pause. Pure: randomness is an argument.

use std::time::Duration;

use super::error::ProviderError;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetryPolicy {
    /// Most attempts of one call, including the first.
    pub max_attempts: u32,
    /// Longest pause before the second attempt; doubles with each further one.
    pub first_wait: Duration,
    /// Longest pause of our own choice.
    pub max_wait: Duration,
    /// Longest pause that a provider may request; above it the call fails.
    pub max_retry_after: Duration,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self {
            max_attempts: 4,
            first_wait: Duration::from_millis(500),
            max_wait: Duration::from_secs(20),
            max_retry_after: Duration::from_secs(60),
        }
    }
}

impl RetryPolicy {
    /// One attempt, no more.
    pub fn never() -> Self {
        Self { max_attempts: 1, ..Self::default() }
    }

    /// Pause before another attempt; `None` if there is no further one. `chance` is between 0 and 1.
    pub fn wait_after(&self, attempt: u32, error: &ProviderError, chance: f64) -> Option<Duration> {
        if attempt >= self.max_attempts || !error.is_transient() {
            return None;
        }
        let own = self.backoff(attempt).mul_f64(0.5 + chance.clamp(0.0, 1.0) / 2.0);
        match error.retry_after() {
            Some(asked) if asked > self.max_retry_after => None,
            // A little later than requested, so that refused clients do not all return at the same time.
            Some(asked) => Some(asked + self.first_wait.mul_f64(chance.clamp(0.0, 1.0) / 2.0)),
            None => Some(own),
        }
    }

    fn backoff(&self, attempt: u32) -> Duration {
        let doublings = attempt.saturating_sub(1).min(16);
        self.first_wait.saturating_mul(1 << doublings).min(self.max_wait)
    }
}

/// A number between 0 and 1 from the system's randomness.
pub(super) fn chance() -> f64 {
    let number = getrandom::u32().unwrap_or(u32::MAX / 2);
    f64::from(number) / f64::from(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limited(retry_after: Option<u64>) -> ProviderError {
        let retry_after = retry_after.map(Duration::from_secs);
        ProviderError::RateLimited { provider: "test".into(), retry_after, detail: String::new() }
    }

    #[test]
    fn waits_double_up_to_a_limit_and_vary() {
        let policy = RetryPolicy { max_attempts: 40, ..RetryPolicy::default() };
        let millis = |attempt, chance| policy.wait_after(attempt, &limited(None), chance).unwrap().as_millis();
        assert_eq!([millis(1, 0.0), millis(1, 1.0)], [250, 500]);
        assert_eq!([millis(2, 1.0), millis(3, 1.0), millis(4, 1.0)], [1_000, 2_000, 4_000]);
        assert_eq!(millis(39, 1.0), 20_000);
    }

    #[test]
    fn what_the_provider_asks_for_is_kept_unless_it_is_too_long() {
        let policy = RetryPolicy::default();
        let wait = policy.wait_after(1, &limited(Some(7)), 0.5).unwrap();
        assert!(wait >= Duration::from_secs(7) && wait < Duration::from_secs(8), "{wait:?}");
        assert_eq!(policy.wait_after(1, &limited(Some(61)), 0.5), None);
    }

    #[test]
    fn what_cannot_succeed_is_not_repeated() {
        let wrong = ProviderError::WrongKey { provider: "test".into(), detail: String::new() };
        assert_eq!(RetryPolicy::default().wait_after(1, &wrong, 0.5), None);
        assert_eq!(RetryPolicy::never().wait_after(1, &limited(None), 0.5), None);
        assert_eq!(RetryPolicy::default().wait_after(4, &limited(None), 0.5), None);
    }
}
