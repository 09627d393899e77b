//! Reasons why a server did not start.

use std::net::SocketAddr;

use notarium_store::accounts::AccountError;
use notarium_store::{BlobError, StoreError};

use crate::auth::oidc::InvalidOidc;
use crate::http::origin::InvalidOrigin;

/// Reason why a server did not start. Each text says what to do.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Accounts(#[from] AccountError),
    #[error(transparent)]
    Blobs(#[from] BlobError),
    #[error(transparent)]
    Origin(#[from] InvalidOrigin),
    #[error(transparent)]
    Oidc(#[from] InvalidOidc),
    #[error("cannot listen on {address}: {reason}; choose another address (--listen)")]
    Listen { address: SocketAddr, reason: std::io::Error },
}
