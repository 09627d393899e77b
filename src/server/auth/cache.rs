//! Tokens that were authenticated, so that a request costs no question to the store.

use std::sync::atomic::{AtomicU64, Ordering};

use dashmap::DashMap;
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
pub(super) struct TokenCache {
    by_id: DashMap<TokenId, Cached>,
    /// Rises with every revocation: what was read from the store before one is not cached after it.
    generation: AtomicU64,
}

impl TokenCache {
    pub fn generation(&self) -> u64 {
        self.generation.load(Ordering::SeqCst)
    }

    pub fn get(&self, id: &TokenId) -> Option<Cached> {
        self.by_id.get(id).map(|cached| cached.clone())
    }

    /// Keeps the entry unless something was revoked since `generation` was asked.
    pub fn put(&self, id: TokenId, cached: Cached, generation: u64) {
        if self.by_id.len() >= MAX_CACHED_TOKENS {
            self.by_id.clear();
        }
        // A revocation counts first and looks through the entries then: it either is seen here, or waits for this entry.
        let entry = self.by_id.entry(id);
        if self.generation() == generation {
            entry.insert(cached);
        }
    }

    pub fn touched(&self, id: &TokenId, at: Millis) {
        if let Some(mut cached) = self.by_id.get_mut(id) {
            cached.touched_at = at;
        }
    }

    pub fn forget(&self, revocation: &Revocation) {
        self.generation.fetch_add(1, Ordering::SeqCst);
        self.by_id.retain(|_, cached| !revocation.touches(&cached.authenticated));
    }
}
