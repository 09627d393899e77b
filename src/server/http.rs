//! Accepts connections, finds the client's address behind trusted proxies, and closes connections that send nothing in
//! time.

pub mod body_timeout;
pub mod extract;
pub mod guard;
pub mod guarded_stream;
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
use tokio::sync::Semaphore;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tower::Service;

use crate::limits::ServerLimits;
use crate::limits::connection_slots::{ConnectionSlots, Metered, ReadBudget};

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
    let permits = Arc::new(Semaphore::new(limits.max_http_connections));
    let places = ConnectionSlots::new(limits.max_http_connections, limits.max_http_connections.div_ceil(2));
    let first_byte_timeout = limits.first_byte_timeout;
    let acceptor =
        Acceptor { http, router, proxies: Arc::new(proxies), first_byte_timeout, stopping: stopping.clone() };
    let connections = TaskTracker::new();
    while let Some(permit) = stopping.run_until_cancelled(permits.clone().acquire_owned()).await {
        let Some((stream, peer)) = stopping.run_until_cancelled(Listener::accept(&mut listener)).await else { break };
        // One network cannot take all connections.
        let Some(place) = places.enter(Some(peer.ip())) else { continue };
        let connection = acceptor.clone().connection(stream, peer);
        connections.spawn(async move {
            connection.await;
            drop((permit, place));
        });
    }
    drop(listener);
    connections.close();
    connections.wait().await;
}

impl Acceptor {
    async fn connection(self, stream: TcpStream, peer: SocketAddr) {
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
            answer(router.clone(), client, request)
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

async fn answer(mut router: Router, client: SocketAddr, request: Request<Incoming>) -> Result<Response, Infallible> {
    let mut request = request.map(Body::new);
    request.extensions_mut().insert(ConnectInfo(client));
    // A router is always ready, so `poll_ready` is not needed.
    router.call(request).await
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
