//! Redaction: removes texts from a record for good, and leaves a proof of it.
//!
//! The server reads the record twice and makes a [`RedactionPlan`], off the room's task. The decision (`cells/redact_content`) checks that
//! nothing that was written meanwhile belongs to the target. The store then replaces the payloads and drops their salts in the transaction
//! that appends `ContentRedacted`. Ids, authors, times and decisions stay.

mod scan;
mod texts;

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use crate::values::decision::{RejectionCode, Result};
use notarium_record::text::utf16_len;
use notarium_record::{CellId, Event, Hash, MessageBlock, Output, Recorded, RedactedTarget, StandIn, Version};
use scan::{Finder, Rewriter};

/// Shortest text that can be redacted wherever it stands, in UTF-16 code units: a shorter one stands everywhere.
pub const MIN_TEXT_UNITS: usize = 4;

/// Longest text that can be redacted wherever it stands, in UTF-16 code units.
pub const MAX_TEXT_UNITS: usize = 10_000;

/// Maximum number of events that one redaction changes.
pub const MAX_REDACTED_EVENTS: usize = 100_000;

/// Content to redact, with its text. It is never recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RedactionTarget {
    /// All texts of one event.
    Event {
        /// The event's version.
        version: Version,
    },
    /// A text, wherever it stood.
    Text {
        /// The exact text, with `\n` line breaks.
        text: String,
    },
    /// The whole past of a cell.
    Cell {
        /// The cell, live or in the trash.
        cell_id: CellId,
    },
}

impl RedactionTarget {
    /// The target as it is recorded.
    pub fn without_text(&self) -> RedactedTarget {
        match self {
            Self::Event { version } => RedactedTarget::Event { version: *version },
            Self::Text { .. } => RedactedTarget::Text {},
            Self::Cell { cell_id } => RedactedTarget::Cell { cell_id: cell_id.clone() },
        }
    }

    /// Returns true if UTF-8 bytes have the text in one of its forms.
    pub fn is_in(&self, bytes: &[u8]) -> bool {
        let patterns = Patterns::of(self);
        let Ok(text) = std::str::from_utf8(bytes) else { return false };
        patterns.forms.iter().any(|form| text.contains(&String::from_utf16_lossy(form)))
    }

    /// Refuses a text that is too short or too long.
    pub fn check(&self) -> Result<()> {
        let Self::Text { text } = self else { return Ok(()) };
        let units = utf16_len(text);
        RejectionCode::InvalidValue.when(!(MIN_TEXT_UNITS..=MAX_TEXT_UNITS).contains(&units), || {
            format!("a text to redact has {MIN_TEXT_UNITS} to {MAX_TEXT_UNITS} characters: redact a cell or an event instead")
        })
    }
}

/// Forms in which a text can stand in a string.
#[derive(Debug, Clone, Default)]
struct Patterns {
    forms: BTreeSet<Vec<u16>>,
    plain: String,
    longest: usize,
}

impl Patterns {
    fn of(target: &RedactionTarget) -> Self {
        let RedactionTarget::Text { text } = target else { return Self::default() };
        let json = serde_json::to_string(text).unwrap_or_default();
        let json = json.get(1..json.len().saturating_sub(1)).unwrap_or_default().to_owned();
        let ascii = json.chars().map(|character| match character.is_ascii() {
            true => character.to_string(),
            false => character.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")).collect(),
        });
        let ascii: String = ascii.collect();
        let angles = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
        let html = angles.replace('"', "&quot;");
        let apostrophes = html.replace('\'', "&#x27;");
        let forms = [text.clone(), json, ascii, angles, html, apostrophes];
        let forms: BTreeSet<Vec<u16>> = forms.iter().map(|form| form.encode_utf16().collect()).collect();
        let longest = forms.iter().map(Vec::len).max().unwrap_or(0);
        Self { forms, plain: text.clone(), longest }
    }

    /// Places of all forms in a text.
    fn find(&self, length: usize, unit: impl Fn(usize) -> u16) -> Vec<Range<usize>> {
        let mut found = Vec::new();
        for form in &self.forms {
            let last = (length + 1).saturating_sub(form.len());
            let starts =
                (0..last).filter(|start| form.iter().enumerate().all(|(index, it)| unit(start + index) == *it));
            found.extend(starts.map(|start| start..start + form.len()));
        }
        found
    }

