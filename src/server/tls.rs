//! TLS: certificates and keys from files, for the server's address and between nodes.
//!
//! A file that changes is read anew, without a restart and without dropping a connection. If the new files cannot be used, the
//! old certificate stays, and `/readyz` names the reason.

mod between_nodes;
mod error;
mod pair;
mod reloaded;
#[cfg(test)]
pub mod tests;
mod validity;

use std::sync::Arc;

use chrono::{DateTime, Utc};
use rustls::ServerConfig;
use tokio_util::sync::CancellationToken;

pub use between_nodes::{NodeTls, NodeTlsFiles};
pub use error::TlsError;
pub use pair::CertificateFiles;
pub use reloaded::Reloaded;

/// Protocols that a client may choose: sockets need HTTP/1.1.
const PROTOCOLS: [&[u8]; 1] = [b"http/1.1"];

/// Configuration of the server's own address, made anew when its files change.
pub type ServerTls = Reloaded<ServerConfig>;

/// Reads certificate and key of the server's own address.
pub fn server_tls(files: CertificateFiles) -> Result<Arc<ServerTls>, TlsError> {
    let watched = [files.certificate.clone(), files.key.clone()];
    let read = move || {
        let pair = files.read()?;
        let validity = pair.validity.clone();
        let config = ServerConfig::builder_with_provider(provider());
        let config = config.with_safe_default_protocol_versions().map_err(TlsError::Setup)?;
        let mut config = config.with_no_client_auth().with_cert_resolver(pair.resolver());
        config.alpn_protocols = PROTOCOLS.map(<[u8]>::to_vec).into();
        Ok((config, validity))
    };
    Ok(Arc::new(Reloaded::new("the TLS certificate", watched, read)?))
}

fn provider() -> Arc<rustls::crypto::CryptoProvider> {
    Arc::new(rustls::crypto::ring::default_provider())
}

/// Everything of a server that is read from files of certificates.
#[derive(Clone, Default)]
pub struct Certificates {
    pub server: Option<Arc<ServerTls>>,
    pub nodes: Option<Arc<NodeTls>>,
}

impl Certificates {
    /// Sentences about files that could not be read anew, and certificates that have expired or soon will.
    pub fn problems(&self) -> Vec<String> {
        let server = self.server.iter().flat_map(|tls| tls.problems());
        server.chain(self.nodes.iter().flat_map(|tls| tls.problems())).collect()
    }

    /// Names and ends of the certificates.
    pub fn ends(&self) -> Vec<(&'static str, DateTime<Utc>)> {
        let server = self.server.iter().map(|tls| ("server", tls.validity().until));
        server.chain(self.nodes.iter().map(|tls| ("node", tls.validity().until))).collect()
    }

    /// Reads the files anew when they change, and on SIGHUP, until `stopping`.
    pub async fn follow(self, stopping: CancellationToken) {
        let Self { server, nodes } = self;
        let server = async {
            if let Some(tls) = server {
                tls.follow(stopping.clone()).await;
            }
        };
        let nodes = async {
            if let Some(tls) = nodes {
                tls.follow(stopping.clone()).await;
            }
        };
        tokio::join!(server, nodes);
    }
}
