//! Authorship of every character of the cells' texts, folded from events: runs of characters that one event wrote.

use std::collections::{BTreeMap, VecDeque};

use bytes::Bytes;
use notarium_record::text::{ChangeSet, utf16_len};
use notarium_record::{CellId, Event, Recorded, Version};
use serde::{Deserialize, Serialize};

/// Deleted cells whose authorship is kept for their return; of others the event that restores them counts as the author.
const MAX_DELETED: usize = 10_000;

/// zstd level of [`Blame::pack`].
const LEVEL: i32 = 3;

/// Largest unpacked blame; larger ones are not ours.
const MAX_BYTES: usize = 256 << 20;

/// A run of characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlameRun(
    /// Length in UTF-16 code units, at least 1.
    pub usize,
    /// Version of the event that wrote them.
    pub Version,
);

/// Authorship of a notebook's texts at a version.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Blame {
    version: Version,
    cells: BTreeMap<CellId, Vec<BlameRun>>,
    deleted: BTreeMap<CellId, Vec<BlameRun>>,
    /// Deleted cells, in the order of their deletion.
    order: VecDeque<CellId>,
}

impl Blame {
    /// The version that is folded in.
    pub fn version(&self) -> Version {
        self.version
    }

    /// Runs of the live cells, from the first to the last character of each.
    pub fn cells(&self) -> &BTreeMap<CellId, Vec<BlameRun>> {
        &self.cells
    }

    /// Runs of a cell in the trash, if they are kept.
    pub fn deleted(&self, cell_id: &CellId) -> Option<&[BlameRun]> {
        self.deleted.get(cell_id).map(Vec::as_slice)
    }

    /// Goes on to a version whose event changes no text.
    pub fn pass(&mut self, version: Version) {
        self.version = self.version.max(version);
    }

    /// Folds in an event. One that was folded in already changes nothing.
    pub fn apply(&mut self, recorded: &Recorded) {
        let version = recorded.envelope.version;
        if version <= self.version {
            return;
        }
        self.version = version;
        match &recorded.event {
            Event::CellInserted(event) => {
                _ = self.cells.insert(event.cell_id.clone(), whole(&event.cell.source, version))
            }
            Event::CellRestored(event) => {
                let kept = self.deleted.remove(&event.cell_id);
                self.order.retain(|other| *other != event.cell_id);
                let length = utf16_len(&event.cell.source);
                let kept = kept.filter(|runs| runs.iter().map(|run| run.0).sum::<usize>() == length);
                let runs = kept.unwrap_or_else(|| whole(&event.cell.source, version));
                self.cells.insert(event.cell_id.clone(), runs);
            }
            Event::CellDeleted(event) => {
                if let Some(runs) = self.cells.remove(&event.cell_id) {
                    self.keep(event.cell_id.clone(), runs);
                }
            }
            Event::CellSourceEdited(event) => {
                if let Some(runs) = self.cells.get_mut(&event.cell_id) {
                    *runs = edited(runs, &event.change, version);
                }
            }
            _ => {}
        }
    }

    fn keep(&mut self, cell_id: CellId, runs: Vec<BlameRun>) {
        self.order.retain(|other| *other != cell_id);
        self.order.push_back(cell_id.clone());
        self.deleted.insert(cell_id, runs);
        if self.order.len() > MAX_DELETED
            && let Some(oldest) = self.order.pop_front()
        {
            self.deleted.remove(&oldest);
        }
    }

    /// The compressed form that the store keeps.
    pub fn pack(&self) -> std::io::Result<Bytes> {
        let json = serde_json::to_vec(self).map_err(std::io::Error::other)?;
        zstd::bulk::compress(&json, LEVEL).map(Bytes::from)
    }

    /// Reads the compressed form. `None`: it is damaged, or of another program.
    pub fn unpack(packed: &[u8]) -> Option<Self> {
        let size = zstd::bulk::Decompressor::upper_bound(packed).unwrap_or(MAX_BYTES).min(MAX_BYTES);
        serde_json::from_slice(&zstd::bulk::decompress(packed, size).ok()?).ok()
    }
}

