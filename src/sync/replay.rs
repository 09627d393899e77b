//! From stored events to the state: how a room, or anybody who checks a log, loads a notebook.

use std::sync::Arc;

use notarium_core::{ChainError, Head, Notebook, NotebookId, Stored, Version, verify_chain};

/// Why nobody may write on top of a state. Each with the sentence that names the place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReadOnly {
    /// An event that this build does not know.
    Unknown(String),
    /// An event that cannot be read, or that is not the one that was written.
    Damaged(String),
}

/// A notebook as it was loaded.
#[derive(Debug, Clone)]
pub struct Loaded {
    /// At the head, or before the first event that this build does not know or that is damaged.
    pub notebook: Arc<Notebook>,
    /// Of the log.
    pub head: Head,
    /// Events up to the notebook's version, gapless; at least the last one.
    pub recent: Vec<Stored>,
    /// Why the notebook does not stand at the head: nobody may write on top of it.
    pub read_only: Option<ReadOnly>,
    /// Of the snapshot that the load began with; 0: none.
    pub snapshot_version: Version,
}

/// Folds stored events into a notebook, and checks their chain.
#[derive(Debug, Clone)]
pub struct Replay {
    notebook: Notebook,
    head: Head,
    read_only: Option<ReadOnly>,
    snapshot_version: Version,
}

impl Replay {
    /// From the first event on.
    pub fn new(notebook_id: NotebookId) -> Self {
        Self { notebook: Notebook::new(notebook_id), head: Head::START, read_only: None, snapshot_version: 0 }
    }

    /// From a snapshot on, whose state is the one at `head`.
    pub fn from_snapshot(notebook: Notebook, head: Head) -> Self {
        Self { notebook, head, read_only: None, snapshot_version: head.version }
    }

    pub fn head(&self) -> Head {
        self.head
    }

    /// The state up to [`Self::version`].
    pub fn notebook(&self) -> Arc<Notebook> {
        Arc::new(self.notebook.clone())
    }

    /// Every event up to the head is folded in.
    pub fn is_at_head(&self) -> bool {
        self.read_only.is_none()
    }

    /// The notebook's: the head's, or that of the last event before an unknown one.
    pub fn version(&self) -> Version {
        self.notebook.version
    }

    /// Folds the events in that follow; those that are in already are passed over. From the first unknown event on, the chain
    /// alone is checked: what would be folded in on top of it could be wrong.
    ///
    /// # Errors
    /// The first break of the chain; nothing after it was applied.
    pub fn apply(&mut self, events: &[Stored]) -> Result<(), ChainError> {
        let applied = self.head.version;
        for stored in events.iter().filter(|stored| stored.envelope.version > applied) {
            self.head = verify_chain(self.head, [stored])?;
            if self.read_only.is_some() {
                continue;
            }
            match stored.typed() {
                Ok(recorded) => self.notebook.apply(&recorded),
                Err(error) => {
                    self.read_only = Some(ReadOnly::Unknown(format!("version {}: {error}", self.head.version)));
                }
            }
        }
        Ok(())
    }

    /// What is proven of a record that is damaged after it. `end`: of the log, as far as it is known.
    pub fn stop(self, recent: Vec<Stored>, reason: String, end: Head) -> Loaded {
        let head = if end.version > self.head.version { end } else { self.head };
        let loaded = self.finish(recent);
        Loaded { head, read_only: loaded.read_only.or(Some(ReadOnly::Damaged(reason))), ..loaded }
    }

    /// `recent`: events up to the notebook's version or beyond it, gapless, for the room's memory.
    pub fn finish(self, mut recent: Vec<Stored>) -> Loaded {
        let Self { notebook, head, read_only, snapshot_version } = self;
        recent.retain(|stored| stored.envelope.version <= notebook.version);
        Loaded { notebook: Arc::new(notebook), head, recent, read_only, snapshot_version }
    }
}