    /// Which code units belong to a form.
    fn mask(&self, text: &str) -> Vec<bool> {
        if self.forms.is_empty() {
            return Vec::new();
        }
        let units: Vec<u16> = text.encode_utf16().collect();
        let mut mask = vec![false; units.len()];
        for range in self.find(units.len(), |index| units[index]) {
            mask[range].fill(true);
        }
        mask
    }

    fn is(&self, number: &str) -> bool {
        !self.plain.is_empty() && number == self.plain
    }
}

// --- plan ---

/// First pass over a record: finds what is redacted.
#[derive(Debug, Clone)]
pub struct RedactionSearch(Finder);

impl RedactionSearch {
    /// A search that has seen no event.
    pub fn new(target: RedactionTarget) -> Self {
        Self(Finder::new(target))
    }

    /// Takes the next event.
    pub fn see(&mut self, recorded: &Recorded) {
        self.0.see(recorded);
    }

    /// Begins the second pass, over the same events.
    pub fn plan(self, target: RedactionTarget) -> RedactionPlan {
        let rewriter = self.0.rewriter();
        RedactionPlan { target, version: 0, stand_ins: Vec::new(), blobs: BTreeSet::new(), finder: self.0, rewriter }
    }
}

/// Second pass: what a redaction changes, up to a version.
#[derive(Debug, Clone)]
pub struct RedactionPlan {
    target: RedactionTarget,
    version: Version,
    stand_ins: Vec<StandIn>,
    blobs: BTreeSet<Hash>,
    finder: Finder,
    rewriter: Rewriter,
}

impl RedactionPlan {
    /// Takes the next event, with its payload as it is in the log.
    pub fn see(&mut self, recorded: &Recorded, payload: &str) {
        self.version = recorded.envelope.version;
        let Some(stand_in) = self.rewriter.see(recorded, payload) else { return };
        if !matches!(self.target, RedactionTarget::Text { .. }) && stand_in.payload.get() != payload {
            self.blobs.extend(named_blobs(&recorded.event));
        }
        self.stand_ins.push(stand_in);
    }

    /// Adds a blob that has the text.
    pub fn add_blob(&mut self, sha256: Hash) {
        self.blobs.insert(sha256);
    }

    /// Versions of the events that get a stand-in.
    pub fn versions(&self) -> impl Iterator<Item = Version> {
        self.stand_ins.iter().map(|stand_in| stand_in.version)
    }

    /// Blobs that go.
    pub fn blobs(&self) -> &BTreeSet<Hash> {
        &self.blobs
    }

    /// The last event that the plan has seen.
    pub fn version(&self) -> Version {
        self.version
    }

    /// The stand-ins, in the order of versions.
    pub(crate) fn stand_ins(&self) -> &[StandIn] {
        &self.stand_ins
    }

    pub(crate) fn is_of(&self, target: &RedactedTarget) -> bool {
        self.target.without_text() == *target
    }

    /// Returns true if a later event belongs to the target too, or shows that more belongs to it.
    pub(crate) fn is_behind(&self, later: &[Arc<Recorded>]) -> bool {
        let (mut finder, mut rewriter) = (self.finder.clone(), self.rewriter.clone());
        let later = later.iter().filter(|recorded| recorded.envelope.version > self.version);
        let any = later.fold(false, |any, recorded| {
            finder.see(recorded);
            let payload = recorded.event.payload();
            payload.map_or(true, |payload| rewriter.see(recorded, payload.get()).is_some()) || any
        });
        any || self.finder.found_less_than(&finder)
    }
}

/// Blobs that an event names.
fn named_blobs(event: &Event) -> Vec<Hash> {
    let of_outputs = |outputs: &[Output]| {
        let blobs = outputs.iter().flat_map(|output| &output.blobs);
        blobs.filter_map(|blob| Hash::from_hex(&blob.sha256)).collect::<Vec<_>>()
    };
    match event {
        Event::ExecutionOutputAppended(event) => of_outputs(&event.outputs),
        Event::ExecutionOutputRecovered(event) => of_outputs(&event.outputs),
        Event::ExecutionOutputUpdated(event) => of_outputs(std::slice::from_ref(&event.output)),
        Event::ExecutionOutputsMoved(event) => {
            event.moved.iter().flat_map(|moved| of_outputs(std::slice::from_ref(&moved.output))).collect()
        }
        Event::MessagePosted(event) => event.known_blocks().filter_map(attached).collect(),
        _ => Vec::new(),
    }
}

fn attached(block: &MessageBlock) -> Option<Hash> {
    match block {
        MessageBlock::Attachment(attachment) => Hash::from_hex(&attachment.sha256),
        _ => None,
    }
}
