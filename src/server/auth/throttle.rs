//! Attempts to sign in, counted per login and per address before anything is looked up or hashed.
//!
//! Kept in memory: a failed attempt by a stranger costs no write, and a restart forgives.

use std::net::{IpAddr, Ipv6Addr};
use std::num::NonZeroU32;
use std::time::Duration;

use governor::clock::{Clock, DefaultClock};
use governor::{DefaultKeyedRateLimiter, Quota, RateLimiter};

use super::AuthError;

/// Attempts at once for one login, then one every six seconds.
const LOGIN_BURST: NonZeroU32 = NonZeroU32::new(10).unwrap();
const LOGIN_PERIOD: Duration = Duration::from_secs(6);
/// Attempts at once from one address, then one every two seconds: a school behind one address still gets in.
const ADDRESS_BURST: NonZeroU32 = NonZeroU32::new(40).unwrap();
const ADDRESS_PERIOD: Duration = Duration::from_secs(2);
/// Keys that are remembered before those that have recovered are dropped.
const MAX_KEYS: usize = 10_000;

pub(super) struct Throttle {
    logins: DefaultKeyedRateLimiter<String>,
    addresses: DefaultKeyedRateLimiter<IpAddr>,
}

impl Throttle {
    pub fn new() -> Self {
        Self { logins: limiter(LOGIN_BURST, LOGIN_PERIOD), addresses: limiter(ADDRESS_BURST, ADDRESS_PERIOD) }
    }

    /// Counts an attempt, or says how long to wait. An address that is unknown is not counted.
    pub fn attempt(&self, login: &str, address: Option<IpAddr>) -> Result<(), AuthError> {
        self.attempt_from(address)?;
        check(&self.logins, &login.to_owned())
    }

    /// Counts an attempt that names no login.
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

/// One customer of an IPv6 provider has a whole /64.
fn network_of(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V6(address) => {
            let [a, b, c, d, ..] = address.segments();
            IpAddr::V6(Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0))
        }
        IpAddr::V4(_) => address,
    }
}
