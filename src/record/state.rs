//! Parts of a document. No event carries one of these structs.

mod cell;
mod conversation;
mod execution;
mod kernel;
mod reply;
mod thread;
mod tool_call;

pub use cell::*;
pub use conversation::*;
pub use execution::*;
pub use kernel::*;
pub use reply::*;
pub use thread::*;
pub use tool_call::*;
