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
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tower::Service;

use self::connections::{ConnectionPool, PooledConnection};
use crate::limits::ServerLimits;
use crate::limits::connection_slots::{Metered, ReadBudget};

/// Settings and services for every connection.
#[derive(Clone)]
struct Acceptor {
    http: http1::Builder,
    router: Router,
    proxies: Arc<TrustedProxies>,
    first_byte_timeout: Duration,
    stopping: CancellationToken,
}

/// Serves until `stopping`, then until every connection has had its answer. Sockets run on in their own tasks.
pub async fn serve(
    mut listener: TcpListener,
    router: Router,
    limits: &ServerLimits,
    proxies: TrustedProxies,
    stopping: CancellationToken,
) {
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(limits.header_timeout);
    let pool = ConnectionPool::new(limits.max_http_connections, limits.max_http_connections.div_ceil(2));
    let first_byte_timeout = limits.first_byte_timeout;
    let acceptor =
        Acceptor { http, router, proxies: Arc::new(proxies), first_byte_timeout, stopping: stopping.clone() };
    let connections = TaskTracker::new();
    while let Some((stream, peer)) = stopping.run_until_cancelled(Listener::accept(&mut listener)).await {
        // An unconfigured proxy may be on a loopback address.
        let is_shared = peer.ip().to_canonical().is_loopback() || acceptor.proxies.trusts(peer.ip());
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
        let budget = ReadBudget::default();
        let (reading, writing) = stream.into_split();
        let metered = Metered { stream: reading, budget: budget.clone() };
        let stream = TokioIo::new(tokio::io::join(metered, writing));
        let (router, proxies) = (self.router, self.proxies);
        let service = service_fn(move |mut request: Request<Incoming>| {
            request.extensions_mut().insert(budget.clone());
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
