//! Follows the rights of a connection's token while it lives.

use std::future::Future;
use std::pin::Pin;

use crate::auth::{Accounts, AuthError, Authenticated, FollowedToken};

type Changed = Pin<Box<dyn Future<Output = (FollowedToken, Result<Authenticated, AuthError>)> + Send>>;

/// A followed token whose future is kept across turns of a `select!`, so that no change is lost between two of them.
pub struct Follow(Changed);

impl Follow {
    pub async fn new(accounts: &Accounts, authenticated: &Authenticated) -> Result<Self, AuthError> {
        Ok(Self(waiting(accounts.follow(authenticated).await?)))
    }

    /// Waits for a change and returns the new rights; an error if the token has ended. Cancel safe.
    pub async fn changed(&mut self) -> Result<Authenticated, AuthError> {
        let (followed, changed) = (&mut self.0).await;
        self.0 = waiting(followed);
        changed
    }
}

fn waiting(mut followed: FollowedToken) -> Changed {
    Box::pin(async move {
        let changed = followed.changed().await;
        (followed, changed)
    })
}
