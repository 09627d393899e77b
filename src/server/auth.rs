//! Authentication: tokens, sessions, and their rights.
//!
//! Invariants:
//! - Authentication is a bearer token in the `Authorization` header or in the socket's first frame. There are no
//!   cookies, so a foreign page has nothing to ride on, and no token is ever read from a URL.
//! - A browser proves a key that no script can read, and stores no token: `browser_keys`. A printed link carries a
//!   token that is good once.
//! - Only hashes of secrets are stored. A presented secret is hashed and the hashes are compared, so the time of the
//!   comparison reveals nothing.
//! - `confirm` is held by sessions, and by API tokens of a person who asked for it by name; never by agents or guests.
//! - A connection learns immediately when its token ends: [`Accounts::follow`].
//!
//! An [`Authenticated`] caller has its rights in each notebook. The [`TokenText`] `nt_<kind>_<id>_<secret>` is
//! recognisable by people and by secret scanners.

pub mod account_status;
mod accounts;
mod browser_keys;
mod browser_links;
mod elsewhere;
mod follow;
mod forwarded;
mod grants;
mod group_rights;
mod identities;
mod invitation_list;
mod invitations;
mod kernel_passes;
pub mod oidc;
mod passwords;
mod sessions;
#[cfg(test)]
mod tests;
mod workspace_names;

pub use accounts::{Accounts, AuthOptions, OneTimeToken};
#[cfg(feature = "postgres")]
pub use browser_keys::reset_in_store;
pub use browser_keys::{KeyProof, OneTimeUse, hash_of_key, reset_in, signed_by};
pub use browser_links::LinkEnd;
pub use follow::{Follow, FollowedToken, Revocation};
pub use forwarded::ForwardedCaller;
pub use grants::{NewAgent, NewApiToken, NewShareLink, NewToken};
pub use identities::ProvedIdentity;
pub use invitations::{InvitationError, Invited, InvitedList};
pub use kernel_passes::{KernelPass, KernelPasses};
pub use passwords::PasswordCost;
pub use sessions::{ClientInfo, SignedIn, issue_owner_token, issue_owner_token_in};

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use dashmap::DashMap;
use notarium_core::{
    Actor, Authority, Door, Means, Millis, NotebookId, Rejection, RejectionCode, RejectionDetails, Role, Scope, Scopes,
    TokenId, UserId, WorkspaceId, lacks_scope,
};
use notarium_store::StoreError;
use notarium_store::accounts::{AccountError, Coverage, TokenKind};
use sha2::{Digest, Sha256};

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
    /// Seconds after which a retry may succeed.
    pub(crate) fn retry_after_seconds(&self) -> Option<u64> {
        match self {
            Self::TooManyAttempts { retry_after_ms } => Some(retry_after_ms.div_ceil(1000)),
            _ => None,
        }
    }

    pub(crate) fn forbidden(reason: impl Into<String>) -> Self {
        Self::Forbidden { reason: reason.into() }
    }

    fn invalid(reason: impl Into<String>) -> Self {
        Self::InvalidValue { reason: reason.into() }
    }
}

/// Workspace of each notebook. Shared by all connections, and kept current.
#[derive(Debug, Default)]
pub struct Placements(DashMap<NotebookId, WorkspaceId>);

impl Placements {
    pub fn workspace_of(&self, notebook: &NotebookId) -> Option<WorkspaceId> {
        self.0.get(notebook).map(|workspace| workspace.clone())
    }

    fn place(&self, notebook: &NotebookId, workspace: Option<&WorkspaceId>) {
        match workspace {
            Some(workspace) => drop(self.0.insert(notebook.clone(), workspace.clone())),
            None => drop(self.0.remove(notebook)),
        }
    }
}

