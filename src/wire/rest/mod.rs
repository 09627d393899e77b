//! Request and response types of the REST interface, shared by the server, the command line and other clients.
//! `protocol/openapi.json` is generated from these types.
//!
//! Clients ignore unknown fields in an answer; the server refuses them in a request.

mod access;
mod accounts;
mod answers;
mod assistants;
mod blobs;
mod calls;
mod cells;
mod chat;
mod comments;
mod files;
mod functions;
mod history;
mod identities;
mod kernels;
mod notebooks;
mod runs;
mod turns;
mod usage;
mod working_files;

pub use access::*;
pub use accounts::*;
pub use answers::*;
pub use assistants::*;
pub use blobs::*;
pub use calls::*;
pub use cells::*;
pub use chat::*;
pub use comments::*;
pub use files::*;
pub use functions::*;
pub use history::*;
pub use identities::*;
pub use kernels::*;
pub use notebooks::*;
pub use runs::*;
pub use turns::*;
pub use usage::*;
pub use working_files::*;
