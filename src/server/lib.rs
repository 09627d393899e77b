//! The server: HTTP, sockets, accounts, one task per open notebook, read models.
//!
//! Only this crate knows HTTP.

pub mod auth;
pub mod clock;
pub mod extract;
pub mod files;
pub mod guard;
pub mod origin;
pub mod problem;
pub mod rooms;
pub mod routes;