/// An authenticated caller. Valid until [`Accounts::follow`] reports a change.
#[derive(Debug, Clone)]
pub struct Authenticated {
    pub actor: Actor,
    /// Display name.
    pub name: String,
    pub kind: TokenKind,
    pub token_id: TokenId,
    /// The owner's label of the session or token.
    pub label: String,
    /// Entry point: page, terminal, REST or socket.
    pub door: Door,
    pub scopes: Scopes,
    /// Notebooks that the token covers.
    pub coverage: Coverage,
    /// Role in each of the person's workspaces.
    pub workspaces: BTreeMap<WorkspaceId, Role>,
    pub expires_at: Option<Millis>,
    /// True for a session of a few minutes, for which the password was asked.
    is_fresh: bool,
    /// True if scopes are withheld that a fresh sign-in has.
    pub asks_again: bool,
    /// A pass of code in a kernel (`kernel_passes`): the accounts have no record of its token.
    is_pass: bool,
    placements: Arc<Placements>,
}

impl Authenticated {
    /// Rights that the token adds to the notebook's own access list. Outside its coverage: none.
    ///
    /// A share link's role is in the notebook's access list, as an event. Its token only opens that one notebook.
    pub fn authority_for(&self, notebook: &NotebookId) -> Authority {
        let workspace = self.placements.workspace_of(notebook);
        if !self.covers(notebook, workspace.as_ref()) {
            return Authority::default();
        }
        let scopes = self.scopes.clone();
        match &self.actor {
            Actor::Agent { .. } => Authority { ambient_role: Some(Role::Agent), scopes, ..Authority::default() },
            Actor::User { .. } | Actor::Assistant { .. } => {
                let ambient_role = workspace.and_then(|workspace| self.workspaces.get(&workspace).copied());
                let workspaces = self.workspaces.keys().cloned().collect();
                let is_bound = self.coverage != Coverage::All;
                let token = (!self.is_pass).then(|| self.token_id.clone());
                Authority {
                    ambient_role,
                    scopes,
                    workspaces,
                    is_bound,
                    reactor: None,
                    means: Some(self.means()),
                    token,
                }
            }
            _ => Authority { scopes, means: Some(self.means()), ..Authority::default() },
        }
    }

    fn means(&self) -> Means {
        Means { door: self.door.into(), credential: self.kind.as_str().to_owned(), label: self.label.clone() }
    }

    /// True for runtime agents.
    pub fn is_agent(&self) -> bool {
        matches!(self.actor, Actor::Agent { .. })
    }

    /// True if the token covers the notebook. Otherwise the notebook is reported as unknown.
    pub fn may_see(&self, notebook: &NotebookId) -> bool {
        self.covers(notebook, self.placements.workspace_of(notebook).as_ref())
    }

    /// The workspace that the notebook is in.
    pub fn workspace_of(&self, notebook: &NotebookId) -> Option<WorkspaceId> {
        self.placements.workspace_of(notebook)
    }

    fn covers(&self, notebook: &NotebookId, workspace: Option<&WorkspaceId>) -> bool {
        match &self.coverage {
            Coverage::All => true,
            Coverage::Notebooks(notebooks) => notebooks.contains(notebook),
            Coverage::Workspace(covered) => workspace == Some(covered),
        }
    }

    fn is_bound_to_a_workspace(&self) -> bool {
        matches!(self.coverage, Coverage::Workspace(_))
    }

    pub fn has(&self, scope: Scope) -> bool {
        self.scopes.contains(&scope)
    }

    /// Refusal of an operation that needs this scope.
    pub fn lacks(&self, scope: Scope) -> Rejection {
        if !self.asks_again {
            return lacks_scope(scope);
        }
        let message = "this asks for your password again: sign in afresh (POST /api/session with \"fresh\"), and use that session \
                       within its 15 minutes";
        Rejection::new(RejectionCode::Forbidden, message).with(RejectionDetails::FreshSignIn { scope })
    }

    /// The person, also of an assistant.
    pub fn acts_for(&self) -> Option<&UserId> {
        match &self.actor {
            Actor::User { id } | Actor::Assistant { for_user: id, .. } => Some(id),
            _ => None,
        }
    }

    /// The person, for a person or a program that acts for one.
    pub fn user_id(&self) -> Option<&UserId> {
        match &self.actor {
            Actor::User { id } => Some(id),
            _ => None,
        }
    }
}

const SECRET_BYTES: usize = 32;
const MAX_TOKEN_CHARS: usize = 200;

