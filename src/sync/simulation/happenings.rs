//! Things that happen in a simulated world, and its connections.

use std::sync::Arc;

use notarium_core::Millis;
use notarium_wire::{CommandMessage, PresenceState, SubscribeMessage};

use super::assistant::Step;
use crate::io::{Identity, Output};

/// A message from a client.
pub(super) enum Sent {
    Subscribe(SubscribeMessage),
    Command(CommandMessage),
    Presence(PresenceState),
}

pub(super) enum Happening {
    ToServer {
        connection: u64,
        sent: Sent,
    },
    ToClient {
        connection: u64,
        text: String,
        is_events: bool,
    },
    /// An answer of the disk; ignored if it belongs to an earlier run of the server.
    Disk {
        life: u64,
        question: Output,
    },
    Act(usize),
    Connect(usize),
    Break(usize),
    Crash,
    AgentDies,
    Tick {
        life: u64,
    },
    /// Lets the assistants' host look for work, and take one step.
    Wake {
        process: u64,
    },
    Step {
        process: u64,
        step: Step,
    },
    Calm,
    /// Lets the owner grant everybody a role again.
    Welcome,
}

pub(super) struct Connection {
    pub actor: usize,
    pub identity: Arc<Identity>,
    /// Arrival time of the last message in each direction, as messages do not overtake each other.
    pub to_server_at: Millis,
    pub to_client_at: Millis,
    pub events_on_the_way: usize,
    pub is_stalled: bool,
    /// True after the server was notified of the empty queue.
    pub is_reported: bool,
    /// Maximum delay of a message to the client.
    pub slowness: Millis,
}
