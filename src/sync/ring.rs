//! Recent events as serialised texts: for frames, catch-up and undo without reads of the store.

use std::collections::VecDeque;
use std::sync::Arc;

use notarium_core::{
    CellId, Envelope, Event, EventId, History, HistoryQuery, NotebookId, Past, Recorded, Selection, Stored, Version,
};
use notarium_wire::{EventMessage, frame};

/// One event.
#[derive(Debug)]
struct RingEntry {
    /// Subject of the event, from `Event::subject`.
    subject: Option<Box<str>>,
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
        self.entries.push_back(RingEntry { subject: subject.map(Into::into), text: text.into() });
    }

    /// Returns true if every event after `version` is in the ring.
    pub(crate) fn covers(&self, version: Version) -> bool {
        version >= self.before
    }

    /// Drops the oldest entries beyond the limits, but none after `keep_after`.
    pub(crate) fn trim(&mut self, max_events: usize, max_bytes: usize, keep_after: Version) {
        while self.before < keep_after && (self.entries.len() > max_events || self.bytes > max_bytes) {
            let Some(entry) = self.entries.pop_front() else { break };
            self.bytes -= entry.text.len() + ENTRY_BYTES;
            self.before += 1;
            self.before_text = Some(entry.text);
        }
    }

    pub(crate) fn shrink(&mut self) {
        self.entries.shrink_to_fit();
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
    pub(crate) fn history(&self, notebook: &NotebookId, queries: &[HistoryQuery]) -> Option<History> {
        let select = |selection: &Selection| self.select(notebook, selection).ok_or(());
        let mut past = Past::default();
        for query in queries {
            past.extend(query.answer(select).ok()?);
        }
        Some(History { events: past.events, executions: past.executions, ..History::default() })
    }

    /// Returns the events of the answers after `after`, in order. `None`: they are not here, or a deletion among them needs an execution from
    /// the store.
    pub(crate) fn later(
        &self,
        notebook: &NotebookId,
        queries: &[HistoryQuery],
        after: Version,
    ) -> Option<Vec<Arc<Recorded>>> {
        let mut past = Past::default();
        for query in queries {
            let selection = query.selection();
            let since = selection.since.max(after);
            past.extend(Past::from(self.select(notebook, &Selection { since, ..selection })?));
        }
        let has_deletion = past.events.iter().any(|recorded| matches!(recorded.event, Event::CellDeleted(_)));
        (!has_deletion).then_some(past.events)
    }

    fn select(&self, notebook: &NotebookId, selection: &Selection) -> Option<Vec<Arc<Recorded>>> {
        if !self.covers(selection.since) {
            return None;
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
