//! Shared fixtures of end-to-end tests: a real server in this process, and clients with the state of real ones.

#![allow(dead_code, unused_imports, reason = "each test binary uses a part of it")]

mod client;
mod http;
pub mod moto;
mod server;
pub mod terminal;
pub mod webhooks;

pub use client::{Replica, TestClient};
pub use http::{Answer, Http, client, client_builder};
pub use server::{Person, TestServer};

use std::time::Duration;

/// Timeout of a wait for an event that never comes.
pub const PATIENCE: Duration = Duration::from_secs(180);
