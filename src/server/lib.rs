//! The server: HTTP, sockets, accounts, one task per open notebook, read models.
//!
//! Only this crate knows HTTP.

mod agents;
mod app;
pub mod auth;
mod blob_check;
mod blobs;
pub mod clock;
pub mod extract;
pub mod files;
mod fork;
pub mod guard;
mod limits;
pub mod origin;
pub mod problem;
mod replay;
mod rights;
pub mod rooms;
pub mod routes;
mod server;
mod socket;
mod storage;

pub use agents::Agents;
pub use app::App;
pub use limits::ServerLimits;
pub use server::{RunningServer, Server, ServerConfig, StartError, Stores};
pub use storage::Storage;
