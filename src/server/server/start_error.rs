//! Reasons why a server does not start.

use std::net::SocketAddr;

use notarium_store::accounts::AccountError;
use notarium_store::{BlobError, BlobLocationError, StoreError};

use crate::auth::oidc::InvalidOidc;
use crate::http::origin::InvalidOrigin;
use crate::notices::InvalidMail;
use crate::signing::SigningKeyError;
use crate::tls::TlsError;

/// Reason why a server did not start. Each text says what to do.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Accounts(#[from] AccountError),
    #[error(transparent)]
    SigningKey(#[from] SigningKeyError),
    #[error(transparent)]
    Blobs(#[from] BlobError),
    #[error(transparent)]
    BlobLocation(#[from] BlobLocationError),
    #[error(transparent)]
    Origin(#[from] InvalidOrigin),
    #[error(transparent)]
    Oidc(#[from] InvalidOidc),
    #[error(transparent)]
    Mail(#[from] InvalidMail),
    #[error(transparent)]
    Tls(#[from] TlsError),
    #[error("several nodes need one database: add --store postgresql://…")]
    NoClusterStore,
    #[error(
        "another server uses this database: stop it, or let both be nodes of a cluster (--node-url and --cluster-secret-file on each)"
    )]
    NotAlone,
    #[error("this machine's clock and the database's are {minutes} minutes apart: set it, for instance with NTP")]
    Clock { minutes: u64 },
    #[error("cannot listen on {address}: {reason}; choose another address (--listen)")]
    Listen { address: SocketAddr, reason: std::io::Error },
}
