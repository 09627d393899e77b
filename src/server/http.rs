//! Accepts connections, finds the client's address behind trusted proxies, and closes connections that send nothing in
//! time.

pub mod body_timeout;
mod connections;
pub mod extract;
pub mod foreign_token;
pub mod forward;
pub mod guard;
pub mod guarded_stream;
pub mod mount;
pub mod observe;
pub mod openapi;
pub mod origin;
pub mod page;
pub mod problem;
pub mod protocol;

use std::convert::Infallible;
use std::net::{IpAddr, SocketAddr};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::ConnectInfo;
use axum::response::Response;
use axum::serve::Listener;
use http::{HeaderMap, HeaderName, Request};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use ipnet::IpNet;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tower::Service;

use self::connections::{ConnectionPool, PooledConnection};
use self::protocol::{ListenerProtocol, OpenedStream};
use crate::cluster::{HOPS, IDENTITY};
use crate::limits::ServerLimits;
use crate::limits::connection_slots::{Metered, ReadBudget};

/// Settings and services for every connection.
#[derive(Clone)]
struct Acceptor {
    http: http1::Builder,
    router: Router,
    proxies: Arc<TrustedProxies>,
    protocol: ListenerProtocol,
    /// True: nodes have an address of their own, so that their headers count for nothing here.
    drops_node_headers: bool,
    first_byte_timeout: Duration,
    handshake_timeout: Duration,
    stopping: CancellationToken,
}

/// Address at which connections are accepted.
pub struct Listening {
    pub listener: TcpListener,
    pub protocol: ListenerProtocol,
    pub proxies: TrustedProxies,
    /// True: nodes have an address of their own, so that their headers count for nothing here.
    pub drops_node_headers: bool,
}

impl Listening {
    /// Plain HTTP without proxies.
    pub fn plain(listener: TcpListener) -> Self {
        let (protocol, proxies) = (ListenerProtocol::Plain, TrustedProxies::default());
        Self { listener, protocol, proxies, drops_node_headers: false }
    }
}

/// Serves until `stopping`, then until every connection has had its answer. Sockets run on in their own tasks.
pub async fn serve(listening: Listening, router: Router, limits: &ServerLimits, stopping: CancellationToken) {
    let Listening { mut listener, protocol, proxies, drops_node_headers } = listening;
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(limits.header_timeout);
    let pool = ConnectionPool::new(limits.max_http_connections, limits.max_http_connections.div_ceil(2));
    let acceptor = Acceptor {
        http,
        router,
        proxies: Arc::new(proxies),
        protocol,
        drops_node_headers,
        first_byte_timeout: limits.first_byte_timeout,
        handshake_timeout: limits.tls_handshake_timeout,
        stopping: stopping.clone(),
    };
    let connections = TaskTracker::new();
    while let Some((stream, peer)) = stopping.run_until_cancelled(Listener::accept(&mut listener)).await {
        // An unconfigured proxy may be on a loopback address.
        let is_shared = peer.ip().to_canonical().is_loopback()
            || acceptor.proxies.trusts(peer.ip())
            || acceptor.protocol.is_between_nodes();
        match stopping.run_until_cancelled(pool.enter(peer.ip(), is_shared)).await {
            Some(Some(slot)) => drop(connections.spawn(acceptor.clone().connection(stream, peer, slot))),
            Some(None) => tracing::debug!(%peer, "a connection beyond its network's share is closed"),
            None => break,
        }
    }
    drop(listener);
    connections.close();
    connections.wait().await;
}

impl Acceptor {
    /// Serves a connection until it ends, or has to give way to a new one.
    async fn connection(self, stream: TcpStream, peer: SocketAddr, slot: Arc<PooledConnection>) {
        let evicted = slot.evicted.clone();
        if evicted.run_until_cancelled_owned(self.serve(stream, peer, slot)).await.is_none() {
            tracing::debug!(%peer, "an idle connection gave way to a new one");
        }
    }

