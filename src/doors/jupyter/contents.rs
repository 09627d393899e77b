//! `/api/contents`: notebooks by workspace as folders, and the working files of each notebook.

mod backing;
mod checkpoints;
mod handlers;
mod paths;
mod saving;

pub use backing::{BackingFiles, is_backing, name_before_mark};
pub use handlers::{routes, time};
pub use paths::{ContentPlace, NotebookEntry, Tree, find, segment};
