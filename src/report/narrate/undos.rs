//! Tells redos from undos. An event names only the group that it takes back; if that group was an undo, this is a redo.

use hashlink::LruCache;
use notarium_core::{CorrelationId, Envelope, Version};

use crate::record_source::RecordSource;

/// Groups that are remembered. One that was evicted is read from the record again.
const MAX_GROUPS: usize = 20_000;
/// Events that are read at once when an earlier group is searched.
const PAGE: Version = 1_000;

/// The deed of a group of events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GroupKind {
    Change,
    Undo,
    Redo,
}

impl GroupKind {
    /// The remark behind an event's sentence.
    pub fn remark(self) -> &'static str {
        match self {
            Self::Change => "",
            Self::Undo => " (undo)",
            Self::Redo => " (redo)",
        }
    }

    /// The kind of a group that takes back one of this kind.
    fn taken_back(self) -> Self {
        match self {
            Self::Change | Self::Redo => Self::Undo,
            Self::Undo => Self::Redo,
        }
    }
}

/// Kinds of the groups that were seen.
#[derive(Debug)]
pub struct GroupKinds(LruCache<CorrelationId, GroupKind>);

impl Default for GroupKinds {
    fn default() -> Self {
        Self(LruCache::new(MAX_GROUPS))
    }
}

impl GroupKinds {
    /// Remembers the event's group, if that needs no earlier events.
    pub fn note(&mut self, undoes: Option<&CorrelationId>, group: &CorrelationId) {
        let kind = match undoes {
            None => Some(GroupKind::Change),
            Some(target) => self.0.get(target).map(|kind| kind.taken_back()),
        };
        if let (Some(kind), None) = (kind, self.0.get(group)) {
            self.0.insert(group.clone(), kind);
        }
    }

    /// The kind of an event. Reads the record before it, if the group that it takes back was not seen.
    pub async fn kind(
        &mut self,
        record: &impl RecordSource,
        version: Version,
        undoes: Option<&CorrelationId>,
        group: &CorrelationId,
    ) -> GroupKind {
        let Some(target) = undoes else {
            self.note(None, group);
            return GroupKind::Change;
        };
        if let Some(kind) = self.0.get(group) {
            return *kind;
        }
        if self.0.get(target).is_none() {
            self.read_back(record, version, target).await;
        }
        // A group that cannot be found is no undo, as far as anybody can see.
        let kind = self.0.get(target).copied().unwrap_or(GroupKind::Change).taken_back();
        self.0.insert(group.clone(), kind);
        kind
    }

    /// Reads back from the version until the whole chain of groups is known: an undo, what it took back, and so on.
    async fn read_back(&mut self, record: &impl RecordSource, version: Version, target: &CorrelationId) {
        let mut chain = vec![target.clone()];
        let mut before = version;
        while before > 1 {
            let after = before.saturating_sub(PAGE + 1);
            let length = usize::try_from(before - after - 1).unwrap_or_default();
            let Ok(events) = record.events(after, length).await else { break };
            for Envelope { correlation_id, undoes, .. } in events.iter().rev().map(|stored| &stored.envelope) {
                if chain.last() != Some(correlation_id) {
                    continue;
                }
                match undoes {
                    Some(earlier) => chain.push(earlier.clone()),
                    None => {
                        self.remember(&chain);
                        return;
                    }
                }
            }
            before = after + 1;
        }
    }

    /// Remembers a chain of groups, each of which took the next one back; the last one is a change.
    fn remember(&mut self, chain: &[CorrelationId]) {
        let mut kind = GroupKind::Change;
        for group in chain.iter().rev() {
            self.0.insert(group.clone(), kind);
            kind = kind.taken_back();
        }
    }
}
