//! A certificate chain with its key, from two files.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use chrono::Utc;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::sign::{CertifiedKey, SingleCertAndKey};

use super::error::TlsError;
use super::provider;
use super::validity::Validity;

/// Files of a certificate chain and its key, in PEM.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CertificateFiles {
    pub certificate: PathBuf,
    pub key: PathBuf,
}

/// A certificate chain with its key, which counts now.
pub(super) struct CertificatePair {
    pub certified: CertifiedKey,
    pub validity: Validity,
}

impl CertificatePair {
    /// The same pair for every name and client.
    pub(super) fn resolver(self) -> Arc<SingleCertAndKey> {
        Arc::new(SingleCertAndKey::from(self.certified))
    }
}

impl CertificateFiles {
    pub(super) fn read(&self) -> Result<CertificatePair, TlsError> {
        let chain = certificates(&self.certificate)?;
        let path = || self.certificate.clone();
        let malformed = |reason: String| TlsError::Malformed { path: path(), reason };
        let validity = Validity::of_der(&chain[0]).ok_or_else(|| malformed("it is no certificate".to_owned()))?;
        let key = private_key(&self.key)?;
        let certified = CertifiedKey::from_der(chain, key, &provider()).map_err(|error| match error {
            rustls::Error::InconsistentKeys(_) => TlsError::Mismatch { certificate: path(), key: self.key.clone() },
            rustls::Error::InvalidCertificate(_) => malformed(error.to_string()),
            error => TlsError::Malformed { path: self.key.clone(), reason: error.to_string() },
        })?;
        if validity.from > Utc::now() {
            return Err(TlsError::NotYet { path: path(), from: validity.from });
        }
        if validity.until <= Utc::now() {
            return Err(TlsError::Expired { path: path(), until: validity.until.to_rfc3339() });
        }
        Ok(CertificatePair { certified, validity })
    }
}

/// Reads one certificate or more.
pub(super) fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let text = read(path)?;
    let read: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&text).collect();
    let found = read.map_err(|error| TlsError::Malformed { path: path.to_owned(), reason: error.to_string() })?;
    if found.is_empty() { Err(TlsError::NoCertificate { path: path.to_owned() }) } else { Ok(found) }
}

fn private_key(path: &Path) -> Result<PrivateKeyDer<'static>, TlsError> {
    let unreadable = |reason| TlsError::Unreadable { path: path.to_owned(), reason };
    let mode = std::fs::metadata(path).map_err(unreadable)?.permissions().mode() & 0o777;
    // A group may read keys, as Debian's `ssl-cert` does.
    if mode & 0o007 != 0 {
        return Err(TlsError::OpenKey { path: path.to_owned(), mode });
    }
    PrivateKeyDer::from_pem_slice(&read(path)?).map_err(|_| TlsError::NoKey { path: path.to_owned() })
}

fn read(path: &Path) -> Result<Vec<u8>, TlsError> {
    std::fs::read(path).map_err(|reason| TlsError::Unreadable { path: path.to_owned(), reason })
}
