//! Assistants: models that work in a notebook like any collaborator.
//!
//! Purpose: calls models of any vendor and turns what they stream into one neutral shape, which a turn records, resumes
//! and acts on; says what a model is told of a notebook ([`state`]) and of outputs ([`preview`]).
//!
//! Invariants:
//! - Only [`providers`] knows a vendor: its wire format, its error texts, what its models can do.
//! - A key never leaves [`providers::Secret`] except into the header of a request: no `Debug`, no log, no error shows it.
//! - A reply counts as whole only when the model said why it stopped, never because the stream ended.
//! - A call is tried again only while nothing of it was handed out.
//!
//! This crate must never know the store or the server, and must never decide a confirmation.

pub mod assistants;
pub mod attachments;
pub mod caller;
pub mod context;
pub mod facts;
pub mod host;
pub mod mcp;
pub mod messages;
pub mod picture;
pub mod preview;
pub mod providers;
pub mod schema_text;
pub mod state;
pub mod turn;
