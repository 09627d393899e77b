//! The walk: a cell passes when every import, name, attribute and call in it is known to be harmless. What is not known is
//! looked up in the table, which says whether a person may grant it.
//!
//! **Why it holds.** Whatever value the code can get hold of does no harm, whatever it is called with: what could is
//! withheld, and asks where it is mentioned. So a parameter, an element of a list or the answer of a call may be called and
//! handed on. What is judged by its arguments may only be called in sight. Names that another cell binds are judged by what
//! that cell binds them to; names that nobody binds ask.

mod arguments;
mod attributes;
mod bindings;
pub(crate) mod builtins;
mod cells;
mod dangers;
mod literals;
mod methods;
pub(crate) mod rules;
mod scope;
mod settings;
mod shared;
mod visit;
mod walk;

use std::collections::BTreeSet;

use ruff_python_ast::visitor::Visitor;
use ruff_python_ast::{ModModule, Stmt};
use ruff_python_parser::Parsed;

use crate::{DangerRule, Findings, Grade, Lines, MAX_CHECKED_BYTES, python};
use cells::Cell;
use scope::Globals;
use walk::Checker;

/// What is known beside the sources.
#[derive(Default, Clone, Copy)]
pub(crate) struct Known<'a> {
    /// Functions of the notebook that a kernel has registered; `None`: harmless.
    pub registered: &'a [(&'a str, Option<Grade>)],
    /// Functions below `@notarium.tool` are registered by the pieces, and called by nobody in them: their bodies do not run.
    pub registers: bool,
}

/// Adds what is not known to be harmless in each of `codes`.
pub(crate) fn check(earlier: &[&str], codes: &[&str], known: Known<'_>, findings: &mut [Findings]) {
    let longest =
        earlier.iter().chain(codes).map(|code| code.len()).filter(|length| *length <= MAX_CHECKED_BYTES).max();
    python::with_stack(longest.unwrap_or(0), || {
        let read = |code: &&str| Cell::read(code);
        let cells: Vec<_> =
            earlier.iter().chain(codes).map(read).map(|cell| (python::parse(&cell.text), cell)).collect();
        let mut globals = Globals { judged_from: earlier.len(), ..Globals::default() };
        for (name, grade) in known.registered {
            match grade {
                Some(grade) => _ = globals.registered.insert(name, *grade),
                None => _ = globals.vouched.insert(name),
            }
        }
        for (index, (parsed, cell)) in cells.iter().enumerate() {
            if let Some(parsed) = parsed
                && parsed.has_valid_syntax()
                && cell.refused.is_empty()
            {
                globals.collect(index, parsed.syntax());
            }
        }
        if known.registers {
            globals.only_registered = only_registered(cells.iter().skip(earlier.len()));
        }
        for ((parsed, cell), findings) in cells.iter().skip(earlier.len()).zip(findings.iter_mut()) {
            check_cell(parsed.as_ref(), cell, &globals, findings);
        }
        if globals.budget.is_spent() {
            findings.iter_mut().for_each(|findings| findings.add(DangerRule::NotChecked, "This code", 1));
        }
    });
}

/// Names of functions that a piece defines and that stand nowhere else in the pieces.
fn only_registered<'a>(
    pieces: impl Iterator<Item = &'a (Option<Parsed<ModModule>>, Cell)> + Clone,
) -> BTreeSet<String> {
    let is_part = |character: char| character.is_alphanumeric() || character == '_';
    let words = || pieces.clone().flat_map(|(_, cell)| cell.text.split(|character| !is_part(character)));
    let bodies = pieces.clone().filter_map(|(parsed, _)| Some(&parsed.as_ref()?.syntax().body)).flatten();
    let names = bodies.filter_map(Stmt::as_function_def_stmt).map(|function| function.name.as_str());
    names.filter(|name| words().filter(|word| word == name).count() == 1).map(str::to_owned).collect()
}

fn check_cell<'a>(
    parsed: Option<&'a Parsed<ModModule>>,
    cell: &Cell,
    globals: &'a Globals<'a>,
    findings: &mut Findings,
) {
    cell.refused.iter().for_each(|(rule, found, line)| findings.add(*rule, found, *line));
    let Some(parsed) = parsed else {
        return findings.add(DangerRule::NotChecked, "This code", 1);
    };
    let lines = Lines::of(&cell.text, 1);
    // What lacks at the end lacks on the last line that says something.
    let end = cell.text.trim_end().len();
    let error = parsed.errors().first().map(|error| lines.at(error.location.start().to_usize().min(end)));
    let mut checker = Checker::new(globals, lines);
    checker.visit_body(&parsed.syntax().body);
    if let Some(line) = error {
        findings.add(DangerRule::DoesNotParse, "This code", line);
        // The words of what is no Python are no names.
        checker.found.retain(|found| found.danger.grade() == Grade::Destructive);
    }
    checker.into_findings(findings);
}