fn whole(source: &str, version: Version) -> Vec<BlameRun> {
    let length = utf16_len(source);
    if length == 0 { Vec::new() } else { vec![BlameRun(length, version)] }
}

fn edited(runs: &[BlameRun], change: &ChangeSet, version: Version) -> Vec<BlameRun> {
    let (mut old, mut new) = (runs.iter().copied(), Vec::with_capacity(runs.len() + 2));
    let mut rest = None;
    for (length, inserted) in change.sections() {
        let mut left = length;
        while left > 0 {
            let Some(BlameRun(units, wrote)) = rest.take().or_else(|| old.next()) else { break };
            let taken = units.min(left);
            left -= taken;
            if units > taken {
                rest = Some(BlameRun(units - taken, wrote));
            }
            if inserted.is_none() {
                push(&mut new, BlameRun(taken, wrote));
            }
        }
        if let Some(text) = inserted {
            push(&mut new, BlameRun(utf16_len(text), version));
        }
    }
    new
}

fn push(runs: &mut Vec<BlameRun>, run: BlameRun) {
    match runs.last_mut() {
        _ if run.0 == 0 => {}
        Some(last) if last.1 == run.1 => last.0 += run.0,
        _ => runs.push(run),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::past_text::tests::{empty, event, recorded, step};

    /// One author for each UTF-16 code unit, of live and of deleted cells: the slow model.
    #[derive(Default)]
    struct Slow(BTreeMap<CellId, Vec<Version>>, BTreeMap<CellId, Vec<Version>>);

    impl Slow {
        fn apply(&mut self, recorded: &Recorded) {
            let version = recorded.envelope.version;
            let all = |source: &str| vec![version; source.encode_utf16().count()];
            match &recorded.event {
                Event::CellInserted(event) => _ = self.0.insert(event.cell_id.clone(), all(&event.cell.source)),
                Event::CellRestored(event) => {
                    let kept = self.1.remove(&event.cell_id).unwrap_or_else(|| all(&event.cell.source));
                    self.0.insert(event.cell_id.clone(), kept);
                }
                Event::CellDeleted(event) => {
                    let gone = self.0.remove(&event.cell_id).unwrap();
                    self.1.insert(event.cell_id.clone(), gone);
                }
                Event::CellSourceEdited(event) => {
                    let units = self.0.get_mut(&event.cell_id).unwrap();
                    let mut at = 0;
                    for (length, inserted) in event.change.sections() {
                        match inserted {
                            None => at += length,
                            Some(text) => {
                                let come = text.encode_utf16().map(|_| version);
                                units.splice(at..at + length, come).for_each(drop);
                                at += text.encode_utf16().count();
                            }
                        }
                    }
                }
                _ => {}
            }
        }
    }

    fn spread(runs: &[BlameRun]) -> Vec<Version> {
        runs.iter().flat_map(|run| std::iter::repeat_n(run.1, run.0)).collect()
    }

    proptest! {
        #[test]
        fn runs_are_what_every_character_says(steps in prop::collection::vec(step(), 1..60)) {
            let mut document = empty();
            let (mut blame, mut slow) = (Blame::default(), Slow::default());
            for step in steps {
                let Some(event) = event(&document, step) else {
                    blame = Blame::unpack(&blame.pack().unwrap()).unwrap();
                    continue;
                };
                let recorded = recorded(document.version + 1, event);
                document.apply(&recorded);
                blame.apply(&recorded);
                slow.apply(&recorded);
                let spread: BTreeMap<_, _> = blame.cells().iter().map(|(id, runs)| (id.clone(), spread(runs))).collect();
                prop_assert_eq!(&spread, &slow.0);
                let joined = blame.cells().values().all(|runs| runs.windows(2).all(|pair| pair[0].1 != pair[1].1));
                prop_assert!(joined, "runs of one version stand together: {blame:?}");
            }
        }
    }

    #[test]
    fn a_damaged_blame_is_told() {
        let packed = Blame::default().pack().unwrap();
        assert!(Blame::unpack(&packed[..packed.len() - 1]).is_none());
        assert!(Blame::unpack(b"").is_none());
    }
}
