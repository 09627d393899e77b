//! The record of Notarium: the log, and the document that is folded from it.
//!
//! Purpose: the value types, the events and their envelope, the hash chain, the text changes, and the [`Document`] with
//! its `apply`. This is all that a client needs in order to follow a notebook.
//!
//! Invariants:
//! - No async, clock, environment, randomness, threads, I/O or hash-ordered maps.
//! - [`Document::apply`] is total: it cannot fail, and an event that no longer fits is ignored rather than guessed at.
//!   It has no constant, time window or eviction, so that a client in any language can follow it.
//! - Events carry value types; the structs in `state` belong to the document alone.
//!
//! This crate must never know a command, a tool, a parser, or any other part.

#![warn(missing_docs)]

mod access;
mod actor;
mod append;
mod apply;
mod canonical;
mod cause;
mod cell;
mod document;
mod envelope;
mod event;
mod execution;
mod function;
mod hash;
mod history_query;
mod ids;
mod json;
mod logged;
mod message;
mod open;
mod order_key;
mod output;
mod replayed;
mod reply;
mod sentences;
mod state;
mod subject;
pub mod text;
mod tool_call;
pub mod upcast;

pub use access::*;
pub use actor::Actor;
pub use append::{Append, CommandRecord, Epoch, NewEvent};
pub use canonical::canonical_json;
pub use cause::*;
pub use cell::{CellContent, CellFlags, CellType, SQL_LINE};
pub use document::Document;
pub use envelope::{ChainError, Envelope, Head, Recorded, Stored, verify_chain};
pub use event::*;
pub use execution::*;
pub use function::{FunctionPlace, MissingFunctions, UserFunction};
pub use hash::{Hash, Salt};
pub use history_query::{HistoryQuery, Past, Selection};
pub use ids::*;
pub use json::{RawJson, RawObject, compact};
pub use logged::{Logged, in_order};
pub use message::*;
pub use open::{OPEN, Open};
pub use order_key::OrderKey;
pub use output::{BlobPart, Output};
pub use replayed::{ReplayedExecution, Written};
pub use reply::{CellReply, ReplyStatus};
pub use state::*;
pub use tool_call::*;
pub use upcast::DecodeError;
