//! The allow list at work: a cell passes when every import, name, attribute and call in it is known to be harmless. What
//! is found here is *unknown*; the rules of the table say what of it is known to destroy.
//!
//! **Why it holds.** Whatever value the code can get hold of does no harm, whatever it is called with: what could is
//! withheld, and asks where it is mentioned. So a parameter, an element of a list or the answer of a call may be called and
//! handed on. What is judged by its arguments may only be called in sight. Names that another cell binds are judged by what
//! that cell binds them to; names that nobody binds ask.

mod arguments;
mod attributes;
mod builtins;
mod cells;
mod literals;
mod methods;
mod rules;
mod scope;
mod visit;
mod walk;

use ruff_python_ast::ModModule;
use ruff_python_parser::Parsed;

use crate::{DangerRule, Findings, Grade, Lines, MAX_CHECKED_BYTES, python};
use cells::Unreadable;
use scope::Globals;
use walk::Checker;

/// Adds what is not known to be harmless in each of `codes`.
pub(crate) fn check(earlier: &[&str], codes: &[&str], registered: &[(&str, Option<Grade>)], findings: &mut [Findings]) {
    let longest =
        earlier.iter().chain(codes).map(|code| code.len()).filter(|length| *length <= MAX_CHECKED_BYTES).max();
    python::with_stack(longest.unwrap_or(0), || {
        let read = |code: &&str| read(code).map(|text| (python::parse(&text), text));
        let cells: Vec<_> = earlier.iter().chain(codes).map(read).collect();
        let mut globals = Globals { judged_from: earlier.len(), ..Globals::default() };
        for (name, grade) in registered {
            match grade {
                Some(grade) => _ = globals.registered.insert(name, *grade),
                None => _ = globals.vouched.insert(name),
            }
        }
        for (index, cell) in cells.iter().enumerate() {
            if let Ok((Some(parsed), _)) = cell
                && parsed.has_valid_syntax()
            {
                globals.collect(index, parsed.syntax());
            }
        }
        for (cell, findings) in cells.iter().skip(earlier.len()).zip(findings.iter_mut()) {
            check_cell(cell, &globals, findings);
        }
        if globals.budget.is_spent() {
            findings.iter_mut().for_each(|findings| findings.add(DangerRule::NotChecked, "This code", 1));
        }
    });
}

fn read(code: &str) -> Result<String, Unreadable> {
    match code.len() > MAX_CHECKED_BYTES {
        true => Ok(String::new()),
        false => cells::python_of(code),
    }
}

type Cell = Result<(Option<Parsed<ModModule>>, String), Unreadable>;

fn check_cell<'a>(cell: &'a Cell, globals: &'a Globals<'a>, findings: &mut Findings) {
    match cell {
        Err(Unreadable::Separator) => findings.add(DangerRule::OddLines, "This code", 1),
        Err(Unreadable::Prompt | Unreadable::Automagic) => findings.add(DangerRule::DoesNotParse, "This code", 1),
        Err(Unreadable::CellMagic) => findings.add_unknown(DangerRule::UnknownMagic, "%%", 1),
        Ok((None, _)) => findings.add(DangerRule::NotChecked, "This code", 1),
        Ok((Some(parsed), text)) => {
            let lines = Lines::of(text, 1);
            if let Some(error) = parsed.errors().first() {
                let line = lines.at(error.location.start().to_usize());
                return findings.add_unknown(DangerRule::DoesNotParse, "This code", line);
            }
            let mut checker = Checker::new(globals, lines);
            checker.check_body(&parsed.syntax().body);
            checker.into_findings(findings);
        }
    }
}
