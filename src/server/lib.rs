//! The server: HTTP, sockets, accounts, one task per open notebook, read models.

pub mod files;
pub mod rooms;
