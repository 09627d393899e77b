//! Identity of a connection to a room, and the state that a reader gets.

use std::sync::Arc;

use notarium_core::reactive::KnownNames;
use notarium_core::{Actor, Authority, Head, Notebook, Role};
use notarium_wire::KernelStatus;

/// Id of one connection, unique within the process. Never on the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClientId(pub u64);

/// Actor and authority of a connection now: set by the server, never read from a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    pub actor: Actor,
    pub authority: Authority,
    /// Display name in presence.
    pub name: String,
    /// Name of the connection in presence.
    pub connection: String,
}

/// A notebook's state; everything in it is on disk.
#[derive(Debug, Clone)]
pub struct ReadState {
    pub notebook: Arc<Notebook>,
    pub head: Head,
    /// Role of the reader.
    pub role: Role,
    pub kernels: Vec<KernelStatus>,
    /// Names in the cells of a reactive notebook, as far as they have been analysed.
    pub names: Arc<KnownNames>,
    /// True if a newer server has written this notebook: commands are refused.
    pub read_only: bool,
    /// People and guests in the notebook, with their display names: each once, at most [`Self::MAX_HERE`].
    pub here: Vec<(Actor, String)>,
}

impl ReadState {
    /// Maximum number of connections that `here` considers.
    pub const MAX_HERE: usize = 20;
}
