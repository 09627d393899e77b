//! Rooms: the live side of a notebook, as a pure state machine.
//!
//! Purpose: [`Room::handle`] takes an input and the time, and returns actions in order. Commands become events; events are appended, sent
//! and acked. Clients join, catch up, see each other, and stop getting what they may no longer see.
//!
//! Invariants:
//! - Pure: no async, clock, randomness, threads, I/O or hash-ordered maps. Time and entropy are input.
//! - Nothing is sent, acked or answered before the append that contains it is reported as synced. At most one append is in flight; a failed
//!   one is discarded and its commands are decided again on the stored state.
//! - Events reach a client before the ack of the command that made them, gapless and in order.
//! - A slow client costs the others nothing: it is removed from the fan-out and caught up later.
//!
//! Files: `io` (inputs and outputs, identities), `decoded_command`, `replay` (stored events to a state), `ring` (recent events in memory), `cell_changes` (those
//! over which late edits are mapped),
//! `room` (the state machine) with its steps in `room/`: `loading` (and recovery from failures), `queue` (waiting commands), `set_aside` (those that wait for a scan of the store), `batch` (their
//! decision and its effects), `answers`, `joining` (catch-up), `subscribers` (roles and fan-out), `kernels`, `live` (presence and
//! activity), `maintenance` (timers). Tests: `behaviour`, and `simulation` with faults.
//!
//! This crate must never know HTTP, SQL or sockets.

#[cfg(test)]
mod behaviour;
mod cell_changes;
mod decoded_command;
mod io;
mod replay;
mod ring;
mod room;
#[cfg(test)]
mod simulation;

pub use decoded_command::{DecodedCommand, UndecodedCommand};
pub use io::{
    AppendFailure, Caller, ClientId, ClientInput, Identity, Input, Output, OutsideFacts, ReadFailure, ReadState,
    Rendered, ReplyTo, Submission, Ticket,
};
pub use replay::{Loaded, ReadOnly, Replay};
pub use room::{Room, RoomConfig};
