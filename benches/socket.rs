//! Minimal WebSocket client with hello and JSON, as the generator shares the machine with the server.

use anyhow::{Context, Result, bail};
use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::tungstenite::{Message, Utf8Bytes};
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream};

/// Address and token of the server.
#[derive(Clone)]
pub struct Target {
    pub url: String,
    pub token: String,
}

pub struct Socket(pub WebSocketStream<MaybeTlsStream<TcpStream>>);

impl Socket {
    pub async fn open(target: &Target) -> Result<Self> {
        let config = WebSocketConfig::default()
            .read_buffer_size(16 << 10)
            .write_buffer_size(8 << 10)
            .max_message_size(None)
            .max_frame_size(None);
        let (stream, _) =
            tokio_tungstenite::connect_async_with_config(&target.url, Some(config), true).await.context("connect")?;
        let mut socket = Self(stream);
        socket
            .send(&json!({"hello": {"protocols": {"min": 1, "max": 1}, "token": target.token, "client": "bench/1"}}))
            .await?;
        socket.wait_for("welcome").await?;
        Ok(socket)
    }

    pub async fn send(&mut self, message: &Value) -> Result<()> {
        Ok(self.0.send(Message::text(message.to_string())).await?)
    }

    /// Returns the next text frame.
    pub async fn next(&mut self) -> Result<Utf8Bytes> {
        loop {
            match self.0.next().await.context("the server closed the connection")?? {
                Message::Text(text) => return Ok(text),
                Message::Close(frame) => bail!("the server closed the connection: {frame:?}"),
                _ => {}
            }
        }
    }

    /// Skips to the next message with that name.
    pub async fn wait_for(&mut self, name: &str) -> Result<Value> {
        loop {
            let mut message: Value = serde_json::from_str(&self.next().await?)?;
            if let Some(body) = message.get_mut(name) {
                return Ok(body.take());
            }
            if message.get("error").is_some() || message.get("reject").is_some() {
                bail!("while waiting for {name}: {message}");
            }
        }
    }

    pub async fn command(&mut self, id: &str, notebook: &str, body: Value) -> Result<Value> {
        self.send(&json!({"command": {"id": id, "notebook": notebook, "body": body}})).await?;
        self.wait_for("ack").await
    }

    pub async fn subscribe(&mut self, notebook: &str) -> Result<Value> {
        self.send(&json!({"subscribe": {"notebook": notebook}})).await?;
        self.wait_for("subscribed").await
    }
}

/// Returns the number after `"key":` in a frame of our own server; far cheaper than parsing.
pub fn number_after(text: &str, key: &str) -> Option<u64> {
    let at = text.find(key)? + key.len();
    let digits = text[at..].bytes().take_while(u8::is_ascii_digit);
    Some(digits.fold(0, |number, digit| number * 10 + u64::from(digit - b'0')))
}
