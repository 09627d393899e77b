//! Compares the outputs of a run with those of its repetition.
//!
//! Purpose: two runs of the same code count as the same although clocks, addresses and chunks of streams differ. Each stream is one text,
//! as a terminal shows it ([`text`]); tables are compared by cell (`tables`), PNG pictures by pixel (`pictures`), errors by their type and
//! message.
//!
//! Invariants:
//! - Pure. Equal outputs are the same, and both directions agree.
//! - Normalising a text twice changes nothing.
//! - Memory for a picture is bounded.
//!
//! The order between a stream and other outputs does not count: kernels send them through different buffers. This crate must never read
//! a blob, run anything or know where outputs come from.

mod outputs;
mod pictures;
mod tables;
pub mod text;

use std::collections::BTreeSet;

use serde::Serialize;
use serde_json::Value;

pub use text::Noise;

/// Most differences of one run that are kept.
const MAX_DIFFERENCES: usize = 20;
/// Most characters of each side of a difference.
const MAX_CHARACTERS: usize = 200;

/// One difference between the outputs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// Place of the difference, for people: `standard output, line 3`.
    pub place: String,
    /// Value in the record.
    pub recorded: String,
    /// Value in the repetition.
    pub replayed: String,
}

/// Result of a comparison.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct OutputComparison {
    /// The first differences, in the order of the outputs. Empty: the outputs are the same.
    pub differences: Vec<Difference>,
    /// Kinds of text that differ, and do not count.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub apart_from: BTreeSet<Noise>,
}

impl OutputComparison {
    /// Returns true if nothing differs that counts.
    pub fn is_same(&self) -> bool {
        self.differences.is_empty()
    }

    fn differ(&mut self, place: impl Into<String>, recorded: impl Into<String>, replayed: impl Into<String>) {
        if self.differences.len() < MAX_DIFFERENCES {
            let (recorded, replayed) = (shortened(&recorded.into()), shortened(&replayed.into()));
            self.differences.push(Difference { place: place.into(), recorded, replayed });
        }
    }

    /// Compares two texts; the first line that differs is named.
    fn texts(&mut self, place: &str, recorded: &str, replayed: &str) {
        if recorded == replayed {
            return;
        }
        let (normal, again) = (text::normalised(recorded), text::normalised(replayed));
        if normal.text == again.text {
            self.apart_from.extend(normal.noise.into_iter().chain(again.noise));
            return;
        }
        let (lines, others): (Vec<&str>, Vec<&str>) = (normal.text.lines().collect(), again.text.lines().collect());
        let at = (0..lines.len().max(others.len())).find(|at| lines.get(*at) != others.get(*at)).unwrap_or_default();
        let line = |text: &str, lines: &[&str]| {
            // Placeholders never have line breaks, so lines keep their numbers.
            let own = text.lines().nth(at).or_else(|| lines.get(at).copied());
            own.map_or_else(|| "(nothing)".to_owned(), str::to_owned)
        };
        let place = if at > 0 || lines.len() > 1 { format!("{place}, line {}", at + 1) } else { place.to_owned() };
        self.differ(place, line(recorded, &lines), line(replayed, &others));
    }
}

/// Compares the outputs of a run (nbformat's objects, whole) with those of its repetition.
pub fn compare(recorded: &[Value], replayed: &[Value]) -> OutputComparison {
    let mut comparison = OutputComparison::default();
    outputs::compare(recorded, replayed, &mut comparison);
    comparison
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(MAX_CHARACTERS) {
        None => text.to_owned(),
        Some((at, _)) => format!("{}…", &text[..at]),
    }
}
