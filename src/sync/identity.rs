//! Who speaks to a room, and what a reader gets.

use std::sync::Arc;

use notarium_core::reactivity::KnownNames;
use notarium_core::{Actor, Authority, Head, Notebook, Role};
use notarium_wire::KernelStatus;

/// One connection, for the life of the process. Never on the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClientId(pub u64);

/// Who a connection is now: stamped by the server, never read from a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    pub actor: Actor,
    pub authority: Authority,
    /// For people to read, in presence.
    pub name: String,
    /// The name of the connection in presence.
    pub connection: String,
}

/// A notebook as it is: everything in it is on disk.
#[derive(Debug, Clone)]
pub struct ReadState {
    pub notebook: Arc<Notebook>,
    pub head: Head,
    /// Of the reader.
    pub role: Role,
    pub kernels: Vec<KernelStatus>,
    /// Of the cells of a reactive notebook, as far as they were looked at.
    pub names: Arc<KnownNames>,
    /// A newer server has written this notebook: commands are refused.
    pub read_only: bool,
    /// People and guests who follow it, with their names for people: each once, at most [`Self::MAX_HERE`].
    pub here: Vec<(Actor, String)>,
}

impl ReadState {
    /// Connections that are looked at for those who are here.
    pub const MAX_HERE: usize = 20;
}
