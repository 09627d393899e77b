//! Errors of certificates and keys. Each says what to do.

use std::path::{Path, PathBuf};

use chrono::{DateTime, Utc};
use rustls::CertificateError;

/// Reason why files of a certificate cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    #[error("{} cannot be read: {reason}; let the server's account read it", .path.display())]
    Unreadable { path: PathBuf, reason: std::io::Error },
    #[error("the key {} can be read by every account (mode {mode:o}): run chmod 640 {}", .path.display(), .path.display())]
    OpenKey { path: PathBuf, mode: u32 },
    #[error(
        "{} has no certificate in PEM (-----BEGIN CERTIFICATE-----): it must hold the server's, then those of its authorities",
        .path.display()
    )]
    NoCertificate { path: PathBuf },
    #[error("{} has no private key in PEM (-----BEGIN PRIVATE KEY-----) without a password", .path.display())]
    NoKey { path: PathBuf },
    #[error("{} is damaged: {reason}", .path.display())]
    Malformed { path: PathBuf, reason: String },
    #[error(
        "the key {} is not that of the certificate {}: name the files of one pair, the server's certificate first",
        .key.display(), .certificate.display()
    )]
    Mismatch { certificate: PathBuf, key: PathBuf },
    #[error("the certificate {} expired on {until}: renew it", .path.display())]
    Expired { path: PathBuf, until: String },
    #[error("the certificate {} is valid from {from} on: is this machine's clock right?", .path.display())]
    NotYet { path: PathBuf, from: DateTime<Utc> },
    #[error("the authority {} did not sign the node's certificate {}: make one with it", .authority.display(), .path.display())]
    OtherAuthority { path: PathBuf, authority: PathBuf },
    #[error(
        "the node's certificate {} is not for {name}, the host of --node-url: it needs that name as a subject alternative name",
        .path.display()
    )]
    OtherName { path: PathBuf, name: String },
    #[error(
        "the node's certificate {} is not for both ends of a connection: it needs the extended key usages serverAuth and clientAuth, or none",
        .path.display()
    )]
    OtherPurpose { path: PathBuf },
    #[error("{name} cannot be a name in a certificate: --node-url needs a host name or an address")]
    InvalidName { name: String },
    #[error("TLS cannot be set up: {0}")]
    Setup(#[source] rustls::Error),
}

impl TlsError {
    /// Reason why the authority's certificates do not vouch for a node's.
    pub(super) fn of_node(error: rustls::Error, path: &Path, authority: &Path, name: &str) -> Self {
        let path = path.to_owned();
        match error {
            rustls::Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            ) => Self::OtherName { path, name: name.to_owned() },
            rustls::Error::InvalidCertificate(
                CertificateError::InvalidPurpose | CertificateError::InvalidPurposeContext { .. },
            ) => Self::OtherPurpose { path },
            rustls::Error::InvalidCertificate(CertificateError::UnknownIssuer | CertificateError::BadSignature) => {
                Self::OtherAuthority { path, authority: authority.to_owned() }
            }
            error => Self::Malformed { path, reason: error.to_string() },
        }
    }
}
