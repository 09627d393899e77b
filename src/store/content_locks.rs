//! Keeps redactions apart from writes that are derived from the log. Such a write holds a lock from before it reads the log until it is done, so
//! that a redaction does not miss what it leaves.

use std::hash::BuildHasher;
use std::sync::Arc;

use notarium_record::NotebookId;
use tokio::sync::{OwnedRwLockReadGuard, OwnedRwLockWriteGuard, RwLock};

/// Number of locks; notebooks share them.
const STRIPES: usize = 256;

/// Held while something is derived from the log of a notebook.
pub type ContentReading = OwnedRwLockReadGuard<()>;

/// Held while content of a notebook is removed.
pub type ContentWriting = OwnedRwLockWriteGuard<()>;

/// Locks of all notebooks of a store.
#[derive(Debug)]
pub struct ContentLocks {
    stripes: Vec<Arc<RwLock<()>>>,
    hasher: foldhash::fast::FixedState,
}

impl Default for ContentLocks {
    fn default() -> Self {
        let stripes = std::iter::repeat_with(Arc::default).take(STRIPES).collect();
        Self { stripes, hasher: foldhash::fast::FixedState::default() }
    }
}

impl ContentLocks {
    fn of(&self, notebook: &NotebookId) -> Arc<RwLock<()>> {
        let index = self.hasher.hash_one(notebook) % STRIPES as u64;
        self.stripes[usize::try_from(index).unwrap_or(0)].clone()
    }

    /// Begins a derived write. `None`: content is being removed, so leave the write out.
    pub fn try_read(&self, notebook: &NotebookId) -> Option<ContentReading> {
        self.of(notebook).try_read_owned().ok()
    }

    /// Waits for derived writes, and keeps others off.
    pub async fn write(&self, notebook: &NotebookId) -> ContentWriting {
        self.of(notebook).write_owned().await
    }
}
