//! Rooms: the live side of a notebook, as a pure state machine.
//!
//! Purpose: [`Room::handle`] takes what happened and the time, and returns what is to be done, in order: commands become
//! events, events are appended, shown and acked; clients join, catch up, see each other, and lose what they may not see.
//!
//! Invariants:
//! - Pure: no async, clock, randomness, threads, I/O or hash-ordered maps. Time and entropy are input.
//! - Nothing is shown, acked or answered before the append that holds it has been reported as synced. At most one append
//!   is in flight; what fails is thrown away and decided again on the state as it is stored.
//! - Events reach a client before the ack of the command that made them, gapless and in order.
//! - A slow client costs the others nothing: it is dropped from the fan-out and caught up later.
//!
//! This crate must never know HTTP, SQL or sockets.

mod answers;
#[cfg(test)]
mod behaviour;
mod config;
mod identity;
mod io;
mod late_edits;
mod leases;
mod queue;
mod rendering;
mod replay;
mod ring;
mod room;
#[cfg(test)]
mod simulation;
mod submission;

pub use config::RoomConfig;
pub use identity::{ClientId, Identity, ReadState};
pub use io::{AppendFailure, Input, Output, ReadFailure, Ticket};
pub use rendering::Rendered;
pub use replay::{Loaded, ReadOnly, Replay};
pub use room::Room;
pub use submission::{Caller, ReplyTo, Submission};
