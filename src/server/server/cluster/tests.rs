//! Several servers over one store.

mod any_node;
mod certificates;
mod requests;
mod scene;
mod schedules;
mod sockets;
mod support;
mod traces;
