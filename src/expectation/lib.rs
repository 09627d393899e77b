//! Kinds of effects to which a text can lead: by its own words, and by the definitions of the notebook that it reaches.
//!
//! Purpose: a person who runs a cell expects these effects. One of another kind is a surprise: code in the kernel's memory may
//! have caused it. The answer errs toward more kinds, because a person's own code must run.
//!
//! - `names.txt` lists names that write, remove, connect and signal.
//! - A call into a library, or of something that is not known, may write and use the network.
//! - A text that starts programs, runs texts, or cannot be read may do everything.
//!
//! Invariants:
//! - No panic, whatever the text is. Work is bounded by the judge's limit for a text, and by the number of names that are
//!   followed for one question. Beyond these limits a text may do everything.
//! - Pure: the same texts have the same kinds, so the server caches them by hash.
//!
//! This crate must never know notebooks, kernels or who runs a text, and never parse by itself: the judge has the parser.
//!
//! **Limit.** The answer bounds what a trap in a kernel's memory can do in a person's name by kind, and proves nothing.

mod bindings;
mod magic;
mod reachable;
mod table;
mod text;
mod uses;

pub use table::ExpectedKinds;

use bindings::TextBindings;
use reachable::ReachableDefinitions;
use text::Text;

/// Kinds of effects to which each of `codes` can lead. Each sees the definitions of the others and of the `earlier` texts.
pub fn expected_kinds(earlier: &[&str], codes: &[&str]) -> Vec<ExpectedKinds> {
    let texts: Vec<Option<Text>> = codes.iter().chain(earlier).map(|source| Text::of(source)).collect();
    let names = TextBindings::of(texts.iter().flatten());
    let reached = ReachableDefinitions::of(&texts, &names);
    let mut steps = 0;
    (0..codes.len())
        .map(|index| match &texts[index] {
            Some(text) => reached.kinds(index, text, &names, &mut steps),
            None => ExpectedKinds::ALL,
        })
        .collect()
}
