//! TLS between the nodes of a cluster: each end shows a certificate of the cluster's own authority.

use std::path::PathBuf;
use std::sync::Arc;

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::ServerCertVerifier;
use rustls::pki_types::{ServerName, UnixTime};
use rustls::server::WebPkiClientVerifier;
use rustls::{ClientConfig, RootCertStore, ServerConfig};

use super::error::TlsError;
use super::pair::{CertificateFiles, CertificatePair, certificates};
use super::reloaded::Reloaded;
use super::{PROTOCOLS, provider};

/// Files for TLS between nodes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeTlsFiles {
    /// The node's own certificate and key.
    pub pair: CertificateFiles,
    /// Certificates of the authority that signs the nodes' certificates. During a change of the authority: of both.
    pub authority: PathBuf,
}

/// Both ends of connections between nodes.
pub struct NodeConfigs {
    pub server: Arc<ServerConfig>,
    pub client: Arc<ClientConfig>,
    /// Follows no redirects, and shows the node's certificate.
    pub http: reqwest::Client,
}

/// Configurations between nodes, made anew when their files change.
pub type NodeTls = Reloaded<NodeConfigs>;

impl NodeTlsFiles {
    /// Reads the files. `host`: name of this node in its address, for which its certificate must be.
    /// `http`: settings of the HTTP client.
    pub fn open(
        self,
        host: &str,
        http: impl Fn() -> reqwest::ClientBuilder + Send + Sync + 'static,
    ) -> Result<Arc<NodeTls>, TlsError> {
        let watched = [self.pair.certificate.clone(), self.pair.key.clone(), self.authority.clone()];
        let host = host.to_owned();
        let read = move || {
            let pair = self.pair.read()?;
            let validity = pair.validity.clone();
            Ok((self.configs(pair, &host, http())?, validity))
        };
        Ok(Arc::new(Reloaded::new("the node's certificate", watched, read)?))
    }

    fn configs(
        &self,
        pair: CertificatePair,
        host: &str,
        http: reqwest::ClientBuilder,
    ) -> Result<NodeConfigs, TlsError> {
        let roots = Arc::new(self.roots()?);
        self.check(&pair, &roots, host)?;
        let own = pair.resolver();
        let clients = WebPkiClientVerifier::builder_with_provider(roots.clone(), provider());
        let clients = clients.build().map_err(|error| self.unusable_authority(error.to_string()))?;
        let versions = [&rustls::version::TLS13];
        let server = ServerConfig::builder_with_provider(provider()).with_protocol_versions(&versions);
        let mut server =
            server.map_err(TlsError::Setup)?.with_client_cert_verifier(clients).with_cert_resolver(own.clone());
        server.alpn_protocols = PROTOCOLS.map(<[u8]>::to_vec).into();
        let client = ClientConfig::builder_with_provider(provider()).with_protocol_versions(&versions);
        let mut client = client.map_err(TlsError::Setup)?.with_root_certificates(roots).with_client_cert_resolver(own);
        client.alpn_protocols = PROTOCOLS.map(<[u8]>::to_vec).into();
        let failed = |error: reqwest::Error| TlsError::Setup(rustls::Error::General(error.to_string()));
        let http = http.tls_backend_preconfigured(client.clone()).build().map_err(failed)?;
        Ok(NodeConfigs { server: Arc::new(server), client: Arc::new(client), http })
    }

    fn roots(&self) -> Result<RootCertStore, TlsError> {
        let mut roots = RootCertStore::empty();
        for certificate in certificates(&self.authority)? {
            roots.add(certificate).map_err(|error| self.unusable_authority(error.to_string()))?;
        }
        Ok(roots)
    }

    fn unusable_authority(&self, reason: String) -> TlsError {
        TlsError::Malformed { path: self.authority.clone(), reason }
    }

    /// Checks the node's certificate as the other nodes will, at both ends.
    fn check(&self, pair: &CertificatePair, roots: &Arc<RootCertStore>, host: &str) -> Result<(), TlsError> {
        let refused = |error| TlsError::of_node(error, &self.pair.certificate, &self.authority, host);
        let name =
            ServerName::try_from(host.to_owned()).map_err(|_| TlsError::InvalidName { name: host.to_owned() })?;
        let unusable = |error: rustls::server::VerifierBuilderError| self.unusable_authority(error.to_string());
        let [servers, clients] = [roots.clone(), roots.clone()];
        let servers = WebPkiServerVerifier::builder_with_provider(servers, provider()).build().map_err(unusable)?;
        let clients = WebPkiClientVerifier::builder_with_provider(clients, provider()).build().map_err(unusable)?;
        let Some((own, others)) = pair.certified.cert.split_first() else { return Ok(()) };
        let now = UnixTime::now();
        servers.verify_server_cert(own, others, &name, &[], now).map_err(refused)?;
        clients.verify_client_cert(own, others, now).map_err(refused)?;
        Ok(())
    }
}
