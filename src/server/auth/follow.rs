//! Following a token while its connection lives: revocation and expiry act at once.

use std::time::Duration;

use notarium_core::{Actor, Millis, NotebookId, ShareLinkId, TokenId, UserId, WorkspaceId};
use tokio::sync::broadcast;

use super::{Accounts, AuthError, Authenticated};

/// The clock is looked at so often: it may be set, or its machine be asleep.
const LOOK_EVERY: Duration = Duration::from_secs(60);

/// Something that was allowed has changed: ask again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Revocation {
    Token(TokenId),
    /// Deactivated, no administrator any more, renamed, in or out of a workspace.
    User(UserId),
    ShareLink(ShareLinkId),
    Workspace(WorkspaceId),
    /// Moved in or out of a workspace.
    Notebook(NotebookId),
    /// A person was deactivated: with that go the agents and links that the person made.
    Anybody,
}

impl Revocation {
    /// Whether what this token allows may have changed.
    pub fn touches(&self, authenticated: &Authenticated) -> bool {
        match self {
            Revocation::Token(id) => authenticated.token_id == *id,
            Revocation::User(id) => authenticated.user_id() == Some(id),
            Revocation::ShareLink(id) => {
                matches!(&authenticated.actor, Actor::Guest { share_link } if share_link == id)
            }
            Revocation::Workspace(id) => authenticated.workspaces.contains_key(id),
            Revocation::Anybody => true,
            Revocation::Notebook(_) => !authenticated.workspaces.is_empty() || authenticated.is_bound_to_a_workspace(),
        }
    }
}

/// A token whose connection is open. Owned by the connection's task.
pub struct FollowedToken {
    accounts: Accounts,
    authenticated: Authenticated,
    revocations: broadcast::Receiver<Revocation>,
    /// Something was heard and not yet looked into: kept here, so that a dropped `changed` forgets nothing.
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

    /// What is allowed as far as is known.
    pub fn authenticated(&self) -> &Authenticated {
        &self.authenticated
    }

    /// Waits until what is allowed has changed: `Ok` with what it is now (re-subscribe, demote), or `Err`: close.
    /// Safe to drop and call again (for `select!`).
    pub async fn changed(&mut self) -> Result<Authenticated, AuthError> {
        if !self.is_stale {
            self.wait().await;
            self.is_stale = true;
        }
        self.authenticated = Box::pin(self.accounts.recheck(&self.authenticated)).await?;
        self.is_stale = false;
        Ok(self.authenticated.clone())
    }

    /// Until a revocation touches the token, or it expires, or revocations were missed.
    async fn wait(&mut self) {
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
    }
}

async fn expired(accounts: &Accounts, expires_at: Option<Millis>) {
    let Some(at) = expires_at else { return std::future::pending().await };
    while let Some(left @ 1..) = at.checked_sub(accounts.now()) {
        tokio::time::sleep(Duration::from_millis(left).min(LOOK_EVERY)).await;
    }
}
