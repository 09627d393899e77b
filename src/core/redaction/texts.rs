//! Texts of all cells of a record, with the event from which each UTF-16 code unit came.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use notarium_record::text::ChangeSet;
use notarium_record::{CellId, Event, Recorded, Version};

/// Place of an inserted code unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct UnitOrigin {
    /// The event that inserted it.
    pub version: Version,
    /// Number of the inserted text in its event: the section of a change, the output of a report, else 0.
    pub part: u32,
    /// Place in that text.
    pub offset: u32,
}

/// Code unit of a text.
#[derive(Debug, Clone, Copy)]
pub(super) struct Unit {
    pub unit: u16,
    pub origin: UnitOrigin,
}

/// Code units of a text that an event inserts.
pub(super) fn units(text: &str, version: Version, part: usize) -> Vec<Unit> {
    let part = u32::try_from(part).unwrap_or(u32::MAX);
    let origin = |offset| UnitOrigin { version, part, offset };
    text.encode_utf16().zip(0..).map(|(unit, offset)| Unit { unit, origin: origin(offset) }).collect()
}

/// Texts of the cells, also of those in the trash.
#[derive(Debug, Clone, Default)]
pub(super) struct CellTexts(BTreeMap<CellId, Vec<Unit>>);

impl CellTexts {
    pub fn of(&self, cell_id: &CellId) -> &[Unit] {
        self.0.get(cell_id).map_or(&[], Vec::as_slice)
    }

    /// Folds in one event. Returns the cell whose text changed, with the range around the change.
    pub fn apply(&mut self, recorded: &Recorded) -> Option<(CellId, Range<usize>)> {
        let version = recorded.envelope.version;
        match &recorded.event {
            Event::CellInserted(event) => self.put(&event.cell_id, &event.cell.source, version),
            Event::CellRestored(event) => self.put(&event.cell_id, &event.cell.source, version),
            Event::CellSourceEdited(event) => {
                let text = self.0.entry(event.cell_id.clone()).or_default();
                let changed = edit(text, &event.change, version)?;
                Some((event.cell_id.clone(), changed))
            }
            _ => None,
        }
    }

    fn put(&mut self, cell_id: &CellId, source: &str, version: Version) -> Option<(CellId, Range<usize>)> {
        let fresh = units(source, version, 0);
        let text = match self.0.get(cell_id) {
            Some(before) if is_same(before, &fresh) => return None,
            _ => self.inherited(&fresh).unwrap_or(fresh),
        };
        let all = 0..text.len();
        self.0.insert(cell_id.clone(), text);
        Some((cell_id.clone(), all))
    }

    /// Finds the cell of which a new one is the end: a split copies its text. One character is too little to tell.
    fn inherited(&self, fresh: &[Unit]) -> Option<Vec<Unit>> {
        let is_end = |text: &&Vec<Unit>| text.len() >= fresh.len() && is_same(&text[text.len() - fresh.len()..], fresh);
        let text = self.0.values().filter(|_| fresh.len() > 1).find(is_end)?;
        Some(text[text.len() - fresh.len()..].to_vec())
    }
}

/// Returns true if the characters are equal.
pub(super) fn is_same(one: &[Unit], other: &[Unit]) -> bool {
    one.len() == other.len() && one.iter().zip(other).all(|(one, other)| one.unit == other.unit)
}

/// Applies a change; returns the range of the new text that it changed. A change that does not fit is ignored, as the document does.
fn edit(text: &mut Vec<Unit>, change: &ChangeSet, version: Version) -> Option<Range<usize>> {
    if change.length_before() != text.len() {
        return None;
    }
    let mut changed: Option<Range<usize>> = None;
    let mut after = Vec::with_capacity(change.length_after());
    let mut at = 0;
    for (part, (length, insert)) in change.sections().enumerate() {
        match insert {
            None => after.extend_from_slice(&text[at..at + length]),
            Some(insert) => {
                let start = after.len();
                after.extend(units(insert, version, part));
                changed = Some(changed.map_or(start, |changed| changed.start)..after.len());
            }
        }
        at += length;
    }
    *text = after;
    changed
}

/// Ranges of the old text that a change deletes, in the order of `CellSourceEdited::removed`.
pub(super) fn deletions(change: &ChangeSet) -> Vec<Range<usize>> {
    let mut at = 0;
    let ranges = change.sections().map(|(length, insert)| {
        let range = at..at + length;
        at += length;
        insert.filter(|_| length > 0).map(|_| range)
    });
    ranges.flatten().collect()
}

/// Code units that are redacted, by their origin.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Marks {
    units: BTreeMap<(Version, u32), BTreeSet<u32>>,
    /// Events of which every inserted unit is redacted.
    events: BTreeSet<Version>,
}

impl Marks {
    /// Marks a unit; returns true if it was not marked yet.
    pub fn add(&mut self, origin: UnitOrigin) -> bool {
        let UnitOrigin { version, part, offset } = origin;
        self.units.entry((version, part)).or_default().insert(offset)
    }

    pub fn add_event(&mut self, version: Version) {
        self.events.insert(version);
    }

    pub fn holds(&self, origin: UnitOrigin) -> bool {
        let UnitOrigin { version, part, offset } = origin;
        self.events.contains(&version)
            || self.units.get(&(version, part)).is_some_and(|offsets| offsets.contains(&offset))
    }
}
