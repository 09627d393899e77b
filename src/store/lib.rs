//! The store: where events, heads and commands are kept, and what follows from them.
//!
//! Purpose: [`EventStore`] is the trait that the server writes to; [`Sqlite`] is the default
//! backend, [`Memory`] is for tests and simulations.
//!
//! Every backend passes the one suite in `tests/contract`.
//!
//! Invariants:
//! - An append that returned `Ok` is on disk: a process killed an instant later has lost nothing of it.
//! - Events, head and command ids of an append are written together or not at all.
//! - Versions of a notebook are gapless: an append whose `expected` is not the head writes nothing.
//! - The payload that is read is byte for byte the payload that was written; unknown event types survive.
//! - A blob is on disk, and its bytes have the hash that names it, before the event that names it is appended.
//!
//! This crate must never read the clock, decide what an event means for a notebook, or know HTTP. Only it knows SQL.

pub mod accounts;
pub mod backup;
pub mod blobs;
mod catalog;
mod event_store;
mod memory;
mod snapshots;
pub mod sqlite;

pub use blobs::{BlobError, Blobs};
pub use event_store::*;
pub use memory::Memory;
pub use snapshots::{MAX_SNAPSHOT_GAP, Snapshot, SnapshotError};
pub use sqlite::Sqlite;
