//! Tests of requests refused before their body is read: the client gets the answer, and the connection stays usable or is closed as
//! announced.

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::support::{PATIENCE, TestServer};

/// Reads one answer from a connection.
async fn answer(stream: &mut TcpStream) -> String {
    let mut text = String::new();
    let reading = async {
        loop {
            let mut piece = [0; 4096];
            let read = stream.read(&mut piece).await.expect("the answer comes before any cut");
            text.push_str(std::str::from_utf8(&piece[..read]).unwrap());
            let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
            let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).expect("a length");
            if read == 0 || body.len() >= length.parse().unwrap() {
                return;
            }
        }
    };
    tokio::time::timeout(PATIENCE, reading).await.expect("an answer");
    text
}

fn head(server: &TestServer, length: usize) -> String {
    let host = server.address();
    format!(
        "POST /api/notebooks HTTP/1.1\r\nhost: {host}\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n"
    )
}

#[tokio::test]
async fn a_small_body_is_read_and_the_connection_goes_on() {
    let server = TestServer::start().await;
    let mut stream = TcpStream::connect(server.address()).await.unwrap();
    for _ in 0..2 {
        stream.write_all(format!("{}\r\n", head(&server, 60_000)).as_bytes()).await.unwrap();
        stream.write_all(&vec![b'x'; 60_000]).await.unwrap();
        let refused = answer(&mut stream).await;
        assert!(refused.starts_with("HTTP/1.1 401"), "{refused}");
        assert!(!refused.to_lowercase().contains("connection: close"), "{refused}");
    }
}

#[tokio::test]
async fn a_large_body_is_not_read_and_the_answer_says_that_the_connection_ends() {
    let server = TestServer::start().await;
    let mut stream = TcpStream::connect(server.address()).await.unwrap();
    stream.write_all(format!("{}\r\n", head(&server, 4 << 20)).as_bytes()).await.unwrap();
    stream.write_all(&vec![b'x'; 70_000]).await.unwrap();
    let refused = answer(&mut stream).await;
    assert!(refused.starts_with("HTTP/1.1 401"), "{refused}");
    assert!(refused.to_lowercase().contains("connection: close"), "{refused}");
}

#[tokio::test]
async fn nobody_is_asked_for_a_body_that_is_thrown_away() {
    let server = TestServer::start().await;
    let mut stream = TcpStream::connect(server.address()).await.unwrap();
    stream.write_all(format!("{}expect: 100-continue\r\n\r\n", head(&server, 1_000)).as_bytes()).await.unwrap();
    let refused = answer(&mut stream).await;
    assert!(refused.starts_with("HTTP/1.1 401"), "no leave to send: {refused}");
    assert!(refused.to_lowercase().contains("connection: close"), "{refused}");
}
