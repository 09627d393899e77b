//! Rooms: the live side of a notebook, as a pure state machine.
//!
//! Purpose: [`Identity`], [`ClientId`] and what a room tells of itself. The room decides in which order things happen:
//! commands become events, events are appended, shown and acked.
//!
//! Invariants:
//! - Pure: no async, clock, randomness, threads, I/O or hash-ordered maps. Time and entropy are input.
//! - Nothing is shown, acked or answered before the append that holds it has been reported as synced.
//!
//! This crate must never know HTTP, SQL or sockets.

mod identity;

pub use identity::{ClientId, Identity, ReadState};
