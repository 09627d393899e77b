//! Tests of certificates from files: pairs that are refused, files that change, and connections between nodes.

use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa,
    KeyPair, date_time_ymd,
};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use super::{CertificateFiles, NodeTls, NodeTlsFiles, TlsError, server_tls};
use crate::cluster::client_settings;
use crate::http::protocol::{ListenerProtocol, OpenedStream};
use crate::limits::ServerLimits;
use crate::server::scratch;

/// An authority with its certificate in a file.
pub struct Authority {
    issuer: CertifiedIssuer<'static, KeyPair>,
    pub folder: PathBuf,
    pub file: PathBuf,
}

/// Settings of a certificate.
pub fn params(name: &str) -> CertificateParams {
    let mut params = CertificateParams::new(vec![name.to_owned()]).unwrap();
    params.distinguished_name = DistinguishedName::new();
    params.distinguished_name.push(DnType::CommonName, name);
    params
}

impl Authority {
    pub fn new() -> Self {
        let mut params = params("authority");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let issuer = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
        let folder = scratch::folder();
        std::fs::create_dir_all(&folder).unwrap();
        let file = folder.join("authority.pem");
        std::fs::write(&file, issuer.pem()).unwrap();
        Self { issuer, folder, file }
    }

    /// Writes a certificate and its key, whose mode is 600.
    pub fn write(&self, file: &str, params: CertificateParams) -> CertificateFiles {
        let key = KeyPair::generate().unwrap();
        let certificate = params.signed_by(&key, &self.issuer).unwrap();
        let files = self.files(file);
        std::fs::write(&files.certificate, certificate.pem()).unwrap();
        std::fs::write(&files.key, key.serialize_pem()).unwrap();
        set_mode(&files.key, 0o600);
        files
    }

    fn files(&self, file: &str) -> CertificateFiles {
        CertificateFiles {
            certificate: self.folder.join(format!("{file}.pem")),
            key: self.folder.join(format!("{file}.key")),
        }
    }

    pub fn node(&self, name: &str) -> NodeTlsFiles {
        let file = format!("node-{}", ulid::Ulid::generate());
        NodeTlsFiles { pair: self.write(&file, params(name)), authority: self.file.clone() }
    }
}

fn set_mode(file: &Path, mode: u32) {
    std::fs::set_permissions(file, std::fs::Permissions::from_mode(mode)).unwrap();
}

fn refusal(files: &CertificateFiles) -> String {
    server_tls(files.clone()).err().map(|error| error.to_string()).unwrap_or_default()
}

#[test]
fn files_that_cannot_be_used_are_refused_with_a_sentence() {
    let authority = Authority::new();
    let good = authority.write("good", params("localhost"));
    assert_eq!(refusal(&good), "");
    let other = authority.write("other", params("localhost"));
    let mixed = CertificateFiles { key: other.key.clone(), ..good.clone() };
    assert!(refusal(&mixed).contains("other.key is not that of the certificate"), "{}", refusal(&mixed));
    let swapped = CertificateFiles { certificate: good.key.clone(), key: good.certificate.clone() };
    assert!(refusal(&swapped).contains("has no certificate in PEM"), "{}", refusal(&swapped));
    let missing = CertificateFiles { certificate: "/nowhere/cert.pem".into(), ..good.clone() };
    assert!(refusal(&missing).contains("/nowhere/cert.pem cannot be read"), "{}", refusal(&missing));
    set_mode(&good.key, 0o644);
    assert!(refusal(&good).contains("mode 644"), "{}", refusal(&good));
    set_mode(&good.key, 0o640);
    assert_eq!(refusal(&good), "", "a group may read it");
    std::fs::write(&good.key, "-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n")
        .unwrap();
    assert!(refusal(&good).contains("without a password"), "{}", refusal(&good));
    std::fs::write(&other.certificate, "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n").unwrap();
    assert!(refusal(&other).contains("is damaged"), "{}", refusal(&other));
}

