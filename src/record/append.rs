//! Append: events and commands that are written to the log in one transaction. A room makes it, a store keeps it.

use crate::envelope::{Head, Stored};
use crate::event::Event;
use crate::ids::{CommandId, NotebookId, Version};
use crate::json::RawJson;

/// A sealed event with its index key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewEvent {
    /// The event as written to disk, hash included.
    pub stored: Stored,
    /// [`Event::subject`]; `None` for the notebook as a whole.
    pub subject: Option<String>,
}

impl NewEvent {
    /// Takes the subject from the event.
    pub fn new(stored: Stored, event: &Event) -> Self {
        Self { stored, subject: event.subject().map(str::to_owned) }
    }
}

/// An accepted command, kept so that a repeat gets the same answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandRecord {
    /// Key of the sender, from `Actor::key()`.
    pub actor: String,
    /// Unique for each actor in a notebook.
    pub command_id: CommandId,
    /// SHA-256 of the command's body. Another body under the same id is refused.
    pub digest: [u8; 32],
    /// The notebook's version after the command.
    pub version: Version,
    /// The answer, as JSON.
    pub outcome: RawJson,
}

/// Number of a notebook's lease, counted up. 0: no lease was taken yet, for instance because the notebook does not
/// exist.
pub type Epoch = u64;

/// Events and commands that are written all or nothing. Without events: a command that changed nothing is recorded too.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Append {
    /// The notebook whose log is written.
    pub notebook_id: NotebookId,
    /// Epoch of the lease under which this is written. The store refuses it if a later lease was taken.
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
