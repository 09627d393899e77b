//! Two passes over a record. The first one finds what is redacted: code units by their origin, and events whose texts all go. The second one
//! makes the stand-ins.
//!
//! A text that was typed in pieces stands in no event: it is found in the state of its cell, and its code units are followed through edits,
//! deletions, undo and copies of the whole source. Chunks of a stream are searched together.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use notarium_record::stand_in::{Found, JsonStep, REDACTED, Zone, blacken, rewrite};
use notarium_record::text::utf16_len;
use notarium_record::{
    CellId, Event, ExecutionId, ExecutionSubject, MessageBlock, Output, RawJson, Recorded, StandIn, Target, ThreadId,
    ToolCallId, TurnId,
};

use super::texts::{CellTexts, Marks, Unit, deletions, units};
use super::{Patterns, RedactionTarget};

/// First pass.
#[derive(Debug, Clone)]
pub(super) struct Finder {
    target: RedactionTarget,
    patterns: Patterns,
    texts: CellTexts,
    marks: Marks,
    /// Ends of the streams of open executions.
    streams: BTreeMap<ExecutionId, Vec<Unit>>,
    related: Related,
}

/// Things that belong to a cell whose past is redacted, or to an event.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Related {
    executions: BTreeSet<ExecutionId>,
    threads: BTreeSet<ThreadId>,
    turns: BTreeSet<TurnId>,
    calls: BTreeSet<ToolCallId>,
}

impl Finder {
    pub fn new(target: RedactionTarget) -> Self {
        let patterns = Patterns::of(&target);
        let (texts, marks, streams, related) = Default::default();
        Self { target, patterns, texts, marks, streams, related }
    }

    pub fn see(&mut self, recorded: &Recorded) {
        let changed = self.texts.apply(recorded);
        match self.target.clone() {
            RedactionTarget::Text { .. } => {
                if let Some((cell_id, changed)) = changed {
                    self.search(&cell_id, changed);
                }
                self.search_streams(recorded);
            }
            RedactionTarget::Event { version } if version == recorded.envelope.version => {
                self.marks.add_event(version);
                self.related.executions.extend(recorded.event.execution_id().cloned());
            }
            RedactionTarget::Event { .. } => {}
            RedactionTarget::Cell { cell_id } => self.related.note(&cell_id, &recorded.event),
        }
    }

    fn search(&mut self, cell_id: &CellId, changed: Range<usize>) {
        let text = self.texts.of(cell_id);
        let margin = self.patterns.longest.saturating_sub(1);
        let window = changed.start.saturating_sub(margin)..(changed.end + margin).min(text.len());
        let text = &text[window];
        for found in self.patterns.find(text.len(), |index| text[index].unit) {
            text[found].iter().for_each(|unit| _ = self.marks.add(unit.origin));
        }
    }

    fn search_streams(&mut self, recorded: &Recorded) {
        let Event::ExecutionOutputAppended(event) = &recorded.event else {
            if let Some(execution) = recorded.event.execution_id() {
                self.streams.remove(execution);
            }
            return;
        };
        let stream = self.streams.entry(event.execution_id.clone()).or_default();
        for (index, output) in event.outputs.iter().enumerate() {
            match stream_text(output) {
                None => stream.clear(),
                Some(text) => {
                    stream.extend(units(&text, recorded.envelope.version, index));
                    for found in self.patterns.find(stream.len(), |index| stream[index].unit) {
                        stream[found].iter().for_each(|unit| _ = self.marks.add(unit.origin));
                    }
                    let surplus = stream.len().saturating_sub(self.patterns.longest.saturating_sub(1));
                    stream.drain(..surplus);
                }
            }
        }
    }

    /// Ends the pass.
    pub fn rewriter(&self) -> Rewriter {
        let Self { target, patterns, marks, related, .. } = self.clone();
        Rewriter { target, patterns, marks, related, texts: CellTexts::default() }
    }

    /// Returns true if the other pass, which has seen more, has found more.
    pub fn found_less_than(&self, other: &Self) -> bool {
        self.marks != other.marks || self.related != other.related
    }
}

/// Text of a stream's chunk.
fn stream_text(output: &Output) -> Option<String> {
    let content: serde_json::Value = serde_json::from_str(output.content.get()).ok()?;
    if content.get("output_type")? != "stream" {
        return None;
    }
    match content.get("text")? {
        serde_json::Value::String(text) => Some(text.clone()),
        serde_json::Value::Array(lines) => Some(lines.iter().filter_map(|line| line.as_str()).collect()),
        _ => None,
    }
}

