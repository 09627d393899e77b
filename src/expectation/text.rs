//! A text of the notebook as far as its effects go: statements of the module, with what each uses, reads and binds.

use std::collections::BTreeSet;

use notarium_judge::python::{self, MAX_CHECKED_BYTES};
use notarium_judge::{ipython, names_of_statements, says_write, sql_body, sql_cell_names};
use ruff_python_ast::Stmt;

use crate::magic;
use crate::table::ExpectedKinds;
use crate::uses::Uses;

/// A text that could be read.
pub(crate) struct Text {
    pub statements: Vec<TextStatement>,
    /// Names that must be there before the text runs.
    pub reads: BTreeSet<String>,
}

/// A statement of a text's module, whatever it holds.
pub(crate) struct TextStatement {
    pub uses: Uses,
    pub reads: BTreeSet<String>,
    pub binds: BTreeSet<String>,
}

impl Text {
    /// `None`: it cannot be read.
    pub fn of(source: &str) -> Option<Self> {
        if source.len() > MAX_CHECKED_BYTES {
            return None;
        }
        if let Some(body) = sql_body(source) {
            return Some(Self::of_sql(body));
        }
        let plain = ipython::plain(ipython::after_blank_lines(source).1);
        if let Some(kinds) = magic::of_cell(&plain) {
            return Some(Self::of_kinds(kinds, BTreeSet::new(), BTreeSet::new()));
        }
        python::with_stack(plain.len(), || {
            let parsed = python::parse(&plain).filter(|parsed| parsed.errors().is_empty())?;
            let body = &parsed.syntax().body;
            let statements: Vec<TextStatement> = body.iter().map(TextStatement::of).collect::<Option<_>>()?;
            let mut reads = names_of_statements(body)?.all_reads();
            reads.extend(statements.iter().flat_map(|statement| statement.uses.reads.iter().cloned()));
            Some(Self { statements, reads })
        })
    }

    /// An SQL cell. Unless its first line says that it writes, its connection only reads.
    fn of_sql(body: &str) -> Self {
        let names = sql_cell_names(body);
        let writes = ExpectedKinds::LIBRARY | ExpectedKinds::REMOVE | ExpectedKinds::DATABASE;
        let kinds = if says_write(body) { writes } else { ExpectedKinds::LIBRARY };
        Self::of_kinds(kinds, names.reads, names.leaves)
    }

    fn of_kinds(kinds: ExpectedKinds, reads: BTreeSet<String>, binds: BTreeSet<String>) -> Self {
        let uses = Uses::of_kinds(kinds, &binds);
        Self { statements: vec![TextStatement { uses, reads: reads.clone(), binds }], reads }
    }
}

impl TextStatement {
    fn of(statement: &Stmt) -> Option<Self> {
        let names = names_of_statements(std::slice::from_ref(statement))?;
        let uses = Uses::of(statement);
        let binds = names.writes.clone();
        let reads = names.all_reads().into_iter().chain(uses.reads.iter().cloned()).collect();
        Some(Self { uses, reads, binds })
    }
}
