//! Recent events as serialised texts: for frames, catch-up and late edits without reads of the store.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use notarium_core::{
    CellId, Envelope, Event, EventId, History, HistoryQuery, NotebookId, Past, Recorded, Selection, Stored, Version,
};
use notarium_wire::{EventMessage, frame};

/// One event.
#[derive(Debug)]
struct RingEntry {
    /// Subject of the event, from `Event::subject`.
    subject: Option<Arc<str>>,
    /// The JSON of its `EventMessage`.
    text: Box<str>,
}

/// Gapless events up to the newest one, which may not be synced yet.
#[derive(Debug, Default)]
pub(crate) struct Ring {
    /// Version of the event before the first entry.
    before: Version,
    /// Text of that event, if known.
    before_text: Option<Box<str>>,
    entries: VecDeque<RingEntry>,
    bytes: usize,
    /// Version of the newest entry, by subject.
    latest: BTreeMap<Arc<str>, Version>,
    late_edits: LateEdits,
    /// True if late edits needed events that had been dropped.
    has_missed: bool,
}

/// Memory of an entry besides its text, in bytes.
const ENTRY_BYTES: usize = 64;

impl Ring {
    /// Builds a ring of the given events, which end at `head`.
    pub(crate) fn of(head: Version, recent: &[Stored]) -> Self {
        let mut ring = Self { before: head - recent.len() as Version, ..Self::default() };
        for stored in recent {
            let recorded = stored.typed().ok();
            match frame::event(stored) {
                Ok(text) => ring.push(recorded.as_ref().and_then(|recorded| recorded.event.subject()), text),
                Err(_) => ring = Self { before: stored.envelope.version, ..Self::default() },
            }
        }
        ring
    }

    pub(crate) fn push(&mut self, subject: Option<&str>, text: String) {
        self.bytes += text.len() + ENTRY_BYTES;
        let version = self.before + self.entries.len() as Version + 1;
        let subject = subject.map(|subject| self.note_latest(subject, version));
        self.entries.push_back(RingEntry { subject, text: text.into() });
    }

    /// Notes the newest version of a subject; returns the subject's shared string.
    fn note_latest(&mut self, subject: &str, version: Version) -> Arc<str> {
        let shared = self.latest.get_key_value(subject).map(|(shared, _)| shared.clone());
        let shared = shared.unwrap_or_else(|| subject.into());
        self.latest.insert(shared.clone(), version);
        shared
    }

    /// Caches the last pushed event decoded as well, if its cell has late edits.
    pub(crate) fn note(&mut self, recorded: &Recorded) {
        self.late_edits.note(recorded);
    }

    /// Returns true if every event after `version` is in the ring.
    pub(crate) fn covers(&self, version: Version) -> bool {
        version >= self.before
    }

    /// Drops the oldest entries beyond the limits, but none after `keep_after`.
    pub(crate) fn trim(&mut self, max_events: usize, max_bytes: usize, keep_after: Version) {
        let before = self.before;
        while self.before < keep_after && (self.entries.len() > max_events || self.bytes > max_bytes) {
            let Some(entry) = self.entries.pop_front() else { break };
            self.bytes -= entry.text.len() + ENTRY_BYTES;
            self.before += 1;
            if let Some(subject) = entry.subject.filter(|subject| self.latest.get(subject) == Some(&self.before)) {
                self.latest.remove(&subject);
            }
            self.before_text = Some(entry.text);
        }
        if self.before > before {
            self.late_edits.trim(self.before);
        }
    }

    pub(crate) fn shrink(&mut self) {
        self.entries.shrink_to_fit();
        self.late_edits.clear();
        self.has_missed = false;
    }

    /// Returns true if late edits needed events that had been dropped.
    pub(crate) fn has_missed(&self) -> bool {
        self.has_missed
    }

    /// Returns the texts of the events after `after` up to and including `to`. Needs `covers(after)`.
    pub(crate) fn texts(&self, after: Version, to: Version) -> impl Iterator<Item = &str> + Clone {
        self.range(after, to).map(|entry| &*entry.text)
    }

    fn range(&self, after: Version, to: Version) -> impl Iterator<Item = &RingEntry> + Clone {
        let skip = index(after.saturating_sub(self.before));
        let count = index(to.saturating_sub(after.max(self.before)));
        self.entries.iter().skip(skip).take(count)
    }

