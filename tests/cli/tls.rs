//! Tests of a server that speaks TLS itself, with clients in other languages.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair, date_time_ymd};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::process::{Child, Command};
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

use super::support::{Lines, World};

/// A connection by Python's own library; prints the protocol that was chosen and the status.
const PYTHON_CLIENT: &str = "
import http.client, ssl, sys
context = ssl.create_default_context(cafile=sys.argv[1])
context.set_alpn_protocols(['h2', 'http/1.1'])
connection = http.client.HTTPSConnection('localhost', int(sys.argv[2]), context=context)
connection.request('GET', '/healthz')
print(connection.sock.selected_alpn_protocol(), connection.getresponse().status)
";

/// An authority, and the files of a server's certificate.
struct Files {
    authority: CertifiedIssuer<'static, KeyPair>,
    folder: PathBuf,
}

impl Files {
    fn new(folder: &Path) -> Self {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        // With the same name as a certificate, OpenSSL takes that one for self-signed.
        params.distinguished_name.push(DnType::CommonName, "authority of a test");
        let authority = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
        std::fs::write(folder.join("authority.pem"), authority.pem()).unwrap();
        let files = Self { authority, folder: folder.to_owned() };
        files.renew(params_of_localhost());
        files
    }

    /// Writes a certificate with a new key; returns it.
    fn renew(&self, params: CertificateParams) -> CertificateDer<'static> {
        let key = KeyPair::generate().unwrap();
        let certificate = params.signed_by(&key, &self.authority).unwrap();
        self.write("server.key", &key.serialize_pem());
        self.write("server.pem", &certificate.pem());
        certificate.der().clone()
    }

    fn write(&self, name: &str, text: &str) {
        use std::os::unix::fs::OpenOptionsExt;
        let mut options = std::fs::OpenOptions::new();
        let mut file =
            options.write(true).create(true).truncate(true).mode(0o600).open(self.folder.join(name)).unwrap();
        std::io::Write::write_all(&mut file, text.as_bytes()).unwrap();
    }

    async fn connect(&self, port: u16) -> TlsStream<TcpStream> {
        let mut roots = RootCertStore::empty();
        roots.add(self.authority.der().clone()).unwrap();
        let config = ClientConfig::builder().with_root_certificates(roots).with_no_client_auth();
        let stream = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
        let name = ServerName::try_from("localhost").unwrap();
        TlsConnector::from(Arc::new(config)).connect(name, stream).await.unwrap()
    }
}

fn params_of_localhost() -> CertificateParams {
    CertificateParams::new(vec!["localhost".to_owned()]).unwrap()
}

const OPTIONS: [&str; 8] = [
    "serve",
    "--data",
    "data",
    "--listen",
    "127.0.0.1:0",
    "--tls-cert=server.pem",
    "--tls-key=server.key",
    "--door=jupyter",
];

/// Starts a server with TLS; returns its process, later lines and port.
async fn serve(world: &World) -> (Child, Lines<tokio::process::ChildStdout>, u16) {
    let mut process = world.spawn(&OPTIONS);
    let mut lines = Lines::of(process.stdout.take().unwrap());
    let ready = lines.until(" on https://127.0.0.1:").await;
    let port = ready.rsplit(':').next().unwrap().trim().parse().unwrap();
    (process, lines, port)
}

async fn get(stream: &mut TlsStream<TcpStream>, port: u16, path: &str) -> String {
    let request = format!("GET {path} HTTP/1.1\r\nHost: localhost:{port}\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    let mut part = [0; 4096];
    // The body is one JSON object.
    while !answer.trim_end().ends_with('}') {
        let length = stream.read(&mut part).await.unwrap();
        assert!(length > 0, "the connection ended: {answer}");
        answer.push_str(&String::from_utf8_lossy(&part[..length]));
    }
    answer
}

fn certificate(stream: &TlsStream<TcpStream>) -> CertificateDer<'static> {
    stream.get_ref().1.peer_certificates().unwrap()[0].clone().into_owned()
}

async fn problems(port: u16) -> Vec<String> {
    let answer = crate::support::client().get(format!("http://127.0.0.1:{port}/readyz")).send().await.unwrap();
    let answer: Value = answer.json().await.unwrap();
    answer["problems"].as_array().into_iter().flatten().map(|text| text.as_str().unwrap().to_owned()).collect()
}

