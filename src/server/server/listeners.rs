//! Addresses of a server: its own, that of its metrics, and that for other nodes.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use super::{ServerConfig, StartError};
use crate::app::App;
use crate::http::protocol::ListenerProtocol;
use crate::http::{Listening, serve};
use crate::limits::ServerLimits;
use crate::routes;
use crate::tls::{Certificates, NodeTls, server_tls};

/// Bound addresses, with their certificates.
pub(super) struct Listeners {
    own: Listening,
    pub(super) local_addr: SocketAddr,
    metrics: Option<Listening>,
    pub(super) metrics_addr: Option<SocketAddr>,
    nodes: Option<Listening>,
    pub(super) certificates: Certificates,
}

impl Listeners {
    /// Reads certificates and binds the addresses. `nodes`: certificates between nodes.
    pub(super) async fn bind(config: &ServerConfig, nodes: Option<Arc<NodeTls>>) -> Result<Self, StartError> {
        let server = config.tls.clone().map(server_tls).transpose()?;
        let protocol = server.clone().map_or(ListenerProtocol::Plain, ListenerProtocol::Server);
        let (listener, local_addr) = bind(config.listen).await?;
        let proxies = config.trusted_proxies.iter().copied().collect();
        let own = Listening { listener, protocol, proxies, drops_node_headers: nodes.is_some() };
        let (metrics, metrics_addr) = match config.metrics_listen {
            Some(address) => bind(address).await.map(|(listener, at)| (Some(Listening::plain(listener)), Some(at)))?,
            None => (None, None),
        };
        let node_listen = config.cluster.as_ref().and_then(|settings| settings.listen);
        let for_nodes = match (nodes.clone(), node_listen) {
            (Some(tls), Some(address)) => {
                let plain = Listening::plain(bind(address).await?.0);
                Some(Listening { protocol: ListenerProtocol::Nodes(tls), ..plain })
            }
            _ => None,
        };
        let certificates = Certificates { server, nodes };
        Ok(Self { own, local_addr, metrics, metrics_addr, nodes: for_nodes, certificates })
    }

    /// Serves all addresses until the server stops.
    pub(super) async fn serve(self, app: App, router: Router) {
        let (limits, stopping) = (app.limits.clone(), app.stopping.clone());
        let metrics = routes::metrics_alone(&app);
        drop(app);
        let stopped = || stopping.clone();
        tokio::join!(
            serve(self.own, router.clone(), &limits, stopped()),
            serve_further(self.metrics, metrics, &limits, stopped()),
            serve_further(self.nodes, router, &limits, stopped()),
            self.certificates.follow(stopped())
        );
    }
}

async fn serve_further(
    listening: Option<Listening>,
    router: Router,
    limits: &ServerLimits,
    stopping: CancellationToken,
) {
    if let Some(listening) = listening {
        serve(listening, router, limits, stopping).await;
    }
}

pub(super) async fn bind(address: SocketAddr) -> Result<(TcpListener, SocketAddr), StartError> {
    let bound = async {
        let listener = TcpListener::bind(address).await?;
        let address = listener.local_addr()?;
        Ok((listener, address))
    };
    bound.await.map_err(|reason| StartError::Listen { address, reason })
}
