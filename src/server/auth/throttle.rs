//! Rate limit of sign-in attempts, per network and per login and network; checked before any look-up or hash. Attempts
//! at one login from everywhere only slow each other down, so a stranger cannot lock a person out.
//!
//! Kept in memory: a failed attempt by a stranger costs no write, and a restart resets the counters.

use std::net::IpAddr;
use std::num::NonZeroU32;
use std::time::Duration;

use governor::clock::{Clock, DefaultClock};
use governor::{DefaultKeyedRateLimiter, Quota, RateLimiter};

use super::AuthError;
use crate::limits::connection_slots::network_of;

/// Burst for one login from one network, then one attempt every six seconds.
const LOGIN_BURST: NonZeroU32 = NonZeroU32::new(10).unwrap();
const LOGIN_PERIOD: Duration = Duration::from_secs(6);
/// Burst for one login from everywhere, then one every two seconds; further ones are delayed.
const EVERYWHERE_BURST: NonZeroU32 = NonZeroU32::new(20).unwrap();
const EVERYWHERE_PERIOD: Duration = Duration::from_secs(2);
const MAX_DELAY: Duration = Duration::from_secs(2);
/// Burst from one network, then one every two seconds: a school behind one address still gets in.
const ADDRESS_BURST: NonZeroU32 = NonZeroU32::new(40).unwrap();
const ADDRESS_PERIOD: Duration = Duration::from_secs(2);
/// Keys remembered before those that have recovered are dropped.
const MAX_KEYS: usize = 10_000;

pub(super) struct Throttle {
    logins: DefaultKeyedRateLimiter<(String, Option<IpAddr>)>,
    everywhere: DefaultKeyedRateLimiter<String>,
    addresses: DefaultKeyedRateLimiter<IpAddr>,
}

impl Throttle {
    pub fn new() -> Self {
        Self {
            logins: limiter(LOGIN_BURST, LOGIN_PERIOD),
            everywhere: limiter(EVERYWHERE_BURST, EVERYWHERE_PERIOD),
            addresses: limiter(ADDRESS_BURST, ADDRESS_PERIOD),
        }
    }

    /// Counts an attempt, or returns the time to wait. An unknown address is not counted per network.
    pub async fn attempt(&self, login: &str, address: Option<IpAddr>) -> Result<(), AuthError> {
        self.attempt_from(address)?;
        check(&self.logins, &(login.to_owned(), address.map(network_of)))?;
        if check(&self.everywhere, &login.to_owned()).is_err() {
            tokio::time::sleep(MAX_DELAY).await;
        }
        Ok(())
    }

    /// Counts an attempt without a login, or returns the time to wait.
    pub fn attempt_from(&self, address: Option<IpAddr>) -> Result<(), AuthError> {
        address.map_or(Ok(()), |address| check(&self.addresses, &network_of(address)))
    }
}

fn limiter<K: std::hash::Hash + Eq + Clone>(burst: NonZeroU32, period: Duration) -> DefaultKeyedRateLimiter<K> {
    let quota = Quota::with_period(period).unwrap_or(Quota::per_second(burst)).allow_burst(burst);
    RateLimiter::keyed(quota)
}

fn check<K: std::hash::Hash + Eq + Clone>(limiter: &DefaultKeyedRateLimiter<K>, key: &K) -> Result<(), AuthError> {
    if limiter.len() > MAX_KEYS {
        limiter.retain_recent();
    }
    limiter.check_key(key).map_err(|until| {
        let wait = until.wait_time_from(DefaultClock::default().now());
        AuthError::TooManyAttempts { retry_after_ms: u64::try_from(wait.as_millis()).unwrap_or(u64::MAX).max(1) }
    })
}