    async fn serve(self, stream: TcpStream, peer: SocketAddr, slot: Arc<PooledConnection>) {
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!(%error, "a connection keeps its delay");
        }
        if !matches!(timeout(self.first_byte_timeout, stream.readable()).await, Ok(Ok(()))) {
            return;
        }
        match self.protocol.open(stream, peer, self.handshake_timeout).await {
            Some(OpenedStream::Plain(stream)) => self.serve_opened(stream, peer, slot).await,
            Some(OpenedStream::Tls(stream)) => self.serve_opened(*stream, peer, slot).await,
            None => {}
        }
    }

    async fn serve_opened<S>(self, stream: S, peer: SocketAddr, slot: Arc<PooledConnection>)
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let budget = ReadBudget::default();
        let stream = TokioIo::new(Metered { stream, budget: budget.clone() });
        let (router, proxies, drops_node_headers) = (self.router, self.proxies, self.drops_node_headers);
        let service = service_fn(move |mut request: Request<Incoming>| {
            request.extensions_mut().insert(budget.clone());
            if drops_node_headers {
                request.headers_mut().remove(IDENTITY);
                request.headers_mut().remove(HOPS);
            }
            let client = proxies.client(peer, request.headers());
            answer(router.clone(), client, request, slot.clone())
        });
        let mut serving = pin!(self.http.serve_connection(stream, service).with_upgrades());
        let ended = tokio::select! {
            ended = serving.as_mut() => ended,
            () = self.stopping.cancelled() => {
                serving.as_mut().graceful_shutdown();
                serving.await
            }
        };
        if let Err(error) = ended {
            tracing::debug!(%error, %peer, "a connection broke");
        }
    }
}

async fn answer(
    mut router: Router,
    client: SocketAddr,
    request: Request<Incoming>,
    slot: Arc<PooledConnection>,
) -> Result<Response, Infallible> {
    // The connection that was evicted a moment ago ends without an answer, and the request has no effect.
    let Some(open) = slot.open_request() else { return std::future::pending().await };
    let mut request = request.map(Body::new);
    request.extensions_mut().insert(ConnectInfo(client));
    // A router is always ready, so `poll_ready` is not needed.
    let response = router.call(request).await?;
    Ok(response.map(|body| open.until_end_of(body)))
}

const FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");

/// Networks of proxies whose `X-Forwarded-For` is trusted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TrustedProxies(Vec<IpNet>);

impl FromIterator<IpNet> for TrustedProxies {
    fn from_iter<I: IntoIterator<Item = IpNet>>(networks: I) -> Self {
        Self(networks.into_iter().collect())
    }
}

impl TrustedProxies {
    /// Address of the client: read from the end of the chain, the first address that is not a trusted proxy's.
    pub fn client(&self, peer: SocketAddr, headers: &HeaderMap) -> SocketAddr {
        let mut client = peer.ip();
        let values = headers.get_all(FORWARDED_FOR).iter().filter_map(|value| value.to_str().ok());
        let chain: Vec<&str> = values.flat_map(|value| value.split(',')).map(str::trim).collect();
        for entry in chain.iter().rev() {
            let Some(address) = entry.parse().ok().filter(|_| self.trusts(client)) else { break };
            client = address;
        }
        SocketAddr::new(client, peer.port())
    }

    fn trusts(&self, address: IpAddr) -> bool {
        self.0.iter().any(|network| network.contains(&address.to_canonical()))
    }
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn client(trusted: &[&str], peer: &str, forwarded: &[&str]) -> String {
        let proxies: TrustedProxies = trusted.iter().map(|network| network.parse().unwrap()).collect();
        let mut headers = HeaderMap::new();
        for value in forwarded {
            headers.append(FORWARDED_FOR, HeaderValue::from_str(value).unwrap());
        }
        proxies.client(SocketAddr::new(peer.parse().unwrap(), 1), &headers).ip().to_string()
    }

    #[test]
    fn only_a_trusted_proxy_names_who_is_behind_it() {
        assert_eq!(client(&[], "192.0.2.9", &["203.0.113.5"]), "192.0.2.9");
        assert_eq!(client(&["192.0.2.0/24"], "192.0.2.9", &["203.0.113.5"]), "203.0.113.5");
        assert_eq!(client(&["192.0.2.0/24"], "198.51.100.1", &["203.0.113.5"]), "198.51.100.1");
    }

    #[test]
    fn what_the_client_itself_wrote_before_the_proxy_does_not_count() {
        let proxies = ["192.0.2.0/24", "127.0.0.0/8"];
        assert_eq!(client(&proxies, "192.0.2.9", &["10.0.0.1, 203.0.113.5"]), "203.0.113.5");
        assert_eq!(client(&proxies, "127.0.0.1", &["10.0.0.1", "203.0.113.5, 192.0.2.9"]), "203.0.113.5");
        assert_eq!(client(&proxies, "192.0.2.9", &["who knows"]), "192.0.2.9");
        assert_eq!(client(&proxies, "192.0.2.9", &[]), "192.0.2.9");
    }
}
