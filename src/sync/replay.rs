//! Replays stored events to a state: for rooms that load a notebook, and for checks of a log.

use std::sync::Arc;

use notarium_core::{ChainError, Head, Notebook, NotebookId, Stored, Version, verify_chain};

/// Reason why a notebook is read-only, with a sentence that names the place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReadOnly {
    /// This build does not know an event.
    Unknown(String),
    /// An event cannot be read, or differs from the one that was written.
    Damaged(String),
}

/// A loaded notebook.
#[derive(Debug, Clone)]
pub struct Loaded {
    /// State at the head, or before the first event that is unknown or damaged.
    pub notebook: Arc<Notebook>,
    /// Head of the log.
    pub head: Head,
    /// Events up to the notebook's version, gapless; at least the last one.
    pub recent: Vec<Stored>,
    /// Reason why the state is not at the head, so that no append is allowed.
    pub read_only: Option<ReadOnly>,
    /// Version of the snapshot with which the load began; 0: none.
    pub snapshot_version: Version,
}

/// Folds stored events into a notebook, and verifies the hash chain.
#[derive(Debug, Clone)]
pub struct Replay {
    notebook: Notebook,
    head: Head,
    read_only: Option<ReadOnly>,
    snapshot_version: Version,
}

impl Replay {
    /// Starts at the first event.
    pub fn new(notebook_id: NotebookId) -> Self {
        Self { notebook: Notebook::new(notebook_id), head: Head::START, read_only: None, snapshot_version: 0 }
    }

    /// Starts at a snapshot, whose state is the one at `head`.
    pub fn from_snapshot(notebook: Notebook, head: Head) -> Self {
        Self { notebook, head, read_only: None, snapshot_version: head.version }
    }

    pub fn head(&self) -> Head {
        self.head
    }

    /// Returns the state at [`Self::version`].
    pub fn notebook(&self) -> Arc<Notebook> {
        Arc::new(self.notebook.clone())
    }

    /// Returns true if every event up to the head is folded in.
    pub fn is_at_head(&self) -> bool {
        self.read_only.is_none()
    }

    /// Returns the notebook's version: the head's, or that of the last event before an unknown one.
    pub fn version(&self) -> Version {
        self.notebook.version
    }

    /// Folds in events that follow; earlier ones are skipped. From the first unknown event on only the hash chain is checked, as later
    /// events would be folded into a wrong state.
    ///
    /// # Errors
    /// Returns the first break of the chain; no event from there on is applied.
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

    /// Ends a replay at a damaged event, with the verified part. `end`: head of the log, as far as it is known.
    pub fn stop(self, recent: Vec<Stored>, reason: String, end: Head) -> Loaded {
        let head = if end.version > self.head.version { end } else { self.head };
        let loaded = self.finish(recent);
        Loaded { head, read_only: loaded.read_only.or(Some(ReadOnly::Damaged(reason))), ..loaded }
    }

    /// Ends the replay. `recent`: gapless events up to the notebook's version or beyond it, for the room's memory.
    pub fn finish(self, mut recent: Vec<Stored>) -> Loaded {
        let Self { notebook, head, read_only, snapshot_version } = self;
        recent.retain(|stored| stored.envelope.version <= notebook.version);
        Loaded { notebook: Arc::new(notebook), head, recent, read_only, snapshot_version }
    }
}
