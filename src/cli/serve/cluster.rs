//! Options of a node in a cluster: its address, the secret, and certificates between nodes.

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;

use clap::Args;
use clap::builder::FalseyValueParser;
use notarium_server::{CertificateFiles, ClusterSettings, NodeTlsFiles};

use crate::cli::Failure;
use crate::cli::serve::{address, private_bytes};

/// Shortest secret of a cluster, a little below what is asked for: bytes that look like spaces at its ends do not count.
const MIN_SECRET_BYTES: usize = 24;

/// Settings of a node.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Several nodes")]
pub struct ClusterArgs {
    /// Address at which the other nodes of a cluster reach this one, as in https://10.0.0.7:8788: with --store and
    /// --cluster-secret-file any number of servers share a database.
    #[arg(long, value_name = "URL", env = "NOTARIUM_NODE_URL", requires = "cluster_secret_file")]
    node_url: Option<String>,
    /// A file with the secret of the cluster, the same on every node and at least 32 bytes, which only its owner may read.
    #[arg(long, value_name = "FILE", env = "NOTARIUM_CLUSTER_SECRET_FILE", requires = "node_url")]
    cluster_secret_file: Option<PathBuf>,
    /// Address and port for other nodes alone, with TLS; needs --cluster-ca.
    #[arg(long, value_name = "ADDRESS", env = "NOTARIUM_NODE_LISTEN", value_parser = address, requires = "cluster_ca")]
    node_listen: Option<SocketAddr>,
    /// A file with the authority that signed the certificates of all nodes, in PEM. Nodes show them to each other, and nobody without one
    /// reaches --node-listen.
    #[arg(long, value_name = "FILE", env = "NOTARIUM_CLUSTER_CA", requires_all = ["node_listen", "node_url"])]
    cluster_ca: Option<PathBuf>,
    /// A file with this node's certificate for other nodes, for the host of --node-url. Default: --tls-cert.
    #[arg(long, value_name = "FILE", env = "NOTARIUM_CLUSTER_CERT", requires_all = ["cluster_ca", "cluster_key"])]
    cluster_cert: Option<PathBuf>,
    /// A file with the key of that certificate.
    #[arg(long, value_name = "FILE", env = "NOTARIUM_CLUSTER_KEY", requires = "cluster_cert")]
    cluster_key: Option<PathBuf>,
    /// Let nodes talk plain HTTP to each other over a network: everybody on the way can read what they forward.
    #[arg(long, env = "NOTARIUM_CLUSTER_INSECURE", value_parser = FalseyValueParser::new(), requires = "node_url", conflicts_with = "cluster_ca")]
    cluster_insecure: bool,
}

impl ClusterArgs {
    /// Files with secrets, which kernels must not read.
    pub fn secret_files(&self) -> impl Iterator<Item = PathBuf> {
        self.cluster_secret_file.clone().into_iter().chain(self.cluster_key.clone())
    }

    /// The cluster that this node is of; `None`: of none. `own`: files of the server's certificate.
    pub fn settings(
        &self,
        has_store: bool,
        has_blobs: bool,
        own: Option<CertificateFiles>,
    ) -> Result<Option<ClusterSettings>, Failure> {
        let (Some(url), Some(file)) = (&self.node_url, &self.cluster_secret_file) else { return Ok(None) };
        self.check_url(url)?;
        if !has_store {
            return Err(Failure::usage("--node-url needs --store: the nodes of a cluster share a PostgreSQL database"));
        }
        if !has_blobs {
            return Err(Failure::usage(
                "--node-url needs --blobs: the nodes of a cluster share a bucket (s3://…), or a folder that all of them see",
            ));
        }
        let secret = private_bytes(file)?;
        let secret = secret.trim_ascii();
        if secret.len() < MIN_SECRET_BYTES {
            let say = format!("{} is too short: head -c 32 /dev/urandom makes a secret", file.display());
            return Err(Failure::usage(say));
        }
        let secret: String = secret.iter().map(|byte| format!("{byte:02x}")).collect();
        let (certificates, listen) = (self.certificates(own)?, self.node_listen);
        Ok(Some(ClusterSettings { url: url.clone(), secret: secret.into(), certificates, listen }))
    }