#[test]
fn a_certificate_counts_between_its_two_days() {
    let authority = Authority::new();
    let mut expired = params("localhost");
    (expired.not_before, expired.not_after) = (date_time_ymd(2020, 1, 1), date_time_ymd(2021, 1, 1));
    let expired = refusal(&authority.write("expired", expired));
    assert!(expired.contains("expired on 2021-01-01"), "{expired}");
    let mut early = params("localhost");
    (early.not_before, early.not_after) = (date_time_ymd(2090, 1, 1), date_time_ymd(2091, 1, 1));
    let early = refusal(&authority.write("early", early));
    assert!(early.contains("valid from 2090-01-01") && early.contains("clock"), "{early}");
}

#[test]
fn new_files_are_used_and_bad_ones_leave_the_old_certificate() {
    let authority = Authority::new();
    let files = authority.write("own", params("localhost"));
    let tls = server_tls(files.clone()).unwrap();
    let first = tls.current();
    tls.reload_if_changed();
    assert!(Arc::ptr_eq(&first, &tls.current()) && tls.problems().is_empty(), "nothing has changed");

    std::fs::write(&files.key, KeyPair::generate().unwrap().serialize_pem()).unwrap();
    tls.reload_if_changed();
    assert!(Arc::ptr_eq(&first, &tls.current()));
    let problems = tls.problems();
    assert!(
        problems.len() == 1 && problems[0].contains("was not renewed") && !problems[0].contains("own.key"),
        "{problems:?}"
    );

    authority.write("own", params("localhost"));
    tls.reload_if_changed();
    assert!(!Arc::ptr_eq(&first, &tls.current()) && tls.problems().is_empty());
    let second = tls.current();
    std::fs::remove_file(&files.certificate).unwrap();
    tls.reload();
    assert!(
        Arc::ptr_eq(&second, &tls.current()) && tls.problems()[0].contains("was not renewed"),
        "{:?}",
        tls.problems()
    );
}

#[test]
fn a_new_certificate_that_does_not_count_yet_is_used_as_soon_as_it_does() {
    let authority = Authority::new();
    let tls = server_tls(authority.write("own", params("localhost"))).unwrap();
    let first = tls.current();
    let mut early = params("localhost");
    early.not_before = date_time_ymd(1970, 1, 1) + std::time::Duration::from_secs(now_s() + 2);
    authority.write("own", early);
    tls.reload_if_changed();
    assert!(Arc::ptr_eq(&first, &tls.current()) && tls.problems()[0].contains("was not renewed"));
    while Arc::ptr_eq(&first, &tls.current()) {
        std::thread::yield_now();
        tls.reload_if_changed();
    }
    assert_eq!(tls.problems(), Vec::<String>::new());
}

#[test]
fn a_certificate_that_ends_soon_is_a_problem() {
    let authority = Authority::new();
    let mut soon = params("localhost");
    // The dates of rcgen are times of its own library.
    soon.not_after = date_time_ymd(1970, 1, 1) + std::time::Duration::from_secs(now_s() + 24 * 60 * 60);
    let tls = server_tls(authority.write("soon", soon)).unwrap();
    assert!(tls.problems()[0].contains("expires on"), "{:?}", tls.problems());
}

fn now_s() -> u64 {
    std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs()
}

fn open(files: NodeTlsFiles, host: &str) -> Result<Arc<NodeTls>, TlsError> {
    files.open(host, client_settings)
}

#[test]
fn a_nodes_certificate_is_checked_as_the_other_nodes_will() {
    let authority = Authority::new();
    let refused =
        |files: NodeTlsFiles, host: &str| open(files, host).err().map(|error| error.to_string()).unwrap_or_default();
    assert_eq!(refused(authority.node("node1"), "node1"), "");
    assert_eq!(refused(authority.node("127.0.0.2"), "127.0.0.2"), "");
    let other_name = refused(authority.node("node1"), "node2");
    assert!(other_name.contains("is not for node2"), "{other_name}");
    let other_authority = NodeTlsFiles { authority: Authority::new().file, ..authority.node("node1") };
    let other_authority = refused(other_authority, "node1");
    assert!(other_authority.contains("did not sign"), "{other_authority}");
    let mut server_alone = params("node1");
    server_alone.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    let server_alone = NodeTlsFiles { pair: authority.write("alone", server_alone), ..authority.node("node1") };
    let server_alone = refused(server_alone, "node1");
    assert!(server_alone.contains("clientAuth"), "{server_alone}");
    let no_name = refused(authority.node("node1"), "node 1");
    assert!(no_name.contains("--node-url"), "{no_name}");
}

