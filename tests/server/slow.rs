//! Tests of slow and silent clients over plain TCP: they are disconnected, and others are unaffected.

use std::net::SocketAddr;
use std::time::Duration;

use notarium_wire::ServerMessage;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::socket::{create, insert};
use crate::support::{PATIENCE, TestServer};

/// Timeout of headers and bodies: more than a request needs that is sent without delay, even on a busy machine.
const ALLOWED: Duration = Duration::from_millis(1_500);

async fn impatient() -> TestServer {
    TestServer::with(|config| {
        config.limits.header_timeout = ALLOWED;
        config.limits.body_timeout = ALLOWED;
    })
    .await
}

/// Sends the first text, then single bytes as long as the server accepts them; returns the server's answer.
async fn trickle(server: &TestServer, first: String) -> String {
    let stream = TcpStream::connect(server.address()).await.unwrap();
    let (mut reader, mut writer) = stream.into_split();
    writer.write_all(first.as_bytes()).await.unwrap();
    let trickling = async {
        loop {
            // Fixed delay, as the slowness itself is under test.
            tokio::time::sleep(Duration::from_millis(50)).await;
            if writer.write_all(b"x").await.is_err() {
                std::future::pending::<()>().await;
            }
        }
    };
    let mut said = Vec::new();
    let heard = async {
        // A reset after the last byte is an end too.
        let _ = reader.read_to_end(&mut said).await;
    };
    let heard = async {
        tokio::select! { () = heard => {}, () = trickling => {} }
    };
    timeout(PATIENCE, heard).await.expect("the server ends the connection");
    String::from_utf8(said).unwrap()
}

/// Sends a text, and returns everything up to the end of the connection.
async fn until_end(host: SocketAddr, text: String) -> String {
    let mut stream = TcpStream::connect(host).await.unwrap();
    stream.write_all(text.as_bytes()).await.unwrap();
    let mut said = String::new();
    timeout(PATIENCE, stream.read_to_string(&mut said)).await.expect("the server ends the connection").unwrap();
    said
}

#[tokio::test]
async fn headers_that_never_end_and_silence_end_the_connection() {
    let server = impatient().await;
    let host = server.address();
    let slow = trickle(&server, format!("GET /healthz HTTP/1.1\r\nhost: {host}\r\nx-slow: "));
    // An idle connection after its answer.
    let idle = until_end(host, format!("GET /healthz HTTP/1.1\r\nhost: {host}\r\n\r\n"));
    let (slow, idle, _silent) = tokio::join!(slow, idle, until_end(host, String::new()));
    assert!(!slow.contains("200"), "{slow}");
    assert!(idle.starts_with("HTTP/1.1 200"), "{idle}");
    assert_eq!(server.http_as("").without_token().get("/healthz").await.status, 200);
}

#[tokio::test]
async fn idle_connections_of_one_address_make_nobody_wait() {
    const SLOTS: usize = 8;
    let never = Duration::from_secs(3_600);
    let server = TestServer::with(|config| {
        config.limits.max_http_connections = SLOTS;
        (config.limits.first_byte_timeout, config.limits.header_timeout) = (never, never);
    })
    .await;
    let mut idle = Vec::new();
    for number in 0..10 * SLOTS {
        let mut stream = TcpStream::connect(server.address()).await.unwrap();
        // Silent ones, and ones that never finish their headers.
        if number % 2 == 1 {
            stream.write_all(b"GET /healthz HTTP/1.1\r\n").await.unwrap();
        }
        idle.push(stream);
    }
    let http = server.http_as("").without_token();
    for _ in 0..SLOTS {
        let answer = timeout(PATIENCE, http.get("/healthz")).await.expect("the idle connections give way");
        assert_eq!(answer.status, 200);
    }
    let first = timeout(PATIENCE, idle[0].read(&mut [0; 1])).await.expect("the longest idle connection was closed");
    assert_eq!(first.unwrap_or(0), 0);
}

#[tokio::test]
async fn a_body_that_trickles_is_refused_with_words() {
    let server = impatient().await;
    let ann = server.person("Ann").await;
    let http = server.http(&ann);
    http.post("/api/notebooks", serde_json::json!({"id": "n", "title": "Notes"})).await.ok();
    let head = |method: &str, path: &str, kind: &str| {
        format!(
            "{method} {path} HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {}\r\ncontent-type: {kind}\r\n\
             content-length: 100000\r\n\r\n",
            server.address(),
            ann.token
        )
    };
    // Sockets are not requests, and stay open.
    let mut client = server.connect(&ann).await;
    let blob = format!("/api/notebooks/n/blobs/{}", "0".repeat(64));
    let json = trickle(&server, head("POST", "/api/notebooks", "application/json"));
    let bytes = trickle(&server, head("PUT", &blob, "application/octet-stream"));
    for said in <[String; 2]>::from(tokio::join!(json, bytes)) {
        assert!(said.starts_with("HTTP/1.1 408") && said.contains(r#""code":"too_slow""#), "{said}");
    }
    client.subscribe("n").await;
}

#[tokio::test]
async fn who_has_too_much_unanswered_is_told_and_loses_nothing() {
    let server = TestServer::with(|config| config.limits.max_unanswered_commands = 4).await;
    let ann = server.person("ann").await;
    let mut flooding = server.connect(&ann).await;
    flooding.run("N", &create("T")).await.unwrap();
    let mut sent = Vec::new();
    for cell in 0..200 {
        sent.push(flooding.command("N", &insert(&format!("c{cell}"), "x")).await);
    }
    let slowed = flooding.next_other().await;
    assert_eq!(slowed, ServerMessage::SlowDown { unanswered: 4 });
    let mut beside = server.connect(&ann).await;
    beside.run("N", &insert("beside", "")).await.unwrap();
    for id in sent {
        flooding.answer(&id).await.unwrap();
    }
    beside.subscribe("N").await;
    beside.until(|client| (client.state("N").cells.len() == 201).then_some(())).await;
}
