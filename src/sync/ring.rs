//! The most recent events, as the texts that clients get: for frames, cheap catch-up and late edits without the store.

use std::collections::VecDeque;

use notarium_core::{
    CellId, Envelope, Event, EventId, History, HistoryQuery, NotebookId, Recorded, Selection, Stored, Version, in_order,
};
use notarium_wire::{EventMessage, frame};

/// One event.
#[derive(Debug)]
struct Entry {
    id: EventId,
    /// `Event::subject`.
    subject: Option<Box<str>>,
    /// The JSON of its `EventMessage`.
    text: Box<str>,
}

/// Gapless events up to the newest one, which may not be synced yet.
#[derive(Debug, Default)]
pub(crate) struct Ring {
    /// Version of the event before the first entry.
    before: Version,
    /// Of that event, where it is known.
    before_id: Option<EventId>,
    entries: VecDeque<Entry>,
    bytes: usize,
}

/// What an entry costs beside its text.
const ENTRY_BYTES: usize = 64;

impl Ring {
    /// Holds the given events, which end at `head`.
    pub(crate) fn of(head: Version, recent: &[Stored]) -> Self {
        let mut ring = Self { before: head - recent.len() as Version, ..Self::default() };
        for stored in recent {
            let subject = stored.typed().ok().and_then(|recorded| recorded.event.subject().map(Box::from));
            match frame::event(stored) {
                Ok(text) => ring.push(stored.envelope.id.clone(), subject, text),
                Err(_) => ring.clear_up_to(&stored.envelope),
            }
        }
        ring
    }

    fn clear_up_to(&mut self, last: &Envelope) {
        *self = Self { before: last.version, before_id: Some(last.id.clone()), ..Self::default() };
    }

    pub(crate) fn push(&mut self, id: EventId, subject: Option<Box<str>>, text: String) {
        self.bytes += text.len() + ENTRY_BYTES;
        self.entries.push_back(Entry { id, subject, text: text.into() });
    }

    /// Whether every event after `version` is here.
    pub(crate) fn covers(&self, version: Version) -> bool {
        version >= self.before
    }

    /// Drops the oldest entries beyond the limits, but none after `keep_after`.
    pub(crate) fn trim(&mut self, max_events: usize, max_bytes: usize, keep_after: Version) {
        while self.before < keep_after && (self.entries.len() > max_events || self.bytes > max_bytes) {
            let Some(entry) = self.entries.pop_front() else { return };
            self.bytes -= entry.text.len() + ENTRY_BYTES;
            self.before += 1;
            self.before_id = Some(entry.id);
        }
    }

    pub(crate) fn shrink(&mut self) {
        self.entries.shrink_to_fit();
    }

    /// The texts of the events after `after` up to and with `to`. Needs `covers(after)`.
    pub(crate) fn texts(&self, after: Version, to: Version) -> impl Iterator<Item = &str> + Clone {
        self.range(after, to).map(|entry| &*entry.text)
    }

    fn range(&self, after: Version, to: Version) -> impl Iterator<Item = &Entry> + Clone {
        let skip = index(after.saturating_sub(self.before));
        let count = index(to.saturating_sub(after.max(self.before)));
        self.entries.iter().skip(skip).take(count)
    }

    /// The frames that bring a client from `after` to `to`. Needs `covers(after)`.
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

    /// One frame holds a bounded number of events and bytes, and at least one event.
    fn frame_end(&self, start: Version, to: Version) -> Version {
        let mut bytes = 0;
        let fits = self.texts(start, to).take(MAX_FRAME_EVENTS).take_while(|text| {
            bytes += text.len();
            bytes <= MAX_FRAME_BYTES
        });
        start + (fits.count() as Version).max(1)
    }

    /// The id of the event at `version`, where it is known here.
    pub(crate) fn event_id(&self, version: Version) -> Option<EventId> {
        match version.checked_sub(self.before)? {
            0 => self.before_id.clone(),
            count => self.entries.get(index(count - 1)).map(|entry| entry.id.clone()),
        }
    }

    /// The messages about a cell after `after`. Needs `covers(after)`.
    pub(crate) fn about_cell(&self, cell_id: &CellId, after: Version) -> Vec<EventMessage> {
        let about = |entry: &&Entry| entry.subject.as_deref() == Some(cell_id.as_str());
        self.range(after, Version::MAX).filter(about).filter_map(Entry::message).collect()
    }

    /// The answers to `queries`, if they are all here.
    pub(crate) fn history(&self, notebook: &NotebookId, queries: &[HistoryQuery]) -> Option<History> {
        let select = |selection: &Selection| self.select(notebook, selection).ok_or(());
        let mut events = Vec::new();
        for query in queries {
            events.extend(query.answer(select).ok()?);
        }
        in_order(&mut events);
        Some(History { events, judgement: None })
    }

    fn select(&self, notebook: &NotebookId, selection: &Selection) -> Option<Vec<Recorded>> {
        if !self.covers(selection.since) {
            return None;
        }
        let later = self.range(selection.since, Version::MAX);
        let selected = later.filter(|entry| selection.holds(Version::MAX, entry.subject.as_deref()));
        selected.map(|entry| recorded(notebook, entry.message()?)).collect()
    }
}

/// Bounds of one `events` frame.
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

impl Entry {
    fn message(&self) -> Option<EventMessage> {
        serde_json::from_str(&self.text).ok()
    }
}
