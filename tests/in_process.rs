//! End-to-end tests with a server in this process: its REST and sockets, the command line against it, and clients in other languages.
//! Tests that kill servers or need a real kernel are in `processes.rs`.
//!
//! A filter begins with a folder: `cargo test --test in_process server::chat`.

mod cli;
mod interop;
mod server;
mod support;
