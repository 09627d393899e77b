//! The judge: an early warning about code that an assistant wants to run, and the names that a cell reads and writes.
//!
//! Purpose: [`judge`] lists what the text of code plainly does to the kernel and to later runs, so that a person is asked
//! before it runs. [`cell_names`] and [`sql_cell_names`] tell how cells depend on each other, for models, people and
//! reactive notebooks. Both are pure functions of the sources, so the server caches them by hash. [`python`] and [`ipython`]
//! read cells, also for `notarium-expectation`.
//!
//! Invariants:
//! - No panic, whatever the code is. Work is linear in the text and bounded by [`MAX_CHECKED_BYTES`] a piece and
//!   [`MAX_TOTAL_BYTES`] in all. Code beyond these limits is answered by "too long" or "could not be checked", which asks.
//! - No warning means that the judge has nothing to warn of. It does not mean that the code is harmless.
//!
//! This crate must never know notebooks, commands or the gate. Nothing that protects a person may rest on its answers: effects
//! outside the kernel's memory are held by the system while the code runs. SQL cells are the exception: the connection refuses
//! their writes, and the judge reads which files and functions a query names.
//!
//! **Warned of:** ends of the kernel; cleared variables, and deleted or replaced variables that a person's cells made; code
//! that outlives its run (changed libraries and builtins, exit and signal handlers, trace and audit hooks, timers, IPython's
//! events, `__del__`); magics that write; shell lines that plainly remove or overwrite.
//!
//! **Limit.** Names are followed through imports and plain assignments alone. Code that hides what it does is not seen.

mod builtins;
mod findings;
pub mod ipython;
mod names;
mod names_of_cell;
pub mod python;
mod rules;
mod sql;
mod warnings;
mod words;

use std::collections::BTreeSet;

use sha2::{Digest, Sha256};

pub use builtins::is_builtin;
pub use findings::Danger;
pub use names::{cell_names, names_of_statements};
pub use names_of_cell::{CellNames, is_table};
pub use python::MAX_CHECKED_BYTES;
pub use rules::{DangerRule, Grade};
pub use sql::{is_elsewhere, says_write, sql_body, sql_cell_names, sql_connection};
pub use warnings::MAX_TOTAL_BYTES;

use warnings::CodeContext;

const MAX_REASONS: usize = 20;

/// Warnings about pieces of code that run together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judgement {
    /// The worst grade; `None`: nothing to warn of.
    pub grade: Option<Grade>,
    /// The worst grade of each piece.
    pub each: Vec<Option<Grade>>,
    /// Sentences, destructive dangers first; at most 20.
    pub reasons: Vec<String>,
}

/// Warns of pieces of Python that run after the `earlier` cells of the same kernel, whose names they see (`import os as o` in
/// one, `o._exit(0)` in the next). The earlier cells themselves are not warned of.
///
/// `registered`: functions of the notebook that a kernel knows by these names; `None` where they are known to be harmless.
pub fn judge(earlier: &[&str], codes: &[&str], registered: &[(&str, Option<Grade>)]) -> Judgement {
    judge_beside_people(&[], earlier, codes, registered)
}

/// Judges as [`judge`], and warns of variables that are deleted or replaced and that `people` made: sources that people ran.
pub fn judge_beside_people(
    people: &[&str],
    earlier: &[&str],
    codes: &[&str],
    registered: &[(&str, Option<Grade>)],
) -> Judgement {
    judgement(warnings::of_each(codes, CodeContext { earlier, people, registered, registers: false }))
}

/// Judges as [`judge`], for cells that run again only to register their functions with `@notarium.tool`, in a kernel that has
/// none. Such a function is not called, so its body is left out.
pub fn judge_registrations(earlier: &[&str], codes: &[&str]) -> Judgement {
    judgement(warnings::of_each(codes, CodeContext { earlier, registers: true, ..CodeContext::default() }))
}

fn judgement(found: Vec<Vec<Danger>>) -> Judgement {
    let each = found.iter().map(|found| found.iter().map(Danger::grade).min()).collect();
    let found: Vec<Danger> = found.into_iter().flatten().collect();
    let mut seen = BTreeSet::new();
    let reasons = found.iter().map(Danger::sentence).filter(|sentence| seen.insert(sentence.clone()));
    Judgement { grade: found.iter().map(Danger::grade).min(), each, reasons: cut(reasons.collect()) }
}

/// Replaces the reasons beyond the limit by their number and a hash: a list of other dangers reads otherwise.
fn cut(mut reasons: Vec<String>) -> Vec<String> {
    if reasons.len() > MAX_REASONS {
        let rest = reasons.split_off(MAX_REASONS - 1);
        let digest = Sha256::digest(rest.join("\n"));
        let name: String = digest.iter().take(4).map(|byte| format!("{byte:02x}")).collect();
        reasons.push(format!("and {} more, in all {name}", rest.len()));
    }
    reasons
}

/// Dangers of one piece of code, destructive ones first, then by line. Empty: nothing to warn of.
pub fn dangers(code: &str) -> Vec<Danger> {
    dangers_of_each(&[], &[code]).into_iter().flatten().collect()
}

/// Dangers of each of several pieces, which see the names that the others and the `earlier` ones bind.
pub fn dangers_of_each(earlier: &[&str], codes: &[&str]) -> Vec<Vec<Danger>> {
    warnings::of_each(codes, CodeContext { earlier, ..CodeContext::default() })
}