/// Accepts one connection between nodes and answers with `ok`.
async fn listen(tls: Arc<NodeTls>) -> (SocketAddr, tokio::task::JoinHandle<bool>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let accepted = tokio::spawn(async move {
        let (stream, peer) = listener.accept().await.unwrap();
        let within = ServerLimits::default().tls_handshake_timeout;
        let Some(OpenedStream::Tls(mut stream)) = ListenerProtocol::Nodes(tls).open(stream, peer, within).await else {
            return false;
        };
        stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok").await.unwrap();
        stream.shutdown().await.unwrap();
        let _ = stream.read_to_end(&mut Vec::new()).await;
        true
    });
    (address, accepted)
}

async fn is_let_in(client: &reqwest::Client, server: &Arc<NodeTls>) -> bool {
    let (address, accepted) = listen(server.clone()).await;
    let answer = client.get(format!("https://{address}/")).send().await;
    accepted.await.unwrap() && answer.is_ok()
}

#[tokio::test]
async fn only_nodes_with_a_certificate_of_the_same_authority_are_let_in() {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let (ours, theirs) = (Authority::new(), Authority::new());
    let node = open(ours.node("127.0.0.1"), "127.0.0.1").unwrap();
    let same = open(ours.node("other.example.org"), "other.example.org").unwrap();
    assert!(is_let_in(&same.current().http, &node).await);

    let stranger = open(theirs.node("127.0.0.1"), "127.0.0.1").unwrap();
    assert!(!is_let_in(&stranger.current().http, &node).await, "it does not know our authority");
    let authority = reqwest::Certificate::from_pem(&std::fs::read(&ours.file).unwrap()).unwrap();
    let trusting = |settings: reqwest::ClientBuilder| settings.tls_certs_only([authority.clone()]).build().unwrap();
    assert!(!is_let_in(&trusting(client_settings()), &node).await, "it shows no certificate");
    // The stranger's certificate, with trust in our authority.
    let mixed = ours.folder.join("both.pem");
    std::fs::write(&mixed, [std::fs::read(&ours.file).unwrap(), std::fs::read(&theirs.file).unwrap()].concat())
        .unwrap();
    let forger = open(NodeTlsFiles { authority: mixed.clone(), ..theirs.node("127.0.0.1") }, "127.0.0.1").unwrap();
    assert!(!is_let_in(&forger.current().http, &node).await, "another authority signed its certificate");

    let plain = async {
        let (address, accepted) = listen(node.clone()).await;
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(b"GET / HTTP/1.1\r\nHost: node\r\n\r\n").await.unwrap();
        let _ = stream.read_to_end(&mut Vec::new()).await;
        accepted.await.unwrap()
    };
    assert!(!plain.await, "plain HTTP is refused, also from this machine");
}

#[tokio::test]
async fn nodes_change_their_authority_without_a_restart() {
    let (old, new) = (Authority::new(), Authority::new());
    let files = old.node("127.0.0.1");
    let node = open(files.clone(), "127.0.0.1").unwrap();
    let both = [std::fs::read(&old.file).unwrap(), std::fs::read(&new.file).unwrap()].concat();
    let newcomer = open(new.node("127.0.0.1"), "127.0.0.1").unwrap();
    assert!(!is_let_in(&newcomer.current().http, &node).await);
    std::fs::write(&files.authority, both).unwrap();
    node.reload_if_changed();
    assert!(node.problems().is_empty(), "{:?}", node.problems());
    let newcomers = new.folder.join("both.pem");
    std::fs::copy(&files.authority, &newcomers).unwrap();
    let newcomer = open(NodeTlsFiles { authority: newcomers, ..new.node("127.0.0.1") }, "127.0.0.1").unwrap();
    assert!(is_let_in(&newcomer.current().http, &node).await);
    assert!(is_let_in(&node.current().http, &newcomer).await);
}
