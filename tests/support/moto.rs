//! `moto_server`, an S3 server for tests, as a child process.

#![allow(dead_code, reason = "each test binary uses a part of it")]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// Bucket that exists from the start.
pub const BUCKET: &str = "notes";

/// A server with an empty bucket. It is killed when this is dropped.
pub struct Moto {
    child: Child,
    /// Host and port.
    pub address: String,
}

impl Moto {
    /// Starts a server on a free port; `None`, and a line on standard output: the Python of the tests has no moto.
    pub fn start() -> Option<Self> {
        let python = python();
        let importing = Command::new(&python).args(["-c", "import moto.server"]).stderr(Stdio::null()).status();
        if !importing.is_ok_and(|status| status.success()) {
            println!(
                "skipped: {} has no moto (tests/server-requirements.txt): `make test` installs it",
                python.display()
            );
            return None;
        }
        let mut child = Command::new(&python)
            .args(["-c", "import sys; from moto.server import main; main(sys.argv[1:])", "-H", "127.0.0.1", "-p", "0"])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map_while(Result::ok);
        let address = lines.find_map(|line| Some(line.split_once("Running on http://")?.1.trim().to_owned()));
        let address = address.expect("moto names its address");
        std::thread::spawn(move || lines.for_each(drop));
        let moto = Self { child, address };
        assert!(moto.send("PUT", &format!("/{BUCKET}"), "").starts_with("HTTP/1.1 200"));
        Some(moto)
    }

    /// Variables with which a client of this server is configured.
    pub fn variables(&self) -> Vec<(String, String)> {
        variables(&self.address)
    }

    /// Sends a request without a signature, which this server accepts; returns the whole answer.
    pub fn send(&self, method: &str, path: &str, body: &str) -> String {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let length = body.len();
        let head = format!(
            "{method} {path} HTTP/1.1\r\nhost: {}\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n",
            self.address
        );
        stream.write_all((head + body).as_bytes()).unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        String::from_utf8_lossy(&answer).into_owned()
    }
}

/// Variables of a client of the server at `address`.
pub fn variables(address: &str) -> Vec<(String, String)> {
    let endpoint = format!("http://{address}");
    let variables = [
        ("AWS_ENDPOINT_URL", endpoint.as_str()),
        ("AWS_ALLOW_HTTP", "true"),
        ("AWS_ACCESS_KEY_ID", "test"),
        ("AWS_SECRET_ACCESS_KEY", "planted-secret"),
        ("AWS_REGION", "us-east-1"),
    ];
    variables.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec()
}

impl Drop for Moto {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Python of the tests: `NOTARIUM_TEST_PYTHON`, else the one that `make test` makes.
fn python() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().find(|folder| folder.join("Cargo.lock").exists());
    let made = root.unwrap().join("target/test-venv/bin/python");
    std::env::var_os("NOTARIUM_TEST_PYTHON").map_or(made, PathBuf::from)
}
