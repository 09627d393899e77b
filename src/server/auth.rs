//! Authentication: tokens, sessions, and their rights.
//!
//! Invariants:
//! - Authentication is a bearer token in the `Authorization` header or in the socket's first frame. There are no
//!   cookies, so a foreign page has nothing to ride on, and no token is ever read from a URL.
//! - A browser proves a key that no script can read, and stores no token: `browser_keys`. A printed link carries a
//!   token that is good once: `links`.
//! - Only hashes of secrets are stored. A presented secret is hashed and the hashes are compared, so the time of the
//!   comparison reveals nothing.
//! - `confirm` is held by sessions, and by API tokens of a person who asked for it by name; never by agents or guests.
//! - A connection learns immediately when its token ends: [`Accounts::follow`].

pub mod account_status;
mod accounts;
mod authenticated;
mod browser_keys;
mod cache;
mod follow;
pub mod following;
mod grants;
mod identities;
mod links;
pub mod oidc;
mod one_time;
mod passwords;
mod people;
mod rights;
mod sessions;
#[cfg(test)]
mod tests;
mod throttle;
mod token_text;
mod values;

pub use accounts::{Accounts, AuthOptions, OneTimeToken};
pub use authenticated::{Authenticated, Placements};
pub use browser_keys::{Proof, hash_of_key, signed_by};
pub use follow::{FollowedToken, Revocation};
pub use grants::{NewAgent, NewApiToken, NewShareLink, NewToken};
pub use identities::ProvedIdentity;
pub use links::LinkEnd;
pub use one_time::{OneTimeUse, reset_in};
pub use passwords::PasswordCost;
pub use sessions::{ClientInfo, SignedIn, issue_owner_token, issue_owner_token_in};
pub use token_text::{TokenText, bearer};

use notarium_core::Millis;
use notarium_store::accounts::AccountError;

/// Reason why authentication or a change of accounts is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AuthError {
    #[error("this needs a token: send `Authorization: Bearer <token>`, or sign in with POST /api/session")]
    Missing,
    #[error("that is not a token of this server: copy it again, whole, or make a new one")]
    Invalid,
    #[error("this token has expired: sign in again, or make a new one")]
    Expired,
    #[error("this token was revoked: sign in again, or make a new one")]
    Revoked,
    #[error("this account is deactivated: ask an administrator")]
    Deactivated,
    #[error("this token is good for one exchange only: send it to POST /api/session")]
    OneTime,
    #[error(transparent)]
    Link(#[from] LinkEnd),
    #[error("login or password is wrong: try again, or ask an administrator for a reset")]
    WrongPassword,
    #[error("{reason}")]
    InvalidValue { reason: String },
    #[error("{reason}")]
    Forbidden { reason: String },
    #[error("{reason}")]
    Limit { reason: String },
    #[error("too many attempts: wait {} seconds", retry_after_ms.div_ceil(1000))]
    TooManyAttempts { retry_after_ms: Millis },
    #[error(transparent)]
    Accounts(#[from] AccountError),
}

impl AuthError {
    pub(crate) fn forbidden(reason: impl Into<String>) -> Self {
        Self::Forbidden { reason: reason.into() }
    }

    fn invalid(reason: impl Into<String>) -> Self {
        Self::InvalidValue { reason: reason.into() }
    }
}