impl Related {
    fn note(&mut self, cell: &CellId, event: &Event) {
        match event {
            Event::ExecutionRequested(event) => {
                if matches!(&event.subject, ExecutionSubject::Cell { cell_id, .. } if cell_id == cell) {
                    self.executions.insert(event.execution_id.clone());
                }
            }
            Event::ThreadStarted(event) if event.cell_id == *cell => _ = self.threads.insert(event.thread_id.clone()),
            Event::TurnStarted(event) if event.cell_id.as_ref() == Some(cell) => {
                self.turns.insert(event.turn_id.clone());
            }
            Event::ToolCallRequested(event) => {
                let is_about = |target: &Target| matches!(target, Target::Cell { cell_id, .. } if cell_id == cell);
                let is_of_turn = event.turn_id.as_ref().is_some_and(|turn| self.turns.contains(turn));
                if is_of_turn || event.targets.iter().filter_map(|target| target.known()).any(is_about) {
                    self.calls.insert(event.call_id.clone());
                }
            }
            _ => {}
        }
    }
}

/// Second pass.
#[derive(Debug, Clone)]
pub(super) struct Rewriter {
    target: RedactionTarget,
    patterns: Patterns,
    marks: Marks,
    related: Related,
    texts: CellTexts,
}

/// Part of an event's texts that goes as a whole.
enum Extent {
    /// Marked code units, and those that match.
    Marked,
    /// All texts.
    All,
    /// These blocks of a message.
    Blocks(BTreeSet<usize>),
}

impl Extent {
    fn holds(&self, path: &[JsonStep]) -> bool {
        match self {
            Extent::Marked => false,
            Extent::All => true,
            Extent::Blocks(blocks) => matches!(path, [_, JsonStep::Index(index), ..] if blocks.contains(index)),
        }
    }
}

impl Rewriter {
    /// Returns the stand-in of an event's payload; `None`: nothing of it goes.
    pub fn see(&mut self, recorded: &Recorded, payload: &str) -> Option<StandIn> {
        let deleted = match &recorded.event {
            Event::CellSourceEdited(event) => {
                let text = self.texts.of(&event.cell_id);
                deletions(&event.change).into_iter().map(|range| text.get(range).unwrap_or(&[]).to_vec()).collect()
            }
            _ => Vec::new(),
        };
        self.texts.apply(recorded);
        let rewritten = self.rewritten(recorded, payload, &deleted)?;
        let payload = RawJson::parse(&rewritten).ok()?;
        Some(StandIn { version: recorded.envelope.version, payload })
    }

    fn rewritten(&self, recorded: &Recorded, payload: &str, deleted: &[Vec<Unit>]) -> Option<String> {
        let extent = self.extent(recorded);
        let source = copied_cell(&recorded.event).map_or(&[][..], |cell_id| self.texts.of(cell_id));
        let mut copies = Copies { marks: &self.marks, recorded, deleted, source, text_at: (Vec::new(), 0) };
        rewrite(&recorded.envelope.event_type, payload, &mut |place, found| match found {
            _ if place.zone == Zone::Structure => None,
            Found::Text(text) => {
                let (marked, matched) = (copies.marked(place.path, text), self.patterns.mask(text));
                let is_all = extent.holds(place.path);
                replaced(text, |unit| is_all || is_set(&marked, unit) || is_set(&matched, unit))
            }
            Found::Key(key) => {
                let matched = self.patterns.mask(key);
                replaced(key, |unit| is_set(&matched, unit))
            }
            Found::Number(number) => {
                let goes = extent.holds(place.path) || self.patterns.is(number);
                goes.then(|| REDACTED.to_string())
            }
        })
    }

