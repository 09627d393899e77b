//! Tokens that were authenticated, so that a request costs no question to the store.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use notarium_core::{Millis, TokenId};

use super::Authenticated;
use super::follow::Revocation;

/// More would be a flood of tokens: the cache starts anew.
const MAX_CACHED_TOKENS: usize = 20_000;

#[derive(Debug, Clone)]
pub(super) struct Cached {
    pub secret_hash: [u8; 32],
    pub authenticated: Authenticated,
    /// When the store was last told that the token is in use.
    pub touched_at: Millis,
}

#[derive(Debug, Default)]
pub(super) struct TokenCache(Mutex<Entries>);

#[derive(Debug, Default)]
struct Entries {
    by_id: HashMap<TokenId, Cached>,
    /// Rises with every revocation: what was read from the store before one is not cached after it.
    generation: u64,
}

impl TokenCache {
    pub fn generation(&self) -> u64 {
        self.entries().generation
    }

    pub fn get(&self, id: &TokenId) -> Option<Cached> {
        self.entries().by_id.get(id).cloned()
    }

    /// Keeps the entry unless something was revoked since `generation` was asked.
    pub fn put(&self, id: TokenId, cached: Cached, generation: u64) {
        let mut entries = self.entries();
        if entries.generation != generation {
            return;
        }
        if entries.by_id.len() >= MAX_CACHED_TOKENS {
            entries.by_id.clear();
        }
        entries.by_id.insert(id, cached);
    }

    pub fn touched(&self, id: &TokenId, at: Millis) {
        if let Some(cached) = self.entries().by_id.get_mut(id) {
            cached.touched_at = at;
        }
    }

    pub fn forget(&self, revocation: &Revocation) {
        let mut entries = self.entries();
        entries.generation += 1;
        entries.by_id.retain(|_, cached| !revocation.touches(&cached.authenticated));
    }

    fn entries(&self) -> std::sync::MutexGuard<'_, Entries> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
