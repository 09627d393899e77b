//! Passwords: argon2id, off the async threads, with bounded concurrency; and the rate limit of attempts.
//!
//! Attempts are limited per network, and per login and network, before any look-up or hash. Attempts at one login from
//! everywhere only slow each other down, so a stranger cannot lock a person out. The counters are in memory: a failed
//! attempt costs no write, and a restart resets them.

use std::net::IpAddr;
use std::num::NonZeroU32;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use argon2::password_hash::phc::PasswordHash;
use argon2::password_hash::{PasswordHasher, PasswordVerifier};
use argon2::{Algorithm, Argon2, Params, Version};
use governor::clock::{Clock, DefaultClock};
use governor::{DefaultKeyedRateLimiter, Quota, RateLimiter};
use notarium_store::StoreError;
use tokio::sync::Semaphore;

use super::AuthError;
use crate::limits::connection_slots::network_of;

/// Concurrent hashes: each takes its memory and a core.
const CONCURRENT: usize = 2;
/// Hashes that may wait for a turn; more are refused with a retry time.
const QUEUED: usize = 64;
const RETRY_WHEN_FULL_MS: u64 = 2_000;

/// Cost of a hash. The default is OWASP's: 19 MiB, two passes, one lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PasswordCost {
    pub memory_kib: u32,
    pub passes: u32,
}

impl Default for PasswordCost {
    fn default() -> Self {
        Self { memory_kib: 19 * 1024, passes: 2 }
    }
}

pub(super) struct Passwords {
    argon2: Argon2<'static>,
    running: Semaphore,
    queued: Semaphore,
    /// Hash that is compared if there is no password, so that the response time does not reveal which logins exist.
    decoy: Arc<OnceLock<String>>,
}

impl Passwords {
    pub fn new(cost: PasswordCost) -> Self {
        let params = Params::new(cost.memory_kib, cost.passes, 1, None).unwrap_or_default();
        Self {
            argon2: Argon2::new(Algorithm::Argon2id, Version::V0x13, params),
            running: Semaphore::new(CONCURRENT),
            queued: Semaphore::new(QUEUED + CONCURRENT),
            decoy: Arc::default(),
        }
    }

    /// Returns a PHC text: algorithm, cost, salt and hash.
    pub async fn hash(&self, password: String) -> Result<String, AuthError> {
        let argon2 = self.argon2.clone();
        self.run(move || hash(&argon2, &password)).await?
    }

    /// True if the password matches. Takes as long without a stored hash.
    pub async fn verify(&self, password: String, phc: Option<String>) -> Result<bool, AuthError> {
        let (argon2, decoy) = (self.argon2.clone(), self.decoy.clone());
        self.run(move || match phc {
            Some(phc) => Ok(is_password(&argon2, &password, &phc)),
            None => {
                let decoy = match decoy.get() {
                    Some(decoy) => decoy,
                    None => decoy.get_or_init(|| hash(&argon2, "nobody's").unwrap_or_default()),
                };
                is_password(&argon2, &password, decoy);
                Ok(false)
            }
        })
        .await?
    }

    async fn run<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> Result<T, AuthError> {
        let _place =
            self.queued.try_acquire().map_err(|_| AuthError::TooManyAttempts { retry_after_ms: RETRY_WHEN_FULL_MS })?;
        let _turn = self.running.acquire().await.map_err(failed)?;
        tokio::task::spawn_blocking(work).await.map_err(failed)
    }
}

fn hash(argon2: &Argon2<'_>, password: &str) -> Result<String, AuthError> {
    argon2.hash_password(password.as_bytes()).map(|phc: PasswordHash| phc.to_string()).map_err(failed)
}

fn is_password(argon2: &Argon2<'_>, password: &str, phc: &str) -> bool {
    PasswordHash::new(phc).is_ok_and(|phc| argon2.verify_password(password.as_bytes(), &phc).is_ok())
}

fn failed(error: impl std::fmt::Display) -> AuthError {
    let reason = format!("a password could not be hashed: {error}");
    AuthError::Accounts(StoreError::Unavailable { reason }.into())
}

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