    fn check_url(&self, url: &str) -> Result<(), Failure> {
        let form = || format!("{url} is no address of a node: write it as in https://10.0.0.7:8788");
        let (scheme, host) = url.split_once("://").ok_or_else(|| Failure::usage(form()))?;
        match scheme {
            _ if host.is_empty() => Err(Failure::usage(form())),
            "https" => Ok(()),
            "http" if self.cluster_ca.is_some() => {
                Err(Failure::usage(format!("{url} has no TLS: with --cluster-ca write https://{host}")))
            }
            "http" if self.cluster_insecure || is_loopback(host) => Ok(()),
            "http" => Err(Failure::usage(format!(
                "{url} would send what nodes forward over the network for everybody to read: give the nodes certificates (--cluster-ca, \
                 --cluster-cert, --cluster-key, --node-listen), or say --cluster-insecure if the network is yours alone"
            ))),
            _ => Err(Failure::usage(form())),
        }
    }

    fn certificates(&self, own: Option<CertificateFiles>) -> Result<Option<NodeTlsFiles>, Failure> {
        let Some(authority) = self.cluster_ca.clone() else { return Ok(None) };
        let pair = self.cluster_cert.clone().zip(self.cluster_key.clone());
        let pair = pair.map(|(certificate, key)| CertificateFiles { certificate, key }).or(own);
        let say =
            "--cluster-ca needs this node's certificate: --cluster-cert and --cluster-key, or --tls-cert and --tls-key";
        let pair = pair.ok_or_else(|| Failure::usage(say))?;
        Ok(Some(NodeTlsFiles { pair, authority }))
    }

    /// Protection of what nodes forward, in one line for people. `None`: it does not leave this machine.
    pub fn sentence(&self) -> Option<String> {
        let url = self.node_url.as_deref()?;
        if let (Some(authority), Some(listen)) = (&self.cluster_ca, self.node_listen) {
            return Some(format!("TLS on {listen} with certificates of {}", authority.display()));
        }
        if self.cluster_insecure {
            return Some(format!("plain HTTP at {url}: everybody on that network can read it (--cluster-insecure)"));
        }
        url.starts_with("https://").then(|| format!("TLS at {url}, without certificates of nodes (--cluster-ca)"))
    }
}

/// True for a host of this machine alone.
fn is_loopback(host: &str) -> bool {
    let host = host.split('/').next().unwrap_or_default();
    let name = match host.strip_prefix('[').and_then(|host| host.split_once(']')) {
        Some((address, _)) => address,
        None => host.split(':').next().unwrap_or_default(),
    };
    name == "localhost" || name.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn args() -> ClusterArgs {
        ClusterArgs {
            node_url: None,
            cluster_secret_file: None,
            node_listen: None,
            cluster_ca: None,
            cluster_cert: None,
            cluster_key: None,
            cluster_insecure: false,
        }
    }

    #[test]
    fn plain_http_stays_on_this_machine_unless_it_is_asked_for() {
        for url in [
            "http://127.0.0.1:8787",
            "http://localhost:1",
            "http://[::1]:8787",
            "http://127.0.0.9",
            "https://node1:8788",
        ] {
            assert!(args().check_url(url).is_ok(), "{url}");
        }
        for url in ["http://node1:8787", "http://10.0.0.7:8787", "http://localhost.example.org:1", "http://[fe80::1]:1"]
        {
            let refused = args().check_url(url).unwrap_err().to_string();
            assert!(refused.contains("--cluster-insecure"), "{url}: {refused}");
            assert!(ClusterArgs { cluster_insecure: true, ..args() }.check_url(url).is_ok(), "{url}");
        }
        for url in ["node1:8787", "ftp://node1", "http://", "https://", ""] {
            assert!(args().check_url(url).unwrap_err().to_string().contains("is no address"), "{url}");
        }
        let with_authority = ClusterArgs { cluster_ca: Some("ca.pem".into()), ..args() };
        assert!(
            with_authority.check_url("http://127.0.0.1:1").unwrap_err().to_string().contains("https://127.0.0.1:1")
        );
    }

    #[test]
    fn the_servers_certificate_counts_between_nodes_if_they_have_no_other() {
        let with_authority = ClusterArgs { cluster_ca: Some("ca.pem".into()), ..args() };
        assert!(with_authority.certificates(None).unwrap_err().to_string().contains("--cluster-cert"));
        let own = CertificateFiles { certificate: "own.pem".into(), key: "own.key".into() };
        assert_eq!(with_authority.certificates(Some(own.clone())).unwrap().unwrap().pair, own);
        let others =
            ClusterArgs { cluster_cert: Some("n.pem".into()), cluster_key: Some("n.key".into()), ..with_authority };
        assert_eq!(others.certificates(Some(own)).unwrap().unwrap().pair.certificate, PathBuf::from("n.pem"));
        assert_eq!(args().certificates(None).unwrap(), None);
    }
}
