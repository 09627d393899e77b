//! Doors that are mounted beside the server's own routes, in the same process: the handlers of `/jupyter` and of code in kernels.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::path::PathBuf;

use axum::Router;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::RunningServer;

/// Access of a door in this process to the server: REST and a socket, as every client has.
pub struct MountContext {
    /// The server's routes with their guards and limits.
    pub api: Router,
    /// Address of the server for connections from this machine.
    pub address: String,
    /// Cancelled when the server stops.
    pub stopping: CancellationToken,
    /// Tasks for which the server waits when it stops, within its timeout.
    pub tasks: TaskTracker,
    /// The data folder.
    pub folder: PathBuf,
}

impl RunningServer {
    pub fn mount_context(&self) -> MountContext {
        let address = match self.local_addr.ip() {
            IpAddr::V4(ip) if ip.is_unspecified() => (Ipv4Addr::LOCALHOST, self.local_addr.port()).into(),
            IpAddr::V6(ip) if ip.is_unspecified() => (Ipv6Addr::LOCALHOST, self.local_addr.port()).into(),
            _ => self.local_addr,
        };
        let stopping = self.app.stopping.clone();
        let (tasks, folder) = (self.doors.clone(), self.folder.clone());
        MountContext { api: self.router.clone(), address: format!("http://{address}"), stopping, tasks, folder }
    }

    /// Sets the door that answers requests of code in kernels (`routes/kernel_requests.rs`). It is dropped when the server shuts down.
    pub fn mount_kernel_door(&self, router: Router) {
        self.app.kernel_door.set(Some(router));
    }

    /// Opens `/jupyter`; before, it answers 404. The handler is dropped when the server shuts down.
    pub fn mount_jupyter(&self, router: Router) {
        self.app.jupyter.set(Some(router));
    }
}
