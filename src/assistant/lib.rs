//! Assistants: models that work in a notebook like any collaborator.
//!
//! Purpose: calls models of any vendor and turns their streams into one neutral shape, which a turn records, resumes
//! and acts on; renders a notebook ([`state`]) and outputs ([`preview`]) for models.
//!
//! Invariants:
//! - Only [`providers`] knows a vendor: its wire format, its error texts, its models' capabilities.
//! - A key never leaves [`providers::Secret`] except into the header of a request: no `Debug`, no log, no error shows it.
//! - A reply counts as whole only if the model gave a stop reason, never because the stream ended.
//! - A call is retried only while no part of it was handed out.
//! - Encrypted reasoning is in memory only, until its turn ends: it is never serialized.
//!
//! This crate must never know the store or the server, and must never decide a confirmation.

pub mod assistants;
pub mod context;
pub mod host;
mod instructions;
pub mod mcp;
pub mod preview;
pub mod providers;
pub mod schema_text;
pub mod state;
pub mod turn;
