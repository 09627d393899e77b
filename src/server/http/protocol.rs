//! Protocol of a listener: plain HTTP, TLS, or TLS between nodes.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

use crate::tls::{NodeTls, ServerTls};

/// First byte of a TLS connection: the type of its handshake's records.
const HANDSHAKE: u8 = 22;
/// Answer to plain HTTP on an address that speaks TLS.
const NOT_PLAIN: &[u8] =
    b"HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain\r\nConnection: close\r\nContent-Length: 45\r\n\r\n\
    This address speaks TLS: write https:// here.";
/// Bytes and time for which a refused client is read, so that it sees the answer.
const MAX_UNREAD_BYTES: u64 = 64 << 10;
const LINGER: Duration = Duration::from_secs(1);

/// Protocol of a listener.
#[derive(Clone)]
pub enum ListenerProtocol {
    Plain,
    /// TLS, and plain HTTP for programs on this machine: their bytes leave it neither way.
    Server(Arc<ServerTls>),
    /// TLS in which the client shows a node's certificate.
    Nodes(Arc<NodeTls>),
}

/// An open connection.
pub enum OpenedStream {
    Plain(TcpStream),
    Tls(Box<TlsStream<TcpStream>>),
}

impl ListenerProtocol {
    /// Opens a connection that has sent its first byte; `None`: the handshake failed or took too long, which is logged.
    pub async fn open(&self, stream: TcpStream, peer: SocketAddr, within: Duration) -> Option<OpenedStream> {
        let config = match self {
            Self::Plain => return Some(OpenedStream::Plain(stream)),
            Self::Server(_) if is_plain(&stream).await => return plain(stream, peer).await,
            Self::Server(tls) => tls.current(),
            Self::Nodes(tls) => tls.current().server.clone(),
        };
        match timeout(within, TlsAcceptor::from(config).accept(stream)).await {
            Ok(Ok(stream)) => return Some(OpenedStream::Tls(Box::new(stream))),
            Ok(Err(error)) => self.log_failure(peer, &error.to_string()),
            Err(_) => self.log_failure(peer, "it took too long"),
        }
        None
    }

    fn log_failure(&self, peer: SocketAddr, reason: &str) {
        if self.is_between_nodes() {
            tracing::warn!(reason, %peer, "a connection between nodes was refused");
        } else {
            tracing::debug!(reason, %peer, "a TLS handshake failed");
        }
    }

    /// True if the other end may speak for clients: it has shown a node's certificate.
    pub const fn is_between_nodes(&self) -> bool {
        matches!(self, Self::Nodes(_))
    }
}

async fn is_plain(stream: &TcpStream) -> bool {
    let mut first = [0; 1];
    matches!(stream.peek(&mut first).await, Ok(1)) && first[0] != HANDSHAKE
}

async fn plain(stream: TcpStream, peer: SocketAddr) -> Option<OpenedStream> {
    if is_local(peer.ip(), stream.local_addr().ok().map(|own| own.ip())) {
        return Some(OpenedStream::Plain(stream));
    }
    tracing::debug!(%peer, "plain HTTP was refused");
    let _ = timeout(LINGER, refuse(stream)).await;
    None
}

/// True if the other end is on this machine: no packet from elsewhere has an address of it.
fn is_local(peer: IpAddr, own: Option<IpAddr>) -> bool {
    peer.to_canonical().is_loopback() || Some(peer) == own
}

async fn refuse(mut stream: TcpStream) -> std::io::Result<()> {
    stream.write_all(NOT_PLAIN).await?;
    stream.shutdown().await?;
    tokio::io::copy(&mut stream.take(MAX_UNREAD_BYTES), &mut tokio::io::sink()).await.map(drop)
}

#[cfg(test)]
mod tests {
    use tokio::net::TcpListener;

    use super::*;

    #[test]
    fn plain_http_is_for_programs_on_this_machine() {
        let at = |text: &str| text.parse::<IpAddr>().unwrap();
        for (peer, own, expected) in [
            ("127.0.0.1", "127.0.0.1", true),
            ("::ffff:127.0.0.1", "::ffff:127.0.0.1", true),
            ("::1", "::1", true),
            ("192.0.2.7", "192.0.2.7", true),
            ("192.0.2.8", "192.0.2.7", false),
            ("2001:db8::1", "2001:db8::2", false),
        ] {
            assert_eq!(is_local(at(peer), Some(at(own))), expected, "{peer} at {own}");
        }
        assert!(!is_local(at("192.0.2.8"), None));
    }

    #[tokio::test]
    async fn others_are_told_to_use_tls() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let client = TcpStream::connect(listener.local_addr().unwrap());
        let (client, accepted) = tokio::join!(client, listener.accept());
        let (mut client, (stream, _)) = (client.unwrap(), accepted.unwrap());
        let mut answer = String::new();
        let asking = async {
            client.write_all(b"GET / HTTP/1.1\r\nHost: notes.example.org\r\n\r\n").await.unwrap();
            client.read_to_string(&mut answer).await.unwrap();
            drop(client);
        };
        let (refused, ()) = tokio::join!(refuse(stream), asking);
        refused.unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        assert!(head.contains(&format!("Content-Length: {}", body.len())) && body.contains("https://"), "{answer}");
    }
}
