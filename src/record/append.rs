//! What is written to the log together: made by a room, kept by a store.

use crate::envelope::{Head, Stored};
use crate::event::Event;
use crate::ids::{CommandId, NotebookId, Version};
use crate::json::RawJson;

/// A sealed event and what it is found by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewEvent {
    /// As it goes to disk, hash included.
    pub stored: Stored,
    /// [`Event::subject`]; `None` for the notebook as a whole.
    pub subject: Option<String>,
}

impl NewEvent {
    /// Notes what the event is about.
    pub fn new(stored: Stored, event: &Event) -> Self {
        Self { stored, subject: event.subject().map(str::to_owned) }
    }
}

/// An accepted command, kept so that a repeat gets the same answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandRecord {
    /// `Actor::key()`.
    pub actor: String,
    /// Unique for each actor in a notebook.
    pub command_id: CommandId,
    /// SHA-256 of the command's body: another body under the same id is refused.
    pub digest: [u8; 32],
    /// The notebook's version after the command.
    pub version: Version,
    /// The answer.
    pub outcome: RawJson,
}

/// Counts the leases of a notebook. 0: nobody has taken one, for instance because the notebook is not there yet.
pub type Epoch = u64;

/// What is written together, all or nothing. Events may be empty: a command that changed nothing is recorded too.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Append {
    /// The notebook that is written to.
    pub notebook_id: NotebookId,
    /// Of the lease under which this is written: refused when somebody has taken a later one.
    pub epoch: Epoch,
    /// The head that the events continue; [`Head::START`] for a new notebook.
    pub expected: Head,
    /// Versions `expected.version + 1`, `+ 2` …
    pub events: Vec<NewEvent>,
    /// The commands that these events answer.
    pub commands: Vec<CommandRecord>,
}

impl Append {
    /// The notebook's head after this append.
    pub fn head(&self) -> Head {
        self.events.last().map_or(self.expected, |event| event.stored.head())
    }
}
