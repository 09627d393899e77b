//! Accounts: people, tokens, workspaces, share links, and the record of who changed them.
//!
//! Invariants:
//! - A secret never reaches the store: tokens and share links come as SHA-256, passwords as argon2 PHC texts.
//! - Every change is recorded in the audit table in the same transaction: there is no other way to write.
//! - No scope that a kind of token may not hold can be stored or read ([`TokenKind::may_hold`]).
//! - No clock: every time is an argument.
//!
//! Rights *in* a notebook are not here: they are events of that notebook.

#[cfg(test)]
mod contract;
mod memory;
mod records;
mod rows;
mod sqlite;

use async_trait::async_trait;
use notarium_record::{Millis, NotebookId, ShareLinkId, TokenId, UserId, WorkspaceId};

use crate::StoreError;

pub use memory::MemoryAccountStore;
pub use records::*;
pub use sqlite::SqliteAccountStore;

/// The most entries that one question returns, whatever was asked.
pub const MAX_ACCOUNT_PAGE: usize = 1_000;

/// Why nothing was changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AccountError {
    #[error("there is no {what} of that id: list them to see what there is")]
    Unknown { what: &'static str },
    #[error("the {what} exists already: choose another")]
    Taken { what: &'static str },
    #[error("the last administrator stays: make somebody else administrator first")]
    LastAdmin,
    #[error("the last owner of a workspace stays: make somebody else owner first")]
    LastWorkspaceOwner,
    #[error("this one-time token was used already: ask for a new one")]
    AlreadySpent,
    /// Disk full, I/O error, damaged record. Nothing was changed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Reads and writes accounts. Every backend passes `contract::run`.
#[async_trait]
pub trait AccountStore: Send + Sync + 'static {
    /// Applies the changes in order, all or none, and records `audit` with them.
    async fn apply(&self, changes: &[AccountChange], audit: &AuditEntry) -> Result<(), AccountError>;

    async fn user(&self, id: &UserId) -> Result<Option<User>, AccountError>;
    /// By login, whatever its case.
    async fn user_by_login(&self, login: &str) -> Result<Option<User>, AccountError>;
    /// By id, after `after`.
    async fn users(&self, after: Option<&UserId>, limit: usize) -> Result<Vec<User>, AccountError>;

    /// Whose identity this is at a provider.
    async fn identity(&self, issuer: &str, subject: &str) -> Result<Option<Identity>, AccountError>;
    /// The identities of a person, oldest first.
    async fn identities(&self, user: &UserId, limit: usize) -> Result<Vec<Identity>, AccountError>;

    async fn token(&self, id: &TokenId) -> Result<Option<Token>, AccountError>;
    /// The tokens that are neither revoked nor spent, newest first.
    async fn tokens(&self, filter: &TokenFilter, limit: usize) -> Result<Vec<Token>, AccountError>;
    /// When a token was last used, coarsely. Not audited.
    async fn touch_token(&self, id: &TokenId, at: Millis) -> Result<(), AccountError>;

    /// Removes the tokens that were revoked or expired before `before`; says how many. Not audited.
    async fn forget_ended_tokens(&self, before: Millis) -> Result<u64, AccountError>;

    async fn workspace(&self, id: &WorkspaceId) -> Result<Option<Workspace>, AccountError>;
    async fn workspaces(&self, after: Option<&WorkspaceId>, limit: usize) -> Result<Vec<Workspace>, AccountError>;
    /// The workspaces of a person, by id.
    async fn memberships(&self, user: &UserId) -> Result<Vec<Membership>, AccountError>;
    /// The members of a workspace, by user.
    async fn members(&self, workspace: &WorkspaceId) -> Result<Vec<Membership>, AccountError>;
    /// Which notebooks are in which workspace, by notebook, after `after`.
    async fn placements(
        &self,
        after: Option<&NotebookId>,
        limit: usize,
    ) -> Result<Vec<(NotebookId, WorkspaceId)>, AccountError>;

    async fn share_link(&self, id: &ShareLinkId) -> Result<Option<ShareLink>, AccountError>;
    /// The links of a notebook that are not revoked, newest first.
    async fn share_links(&self, notebook: &NotebookId, limit: usize) -> Result<Vec<ShareLink>, AccountError>;

    /// The record of changes, newest first, before number `before`.
    async fn audit(&self, before: Option<u64>, limit: usize) -> Result<Vec<AuditRecord>, AccountError>;
}
