//! The server: HTTP, sockets, accounts, one task per open notebook, read models.
//!
//! Purpose: [`Server::start`] opens the data, and serves REST, WebSocket and server-sent events. It brings waiting kernels
//! and runtime agents together, and resumes work that was under way. [`RunningServer::shut_down`] ends it in good order.
//!
//! Invariants:
//! - Every route has a guard: [`guard::GuardedRouter`] is the only way to add one. Every error is a problem, and every
//!   invalid message gets an answer that says what to do.
//! - A token is never read from a URL. Rights are checked at each operation; a revocation acts on live connections.
//! - Memory per connection is bounded. A slow reader is caught up from the log or disconnected, and does not slow others.
//! - A blob that an event names is on disk, under the notebook, with the hash that names it.
//!
//! This crate must never decide what a command does (the core does) or in which order things are shown (the rooms do).
//! Only this crate knows HTTP.

mod agent_locks;
mod agent_outputs;
mod agents;
mod allowed;
mod app;
mod ask_kernel;
pub mod assistant_host;
mod attachments;
pub mod auth;
mod blob_check;
mod blob_claims;
mod blobs;
mod call_pace;
mod chat;
mod checks;
pub mod clock;
mod diff;
pub mod extract;
pub mod files;
mod fork;
pub mod guard;
mod kernel_questions;
mod leftover;
mod limits;
mod listing;
mod log_watch;
mod mcp;
mod memo;
mod notices;
mod oidc;
mod open_files;
mod openapi;
pub mod origin;
mod outgrown;
mod pace;
mod page;
mod places;
pub mod problem;
mod proxies;
mod read_budget;
mod replay;
mod rights;
pub mod rooms;
pub mod routes;
#[cfg(test)]
mod scratch;
mod serve;
mod server;
mod snippets;
mod socket;
mod standings;
mod start_error;
mod state_texts;
mod storage;
mod sweep;
mod templates;
mod transfers;
mod turn_activity;
pub mod usage;
mod window;
mod withdrawals;
mod word;
mod working_files;

pub use agents::Agents;
pub use app::App;
pub use limits::{Quota, Quotas, ServerLimits};
pub use oidc::{InvalidOidc, OidcSettings};
pub use server::{RunningServer, Server, ServerConfig};
pub use start_error::StartError;
