//! Requests of code in a kernel to the server, as clients of dialoghelper send them. The kernel has no token: the server decides in whose
//! name a request acts, from the run that has the kernel.
//!
//! Over the socket comes a line of JSON, then the body; the answer has the same form. Nothing listens in the kernel. See `launcher.py`.

use bytes::Bytes;
use notarium_wire::MAX_KERNEL_REQUEST_BYTES;
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::sync::{mpsc, oneshot};

/// Sent by a kernel in place of a connection's name: a request follows.
pub(super) const TO_SERVER: &str = "@";

/// Requests that wait until the session's host takes them.
pub(super) const MAX_WAITING: usize = 16;
/// Longest first line.
const MAX_HEAD_BYTES: usize = 4 << 10;
const MAX_ENDPOINT_CHARACTERS: usize = 40;

/// First line of a request.
#[derive(Debug, Deserialize)]
struct RequestHead {
    endpoint: String,
    #[serde(default)]
    accept: String,
    #[serde(default)]
    content_type: String,
    size_bytes: usize,
}

/// A request, and the channel for its answer.
#[derive(Debug)]
pub(crate) struct ServerRequest {
    pub endpoint: String,
    pub accept: String,
    pub content_type: String,
    pub body: Bytes,
    pub answer: oneshot::Sender<ServerAnswer>,
}

/// The answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ServerAnswer {
    pub status: u16,
    pub content_type: String,
    pub body: Bytes,
}

impl ServerAnswer {
    /// A refusal as clients of dialoghelper read it.
    pub fn refusal(message: &str) -> Self {
        let body = serde_json::json!({ "error": message }).to_string();
        Self { status: 200, content_type: "application/json".to_owned(), body: body.into() }
    }
}

/// First line of an answer.
#[derive(Serialize)]
struct AnswerHead<'a> {
    status: u16,
    content_type: &'a str,
    size_bytes: usize,
}

/// Reads one request, and answers it.
pub(super) async fn serve<S: AsyncRead + AsyncWriteExt + Unpin>(mut stream: S, requests: mpsc::Sender<ServerRequest>) {
    let Some(answer) = answer(&mut stream, requests).await else { return };
    let head = AnswerHead { status: answer.status, content_type: &answer.content_type, size_bytes: answer.body.len() };
    let Ok(mut bytes) = serde_json::to_vec(&head) else { return };
    bytes.push(b'\n');
    bytes.extend_from_slice(&answer.body);
    // The caller may have given up.
    let _ = stream.write_all(&bytes).await;
}

/// `None`: the other end does not send a request.
async fn answer<S: AsyncRead + Unpin>(stream: &mut S, requests: mpsc::Sender<ServerRequest>) -> Option<ServerAnswer> {
    let head: RequestHead = serde_json::from_slice(&read_line(stream).await?).ok()?;
    let is_name = |name: &str| name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
    if !is_name(&head.endpoint) || !(1..=MAX_ENDPOINT_CHARACTERS).contains(&head.endpoint.len()) {
        return Some(ServerAnswer::refusal("this server has no such endpoint: docs/dialoghelper.md lists them"));
    }
    if head.size_bytes > MAX_KERNEL_REQUEST_BYTES {
        // Read to its end, so that the sender reads the refusal.
        tokio::io::copy(&mut stream.take(head.size_bytes as u64), &mut tokio::io::sink()).await.ok()?;
        let message = format!("a request has at most {MAX_KERNEL_REQUEST_BYTES} bytes: send less, or split it");
        return Some(ServerAnswer::refusal(&message));
    }
    let mut body = vec![0; head.size_bytes];
    stream.read_exact(&mut body).await.ok()?;
    let RequestHead { endpoint, accept, content_type, .. } = head;
    let (sender, answer) = oneshot::channel();
    let request = ServerRequest { endpoint, accept, content_type, body: body.into(), answer: sender };
    requests.send(request).await.ok()?;
    answer.await.ok()
}

async fn read_line<S: AsyncRead + Unpin>(stream: &mut S) -> Option<Vec<u8>> {
    let mut line = Vec::new();
    loop {
        match stream.read_u8().await.ok()? {
            b'\n' => return Some(line),
            byte if line.len() < MAX_HEAD_BYTES => line.push(byte),
            _ => return None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::duplex;

    /// Sends bytes, and returns the answer.
    async fn exchange(sent: Vec<u8>) -> String {
        let (mut kernel, agent) = duplex(1 << 16);
        let (requests, mut taken) = mpsc::channel::<ServerRequest>(1);
        let serving = tokio::spawn(serve(agent, requests));
        let echoing = tokio::spawn(async move {
            while let Some(request) = taken.recv().await {
                let ServerRequest { endpoint, content_type, body, answer, .. } = request;
                let body = [endpoint.as_bytes(), b" ", &body].concat().into();
                let _ = answer.send(ServerAnswer { status: 201, content_type, body });
            }
        });
        kernel.write_all(&sent).await.unwrap();
        let mut answer = String::new();
        kernel.read_to_string(&mut answer).await.unwrap();
        serving.await.unwrap();
        echoing.await.unwrap();
        answer
    }

    #[tokio::test]
    async fn a_request_is_a_line_and_a_body() {
        let sent = b"{\"endpoint\":\"read_msg_\",\"content_type\":\"x\",\"size_bytes\":3}\na=1".to_vec();
        assert_eq!(exchange(sent).await, "{\"status\":201,\"content_type\":\"x\",\"size_bytes\":13}\nread_msg_ a=1");
    }

    #[tokio::test]
    async fn a_large_request_is_read_to_its_end_and_refused() {
        let size = MAX_KERNEL_REQUEST_BYTES + 1;
        let mut sent = format!("{{\"endpoint\":\"add_relative_\",\"size_bytes\":{size}}}\n").into_bytes();
        sent.resize(sent.len() + size, b'x');
        assert!(exchange(sent).await.contains("a request has at most 8388608 bytes"));
    }

    #[tokio::test]
    async fn other_paths_are_no_endpoints() {
        for endpoint in ["../api/notebooks", "", "a/b", "A", &"x".repeat(50)] {
            let sent = format!("{{\"endpoint\":\"{endpoint}\",\"size_bytes\":0}}\n");
            assert!(exchange(sent.into_bytes()).await.contains("no such endpoint"), "{endpoint}");
        }
        assert_eq!(exchange(b"GET / HTTP/1.1\n".to_vec()).await, "");
    }
}
