//! The wire: JSON messages between clients and server, and the file formats for import and export.
//!
//! Purpose: every message that crosses a socket is a type of this crate. `protocol/README.md` describes them. The JSON Schemas in
//! `protocol/schema/` are generated from here, and the golden files in `protocol/golden/` keep all languages consistent.
//!
//! Invariants:
//! - Pure: no I/O, clock or environment.
//! - Values without a type are passed on as the received text (`RawJson`), never re-serialised.
//! - A message with an unknown type or field is refused with a sentence that names the expected one.
//!
//! Files: messages of the socket (`client_message`, `server_message`, `frame`), data beside the log (`live`, `machines`, `working_files`), questions to
//! kernels (`kernel_questions`, `kernel_tables`, `connection_schema`, and `kernel_tools`, code that runs there), `schema` (JSON Schemas),
//! requests of code in kernels (`kernel_requests`), `rest/` (bodies of REST), `ipynb/` (files of Jupyter).
//!
//! This crate must never decide anything about a notebook: that is the core's task.

#![warn(missing_docs)]

mod client_message;
mod connection_schema;
pub mod frame;
pub mod ipynb;
mod kernel_environment;
mod kernel_questions;
mod kernel_requests;
mod kernel_tables;
pub mod kernel_tools;
mod live;
mod machines;
pub mod parameters;
pub mod record_manifest;
pub mod rest;
pub mod schema;
mod server_message;
pub mod signed_head;
pub mod signed_names;
pub mod signed_note;
pub mod tree_log;
mod working_files;

pub use client_message::*;
pub use connection_schema::*;
pub use kernel_environment::*;
pub use kernel_questions::*;
pub use kernel_requests::*;
pub use kernel_tables::*;
pub use live::*;
pub use machines::*;
pub use server_message::*;
pub use working_files::*;

/// Protocol versions that this build speaks.
pub const PROTOCOLS: ProtocolRange = ProtocolRange { min: 1, max: 1 };

/// Version of the rules by which events are folded into a document.
pub const DOCUMENT: u32 = 1;
