//! Warnings of cells: each is read as IPython reads it, then walked once with the names that all cells bind.

mod bindings;
mod cell;
mod list;
mod magics;
mod shell;
mod walk;

use std::collections::BTreeSet;

use ruff_python_ast::ModModule;
use ruff_python_ast::visitor::Visitor;
use ruff_python_parser::Parsed;

use crate::findings::{Danger, Findings, LineNumbers};
use crate::names::cell_names;
use crate::python::{self, MAX_CHECKED_BYTES};
use crate::rules::{DangerRule, Grade};
use bindings::Bindings;
use cell::CellText;
use walk::WarningWalker;

/// Sources that are read for one answer, together. A notebook of 1 MiB stays below it.
pub const MAX_TOTAL_BYTES: usize = 4 << 20;

/// Everything around the pieces that are judged.
#[derive(Default, Clone, Copy)]
pub(crate) struct CodeContext<'a> {
    /// Sources of other cells of the kernel.
    pub(crate) earlier: &'a [&'a str],
    /// Sources that people ran: the variables that these left are theirs.
    pub(crate) people: &'a [&'a str],
    /// Functions of the notebook that a kernel has registered; `None`: harmless.
    pub(crate) registered: &'a [(&'a str, Option<Grade>)],
    /// The pieces run only to register their functions, which nothing calls.
    pub(crate) registers: bool,
}

/// Dangers of each piece.
pub(crate) fn of_each(codes: &[&str], around: CodeContext<'_>) -> Vec<Vec<Danger>> {
    let sources = || around.earlier.iter().chain(around.people).chain(codes);
    if sources().map(|source| source.len()).sum::<usize>() > MAX_TOTAL_BYTES {
        return codes.iter().map(|_| unchecked()).collect();
    }
    let longest = sources().map(|code| code.len()).filter(|length| *length <= MAX_CHECKED_BYTES).max();
    python::with_stack(longest.unwrap_or(0), || {
        let mut bindings = Bindings::default();
        around.earlier.iter().for_each(|source| collect(&mut bindings, source));
        let cells: Vec<(CellText, Option<Parsed<ModModule>>)> = codes.iter().map(|code| read(code)).collect();
        for parsed in cells.iter().filter_map(|(_, parsed)| parsed.as_ref()) {
            bindings.collect(parsed.syntax());
        }
        let people: BTreeSet<String> = around.people.iter().flat_map(|source| variables(source)).collect();
        cells.into_iter().map(|(cell, parsed)| of_cell(cell, parsed, &bindings, &people, around)).collect()
    })
}

fn unchecked() -> Vec<Danger> {
    let mut findings = Findings::default();
    findings.add(DangerRule::NotChecked, "This code", 1);
    findings.into_dangers()
}

fn read(code: &str) -> (CellText, Option<Parsed<ModModule>>) {
    let cell = CellText::read(code);
    let parsed = python::parse(&cell.text);
    (cell, parsed)
}

fn collect(bindings: &mut Bindings, source: &str) {
    if let (_, Some(parsed)) = read(source) {
        bindings.collect(parsed.syntax());
    }
}

/// Variables, functions and classes that a source leaves. Modules can be imported again.
fn variables(source: &str) -> BTreeSet<String> {
    cell_names(source).map(|names| &names.leaves - &names.imported).unwrap_or_default()
}

fn of_cell(
    cell: CellText,
    parsed: Option<Parsed<ModModule>>,
    bindings: &Bindings,
    people: &BTreeSet<String>,
    around: CodeContext<'_>,
) -> Vec<Danger> {
    let mut findings = cell.findings;
    let Some(parsed) = parsed else {
        findings.add(DangerRule::NotChecked, "This code", 1);
        return findings.into_dangers();
    };
    // Syntax errors are no danger: IPython runs nothing of such a cell. The parts that parse are walked all the same.
    let lines = LineNumbers::of(&cell.text, 1);
    let mut walker = WarningWalker::new(bindings, people, around, lines, findings);
    walker.visit_body(&parsed.syntax().body);
    walker.findings.into_dangers()
}
