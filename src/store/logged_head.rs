//! Head of a notebook that is in the tree of heads.

use notarium_record::{NotebookId, Version};

/// Head of a notebook that is a leaf of the tree of heads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoggedHead {
    pub notebook_id: NotebookId,
    /// Version of the head.
    pub version: Version,
    /// Place in the tree.
    pub leaf: u64,
}