/// A token as its holder has it. `Debug` and logs never show the secret.
#[derive(Clone, PartialEq, Eq)]
pub struct TokenText {
    pub kind: TokenKind,
    pub id: TokenId,
    /// 256 bits, in hex.
    secret: String,
}

impl TokenText {
    /// A new secret from the system's randomness.
    pub fn generate(kind: TokenKind, id: TokenId) -> Result<Self, AccountError> {
        let mut secret = [0; SECRET_BYTES];
        getrandom::fill(&mut secret).map_err(|error| {
            AccountError::Store(StoreError::Unavailable { reason: format!("no randomness: {error}") })
        })?;
        Ok(Self { kind, id, secret: hex::encode(secret) })
    }

    /// Parses a token; `None` for a text of any other form.
    pub fn parse(text: &str) -> Option<Self> {
        if text.len() > MAX_TOKEN_CHARS {
            return None;
        }
        let (kind, rest) = text.strip_prefix("nt_")?.split_once('_')?;
        let (id, secret) = rest.split_once('_')?;
        let is_secret = secret.len() == 2 * SECRET_BYTES && secret.bytes().all(|byte| byte.is_ascii_hexdigit());
        let (kind, id) = (TokenKind::parse(kind)?, TokenId::new(id).ok()?);
        is_secret.then(|| Self { kind, id, secret: secret.to_ascii_lowercase() })
    }

    /// Checks for a whole token among the words of a text. Names that only contain `nt_` (`patient_data`) do not match.
    pub fn stands_in(text: &str) -> bool {
        let is_separator = |character: char| !(character.is_alphanumeric() || matches!(character, '_' | '-'));
        text.split(is_separator).any(|word| Self::parse(word).is_some())
    }

    /// Hash of the secret, as the store keeps it.
    pub fn secret_hash(&self) -> [u8; 32] {
        Sha256::digest(self.secret.as_bytes()).into()
    }

    /// The whole token: for its holder, once.
    pub fn reveal(&self) -> String {
        format!("nt_{}_{}_{}", self.kind.as_str(), self.id, self.secret)
    }
}

impl fmt::Debug for TokenText {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "nt_{}_{}_…", self.kind.as_str(), self.id)
    }
}

/// The token of an `Authorization: Bearer <token>` header.
pub fn bearer(headers: &http::HeaderMap) -> Option<&str> {
    let value = headers.get(http::header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, token) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

const MAX_NAME_CHARS: usize = 100;
const MAX_LOGIN_CHARS: usize = 100;
const MIN_PASSWORD_CHARS: usize = 10;
/// Argon2 would accept more, but requests of megabytes are refused.
const MAX_PASSWORD_BYTES: usize = 1_000;

fn has_controls(text: &str) -> bool {
    text.chars().any(char::is_control)
}

/// A name or label for people to read: trimmed, 1 to 100 characters.
fn name(text: &str) -> Result<String, AuthError> {
    let text = text.trim();
    if text.is_empty() || text.chars().count() > MAX_NAME_CHARS || has_controls(text) {
        return Err(AuthError::invalid(format!("a name has 1 to {MAX_NAME_CHARS} characters on one line")));
    }
    Ok(text.to_owned())
}

/// A name as [`name`] checks it, or empty.
fn label(text: &str) -> Result<String, AuthError> {
    if text.trim().is_empty() { Ok(String::new()) } else { name(text) }
}

/// A login: lower case, 1 to 100 characters without spaces.
fn login(text: &str) -> Result<String, AuthError> {
    let text = text.trim().to_lowercase();
    let is_odd = |character: char| character.is_whitespace() || character.is_control();
    if text.is_empty() || text.chars().count() > MAX_LOGIN_CHARS || text.contains(is_odd) {
        return Err(AuthError::invalid(format!("a login has 1 to {MAX_LOGIN_CHARS} characters without spaces")));
    }
    Ok(text)
}

fn check_password(password: &str) -> Result<(), AuthError> {
    if password.chars().count() < MIN_PASSWORD_CHARS || password.len() > MAX_PASSWORD_BYTES {
        let reason =
            format!("a password has at least {MIN_PASSWORD_CHARS} characters and at most {MAX_PASSWORD_BYTES} bytes");
        return Err(AuthError::invalid(reason));
    }
    Ok(())
}
