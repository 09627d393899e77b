//! A kernel's WebSocket (`/api/kernels/{id}/channels`): requests become commands and questions, and the notebook's events become the
//! messages that a kernel would send.

mod frames;
mod replies;
mod session;

pub use session::serve;

/// Subprotocol with binary messages, besides JSON.
pub const SUBPROTOCOL: &str = "v1.kernel.websocket.jupyter.org";
