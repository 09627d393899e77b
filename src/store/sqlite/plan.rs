//! Planning of a batch: which appends can be written. Pure, before any disk access.

use foldhash::{HashMap, HashSet};
use notarium_record::{Append, CommandId, Epoch, Head, NotebookId};

use crate::event_store::{AppendError, check};

/// Small key of a notebook's id, for rows.
pub(super) type NotebookKey = i64;
/// Small key of an actor, for rows.
pub(super) type ActorKey = i64;

/// Maximum number of cached entries, about 20 MB; beyond it the cache is cleared.
const MAX_KNOWN: usize = 100_000;

/// Key, epoch and head of a notebook.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    /// Key; 0: a new notebook.
    pub(super) key: NotebookKey,
    pub(super) epoch: Epoch,
    pub(super) head: Head,
}

/// The writer's cache of the database. Always valid, as only the writer changes these tables.
#[derive(Debug, Default)]
pub(super) struct Known {
    pub(super) notebooks: HashMap<NotebookId, Place>,
    pub(super) actors: HashMap<String, ActorKey>,
}

impl Known {
    /// Clears the cache after a failed write.
    pub(super) fn forget(&mut self) {
        *self = Self::default();
    }

    pub(super) fn forget_when_large(&mut self) {
        if self.notebooks.len() > MAX_KNOWN || self.actors.len() > MAX_KNOWN {
            self.forget();
        }
    }
}

/// Key of a command, unique in the store.
pub(super) type CommandPlace<'a> = (&'a NotebookId, &'a str, &'a CommandId);

/// Accepted appends, by index, and the refused ones with their errors.
#[derive(Debug, Default)]
pub(super) struct Plan {
    pub(super) accepted: Vec<usize>,
    pub(super) refused: Vec<(usize, AppendError)>,
    /// Head of each notebook after the accepted appends.
    pub(super) heads: HashMap<NotebookId, Place>,
}

impl Plan {
    /// Plans a batch. Every notebook of `appends` must be known. `recorded`: commands of these appends that are already in the store.
    pub(super) fn of<'a>(appends: &'a [Append], known: &Known, recorded: &HashSet<CommandPlace<'a>>) -> Self {
        let mut plan = Self::default();
        let mut seen = recorded.clone();
        seen.reserve(appends.iter().map(|append| append.commands.len()).sum());
        for (index, append) in appends.iter().enumerate() {
            match plan.admit(append, known, &mut seen) {
                Ok(()) => plan.accepted.push(index),
                Err(error) => plan.refused.push((index, error)),
            }
        }
        plan
    }

    fn admit<'a>(
        &mut self,
        append: &'a Append,
        known: &Known,
        seen: &mut HashSet<CommandPlace<'a>>,
    ) -> Result<(), AppendError> {
        check(append)?;
        let place = self.heads.get(&append.notebook_id).or_else(|| known.notebooks.get(&append.notebook_id));
        let place = place.copied().unwrap_or(Place { key: 0, epoch: 0, head: Head::START });
        let head = place.head;
        if place.epoch != append.epoch {
            return Err(AppendError::LeaseLost { epoch: place.epoch });
        }
        if head != append.expected {
            return Err(AppendError::VersionConflict { actual: (head.version > 0).then_some(head) });
        }
        for (count, command) in command_places(append).enumerate() {
            if !seen.insert(command) {
                // A refused append must leave no commands in `seen`.
                for before in command_places(append).take(count) {
                    seen.remove(&before);
                }
                let (_, actor, command_id) = command;
                return Err(AppendError::DuplicateCommand { actor: actor.to_owned(), command_id: command_id.clone() });
            }
        }
        self.heads.insert(append.notebook_id.clone(), Place { head: append.head(), ..place });
        Ok(())
    }
}

pub(super) fn command_places(append: &Append) -> impl Iterator<Item = CommandPlace<'_>> {
    append.commands.iter().map(|command| (&append.notebook_id, command.actor.as_str(), &command.command_id))
}
