//! Follows tokens while they are used: revocation and expiry take effect immediately. The cache of authenticated tokens
//! saves each request a query to the store.

use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use dashmap::DashMap;
use notarium_core::{Actor, Millis, NotebookId, ShareLinkId, TokenId, UserId, WorkspaceId};
use tokio::sync::broadcast;

use super::{Accounts, AuthError, Authenticated};

/// Interval of looks at the clock: it may be set, or its machine may sleep.
const LOOK_EVERY: Duration = Duration::from_secs(60);

/// Change of rights: the connections that it touches recheck their tokens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Revocation {
    Token(TokenId),
    /// The profile, administrator right, memberships, identities or tokens of a person have changed.
    User(UserId),
    ShareLink(ShareLinkId),
    Workspace(WorkspaceId),
    /// The notebook was moved in or out of a workspace.
    Notebook(NotebookId),
    /// A person was deactivated; the agents and links that the person made end too.
    Anybody,
}

impl Revocation {
    /// True if the rights of this token may have changed.
    pub fn touches(&self, authenticated: &Authenticated) -> bool {
        match self {
            Revocation::Token(id) => authenticated.token_id == *id,
            Revocation::User(id) => authenticated.acts_for() == Some(id),
            Revocation::ShareLink(id) => {
                matches!(&authenticated.actor, Actor::Guest { share_link } if share_link == id)
            }
            Revocation::Workspace(id) => authenticated.workspaces.contains_key(id),
            Revocation::Anybody => true,
            Revocation::Notebook(_) => !authenticated.workspaces.is_empty() || authenticated.is_bound_to_a_workspace(),
        }
    }
}

/// Token of an open connection. Owned by the connection's task.
pub struct FollowedToken {
    accounts: Accounts,
    authenticated: Authenticated,
    revocations: broadcast::Receiver<Revocation>,
    /// A revocation was received and not handled yet. Kept here so that a dropped `changed` loses nothing.
    is_stale: bool,
}

impl FollowedToken {
    pub(super) fn new(
        accounts: Accounts,
        authenticated: Authenticated,
        revocations: broadcast::Receiver<Revocation>,
    ) -> Self {
        Self { accounts, authenticated, revocations, is_stale: false }
    }

    /// Waits for a change of rights. `Ok` has the new rights (re-subscribe, demote); `Err`: close.
    /// Safe to drop and call again (for `select!`).
    pub async fn changed(&mut self) -> Result<Authenticated, AuthError> {
        self.touched().await;
        self.authenticated = Box::pin(self.accounts.recheck(&self.authenticated)).await?;
        self.is_stale = false;
        Ok(self.authenticated.clone())
    }

    /// Waits for a revocation that touches the token, its expiry, or missed revocations; `changed` looks up what it did
    /// to the rights. Safe to drop and call again.
    pub async fn touched(&mut self) {
        if self.is_stale {
            return;
        }
        let expiry = expired(&self.accounts, self.authenticated.expires_at);
        let revocations = &mut self.revocations;
        let authenticated = &self.authenticated;
        let revoked = async {
            while let Ok(revocation) = revocations.recv().await {
                if revocation.touches(authenticated) {
                    return;
                }
            }
        };
        tokio::select! {
            () = expiry => {}
            () = revoked => {}
        }
        self.is_stale = true;
    }
}

async fn expired(accounts: &Accounts, expires_at: Option<Millis>) {
    let Some(at) = expires_at else { return std::future::pending().await };
    while let Some(left @ 1..) = at.checked_sub(accounts.now()) {
        tokio::time::sleep(Duration::from_millis(left).min(LOOK_EVERY)).await;
    }
}

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

type RightsChange = Pin<Box<dyn Future<Output = (FollowedToken, Result<Authenticated, AuthError>)> + Send>>;

/// A followed token whose future is kept across turns of a `select!`, so that no change is lost between two of them.
pub struct Follow(RightsChange);

impl Follow {
    pub async fn new(accounts: &Accounts, authenticated: &Authenticated) -> Result<Self, AuthError> {
        Ok(Self(waiting(accounts.follow(authenticated).await?)))
    }

    /// Follows nothing.
    pub fn never() -> Self {
        Self(Box::pin(std::future::pending()))
    }

    /// Waits for a change and returns the new rights; an error if the token has ended. Cancel safe.
    pub async fn changed(&mut self) -> Result<Authenticated, AuthError> {
        let (followed, changed) = (&mut self.0).await;
        self.0 = waiting(followed);
        changed
    }
}

fn waiting(mut followed: FollowedToken) -> RightsChange {
    Box::pin(async move {
        let changed = followed.changed().await;
        (followed, changed)
    })
}
