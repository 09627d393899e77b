//! Which appends of a batch can be written: pure, before anything touches the disk.

use foldhash::{HashMap, HashSet};
use notarium_record::{Append, CommandId, Epoch, Head, NotebookId};

use crate::event_store::{AppendError, check};

/// The small key that stands for a notebook's id in every row.
pub(super) type NotebookKey = i64;
/// The small key that stands for an actor in every row.
pub(super) type ActorKey = i64;

/// Entries that are kept before all are forgotten: about 20 MB.
const MAX_KNOWN: usize = 100_000;

/// Where a notebook stands.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    /// 0: a new notebook.
    pub(super) key: NotebookKey,
    pub(super) epoch: Epoch,
    pub(super) head: Head,
}

/// What the writer remembers of the database. True because it is the only one that writes these tables.
#[derive(Debug, Default)]
pub(super) struct Known {
    pub(super) notebooks: HashMap<NotebookId, Place>,
    pub(super) actors: HashMap<String, ActorKey>,
}

impl Known {
    /// After a failed write: the database is read again.
    pub(super) fn forget(&mut self) {
        *self = Self::default();
    }

    pub(super) fn forget_when_large(&mut self) {
        if self.notebooks.len() > MAX_KNOWN || self.actors.len() > MAX_KNOWN {
            self.forget();
        }
    }
}

/// A command's place among all: unique in the store.
pub(super) type CommandPlace<'a> = (&'a NotebookId, &'a str, &'a CommandId);

/// The appends that go in, by index, and why the others do not.
#[derive(Debug, Default)]
pub(super) struct Plan {
    pub(super) accepted: Vec<usize>,
    pub(super) refused: Vec<(usize, AppendError)>,
    /// Where each notebook of the accepted appends ends.
    pub(super) heads: HashMap<NotebookId, Place>,
}

impl Plan {
    /// Every notebook of `appends` must be known. `recorded`: commands of these appends that are in the store already.
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
                // The refused append leaves nothing behind.
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
