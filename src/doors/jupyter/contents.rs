//! `/api/contents`: notebooks by workspace as folders, and the working files of each notebook.

mod checkpoints;
mod handlers;
mod paths;
mod saving;

pub use handlers::{routes, time};
pub use paths::{ContentPlace, NotebookEntry, Tree, find};
