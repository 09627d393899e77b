//! Store of accounts: people, tokens, workspaces, share links, and the audit of changes.
//!
//! Invariants:
//! - A secret never reaches the store: tokens and share links are stored as SHA-256, passwords as argon2 PHC texts.
//! - Every change writes an audit entry in the same transaction: there is no other way to write.
//! - A token with a scope that its kind may not hold can neither be stored nor read ([`TokenKind::may_hold`]).
//! - No clock: every time is an argument.
//!
//! Rights *in* a notebook are not here: they are events of that notebook.

mod records;
mod rows;
mod sqlite;
#[cfg(test)]
mod tests;

use crate::StoreError;

pub use records::*;
pub use sqlite::AccountStore;

/// Maximum number of entries that one query returns, whatever its limit.
pub const MAX_ACCOUNT_PAGE: usize = 1_000;

/// Reason for a refused change.
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
