//! Definitions of the notebook that a text reaches by the names that it reads.

use std::collections::{BTreeMap, BTreeSet};

use crate::bindings::TextBindings;
use crate::table::ExpectedKinds;
use crate::text::{Text, TextStatement};

/// Names that are followed for one question, at most. Beyond it a text may do everything.
const MAX_STEPS: usize = 2_000_000;

/// Statements by the names that they bind, with the text that has them.
pub(crate) struct ReachableDefinitions<'a> {
    binders: BTreeMap<&'a str, Vec<(usize, &'a TextStatement, ExpectedKinds)>>,
}

impl<'a> ReachableDefinitions<'a> {
    pub fn of(texts: &'a [Option<Text>], names: &TextBindings) -> Self {
        let mut binders: BTreeMap<&str, Vec<_>> = BTreeMap::new();
        for (index, text) in texts.iter().enumerate() {
            for statement in text.iter().flat_map(|text| &text.statements) {
                let kinds = names.kinds(&statement.uses);
                for name in &statement.binds {
                    binders.entry(name).or_default().push((index, statement, kinds));
                }
            }
        }
        Self { binders }
    }

    /// Kinds of the text, and of what it reaches in others.
    pub fn kinds(&self, index: usize, text: &Text, names: &TextBindings, steps: &mut usize) -> ExpectedKinds {
        let own = text.statements.iter().map(|statement| names.kinds(&statement.uses));
        let mut kinds: ExpectedKinds = own.collect();
        let mut seen: BTreeSet<&str> = text.reads.iter().map(String::as_str).collect();
        let mut open: Vec<&str> = seen.iter().copied().collect();
        while let Some(name) = open.pop() {
            for (of, statement, reached) in self.binders.get(name).into_iter().flatten() {
                *steps += 1 + statement.reads.len();
                if *steps > MAX_STEPS {
                    return ExpectedKinds::ALL;
                }
                if *of != index {
                    kinds |= *reached;
                }
                open.extend(statement.reads.iter().map(String::as_str).filter(|name| seen.insert(name)));
            }
        }
        kinds
    }
}