    fn extent(&self, recorded: &Recorded) -> Extent {
        let event = &recorded.event;
        let is_all = match &self.target {
            RedactionTarget::Text { .. } => false,
            RedactionTarget::Event { version } => {
                *version == recorded.envelope.version
                    || matches!(event, Event::ExecutionOutputsMoved(event) if self.related.executions.contains(&event.execution_id))
            }
            RedactionTarget::Cell { cell_id } => event.cell_id() == Some(cell_id) || self.related.holds(event),
        };
        if is_all {
            return Extent::All;
        }
        let Event::MessagePosted(event) = event else { return Extent::Marked };
        let is_of_call = |block: &MessageBlock| match block {
            MessageBlock::ToolCall { call_id, .. } | MessageBlock::ToolResult { call_id, .. } => {
                self.related.calls.contains(call_id)
            }
            _ => false,
        };
        let blocks = event.blocks.iter().enumerate().filter(|(_, block)| block.known().is_some_and(is_of_call));
        Extent::Blocks(blocks.map(|(index, _)| index).collect())
    }
}

fn is_set(mask: &[bool], unit: usize) -> bool {
    mask.get(unit).copied().unwrap_or(false)
}

fn replaced(text: &str, is_redacted: impl FnMut(usize) -> bool) -> Option<String> {
    let black = blacken(text, is_redacted);
    (black != text).then_some(black)
}

/// Strings of one event that consist of code units with origins: inserted, removed or copied.
struct Copies<'a> {
    marks: &'a Marks,
    recorded: &'a Recorded,
    deleted: &'a [Vec<Unit>],
    source: &'a [Unit],
    /// The text of which the last string was a piece, with the length of its pieces so far.
    text_at: (Vec<JsonStep>, usize),
}

impl Copies<'_> {
    /// Which code units of a string are marked.
    fn marked(&mut self, path: &[JsonStep], text: &str) -> Vec<bool> {
        let key = |index: usize| path.get(index).and_then(JsonStep::key);
        match (key(0), path.get(1)) {
            // The lines of an inserted text, without their line breaks.
            (Some("change"), Some(JsonStep::Index(section))) => self.piece(path, *section, text, 1),
            (Some("removed"), Some(JsonStep::Index(index))) => {
                self.of(self.deleted.get(*index).map_or(&[], Vec::as_slice))
            }
            (Some("outputs"), Some(JsonStep::Index(index)))
                if matches!(self.recorded.event, Event::ExecutionOutputAppended(_))
                    && (key(2), key(3)) == (Some("content"), Some("text")) =>
            {
                self.piece(path, *index, text, 0)
            }
            _ if path.last().and_then(JsonStep::key) == Some("source") => {
                let is_copy = text.encode_utf16().eq(self.source.iter().map(|unit| unit.unit));
                if is_copy { self.of(self.source) } else { Vec::new() }
            }
            _ => Vec::new(),
        }
    }

    fn of(&self, units: &[Unit]) -> Vec<bool> {
        units.iter().map(|unit| self.marks.holds(unit.origin)).collect()
    }

    /// Marks of the next piece of a text that the event inserts, which a `gap` follows.
    fn piece(&mut self, path: &[JsonStep], part: usize, text: &str, gap: usize) -> Vec<bool> {
        if self.text_at.0 != path[..2] {
            self.text_at = (path[..2].to_vec(), 0);
        }
        let start = self.text_at.1;
        self.text_at.1 += utf16_len(text) + gap;
        let inserted = units(text, self.recorded.envelope.version, part).into_iter().map(|unit| unit.after(start));
        self.of(&inserted.collect::<Vec<_>>())
    }
}

impl Unit {
    fn after(self, start: usize) -> Self {
        let offset = self.origin.offset.saturating_add(u32::try_from(start).unwrap_or(u32::MAX));
        Self { origin: super::texts::UnitOrigin { offset, ..self.origin }, ..self }
    }
}

impl Related {
    fn holds(&self, event: &Event) -> bool {
        let of_turn = match event {
            Event::MessagePosted(event) => event.turn_id.as_ref(),
            event => event.turn_id(),
        };
        event.execution_id().is_some_and(|id| self.executions.contains(id))
            || event.thread_id().is_some_and(|id| self.threads.contains(id))
            || event.tool_call_id().is_some_and(|id| self.calls.contains(id))
            || of_turn.is_some_and(|id| self.turns.contains(id))
    }
}

/// The cell whose whole source an event copies.
fn copied_cell(event: &Event) -> Option<&CellId> {
    match event {
        Event::ExecutionRequested(event) => match &event.subject {
            ExecutionSubject::Cell { cell_id, .. } => Some(cell_id),
            _ => None,
        },
        Event::CellInserted(_) | Event::CellDeleted(_) | Event::CellRestored(_) => event.cell_id(),
        _ => None,
    }
}
