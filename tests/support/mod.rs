//! What end-to-end tests share: a real server in this process, and clients that keep what real clients would keep.

#![allow(dead_code, unused_imports, reason = "each test binary uses a part of it")]

mod client;
mod http;
mod server;

pub use client::{Replica, TestClient};
pub use http::{Answer, Http};
pub use server::{Person, TestServer};

use std::time::Duration;

/// A wait for something that never comes ends here.
pub const PATIENCE: Duration = Duration::from_secs(120);
