//! Accepting connections, and giving up those that only hold them open.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::ConnectInfo;
use axum::response::Response;
use axum::serve::Listener;
use http::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tower::Service;

use crate::limits::ServerLimits;

/// Serves until `stopping`, then until every connection has had its answer. Sockets live on: they have tasks of their own.
pub async fn serve(mut listener: TcpListener, router: Router, limits: &ServerLimits, stopping: CancellationToken) {
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(limits.header_timeout);
    let permits = Arc::new(Semaphore::new(limits.max_http_connections));
    let connections = TaskTracker::new();
    while let Some(permit) = stopping.run_until_cancelled(permits.clone().acquire_owned()).await {
        let Some((stream, peer)) = stopping.run_until_cancelled(Listener::accept(&mut listener)).await else { break };
        let connection = connection(http.clone(), stream, peer, router.clone(), stopping.clone());
        connections.spawn(async move {
            connection.await;
            drop(permit);
        });
    }
    drop(listener);
    connections.close();
    connections.wait().await;
}

async fn connection(
    http: http1::Builder,
    stream: TcpStream,
    peer: SocketAddr,
    router: Router,
    stopping: CancellationToken,
) {
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "a connection keeps its delay");
    }
    let service = service_fn(move |request| answer(router.clone(), peer, request));
    let mut serving = pin!(http.serve_connection(TokioIo::new(stream), service).with_upgrades());
    let ended = tokio::select! {
        ended = serving.as_mut() => ended,
        () = stopping.cancelled() => {
            serving.as_mut().graceful_shutdown();
            serving.await
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, %peer, "a connection broke");
    }
}

async fn answer(mut router: Router, peer: SocketAddr, request: Request<Incoming>) -> Result<Response, Infallible> {
    let mut request = request.map(Body::new);
    request.extensions_mut().insert(ConnectInfo(peer));
    // A router is ready at any time.
    router.call(request).await
}
