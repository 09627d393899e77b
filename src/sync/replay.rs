//! From stored events to the state: how a room, or anybody who checks a log, loads a notebook.

use std::sync::Arc;

use notarium_core::{ChainError, Head, Notebook, NotebookId, Stored, verify_chain};

/// A notebook as it was loaded.
#[derive(Debug, Clone)]
pub struct Loaded {
    pub notebook: Arc<Notebook>,
    pub head: Head,
    /// Events up to the head, gapless; at least the last one.
    pub recent: Vec<Stored>,
    /// The log holds events that this build does not know.
    pub read_only: bool,
    /// Of the snapshot that the load began with; 0: none.
    pub snapshot_version: u64,
}

/// Folds stored events into a notebook, and checks their chain.
#[derive(Debug, Clone)]
pub struct Replay {
    notebook: Notebook,
    head: Head,
    read_only: bool,
    snapshot_version: u64,
}

impl Replay {
    /// From the first event on.
    pub fn new(notebook_id: NotebookId) -> Self {
        Self { notebook: Notebook::new(notebook_id), head: Head::START, read_only: false, snapshot_version: 0 }
    }

    /// From a snapshot on, whose state is the one at `head`.
    pub fn from_snapshot(notebook: Notebook, head: Head) -> Self {
        Self { notebook, head, read_only: false, snapshot_version: head.version }
    }

    pub fn head(&self) -> Head {
        self.head
    }

    /// Folds the events in that follow; those that are in already are passed over.
    ///
    /// # Errors
    /// The first break of the chain; nothing after it was applied.
    pub fn apply(&mut self, events: &[Stored]) -> Result<(), ChainError> {
        let applied = self.head.version;
        for stored in events.iter().filter(|stored| stored.envelope.version > applied) {
            self.head = verify_chain(self.head, [stored])?;
            match stored.typed() {
                Ok(recorded) => self.notebook.apply(&recorded),
                Err(_) => self.skip_unknown(),
            }
        }
        Ok(())
    }

    /// An event of a newer server: what it changed is not known here.
    fn skip_unknown(&mut self) {
        self.read_only = true;
        let document = Arc::make_mut(&mut self.notebook.document);
        document.version = self.head.version;
        document.updated_at = self.head.recorded_at;
    }

    /// `recent`: events up to the head, gapless, for the room's memory.
    pub fn finish(self, recent: Vec<Stored>) -> Loaded {
        let Self { notebook, head, read_only, snapshot_version } = self;
        Loaded { notebook: Arc::new(notebook), head, recent, read_only, snapshot_version }
    }
}
