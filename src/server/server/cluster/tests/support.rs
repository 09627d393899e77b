//! The clients of the end-to-end tests.

#![allow(dead_code, reason = "the tests of the cluster use a part of them")]

#[path = "../../../../../tests/support/client.rs"]
mod client;
#[path = "../../../../../tests/support/http.rs"]
mod http;

use std::time::Duration;

pub use client::TestClient;
pub use http::Http;

/// Timeout of a wait for an event that never comes.
pub const PATIENCE: Duration = Duration::from_secs(30);
