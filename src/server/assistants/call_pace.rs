//! Rate limit of tool calls per session or token, in a minute, over all notebooks of this server. A notebook's ledger
//! counts its own calls alone and outlives a restart; this counter does not.

use std::collections::{HashMap, VecDeque};

use notarium_core::{Millis, Rejection, RejectionCode, RejectionDetails, TokenId, UserId};
use parking_lot::Mutex;

const MINUTE_MS: Millis = 60_000;
/// Tokens remembered before those without a call in the last minute are removed.
const MAX_IDLE_TOKENS: usize = 1_024;

/// A person's session or token.
pub type CallPaceKey = (UserId, Option<TokenId>);

/// Rate limit counters of all notebooks of a server.
#[derive(Debug)]
pub struct CallPace {
    max_per_minute: usize,
    /// Times of the last minute's calls, oldest first.
    recent: Mutex<HashMap<CallPaceKey, VecDeque<Millis>>>,
}

impl CallPace {
    pub fn new(max_per_minute: usize) -> Self {
        Self { max_per_minute, recent: Mutex::default() }
    }

    /// Counts a call, or refuses it with the time until the next one is allowed.
    pub fn take(&self, asker: &CallPaceKey, now: Millis) -> Result<(), Rejection> {
        let mut recent = self.recent.lock();
        if recent.len() >= MAX_IDLE_TOKENS {
            recent.retain(|_, calls| calls.back().is_some_and(|last| last + MINUTE_MS > now));
        }
        let calls = recent.entry(asker.clone()).or_default();
        while calls.front().is_some_and(|call| call + MINUTE_MS <= now) {
            calls.pop_front();
        }
        match calls.front() {
            Some(oldest) if calls.len() >= self.max_per_minute => Err(self.refused(oldest + MINUTE_MS - now)),
            _ => {
                calls.push_back(now);
                Ok(())
            }
        }
    }

    /// Uncounts a call that was refused for another reason.
    pub fn give_back(&self, asker: &CallPaceKey) {
        let mut recent = self.recent.lock();
        recent.get_mut(asker).map(VecDeque::pop_back);
    }

    fn refused(&self, wait_ms: Millis) -> Rejection {
        let (limit, seconds) = (self.max_per_minute, wait_ms.div_ceil(1_000));
        let message = format!(
            "{limit} tool calls in a minute is the limit of a person's session or token, over all notebooks: wait {seconds} s"
        );
        Rejection::new(RejectionCode::RateLimited, message).with(RejectionDetails::RetryAfter { seconds })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asker(user: &str, token: &str) -> CallPaceKey {
        (user.parse().unwrap(), Some(token.parse().unwrap()))
    }

    #[test]
    fn a_minute_holds_so_many_calls_of_one_token_and_the_refusal_says_how_long_to_wait() {
        let pace = CallPace::new(2);
        let ann = asker("ann", "mcp");
        pace.take(&ann, 1_000).unwrap();
        pace.take(&ann, 31_000).unwrap();
        let refused = pace.take(&ann, 31_500).unwrap_err();
        assert_eq!(refused.code, RejectionCode::RateLimited);
        assert_eq!(refused.details.as_deref(), Some(&RejectionDetails::RetryAfter { seconds: 30 }));
        for other in [asker("ann", "another"), asker("ben", "mcp")] {
            pace.take(&other, 31_500).unwrap();
        }
        pace.take(&ann, 61_000).unwrap();
        pace.take(&ann, 61_000).unwrap_err();
        pace.give_back(&ann);
        pace.take(&ann, 61_000).unwrap();
    }
}
