//! Doors: ways in for clients that speak another protocol.

use std::net::SocketAddr;

use clap::{Args, ValueEnum};
use notarium_dialoghelper_door::{DialoghelperDoor, DoorRouters};
use notarium_jupyter_door::{DoorOptions, JupyterLimits};
use notarium_server::{DoorContext, MountContext, RunningServer, StartError};

use crate::cli::serve::address;
use crate::cli::terminal::print::announce;
use crate::cli::{Ended, Failure};

/// Folder of Jupyter's shared documents, in the data folder. Disposable.
const SHARED_DOCUMENTS: &str = "jupyter";

/// Doors to open, and their addresses.
#[derive(Debug, Args)]
#[command(next_help_heading = "Doors for other clients")]
pub struct DoorArgs {
    /// Opens a door for clients that speak another protocol; may be repeated. `up` opens all of them.
    #[arg(long, value_name = "NAME", env = "NOTARIUM_DOOR", value_delimiter = ',', value_enum)]
    door: Vec<DoorName>,
    /// Address and port for clients of dialoghelper, who call port 5001 unless they are told another one.
    #[arg(long, default_value = "127.0.0.1:5001", value_name = "ADDRESS", env = "NOTARIUM_DIALOGHELPER_LISTEN", value_parser = address)]
    dialoghelper_listen: SocketAddr,
}

/// Protocols of doors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum DoorName {
    /// Clients of dialoghelper (Solveit).
    Dialoghelper,
    /// Jupyter Server's API, for JupyterLab, VS Code and other programs: <server>/jupyter.
    Jupyter,
}

impl DoorArgs {
    /// Opens the doors that are asked for.
    pub async fn open(&self, server: &RunningServer) -> Ended {
        if self.door.contains(&DoorName::Jupyter) {
            jupyter(server);
        }
        if self.door.contains(&DoorName::Dialoghelper) {
            let address = dialoghelper(server, self.dialoghelper_listen).await?;
            announce(format_args!("dialoghelper: http://{address}"));
        }
        Ok(())
    }

    /// Opens all doors. A door whose port is taken gets another one; without any, the server goes on.
    pub async fn open_all(&self, server: &RunningServer) {
        jupyter(server);
        let wanted = self.dialoghelper_listen;
        let mut opened = dialoghelper(server, wanted).await;
        if opened.is_err() {
            opened = dialoghelper(server, SocketAddr::new(wanted.ip(), 0)).await;
        }
        match opened {
            Ok(address) if address.port() == wanted.port() || wanted.port() == 0 => {
                announce(format_args!("dialoghelper: http://{address}"));
            }
            Ok(address) => announce(format_args!(
                "dialoghelper: http://{address} (port {} is taken: set dh_settings['port'] = {})",
                wanted.port(),
                address.port()
            )),
            Err(failure) => eprintln!("No door for dialoghelper: {failure}"),
        }
    }
}

async fn dialoghelper(server: &RunningServer, address: SocketAddr) -> Result<SocketAddr, Failure> {
    let DoorContext { server: url, max_request_bytes, stopping } = server.door_context();
    let routers = DialoghelperDoor::routers(&url, max_request_bytes, stopping);
    let DoorRouters { clients, kernels } =
        routers.map_err(|error| Failure::failed(format!("no HTTP client: {error}")))?;
    server.mount_kernel_door(kernels);
    server.open_door(address, clients).await.map_err(|error| match error {
        StartError::Listen { address, reason } => Failure::failed(format!(
            "cannot listen on {address} for dialoghelper: {reason}; choose another address (--dialoghelper-listen)"
        )),
        error => Failure::failed(error.to_string()),
    })
}

fn jupyter(server: &RunningServer) {
    let MountContext { api, address, stopping, tasks, folder } = server.mount_context();
    let (folder, limits) = (Some(folder.join(SHARED_DOCUMENTS)), JupyterLimits::default());
    let options = DoorOptions { api, server: address, stopping, tasks, folder, limits };
    server.mount_jupyter(notarium_jupyter_door::router(options));
    announce(format_args!("Jupyter: {}/jupyter (docs/jupyter.md)", server.url()));
}
