//! Further addresses for foreign protocols, behind the same checks of `Host` and `Origin`, limits and timeouts as REST.

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};

use axum::Router;
use tokio_util::sync::CancellationToken;

use super::{RunningServer, StartError, bind};
use crate::http::origin::AllowedOrigins;
use crate::http::{Listening, serve};
use crate::routes;

/// Facts about the server for a door.
#[derive(Debug, Clone)]
pub struct DoorContext {
    /// `http://127.0.0.1:PORT`: the server's address for a client on this machine.
    pub server: String,
    /// Limit of a request's body.
    pub max_request_bytes: usize,
    /// Cancelled when the server stops.
    pub stopping: CancellationToken,
}

impl RunningServer {
    /// Serves the router of a foreign protocol on a further address, and returns that address. Of browsers, only pages of
    /// that very address are let in.
    pub async fn open_door(&self, address: SocketAddr, router: Router) -> Result<SocketAddr, StartError> {
        let (listener, local) = bind(address).await?;
        let hosts = self
            .allowed_hosts
            .iter()
            .try_fold(AllowedOrigins::loopback(local.port(), false), |hosts, more| hosts.and(more))?;
        let limits = self.app.limits.clone();
        let stopping = self.app.stopping.clone();
        let router = routes::layered(router, &self.app, hosts);
        let serving = async move { serve(Listening::plain(listener), router, &limits, stopping).await };
        self.doors.spawn(serving);
        Ok(local)
    }

    /// Returns the facts that a door needs to reach this server.
    pub fn door_context(&self) -> DoorContext {
        let max_request_bytes = self.app.limits.max_request_bytes;
        DoorContext { server: self.address_here(), max_request_bytes, stopping: self.app.stopping.clone() }
    }

    fn address_here(&self) -> String {
        let mut address = self.local_addr;
        if address.ip().is_unspecified() {
            address.set_ip(if address.is_ipv4() { Ipv4Addr::LOCALHOST.into() } else { Ipv6Addr::LOCALHOST.into() });
        }
        format!("http://{address}")
    }
}
