//! Parts of a document. No event carries one of these structs.

mod cell;
mod conversation;
mod kernel;
mod reply;
mod thread;
mod tool_call;

pub use crate::document::executions::*;
pub use cell::*;
pub use conversation::*;
pub use kernel::*;
pub use reply::*;
pub use thread::*;
pub use tool_call::*;
