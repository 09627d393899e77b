//! Passwords: argon2id, off the async threads, with bounded concurrency.

use std::sync::{Arc, OnceLock};

use argon2::password_hash::phc::PasswordHash;
use argon2::password_hash::{PasswordHasher, PasswordVerifier};
use argon2::{Algorithm, Argon2, Params, Version};
use notarium_store::StoreError;
use tokio::sync::Semaphore;

use super::AuthError;

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
