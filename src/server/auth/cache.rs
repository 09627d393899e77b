//! Cache of authenticated tokens: a request costs no query to the store.

use std::sync::atomic::{AtomicU64, Ordering};

use dashmap::DashMap;
use notarium_core::{Millis, TokenId};

use super::Authenticated;
use super::follow::Revocation;

/// Limit of cached tokens. At this number the cache is cleared.
const MAX_CACHED_TOKENS: usize = 20_000;

#[derive(Debug, Clone)]
pub(super) struct Cached {
    pub secret_hash: [u8; 32],
    pub authenticated: Authenticated,
    /// Time when the store last recorded a use of the token.
    pub touched_at: Millis,
}

#[derive(Debug, Default)]
pub(super) struct TokenCache {
    by_id: DashMap<TokenId, Cached>,
    /// Rises with every revocation: a token read before a revocation is not cached after it.
    generation: AtomicU64,
}

impl TokenCache {
    pub fn generation(&self) -> u64 {
        self.generation.load(Ordering::SeqCst)
    }

    pub fn get(&self, id: &TokenId) -> Option<Cached> {
        self.by_id.get(id).map(|cached| cached.clone())
    }

    /// Caches the entry, unless a revocation came since `generation` was read.
    pub fn put(&self, id: TokenId, cached: Cached, generation: u64) {
        if self.by_id.len() >= MAX_CACHED_TOKENS {
            self.by_id.clear();
        }
        // A revocation raises the generation and then scans the entries. Either it is seen here, or its scan waits for
        // this entry.
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
