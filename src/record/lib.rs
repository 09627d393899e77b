//! The record of Notarium: the log, and the document that is folded from it.
//!
//! Purpose: the value types, the events and their envelope, the hash chain, the text changes, and the [`Document`] with
//! its `apply`. This is all that a client needs in order to follow a notebook.
//!
//! Invariants:
//! - No async, clock, environment, randomness, threads, I/O or hash-ordered maps.
//! - [`Document::apply`] is total: it cannot fail, and an event that no longer fits is ignored rather than guessed at.
//!   It has no constant, time window or eviction, so that a client in any language can follow it.
//! - Events carry value types; the structs in `document/` belong to the document alone.
//!
//! This crate must never know a command, a tool, a parser, or any other part.
//!
//! Files:
//! - values: `ids` (with hashes and salts), `json` (raw JSON, open enums), `access` (actors, roles), `cause`, `cell` (with
//!   order keys), `effects`, `execution` (with outputs), `message` (with replies), `placement` (of kernels), `schedule`, `tool_call` (with functions), `text/` (changes)
//! - the log: `event/` (payloads), `upcast`, `envelope` (hash chain, appends), `history_query`, `stand_in` (redacted payloads)
//! - `document/`: parts of the document, and `apply` of the events that change them: `cells`, `executions`, `kernels`,
//!   `assistants`, `schedules`

#![warn(missing_docs)]

mod access;
mod cause;
mod cell;
mod document;
mod effects;
mod envelope;
mod environment;
mod event;
mod execution;
mod history_query;
mod ids;
mod json;
mod message;
mod placement;
mod schedule;
pub mod stand_in;
pub mod text;
mod tool_call;
pub mod upcast;

pub use access::*;
pub use cause::*;
pub use cell::{CellContent, CellFlags, CellType, OrderKey, SQL_LINE, is_default};
pub use document::{
    Document, Erasure, assistants::*, canonical_json, cells::*, executions::*, kernels::*, schedules::*,
};
pub use effects::*;
pub use envelope::{
    Append, ChainError, CommandRecord, ERASED, Envelope, Epoch, Head, Logged, NewEvent, Recorded, Stored, in_order,
    verify_chain,
};
pub use environment::*;
pub use event::*;
pub use execution::*;
pub use history_query::{HistoryQuery, Past, ReplayedExecution, Selection, Written};
pub use ids::*;
pub use json::{OPEN, Open, RawJson, RawObject, compact};
pub use message::*;
pub use placement::*;
pub use schedule::*;
pub use stand_in::{ContentRemoval, StandIn};
pub use tool_call::*;
pub use upcast::DecodeError;