    /// Builds the frames that bring a client from `after` to `to`. Needs `covers(after)`.
    pub(crate) fn frames(&self, notebook: &NotebookId, after: Version, to: Version) -> Vec<(Version, String)> {
        let mut frames = Vec::new();
        let mut start = after;
        while start < to {
            let end = self.frame_end(start, to);
            frames.push((start + 1, frame::events(notebook, start + 1, self.texts(start, end))));
            start = end;
        }
        frames
    }

    /// Returns the last version of one frame, which has a bounded number of events and bytes, and at least one event.
    fn frame_end(&self, start: Version, to: Version) -> Version {
        let mut bytes = 0;
        let fits = self.texts(start, to).take(MAX_FRAME_EVENTS).take_while(|text| {
            bytes += text.len();
            bytes <= MAX_FRAME_BYTES
        });
        start + (fits.count() as Version).max(1)
    }

    /// Returns the id of the event at `version`, if it is known here.
    pub(crate) fn event_id(&self, version: Version) -> Option<EventId> {
        let text = match version.checked_sub(self.before)? {
            0 => self.before_text.as_ref()?,
            count => &self.entries.get(index(count - 1))?.text,
        };
        message(text).map(|message| message.id)
    }

    /// Returns the messages about a cell after `after`. Needs `covers(after)`.
    pub(crate) fn about_cell(&self, cell_id: &CellId, after: Version) -> Vec<EventMessage> {
        self.of_cell(cell_id, after).filter_map(|entry| message(&entry.text)).collect()
    }

    fn of_cell(&self, cell_id: &CellId, after: Version) -> impl Iterator<Item = &RingEntry> {
        self.range(after, Version::MAX).filter(|entry| entry.subject.as_deref() == Some(cell_id.as_str()))
    }

    /// Answers `queries` from the ring, if it has all the events.
    pub(crate) fn history(&mut self, notebook: &NotebookId, queries: &[HistoryQuery]) -> Option<History> {
        queries.iter().for_each(|query| self.read_late_edits(notebook, query));
        let select = |selection: &Selection| self.select(notebook, selection).ok_or(());
        let mut past = Past::default();
        for query in queries {
            past.extend(query.answer(select).ok()?);
        }
        Some(History { events: past.events, executions: past.executions, ..History::default() })
    }

    /// Returns true if there is an event about the subject after `since`. Needs `covers(since)`.
    fn has_since(&self, subject: &str, since: Version) -> bool {
        self.latest.get(subject).is_some_and(|latest| *latest > since)
    }

    /// Caches the changed cells of the query, once.
    fn read_late_edits(&mut self, notebook: &NotebookId, query: &HistoryQuery) {
        let HistoryQuery::Cells { cells, since, with_notebook: false } = query else { return };
        if !self.covers(*since) {
            self.has_missed = true;
            return;
        }
        for cell in cells {
            if !self.late_edits.has(cell) && self.has_since(cell.as_str(), *since) {
                let events: Vec<Recorded> = self
                    .of_cell(cell, self.before)
                    .filter_map(|entry| recorded(notebook, message(&entry.text)?))
                    .collect();
                self.late_edits.start(cell, events);
            }
        }
    }

    fn select(&self, notebook: &NotebookId, selection: &Selection) -> Option<Vec<Arc<Recorded>>> {
        if !self.covers(selection.since) {
            return None;
        }
        if !selection.with_notebook {
            let changed = selection.subjects.iter().filter(|subject| self.has_since(subject, selection.since));
            if let Some(selected) = self.late_edits.select(changed, selection.since) {
                return Some(selected);
            }
        }
        let later = self.range(selection.since, Version::MAX);
        let selected = later.filter(|entry| selection.holds(Version::MAX, entry.subject.as_deref()));
        selected.map(|entry| recorded(notebook, message(&entry.text)?).map(Arc::new)).collect()
    }
}

/// Limits of one `events` frame.
const MAX_FRAME_EVENTS: usize = 500;

const MAX_FRAME_BYTES: usize = 512 << 10;

fn index(version: Version) -> usize {
    usize::try_from(version).unwrap_or(usize::MAX)
}

pub(crate) fn recorded(notebook: &NotebookId, message: EventMessage) -> Option<Recorded> {
    let event = Event::decode(&message.event_type, message.schema, message.payload.get()).ok()?;
    let envelope = Envelope {
        id: message.id,
        notebook_id: notebook.clone(),
        version: message.version,
        event_type: message.event_type,
        schema: message.schema,
        actor: message.actor,
        command_id: message.command_id,
        correlation_id: message.correlation_id,
        causation_id: message.causation_id,
        undoes: message.undoes,
        recorded_at: message.recorded_at,
    };
    Some(Recorded { envelope, event })
}

