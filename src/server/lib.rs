//! The server: HTTP, sockets, accounts, one task per open notebook, read models.
//!
//! Purpose: [`Server::start`] opens the data, and serves REST, WebSocket and server-sent events. It brings waiting kernels
//! and runtime agents together, and resumes work that was under way. [`RunningServer::shut_down`] ends it in good order.
//!
//! Invariants:
//! - Every route has a guard: [`http::guard::GuardedRouter`] is the only way to add one. Every error is a problem, and every
//!   invalid message gets an answer that says what to do.
//! - A token is never read from a URL. Rights are checked at each operation; a revocation acts on live connections.
//! - Memory per connection is bounded. A slow reader is caught up from the log or disconnected, and does not slow others.
//! - A blob that an event names is on disk, under the notebook, with the hash that names it.
//!
//! This crate must never decide what a command does (the core does) or in which order things are shown (the rooms do).
//! Only this crate knows HTTP.

mod agents;
mod app;
mod assistants;
pub mod auth;
mod blobs;
pub mod http;
mod limits;
mod notebooks;
pub mod rooms;
pub mod routes;
mod server;
mod socket;

pub use crate::server::StartError;
pub use agents::Agents;
pub use app::App;
pub use assistants::AssistantHost;
pub use auth::oidc::{InvalidOidc, OidcSettings};
pub use limits::clock::Clock;
pub use limits::{Quota, Quotas, ServerLimits};
pub use server::{RunningServer, Server, ServerConfig};
