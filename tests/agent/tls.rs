//! Tests of a server behind a proxy that terminates TLS, with a certificate of a private authority.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use notarium_core::ExecutionStatus;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::pki_types::PrivateKeyDer;

use crate::processes::{Fixture, Process};

/// Variable with the authority that clients trust.
const AUTHORITY_VARIABLE: &str = "SSL_CERT_FILE";

/// A proxy for `localhost`, and the file with its authority.
struct Proxy {
    listener: TcpListener,
    acceptor: TlsAcceptor,
    authority: PathBuf,
}

impl Proxy {
    async fn new(folder: &Path) -> Self {
        let mut authority = CertificateParams::new(Vec::new()).unwrap();
        authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let authority = CertifiedIssuer::self_signed(authority, KeyPair::generate().unwrap()).unwrap();
        let key = KeyPair::generate().unwrap();
        let certificate =
            CertificateParams::new(vec!["localhost".to_owned()]).unwrap().signed_by(&key, &authority).unwrap();
        let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
        let config = ServerConfig::builder().with_no_client_auth();
        let config = config.with_single_cert(vec![certificate.der().clone()], key).unwrap();
        let file = folder.join("authority.pem");
        std::fs::write(&file, authority.pem()).unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        Self { listener, acceptor: TlsAcceptor::from(Arc::new(config)), authority: file }
    }

    fn port(&self) -> u16 {
        self.listener.local_addr().unwrap().port()
    }

    /// Forwards all connections to the server, as long as the test runs.
    fn serve(self, server: String) {
        tokio::spawn(async move {
            while let Ok((stream, _)) = self.listener.accept().await {
                let (acceptor, server) = (self.acceptor.clone(), server.clone());
                tokio::spawn(async move {
                    // Clients that do not trust the certificate disconnect here.
                    let Ok(mut inside) = acceptor.accept(stream).await else { return };
                    let mut outside = TcpStream::connect(server).await.unwrap();
                    let _ = copy_bidirectional(&mut inside, &mut outside).await;
                });
            }
        });
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn agent_and_program_reach_a_server_whose_authority_they_are_told_of() {
    let folder = tempfile::tempdir_in("/tmp").unwrap();
    notarium_client::install_tls_provider();
    let proxy = Proxy::new(folder.path()).await;
    let (host, authority) = (format!("localhost:{}", proxy.port()), proxy.authority.clone());
    let fixture = Fixture::start_with(&["--allow-host", &host]).await;
    proxy.serve(fixture.address().to_owned());
    let mut ada = fixture.person().await;

    let mut agent = fixture.agent_of(&format!("wss://{host}"));
    agent.env(AUTHORITY_VARIABLE, &authority);
    let mut agent = Process::start(agent);
    // The second output is so long that it is uploaded as a blob, over HTTPS.
    for (source, text) in [("print(6 * 7)", "42\n".to_owned()), ("print('y' * 20_000)", String::new())] {
        let id = ada.run(source).await;
        let run = ada.until_over(&id).await;
        assert_eq!(run.status, ExecutionStatus::Ok, "{:?}", run.notice);
        assert!(run.text == text || run.text.len() == 20_001, "{source}");
    }
    let address = format!("https://{host}");
    let listed = fixture.owner_of(&address).arg("ls").env(AUTHORITY_VARIABLE, &authority).output().unwrap();
    assert!(listed.status.success(), "{}", String::from_utf8_lossy(&listed.stderr));
    let stranger = fixture.owner_of(&address).arg("ls").env_remove(AUTHORITY_VARIABLE).output().unwrap();
    let said = String::from_utf8_lossy(&stranger.stderr);
    assert_eq!(stranger.status.code(), Some(3), "{said}");
    assert!(said.contains("certificate") && said.contains(AUTHORITY_VARIABLE), "{said}");
    let mut stranger = fixture.agent_of(&format!("wss://{host}"));
    let errors = folder.path().join("errors");
    stranger.env_remove(AUTHORITY_VARIABLE).stderr(std::fs::File::create(&errors).unwrap());
    let mut stranger = Process::start(stranger);
    while !std::fs::read_to_string(&errors).unwrap().contains(AUTHORITY_VARIABLE) {
        // There is no event for a file that another process writes.
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    stranger.kill();
    agent.stop();
}
