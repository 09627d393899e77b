//! Log of one notebook in memory.

use super::*;

/// One notebook.
#[derive(Debug, Default)]
pub(super) struct Log {
    pub(super) holder: Option<InstanceId>,
    pub(super) epoch: Epoch,
    pub(super) head: Option<Head>,
    /// Events; version n has index n - 1.
    pub(super) events: Vec<NewEvent>,
    pub(super) commands: BTreeMap<(String, CommandId), CommandRecord>,
    pub(super) snapshots: BTreeMap<Version, Snapshot>,
    pub(super) blames: BTreeMap<Version, Bytes>,
    pub(super) lines: BTreeMap<u64, PastLine>,
    pub(super) lines_written: PastLinesWritten,
    pub(super) catalog: Option<CatalogEntry>,
    pub(super) blobs: BTreeMap<Hash, BlobRecord>,
    pub(super) blobs_to_purge: Vec<Hash>,
    pub(super) retired: BTreeMap<Hash, Millis>,
    pub(super) is_erased: bool,
    pub(super) logged: BTreeMap<String, LoggedHead>,
}

impl Log {
    pub(super) fn check(&self, append: &Append) -> Result<(), AppendError> {
        check(append)?;
        if self.epoch != append.epoch {
            return Err(AppendError::LeaseLost { epoch: self.epoch });
        }
        if self.head.unwrap_or(Head::START) != append.expected {
            return Err(AppendError::VersionConflict { actual: self.head });
        }
        let mut seen = std::collections::BTreeSet::new();
        for command in &append.commands {
            let key = (command.actor.clone(), command.command_id.clone());
            if self.commands.contains_key(&key) || !seen.insert(key) {
                let (actor, command_id) = (command.actor.clone(), command.command_id.clone());
                return Err(AppendError::DuplicateCommand { actor, command_id });
            }
        }
        Ok(())
    }

    pub(super) fn write(&mut self, append: Append) {
        let head = append.head();
        self.head = (head != Head::START).then_some(head);
        self.events.extend(append.events);
        for command in append.commands {
            self.commands.insert((command.actor.clone(), command.command_id.clone()), command);
        }
        if !append.removal.is_empty() {
            self.remove(append.removal);
        }
    }

    pub(super) fn remove(&mut self, removal: ContentRemoval) {
        for StandIn { version, payload } in removal.stand_ins {
            let stored = &mut self.events[index(version - 1)].stored;
            (stored.payload, stored.salt) = (payload, None);
            let of_event =
                self.commands.values_mut().filter(|command| command.command_id == stored.envelope.command_id);
            of_event.for_each(|command| command.digest = [0; 32]);
        }
        for sha256 in removal.blobs {
            self.blobs.remove(&sha256);
            self.blobs_to_purge.push(sha256);
        }
        self.snapshots.clear();
        self.lines.clear();
        self.lines_written = PastLinesWritten::default();
        if let (Some(entry), Some(head)) = (&mut self.catalog, self.head) {
            (entry.title, entry.template, entry.search_text) = Default::default();
            entry.version = head.version;
        }
    }

    pub(super) fn select(&self, wanted: &Selection) -> impl Iterator<Item = &Stored> {
        let holds = |event: &&NewEvent| wanted.holds(event.stored.envelope.version, event.subject.as_deref());
        self.events.iter().filter(holds).map(|event| &event.stored)
    }

    /// Returns events below `before`, latest first.
    pub(super) fn backwards(&self, before: Option<Version>) -> impl Iterator<Item = &Stored> {
        let end = before.map_or(self.events.len(), |before| index(before.saturating_sub(1)).min(self.events.len()));
        self.events[..end].iter().rev().map(|event| &event.stored)
    }
}

pub(super) fn index(version: Version) -> usize {
    usize::try_from(version).unwrap_or(usize::MAX)
}