fn message(text: &str) -> Option<EventMessage> {
    serde_json::from_str(text).ok()
}

/// Recent events of some cells, complete and in order. The ring fills in a cell at its first use.
#[derive(Debug, Default)]
pub(crate) struct LateEdits {
    by_cell: BTreeMap<String, VecDeque<Arc<Recorded>>>,
}

impl LateEdits {
    pub(crate) fn has(&self, cell: &CellId) -> bool {
        self.by_cell.contains_key(cell.as_str())
    }

    pub(crate) fn start(&mut self, cell: &CellId, events: impl IntoIterator<Item = Recorded>) {
        self.by_cell.insert(cell.to_string(), events.into_iter().map(Arc::new).collect());
    }

    /// Adds an event that follows all others.
    pub(crate) fn note(&mut self, recorded: &Recorded) {
        let events = recorded.event.subject().and_then(|subject| self.by_cell.get_mut(subject));
        if let Some(events) = events {
            events.push_back(Arc::new(recorded.clone()));
        }
    }

    /// Returns the events of these subjects after `since`, if all subjects are cached.
    pub(crate) fn select<'a>(
        &self,
        subjects: impl Iterator<Item = &'a String>,
        since: Version,
    ) -> Option<Vec<Arc<Recorded>>> {
        let mut selected = Vec::new();
        let mut count = 0;
        for subject in subjects {
            let events = self.by_cell.get(subject)?;
            selected.extend(events.range(events.partition_point(|it| it.envelope.version <= since)..).cloned());
            count += 1;
        }
        if count > 1 {
            selected.sort_by_key(|recorded| recorded.envelope.version);
        }
        Some(selected)
    }

    /// Drops events that the ring has dropped.
    pub(crate) fn trim(&mut self, before: Version) {
        self.by_cell.retain(|_, events| {
            while events.front().is_some_and(|recorded| recorded.envelope.version <= before) {
                events.pop_front();
            }
            !events.is_empty()
        });
    }

    pub(crate) fn clear(&mut self) {
        self.by_cell = BTreeMap::new();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn query(cell: &str, since: Version) -> HistoryQuery {
        HistoryQuery::Cells { cells: vec![CellId::new(cell).unwrap()], since, with_notebook: false }
    }

    #[test]
    fn only_cells_that_changed_since_are_kept_for_late_edits() {
        let notebook = NotebookId::new("n").unwrap();
        let mut ring = Ring::default();
        ring.push(Some("a"), "{}".to_owned());
        ring.push(Some("b"), "{}".to_owned());
        ring.push(None, "{}".to_owned());
        for (cell, since, is_kept) in [("a", 1, false), ("c", 0, false), ("b", 1, true)] {
            assert!(ring.history(&notebook, &[query(cell, since)]).unwrap().events.is_empty(), "{cell}");
            assert_eq!(ring.late_edits.has(&CellId::new(cell).unwrap()), is_kept, "{cell}");
        }
    }

    #[test]
    fn what_the_ring_forgets_has_no_latest_version_any_more() {
        let mut ring = Ring::default();
        for subject in ["a", "b", "a"] {
            ring.push(Some(subject), "{}".to_owned());
        }
        ring.trim(1, usize::MAX, 3);
        assert_eq!(ring.latest.iter().map(|(subject, version)| (&**subject, *version)).collect::<Vec<_>>(), [("a", 3)]);
        ring.trim(0, usize::MAX, 3);
        assert!(ring.latest.is_empty());
    }

    #[test]
    fn who_asks_for_what_is_gone_makes_the_ring_keep_more_until_it_is_idle() {
        let mut ring = Ring::default();
        (0..3).for_each(|_| ring.push(Some("a"), "{}".to_owned()));
        ring.trim(1, usize::MAX, 3);
        let notebook = NotebookId::new("n").unwrap();
        assert!(ring.history(&notebook, &[query("a", 2)]).is_some() && !ring.has_missed());
        assert!(ring.history(&notebook, &[query("a", 1)]).is_none() && ring.has_missed());
        ring.shrink();
        assert!(!ring.has_missed());
    }
}
