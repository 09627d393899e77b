//! Receiver of webhooks that answers as it is told.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;

use super::PATIENCE;

/// Answer of a webhook's receiver.
#[derive(Debug, Clone, Copy)]
pub enum Reply {
    Status(u16),
    Redirect,
    Hang,
}

/// A received webhook.
#[derive(Debug)]
pub struct Received {
    pub head: String,
    pub body: String,
}

impl Received {
    pub fn header(&self, name: &str) -> &str {
        let line = self.head.lines().find(|line| line.to_lowercase().starts_with(&format!("{name}:"))).expect(name);
        line.split_once(':').unwrap().1.trim()
    }

    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap()
    }
}

/// Receiver of webhooks, which answers as it is told, and then with 204.
pub struct Receiver {
    pub url: String,
    received: mpsc::UnboundedReceiver<Received>,
}

impl Receiver {
    pub async fn start(replies: &[Reply]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/hook", listener.local_addr().unwrap());
        let (sender, received) = mpsc::unbounded_channel();
        let replies = Arc::new(Mutex::new(VecDeque::from(replies.to_vec())));
        let location = url.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let reply = replies.lock().unwrap().pop_front().unwrap_or(Reply::Status(204));
                tokio::spawn(answer(stream, reply, sender.clone(), location.clone()));
            }
        });
        Self { url, received }
    }

    pub async fn next(&mut self) -> Received {
        tokio::time::timeout(PATIENCE, self.received.recv()).await.expect("a webhook comes").unwrap()
    }
}

async fn answer(mut stream: TcpStream, reply: Reply, sender: mpsc::UnboundedSender<Received>, location: String) {
    let mut bytes = Vec::new();
    let (head, body) = loop {
        let mut piece = [0; 4_096];
        let read = stream.read(&mut piece).await.unwrap();
        bytes.extend_from_slice(&piece[..read]);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        let length =
            head.lines().find_map(|line| line.to_lowercase().strip_prefix("content-length: ").map(str::to_owned));
        if length.is_some_and(|length| body.len() >= length.parse::<usize>().unwrap()) {
            break (head.to_owned(), body.to_owned());
        }
    };
    sender.send(Received { head, body }).unwrap();
    let text = match reply {
        Reply::Status(status) => format!("HTTP/1.1 {status} X\r\ncontent-length: 0\r\n\r\n"),
        Reply::Redirect => format!("HTTP/1.1 307 X\r\nlocation: {location}/other\r\ncontent-length: 0\r\n\r\n"),
        Reply::Hang => return std::future::pending().await,
    };
    let _ = stream.write_all(text.as_bytes()).await;
}
