//! Several servers over one store.

mod requests;
mod scene;
mod sockets;
mod support;
mod traces;
