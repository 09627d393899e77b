//! What the connection's token allows, followed while it lives.

use std::future::Future;
use std::pin::Pin;

use crate::auth::{Accounts, AuthError, Authenticated, FollowedToken};

type Changed = Pin<Box<dyn Future<Output = (FollowedToken, Result<Authenticated, AuthError>)> + Send>>;

/// A followed token whose waiting is kept across turns of a `select!`: no change is lost between two of them.
pub struct Follow(Changed);

impl Follow {
    pub async fn new(accounts: &Accounts, authenticated: &Authenticated) -> Result<Self, AuthError> {
        Ok(Self(waiting(accounts.follow(authenticated).await?)))
    }

    /// What is allowed now, once that has changed; an error when nothing is any more. Cancel safe.
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