/// Waits until `/readyz` has problems, or no more.
async fn until_problems(port: u16, are_there: bool) -> Vec<String> {
    loop {
        let found = problems(port).await;
        if found.is_empty() != are_there {
            return found;
        }
        // There is no event for what another process notices.
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
}

fn hang_up(process: &Child) {
    let id = i32::try_from(process.id().unwrap()).unwrap();
    kill_process(Pid::from_raw(id).unwrap(), Signal::HUP).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn other_clients_speak_tls_with_the_server_and_programs_here_need_not() {
    notarium_client::install_tls_provider();
    let world = World::empty();
    let _files = Files::new(world.folder.path());
    let (_process, mut lines, port) = serve(&world).await;
    let said = lines.until("Or open ").await;
    assert!(said.contains(&format!("https://127.0.0.1:{port}/")), "{said}");

    let authority = world.folder.path().join("authority.pem");
    let run = async |mut command: Command| {
        let output = command.output().await.unwrap();
        // Errors show why a comparison fails.
        eprint!("{}", String::from_utf8_lossy(&output.stderr));
        (output.status.code(), String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    let mut python = Command::new("python3");
    python.args(["-c", PYTHON_CLIENT]).arg(&authority).arg(port.to_string());
    assert_eq!(run(python).await, (Some(0), "http/1.1 200".to_owned()));
    let curl = |options: &[&str]| {
        let mut curl = Command::new("curl");
        curl.args(["--silent", "--fail"]).args(options).arg(format!("https://localhost:{port}/readyz"));
        curl
    };
    let (code, answer) = run(curl(&["--cacert", authority.to_str().unwrap()])).await;
    assert!(code == Some(0) && answer.contains("\"ok\""), "{answer}");
    assert_eq!(run(curl(&[])).await.0, Some(60), "curl does not trust a strange authority");
    let (code, _) = run(curl(&["--cacert", authority.to_str().unwrap(), "--tls-max", "1.1"])).await;
    assert_eq!(code, Some(35), "TLS 1.1 is too old");

    assert!(problems(port).await.is_empty(), "plain HTTP on this machine");
    let origin = |origin: String| {
        let request = crate::support::client().get(format!("http://127.0.0.1:{port}/api/openapi.json"));
        request.header("origin", origin).send()
    };
    assert_eq!(origin(format!("https://localhost:{port}")).await.unwrap().status(), 200);
    assert_eq!(origin("https://evil.example".to_owned()).await.unwrap().status(), 403);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_renewed_certificate_is_used_without_a_restart_and_connections_stay() {
    notarium_client::install_tls_provider();
    let world = World::empty();
    let files = Files::new(world.folder.path());
    let first = files.renew(params_of_localhost());
    let (mut process, _lines, port) = serve(&world).await;
    let mut before = files.connect(port).await;
    assert_eq!(certificate(&before), first);
    assert!(get(&mut before, port, "/healthz").await.contains("200 OK"));

    files.write("server.key", &KeyPair::generate().unwrap().serialize_pem());
    hang_up(&process);
    let found = until_problems(port, true).await;
    assert!(found[0].contains("was not renewed") && !found[0].contains("server.key"), "{found:?}");
    assert_eq!(certificate(&files.connect(port).await), first, "the old certificate stays");

    let second = files.renew(params_of_localhost());
    hang_up(&process);
    until_problems(port, false).await;
    assert_eq!(certificate(&files.connect(port).await), second);
    assert!(get(&mut before, port, "/healthz").await.contains("200 OK"), "the old connection goes on");

    // Without a signal, by the times of the files.
    let third = files.renew(params_of_localhost());
    while certificate(&files.connect(port).await) != third {
        // There is no event for what another process notices.
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    super::support::interrupt(&process);
    assert!(process.wait().await.unwrap().success());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_certificate_that_cannot_be_used_keeps_the_server_from_starting() {
    let world = World::empty();
    let files = Files::new(world.folder.path());
    let alone = world.run(&["serve", "--data", "data", "--tls-cert", "server.pem"]).await.fails(2);
    assert!(alone.contains("--tls-key"), "{alone}");
    let mut expired = params_of_localhost();
    (expired.not_before, expired.not_after) = (date_time_ymd(2020, 1, 1), date_time_ymd(2021, 1, 1));
    files.renew(expired);
    let expired = world.run(&OPTIONS).await.fails(1);
    assert!(expired.contains("server.pem expired on 2021-01-01"), "{expired}");
    files.renew(params_of_localhost());
    files.write("server.key", &KeyPair::generate().unwrap().serialize_pem());
    let mixed = world.run(&OPTIONS).await.fails(1);
    assert!(mixed.contains("server.key is not that of the certificate server.pem"), "{mixed}");
    std::fs::remove_file(world.folder.path().join("server.key")).unwrap();
    let missing = world.run(&OPTIONS).await.fails(1);
    assert!(missing.contains("server.key cannot be read"), "{missing}");
}
