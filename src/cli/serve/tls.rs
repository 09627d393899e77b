//! The options `--tls-cert` and `--tls-key`: TLS without a proxy.

use std::path::PathBuf;

use clap::Args;
use notarium_server::CertificateFiles;

/// Certificate and key of the server.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "TLS")]
pub struct TlsArgs {
    /// A file with the server's certificate and those of its authorities, in PEM: the server speaks TLS itself. Files that are renewed are
    /// read anew (also on SIGHUP) without a restart. Programs on this machine may still use plain HTTP.
    #[arg(long, value_name = "FILE", env = "NOTARIUM_TLS_CERT", requires = "tls_key")]
    tls_cert: Option<PathBuf>,
    /// A file with the key of that certificate, in PEM and without a password, which only its owner and group may read.
    #[arg(long, value_name = "FILE", env = "NOTARIUM_TLS_KEY", requires = "tls_cert")]
    tls_key: Option<PathBuf>,
}

impl TlsArgs {
    /// The files; `None`: plain HTTP.
    pub fn files(&self) -> Option<CertificateFiles> {
        let (certificate, key) = (self.tls_cert.clone()?, self.tls_key.clone()?);
        Some(CertificateFiles { certificate, key })
    }

    /// The key's file, which kernels must not read.
    pub fn secret_file(&self) -> Option<PathBuf> {
        self.tls_key.clone()
    }
}
