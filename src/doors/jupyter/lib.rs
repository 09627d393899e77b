//! The Jupyter door: Jupyter Server's REST API and rooms, for JupyterLab, VS Code, `jupyter-nbmodel-client`, `jupyter-kernel-client` and
//! other programs that speak them.
//!
//! Purpose: people stay in their tool and work in a shared notebook. The binary mounts [`router`] under `/jupyter`, behind the server's
//! guards.
//!
//! Invariants:
//! - The record is the truth. Jupyter's shared document is a projection of it: a client's update becomes commands, and a refused one is
//!   undone at that client.
//! - The door has no right that its caller lacks: each request and each socket uses the caller's own token, over the same REST API and
//!   the same socket as everybody else.
//! - Everything is bounded ([`JupyterLimits`]), and two histories of a document are never merged.
//!
//! Files: `door` (state, routes), `api` (REST of the server), `contents/` (notebooks and working files by path), `kernels` and `execute`,
//! `record` (notebooks for runs of
//! files and consoles that are elsewhere), `channels/` (a kernel's WebSocket), `document/` (pure: the Y document and its commands), `rooms/` (one task per open notebook).
//!
//! This crate must never depend on the server, the store or the core's decisions.

mod api;
mod body;
mod channels;
mod contents;
mod document;
mod door;
mod error;
mod execute;
mod kernels;
mod limits;
mod record;
mod rooms;

pub use door::{DoorOptions, router};
pub use limits::JupyterLimits;
